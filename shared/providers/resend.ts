// Resend: https://resend.com/docs/api-reference/emails/send-email
import * as z from "zod";
import * as credentialFields from "./credential-fields.ts";
import { searchMails } from "./look-up.ts";
import { formatMailbox } from "./mailbox-format.ts";
import { fullBatchBytes } from "./merge-fields.ts";
import {
  addresseesOf,
  fillMergeText,
  type HandOverOutcome,
  type Mailing,
  type ProviderAdapter,
  type Recipient,
  type SoughtMail,
} from "./provider-adapter.ts";
import {
  bareType,
  callProvider,
  type FailureKind,
  mergeHeaders,
  outcomeOfFailure,
  type ProviderResponse,
  readFromProvider,
  sanitizeError,
  unknownType,
} from "./provider-http.ts";
import { traits } from "./traits.ts";

const Credentials = z.object({
  apiKey: credentialFields.secretField(
    "API key, with sending access at least, or full access to look up uncertain emails; begins " +
      "with re_",
  ),
});

export const resend: ProviderAdapter<typeof Credentials> = {
  key: "resend",
  ...traits.resend,
  credentials: Credentials,
  webhookProof: "signature",
  tracking: { opens: false, clicks: false },
  idempotencySeconds: 86_400,
  batch: { max: 100, supports: supportsBatch },
  // A key that may only send is refused as `restricted_api_key`, so it is valid.
  credentialRequest: ({ apiKey }) => ({
    url: "https://api.resend.com/domains",
    headers: { authorization: `Bearer ${apiKey}` },
    isRefusal: ({ status, json }) =>
      status >= 400 && status < 404 && Problem.safeParse(json).data?.name !== "restricted_api_key",
  }),
  send({ mailing, credentials: { apiKey }, idempotencyKey, repeated = false }) {
    const emails = mailing.recipients.map((recipient) => email(mailing, recipient));
    const single = emails.length === 1;
    return callProvider(resend, mailing, {
      url: `https://api.resend.com/emails${single ? "" : "/batch"}`,
      headers: {
        authorization: `Bearer ${apiKey}`,
        "idempotency-key": idempotencyKey,
        // By default one bad address makes Resend refuse the whole batch.
        ...(!single && { "x-batch-validation": "permissive" }),
      },
      body: single ? emails[0]! : emails,
      secrets: [apiKey],
      readOutcomes: (response) =>
        keyReuseOutcome(response, apiKey, repeated) ??
        (single ? readSingleOutcome(response) : readBatchOutcomes(response, mailing, apiKey)),
      errorText: ({ json }) => Problem.safeParse(json).data?.message,
      failureKind: ({ json }) => failureByName[Problem.safeParse(json).data?.name ?? ""],
      retryAfterSeconds: ({ json }) =>
        quotaErrors.has(Problem.safeParse(json).data?.name ?? "") ? 3600 : undefined,
    });
  },
  // https://resend.com/docs/api-reference/emails/list-emails lists the mails of the team, newest
  // first, without a filter and without tags; the tags of a mail need a request of their own. 5
  // requests are permitted per second. It documents no delay, and the search ends after the newest
  // 500 mails, so only a found mail counts.
  lookUp: {
    max: 10,
    find({ mails, since, credentials: { apiKey } }) {
      const request = { url: listUrl, headers: { authorization: `Bearer ${apiKey}` } };
      let retrievals = 0;
      return searchMails({
        provider: resend,
        mails,
        request,
        secrets: [apiKey],
        async readFound({ json }) {
          const page = EmailList.safeParse(json).data;
          if (!page) return undefined;
          const candidates = page.data.filter(
            ({ to, created_at }) => isOneOf(mails, to) && Date.parse(created_at) >= since.getTime(),
          );
          const retrieved = candidates.slice(0, maxRetrievals - retrievals);
          retrievals += retrieved.length;
          const found = [];
          for (const { id } of retrieved) {
            const sendId = await readSendId(id, request.headers);
            if (sendId !== undefined) found.push({ sendId, messageId: id });
          }
          const last = page.data.at(-1);
          const isOver = !page.has_more || !last || Date.parse(last.created_at) < since.getTime();
          return {
            found,
            isComplete: isOver && retrieved.length === candidates.length,
            nextUrl: isOver ? undefined : `${listUrl}&after=${last.id}`,
          };
        },
      });
    },
  },
};

const listUrl = "https://api.resend.com/emails?limit=100";

/** The most emails that one look-up reads one by one. */
const maxRetrievals = 10;

const EmailList = z.object({
  has_more: z.boolean(),
  data: z.array(z.object({ id: z.string(), to: z.array(z.string()), created_at: z.string() })),
});
const Email = z.object({ tags: z.array(z.object({ name: z.string(), value: z.string() })) });

const isOneOf = (mails: SoughtMail[], to: string[]): boolean =>
  mails.some((mail) => to.some((address) => bareAddress(address) === mail.to.toLowerCase()));

