// Mailgun: POST /v3/<domain>/messages with a form (documentation.mailgun.com, messages), and its
// signed webhooks.
import { createHmac } from "node:crypto";
import * as clock from "../../../../shared/clock.ts";
import { mailgunAccountRoutes } from "../account-apis/mailgun.ts";
import { readMailbox, readMailboxes } from "../addresses.ts";
import { renderPart } from "../inbox.ts";
import { renderMailgunVariables } from "../merge-syntax.ts";
import { randomHex, timeDigits } from "../provider-ids.ts";
import {
  basicCredentials,
  checkMail,
  type MailFault,
  type MailInput,
  type MailRules,
  notSupported,
  ok,
  readTime,
  refuse,
  toAcceptedMails,
} from "../request-reader.ts";
import { isTo, queryOf, searchSent } from "../search.ts";
import type {
  AcceptedMail,
  Attachment,
  SandboxAccount,
  SandboxCall,
  SandboxProvider,
  SandboxResponse,
  WebhookProfile,
} from "../types.ts";
import { jsonPost } from "../webhook-format.ts";

const sendingDomain = "mg.pennymail.test";

/** Any fault refuses the whole call. */
const rules: MailRules = {
  maxRecipients: 1000,
  refusedFor: "invalid or rejected",
  maxScheduleDays: 7,
  reservedHeaders: new Set(),
  toResponse: (fault, detail) => errorResponse(400, faultMessages[fault](detail)),
};
const faultMessages: Record<MailFault, (detail: string) => string> = {
  sender: () => "from parameter is not a valid address. please check documentation",
  unverifiedSender: () =>
    `Domain ${sendingDomain} is not allowed to send: The domain is unverified and requires ` +
    "DNS configuration. Log in to your control panel to view required DNS records.",
  recipient: () => "to parameter is not a valid address. please check documentation",
  recipientCount: () => "Too many recipients, max is 1000",
  noContent: () => "Need at least one of 'text' or 'html' parameters specified",
  subject: (detail) => `subject parameter ${detail}`,
  header: (detail) => detail,
  attachment: (name) => `attachment ${name} is not valid`,
  time: (days) => `o:deliverytime parameter is not a valid date within the next ${days} days`,
};

const webhook: WebhookProfile = {
  deriveSecret: (account) => account.deriveHex("mailgun signing key", 32),
  events: {
    accepted: ["accepted"],
    delivered: [
      "delivered",
      () => ({
        "log-level": "info",
        "delivery-status": {
          "attempt-no": 1,
          code: 250,
          message: "OK",
          description: null,
          tls: true,
        },
      }),
    ],
    deferred: failed("temporary", "generic", {
      code: 421,
      message: "4.7.0 try again later",
      "retry-seconds": 600,
    }),
    bounced: failed("permanent", "bounce", {
      code: 550,
      message: "5.1.1 The email account that you tried to reach does not exist",
      "enhanced-code": "5.1.1",
      "bounce-type": "hard",
    }),
    softbounced: failed("permanent", "generic", {
      code: 452,
      message: "4.2.2 Mailbox full",
      "enhanced-code": "4.2.2",
      "bounce-type": "soft",
    }),
    dropped: failed("permanent", "suppress-bounce", {
      code: 605,
      message: "",
      description: "Not delivering to previously bounced address",
    }),
    opened: ["opened", () => clientFields],
    clicked: ["clicked", ({ url }) => ({ ...clientFields, url })],
    complained: ["complained", () => ({ "log-level": "warn" })],
    unsubscribed: ["unsubscribed", () => ({ ...clientFields, tags: ["*"] })],
  },
  // Mailgun writes an empty object as `[]`.
  toEvent: ({ mail, at, id }, name, fields) => ({
    event: name,
    id: Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url"),
    timestamp: at.getTime() / 1000,
    recipient: mail.to.email,
    "recipient-domain": mail.to.email.split("@")[1],
    tags: mail.tags,
    "user-variables": Object.keys(mail.metadata).length ? mail.metadata : [],
    flags: { "is-authenticated": true, "is-routed": false, "is-test-mode": false },
    message: {
      attachments: [],
      headers: {
        "message-id": mail.messageId,
        from: mail.from.email,
        to: mail.to.email,
        subject: renderPart(mail, "subject"),
      },
    },
    domain: { name: sendingDomain },
    ...fields,
  }),
  eventsPerPost: 1,
  /** Retries carry the same signature and token. */
  buildPost([event], _target, account) {
    const [timestamp, token] = [String(clock.epochSeconds()), randomHex(50)];
    const signature = createHmac("sha256", webhook.deriveSecret(account))
      .update(timestamp + token)
      .digest("hex");
    return jsonPost(
      { signature: { token, timestamp, signature }, "event-data": event },
      { "user-agent": "mailgun/treq-22.2.0" },
    );
  },
  shouldRetry: (status) => status !== 406,
};

