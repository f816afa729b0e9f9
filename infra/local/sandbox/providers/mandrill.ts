// Mandrill (Mailchimp Transactional): POST /messages/send
// (mailchimp.com/developer/transactional/api/messages), and its webhooks.
import { createHmac } from "node:crypto";
import * as z from "zod";
import * as clock from "../../../../shared/clock.ts";
import { mandrillAccountRoutes } from "../account-apis/mandrill.ts";
import { isValidEmail } from "../addresses.ts";
import { renderPart } from "../inbox.ts";
import { renderHandlebars, renderMandrillTags } from "../merge-syntax.ts";
import { randomHex } from "../provider-ids.ts";
import {
  checkMail,
  headerNames,
  type MailFault,
  type MailInput,
  type MailRules,
  notSupported,
  ok,
  optionalOrNull,
  parseBody,
  parseJson,
  readTime,
  stringRecord,
  unsupported,
} from "../request-reader.ts";
import { isTo, searchSent } from "../search.ts";
import type {
  AcceptedMail,
  Mailbox,
  SandboxCall,
  SandboxProvider,
  SandboxRequest,
  SandboxResponse,
  Scheduled,
  SimulatedEvent,
  WebhookProfile,
} from "../types.ts";

const Files = z.array(z.object({ type: z.string(), name: z.string(), content: z.string() }));
const Vars = z.array(z.object({ name: z.string(), content: z.unknown() }));
const Values = z.record(z.string(), z.union([z.string(), z.number()]));
const flag = optionalOrNull(z.boolean());
const text = optionalOrNull(z.string());
const MandrillBody = z.object({
  message: z.object({
    bcc_address: unsupported,
    from_email: z.string(),
    from_name: text,
    to: z
      .array(
        z.object({
          email: z.string(),
          name: text,
          type: z.enum(["to", "cc", "bcc"]).default("to"),
        }),
      )
      .min(1),
    subject: z.string(),
    html: text,
    text,
    headers: optionalOrNull(stringRecord),
    track_opens: flag,
    track_clicks: flag,
    auto_text: flag,
    preserve_recipients: flag,
    metadata: optionalOrNull(Values),
    recipient_metadata: optionalOrNull(z.array(z.object({ rcpt: z.string(), values: Values }))),
    tags: optionalOrNull(
      z.array(z.string().max(50).regex(/^[^_]/, "Tags cannot begin with an underscore")),
    ),
    merge: flag,
    merge_language: optionalOrNull(z.enum(["mailchimp", "handlebars"])),
    global_merge_vars: optionalOrNull(Vars),
    merge_vars: optionalOrNull(z.array(z.object({ rcpt: z.string(), vars: Vars }))),
    attachments: optionalOrNull(Files),
    images: optionalOrNull(Files),
  }),
  async: z.boolean().default(false),
  // Without a zone, the time is UTC.
  send_at: text.transform((time) => readTime(time?.replace(/^(\S+) (\S+)$/, "$1T$2Z"))),
});
const KeyBody = z.object({ key: z.string() });
const IdBody = z.object({ id: z.string() });
type MandrillMessage = z.output<typeof MandrillBody>["message"];

/** The result reports bad recipients and senders, one by one. */
const rules: MailRules = {
  maxRecipients: 1000,
  refusedFor: "none",
  maxScheduleDays: 366,
  reservedHeaders: headerNames("from to cc bcc subject date message-id content-type mime-version"),
  toResponse: (fault, detail) => invalidField(...faults[fault](detail)),
};
const faults: Record<MailFault, (detail: string) => [field: string, message: string]> = {
  sender: () => ["from_email", "An email address must contain a single @"],
  unverifiedSender: (email) => ["from_email", email],
  recipient: (email) => ["to", email],
  recipientCount: (detail) => ["to", detail],
  noContent: () => ["html", "You must specify html or text content"],
  subject: (detail) => ["subject", `The subject ${detail}`],
  header: (detail) => ["headers", detail],
  attachment: (name) => ["attachments", `${name} is not valid base64`],
  time: () => ["send_at", "Please enter a valid date/time"],
};

