// Amazon SES API v2 (docs.aws.amazon.com/ses, API reference): SendEmail, SendBulkEmail, GetAccount.
// Its events come over SNS (event-publishing-retrieving-sns-contents).
import { randomUUID } from "node:crypto";
import * as z from "zod";
import * as clock from "../../../../shared/clock.ts";
import { parseAuthorization } from "../../aws-signature.ts";
import {
  answerSns,
  firstConfigurationSet,
  hasConfigurationSet,
  sesAccountRoutes,
} from "../account-apis/ses.ts";
import { isValidEmail, readMailbox } from "../addresses.ts";
import { renderPart } from "../inbox.ts";
import { findUnrenderable, renderHandlebars } from "../merge-syntax.ts";
import {
  checkMail,
  headerNames,
  type MailFault,
  type MailInput,
  type MailRules,
  ok,
  parseBody,
  refuse,
  toAcceptedMails,
  toRecord,
  unsupported,
} from "../request-reader.ts";
import { findSignatureError } from "../sigv4.ts";
import { awsAccountNumber, type SnsTopics, topicArn } from "../sns.ts";
import {
  type AcceptedMail,
  type CapturedContent,
  type ContentPart,
  type SandboxAccount,
  type SandboxCall,
  type SandboxProvider,
  SandboxRefusal,
  type SandboxResponse,
  type SimulatedEvent,
  type WebhookProfile,
} from "../types.ts";

const tagText = z.string().regex(/^[\w-]{1,256}$/);
const Tags = z.array(z.object({ Name: tagText, Value: tagText })).max(50);
const Headers = z
  .array(z.object({ Name: z.string().min(1).max(126), Value: z.string().min(1).max(995) }))
  .max(15)
  .optional();
const Text = z.object({ Data: z.string() });
const Addresses = z.array(z.string().transform(readMailbox)).default([]);
const Destination = z.object({
  ToAddresses: Addresses,
  CcAddresses: Addresses,
  BccAddresses: Addresses,
});
const TrackingSwitch = z.enum(["ENABLED", "DISABLED"]).optional();
const Attachments = z
  .array(
    z.object({
      FileName: z.string(),
      ContentType: z.string().optional(),
      ContentDisposition: z.enum(["ATTACHMENT", "INLINE"]).default("ATTACHMENT"),
      ContentId: z.string().max(78).optional(),
      RawContent: z.string(),
    }),
  )
  .default([]);
const TemplateData = z.string().optional();
const commonFields = {
  FromEmailAddress: z
    .string()
    .regex(/^[\x20-\x7e]*$/, "Local address contains control or whitespace"),
  ReplyToAddresses: z.array(z.string()).optional(),
  ConfigurationSetName: z.string().optional(),
  ConfigurationOverrides: z
    .object({
      Tracking: z
        .object({ OpenTrackingEnabled: TrackingSwitch, ClickTrackingEnabled: TrackingSwitch })
        .optional(),
    })
    .optional(),
};
const CommonFields = z.object(commonFields);
const Template = z.object({
  TemplateName: unsupported,
  TemplateArn: unsupported,
  TemplateContent: z.object({
    Subject: z.string().default(""),
    Text: z.string().optional(),
    Html: z.string().optional(),
  }),
  TemplateData,
  Headers,
  Attachments,
});
const SendEmailBody = z.object({
  ...commonFields,
  Destination,
  EmailTags: Tags.default([]),
  Content: z.object({
    Raw: unsupported,
    Simple: z
      .object({
        Subject: Text,
        Body: z.object({ Text: Text.optional(), Html: Text.optional() }),
        Headers,
        Attachments,
      })
      .optional(),
    Template: Template.optional(),
  }),
});
const SendBulkEmailBody = z.object({
  ...commonFields,
  DefaultEmailTags: Tags.default([]),
  DefaultContent: z.object({ Template }),
  BulkEmailEntries: z
    .array(
      z.object({
        Destination,
        ReplacementTags: Tags.optional(),
        ReplacementHeaders: Headers,
        ReplacementEmailContent: z
          .object({
            ReplacementTemplate: z.object({ ReplacementTemplateData: TemplateData }).optional(),
          })
          .optional(),
      }),
    )
    .min(1)
    .max(50),
});

