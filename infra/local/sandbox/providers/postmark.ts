// Postmark: POST /email and /email/batch (postmarkapp.com/developer/api/email-api), and its
// webhooks (developer/webhooks).
import { createHash, randomUUID } from "node:crypto";
import * as z from "zod";
import * as clock from "../../../../shared/clock.ts";
import { accountToken, postmarkAccountRoutes } from "../account-apis/postmark.ts";
import { readMailbox, readMailboxes } from "../addresses.ts";
import { renderPart } from "../inbox.ts";
import {
  checkMail,
  copyKind,
  headerNames,
  type MailFault,
  type MailInput,
  type MailRules,
  notSupported,
  ok,
  optionalOrNull,
  parseBody,
  refuse,
  shownIn,
  stringRecord,
  toAcceptedMails,
  toRecord,
} from "../request-reader.ts";
import { isTo, queryOf, searchSent } from "../search.ts";
import {
  type AcceptedMail,
  type SandboxAccount,
  type SandboxCall,
  type SandboxProvider,
  SandboxRefusal,
  type SandboxResponse,
  type SimulatedEvent,
  type WebhookProfile,
} from "../types.ts";
import { jsonPost, querySecret } from "../webhook-format.ts";

const text = optionalOrNull(z.string());
const PostmarkMessage = z.object({
  From: z.string(),
  To: z.string(),
  Cc: text,
  Bcc: text,
  ReplyTo: text,
  Subject: text,
  HtmlBody: text,
  TextBody: text,
  MessageStream: optionalOrNull(z.enum(["outbound", "broadcast"])),
  Tag: text,
  TrackOpens: optionalOrNull(z.boolean()),
  TrackLinks: optionalOrNull(z.enum(["None", "HtmlAndText", "HtmlOnly", "TextOnly"])),
  Metadata: optionalOrNull(stringRecord),
  Headers: optionalOrNull(z.array(z.object({ Name: z.string(), Value: z.string() }))),
  Attachments: optionalOrNull(
    z.array(
      z.object({
        Name: z.string(),
        Content: z.string(),
        ContentType: z.string(),
        ContentID: optionalOrNull(z.string().startsWith("cid:")),
      }),
    ),
  ),
});
type PostmarkMessage = z.output<typeof PostmarkMessage>;

const rules: MailRules = {
  maxRecipients: 50,
  refusedFor: "invalid",
  reservedHeaders: headerNames(
    "from to cc bcc subject reply-to date message-id content-type mime-version return-path sender",
  ),
  toResponse: (fault, detail) =>
    errorResponse(422, fault === "unverifiedSender" ? 400 : 300, faultMessages[fault](detail)),
};
const faultMessages: Record<MailFault, (detail: string) => string> = {
  sender: (email) => `Invalid 'From' address: '${email}'.`,
  unverifiedSender: (email) =>
    `The 'From' address you supplied (${email}) is not a Sender Signature on your account.`,
  recipient: (email) => `Invalid 'To' address: '${email}'.`,
  recipientCount: () => "A message may have at most 50 recipients in To, Cc and Bcc.",
  noContent: () => "Provide either email TextBody or HtmlBody or both.",
  subject: (detail) => `Invalid 'Subject': it ${detail}.`,
  header: (detail) => detail,
  attachment: (name) => `Invalid attachment content: '${name}' is not base64.`,
  time: () => "Postmark does not schedule messages.",
};

const webhook: WebhookProfile = {
  deriveSecret: querySecret("postmark"),
  events: {
    delivered: [
      "Delivery",
      (event) => ({
        Recipient: event.mail.to.email,
        DeliveredAt: formatTime(event.at),
        Details: "250 2.0.0 OK - pennymail sandbox",
      }),
    ],
    deferred: bounce("Transient", 2, "Message delayed/Undeliverable", "smtp;421 4.7.0 try later"),
    bounced: bounce(
      "HardBounce",
      1,
      "Hard bounce",
      "smtp;550 5.1.1 The email account that you tried to reach does not exist.",
    ),
    softbounced: bounce("SoftBounce", 4096, "Soft bounce", "smtp;452 4.2.2 Mailbox full"),
    dropped: bounce("ManuallyDeactivated", 100002, "Manually deactivated", ""),
    complained: [
      "SpamComplaint",
      (event) => ({
        ...bounceFields(event, "SpamComplaint", 100001, "Spam complaint", ""),
        CanActivate: false,
      }),
    ],
    opened: [
      "Open",
      (event) => ({
        ...clientFields(event),
        FirstOpen: true,
        Client: { Name: "Gmail", Company: "Google", Family: "Gmail" },
        ReadSeconds: 5,
      }),
    ],
    clicked: [
      "Click",
      (event) => ({ ...clientFields(event), ClickLocation: "HTML", OriginalLink: event.url }),
    ],
    unsubscribed: [
      "SubscriptionChange",
      (event) => ({
        ServerID: 23,
        ChangedAt: formatTime(event.at),
        Recipient: event.mail.to.email,
        Origin: "Recipient",
        SuppressSending: true,
        SuppressionReason: "ManualSuppression",
      }),
    ],
  },
  toEvent: ({ mail }, name, fields) => ({
    RecordType: name,
    MessageStream: "outbound",
    MessageID: mail.messageId,
    Tag: mail.tags[0] ?? null,
    Metadata: mail.metadata,
    ...fields,
  }),
  eventsPerPost: 1,
  buildPost([event]) {
    const trace = randomUUID();
    return jsonPost(event, (attempt) => ({
      "user-agent": "Postmark",
      "x-pm-webhook-trace-id": trace,
      "x-pm-retries-remaining": String(9 - attempt),
    }));
  },
  shouldRetry: (status) => status === 0 || status === 408 || status === 429 || status >= 500,
};

