// Mandrill (Mailchimp Transactional): https://mailchimp.com/developer/transactional/api/messages/
import * as z from "zod";
import * as credentials from "./credentials.ts";
import { type Answer, exchange, headersOf, judged, quoted, type Verdict } from "./exchange.ts";
import { bccOf, filled, type Mailing, type Outcome, type Pieces, type Provider, type Recipient } from "./provider.ts";
import { contentBytes, distinct, holes, literals, particularBytes, template } from "./substitution.ts";

const Credentials = z.object({ apiKey: credentials.token("API key; begins with md-. A test key accepts mail and delivers none") });

export const mandrill: Provider<typeof Credentials> = {
  key: "mandrill",
  name: "Mandrill",
  credentials: Credentials,
  webhookProof: "signature",
  // 25 MB for all of a mail, base64 counted.
  maxAttachmentBytes: 18_000_000,
  tracking: { opens: true, clicks: true },
  idempotencySeconds: 0,
  batch: { max: 100, takes },
  send: ({ mailing, credentials: { apiKey } }) =>
    exchange(
      mandrill,
      mailing,
      {
        url: "https://mandrillapp.com/api/1.0/messages/send",
        headers: {},
        body: { key: apiKey, message: mailing.recipients.length > 1 ? batchMessage(mailing) : singleMessage(mailing), async: false },
        secrets: [apiKey],
      },
      {
        accepted: (answer) => each(answer, mailing, apiKey),
        words: ({ json }) => Problem.safeParse(json).data?.message,
        verdict: ({ json }) => meaning(Problem.safeParse(json).data?.name),
      },
    ),
};

const Problem = z.object({ status: z.literal("error"), name: z.string(), message: z.string().default("") });
const Result = z.object({
  email: z.string(),
  status: z.string(),
  _id: z.string().optional(),
  reject_reason: z.string().nullish(),
});
type Result = z.output<typeof Result>;

/**
 * Headers are common to all, and so is who gets a copy; recipients are told apart by address alone. Once tags are evaluated nothing may look like one
 * that is not ours, nor become one when text and value meet.
 */
function takes(mailing: Mailing): boolean {
  const { recipients, subject, html, text } = mailing;
  const pieces: Pieces[] = [subject, html ?? [], text ?? []];
  const said = (recipient: Recipient) => [recipient.to.name ?? "", ...pieces.map((part) => filled(part, recipient))];
  const tagless = (texts: string[]) => !texts.some((each) => each.includes("*|"));
  return (
    !mailing.bcc &&
    distinct(mailing) &&
    recipients.every(({ headers }) => Object.keys(headers).length === 0) &&
    recipients.reduce((sum, recipient) => sum + particularBytes(recipient), contentBytes(mailing)) <= 20_000_000 &&
    tagless(literals(mailing)) &&
    recipients.every((recipient) => tagless(said(recipient)))
  );
}

const singleMessage = (mailing: Mailing): object => {
  const recipient = mailing.recipients[0]!;
  const bcc = bccOf(mailing, recipient);
  const message = { ...common(mailing, recipient), ...content(mailing, (pieces) => filled(pieces, recipient)), merge: false };
  return bcc ? { ...message, ...copied(message, bcc, recipient) } : message;
};

/** A copy shows whom the mail is to, and its events name the send too. */
const copied = ({ to, recipient_metadata }: ReturnType<typeof common>, bcc: string, { sendId }: Recipient) => ({
  to: [...to, { email: bcc, type: "bcc" }],
  preserve_recipients: true,
  recipient_metadata: [...recipient_metadata, { rcpt: bcc, values: { sendId: String(sendId) } }],
});

const batchMessage = (mailing: Mailing): object => ({
  ...common(mailing, { headers: {} }),
  ...content(mailing, (pieces) => template(pieces, (hole) => `*|V${hole}|*`)),
  merge: true,
  merge_language: "mailchimp",
  merge_vars: mailing.recipients.map(({ to, values }) => ({
    rcpt: to.email,
    vars: holes(mailing).map((hole) => ({ name: `V${hole}`, content: values[hole] ?? "" })),
  })),
});

const content = ({ subject, html, text }: Mailing, said: (pieces: Pieces) => string) => ({
  subject: said(subject),
  ...(html && { html: said(html) }),
  ...(text && { text: said(text) }),
});

const common = (mailing: Mailing, { headers }: Pick<Recipient, "headers">) => ({
  from_email: mailing.from.email,
  ...(mailing.from.name && { from_name: mailing.from.name }),
  to: mailing.recipients.map(({ to: { email, name } }) => ({ email, ...(name && { name }), type: "to" })),
  headers: headersOf(mailing, { headers: { ...headers, ...(mailing.replyTo && { "Reply-To": mailing.replyTo }) } }),
  ...(mailing.trackOpens !== undefined && { track_opens: mailing.trackOpens }),
  ...(mailing.trackClicks !== undefined && { track_clicks: mailing.trackClicks }),
  // What the account adds by default would change the mail.
  auto_text: false,
  auto_html: false,
  // Everyone sees only the own address.
  preserve_recipients: false,
  recipient_metadata: mailing.recipients.map(({ to, sendId }) => ({ rcpt: to.email, values: { sendId: String(sendId) } })),
  // A leading underscore is reserved.
  tags: mailing.tags.map((tag) => tag.replace(/^_+/, "").slice(0, 50)).filter(Boolean),
  ...(mailing.attachments.length > 0 && {
    attachments: mailing.attachments.map(({ filename, type, content }) => ({ type, name: filename, content })),
  }),
});

/** One result per address, in any order. */
function each({ status, json }: Answer, { recipients }: Mailing, secret: string): Outcome[] | undefined {
  const results = z.array(z.unknown()).safeParse(json).data;
  if (status !== 200 || !results) return undefined;
  const known = results.flatMap((result) => Result.safeParse(result).data ?? []);
  const byEmail = new Map(known.map((result) => [result.email.toLowerCase(), result]));
  return recipients.map(({ to }) =>
    outcome(byEmail.get(to.email.toLowerCase()) ?? (recipients.length === 1 ? sole(known) : undefined), secret),
  );
}

/** The address may be told in another form than ours. */
const sole = (results: Result[]): Result | undefined => (results.length === 1 ? results[0] : undefined);

function outcome(result: Result | undefined, secret: string): Outcome {
  if (!result) return judged("uncertain", "Mandrill told nothing of this mail");
  if (!unwanted.has(result.status)) return { status: "accepted", messageId: result._id };
  const reason = result.reject_reason ?? "";
  return judged(unready.has(reason) ? "config" : "refused", quoted(`${result.status}${reason && `: ${reason}`}`, [secret]));
}

const unwanted = new Set(["rejected", "invalid"]);
/** The sender's domain is not set up. */
const unready = new Set(["unsigned", "invalid-sender"]);

// Depending on the host's age every error is a 500: the name decides.
const verdicts: Record<string, Verdict> = {
  Invalid_Key: "config",
  PaymentRequired: "config",
  Unknown_Subaccount: "config",
  ValidationError: "refused",
  RequestLimitExceeded: "pace",
  GeneralError: "fault",
  ServiceUnavailable: "fault",
};

const meaning = (name = ""): Verdict | undefined => verdicts[name] ?? (/^(Invalid|Unknown)_/.test(name) ? "refused" : undefined);