/** In bulk, a fault refuses its entry only. */
const rules: MailRules = {
  maxRecipients: 50,
  refusedFor: "invalid or rejected",
  asciiHeaders: true,
  reservedHeaders: headerNames(
    "from to cc bcc subject reply-to date message-id mime-version content-type " +
      "content-transfer-encoding return-path sender",
  ),
  toResponse: (fault, detail) => errorResponse(400, ...faults[fault](detail)),
};
type SesError = [type: string, message: string];
const invalid = (message: string): SesError => ["BadRequestException", message];
const faults: Record<MailFault, (detail: string) => SesError> = {
  sender: () => invalid("FromEmailAddress: Missing final '@domain'"),
  unverifiedSender: (email) => [
    "MessageRejected",
    "Email address is not verified. The following identities failed the check in region " +
      `US-EAST-1: ${email}`,
  ],
  recipient: (email) =>
    isValidEmail(email)
      ? ["MessageRejected", "Address blacklisted."]
      : invalid("Destination: Missing final '@domain'"),
  recipientCount: (detail) => invalid(`Destination: ${detail}`),
  noContent: () => invalid("Content: Missing required field"),
  subject: (detail) => invalid(`Content.Simple.Subject: Invalid subject: it ${detail}`),
  header: (detail) => invalid(`Headers: ${detail}`),
  attachment: () => invalid("Attachments: RawContent is not valid base64"),
  time: () => invalid("SES does not schedule messages"),
};

const createWebhook = (topics: SnsTopics): WebhookProfile => ({
  deriveSecret: (account) => account.deriveHex("ses query secret", 32),
  events: {
    accepted: ["Send"],
    delivered: [
      "Delivery",
      ({ mail, at }) => ({
        timestamp: at.toISOString(),
        processingTimeMillis: at.getTime() - mail.at.getTime(),
        recipients: [mail.to.email],
        smtpResponse: "250 2.6.0 Message received",
        reportingMTA: "a8-70.smtp-out.amazonses.com",
        remoteMtaIp: "192.0.2.4",
      }),
    ],
    deferred: [
      "DeliveryDelay",
      ({ mail, at }) => ({
        timestamp: at.toISOString(),
        delayType: "TransientCommunicationFailure",
        expirationTime: clock.addSeconds(14 * 3600, at).toISOString(),
        delayedRecipients: [
          {
            emailAddress: mail.to.email,
            status: "4.4.1",
            diagnosticCode: "smtp; 421 4.4.1 Unable to connect to remote host",
          },
        ],
      }),
    ],
    bounced: bounce("Permanent", "General", "5.1.1", "smtp; 550 5.1.1 user unknown"),
    softbounced: bounce("Transient", "MailboxFull", "4.2.2", "smtp; 452 4.2.2 Mailbox full"),
    dropped: bounce(
      "Permanent",
      "OnAccountSuppressionList",
      "5.1.1",
      "Amazon SES did not send the message to this address because it is on the suppression " +
        "list for your account. For more information about removing addresses from the " +
        "suppression list, see the Amazon SES Developer Guide.",
    ),
    complained: [
      "Complaint",
      ({ mail, at, id }) => ({
        feedbackId: feedbackId(id),
        complaintSubType: null,
        complainedRecipients: [{ emailAddress: mail.to.email }],
        timestamp: at.toISOString(),
        userAgent: "Pennymail Sandbox Feedback Loop",
        complaintFeedbackType: "abuse",
        arrivalDate: at.toISOString(),
      }),
    ],
    opened: ["Open", ({ at }) => ({ ...clientFields, timestamp: at.toISOString() })],
    clicked: [
      "Click",
      ({ at, url }) => ({
        ...clientFields,
        timestamp: at.toISOString(),
        link: url,
        linkTags: null,
      }),
    ],
    unsubscribed: [
      "Subscription",
      ({ at }) => ({
        contactList: "pennymail",
        timestamp: at.toISOString(),
        source: "UnsubscribeHeader",
        newTopicPreferences: { unsubscribeAll: true, topicSubscriptionStatus: [] },
        oldTopicPreferences: { unsubscribeAll: false, topicSubscriptionStatus: [] },
      }),
    ],
    unrenderable: [
      "Rendering Failure",
      ({ mail }) => ({ errorMessage: mail.renderError, templateName: "" }),
    ],
  },
  /** The details stand under the name of the event in camel case. */
  toEvent: ({ mail }, eventType, details) => ({
    eventType,
    mail: {
      timestamp: mail.at.toISOString(),
      source: mail.from.email,
      sourceArn: `arn:aws:ses:us-east-1:123456789012:identity/${mail.from.email}`,
      messageId: mail.messageId,
      destination: [...new Set([...(mail.shown?.to ?? []), mail.to].map(({ email }) => email))],
      headersTruncated: false,
      headers: Object.entries(mail.headers).map(([name, value]) => ({ name, value })),
      commonHeaders: {
        from: [mail.from.email],
        to: [mail.to.email],
        messageId: mail.messageId,
        subject: renderPart(mail, "subject"),
      },
      tags: mail.metadata,
    },
    [eventType === "Rendering Failure"
      ? "failure"
      : eventType.charAt(0).toLowerCase() + eventType.slice(1)]: details,
  }),
  eventsPerPost: 1,
  buildPost([event = {}], target, account) {
    const { mail, ...rest } = event as { mail?: object };
    const sendingAccountId = awsAccountNumber(account);
    const topic = target.topicArn ?? topicArn(account);
    return topics.createNotification(topic, { ...rest, mail: { ...mail, sendingAccountId } });
  },
  shouldRetry: (status) => status === 0 || status >= 500 || status === 429,
});

