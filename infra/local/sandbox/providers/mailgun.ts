// Mailgun: POST /v3/<domain>/messages with a form (documentation.mailgun.com, messages).
import { randomBytes } from "node:crypto";
import * as clock from "../../../../shared/clock.ts";
import { mailbox, mailboxes } from "../addresses.ts";
import { broken, headerFault } from "../checks.ts";
import {
  type Account,
  type Answer,
  type Attachment,
  type Call,
  type Draft,
  type Mailbox,
  type MailProvider,
  Refused,
} from "../contract.ts";
import { withCopies } from "../copies.ts";
import { webhook } from "../events/mailgun.ts";
import { byPercent } from "../templates.ts";

export const mailgun: MailProvider = {
  key: "mailgun",
  name: "Mailgun",
  keyPattern: /^([0-9a-f]{16})[0-9a-f]{16}-[0-9a-f]{8}-[0-9a-f]{8}$/,
  credentials: (account) => ({ apiKey: apiKey(account), domain: sendingDomain }),
  authenticate(request, owner) {
    const [user, key] = Buffer.from(/^Basic (.+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "", "base64")
      .toString()
      .split(":");
    const account = user === "api" ? owner(key) : undefined;
    if (!account) throw new Refused({ status: 401, headers: { "www-authenticate": 'Basic realm="MG API"' }, body: "Forbidden" });
    return account;
  },
  routes: [
    [/^POST \/v3\/([^/]+)\/messages$/, send],
    [
      /^GET \/v[34]\/domains\/([^/]+)$/,
      ({ params: [name] }) => (name === sendingDomain ? { status: 200, body: domain } : unknownDomain(name)),
    ],
    [/^GET \/$/, () => ({ status: 200, body: "Mailgun Magnificent API" })],
  ],
  maxBytes: 52.4 * 1024 * 1024,
  errors: {
    notFound: { status: 404, body: "404 page not found" },
    malformed: fault(400, "Bad Request"),
    tooLarge: fault(413, "Request Entity Too Large"),
    busy: (status) => (status === 429 ? tooFast() : fault(500, "Internal Server Error")),
  },
  webhook,
};

async function send(call: Call): Promise<Answer> {
  const [name] = call.params;
  if (name !== sendingDomain) return unknownDomain(name);
  const form = await fields(call);
  const id = `${clock.now().toISOString().replace(/\D/g, "").slice(0, 14)}.1.${randomBytes(8).toString("hex").toUpperCase()}@${sendingDomain}`;
  if (form.values.get("o:testmode") !== "yes") call.submit(await letters(form, id, call));
  return { status: 200, body: { id: `<${id}>`, message: "Queued. Thank you." } };
}

async function letters(form: Form, messageId: string, call: Call): Promise<Draft[]> {
  const from = mailbox(form.values.get("from") ?? "");
  const [to, bcc] = [form.to, form.bcc].map((lines) => lines.flatMap((line) => mailboxes(line) ?? [{ email: "" }])) as [
    Mailbox[],
    Mailbox[],
  ];
  check(
    form,
    from?.email,
    [...to, ...bcc].map(({ email }) => email),
    call,
  );
  const variables = recipientVariables(form.values.get("recipient-variables"));
  const content = {
    subject: form.values.get("subject") ?? "",
    html: form.values.get("html") || undefined,
    text: form.values.get("text") || undefined,
    attachments: form.attachments,
  };
  const { "Reply-To": replyTo, ...headers } = prefixed(form, "h:");
  const metadata = prefixed(form, "v:");
  const tracked = (kind: string) =>
    ![form.values.get("o:tracking"), form.values.get(`o:tracking-${kind}`)].some((value) => /^(no|false)$/.test(value ?? ""));
  const drafts = to.map((one): Draft => {
    const fill = byPercent(variables?.[one.email] ?? {});
    const filled = (all: Record<string, string>) =>
      Object.fromEntries(Object.entries(all).map(([key, value]) => [key, fill(value, "text")]));
    return {
      messageId,
      from: from!,
      to: one,
      replyTo,
      content,
      fill: variables && fill,
      headers: variables ? filled(headers) : headers,
      tags: form.tags,
      metadata: variables ? filled(metadata) : metadata,
      tracksOpens: tracked("opens"),
      tracksClicks: tracked("clicks"),
    };
  });
  return withCopies(drafts, bcc);
}

/** One bad address refuses the whole call. */
function check(form: Form, from: string | undefined, to: string[], call: Call): void {
  const refuse = (message: string) => {
    throw new Refused(fault(400, message));
  };
  if (!form.values.has("from")) refuse("from parameter is missing");
  if (!from) refuse("from parameter is not a valid address. please check documentation");
  if (!call.mayUse(from!))
    refuse(
      `Domain ${sendingDomain} is not allowed to send: The domain is unverified and requires DNS configuration. Log in to your control panel to view required DNS records.`,
    );
  if (!to.length) refuse("to parameter is missing");
  if (to.length > 1000) refuse("Too many recipients, max is 1000");
  if (to.some((email) => !email || call.rejects(email))) refuse("to parameter is not a valid address. please check documentation");
  if (!form.values.get("html") && !form.values.get("text")) refuse("Need at least one of 'text' or 'html' parameters specified");
  if (broken(form.values.get("subject") ?? "")) refuse("subject parameter contains a line break");
  for (const [name, value] of Object.entries(prefixed(form, "h:"))) {
    if (!/^[\x21-\x7e]+$/.test(name)) refuse("Header name must be pure ASCII");
    const wrong = headerFault(name, value);
    if (wrong) refuse(wrong);
  }
  const options = [...form.values].filter(([name]) => /^[ohv]:/.test(name));
  if (options.reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value), 0) > 16_384)
    refuse("o:, h: and v: parameters exceed 16kb");
}