function failed(
  severity: string,
  reason: string,
  status: object,
): [name: string, fields: () => object] {
  const fields = {
    severity,
    reason,
    "log-level": severity === "permanent" ? "error" : "warn",
    "delivery-status": { "attempt-no": 1, description: "", ...status },
  };
  return ["failed", () => fields];
}

const clientFields = {
  ip: "203.0.113.9",
  geolocation: { city: "San Antonio", country: "US", region: "TX" },
  "client-info": {
    "client-name": "Chrome",
    "client-os": "OS X",
    "client-type": "browser",
    "device-type": "desktop",
    "user-agent": "Mozilla/5.0 (Macintosh)",
    bot: null,
  },
};

export const mailgun: SandboxProvider = {
  key: "mailgun",
  name: "Mailgun",
  accountIdPattern: /^([0-9a-f]{16})[0-9a-f]{16}-[0-9a-f]{8}-[0-9a-f]{8}$/,
  credentials: (account) => ({ apiKey: apiKey(account), domain: sendingDomain }),
  readKey(request) {
    const [user, key] = basicCredentials(request);
    return user === "api" ? key : undefined;
  },
  routes: {
    "POST /v3/:domain/messages": send,
    "GET /v3/:domain/events": searchEvents,
    "GET /v3/:domain/events/:page": searchEvents,
    ...mailgunAccountRoutes({
      sendingDomain,
      signingKey: (account) => webhook.deriveSecret(account),
    }),
    "GET /:version/domains/:domain": ({ params: [, name] }) =>
      name === sendingDomain ? ok(domain) : unknownDomain(name),
    "GET /": { status: 200, body: "Mailgun Magnificent API" },
  },
  maxBytes: 52.4 * 1024 * 1024,
  errors: {
    unauthorized: {
      status: 401,
      headers: { "www-authenticate": 'Basic realm="MG API"' },
      body: "Forbidden",
    },
    notFound: (what) => errorResponse(404, `404 page not found: ${what}`),
    malformed: errorResponse(400, "Bad Request"),
    tooLarge: errorResponse(413, "Request Entity Too Large"),
    rateLimited: () =>
      errorResponse(
        429,
        `Domain ${sendingDomain} is not allowed to send: request limit exceeded, try again ` +
          `after ${clock.addSeconds(1).toUTCString().replace("GMT", "UTC")}`,
      ),
    outage: errorResponse(503, "Internal Server Error"),
  },
  webhook,
};

/** The URL of a further page has its query and offset in its last part. */
function searchEvents(call: SandboxCall): SandboxResponse {
  const [name, page = ""] = call.params;
  if (name !== sendingDomain) return unknownDomain(name);
  const query = page
    ? new URLSearchParams(Buffer.from(page, "base64url").toString())
    : queryOf(call);
  const [limit, offset] = [Number(query.get("limit")), Number(query.get("offset"))];
  const isRecipient = isTo(...(query.get("recipient") ?? "").split(" OR "));
  const begin = new Date(Number(query.get("begin")) * 1000);
  const found = searchSent(call, 60, (mail) => isRecipient(mail) && mail.at >= begin);
  const items = found.slice(offset, offset + limit).map((mail) => ({
    event: "accepted",
    timestamp: mail.at.getTime() / 1000,
    recipient: mail.to.email,
    "user-variables": Object.keys(mail.metadata).length ? mail.metadata : [],
    message: { headers: { "message-id": mail.messageId } },
  }));
  query.set("offset", String(offset + items.length));
  const token = Buffer.from(String(query)).toString("base64url");
  const next = `https://api.mailgun.net/v3/${sendingDomain}/events/${token}`;
  return ok({ items, paging: { next } });
}

async function send(call: SandboxCall): Promise<SandboxResponse> {
  const [name] = call.params;
  if (name !== sendingDomain) return unknownDomain(name);
  const form = await readForm(call);
  if (form.values.has("template")) return errorResponse(400, `template ${notSupported}`);
  const mail = toMailInput(form);
  // Files come as bytes, so they cannot be invalid.
  checkMail({ ...mail, content: { ...mail.content, attachments: [] } }, rules, call);
  checkOptionSize(form);
  const id = `${timeDigits(14)}.1.${randomHex(16).toUpperCase()}@${sendingDomain}`;
  const { "Reply-To": replyTo, ...headers } = mail.headers ?? {};
  const drafts = personalize(form, { ...mail, replyTo, headers }, id);
  if (form.values.get("o:testmode") !== "yes") call.accept(drafts, mail.due);
  return ok({ id: `<${id}>`, message: "Queued. Thank you." });
}