const clientFields = {
  ipAddress: "203.0.113.9",
  userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 17_3 like Mac OS X)",
};

const feedbackId = (id: string) => `0100018f-${id}-000000`;

function bounce(
  ...[bounceType, bounceSubType, status, diagnosticCode]: [string, string, string, string]
): [name: string, details: (event: SimulatedEvent) => object] {
  return [
    "Bounce",
    ({ mail, at, id }) => ({
      feedbackId: feedbackId(id),
      bounceType,
      bounceSubType,
      bouncedRecipients: [
        { emailAddress: mail.to.email, action: "failed", status, diagnosticCode },
      ],
      timestamp: at.toISOString(),
      reportingMTA: "dns; amazonses.com",
    }),
  ];
}

export const createSes = (topics: SnsTopics): SandboxProvider => ({
  key: "ses",
  name: "Amazon SES",
  accountIdPattern: /^AKIA([0-9A-F]{16})$/,
  credentials: (account) => ({
    accessKeyId: `AKIA${account.id.toUpperCase()}`,
    secretAccessKey: secretKey(account),
    region: "us-east-1",
    configurationSet: firstConfigurationSet,
  }),
  readKey({ headers }) {
    const authorization = parseAuthorization(headers.authorization);
    if (authorization) return authorization.accessKeyId;
    const type = "MissingAuthenticationTokenException";
    return refuse(errorResponse(403, type, "Missing Authentication Token"));
  },
  verify(request, account) {
    const authorization = parseAuthorization(request.headers.authorization)!;
    const error = findSignatureError(request, authorization, secretKey(account));
    if (error) refuse(errorResponse(403, "SignatureDoesNotMatch", error));
  },
  routes: {
    "POST /v2/email/outbound-emails": sendOne,
    "POST /v2/email/outbound-bulk-emails": sendBulk,
    "GET /v2/email/account": ok({
      DedicatedIpAutoWarmupEnabled: true,
      EnforcementStatus: "HEALTHY",
      ProductionAccessEnabled: true,
      SendingEnabled: true,
      SendQuota: { Max24HourSend: 50_000, MaxSendRate: 14, SentLast24Hours: 0 },
    }),
    ...sesAccountRoutes,
    "POST /": (call) => answerSns(call, topics),
  },
  maxBytes: 40 * 1024 * 1024,
  errors: {
    unauthorized: errorResponse(
      403,
      "UnrecognizedClientException",
      "The security token included in the request is invalid.",
    ),
    notFound: (what) => errorResponse(404, "NotFoundException", `Unknown operation: ${what}`),
    malformed: errorResponse(400, "SerializationException", "Request body is not valid JSON"),
    tooLarge: errorResponse(413, "RequestEntityTooLarge", "Request is too long."),
    rateLimited: () =>
      errorResponse(429, "TooManyRequestsException", "Maximum sending rate exceeded."),
    outage: errorResponse(
      503,
      "ServiceUnavailable",
      "The request has failed due to a temporary failure of the server.",
    ),
  },
  webhook: createWebhook(topics),
});

function sendOne(call: SandboxCall): SandboxResponse {
  const body = parseBody(SendEmailBody, call.json(), badRequest);
  const { Simple, Template } = body.Content;
  const content = Simple
    ? {
        subject: Simple.Subject.Data,
        html: Simple.Body.Html?.Data,
        text: Simple.Body.Text?.Data,
        attachments: toAttachments(Simple.Attachments),
      }
    : toTemplateContent(Template);
  const mail = {
    ...toMailInput(body, body.Destination, body.EmailTags),
    content,
    headers: toRecord((Simple ?? Template)?.Headers, "Name", "Value"),
  };
  const drafts = checkAndConvert(mail, body, call);
  const accepted = Template
    ? addTemplateData(drafts, parseTemplateData(Template.TemplateData))
    : drafts;
  call.accept(accepted);
  return ok({ MessageId: accepted[0]!.messageId });
}

