// SMTP2GO, API v3: https://developers.smtp2go.com/reference/send-standard-email
import * as z from "zod";
import { addSeconds } from "../clock.ts";
import * as credentialFields from "./credential-fields.ts";
import { isOurs, searchMails } from "./look-up.ts";
import { formatMailbox } from "./mailbox-format.ts";
import { fullBatchBytes } from "./merge-fields.ts";
import {
  type Attachment,
  addresseesOf,
  fillMergeText,
  type HandOverOutcome,
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
  apiKey: credentialFields.secretField(
    "API key with the permissions /email/send, /email/batch and, for the search of uncertain " +
      "emails, /activity/search; begins with api-",
  ),
  region: credentialFields.regionField(
    ["global", "us", "eu", "au"],
    "us, eu or au to stay in that region, else global",
  ),
});

const origins = {
  global: "https://api.smtp2go.com",
  us: "https://us-api.smtp2go.com",
  eu: "https://eu-api.smtp2go.com",
  au: "https://au-api.smtp2go.com",
};

export const smtp2go: ProviderAdapter<typeof Credentials> = {
  key: "smtp2go",
  ...traits.smtp2go,
  credentials: Credentials,
  webhookProof: "secret",
  tracking: { opens: false, clicks: false },
  idempotencySeconds: 0,
  batch: { max: 100, supports: supportsBatch },
  credentialRequest: ({ apiKey, region = "global" }) => ({
    url: `${origins[region]}/v3/api_keys/permissions`,
    headers: { "x-smtp2go-api-key": apiKey },
    body: {},
  }),
  send({ mailing, credentials: { apiKey, region = "global" } }) {
    const emails = mailing.recipients.map((recipient) => email(mailing, recipient));
    const single = emails.length === 1;
    return callProvider(smtp2go, mailing, {
      url: `${origins[region]}/v3/email/${single ? "send" : "batch"}`,
      headers: { "x-smtp2go-api-key": apiKey },
      body: single ? emails[0]! : { emails },
      secrets: [apiKey],
      readOutcomes: (response) =>
        single
          ? readSingleOutcome(response, mailing, apiKey)
          : readBatchOutcomes(response, mailing, apiKey),
      errorText: ({ json }) => errorText(json),
      failureKind: ({ json }) => failureKindOf(parseProblem(json)?.error_code),
      // SMTP2GO usually sends no Retry-After, but blocks the IP address for a while.
      retryAfterSeconds: ({ status, headers }) =>
        status === 429 && !headers.has("retry-after") ? 60 : undefined,
    });
  },
  // https://developers.smtp2go.com/docs/view-account-activity, 60 requests per minute. It documents
  // no delay, and a free plan keeps 5 days, so only a found mail counts.
  lookUp: {
    max: 1,
    find({ mails, since, credentials: { apiKey, region = "global" } }) {
      return searchMails({
        provider: smtp2go,
        mails,
        request: {
          url: `${origins[region]}/v3/activity/search`,
          headers: { "x-smtp2go-api-key": apiKey },
          body: {
            search_recipient: mails[0]!.to,
            start_date: since.toISOString(),
            // The documentation names two defaults: now, and the last midnight.
            end_date: addSeconds(24 * 3600).toISOString(),
            custom_headers: [sendIdHeader],
            only_latest: true,
            limit: 1000,
          },
        },
        secrets: [apiKey],
        readFound({ json }) {
          const page = Activity.safeParse(dataOf(json)).data;
          if (!page) return undefined;
          const found = page.events
            .filter(({ recipient: to, date: at }) => isOurs({ to, at }, { mails, since }))
            .map(({ custom_headers, email_id }) => ({
              sendId: sendIdOf(custom_headers),
              messageId: email_id,
            }));
          return { found, isComplete: !page.continue_token };
        },
      });
    },
  },
};

const Activity = z.object({
  events: z.array(
    z.object({
      date: z.string(),
      recipient: z.string().default(""),
      email_id: z.string(),
      custom_headers: z.record(z.string(), z.unknown()).catch({}),
    }),
  ),
  continue_token: z.string().nullish(),
});

const sendIdHeader = "X-Send-Id";

const sendIdOf = (headers: Record<string, unknown>): string | undefined =>
  Object.entries(headers)
    .filter(([name]) => name.toLowerCase() === sendIdHeader.toLowerCase())
    .map(([, value]) => String(value))[0];

const Result = z.object({
  email_id: z.string().optional(),
  succeeded: z.number().default(0),
  failed: z.number().default(0),
  failures: z.array(z.unknown()).default([]),
});
const Problem = z.object({
  error: z.string(),
  error_code: z.string().optional(),
  field_validation_errors: z
    .object({ fieldname: z.string().default(""), message: z.string().default("") })
    .optional()
    .catch(undefined),
});
const Data = z.object({ data: z.unknown() });