const webhook: WebhookProfile = {
  deriveSecret: (account) => account.deriveBytes("mandrill webhook", 16).toString("base64url"),
  events: {
    accepted: ["send"],
    delivered: [
      "delivered",
      (event) => ({ smtp_events: [smtpEvent(event, "sent", "250 2.0.0 OK")] }),
    ],
    deferred: [
      "deferral",
      (event) => ({
        state: "deferred",
        smtp_events: [smtpEvent(event, "deferred", "421 4.7.0 Try again later")],
      }),
    ],
    bounced: [
      "hard_bounce",
      () => ({
        state: "bounced",
        bounce_description: "bad_mailbox",
        bgtools_code: 10,
        diag: "smtp;550 5.1.1 The email account that you tried to reach does not exist.",
      }),
    ],
    softbounced: [
      "soft_bounce",
      () => ({
        state: "soft-bounced",
        bounce_description: "mailbox_full",
        bgtools_code: 22,
        diag: "smtp;552 5.2.2 Over Quota",
      }),
    ],
    dropped: [
      "reject",
      () => ({
        state: "rejected",
        reject: { reason: "hard-bounce", last_event_at: "2026-11-01 10:00:00" },
      }),
    ],
    opened: [
      "open",
      ({ at }) => ({
        opens: [
          { ts: clock.epochSeconds(at), ip: clientFields.ip, ua: "Windows/Windows 10/Chrome" },
        ],
      }),
    ],
    clicked: ["click", ({ at, url }) => ({ clicks: [{ ts: clock.epochSeconds(at), url }] })],
    complained: ["spam", () => ({ state: "spam" })],
    unsubscribed: ["unsub", () => ({ state: "unsub" })],
  },
  // Mandrill writes an empty object as `[]`.
  toEvent: ({ kind, mail, at, url }, name, fields) => ({
    event: name,
    _id: mail.messageId,
    msg: {
      ts: clock.epochSeconds(mail.at),
      _id: mail.messageId,
      _version: "pennymail",
      state: "sent",
      subject: renderPart(mail, "subject"),
      email: mail.to.email,
      sender: mail.from.email,
      tags: mail.tags,
      metadata: Object.keys(mail.metadata).length ? mail.metadata : [],
      opens: [],
      clicks: [],
      smtp_events: [],
      resends: [],
      ...fields,
    },
    ts: clock.epochSeconds(at),
    ...((kind === "opened" || kind === "clicked") && clientFields),
    ...(kind === "clicked" && { url }),
  }),
  eventsPerPost: 1000,
  buildPost(events, { url }, account) {
    const json = JSON.stringify(events).replaceAll("/", "\\/");
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "user-agent": "Mandrill-Webhook/1.0",
      "x-mandrill-signature": createHmac("sha1", webhook.deriveSecret(account))
        .update(`${url}mandrill_events${json}`)
        .digest("base64"),
    };
    return {
      body: new URLSearchParams({ mandrill_events: json }).toString(),
      headers: () => headers,
    };
  },
};

const clientFields = {
  ip: "203.0.113.9",
  user_agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/131.0.0.0 Safari/537.36",
  user_agent_parsed: { type: "Browser", ua_family: "Chrome", mobile: false },
};

const smtpEvent = ({ at }: SimulatedEvent, type: string, diag: string) => ({
  ts: clock.epochSeconds(at),
  type,
  diag,
  source_ip: "203.0.113.22",
  destination_ip: "198.51.100.25",
  size: 4120,
});

