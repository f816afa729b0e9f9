// Reports of mail servers about a mail: that it failed or is late (DSN, RFC 3464), or that its
// recipient calls it spam (ARF, RFC 5965).
import {
  addressBad,
  type FailureDetails,
  mailboxUnwell,
  readReply,
} from "../inbound/failed-deliveries.ts";
import {
  addressesOf,
  headerOf,
  type MailHeader,
  parseMime,
  type ReceivedMail,
  subjectOf,
  textOfFile,
} from "./received-mail.ts";

export interface ReportedRecipient {
  /** Undefined: the report hides it. */
  email: string | undefined;
  details: FailureDetails | { type: "spam_report" };
  /** What the other server said. */
  reason?: string | undefined;
}

export interface ServerReport {
  kind: "bounce" | "complaint";
  recipients: ReportedRecipient[];
  /** Headers of the mail that the report is about. */
  original: MailHeader[];
}

const maxRecipients = 50;
const maxFieldLength = 1000;

/** Undefined if the mail is no report. */
export async function readReport(mail: ReceivedMail): Promise<ServerReport | undefined> {
  const complaint = mail.files.find(({ type }) => type === "message/feedback-report");
  if (complaint) return readComplaint(textOfFile(complaint), await readOriginal(mail));
  const status = mail.files.find(({ type }) => /^message\/(global-)?delivery-status$/.test(type));
  const recipients = status
    ? readGroups(textOfFile(status)).flatMap((fields) => toRecipient(fields, textForPeople(mail)))
    : (readFailedRecipients(mail) ?? readPlainBounce(mail));
  if (!recipients) return undefined;
  return {
    kind: "bounce",
    recipients: recipients.slice(0, maxRecipients),
    original: await readOriginal(mail),
  };
}

type Fields = Map<string, string>;

/** Groups of fields, which empty lines part. Names are lower-case. */
function readGroups(text: string): Fields[] {
  const unfolded = text.replace(/\r\n?/g, "\n").replace(/\n[ \t]+/g, " ");
  return unfolded.split(/\n{2,}/).map((group) => {
    const fields = group.split("\n").flatMap((line) => {
      const [, name, value] = /^([\w-]{1,50}):\s*(.*)$/.exec(line) ?? [];
      return name === undefined
        ? []
        : [[name.toLowerCase(), value!.slice(0, maxFieldLength).trim()] as const];
    });
    return new Map(fields);
  });
}

/** `rfc822; ann@example.com` */
const addressIn = (field: string | undefined): string | undefined =>
  field?.split(/[\s<>;:,]/).find((word) => /^[^@]+@[^@]+$/.test(word));

/**
 * A DSN also reports what was delivered, relayed or expanded: that is no failure. The group about
 * the mail has no action, and some servers leave it out.
 */
function toRecipient(fields: Fields, text: string): ReportedRecipient[] {
  const [action] = /^\w+/.exec(fields.get("action")?.toLowerCase() ?? "") ?? [];
  const email =
    addressIn(fields.get("original-recipient")) ?? addressIn(fields.get("final-recipient"));
  const status = fields.get("status") ?? "";
  const reason = fields.get("diagnostic-code")?.replace(/^\s*[\w-]+;\s*/, "");
  if (action === "delayed") return [{ email, details: deferred, reason }];
  if (action !== "failed") return [];
  const details = failureOf({ status, reason, text });
  return [{ email, details, reason: reason ?? status }];
}

interface FailureTexts {
  /** The status code of the report. */
  status?: string;
  /** What the other server said. */
  reason: string | undefined;
  /** What the report says to people. */
  text: string;
}

/** The words of the server tell more than the status of the report, which is often 5.0.0. */
function failureOf({ status = "", reason, text }: FailureTexts): FailureDetails {
  const said = readReply(reason, status) ?? (reason ? undefined : readReply(text));
  if (said) return said;
  return repliesAboutAddress.test(reason ?? "") ? addressBad : mailboxUnwell;
}

/**
 * Reply codes about the mailbox (RFC 5321, section 4.2.3). Other ones are about the session or the
 * mail, so that one without a reason does not suppress the address.
 */
const repliesAboutAddress = /\b55[013]\b/;

/** Mail servers without DSN, such as older ones of Exim, name the recipients in a header. */
function readFailedRecipients(mail: ReceivedMail): ReportedRecipient[] | undefined {
  const failed = headerOf(mail, "x-failed-recipients");
  if (failed === undefined) return undefined;
  const text = textForPeople(mail);
  const reason = replyIn(text);
  return failed.split(",").flatMap((part) => {
    const email = addressIn(part);
    return email ? [{ email, details: failureOf({ reason, text }), reason }] : [];
  });
}

/** The line of the text with a reply code. */
const replyIn = (text: string): string | undefined =>
  /\b[45]\d\d[ -].*$/m.exec(text)?.[0].trim().slice(0, maxFieldLength);

/** The text before the returned mail, which says nothing about the failure. */
const textForPeople = ({ text = "" }: ReceivedMail): string =>
  text.slice(0, maxPlainLength).split(startOfCopy)[0]!;

/** Mail servers without any standard, such as qmail, only write a text. It names no recipient. */
function readPlainBounce(mail: ReceivedMail): ReportedRecipient[] | undefined {
  const [sender] = addressesOf(mail, "from");
  const isOfServer =
    headerOf(mail, "return-path")?.trim() === "<>" || serverSenders.test(sender?.email ?? "");
  const subject = subjectOf(mail);
  if (!isOfServer || !failureSubjects.test(subject)) return undefined;
  const text = textForPeople(mail);
  const reason = replyIn(text);
  if (delaySubjects.test(subject)) return [{ email: undefined, details: deferred, reason }];
  return [{ email: undefined, details: failureOf({ reason, text }), reason }];
}

const maxPlainLength = 10_000;
const serverSenders = /^(mailer-daemon|postmaster|mail-daemon|mdaemon)@/i;
const failureSubjects = new RegExp(
  [
    "undeliver|not be delivered|returned (mail|to sender)|mail returned",
    "failure notice|delivery (status|fail|problem|report|has failed)|mail delivery|non-?delivery",
    "nicht zugestellt|unzustellbar|non remis|no se (puede|pudo) entregar|mancata consegna",
  ].join("|"),
  "i",
);
const delaySubjects = /delayed|warning|verzögert|retardé/i;
const startOfCopy =
  /^-+ ?(below this line|this is a copy|original message|returned message)|^message-id:/im;
const deferred = { type: "deferred" } as const;

const spamTypes = new Set(["abuse", "fraud"]);

function readComplaint(text: string, original: MailHeader[]): ServerReport | undefined {
  const [fields = new Map()] = readGroups(text);
  if (!spamTypes.has(fields.get("feedback-type")?.toLowerCase() ?? "")) return undefined;
  const email = addressIn(fields.get("original-rcpt-to"));
  return { kind: "complaint", recipients: [{ email, details: { type: "spam_report" } }], original };
}

/** From the returned mail or its headers, or from the text of older mail servers. */
async function readOriginal(mail: ReceivedMail): Promise<MailHeader[]> {
  const returned = mail.files.find(({ type }) =>
    /^(message\/(rfc822|global|global-headers)|text\/rfc822-headers)$/.test(type),
  );
  if (returned) return (await parseMime(`${textOfFile(returned)}\r\n\r\n`))?.headers ?? [];
  return [...(mail.text ?? "").matchAll(/^message-id:\s*(<[^<>\s]{1,500}>)/gim)].map(
    ([, value]) => ({
      name: "message-id",
      value: value!,
    }),
  );
}
