// SparkPost: POST /api/v1/transmissions (developers.sparkpost.com/api/transmissions), and its event
// webhooks (api/webhooks).
import { createHash, randomBytes, randomUUID } from "node:crypto";
import * as z from "zod";
import * as clock from "../../../../shared/clock.ts";
import { sparkpostAccountRoutes } from "../account-apis/sparkpost.ts";
import { isValidEmail, readMailbox, readMailboxes } from "../addresses.ts";
import { renderPart } from "../inbox.ts";
import { findUnrenderable, renderHandlebars } from "../merge-syntax.ts";
import {
  checkMail,
  headerNames,
  type MailFault,
  type MailRules,
  ok,
  parseBody,
  readTime,
  stringRecord,
  unsupported,
} from "../request-reader.ts";
import { isTo, queryOf, searchSent } from "../search.ts";
import type {
  AcceptedMail,
  CapturedContent,
  ContentPart,
  SandboxCall,
  SandboxProvider,
  SandboxResponse,
  WebhookProfile,
} from "../types.ts";
import { jsonPost } from "../webhook-format.ts";

const Values = z.record(z.string(), z.unknown());
const Files = z
  .array(z.object({ name: z.string().max(255), type: z.string(), data: z.string() }))
  .default([]);
/** `"Ada <ada@x>"`, or an object. A copy has a `header_to`, which is the mail's To header. */
const Address = z
  .union([
    z.string().transform(readMailbox),
    z.object({ email: z.string(), name: z.string().optional(), header_to: z.string().optional() }),
  ])
  .transform((address) => ({
    mailbox: address.name ? { email: address.email, name: address.name } : { email: address.email },
    headerTo: "header_to" in address ? address.header_to : undefined,
  }));
const Recipient = z.object({
  address: Address,
  metadata: Values.optional(),
  substitution_data: Values.optional(),
  tags: z.array(z.string()).max(10).default([]),
});
const SparkPostBody = z.object({
  options: z
    .object({
      open_tracking: z.boolean(),
      click_tracking: z.boolean(),
      transactional: z.boolean(),
      perform_substitutions: z.boolean(),
      sandbox: z.boolean(),
      start_time: z.string(),
    })
    .partial()
    .default({}),
  campaign_id: z.string().max(64).optional(),
  metadata: Values.optional(),
  substitution_data: Values.optional(),
  recipients: z.array(Recipient).min(1).max(10_000),
  content: z.object({
    template_id: unsupported,
    ab_test_id: unsupported,
    email_rfc822: unsupported,
    from: Address,
    reply_to: z.string().optional(),
    subject: z.string().min(1),
    headers: stringRecord.default({}),
    text: z.string().optional(),
    html: z.string().optional(),
    attachments: Files,
    inline_images: Files,
  }),
});
type SparkPostBody = z.output<typeof SparkPostBody>;

/** Bad recipients are left out before the check; the result counts them. */
const rules: MailRules = {
  maxRecipients: 10_000,
  refusedFor: "invalid or rejected",
  needsSubject: true,
  maxScheduleDays: 31,
  reservedHeaders: headerNames(
    "from to subject reply-to content-type content-transfer-encoding mime-version date " +
      "message-id return-path",
  ),
  toResponse: (fault, detail) => errorResponse(...faults[fault](detail)),
};
type SparkPostError = [status: number, message: string, code?: string];
const faults: Record<MailFault, (detail: string) => SparkPostError> = {
  sender: () => [422, "invalid data format/type: content.from", "1300"],
  unverifiedSender: (email) => [
    400,
    `Unconfigured Sending Domain <${email.split("@")[1]}>`,
    "7001",
  ],
  recipient: () => [400, "Invalid recipient", "5001"],
  recipientCount: () => [400, "At least one valid recipient is required", "5002"],
  noContent: () => [422, "At least one of 'text' or 'html' content must exist.", "1400"],
  subject: (detail) => [422, `Subject ${detail}`, "1300"],
  header: (detail) => [422, detail, "1300"],
  attachment: () => [422, "attachment data must be base64", "1300"],
  time: (days) => [422, `options.start_time is not a date within the next ${days} days`, "1300"],
};

