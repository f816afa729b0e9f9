// Mailjet, Send API v3.1: https://dev.mailjet.com/email/guides/send-api-v31/
import * as z from "zod";
import * as credentialFields from "./credential-fields.ts";
import { isOurs, searchMails } from "./look-up.ts";
import { fullBatchBytes } from "./merge-fields.ts";
import {
  type Attachment,
  addresseesOf,
  fillMergeText,
  type HandOverOutcome,
  type Mailbox,
  type Mailing,
  type ProviderAdapter,
  type Recipient,
  splitAttachments,
} from "./provider-adapter.ts";
import {
  bareType,
  callProvider,
  type FailureKind,
  mergeHeaders,
  outcomeOfFailure,
  type ProviderResponse,
  sanitizeError,
} from "./provider-http.ts";
import { traits } from "./traits.ts";

const Credentials = z.object({
  apiKey: credentialFields.secretField("API key"),
  secretKey: credentialFields.secretField("Secret key that belongs to the API key"),
  region: credentialFields.regionField(
    ["global", "us"],
    "us for an account on Mailjet's US architecture, else global",
  ),
});

const origins = { global: "https://api.mailjet.com", us: "https://api.us.mailjet.com" };

export const mailjet: ProviderAdapter<typeof Credentials> = {
  key: "mailjet",
  ...traits.mailjet,
  credentials: Credentials,
  webhookProof: "secret",
  tracking: { opens: true, clicks: true },
  idempotencySeconds: 0,
  batch: { max: 50, supports: supportsBatch },
  credentialRequest: ({ apiKey, secretKey, region = "global" }) => ({
    url: `${origins[region]}/v3/REST/sender?Limit=1`,
    headers: {
      authorization: `Basic ${Buffer.from(`${apiKey}:${secretKey}`).toString("base64")}`,
    },
  }),
  send({ mailing, credentials: { apiKey, secretKey, region = "global" } }) {
    const basic = Buffer.from(`${apiKey}:${secretKey}`).toString("base64");
    const secrets = [basic, secretKey, apiKey];
    return callProvider(mailjet, mailing, {
      url: `${origins[region]}/v3.1/send`,
      headers: { authorization: `Basic ${basic}` },
      body: { Messages: mailing.recipients.map((recipient) => message(mailing, recipient)) },
      secrets,
      readOutcomes: (response) => readOutcomes(response, mailing, secrets),
      errorText: ({ json }) => Problem.safeParse(json).data?.ErrorMessage,
    });
  },
  // https://dev.mailjet.com/reference/email/messages/. It lists processed messages and documents no
  // delay, so only a found mail counts.
  lookUp: {
    max: 1,
    find({ mails, since, credentials: { apiKey, secretKey, region = "global" } }) {
      const query = new URLSearchParams({
        CustomID: String(mails[0]!.sendId),
        ShowCustomID: "true",
        ShowContactAlt: "true",
      });
      const basic = Buffer.from(`${apiKey}:${secretKey}`).toString("base64");
      return searchMails({
        provider: mailjet,
        mails,
        request: {
          url: `${origins[region]}/v3/REST/message?${query}`,
          headers: { authorization: `Basic ${basic}` },
        },
        secrets: [basic, secretKey, apiKey],
        readFound({ json }) {
          const messages = MessageList.safeParse(json).data?.Data;
          if (!messages) return undefined;
          const found = messages
            .filter(({ ContactAlt: to, ArrivedAt: at }) => isOurs({ to, at }, { mails, since }))
            .map(({ CustomID, UUID }) => ({ sendId: CustomID, messageId: UUID }));
          return { found, isComplete: found.length === messages.length };
        },
      });
    },
  },
};

const MessageList = z.object({
  Data: z.array(
    z.object({
      ArrivedAt: z.string().default(""),
      /** Address of the recipient. */
      ContactAlt: z.string().default(""),
      CustomID: z.string().optional(),
      UUID: z.string().optional(),
    }),
  ),
});