/** Each email has its own content and headers. A request may have 50 MB; JSON escapes need room. */
function supportsBatch(mailing: Mailing): boolean {
  return fullBatchBytes(mailing) <= 35_000_000;
}

const email = (
  mailing: Mailing,
  recipient: Recipient,
  { to, cc, bcc } = addresseesOf(mailing, recipient),
): object => ({
  sender: formatMailbox(mailing.from),
  to: to.map(formatMailbox),
  ...(cc.length && { cc: cc.map(formatMailbox) }),
  ...(bcc.length && { bcc: bcc.map(formatMailbox) }),
  subject: fillMergeText(mailing.subject, recipient),
  ...(mailing.html && { html_body: fillMergeText(mailing.html, recipient) }),
  ...(mailing.text && { text_body: fillMergeText(mailing.text, recipient) }),
  custom_headers: Object.entries(headers(mailing, recipient)).map(([header, value]) => ({
    header,
    value,
  })),
  ...attachmentFields(mailing),
});

/** The file name of an image is its content id. */
function attachmentFields(mailing: Mailing): object {
  const { files, images } = splitAttachments(mailing);
  const toField = (filename: string, { type, content }: Attachment) => ({
    filename,
    fileblob: content,
    mimetype: bareType(type),
  });
  return {
    ...(files.length > 0 && { attachments: files.map((file) => toField(file.filename, file)) }),
    ...(images.length > 0 && { inlines: images.map((image) => toField(image.contentId, image)) }),
  };
}

/** SMTP2GO has no metadata. Events contain this header if the webhook is set to include it. */
const headers = (mailing: Mailing, { headers, sendId }: Recipient): Record<string, string> =>
  mergeHeaders(mailing, {
    headers: {
      ...headers,
      ...(mailing.replyTo && { "Reply-To": mailing.replyTo.join(", ") }),
      [sendIdHeader]: String(sendId),
    },
  });

const dataOf = (json: unknown): unknown => Data.safeParse(json).data?.data;

/** A refused mail gets 200 too. */
const readSingleOutcome = (
  { status, json }: ProviderResponse,
  { recipients }: Mailing,
  secret: string,
): HandOverOutcome | undefined =>
  status === 200 ? readOutcome(dataOf(json), recipients[0]!, secret) : undefined;

function readBatchOutcomes(
  { status, json }: ProviderResponse,
  { recipients }: Mailing,
  secret: string,
): HandOverOutcome[] | undefined {
  const results = z.array(z.unknown()).safeParse(dataOf(json)).data;
  if (status !== 200 || !results) return undefined;
  return recipients.map(
    (recipient, n) =>
      readOutcome(results[n], recipient, secret) ??
      outcomeOfFailure("uncertain", "SMTP2GO's response does not mention this mail"),
  );
}

function readOutcome(
  data: unknown,
  recipient: Recipient,
  secret: string,
): HandOverOutcome | undefined {
  const result = Result.safeParse(data).data;
  const failure = result?.failed ? failureOf(result, recipient) : undefined;
  if (failure !== undefined) return outcomeOfFailure("refused", sanitizeError(failure, [secret]));
  return result?.email_id
    ? { status: "accepted", messageId: result.email_id }
    : readRefusal(data, secret);
}

/** Returns undefined if only the address of the blind copy failed. */
function failureOf(
  { succeeded, failures }: z.output<typeof Result>,
  { to }: Recipient,
): string | undefined {
  const messages = failures.map((failure) =>
    typeof failure === "string" ? failure : JSON.stringify(failure ?? "failed"),
  );
  return succeeded === 0
    ? (messages[0] ?? "failed")
    : messages.find((message) => message.toLowerCase().includes(to.email.toLowerCase()));
}

function readRefusal(data: unknown, secret: string): HandOverOutcome | undefined {
  const problem = parseProblem(data);
  return (
    problem &&
    outcomeOfFailure(
      failureKindOf(problem.error_code) ?? "refused",
      sanitizeError(errorText(data) ?? "", [secret]),
    )
  );
}

/** The error is inside `data` or next to it. */
const parseProblem = (json: unknown) =>
  Problem.safeParse(dataOf(json)).data ?? Problem.safeParse(json).data;

function errorText(json: unknown): string | undefined {
  const problem = parseProblem(json);
  const field = problem?.field_validation_errors;
  return field ? `${problem.error}: ${field.fieldname}: ${field.message}` : problem?.error;
}

const failureKindOf = (code = ""): FailureKind | undefined =>
  failureByCode[code.replace("E_ApiResponseCodes.", "")];

const failureByCode: Record<string, FailureKind> = {
  ENDPOINT_PERMISSION_DENIED: "config",
  // Usually an unverified sender.
  API_EXCEPTION: "config",
};