export const mandrill: SandboxProvider = {
  key: "mandrill",
  name: "Mandrill",
  accountIdPattern: /^md-([0-9a-f]{16})[0-9a-f]{6}$/,
  credentials: (account) => ({ apiKey: `md-${account.id}${account.deriveHex("mandrill key", 6)}` }),
  readKey: readKeyFromBody,
  // The server ignores a trailing ".json".
  routes: {
    "POST /api/:version/messages/send": send,
    "POST /api/:version/messages/send-template": () =>
      errorResponse("Unknown_Template", `A stored template ${notSupported}`),
    "POST /api/:version/messages/info": readMessage,
    "POST /api/:version/messages/search": searchMessages,
    "POST /api/:version/messages/list-scheduled": (call) =>
      ok(call.scheduled().map(toScheduledMessage)),
    "POST /api/:version/messages/cancel-scheduled": cancelScheduled,
    ...mandrillAccountRoutes((account) => webhook.deriveSecret(account)),
    "POST /api/:version/users/ping2": ok({ PING: "PONG!" }),
    "POST /api/:version/users/info": ({ account }) =>
      ok({
        username: account.id,
        public_id: account.deriveHex("mandrill public id", 20),
        reputation: 75,
        hourly_quota: 10_000,
        backlog: 0,
        stats: {},
      }),
  },
  maxBytes: 40 * 1024 * 1024,
  errors: {
    unauthorized: { ...errorResponse("Invalid_Key", "Invalid API key"), status: 401 },
    notFound: (what) => errorResponse("Unknown_Method", `Unknown method: ${what}`),
    malformed: errorResponse("ValidationError", "You must specify a key value"),
    tooLarge: errorResponse("ValidationError", "Request body is too large"),
    rateLimited: () => ({
      ...errorResponse("RequestLimitExceeded", "You have exceeded the request limit"),
      status: 429,
    }),
    outage: errorResponse(
      "ServiceUnavailable",
      "The subsystem responsible for this API call is down for maintenance",
    ),
  },
  webhook,
};

function readKeyFromBody(request: SandboxRequest): string | undefined {
  return KeyBody.safeParse(parseJson(request, mandrill.errors.malformed)).data?.key;
}

const SearchBody = z.object({
  query: z.string().regex(/^email:\S+$/, "the sandbox understands only email:<address>"),
  limit: z.number().max(1000).default(100),
});

/** Understands the search for a recipient only. */
function searchMessages(call: SandboxCall): SandboxResponse {
  const { query, limit } = parseBody(SearchBody, call.json(), invalidField);
  const found = searchSent(call, 30, isTo(query.slice("email:".length)));
  return ok(
    found.slice(0, limit).map((mail) => ({
      ts: clock.epochSeconds(mail.at),
      _id: mail.messageId,
      sender: mail.from.email,
      email: mail.to.email,
      state: "sent",
      metadata: Object.keys(mail.metadata).length ? mail.metadata : [],
    })),
  );
}

/** Responds with 200 and a result for each recipient, refused or not. */
function send(call: SandboxCall): SandboxResponse {
  const { message, async, send_at: due } = parseBody(MandrillBody, call.json(), invalidField);
  const { from_email: email, from_name: name } = message;
  const { "Reply-To": replyTo, ...headers } = message.headers ?? {};
  const mail: MailInput = {
    from: name ? { email, name } : { email },
    to: message.to.map(toMailbox),
    replyTo,
    content: {
      subject: message.subject,
      html: message.html,
      text: message.text,
      attachments: [
        ...(message.attachments ?? []).map(({ name, ...file }) => ({ filename: name, ...file })),
        ...(message.images ?? []).map(({ name, ...image }) => ({
          filename: name,
          contentId: name,
          ...image,
        })),
      ],
    },
    headers,
    due,
  };
  checkMail(mail, rules, call);
  const queued = async || message.to.length > 10;
  const acceptedStatus = queued ? "queued" : "sent";
  const senderVerified = call.isVerifiedSender(email);
  const results = toDrafts(message, mail).map((draft) => {
    const reason = refusalReason(draft.to.email, senderVerified, call);
    const refusedStatus = reason === "invalid" ? "invalid" : "rejected";
    const status = due && due > clock.now() ? "scheduled" : acceptedStatus;
    return { draft, reason, status: reason ? refusedStatus : status };
  });
  call.accept(
    results.filter(({ reason }) => !reason).map(({ draft }) => draft),
    due,
  );
  return ok(
    results.map(({ draft, reason = null, status }) => ({
      email: draft.to.email,
      status,
      _id: draft.messageId,
      reject_reason: reason,
      queued_reason: !reason && message.to.length > 10 ? "multiple-recipients" : null,
    })),
  );
}

