// Mailjet Send API v3.1 (dev.mailjet.com/email/guides/send-api-v31), and its grouped Event API
// (guides/webhooks).
import { createHash, randomUUID } from "node:crypto";
import * as z from "zod";
import * as clock from "../../../../shared/clock.ts";
import { equalInConstantTime } from "../../constant-time.ts";
import { mailjetAccountRoutes } from "../account-apis/mailjet.ts";
import {
  basicCredentials,
  type Copy,
  checkMail,
  copyKind,
  headerNames,
  type MailFault,
  type MailInput,
  type MailRules,
  ok,
  parseBody,
  refuse,
  stringRecord,
  toAcceptedMails,
  unsupported,
} from "../request-reader.ts";
import { queryOf, searchSent } from "../search.ts";
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

const Address = z
  .strictObject({ Email: z.string(), Name: z.string().optional() })
  .transform(({ Email, Name }) => (Name ? { email: Email, name: Name } : { email: Email }));
const fileFields = { ContentType: z.string(), Filename: z.string(), Base64Content: z.string() };
const Tracking = z.enum(["account_default", "disabled", "enabled"]).optional();
const Copies = z.array(Address).max(49).default([]);
const MailjetMessage = z.strictObject({
  TemplateID: unsupported,
  TemplateLanguage: unsupported,
  Variables: unsupported,
  URLTags: unsupported,
  Sender: unsupported,
  Priority: z.int().optional(),
  From: Address,
  To: z.array(Address).min(1).max(50),
  Cc: Copies,
  Bcc: Copies,
  ReplyTo: Address.optional(),
  Subject: z.string().max(255).default(""),
  TextPart: z.string().optional(),
  HTMLPart: z.string().optional(),
  CustomID: z.string().optional(),
  EventPayload: z.string().optional(),
  CustomCampaign: z.string().optional(),
  TrackOpens: Tracking,
  TrackClicks: Tracking,
  Headers: stringRecord.default({}),
  Attachments: z.array(z.strictObject(fileFields)).default([]),
  InlinedAttachments: z
    .array(z.strictObject({ ...fileFields, ContentID: z.string().optional() }))
    .default([]),
});
const MailjetBody = z.strictObject({
  Globals: unsupported,
  Messages: z.array(z.unknown()).min(1).max(50),
  SandboxMode: z.boolean().optional(),
});
type MailjetMessage = z.output<typeof MailjetMessage>;

/** A fault refuses its message only. */
const rules: MailRules = {
  maxRecipients: 50,
  refusedFor: "invalid or rejected",
  reservedHeaders: headerNames(
    "from sender subject to cc bcc reply-to return-path delivered-to dkim-signature " +
      "domainkey-status received received-spf authentication-results date message-id list-id " +
      "user-agent x-mailer x-feedback-id x-csa-complaints",
  ),
  toResponse: (fault, detail, index) => messageError(...faults[fault](detail, index)),
};
type MessageError = [code: string, message: string, field: string, status?: number];
const faults: Record<MailFault, (detail: string, index: number) => MessageError> = {
  sender: (email) => ["mj-0013", `"${email}" is an invalid email address.`, "From.Email"],
  unverifiedSender: (email) => [
    "send-0008",
    `"${email}" is not an authorized sender email address for your account.`,
    "From",
    403,
  ],
  recipient: (email, index) => [
    "mj-0013",
    `"${email}" is an invalid email address.`,
    `To[${index}].Email`,
  ],
  recipientCount: () => ["send-0002", "A message may have at most 50 recipients.", "To"],
  noContent: () => [
    "send-0003",
    'At least "HTMLPart", "TextPart" or "TemplateID" must be provided.',
    "HTMLPart",
  ],
  subject: (detail) => ["mj-0004", `Type mismatch: the subject ${detail}.`, "Subject"],
  header: (detail) => [
    "send-0011",
    `Header cannot be customized using the "Headers" collection: ${detail}`,
    "Headers",
  ],
  attachment: () => ["mj-0004", "Type mismatch. Expected base64 content.", "Attachments"],
  time: () => ["mj-0003", "Mailjet does not schedule messages.", "Messages"],
};

