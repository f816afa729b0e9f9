// Mailjet Send API v3.1 (dev.mailjet.com/email/guides/send-api-v31).
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { same } from "../accounts.ts";
import { valid } from "../addresses.ts";
import { badAttachment, broken, decodedSize, headersFault } from "../checks.ts";
import { type Account, type Answer, type Call, type Draft, type MailProvider, Refused } from "../contract.ts";
import { withCopies } from "../copies.ts";
import { messageNumber, webhook, written } from "../events/mailjet.ts";
import { read, strings } from "../shapes.ts";

const Mailbox = z.strictObject({ Email: z.string(), Name: z.string().optional() });
const Tracking = z.enum(["account_default", "disabled", "enabled"]).optional();
const Message = z.strictObject({
  From: Mailbox,
  To: z.array(Mailbox).min(1).max(50),
  Bcc: z.array(Mailbox).max(49).optional(),
  ReplyTo: Mailbox.optional(),
  Subject: z.string().max(255).optional(),
  TextPart: z.string().optional(),
  HTMLPart: z.string().optional(),
  CustomID: z.string().optional(),
  EventPayload: z.string().optional(),
  CustomCampaign: z.string().optional(),
  TrackOpens: Tracking,
  TrackClicks: Tracking,
  Headers: strings.optional(),
  Attachments: z.array(z.strictObject({ ContentType: z.string(), Filename: z.string(), Base64Content: z.string() })).optional(),
});
const Body = z.strictObject({ Messages: z.array(z.unknown()).min(1).max(50), SandboxMode: z.boolean().optional() });
type Message = z.output<typeof Message>;

