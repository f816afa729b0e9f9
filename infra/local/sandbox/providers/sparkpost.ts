// SparkPost: POST /api/v1/transmissions (developers.sparkpost.com/api/transmissions).
import { randomBytes } from "node:crypto";
import * as z from "zod";
import { mailbox, valid } from "../addresses.ts";
import { badAttachment, broken, headersFault } from "../checks.ts";
import {
  type Account,
  type Answer,
  type Call,
  type Content,
  type Draft,
  type Mailbox,
  type MailProvider,
  type Part,
  Refused,
} from "../contract.ts";
import { webhook } from "../events/sparkpost.ts";
import { read, strings } from "../shapes.ts";
import { byBraces, type Fill, unfit } from "../templates.ts";

const Values = z.record(z.string(), z.unknown());
const File = z.object({ name: z.string().max(255), type: z.string(), data: z.string() });
const Recipient = z.object({
  address: z.union([z.string(), z.object({ email: z.string(), name: z.string().optional(), header_to: z.string().optional() })]),
  metadata: Values.optional(),
  substitution_data: Values.optional(),
  tags: z.array(z.string()).max(10).optional(),
});
const Body = z.object({
  options: z
    .object({
      open_tracking: z.boolean(),
      click_tracking: z.boolean(),
      transactional: z.boolean(),
      perform_substitutions: z.boolean(),
      sandbox: z.boolean(),
    })
    .partial()
    .optional(),
  campaign_id: z.string().max(64).optional(),
  metadata: Values.optional(),
  substitution_data: Values.optional(),
  recipients: z.array(Recipient).min(1).max(10_000),
  content: z.object({
    from: z.union([z.string(), z.object({ email: z.string(), name: z.string().optional() })]),
    reply_to: z.string().optional(),
    subject: z.string().min(1),
    headers: strings.optional(),
    text: z.string().optional(),
    html: z.string().optional(),
    attachments: z.array(File).optional(),
    inline_images: z.array(File).optional(),
  }),
});
type Body = z.output<typeof Body>;

export const sparkpost: MailProvider = {
  key: "sparkpost",
  name: "SparkPost",
  keyPattern: /^([0-9a-f]{16})[0-9a-f]{24}$/,
  credentials: (account) => ({ apiKey: account.id + account.hex("sparkpost key", 24) }),
  authenticate(request, owner) {
    const account = owner(request.headers.authorization);
    if (!account) throw new Refused(fault(401, "Unauthorized.", undefined));
    return account;
  },
  routes: [
    [/^POST \/api\/v1\/transmissions$/, send],
    [/^GET \/api\/v1\/account$/, ({ account }) => ({ status: 200, body: { results: state(account) } })],
    [/^GET \/api\/v1\/sending-domains\/([^/]+)$/, ({ params: [name] }) => ({ status: 200, body: { results: domain(name) } })],
  ],
  maxBytes: 40 * 1024 * 1024,
  errors: {
    notFound: fault(404, "Resource could not be found", "1600"),
    malformed: fault(400, "JSON syntax error", "1300"),
    tooLarge: fault(413, "Request Entity Too Large", undefined),
    busy: (status) => (status === 429 ? fault(429, "Too many requests", undefined) : fault(500, "Internal Server Error", "1900")),
  },
  webhook,
};

function send(call: Call): Answer {
  const body = read(Body, call.json(), (path, message) => fault(422, `${message}: ${path}`, path.includes("recipients") ? "5002" : "1300"));
  check(body, call);
  const id = String(randomBytes(8).readBigUInt64BE() >> 7n);
  const content = contentOf(body);
  const drafts = body.recipients.map((recipient) => letter(body, recipient, content, id));
  const good = drafts.filter(({ to }) => valid(to.email) && !call.rejects(to.email));
  if (!good.length) throw new Refused(fault(400, "At least one valid recipient is required", "5002"));
  call.submit(good);
  const refused = drafts.length - good.length;
  const results = { total_rejected_recipients: refused, total_accepted_recipients: good.length, id };
  return { status: 200, body: refused ? partly(results, refused) : { results } };
}

const partly = (results: object, refused: number) => ({
  errors: [{ message: "transmission created, but with validation errors", code: "2000" }],
  results: { rcpt_to_errors: Array.from({ length: refused }, () => ({ message: "Invalid recipient", code: "5001" })), ...results },
});