function sendBulk(call: SandboxCall): SandboxResponse {
  const body = parseBody(SendBulkEmailBody, call.json(), badRequest);
  const { Template } = body.DefaultContent;
  const content = toTemplateContent(Template);
  const results = body.BulkEmailEntries.map((entry) => {
    const mail = {
      ...toMailInput(body, entry.Destination, entry.ReplacementTags ?? body.DefaultEmailTags),
      content,
      headers: {
        ...toRecord(Template.Headers, "Name", "Value"),
        ...toRecord(entry.ReplacementHeaders, "Name", "Value"),
      },
    };
    const replacement = entry.ReplacementEmailContent?.ReplacementTemplate;
    const data = {
      ...parseTemplateData(Template.TemplateData),
      ...parseTemplateData(replacement?.ReplacementTemplateData),
    };
    try {
      return { drafts: addTemplateData(checkAndConvert(mail, body, call), data) };
    } catch (error) {
      if (error instanceof SandboxRefusal) return { drafts: [], refusal: error.response };
      throw error;
    }
  });
  call.accept(results.flatMap(({ drafts }) => drafts));
  return ok({
    BulkEmailEntryResults: results.map(({ drafts: [first], refusal }) =>
      first ? { Status: "SUCCESS", MessageId: first.messageId } : toFailedEntry(refusal!),
    ),
  });
}

const bulkStatuses: Record<string, string> = {
  NotFoundException: "CONFIGURATION_SET_NOT_FOUND",
  MessageRejected: "MESSAGE_REJECTED",
  BadRequestException: "INVALID_PARAMETER",
};
const toFailedEntry = ({ headers, body }: SandboxResponse) => ({
  Status: bulkStatuses[headers?.["x-amzn-errortype"] ?? ""],
  Error: (body as { message: string }).message,
});

function toMailInput(
  body: z.output<typeof CommonFields>,
  { ToAddresses, CcAddresses, BccAddresses }: z.output<typeof Destination>,
  tags: z.output<typeof Tags>,
): Omit<MailInput, "content"> {
  const { OpenTrackingEnabled, ClickTrackingEnabled } = body.ConfigurationOverrides?.Tracking ?? {};
  return {
    from: readMailbox(body.FromEmailAddress),
    to: ToAddresses,
    cc: CcAddresses,
    bcc: BccAddresses,
    replyTo: body.ReplyToAddresses?.join(", "),
    metadata: {
      "ses:configuration-set": [body.ConfigurationSetName ?? ""],
      ...Object.fromEntries(tags.map((tag) => [tag.Name, [tag.Value]])),
    },
    tracksOpens: OpenTrackingEnabled !== "DISABLED",
    tracksClicks: ClickTrackingEnabled !== "DISABLED",
    withoutEvents: body.ConfigurationSetName === undefined,
  };
}

function checkAndConvert(
  mail: MailInput,
  { ConfigurationSetName: set }: z.output<typeof CommonFields>,
  call: SandboxCall,
): AcceptedMail[] {
  if (set !== undefined && !hasConfigurationSet(call, set)) {
    const message = `Configuration set <${set}> does not exist.`;
    refuse(errorResponse(404, "NotFoundException", message));
  }
  checkMail(mail, rules, call);
  return toAcceptedMails(mail, `0100018f${randomUUID().slice(8)}-000000`);
}

/** SES fills in a template after it accepted the call, and reports missing values with an event. */
function addTemplateData(drafts: AcceptedMail[], data: Record<string, unknown>): AcceptedMail[] {
  const parts: ContentPart[] = ["subject", "html", "text"];
  return drafts.map((draft) => {
    const missing = parts
      .map((part) => findUnrenderable(draft.content[part] ?? "", data))
      .find(Boolean);
    return {
      ...draft,
      fill: renderHandlebars(data, { escapes: false }),
      renderError: missing && `Attribute '${missing}' is not present in the rendering data.`,
    };
  });
}

const toTemplateContent = (template?: z.output<typeof Template>): CapturedContent => ({
  subject: template?.TemplateContent.Subject ?? "",
  html: template?.TemplateContent.Html,
  text: template?.TemplateContent.Text,
  attachments: toAttachments(template?.Attachments ?? []),
});

const toAttachments = (list: z.output<typeof Attachments>) =>
  list.map(({ FileName, ContentType = "application/octet-stream", ContentId, ...file }) => ({
    filename: FileName,
    type: ContentType,
    content: file.RawContent,
    ...(file.ContentDisposition === "INLINE" && { contentId: ContentId }),
  }));

function parseTemplateData(json = "{}"): Record<string, unknown> {
  try {
    return JSON.parse(json) as Record<string, unknown>;
  } catch {
    return refuse(badRequest("TemplateData", "Template data is not valid JSON"));
  }
}

const secretKey = (account: SandboxAccount) =>
  account.deriveBytes("ses secret key", 30).toString("base64");

function errorResponse(status: number, ...[type, message]: SesError): SandboxResponse {
  return {
    status,
    headers: { "x-amzn-errortype": type, "x-amzn-requestid": randomUUID() },
    body: { message },
  };
}

const badRequest = (path: string, message: string) =>
  errorResponse(400, "BadRequestException", `${path}: ${message}`);
