// Postmark: POST /email and /email/batch (postmarkapp.com/developer/api/email-api).
import { randomUUID } from "node:crypto";
import * as z from "zod";
import * as clock from "../../../../shared/clock.ts";
import { mailbox, mailboxes } from "../addresses.ts";
import { badAttachment, broken, headersFault } from "../checks.ts";
import { type Account, type Answer, type Call, type Draft, type MailProvider, Refused } from "../contract.ts";
import { withCopies } from "../copies.ts";
import { webhook } from "../events/postmark.ts";
import { maybe, named, read, strings } from "../shapes.ts";

const Message = z.object({
  From: z.string(),
  To: z.string(),
  Bcc: maybe(z.string()),
  ReplyTo: maybe(z.string()),
  Subject: maybe(z.string()),
  HtmlBody: maybe(z.string()),
  TextBody: maybe(z.string()),
  MessageStream: maybe(z.string()),
  Tag: maybe(z.string()),
  TrackOpens: maybe(z.boolean()),
  TrackLinks: maybe(z.enum(["None", "HtmlAndText", "HtmlOnly", "TextOnly"])),
  Metadata: maybe(strings),
  Headers: maybe(z.array(z.object({ Name: z.string(), Value: z.string() }))),
  Attachments: maybe(z.array(z.object({ Name: z.string(), Content: z.string(), ContentType: z.string(), ContentID: maybe(z.string()) }))),
});
type Message = z.output<typeof Message>;

export const postmark: MailProvider = {
  key: "postmark",
  name: "Postmark",
  keyPattern: /^([0-9a-f]{8})-([0-9a-f]{4})-4[0-9a-f]{3}-8[0-9a-f]{3}-([0-9a-f]{4})[0-9a-f]{8}$/,
  credentials: (account) => ({ apiKey: serverToken(account) }),
  authenticate(request, owner) {
    const account = owner(request.headers["x-postmark-server-token"]);
    if (!account) throw new Refused(fault(401, 10, "Request does not contain a valid Server token."));
    return account;
  },
  routes: [
    [/^POST \/email$/, single],
    [/^POST \/email\/batch$/, batch],
    [/^GET \/server$/, ({ account }) => ({ status: 200, body: server(account) })],
  ],
  maxBytes: 50 * 1024 * 1024,
  errors: {
    notFound: fault(404, 404, "The requested resource does not exist."),
    malformed: fault(422, 402, "Received invalid JSON input."),
    tooLarge: fault(413, 413, "The request is larger than allowed."),
    busy: (status) => (status === 429 ? fault(429, 429, "Rate limit exceeded.") : fault(500, 500, "Internal Server Error")),
  },
  webhook,
};

function single(call: Call): Answer {
  checkHead(call);
  const { answer, drafts } = judged(call.json(), call);
  if (drafts) call.submit(drafts);
  return answer;
}

/** 200 even when some are refused; each message has an answer of its own. */
function batch(call: Call): Answer {
  checkHead(call);
  const list = call.json();
  if (!Array.isArray(list))
    throw new Refused(fault(422, 402, "The input you provided is syntactically correct, but isn't the kind we expected."));
  if (list.length > 500) throw new Refused(fault(422, 410, "Too many batch messages, the maximum is 500."));
  const results = list.map((message) => judged(message, call));
  call.submit(results.flatMap(({ drafts }) => drafts ?? []));
  return { status: 200, body: results.map(({ answer }) => answer.body) };
}

function checkHead({ request }: Call): void {
  const json = request.headers["content-type"]?.startsWith("application/json");
  if (!json) throw new Refused(fault(415, 409, "The request Content-Type must be application/json."));
}

function judged(value: unknown, call: Call): { answer: Answer; drafts?: Draft[] } {
  try {
    const message = read(Message, value, (path, text) => fault(422, 403, `Invalid '${path}': ${text}`));
    const all = letters(message, call);
    const unwanted = all.map(({ to }) => to.email).filter(call.rejects);
    const told = unwanted.length ? `Message OK, but will not deliver to these inactive addresses: ${unwanted.join(", ")}` : "OK";
    const body = { To: message.To, SubmittedAt: submittedAt(), MessageID: all[0]!.messageId, ErrorCode: 0, Message: told };
    return { answer: { status: 200, body }, drafts: all.filter(({ to }) => !call.rejects(to.email)) };
  } catch (error) {
    if (error instanceof Refused) return { answer: error.answer };
    throw error;
  }
}

