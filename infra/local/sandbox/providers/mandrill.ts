// Mandrill (Mailchimp Transactional): POST /messages/send (mailchimp.com/developer/transactional/api/messages).
import { randomBytes } from "node:crypto";
import * as z from "zod";
import { valid } from "../addresses.ts";
import { badAttachment, broken, headersFault } from "../checks.ts";
import { type Account, type Answer, type Call, type Content, type Draft, type MailProvider, Refused, type Request } from "../contract.ts";
import { parsed } from "../desk.ts";
import { webhook } from "../events/mandrill.ts";
import { maybe, read, strings } from "../shapes.ts";
import { byAsterisks, byBraces } from "../templates.ts";

const Vars = z.array(z.object({ name: z.string(), content: z.unknown() }));
const Values = z.record(z.string(), z.union([z.string(), z.number()]));
const Body = z.object({
  message: z.object({
    from_email: z.string(),
    from_name: maybe(z.string()),
    to: z.array(z.object({ email: z.string(), name: maybe(z.string()), type: z.enum(["to", "cc", "bcc"]).optional() })).min(1),
    subject: z.string(),
    html: maybe(z.string()),
    text: maybe(z.string()),
    headers: maybe(strings),
    track_opens: maybe(z.boolean()),
    track_clicks: maybe(z.boolean()),
    auto_text: maybe(z.boolean()),
    preserve_recipients: maybe(z.boolean()),
    metadata: maybe(Values),
    recipient_metadata: maybe(z.array(z.object({ rcpt: z.string(), values: Values }))),
    tags: maybe(z.array(z.string().max(50))),
    merge: maybe(z.boolean()),
    merge_language: maybe(z.enum(["mailchimp", "handlebars"])),
    global_merge_vars: maybe(Vars),
    merge_vars: maybe(z.array(z.object({ rcpt: z.string(), vars: Vars }))),
    attachments: maybe(z.array(z.object({ type: z.string(), name: z.string(), content: z.string() }))),
  }),
  async: z.boolean().optional(),
});
const Keyed = z.object({ key: z.string() });
type Message = z.output<typeof Body>["message"];

const errors: MailProvider["errors"] = {
  notFound: fault("Unknown_Method", "Unknown method"),
  malformed: fault("ValidationError", "You must specify a key value"),
  tooLarge: fault("ValidationError", "Request body is too large"),
  busy: (status) =>
    status === 429
      ? { ...fault("RequestLimitExceeded", "You have exceeded the request limit"), status: 429 }
      : fault("GeneralError", "An unexpected error occurred"),
};

export const mandrill: MailProvider = {
  key: "mandrill",
  name: "Mandrill",
  keyPattern: /^md-([0-9a-f]{16})[0-9a-f]{6}$/,
  credentials: (account) => ({ apiKey: `md-${account.id}${account.hex("mandrill key", 6)}` }),
  authenticate(request, owner) {
    const account = owner(keyIn(request));
    if (!account) throw new Refused({ ...fault("Invalid_Key", "Invalid API key"), status: 401 });
    return account;
  },
  routes: [
    [/^POST \/api\/1\.\d\/messages\/send(?:\.json)?$/, send],
    [/^POST \/api\/1\.\d\/users\/ping2(?:\.json)?$/, () => ({ status: 200, body: { PING: "PONG!" } })],
    [/^POST \/api\/1\.\d\/users\/info(?:\.json)?$/, ({ account }) => ({ status: 200, body: info(account) })],
  ],
  maxBytes: 40 * 1024 * 1024,
  errors,
  webhook,
};

function keyIn(request: Request): string | undefined {
  const { success, data } = Keyed.safeParse(parsed(request, { errors }));
  return success ? data.key : undefined;
}

