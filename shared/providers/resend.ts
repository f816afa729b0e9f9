// Resend: https://resend.com/docs/api-reference/emails/send-email
import * as z from "zod";
import { mailbox } from "./addresses.ts";
import * as credentials from "./credentials.ts";
import { type Answer, exchange, headersOf, judged, quoted, type Verdict } from "./exchange.ts";
import { bccOf, filled, type Mailing, type Outcome, type Provider, type Recipient } from "./provider.ts";
import { contentBytes, particularBytes } from "./substitution.ts";

const Credentials = z.object({ apiKey: credentials.token("API key, with sending access at least; begins with re_") });

export const resend: Provider<typeof Credentials> = {
  key: "resend",
  name: "Resend",
  credentials: Credentials,
  webhookProof: "signature",
  // 40 MB for all of a mail, base64 counted.
  maxAttachmentBytes: 28_000_000,
  tracking: { opens: false, clicks: false },
  idempotencySeconds: 86_400,
  batch: { max: 100, takes },
  send({ mailing, credentials: { apiKey }, idempotencyKey }) {
    const emails = mailing.recipients.map((recipient) => email(mailing, recipient));
    const single = emails.length === 1;
    return exchange(
      resend,
      mailing,
      {
        url: `https://api.resend.com/emails${single ? "" : "/batch"}`,
        headers: {
          authorization: `Bearer ${apiKey}`,
          "idempotency-key": idempotencyKey,
          // Otherwise one bad address refuses all.
          ...(!single && { "x-batch-validation": "permissive" }),
        },
        body: single ? emails[0]! : emails,
        secrets: [apiKey],
      },
      {
        accepted: (answer) => spent(answer, apiKey) ?? (single ? one(answer) : each(answer, mailing, apiKey)),
        words: ({ json }) => Problem.safeParse(json).data?.message,
        verdict: ({ json }) => verdicts[Problem.safeParse(json).data?.name ?? ""],
        retryAfterSeconds: ({ json }) => (quotas.has(Problem.safeParse(json).data?.name ?? "") ? 3600 : undefined),
      },
    );
  },
};

const Problem = z.object({ name: z.string(), message: z.string().default("") });
const Receipt = z.object({ id: z.string() });
const Receipts = z.object({
  data: z.array(Receipt),
  errors: z.array(z.object({ index: z.number(), message: z.string().default("") })).default([]),
});

/** Each email has its own content and headers, but no attachments. No size of a request is published: 20 MB, half of one email's. */
function takes(mailing: Mailing): boolean {
  const alike = contentBytes(mailing) * mailing.recipients.length;
  const bytes = mailing.recipients.reduce((sum, recipient) => sum + particularBytes(recipient), alike);
  return mailing.attachments.length === 0 && bytes <= 20_000_000;
}

const email = (mailing: Mailing, recipient: Recipient, bcc = bccOf(mailing, recipient)): object => ({
  from: mailbox(mailing.from),
  to: [mailbox(recipient.to)],
  ...(bcc && { bcc: [bcc] }),
  ...(mailing.replyTo && { reply_to: mailing.replyTo }),
  subject: filled(mailing.subject, recipient),
  ...(mailing.html && { html: filled(mailing.html, recipient) }),
  ...(mailing.text && { text: filled(mailing.text, recipient) }),
  headers: headersOf(mailing, { headers: { ...recipient.headers, "X-Send-Id": String(recipient.sendId) } }),
  tags: [
    { name: "send_id", value: String(recipient.sendId) },
    ...mailing.tags.map((value, n) => ({ name: `tag_${n + 1}`, value: plain(value) })),
  ],
  ...(mailing.attachments.length > 0 && {
    attachments: mailing.attachments.map(({ filename, type, content }) => ({ filename, content, content_type: type })),
  }),
});

/** Tags are made of these characters only, and not empty. */
const plain = (tag: string): string => tag.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 256) || "_";

/** The key was used for something else: never to be asked again under another one, for those mails may have gone out. */
function spent({ json }: Answer, secret: string): Outcome | undefined {
  const problem = Problem.safeParse(json).data;
  return problem?.name === "invalid_idempotent_request" ? judged("refused", quoted(problem.message, [secret])) : undefined;
}

function one({ status, json }: Answer): Outcome | undefined {
  const receipt = Receipt.safeParse(json).data;
  return status < 300 && receipt ? { status: "accepted", messageId: receipt.id } : undefined;
}

/** `data` holds the created ones only, in order; `errors` says which are missing. If the two do not add up, no id is certain. */
function each({ status, json }: Answer, { recipients }: Mailing, secret: string): Outcome[] | undefined {
  const receipts = Receipts.safeParse(json).data;
  if (status >= 300 || !receipts) return undefined;
  const errors = new Map(receipts.errors.map(({ index, message }) => [index, message]));
  const ids = errors.size + receipts.data.length === recipients.length ? receipts.data.values() : [].values();
  return recipients.map((_, n) => {
    const error = errors.get(n);
    return error === undefined ? { status: "accepted", messageId: ids.next().value?.id } : judged("refused", quoted(error, [secret]));
  });
}

const quotas = new Set(["daily_quota_exceeded", "monthly_quota_exceeded"]);

const verdicts: Record<string, Verdict> = {
  missing_api_key: "config",
  restricted_api_key: "config",
  invalid_api_key: "config",
  // The first call under this key is still running.
  concurrent_idempotent_requests: "fault",
};