function letters(message: Message, call: Call): Draft[] {
  const to = mailboxes(message.To);
  const from = mailbox(message.From);
  if (!from) throw new Refused(fault(422, 300, `Invalid 'From' address: '${message.From}'.`));
  if (!to || to.length > 50) throw new Refused(fault(422, 300, `Invalid 'To' address: '${message.To}'.`));
  const bcc = message.Bcc ? mailboxes(message.Bcc) : [];
  if (!bcc || to.length + bcc.length > 50) throw new Refused(fault(422, 300, `Invalid 'Bcc' address: '${message.Bcc}'.`));
  const headers = named(
    message.Headers,
    ({ Name }) => Name,
    ({ Value }) => Value,
  );
  const attachments = (message.Attachments ?? []).map((one) => ({ filename: one.Name, type: one.ContentType, content: one.Content }));
  check(message, headers, attachments, from.email, call);
  if ([...to, ...bcc].every(({ email }) => call.rejects(email))) throw new Refused(fault(422, 406, inactive(to[0]!.email)));
  const messageId = randomUUID();
  const content = { subject: message.Subject ?? "", html: message.HtmlBody, text: message.TextBody, attachments };
  const drafts = to.map((one) => ({
    messageId,
    from,
    to: one,
    replyTo: message.ReplyTo,
    content,
    headers,
    tags: message.Tag ? [message.Tag] : [],
    metadata: { ...message.Metadata },
    tracksOpens: message.TrackOpens ?? true,
    tracksClicks: message.TrackLinks !== "None" && message.TrackLinks !== "TextOnly",
  }));
  return withCopies(drafts, bcc);
}

function check(
  message: Message,
  headers: Record<string, string>,
  attachments: Draft["content"]["attachments"],
  from: string,
  call: Call,
): void {
  const refuse = (code: number, text: string) => {
    throw new Refused(fault(422, code, text));
  };
  if (!call.mayUse(from)) refuse(400, `The 'From' address you supplied (${from}) is not a Sender Signature on your account.`);
  if (!message.HtmlBody && !message.TextBody) refuse(300, "Provide either email TextBody or HtmlBody or both.");
  if (broken(message.Subject ?? "")) refuse(300, "Invalid 'Subject': it contains a line break.");
  if (message.ReplyTo && !mailboxes(message.ReplyTo)) refuse(300, `Invalid 'ReplyTo' address: '${message.ReplyTo}'.`);
  if (!streams.has(message.MessageStream ?? "outbound"))
    refuse(1235, `The 'MessageStream' provided does not exist on this server: '${message.MessageStream}'.`);
  if ((message.Tag?.length ?? 0) > 1000) refuse(300, "Tag is longer than 1000 characters.");
  const wrong = headersFault(headers, reserved);
  if (wrong) refuse(300, wrong);
  const metadata = Object.entries(message.Metadata ?? {});
  if (metadata.length > 10 || metadata.some(([key, value]) => key.length > 20 || value.length > 80))
    refuse(300, "Invalid metadata content.");
  const bad = badAttachment(attachments);
  if (bad) refuse(300, `Invalid attachment content: '${bad.filename}' is not base64.`);
  const forbidden = attachments.find(({ filename }) => /\.(exe|bat|cmd|com|js|vbs|scr|msi|pif)$/i.test(filename));
  if (forbidden) refuse(411, `You may not send files of this type: '${forbidden.filename}'.`);
  if (Math.max(message.HtmlBody?.length ?? 0, message.TextBody?.length ?? 0) > 5 * 1024 * 1024) refuse(300, "A body is larger than 5 MB.");
  if (attachments.reduce((sum, { content }) => sum + content.length, 0) > 10 * 1024 * 1024)
    refuse(300, "The message is larger than 10 MB.");
}

const streams = new Set(["outbound", "broadcast"]);
const reserved = new Set("from to cc bcc subject reply-to date message-id content-type mime-version return-path sender".split(" "));

function serverToken(account: Account): string {
  const [id, more] = [account.id, account.hex("postmark key", 14)];
  return `${id.slice(0, 8)}-${id.slice(8, 12)}-4${more.slice(0, 3)}-8${more.slice(3, 6)}-${id.slice(12)}${more.slice(6)}`;
}

const server = (account: Account) => ({
  ID: Number.parseInt(account.hex("postmark server", 6), 16),
  Name: "Pennymail sandbox",
  DeliveryType: "Live",
  TrackOpens: true,
  TrackLinks: "HtmlAndText",
});

/** Seven fraction digits, as .NET writes them. */
const submittedAt = () => clock.now().toISOString().replace("Z", "0000Z");

function fault(status: number, code: number, message: string): Answer {
  return { status, body: { ErrorCode: code, Message: message } };
}

const inactive = (email: string) =>
  `You tried to send to recipient(s) that have been marked as inactive. Found inactive addresses: ${email}. Inactive recipients are ones that have generated a hard bounce, a spam complaint, or a manual suppression.`;