interface Form {
  /** The last value of each field. */
  values: Map<string, string>;
  to: string[];
  bcc: string[];
  tags: string[];
  attachments: Attachment[];
}

async function fields({ request }: Call): Promise<Form> {
  const type = request.headers["content-type"] ?? "";
  const body = new Uint8Array(request.body);
  const data = await new Response(body, { headers: { "content-type": type } }).formData().catch(() => undefined);
  if (!data) throw new Refused(fault(400, "Request body is not a form"));
  const form: Form = { values: new Map(), to: [], bcc: [], tags: [], attachments: [] };
  for (const [name, value] of data) {
    if (typeof value !== "string") form.attachments.push(await attachment(value));
    else if (name === "to" || name === "bcc") form[name].push(value);
    else if (name === "o:tag") form.tags.push(value);
    else if (/^(attachment|inline)$/.test(name)) throw new Refused(fault(400, `${name} parameter must be a file`));
    else form.values.set(name, value);
  }
  return form;
}

const attachment = async (file: File): Promise<Attachment> => ({
  filename: file.name,
  type: file.type || "application/octet-stream",
  content: Buffer.from(await file.arrayBuffer()).toString("base64"),
});

const prefixed = ({ values }: Form, prefix: string): Record<string, string> =>
  Object.fromEntries([...values].filter(([name]) => name.startsWith(prefix)).map(([name, value]) => [name.slice(2), value]));

function recipientVariables(text: string | undefined): Record<string, Record<string, unknown>> | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Record<string, Record<string, unknown>>;
  } catch {
    throw new Refused(fault(400, "recipient-variables parameter is not valid JSON"));
  }
}

const sendingDomain = "mg.pennymail.test";
const apiKey = (account: Account) =>
  `${account.id}${account.hex("mailgun key", 16)}-${account.hex("mailgun key 2", 8)}-${account.hex("mailgun key 3", 8)}`;
const domain = { domain: { name: sendingDomain, state: "active", is_disabled: false }, sending_dns_records: [], receiving_dns_records: [] };

function fault(status: number, message: string): Answer {
  return { status, body: { message } };
}
const unknownDomain = (name = "") => fault(404, `Domain not found: ${name}`);
const tooFast = () =>
  fault(
    429,
    `Domain ${sendingDomain} is not allowed to send: request limit exceeded, try again after ${clock.after(1).toUTCString().replace("GMT", "UTC")}`,
  );