export const postmark: SandboxProvider = {
  key: "postmark",
  name: "Postmark",
  accountIdPattern:
    /^([0-9a-f]{8})-([0-9a-f]{4})-4[0-9a-f]{3}-8[0-9a-f]{3}-([0-9a-f]{4})[0-9a-f]{8}$/,
  credentials: (account) => ({
    apiKey: serverToken(account),
    accountToken: accountToken(account),
  }),
  readKey: ({ headers }) => headers["x-postmark-server-token"],
  routes: {
    "POST /email": sendOne,
    "POST /email/batch": sendBatch,
    "GET /messages/outbound": searchMails,
    "POST /email/withTemplate": () => noTemplates,
    "POST /email/batchWithTemplates": () => noTemplates,
    "GET /messages/outbound/:id/details": readMail,
    ...postmarkAccountRoutes,
    "GET /server": ({ account }) =>
      ok({
        ID: Number.parseInt(account.deriveHex("postmark server", 6), 16),
        Name: "Pennymail sandbox",
        DeliveryType: "Live",
        TrackOpens: true,
        TrackLinks: "HtmlAndText",
      }),
  },
  maxBytes: 50 * 1024 * 1024,
  errors: {
    unauthorized: errorResponse(401, 10, "Request does not contain a valid Server token."),
    notFound: (what) => errorResponse(404, 404, `The requested resource does not exist: ${what}.`),
    malformed: errorResponse(422, 402, "Received invalid JSON input."),
    tooLarge: errorResponse(413, 413, "The request is larger than allowed."),
    rateLimited: () => errorResponse(429, 429, "Rate limit exceeded."),
    outage: errorResponse(503, 500, "Internal Server Error"),
  },
  webhook,
};

/** Only mail of the stream; the sandbox has one. */
function searchMails(call: SandboxCall): SandboxResponse {
  const query = queryOf(call);
  const isRecipient = isTo(query.get("recipient") ?? "");
  const isStream = query.get("messagestream") === "outbound";
  const found = searchSent(call, 5, (mail) => isStream && isRecipient(mail));
  const Messages = found.map((mail) => ({
    MessageID: mail.messageId,
    MessageStream: "outbound",
    Recipients: [mail.to.email],
    ReceivedAt: formatTime(mail.at),
    Status: "Sent",
    Metadata: mail.metadata,
  }));
  return ok({ TotalCount: Messages.length, Messages: Messages.slice(0, 500) });
}

function sendOne(call: SandboxCall): SandboxResponse {
  checkContentType(call);
  const { response, drafts } = processMessage(call.json(), call);
  call.accept(drafts);
  return response;
}

/** Responds with 200 and one result for each message, refused or not. */
function sendBatch(call: SandboxCall): SandboxResponse {
  checkContentType(call);
  const list = call.json();
  if (!Array.isArray(list)) return errorResponse(422, 402, "The input is not an array.");
  if (list.length > 500)
    return errorResponse(422, 410, "Too many batch messages, the maximum is 500.");
  const results = list.map((message) => processMessage(message, call));
  call.accept(results.flatMap(({ drafts }) => drafts));
  return ok(results.map(({ response }) => response.body));
}

function checkContentType({ request }: SandboxCall): void {
  if (!request.headers["content-type"]?.startsWith("application/json"))
    refuse(errorResponse(415, 409, "The request Content-Type must be application/json."));
}

/** A refused message has no drafts, and its error as the response. */
function processMessage(
  value: unknown,
  call: SandboxCall,
): { response: SandboxResponse; drafts: AcceptedMail[] } {
  try {
    const message = parseBody(PostmarkMessage, value, (path, text) =>
      errorResponse(422, path === "MessageStream" ? 1235 : 403, `Invalid '${path}': ${text}`),
    );
    const mail = toMailInput(message);
    checkMail(mail, rules, call);
    checkMessage(message);
    const all = toAcceptedMails(mail, randomUUID());
    const rejected = all.map(({ to }) => to.email).filter(call.isRejected);
    if (rejected.length === all.length) refuse(errorResponse(422, 406, inactiveMessage(rejected)));
    const response = ok({
      To: message.To,
      SubmittedAt: formatTime(),
      MessageID: all[0]!.messageId,
      ErrorCode: 0,
      Message: rejected.length
        ? `Message OK, but will not deliver to these inactive addresses: ${rejected.join(", ")}`
        : "OK",
    });
    return { response, drafts: all.filter(({ to }) => !call.isRejected(to.email)) };
  } catch (error) {
    if (error instanceof SandboxRefusal) return { response: error.response, drafts: [] };
    throw error;
  }
}