export const mailjet: MailProvider = {
  key: "mailjet",
  name: "Mailjet",
  keyPattern: /^([0-9a-f]{16})[0-9a-f]{16}$/,
  credentials: (account) => ({ apiKey: account.id + account.hex("mailjet key", 16), secretKey: secretKey(account) }),
  authenticate(request, owner) {
    const [key, secret = ""] = Buffer.from(/^Basic (.+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "", "base64")
      .toString()
      .split(":");
    const account = owner(key);
    if (!account || !same(secret, secretKey(account)))
      throw new Refused(
        fault(
          401,
          "mj-0015",
          "API key authentication/authorization failure. You may be unauthorized to access the API or your API key may be expired. Visit API keys management section to check your keys.",
        ),
      );
    return account;
  },
  routes: [
    [/^POST \/v3\.1\/send$/, send],
    [
      /^GET \/v3\/REST\/sender$/,
      () => ({ status: 200, body: { Count: 1, Data: [{ Email: "*@pennymail.test", Status: "Active", DNSID: 1 }], Total: 1 } }),
    ],
  ],
  maxBytes: 60 * 1024 * 1024,
  errors: {
    notFound: fault(404, "mj-0004", "Resource not found"),
    malformed: fault(400, "mj-0002", "Malformed JSON, please review the syntax and properties types."),
    tooLarge: fault(413, "mj-0007", "Request entity too large"),
    busy: (status) =>
      status === 429
        ? { status, headers: { "content-type": "text/html" }, body: "Rate limit exceeded" }
        : fault(500, "mj-0000", "Internal server error"),
  },
  webhook,
};

/** Each message has a result of its own; the status is that of the first refused one, though the others were sent. */
function send(call: Call): Answer {
  const body = read(Body, call.json(), (path, message) => fault(400, "mj-0003", `${message}: ${path}`));
  const results = body.Messages.map((message) => judged(message, call));
  const drafts = results.flatMap((result) => result.drafts ?? []);
  if (!body.SandboxMode) call.submit(drafts);
  const wrong = results.find(({ errors }) => errors);
  return {
    status: wrong?.errors?.[0]?.StatusCode ?? 200,
    headers: { "content-type": "application/json" },
    body: written({ Messages: results.map(told) }),
  };
}

interface Judged {
  drafts?: Draft[];
  customId?: string | undefined;
  errors?: Fault[];
}
interface Fault {
  ErrorIdentifier: string;
  ErrorCode: string;
  StatusCode: number;
  ErrorMessage: string;
  ErrorRelatedTo: string[];
}

class Wrong extends Error {
  readonly fault: Fault;
  constructor(code: string, message: string, field: string, status = 400) {
    super(message);
    this.fault = { ErrorIdentifier: randomUUID(), ErrorCode: code, StatusCode: status, ErrorMessage: message, ErrorRelatedTo: [field] };
  }
}

function judged(value: unknown, call: Call): Judged {
  const { success, data: message, error } = Message.safeParse(value);
  if (!success) {
    const { path, message: text } = error.issues[0]!;
    return { errors: [new Wrong("mj-0003", text, path.join(".")).fault] };
  }
  try {
    check(message, call);
    return { drafts: letters(message), customId: message.CustomID };
  } catch (wrong) {
    if (wrong instanceof Wrong) return { errors: [wrong.fault] };
    throw wrong;
  }
}

function check(message: Message, call: Call): void {
  const bad = message.To.findIndex(({ Email }) => !valid(Email) || call.rejects(Email));
  if (bad >= 0) throw new Wrong("mj-0013", `"${message.To[bad]!.Email}" is an invalid email address.`, `To[${bad}].Email`);
  const copy = (message.Bcc ?? []).find(({ Email }) => !valid(Email) || call.rejects(Email));
  if (copy) throw new Wrong("mj-0013", `"${copy.Email}" is an invalid email address.`, "Bcc");
  if (!valid(message.From.Email)) throw new Wrong("mj-0013", `"${message.From.Email}" is an invalid email address.`, "From.Email");
  if (!call.mayUse(message.From.Email)) {
    const text = `"${message.From.Email}" is not an authorized sender email address for your account.`;
    throw new Wrong("send-0008", text, "From", 403);
  }
  if (!message.TextPart && !message.HTMLPart)
    throw new Wrong("send-0003", 'At least "HTMLPart", "TextPart" or "TemplateID" must be provided.', "HTMLPart");
  if (broken(message.Subject ?? "")) throw new Wrong("mj-0004", "Type mismatch: the subject contains a line break.", "Subject");
  const wrong =
    headersFault(message.Headers ?? {}, reserved) ?? Object.keys(message.Headers ?? {}).find((name) => /^x-(mailjet|mj)-/i.test(name));
  if (wrong) throw new Wrong("send-0011", `Header cannot be customized using the "Headers" collection: ${wrong}`, "Headers");
  const files = filesOf(message);
  if (badAttachment(files)) throw new Wrong("mj-0004", "Type mismatch. Expected base64 content.", "Attachments");
  if (files.reduce((sum, { content }) => sum + decodedSize(content), 0) > 15 * 1024 * 1024)
    throw new Wrong("send-0004", "Attachments exceed 15 MB.", "Attachments");
  const tracked = [message.TrackOpens, message.TrackClicks].some((value) => value === "enabled");
  if (tracked && !message.HTMLPart) throw new Wrong("send-0003", "Tracking needs an HTMLPart.", "TrackOpens");
}

function letters(message: Message): Draft[] {
  const content = { subject: message.Subject ?? "", html: message.HTMLPart, text: message.TextPart, attachments: filesOf(message) };
  const drafts = message.To.map((to) => ({
    messageId: randomUUID(),
    from: mailbox(message.From),
    to: mailbox(to),
    replyTo: message.ReplyTo?.Email,
    content,
    headers: { ...message.Headers },
    tags: message.CustomCampaign ? [message.CustomCampaign] : [],
    metadata: { CustomID: message.CustomID ?? "", Payload: message.EventPayload ?? "" },
    tracksOpens: message.TrackOpens !== "disabled",
    tracksClicks: message.TrackClicks !== "disabled",
  }));
  return withCopies(drafts, (message.Bcc ?? []).map(mailbox)).map((draft) =>
    draft.copyOf ? { ...draft, messageId: randomUUID() } : draft,
  );
}

function told({ drafts, errors, customId }: Judged): object {
  if (!drafts) return { Status: "error", Errors: errors };
  const told = drafts.map(({ to, copyOf, messageId }) => ({
    copyOf,
    Email: to.email,
    MessageUUID: messageId,
    MessageID: messageNumber(messageId),
    MessageHref: `https://api.mailjet.com/v3/REST/message/${messageNumber(messageId)}`,
  }));
  const some = (copies: boolean) => told.filter(({ copyOf }) => Boolean(copyOf) === copies).map(({ copyOf: _, ...one }) => one);
  return { Status: "success", ...(customId !== undefined && { CustomID: customId }), To: some(false), Cc: [], Bcc: some(true) };
}

const filesOf = ({ Attachments = [] }: Message) =>
  Attachments.map((one) => ({ filename: one.Filename, type: one.ContentType, content: one.Base64Content }));
const mailbox = ({ Email, Name }: { Email: string; Name?: string | undefined }) => (Name ? { email: Email, name: Name } : { email: Email });
const secretKey = (account: Account) => account.hex("mailjet secret", 32);
const reserved = new Set(
  "from sender subject to cc bcc reply-to return-path delivered-to dkim-signature domainkey-status received received-spf authentication-results date message-id list-id user-agent x-mailer x-feedback-id x-csa-complaints".split(
    " ",
  ),
);

function fault(status: number, code: string, message: string): Answer {
  return { status, body: { ErrorIdentifier: randomUUID(), ErrorCode: code, ErrorMessage: message, StatusCode: status } };
}