function check({ content, recipients, campaign_id = "", substitution_data }: Body, call: Call): void {
  const refuse = (message: string, code: string, status = 422) => {
    throw new Refused(fault(status, message, code));
  };
  const from = addressOf(content.from).email;
  if (!valid(from)) refuse("invalid data format/type: content.from", "1300");
  if (!call.mayUse(from)) refuse(`Unconfigured Sending Domain <${from.split("@")[1]}>`, "7001", 400);
  if (!content.text && !content.html) refuse("At least one of 'text' or 'html' content must exist.", "1400");
  if (broken(content.subject)) refuse("Subject contains a line break", "1300");
  if (Buffer.byteLength(campaign_id) > 64) refuse("campaign_id is longer than 64 bytes", "1300");
  const wrong = headersFault(content.headers ?? {}, reserved);
  if (wrong) refuse(wrong, "1300");
  const files = [...(content.attachments ?? []), ...(content.inline_images ?? [])];
  if (badAttachment(files.map(({ name, type, data }) => ({ filename: name, type, content: data }))))
    refuse("attachment data must be base64", "1300");
  const size = (content.text?.length ?? 0) + (content.html?.length ?? 0) + files.reduce((sum, { data }) => sum + data.length, 0);
  if (size > 20 * 1024 * 1024) refuse("Content exceeds 20 MB", "1300", 413);
  const large = recipients.some(
    (one) => JSON.stringify(one.substitution_data ?? {}).length > 100_000 || JSON.stringify(one.metadata ?? {}).length > 10_000,
  );
  if (large || JSON.stringify(substitution_data ?? {}).length > 100_000) refuse("substitution_data or metadata is too large", "1300");
}

function letter(
  body: Body,
  { address, metadata, substitution_data, tags = [] }: Body["recipients"][number],
  content: Content,
  messageId: string,
): Draft {
  const { options = {}, content: given } = body;
  const values = { ...body.metadata, ...metadata, ...body.substitution_data, ...substitution_data };
  const engine = byBraces(values, { escapes: true });
  const inBodies = options.perform_substitutions ?? true;
  const parts: Part[] = inBodies ? ["subject", "html", "text"] : ["subject"];
  const odd = parts.map((part) => unfit(content[part] ?? "")).find((name) => name !== undefined);
  return {
    messageId,
    from: named(addressOf(given.from), engine),
    to: addressOf(address),
    copyOf: typeof address === "object" && address.header_to ? mailbox(address.header_to) : undefined,
    replyTo: given.reply_to && engine(given.reply_to, "text"),
    content,
    fill: (text, part) => (part === "subject" || inBodies ? engine(text, part) : text),
    headers: Object.fromEntries(headersOf(body).map(([name, value]) => [name, engine(value, "text")])),
    tags: [...(body.campaign_id ? [body.campaign_id] : []), ...tags],
    metadata: { ...body.metadata, ...metadata },
    tracksOpens: options.open_tracking ?? true,
    tracksClicks: options.click_tracking ?? true,
    unrenderable: odd === undefined ? undefined : `554 5.3.3 [internal] Error while rendering: substitution "${odd}" is not valid`,
  };
}

/** Mail that is not transactional gets SparkPost's own List-Unsubscribe in place of the given one. */
function headersOf({ options, content }: Body): [string, string][] {
  const given = Object.entries(content.headers ?? {});
  if (options?.transactional) return given;
  const ours: [string, string] = ["List-Unsubscribe", "<mailto:unsubscribe@unsub.spmta.com?subject=unsubscribe>"];
  return [...given.filter(([name]) => !/^list-unsubscribe/i.test(name)), ours];
}

const contentOf = ({ content }: Body): Content => ({
  subject: content.subject,
  html: content.html,
  text: content.text,
  attachments: [...(content.attachments ?? []), ...(content.inline_images ?? [])].map(({ name, type, data }) => ({
    filename: name,
    type,
    content: data,
  })),
});

const addressOf = (address: string | { email: string; name?: string | undefined }) => {
  if (typeof address === "string") return mailbox(address) ?? { email: address };
  return address.name ? { email: address.email, name: address.name } : { email: address.email };
};

/** The sender's name is a header too, and evaluated like one. */
const named = ({ email, name }: Mailbox, engine: Fill): Mailbox => (name ? { email, name: engine(name, "text") } : { email });

const reserved = new Set(
  "from to subject reply-to content-type content-transfer-encoding mime-version date message-id return-path".split(" "),
);
const state = (account: Account) => ({
  customer_id: Number.parseInt(account.hex("sparkpost customer", 6), 16),
  company_name: "Pennymail sandbox",
  status: "active",
});
const domain = (name = "") => ({
  domain: name,
  status: { ownership_verified: name !== "unverified.pennymail.test", dkim_status: "valid", compliance_status: "valid" },
});

function fault(status: number, message: string, code: string | undefined): Answer {
  return { status, body: { errors: [{ message, ...(code && { code }) }] } };
}