const webhook: WebhookProfile = {
  deriveSecret: (account) => account.deriveHex("sparkpost webhook token", 40),
  /** The name is the event's group and type. */
  events: {
    accepted: ["message_event injection"],
    delivered: [
      "message_event delivery",
      () => ({ ip_address: "192.0.2.4", num_retries: "0", queue_time: "820" }),
    ],
    deferred: [
      "message_event delay",
      () => ({
        ...reasonFields("454 4.4.4 [internal] no MX or A for domain"),
        bounce_class: "21",
        num_retries: "1",
      }),
    ],
    bounced: [
      "message_event bounce",
      () => ({
        ...reasonFields("550 5.1.1 Recipient address rejected: User unknown"),
        bounce_class: "10",
      }),
    ],
    softbounced: [
      "message_event bounce",
      () => ({ ...reasonFields("552 5.2.2 Mailbox full"), bounce_class: "22" }),
    ],
    dropped: [
      "gen_event generation_rejection",
      () => reasonFields("554 5.7.1 recipient address suppressed due to customer policy"),
    ],
    opened: ["track_event open", () => clientFields],
    clicked: [
      "track_event click",
      ({ url }) => ({ ...clientFields, target_link_url: url, target_link_name: "" }),
    ],
    complained: [
      "message_event spam_complaint",
      () => ({
        fbtype: "abuse",
        report_by: "server.pennymail.test",
        report_to: "abuse.pennymail.test",
      }),
    ],
    unsubscribed: [
      "unsubscribe_event list_unsubscribe",
      ({ mail }) => ({ mailfrom: mail.to.email }),
    ],
    unrenderable: [
      "gen_event generation_failure",
      ({ mail }) => reasonFields(mail.renderError ?? ""),
    ],
  },
  toEvent({ mail, at, id }, name, fields) {
    const [group = "", type] = name.split(" ");
    const event = {
      type,
      event_id: createEventId(id),
      message_id: createHash("sha256")
        .update(`${mail.messageId} ${mail.id}`)
        .digest("hex")
        .slice(0, 20),
      transmission_id: mail.messageId,
      rcpt_to: mail.to.email.toLowerCase(),
      raw_rcpt_to: mail.to.email,
      rcpt_meta: mail.metadata,
      rcpt_tags: [],
      ...(mail.tags[0] && { campaign_id: mail.tags[0] }),
      friendly_from: mail.from.email,
      subject: renderPart(mail, "subject"),
      timestamp: String(clock.epochSeconds(at)),
      ...fields,
    };
    return { msys: { [group]: event } };
  },
  eventsPerPost: 250,
  buildPost: (events, { password }, account) =>
    jsonPost(events, {
      "x-messagesystems-batch-id": randomUUID(),
      ...(password === undefined
        ? { "x-messagesystems-webhook-token": webhook.deriveSecret(account) }
        : { authorization: `Basic ${Buffer.from(`pennymail:${password}`).toString("base64")}` }),
    }),
};

const clientFields = {
  user_agent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)",
  ip_address: "203.0.113.9",
  geo_ip: { country: "US", region: "MD", city: "Columbia" },
};

/** An SMTP response, as SparkPost shows it, without addresses too. */
const reasonFields = (response: string) => ({
  raw_reason: response,
  reason: response.replace(/\S+@\S+/g, "...@..."),
  error_code: response.slice(0, 3),
});

/** Ids have more digits than a JavaScript number holds. */
const createEventId = (id: string) =>
  (createHash("sha256").update(id).digest().readBigUInt64BE() >> 7n).toString();

export const sparkpost: SandboxProvider = {
  key: "sparkpost",
  name: "SparkPost",
  accountIdPattern: /^([0-9a-f]{16})[0-9a-f]{24}$/,
  credentials: (account) => ({ apiKey: account.id + account.deriveHex("sparkpost key", 24) }),
  readKey: ({ headers }) => headers.authorization,
  routes: {
    "POST /api/v1/transmissions": send,
    "GET /api/v1/events/message": searchEvents,
    "GET /api/v1/transmissions/:id": readScheduled,
    "DELETE /api/v1/transmissions/:id": ({ cancel, params: [id = ""] }) =>
      cancel(id) ? { status: 204 } : notFound(`scheduled transmission ${id}`),
    "GET /api/v1/account": ({ account }) =>
      ok({
        results: {
          customer_id: Number.parseInt(account.deriveHex("sparkpost customer", 6), 16),
          company_name: "Pennymail sandbox",
          status: "active",
        },
      }),
    ...sparkpostAccountRoutes,
  },
  maxBytes: 40 * 1024 * 1024,
  errors: {
    unauthorized: errorResponse(401, "Unauthorized."),
    notFound,
    malformed: errorResponse(400, "JSON syntax error", "1300"),
    tooLarge: errorResponse(413, "Request Entity Too Large"),
    rateLimited: () => errorResponse(429, "Too many requests"),
    outage: errorResponse(503, "Internal Server Error", "1900"),
  },
  webhook,
};

/** The first event of each mail. A real search also has the later ones. */
function searchEvents(call: SandboxCall): SandboxResponse {
  const query = queryOf(call);
  const recipients = (query.get("recipients") ?? "").split(",");
  const from = new Date(query.get("from") ?? "");
  const found = searchSent(call, 60, (mail) => isTo(...recipients)(mail) && mail.at >= from);
  const results = found.map((mail) => ({
    type: mail.renderError ? "generation_failure" : "injection",
    transmission_id: mail.messageId,
    rcpt_to: mail.to.email.toLowerCase(),
    rcpt_meta: mail.metadata,
    ...(mail.renderError && { reason: mail.renderError }),
    timestamp: mail.at.toISOString(),
  }));
  return ok({ results, total_count: results.length, links: {} });
}