function toMailInput(form: MailgunForm): MailInput {
  const { values } = form;
  const tracked = (kind: string) =>
    ![values.get("o:tracking"), values.get(`o:tracking-${kind}`)].some((value) =>
      /^(no|false)$/.test(value ?? ""),
    );
  return {
    from: readMailbox(values.get("from") ?? ""),
    to: form.to.flatMap(readMailboxes),
    cc: form.cc.flatMap(readMailboxes),
    bcc: form.bcc.flatMap(readMailboxes),
    content: {
      subject: values.get("subject") ?? "",
      html: values.get("html") || undefined,
      text: values.get("text") || undefined,
      attachments: form.attachments,
    },
    headers: fieldsWithPrefix(form, "h:"),
    tags: form.tags,
    metadata: fieldsWithPrefix(form, "v:"),
    tracksOpens: tracked("opens"),
    tracksClicks: tracked("clicks"),
    due: readTime(values.get("o:deliverytime")),
  };
}

/** In a batch, each mail names only its own recipient. Copies show the values of the first one. */
function personalize(form: MailgunForm, mail: MailInput, id: string): AcceptedMail[] {
  const variables = recipientVariables(form.values.get("recipient-variables"));
  if (!variables) return toAcceptedMails(mail, id);
  return mail.to.flatMap((recipient, index) => {
    const fill = renderMailgunVariables(variables[recipient.email] ?? {});
    const filled = (values: object = {}) =>
      Object.fromEntries(Object.entries(values).map(([key, value]) => [key, fill(value, "text")]));
    const copies = index === 0 ? {} : { cc: [], bcc: [] };
    return toAcceptedMails(
      {
        ...mail,
        fill,
        to: [recipient],
        ...copies,
        headers: filled(mail.headers),
        metadata: filled(mail.metadata),
      },
      id,
    );
  });
}

function checkOptionSize({ values }: MailgunForm): void {
  const options = [...values].filter(([name]) => /^[ohv]:/.test(name));
  const size = options.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (size > 16_384) refuse(errorResponse(400, "o:, h: and v: parameters exceed 16kb"));
}

interface MailgunForm {
  /** The last value of each field. */
  values: Map<string, string>;
  to: string[];
  cc: string[];
  bcc: string[];
  tags: string[];
  attachments: Attachment[];
}

async function readForm({ request }: SandboxCall): Promise<MailgunForm> {
  const headers = { "content-type": request.headers["content-type"] ?? "" };
  const data = await new Response(new Uint8Array(request.body), { headers })
    .formData()
    .catch(() => refuse(errorResponse(400, "Request body is not a form")));
  const form: MailgunForm = {
    values: new Map(),
    to: [],
    cc: [],
    bcc: [],
    tags: [],
    attachments: [],
  };
  for (const [name, value] of data) {
    if (typeof value !== "string") form.attachments.push(await readFile(name, value));
    else if (name === "to" || name === "cc" || name === "bcc") form[name].push(value);
    else if (name === "o:tag") form.tags.push(value);
    else if (name === "attachment" || name === "inline")
      refuse(errorResponse(400, `${name} parameter must be a file`));
    else form.values.set(name, value);
  }
  return form;
}

/** The file name of an inline image is its content id. */
const readFile = async (field: string, file: File): Promise<Attachment> => ({
  filename: file.name,
  type: file.type || "application/octet-stream",
  content: Buffer.from(await file.arrayBuffer()).toString("base64"),
  ...(field === "inline" && { contentId: file.name }),
});

const fieldsWithPrefix = ({ values }: MailgunForm, prefix: string): Record<string, string> =>
  Object.fromEntries(
    [...values]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, value]) => [name.slice(prefix.length), value]),
  );

function recipientVariables(
  text: string | undefined,
): Record<string, Record<string, unknown>> | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Record<string, Record<string, unknown>>;
  } catch {
    return refuse(errorResponse(400, "recipient-variables parameter is not valid JSON"));
  }
}

const apiKey = ({ id, deriveHex }: SandboxAccount) =>
  [
    id + deriveHex("mailgun key", 16),
    deriveHex("mailgun key 2", 8),
    deriveHex("mailgun key 3", 8),
  ].join("-");

const domain = {
  domain: { name: sendingDomain, state: "active", is_disabled: false },
  sending_dns_records: [],
  receiving_dns_records: [],
};

function errorResponse(status: number, message: string): SandboxResponse {
  return { status, body: { message } };
}

const unknownDomain = (name = "") => errorResponse(404, `Domain not found: ${name}`);