const webhook: WebhookProfile = {
  deriveSecret: querySecret("mailjet"),
  events: {
    delivered: [
      "sent",
      ({ mail }) => ({
        smtp_reply: "250 2.0.0 OK - pennymail sandbox",
        mj_message_id: numericMessageId(mail.messageId),
      }),
    ],
    deferred: bounce(false, "domain", "greylisted", "451 4.7.1 Greylisted, try again later"),
    bounced: bounce(
      true,
      "recipient",
      "user unknown",
      "550 5.1.1 Recipient address rejected: User unknown",
    ),
    softbounced: bounce(false, "recipient", "quota exceeded", "452 4.2.2 Mailbox full"),
    dropped: ["blocked", () => ({ error_related_to: "mailjet", error: "preblocked", comment: "" })],
    opened: ["open", () => clientFields],
    clicked: ["click", ({ url }) => ({ ...clientFields, url })],
    complained: ["spam", () => ({ source: "JMRPP" })],
    unsubscribed: ["unsub", () => ({ ...clientFields, mj_list_id: 0 })],
  },
  toEvent: ({ mail, at }, name, fields) => ({
    event: name,
    time: clock.epochSeconds(at),
    MessageID: numericMessageId(mail.messageId),
    Message_GUID: mail.messageId,
    email: mail.to.email,
    mj_campaign_id: 0,
    mj_contact_id: createHash("sha256").update(mail.to.email).digest().readUInt16BE(),
    customcampaign: mail.tags[0] ?? "",
    ...mail.metadata,
    ...fields,
  }),
  eventsPerPost: 500,
  buildPost: (events) => jsonPost(stringifyNumericId(events), { "user-agent": "Mailjet-API" }),
};

function bounce(
  hard: boolean,
  ...[relatedTo, error, comment]: [string, string, string]
): [name: string, fields: (event: SimulatedEvent) => object] {
  const fields = { blocked: false, hard_bounce: hard, error_related_to: relatedTo, error, comment };
  return ["bounce", () => fields];
}

const clientFields = {
  ip: "203.0.113.9",
  geo: "FR",
  agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/131.0.0.0 Safari/537.36",
};

export const mailjet: SandboxProvider = {
  key: "mailjet",
  name: "Mailjet",
  accountIdPattern: /^([0-9a-f]{16})[0-9a-f]{16}$/,
  credentials: (account) => ({
    apiKey: account.id + account.deriveHex("mailjet key", 16),
    secretKey: secretKey(account),
  }),
  readKey: (request) => basicCredentials(request)[0],
  verify(request, account) {
    const [, secret = ""] = basicCredentials(request);
    if (!equalInConstantTime(secret, secretKey(account))) refuse(mailjet.errors.unauthorized);
  },
  routes: {
    "POST /v3.1/send": send,
    "GET /v3/REST/message": searchMessages,
    "GET /v3/REST/message/:id": readMessage,
    ...mailjetAccountRoutes,
  },
  maxBytes: 60 * 1024 * 1024,
  errors: {
    unauthorized: errorResponse(
      401,
      "mj-0015",
      "API key authentication/authorization failure. You may be unauthorized to access the " +
        "API or your API key may be expired. Visit API keys management section to check your " +
        "keys.",
    ),
    notFound: (what) => errorResponse(404, "mj-0004", `Resource not found: ${what}`),
    malformed: errorResponse(
      400,
      "mj-0002",
      "Malformed JSON, please review the syntax and properties types.",
    ),
    tooLarge: errorResponse(413, "mj-0007", "Request entity too large"),
    rateLimited: () => ({
      status: 429,
      headers: { "content-type": "text/html" },
      body: "Rate limit exceeded",
    }),
    outage: errorResponse(503, "mj-0000", "Internal server error"),
  },
  webhook,
};

function searchMessages(call: SandboxCall): SandboxResponse {
  const customId = queryOf(call).get("CustomID");
  const found = searchSent(call, 30, ({ metadata }) => metadata.CustomID === customId);
  const Data = found.map((mail) => ({
    ArrivedAt: mail.at.toISOString(),
    ContactAlt: mail.to.email,
    CustomID: customId,
    Status: "sent",
    UUID: mail.messageId,
  }));
  return ok({ Count: Data.length, Data, Total: Data.length });
}

interface MessageResult {
  drafts: AcceptedMail[];
  customId?: string | undefined;
  refusal?: SandboxResponse;
}

/**
 * Each message has a result of its own. The status is that of the first refused one, even if others
 * were sent.
 */
function send(call: SandboxCall): SandboxResponse {
  const body = parseBody(MailjetBody, call.json(), (path, message) =>
    errorResponse(400, "mj-0003", `${message}: ${path}`),
  );
  const results = body.Messages.map((message) => processMessage(message, call));
  if (!body.SandboxMode) call.accept(results.flatMap(({ drafts }) => drafts));
  return {
    status: results.find(({ refusal }) => refusal)?.refusal?.status ?? 200,
    headers: { "content-type": "application/json" },
    body: stringifyNumericId({ Messages: results.map(toApiResult) }),
  };
}

