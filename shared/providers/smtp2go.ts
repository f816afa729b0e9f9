// SMTP2GO, API v3: https://developers.smtp2go.com/reference/send-standard-email
import * as z from "zod";
import { mailbox } from "./addresses.ts";
import * as credentials from "./credentials.ts";
import { type Answer, exchange, headersOf, judged, quoted, type Verdict } from "./exchange.ts";
import { bccOf, filled, type Mailing, type Outcome, type Provider, type Recipient } from "./provider.ts";
import { contentBytes, particularBytes } from "./substitution.ts";

const Credentials = z.object({
  apiKey: credentials.token("API key with the permission /email/send (and /email/batch); begins with api-"),
  region: credentials.region(["global", "us", "eu", "au"], "us, eu or au to stay in that region, else global"),
});

const origins = {
  global: "https://api.smtp2go.com",
  us: "https://us-api.smtp2go.com",
  eu: "https://eu-api.smtp2go.com",
  au: "https://au-api.smtp2go.com",
};

export const smtp2go: Provider<typeof Credentials> = {
  key: "smtp2go",
  name: "SMTP2GO",
  credentials: Credentials,
  webhookProof: "secret",
  // 50 MB for the whole request, base64 counted.
  maxAttachmentBytes: 36_000_000,
  tracking: { opens: false, clicks: false },
  idempotencySeconds: 0,
  batch: { max: 100, takes },
  send({ mailing, credentials: { apiKey, region = "global" } }) {
    const emails = mailing.recipients.map((recipient) => email(mailing, recipient));
    const single = emails.length === 1;
    return exchange(
      smtp2go,
      mailing,
      {
        url: `${origins[region]}/v3/email/${single ? "send" : "batch"}`,
        headers: { "x-smtp2go-api-key": apiKey },
        body: single ? emails[0]! : { emails },
        secrets: [apiKey],
      },
      {
        accepted: (answer) => (single ? one(answer, mailing, apiKey) : each(answer, mailing, apiKey)),
        words: ({ json }) => words(json),
        verdict: ({ json }) => meaning(problem(json)?.error_code),
        // It usually says nothing of when, but shuts the IP address out for a while.
        retryAfterSeconds: ({ status, headers }) => (status === 429 && !headers.has("retry-after") ? 60 : undefined),
      },
    );
  },
};

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

/** Each email has its own content and headers; only the request's 50 MB limit them. JSON escapes need room. */
function takes(mailing: Mailing): boolean {
  const alike = contentBytes(mailing) * mailing.recipients.length;
  const bytes = mailing.recipients.reduce((sum, recipient) => sum + particularBytes(recipient), alike);
  return bytes <= 35_000_000;
}

const email = (mailing: Mailing, recipient: Recipient, bcc = bccOf(mailing, recipient)): object => ({
  sender: mailbox(mailing.from),
  to: [mailbox(recipient.to)],
  ...(bcc && { bcc: [bcc] }),
  subject: filled(mailing.subject, recipient),
  ...(mailing.html && { html_body: filled(mailing.html, recipient) }),
  ...(mailing.text && { text_body: filled(mailing.text, recipient) }),
  custom_headers: Object.entries(headers(mailing, recipient)).map(([header, value]) => ({ header, value })),
  ...(mailing.attachments.length > 0 && {
    attachments: mailing.attachments.map(({ filename, type, content }) => ({ filename, fileblob: content, mimetype: type })),
  }),
});

/** There is no metadata: events repeat this header, if the webhook is told to. */
const headers = (mailing: Mailing, { headers, sendId }: Recipient): Record<string, string> =>
  headersOf(mailing, {
    headers: { ...headers, ...(mailing.replyTo && { "Reply-To": mailing.replyTo }), "X-Send-Id": String(sendId) },
  });

const dataOf = (json: unknown): unknown => Data.safeParse(json).data?.data;

/** A mail that was not taken is answered 200 too. */
const one = ({ status, json }: Answer, { recipients }: Mailing, secret: string): Outcome | undefined =>
  status === 200 ? outcome(dataOf(json), recipients[0]!, secret) : undefined;

function each({ status, json }: Answer, { recipients }: Mailing, secret: string): Outcome[] | undefined {
  const results = z.array(z.unknown()).safeParse(dataOf(json)).data;
  if (status !== 200 || !results) return undefined;
  return recipients.map(
    (recipient, n) => outcome(results[n], recipient, secret) ?? judged("uncertain", "SMTP2GO told nothing of this mail"),
  );
}

function outcome(data: unknown, recipient: Recipient, secret: string): Outcome | undefined {
  const result = Result.safeParse(data).data;
  const failure = result?.failed ? failureOf(result, recipient) : undefined;
  if (failure !== undefined) return judged("refused", quoted(failure, [secret]));
  return result?.email_id ? { status: "accepted", messageId: result.email_id } : refusal(data, secret);
}

/** Undefined when it is another address, that of the blind copy, that failed. */
function failureOf({ succeeded, failures }: z.output<typeof Result>, { to }: Recipient): string | undefined {
  const told = failures.map((failure) => (typeof failure === "string" ? failure : JSON.stringify(failure ?? "failed")));
  return succeeded === 0 ? (told[0] ?? "failed") : told.find((words) => words.toLowerCase().includes(to.email.toLowerCase()));
}

function refusal(data: unknown, secret: string): Outcome | undefined {
  const found = problem(data);
  return found && judged(meaning(found.error_code) ?? "refused", quoted(words(data) ?? "", [secret]));
}

/** Under `data` or beside it. */
const problem = (json: unknown) => Problem.safeParse(dataOf(json)).data ?? Problem.safeParse(json).data;

function words(json: unknown): string | undefined {
  const found = problem(json);
  const field = found?.field_validation_errors;
  return field ? `${found.error}: ${field.fieldname}: ${field.message}` : found?.error;
}

const meaning = (code = ""): Verdict | undefined => verdicts[code.replace("E_ApiResponseCodes.", "")];

const verdicts: Record<string, Verdict> = {
  ENDPOINT_PERMISSION_DENIED: "config",
  // Mostly a sender that is not verified.
  API_EXCEPTION: "config",
};