/** An address in lower case, without its name. */
const bareAddress = (address: string): string =>
  (/<([^<>]*)>\s*$/.exec(address)?.[1] ?? address).toLowerCase();

/** Undefined if the mail is not ours, or Resend does not tell its tags. */
async function readSendId(
  id: string,
  headers: Record<string, string>,
): Promise<string | undefined> {
  const url = `https://api.resend.com/emails/${id}`;
  const response = await readFromProvider(resend, { url, headers });
  const tags = response?.status === 200 ? Email.safeParse(response.json).data?.tags : undefined;
  return tags?.find(({ name }) => name === "send_id")?.value;
}

const Problem = z.object({ name: z.string(), message: z.string().default("") });
const Receipt = z.object({ id: z.string() });
const Receipts = z.object({
  data: z.array(Receipt),
  errors: z.array(z.object({ index: z.number(), message: z.string().default("") })).default([]),
});

/**
 * Each email has its own content and headers, but no attachments. Resend publishes no limit for
 * requests; 20 MB is half the limit of one email.
 */
function supportsBatch(mailing: Mailing): boolean {
  return mailing.attachments.length === 0 && fullBatchBytes(mailing) <= 20_000_000;
}

const email = (
  mailing: Mailing,
  recipient: Recipient,
  { to, cc, bcc } = addresseesOf(mailing, recipient),
): object => ({
  from: formatMailbox(mailing.from),
  to: to.map(formatMailbox),
  ...(cc.length && { cc: cc.map(formatMailbox) }),
  ...(bcc.length && { bcc: bcc.map(formatMailbox) }),
  ...(mailing.replyTo && { reply_to: mailing.replyTo }),
  subject: fillMergeText(mailing.subject, recipient),
  ...(mailing.html && { html: fillMergeText(mailing.html, recipient) }),
  ...(mailing.text && { text: fillMergeText(mailing.text, recipient) }),
  headers: mergeHeaders(mailing, {
    headers: { ...recipient.headers, "X-Send-Id": String(recipient.sendId) },
  }),
  tags: [
    { name: "send_id", value: String(recipient.sendId) },
    ...(mailing.configId === undefined
      ? []
      : [{ name: "config_id", value: String(mailing.configId) }]),
    ...mailing.tags.map((value, n) => ({ name: `tag_${n + 1}`, value: sanitizeTag(value) })),
  ],
  ...(mailing.attachments.length > 0 && {
    attachments: mailing.attachments.map(({ filename, type, content, contentId }) => ({
      filename,
      content,
      ...(contentId !== undefined && { content_id: contentId }),
      // Resend drops a file whose type contradicts its name, so an unknown type is left out.
      ...(bareType(type) !== unknownType && { content_type: bareType(type) }),
    })),
  }),
});

/** Replaces characters that Resend does not allow in tags. */
const sanitizeTag = (tag: string): string =>
  tag.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 256) || "_";

/**
 * The key was used with another payload. On a repeated attempt the earlier mail may have been sent,
 * so another key must not be tried.
 */
function keyReuseOutcome(
  { json }: ProviderResponse,
  secret: string,
  repeated: boolean,
): HandOverOutcome | undefined {
  const problem = Problem.safeParse(json).data;
  if (problem?.name !== "invalid_idempotent_request") return undefined;
  return outcomeOfFailure(
    repeated ? "uncertain" : "refused",
    sanitizeError(problem.message, [secret]),
  );
}

function readSingleOutcome({ status, json }: ProviderResponse): HandOverOutcome | undefined {
  const receipt = Receipt.safeParse(json).data;
  return status < 300 && receipt ? { status: "accepted", messageId: receipt.id } : undefined;
}

/**
 * `data` contains only the accepted mails in order; `errors` tells which ones are missing. If the
 * two do not add up, no id can be assigned.
 */
function readBatchOutcomes(
  { status, json }: ProviderResponse,
  { recipients }: Mailing,
  secret: string,
): HandOverOutcome[] | undefined {
  const receipts = Receipts.safeParse(json).data;
  if (status >= 300 || !receipts) return undefined;
  const errors = new Map(receipts.errors.map(({ index, message }) => [index, message]));
  const ids =
    errors.size + receipts.data.length === recipients.length ? receipts.data.values() : [].values();
  return recipients.map((_, n) => {
    const error = errors.get(n);
    return error === undefined
      ? { status: "accepted", messageId: ids.next().value?.id }
      : outcomeOfFailure("refused", sanitizeError(error, [secret]));
  });
}

const quotaErrors = new Set(["daily_quota_exceeded", "monthly_quota_exceeded"]);

const failureByName: Record<string, FailureKind> = {
  missing_api_key: "config",
  restricted_api_key: "config",
  invalid_api_key: "config",
  // The first request is still running and may be accepted.
  concurrent_idempotent_requests: "uncertain",
};