/** 200 with a result for each recipient; those refused are told in it. */
function send(call: Call): Answer {
  const { message, async = false } = read(Body, call.json(), (path, text) =>
    fault("ValidationError", `Validation error: {"${path}":"${text}"}`),
  );
  check(message);
  const queued = async || message.to.length > 10;
  const content = contentOf(message);
  const signed = call.mayUse(message.from_email);
  const letters = lettersOf(message, content);
  const results = message.to.map(({ email }, index) => {
    const draft = letters[index]!;
    if (!valid(email)) return { email, status: "invalid", _id: draft.messageId, reject_reason: "invalid", queued_reason: null };
    const reason = signed ? (call.rejects(email) ? "hard-bounce" : undefined) : "unsigned";
    if (reason) return { email, status: "rejected", _id: draft.messageId, reject_reason: reason, queued_reason: null };
    const queuedReason = queued && message.to.length > 10 ? "multiple-recipients" : null;
    return { email, status: queued ? "queued" : "sent", _id: draft.messageId, reject_reason: null, queued_reason: queuedReason };
  });
  call.submit(letters.filter((_, index) => !results[index]!.reject_reason));
  return { status: 200, body: results };
}

function check(message: Message): void {
  const refuse = (text: string) => {
    throw new Refused(fault("ValidationError", text));
  };
  if (!valid(message.from_email)) refuse('Validation error: {"message":{"from_email":"An email address must contain a single @"}}');
  if (!message.html && !message.text) refuse("You must specify html or text content");
  if (broken(message.subject) || broken(message.from_name ?? ""))
    refuse('Validation error: {"message":{"subject":"Line breaks are not allowed"}}');
  const wrong = headersFault(message.headers ?? {}, reserved);
  if (wrong) refuse(wrong);
  if (message.tags?.some((tag) => tag.startsWith("_")))
    refuse('Validation error: {"message":{"tags":"Tags cannot begin with an underscore"}}');
  const bad = badAttachment(filesOf(message));
  if (bad) refuse(`Validation error: {"message":{"attachments":"${bad.filename} is not valid base64"}}`);
}

function lettersOf(message: Message, content: Content): Draft[] {
  const vars = new Map((message.merge_vars ?? []).map(({ rcpt, vars }) => [rcpt.toLowerCase(), vars]));
  const metadata = new Map((message.recipient_metadata ?? []).map(({ rcpt, values }) => [rcpt.toLowerCase(), values]));
  const merges = message.merge || vars.size > 0 || message.global_merge_vars !== undefined;
  const { "Reply-To": replyTo, ...headers } = message.headers ?? {};
  const [first] = message.to.filter(({ type = "to" }) => type === "to");
  return message.to.map(({ email, name, type }) => {
    const own = [...(message.global_merge_vars ?? []), ...(vars.get(email.toLowerCase()) ?? [])];
    const values = Object.fromEntries(own.map((one) => [one.name, one.content]));
    const engine = message.merge_language === "handlebars" ? byBraces(values, { escapes: true }) : byAsterisks(values);
    return {
      messageId: randomBytes(16).toString("hex"),
      from: message.from_name ? { email: message.from_email, name: message.from_name } : { email: message.from_email },
      to: name ? { email, name } : { email },
      // Where recipients are not preserved, each gets the mail as if it were to nobody else.
      copyOf:
        type === "bcc" && message.preserve_recipients && first
          ? { email: first.email, ...(first.name && { name: first.name }) }
          : undefined,
      replyTo,
      content,
      fill: merges ? engine : undefined,
      headers,
      tags: message.tags ?? [],
      metadata: { ...message.metadata, ...metadata.get(email.toLowerCase()) },
      tracksOpens: message.track_opens ?? true,
      tracksClicks: message.track_clicks ?? true,
    };
  });
}

const contentOf = (message: Message): Content => ({
  subject: message.subject,
  html: message.html,
  text: message.text,
  attachments: filesOf(message),
});
const filesOf = ({ attachments = [] }: Message) => attachments.map(({ name, type, content }) => ({ filename: name, type, content }));
const reserved = new Set("from to cc bcc subject date message-id content-type mime-version".split(" "));
const info = (account: Account) => ({
  username: account.id,
  public_id: account.hex("mandrill public id", 20),
  reputation: 75,
  hourly_quota: 10_000,
  backlog: 0,
  stats: {},
});

/** The classic API answers 500 for every error: its name tells what it is. */
function fault(name: string, message: string): Answer {
  return { status: 500, body: { status: "error", code: name === "Invalid_Key" ? -1 : -2, name, message } };
}
