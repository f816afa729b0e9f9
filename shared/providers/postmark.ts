// Postmark, Email API: https://postmarkapp.com/developer/api/email-api
import * as z from "zod";
import * as credentialFields from "./credential-fields.ts";
import { SendIdMetadata, searchMails } from "./look-up.ts";
import { formatMailbox, formatMailboxes } from "./mailbox-format.ts";
import { fullBatchBytes } from "./merge-fields.ts";
import {
  type Addressees,
  addresseesOf,
  fillMergeText,
  type HandOverOutcome,
  type Mailing,
  type ProviderAdapter,
  type Recipient,
} from "./provider-adapter.ts";
import {
  callProvider,
  type FailureKind,
  mergeHeaders,
  outcomeOfFailure,
  type ProviderResponse,
  sanitizeError,
} from "./provider-http.ts";
import { traits } from "./traits.ts";

const Credentials = z.object({
  apiKey: credentialFields.secretField("Server API token"),
  messageStream: credentialFields
    .secretField("")
    .meta({ writeOnly: false })
    .optional()
    .describe("Message stream to send through; absent: outbound, the transactional one"),
  accountToken: credentialFields
    .secretField("")
    .optional()
    .describe(
      "API token of the account, with which connecting adds the sender's domain; without it, " +
        "add the domain by hand",
    ),
});

export const postmark: ProviderAdapter<typeof Credentials> = {
  key: "postmark",
  ...traits.postmark,
  credentials: Credentials,
  webhookProof: "secret",
  tracking: { opens: true, clicks: true },
  idempotencySeconds: 0,
  batch: { max: 500, supports: supportsBatch },
  credentialRequest: ({ apiKey }) => ({
    url: "https://api.postmarkapp.com/server",
    headers: { "x-postmark-server-token": apiKey },
  }),
  send({ mailing, credentials: { apiKey, messageStream } }) {
    const messages = mailing.recipients.map((recipient) =>
      message(mailing, recipient, { stream: messageStream }),
    );
    const single = messages.length === 1;
    return callProvider(postmark, mailing, {
      url: `https://api.postmarkapp.com/email${single ? "" : "/batch"}`,
      headers: { "x-postmark-server-token": apiKey },
      body: single ? messages[0]! : messages,
      secrets: [apiKey],
      readOutcomes: (response) =>
        single
          ? readSingleOutcome(response, mailing, apiKey)
          : readBatchOutcomes(response, mailing, apiKey),
      errorText: ({ json }) => Result.safeParse(json).data?.Message,
      failureKind: ({ status, json }) =>
        failureKindOf(Result.safeParse(json).data?.ErrorCode, status),
      retryAfterSeconds: ({ json }) => retryAfterOf(Result.safeParse(json).data?.ErrorCode),
    });
  },
  // https://postmarkapp.com/developer/api/messages-api#outbound-message-search. It does not
  // document after which delay it has all mails, so only a found mail counts.
  lookUp: {
    max: 1,
    find({ mails, credentials: { apiKey, messageStream = "outbound" } }) {
      const query = new URLSearchParams({
        recipient: mails[0]!.to,
        messagestream: messageStream,
        count: "500",
        offset: "0",
      });
      return searchMails({
        provider: postmark,
        mails,
        request: {
          url: `https://api.postmarkapp.com/messages/outbound?${query}`,
          headers: { "x-postmark-server-token": apiKey },
        },
        secrets: [apiKey],
        readFound({ json }) {
          const page = MessagePage.safeParse(json).data;
          if (!page) return undefined;
          const found = page.Messages.map(({ MessageID, Metadata }) => ({
            sendId: Metadata.sendId,
            messageId: MessageID,
          }));
          return { found, isComplete: page.TotalCount <= page.Messages.length };
        },
      });
    },
  },
};

// A page without metadata would hide our mails, so it does not count as a result.
const MessagePage = z.object({
  TotalCount: z.number(),
  Messages: z.array(
    z.object({ MessageID: z.string(), Metadata: z.looseObject({}).pipe(SendIdMetadata) }),
  ),
});

const Result = z.object({
  ErrorCode: z.number(),
  Message: z.string().default(""),
  MessageID: z.string().optional(),
});

/** Each email has its own content and headers. A request may have 50 MB; JSON escapes need room. */
function supportsBatch(mailing: Mailing): boolean {
  return fullBatchBytes(mailing) <= 35_000_000;
}