const Problem = z.object({ ErrorMessage: z.string() });
const Results = z.object({ Messages: z.array(z.unknown()) });
const Success = z.object({
  Status: z.literal("success"),
  To: z.array(z.object({ MessageUUID: z.string().optional() })).default([]),
});
const Failure = z.object({
  Status: z.literal("error"),
  Errors: z
    .array(z.object({ StatusCode: z.number().default(400), ErrorMessage: z.string().default("") }))
    .min(1),
});

/**
 * Each message has its own content and headers. Mailjet publishes no limit for requests; 20 MB
 * works elsewhere.
 */
function supportsBatch(mailing: Mailing): boolean {
  return fullBatchBytes(mailing) <= 20_000_000;
}

const message = (
  mailing: Mailing,
  recipient: Recipient,
  { to, cc, bcc } = addresseesOf(mailing, recipient),
): object => ({
  From: address(mailing.from),
  To: to.map(address),
  ...(cc.length && { Cc: cc.map(address) }),
  ...(bcc.length && { Bcc: bcc.map(address) }),
  ...(mailing.replyTo && { ReplyTo: { Email: mailing.replyTo[0] } }),
  Subject: fillMergeText(mailing.subject, recipient),
  ...(mailing.text && { TextPart: fillMergeText(mailing.text, recipient) }),
  ...(mailing.html && { HTMLPart: fillMergeText(mailing.html, recipient) }),
  CustomID: String(recipient.sendId),
  EventPayload: JSON.stringify({ sendId: recipient.sendId }),
  // At most one tag per mail.
  ...(mailing.tags[0] && { CustomCampaign: mailing.tags[0] }),
  // Mailjet refuses tracking settings in a mail without HTML.
  ...(mailing.html &&
    mailing.trackOpens !== undefined && {
      TrackOpens: mailing.trackOpens ? "enabled" : "disabled",
    }),
  ...(mailing.html &&
    mailing.trackClicks !== undefined && {
      TrackClicks: mailing.trackClicks ? "enabled" : "disabled",
    }),
  Headers: mergeHeaders(mailing, recipient),
  ...attachmentFields(mailing),
});

function attachmentFields(mailing: Mailing): object {
  const { files, images } = splitAttachments(mailing);
  const toField = ({ filename, type, content }: Attachment) => ({
    ContentType: bareType(type),
    Filename: filename,
    Base64Content: content,
  });
  return {
    ...(files.length > 0 && { Attachments: files.map(toField) }),
    ...(images.length > 0 && {
      InlinedAttachments: images.map((image) => ({
        ...toField(image),
        ContentID: image.contentId,
      })),
    }),
  };
}

const address = ({ email, name }: Mailbox) => ({ Email: email, ...(name && { Name: name }) });

/**
 * One bad message makes the response a 4xx. It still has a result for each message in order, and
 * the good ones were sent.
 */
function readOutcomes(
  { json }: ProviderResponse,
  { recipients }: Mailing,
  secrets: string[],
): HandOverOutcome[] | HandOverOutcome | undefined {
  const results = Results.safeParse(json).data?.Messages;
  if (!results) return undefined;
  if (results.length !== recipients.length)
    return outcomeOfFailure(
      "uncertain",
      "Mailjet's response covers a different number of mails than were sent",
    );
  return results.map((result) => readOutcome(result, secrets));
}

/** MessageID is too large for JSON.parse. Events contain the UUID too. */
function readOutcome(result: unknown, secrets: string[]): HandOverOutcome {
  const success = Success.safeParse(result).data;
  if (success) return { status: "accepted", messageId: success.To[0]?.MessageUUID || undefined };
  const failure = Failure.safeParse(result).data;
  if (!failure)
    return outcomeOfFailure("uncertain", "Mailjet's response does not mention this mail");
  const errorText = failure.Errors.map(({ ErrorMessage }) => ErrorMessage).join("; ");
  return outcomeOfFailure(
    failureKindOf(failure.Errors[0]!.StatusCode),
    sanitizeError(errorText, secrets),
  );
}

const failureByStatus: Record<number, FailureKind> = { 401: "config", 403: "config", 429: "pace" };
const failureKindOf = (status: number): FailureKind =>
  failureByStatus[status] ?? (status >= 500 ? "fault" : "refused");