function send(call: SandboxCall): SandboxResponse {
  const body = parseBody(SparkPostBody, call.json(), (path, message) =>
    errorResponse(422, `${message}: ${path}`, path.includes("recipients") ? "5002" : "1300"),
  );
  const { recipients } = body;
  const good = recipients.filter(
    ({ address: { mailbox } }) => isValidEmail(mailbox.email) && !call.isRejected(mailbox.email),
  );
  const due = readTime(body.options.start_time);
  const content = contentOf(body);
  const to = good.map(({ address }) => address.mailbox);
  checkMail(
    { from: body.content.from.mailbox, to, content, headers: body.content.headers, due },
    rules,
    call,
  );
  const id = String(randomBytes(8).readBigUInt64BE() >> 7n);
  const renderError = findRenderError(body, content);
  call.accept(
    good.map((recipient) => toDraft(body, recipient, { content, renderError, messageId: id })),
    due,
  );
  const refused = recipients.length - good.length;
  const results = {
    total_rejected_recipients: refused,
    total_accepted_recipients: good.length,
    id,
  };
  return ok(refused ? partialSuccessBody(results, refused) : { results });
}

const partialSuccessBody = (results: object, refused: number) => ({
  errors: [{ message: "transmission created, but with validation errors", code: "2000" }],
  results: {
    rcpt_to_errors: Array.from({ length: refused }, () => ({
      message: "Invalid recipient",
      code: "5001",
    })),
    ...results,
  },
});

const contentOf = ({ content }: SparkPostBody): CapturedContent => ({
  subject: content.subject,
  html: content.html,
  text: content.text,
  attachments: [
    ...content.attachments.map(toAttachment),
    ...content.inline_images.map((image) => ({ ...toAttachment(image), contentId: image.name })),
  ],
});

const toAttachment = ({ name, type, data }: z.output<typeof Files>[number]) => ({
  filename: name,
  type,
  content: data,
});

/** Each recipient gets a mail of their own. Name, Reply-To and headers are templates too. */
function toDraft(
  body: SparkPostBody,
  { address, metadata, substitution_data, tags }: SparkPostBody["recipients"][number],
  shared: Pick<AcceptedMail, "content" | "renderError" | "messageId">,
): AcceptedMail {
  const { options, content } = body;
  const { email, name } = content.from.mailbox;
  const values = { ...body.metadata, ...metadata, ...body.substitution_data, ...substitution_data };
  const render = renderHandlebars(values, { escapes: true });
  const rendersBodies = options.perform_substitutions ?? true;
  const headers = headersOf(body).map(([name, value]) => [name, render(value, "text")]);
  const ccHeader = Object.entries(content.headers).find(([name]) => name.toLowerCase() === "cc");
  return {
    ...shared,
    from: name ? { email, name: render(name, "text") } : { email },
    to: address.mailbox,
    shown: {
      to: address.headerTo ? readMailboxes(address.headerTo) : [address.mailbox],
      cc: readMailboxes(ccHeader?.[1]),
    },
    replyTo: content.reply_to && render(content.reply_to, "text"),
    fill: (text, part) => (part === "subject" || rendersBodies ? render(text, part) : text),
    headers: Object.fromEntries(headers),
    tags: [...(body.campaign_id ? [body.campaign_id] : []), ...tags],
    metadata: { ...body.metadata, ...metadata },
    tracksOpens: options.open_tracking ?? true,
    tracksClicks: options.click_tracking ?? true,
  };
}

/** SparkPost accepts a template that it cannot render, and reports it with an event. */
function findRenderError({ options }: SparkPostBody, content: CapturedContent) {
  const parts: ContentPart[] =
    (options.perform_substitutions ?? true) ? ["subject", "html", "text"] : ["subject"];
  const name = parts
    .map((part) => findUnrenderable(content[part] ?? ""))
    .find((found) => found !== undefined);
  return name === undefined
    ? undefined
    : `554 5.3.3 [internal] Error while rendering: substitution "${name}" is not valid`;
}

/** SparkPost replaces List-Unsubscribe with its own, unless the mail is transactional. */
function headersOf({ options, content }: SparkPostBody): [string, string][] {
  const headers = Object.entries(content.headers);
  if (options.transactional) return headers;
  return [
    ...headers.filter(([name]) => !/^list-unsubscribe/i.test(name)),
    ["List-Unsubscribe", "<mailto:unsubscribe@unsub.spmta.com?subject=unsubscribe>"],
  ];
}

/** Only a scheduled transmission can be read. */
function readScheduled({ scheduled, params: [id = ""] }: SandboxCall): SandboxResponse {
  const [found] = scheduled(id);
  if (!found) return notFound(`transmission ${id}`);
  const transmission = {
    id,
    state: "submitted",
    num_rcpts: found.drafts.length,
    options: { start_time: found.due.toISOString() },
  };
  return ok({ results: { transmission } });
}

function notFound(what: string): SandboxResponse {
  return errorResponse(404, `Resource could not be found: ${what}`, "1600");
}

function errorResponse(...[status, message, code]: SparkPostError): SandboxResponse {
  return { status, body: { errors: [{ message, ...(code && { code }) }] } };
}