function processMessage(value: unknown, call: SandboxCall): MessageResult {
  try {
    const message = parseBody(MailjetMessage, value, (path, text) =>
      messageError("mj-0003", text, path),
    );
    const mail = toMailInput(message);
    checkMail(mail, rules, call);
    const own = Object.keys(message.Headers).find((name) => /^x-(mailjet|mj)-/i.test(name));
    if (own) refuse(messageError(...faults.header(own, 0)));
    const drafts = toAcceptedMails(mail, "");
    return {
      drafts: drafts.map((draft) => ({ ...draft, messageId: randomUUID() })),
      customId: message.CustomID,
    };
  } catch (error) {
    if (error instanceof SandboxRefusal) return { drafts: [], refusal: error.response };
    throw error;
  }
}

const toMailInput = (message: MailjetMessage): MailInput => ({
  from: message.From,
  to: message.To,
  cc: message.Cc,
  bcc: message.Bcc,
  replyTo: message.ReplyTo?.email,
  content: {
    subject: message.Subject,
    html: message.HTMLPart,
    text: message.TextPart,
    attachments: [
      ...message.Attachments.map(toAttachment),
      ...message.InlinedAttachments.map((image) => ({
        ...toAttachment(image),
        contentId: image.ContentID ?? image.Filename,
      })),
    ],
  },
  headers: message.Headers,
  tags: message.CustomCampaign ? [message.CustomCampaign] : [],
  metadata: { CustomID: message.CustomID ?? "", Payload: message.EventPayload ?? "" },
  tracksOpens: message.TrackOpens !== "disabled",
  tracksClicks: message.TrackClicks !== "disabled",
});

function toApiResult({ drafts, customId, refusal }: MessageResult): object {
  if (refusal) return { Status: "error", Errors: [refusal.body] };
  const resultsFor = (kind: Copy | undefined) =>
    drafts
      .filter((draft) => copyKind(draft) === kind)
      .map(({ to, messageId }) => ({
        Email: to.email,
        MessageUUID: messageId,
        MessageID: numericMessageId(messageId),
        MessageHref: `https://api.mailjet.com/v3/REST/message/${numericMessageId(messageId)}`,
      }));
  return {
    Status: "success",
    ...(customId !== undefined && { CustomID: customId }),
    To: resultsFor(undefined),
    Cc: resultsFor("cc"),
    Bcc: resultsFor("bcc"),
  };
}

function readMessage({ sent, params: [number = ""] }: SandboxCall): SandboxResponse {
  const [mail] = sent(({ messageId }) => numericMessageId(messageId) === number);
  if (!mail) return mailjet.errors.notFound(`message ${number}`);
  const data = {
    MessageID: number,
    UUID: mail.messageId,
    ArrivedAt: mail.at.toISOString(),
    Status: "sent",
    Subject: "",
  };
  const body = stringifyNumericId({ Count: 1, Data: [data], Total: 1 });
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    body: body.replace('"MessageID"', '"ID"'),
  };
}

/** Mailjet's second id of a mail. It has more digits than a JavaScript number holds. */
const numericMessageId = (uuid: string): string =>
  String(
    (createHash("sha256").update(uuid).digest().readBigUInt64BE() >> 8n) + 288_230_376_151_711_744n,
  );

/** JSON with MessageID as a number. */
const stringifyNumericId = (value: unknown): string =>
  JSON.stringify(value).replace(/"MessageID":"(\d+)"/g, '"MessageID":$1');

const secretKey = (account: SandboxAccount) => account.deriveHex("mailjet secret", 32);

function errorResponse(status: number, code: string, message: string): SandboxResponse {
  return {
    status,
    body: {
      ErrorIdentifier: randomUUID(),
      ErrorCode: code,
      ErrorMessage: message,
      StatusCode: status,
    },
  };
}

function messageError(...[code, message, field, status = 400]: MessageError): SandboxResponse {
  const { body } = errorResponse(status, code, message);
  return { status, body: { ...(body as object), ErrorRelatedTo: [field] } };
}

const toAttachment = ({
  Filename,
  ContentType,
  Base64Content,
}: MailjetMessage["Attachments"][number]) => ({
  filename: Filename,
  type: ContentType,
  content: Base64Content,
});