const toMailInput = (message: PostmarkMessage): MailInput => ({
  from: readMailbox(message.From),
  to: readMailboxes(message.To),
  cc: readMailboxes(message.Cc),
  bcc: readMailboxes(message.Bcc),
  replyTo: message.ReplyTo,
  content: {
    subject: message.Subject ?? "",
    html: message.HtmlBody,
    text: message.TextBody,
    attachments: (message.Attachments ?? []).map(({ Name, ContentType, Content, ContentID }) => ({
      filename: Name,
      type: ContentType,
      content: Content,
      ...(ContentID && { contentId: ContentID.replace("cid:", "") }),
    })),
  },
  headers: toRecord(message.Headers, "Name", "Value"),
  tags: message.Tag ? [message.Tag] : [],
  metadata: { ...message.Metadata },
  tracksOpens: message.TrackOpens ?? true,
  tracksClicks: message.TrackLinks !== "None" && message.TrackLinks !== "TextOnly",
});

function checkMessage({ Metadata = {}, Attachments = [] }: PostmarkMessage): void {
  const metadata = Object.entries(Metadata);
  if (metadata.length > 10 || metadata.some(([key, value]) => key.length > 20 || value.length > 80))
    refuse(errorResponse(422, 300, "Invalid metadata content."));
  const forbidden = Attachments.find(({ Name }) =>
    /\.(exe|bat|cmd|com|js|vbs|scr|msi|pif)$/i.test(Name),
  );
  if (forbidden)
    refuse(errorResponse(422, 411, `You may not send files of this type: '${forbidden.Name}'.`));
}

function readMail({ sent, params: [id = ""] }: SandboxCall): SandboxResponse {
  const mails = sent(id);
  const [mail] = mails;
  if (!mail) return errorResponse(422, 701, `This message was not found: ${id}.`);
  const shown = shownIn(mail);
  const addresses = (list: AcceptedMail["to"][]) =>
    list.map(({ email, name = null }) => ({ Email: email, Name: name }));
  return ok({
    MessageID: id,
    From: mail.from.email,
    To: addresses(shown.to),
    Cc: addresses(shown.cc),
    Bcc: addresses(mails.filter((one) => copyKind(one) === "bcc").map(({ to }) => to)),
    Recipients: mails.map(({ to }) => to.email),
    Subject: mail.content.subject,
    HtmlBody: mail.content.html ?? "",
    TextBody: mail.content.text ?? "",
    Attachments: mail.content.attachments.map(({ filename }) => filename),
    Tag: mail.tags[0] ?? null,
    Metadata: mail.metadata,
    Status: "Sent",
    ReceivedAt: formatTime(mail.at),
    MessageEvents: [],
  });
}

function serverToken(account: SandboxAccount): string {
  const [id, digits] = [account.id, account.deriveHex("postmark key", 14)];
  return [
    id.slice(0, 8),
    id.slice(8, 12),
    `4${digits.slice(0, 3)}`,
    `8${digits.slice(3, 6)}`,
    id.slice(12) + digits.slice(6),
  ].join("-");
}

/** With seven fraction digits, as .NET writes them. */
function formatTime(at = clock.now()): string {
  return at.toISOString().replace("Z", "0000Z");
}

function errorResponse(status: number, code: number, message: string): SandboxResponse {
  return { status, body: { ErrorCode: code, Message: message } };
}

const noTemplates = errorResponse(422, 1101, `A TemplateId or TemplateAlias ${notSupported}.`);

const inactiveMessage = (emails: string[]) =>
  "You tried to send to recipient(s) that have been marked as inactive. Found inactive " +
  `addresses: ${emails.join(", ")}. Inactive recipients are ones that have generated a hard ` +
  "bounce, a spam complaint, or a manual suppression.";

const clientFields = ({ mail, at }: SimulatedEvent) => ({
  Platform: "WebMail",
  UserAgent: "Mozilla/5.0 (X11; Linux x86_64)",
  Geo: { CountryISOCode: "US", IP: "203.0.113.9" },
  ReceivedAt: formatTime(at),
  Recipient: mail.to.email,
});

function bounce(
  ...bounceType: [type: string, code: number, name: string, details: string]
): [string, (event: SimulatedEvent) => object] {
  return ["Bounce", (event) => bounceFields(event, ...bounceType)];
}

function bounceFields(
  { id, mail, at }: SimulatedEvent,
  ...[type, code, name, details]: [type: string, code: number, name: string, details: string]
) {
  return {
    ID: createHash("sha256").update(id).digest().readUInt32BE(),
    Type: type,
    TypeCode: code,
    Name: name,
    ServerID: 23,
    Description: name,
    Details: details,
    Email: mail.to.email,
    From: mail.from.email,
    BouncedAt: formatTime(at),
    DumpAvailable: false,
    Inactive: type !== "SoftBounce" && type !== "Transient",
    CanActivate: true,
    Subject: renderPart(mail, "subject"),
  };
}