function refusalReason(
  email: string,
  senderVerified: boolean,
  call: SandboxCall,
): string | undefined {
  if (!isValidEmail(email)) return "invalid";
  if (!senderVerified) return "unsigned";
  return call.isRejected(email) ? "hard-bounce" : undefined;
}

/** Each recipient has values, metadata and a message id of their own. */
function toDrafts(message: MandrillMessage, mail: MailInput): AcceptedMail[] {
  const vars = new Map(
    (message.merge_vars ?? []).map(({ rcpt, vars }) => [rcpt.toLowerCase(), vars]),
  );
  const metadata = new Map(
    (message.recipient_metadata ?? []).map(({ rcpt, values }) => [rcpt.toLowerCase(), values]),
  );
  const merges = message.merge || vars.size > 0 || message.global_merge_vars !== undefined;
  const addressees = (kind: string) =>
    message.to.filter(({ type }) => type === kind).map(toMailbox);
  // Unless recipients are preserved, each gets the mail as if it were to nobody else.
  const shown = message.preserve_recipients
    ? { to: addressees("to"), cc: addressees("cc") }
    : undefined;
  const { from, replyTo, content, headers = {} } = mail;
  return mail.to.map((to) => {
    const key = to.email.toLowerCase();
    const mergeVars = [...(message.global_merge_vars ?? []), ...(vars.get(key) ?? [])];
    const values = Object.fromEntries(mergeVars.map(({ name, content }) => [name, content]));
    const render =
      message.merge_language === "handlebars"
        ? renderHandlebars(values, { escapes: true })
        : renderMandrillTags(values);
    return {
      messageId: randomHex(32),
      from,
      to,
      shown,
      replyTo,
      content,
      fill: merges ? render : undefined,
      headers,
      tags: message.tags ?? [],
      metadata: { ...message.metadata, ...metadata.get(key) },
      tracksOpens: message.track_opens ?? true,
      tracksClicks: message.track_clicks ?? true,
    };
  });
}

const toMailbox = ({ email, name }: { email: string; name: string | undefined }): Mailbox =>
  name ? { email, name } : { email };

function readMessage(call: SandboxCall): SandboxResponse {
  const { id } = parseBody(IdBody, call.json(), invalidField);
  const [mail] = call.sent(id);
  if (!mail) return unknownMessage(id);
  return ok({
    ts: clock.epochSeconds(mail.at),
    _id: id,
    sender: mail.from.email,
    subject: renderPart(mail, "subject"),
    email: mail.to.email,
    tags: mail.tags,
    state: "sent",
    metadata: mail.metadata,
    opens: 0,
    opens_detail: [],
    clicks: 0,
    clicks_detail: [],
    smtp_events: [],
  });
}

function cancelScheduled(call: SandboxCall): SandboxResponse {
  const { id } = parseBody(IdBody, call.json(), invalidField);
  const [found] = call.scheduled(id);
  call.cancel(id);
  return found ? ok(toScheduledMessage(found)) : unknownMessage(id);
}

const toScheduledMessage = ({ id, due, drafts: [first] }: Scheduled) => ({
  _id: id,
  send_at: due.toISOString().replace("T", " ").slice(0, 19),
  from_email: first?.from.email,
  to: first?.to.email,
  subject: first && renderPart(first, "subject"),
});

const unknownMessage = (id: string) =>
  errorResponse("Unknown_Message", `No message exists with the id '${id}'`);

const invalidField = (path: string, message: string) =>
  errorResponse("ValidationError", `Validation error: {"${path}":"${message}"}`);

/** The API responds to every error with 500. Its name says what it is. */
function errorResponse(name: string, message: string): SandboxResponse {
  return {
    status: 500,
    body: { status: "error", code: name === "Invalid_Key" ? -1 : -2, name, message },
  };
}