const message = (
  mailing: Mailing,
  recipient: Recipient,
  {
    stream,
    addressees: { to, cc, bcc } = addresseesOf(mailing, recipient),
  }: { stream: string | undefined; addressees?: Addressees },
): object => ({
  From: formatMailbox(mailing.from),
  To: formatMailboxes(to),
  ...(cc.length && { Cc: formatMailboxes(cc) }),
  ...(bcc.length && { Bcc: formatMailboxes(bcc) }),
  ...(mailing.replyTo && { ReplyTo: mailing.replyTo.join(", ") }),
  Subject: fillMergeText(mailing.subject, recipient),
  ...(mailing.text && { TextBody: fillMergeText(mailing.text, recipient) }),
  ...(mailing.html && { HtmlBody: fillMergeText(mailing.html, recipient) }),
  ...(stream && { MessageStream: stream }),
  // At most one tag per mail.
  ...(mailing.tags[0] && { Tag: mailing.tags[0] }),
  ...(mailing.trackOpens !== undefined && { TrackOpens: mailing.trackOpens }),
  ...(mailing.trackClicks !== undefined && {
    TrackLinks: mailing.trackClicks ? "HtmlAndText" : "None",
  }),
  Metadata: { sendId: String(recipient.sendId) },
  Headers: Object.entries(mergeHeaders(mailing, recipient)).map(([Name, Value]) => ({
    Name,
    Value,
  })),
  ...(mailing.attachments.length > 0 && {
    Attachments: mailing.attachments.map(({ filename, type, content, contentId }) => ({
      Name: filename,
      Content: content,
      ContentType: type,
      ...(contentId !== undefined && { ContentID: `cid:${contentId}` }),
    })),
  }),
});

function readSingleOutcome(
  { status, json }: ProviderResponse,
  { recipients }: Mailing,
  secret: string,
): HandOverOutcome | undefined {
  const result = Result.safeParse(json).data;
  return status === 200 && result?.ErrorCode === 0
    ? readAccepted(result, recipients[0]!, secret)
    : undefined;
}

/**
 * If only the recipient is inactive, Postmark accepts the mail for the blind copy and reports no
 * event.
 */
function readAccepted(
  { Message, MessageID }: z.output<typeof Result>,
  { to }: Recipient,
  secret: string,
): HandOverOutcome {
  const inactive = /will not deliver to these inactive addresses:(.*)/is
    .exec(Message)?.[1]
    ?.toLowerCase()
    .split(/[\s,;]+/);
  if (inactive?.includes(to.email.toLowerCase()))
    return outcomeOfFailure("refused", sanitizeError(Message, [secret]));
  return { status: "accepted", messageId: MessageID };
}

/** A batch always gets 200, with one result per mail in their order. */
function readBatchOutcomes(
  { status, json }: ProviderResponse,
  mailing: Mailing,
  secret: string,
): HandOverOutcome[] | undefined {
  const results = z.array(z.unknown()).safeParse(json).data;
  if (status !== 200 || !results) return undefined;
  return mailing.recipients.map((recipient, n) => {
    const result = Result.safeParse(results[n]).data;
    if (!result)
      return outcomeOfFailure("uncertain", "Postmark's response does not mention this mail");
    if (result.ErrorCode === 0) return readAccepted(result, recipient, secret);
    return outcomeOfFailure(
      failureByCode[result.ErrorCode] ?? "refused",
      sanitizeError(result.Message, [secret]),
      retryAfterOf(result.ErrorCode),
    );
  });
}

// https://postmarkapp.com/developer/api/overview#error-codes.
// These are not HTTP statuses.
const failureByCode: Record<number, FailureKind> = {
  10: "config", // wrong token
  100: "fault", // maintenance
  400: "config", // no such sender signature
  401: "config", // sender signature not confirmed
  405: "pace", // no credits left
  412: "config", // account pending
  413: "config", // account may not send
};

/**
 * An error code in a response with status 200 is a refusal. With another status, the status
 * decides.
 */
const failureKindOf = (code: number | undefined, status: number): FailureKind | undefined =>
  failureByCode[code ?? 0] ?? (code && status === 200 ? "refused" : undefined);

const retryAfterOf = (code: number | undefined): number | undefined =>
  code === 405 ? 3600 : undefined;
