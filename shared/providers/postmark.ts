// Postmark, Email API: https://postmarkapp.com/developer/api/email-api
import * as z from "zod";
import { mailbox } from "./addresses.ts";
import * as credentials from "./credentials.ts";
import { type Answer, exchange, headersOf, judged, quoted, type Verdict } from "./exchange.ts";
import { bccOf, filled, type Mailing, type Outcome, type Provider, type Recipient } from "./provider.ts";
import { contentBytes, particularBytes } from "./substitution.ts";

const Credentials = z.object({
  apiKey: credentials.token("Server API token"),
  messageStream: credentials.token("").optional().describe("Message stream to send through; absent: outbound, the transactional one"),
});

export const postmark: Provider<typeof Credentials> = {
  key: "postmark",
  name: "Postmark",
  credentials: Credentials,
  webhookProof: "secret",
  // 10 MB for all of a mail, base64 counted.
  maxAttachmentBytes: 7_000_000,
  tracking: { opens: true, clicks: true },
  idempotencySeconds: 0,
  batch: { max: 500, takes },
  send({ mailing, credentials: { apiKey, messageStream } }) {
    const messages = mailing.recipients.map((recipient) => message(mailing, recipient, messageStream));
    const single = messages.length === 1;
    return exchange(
      postmark,
      mailing,
      {
        url: `https://api.postmarkapp.com/email${single ? "" : "/batch"}`,
        headers: { "x-postmark-server-token": apiKey },
        body: single ? messages[0]! : messages,
        secrets: [apiKey],
      },
      {
        accepted: (answer) => (single ? one(answer, mailing, apiKey) : each(answer, mailing, apiKey)),
        words: ({ json }) => Result.safeParse(json).data?.Message,
        verdict: ({ status, json }) => meaning(Result.safeParse(json).data?.ErrorCode, status),
        retryAfterSeconds: ({ json }) => wait(Result.safeParse(json).data?.ErrorCode),
      },
    );
  },
};

const Result = z.object({ ErrorCode: z.number(), Message: z.string().default(""), MessageID: z.string().optional() });

/** Every mail of a batch has its own content and headers; only the request's 50 MB limit them. JSON escapes need room. */
function takes(mailing: Mailing): boolean {
  const alike = contentBytes(mailing) * mailing.recipients.length;
  return mailing.recipients.reduce((sum, recipient) => sum + particularBytes(recipient), alike) <= 35_000_000;
}

const message = (mailing: Mailing, recipient: Recipient, stream: string | undefined, bcc = bccOf(mailing, recipient)): object => ({
  From: mailbox(mailing.from),
  To: mailbox(recipient.to),
  ...(bcc && { Bcc: bcc }),
  ...(mailing.replyTo && { ReplyTo: mailing.replyTo }),
  Subject: filled(mailing.subject, recipient),
  ...(mailing.text && { TextBody: filled(mailing.text, recipient) }),
  ...(mailing.html && { HtmlBody: filled(mailing.html, recipient) }),
  ...(stream && { MessageStream: stream }),
  // It takes one tag a mail.
  ...(mailing.tags[0] && { Tag: mailing.tags[0] }),
  ...(mailing.trackOpens !== undefined && { TrackOpens: mailing.trackOpens }),
  ...(mailing.trackClicks !== undefined && { TrackLinks: mailing.trackClicks ? "HtmlAndText" : "None" }),
  Metadata: { sendId: String(recipient.sendId) },
  Headers: Object.entries(headersOf(mailing, recipient)).map(([Name, Value]) => ({ Name, Value })),
  ...(mailing.attachments.length > 0 && {
    Attachments: mailing.attachments.map(({ filename, type, content }) => ({ Name: filename, Content: content, ContentType: type })),
  }),
});

function one({ status, json }: Answer, { recipients }: Mailing, secret: string): Outcome | undefined {
  const result = Result.safeParse(json).data;
  return status === 200 && result?.ErrorCode === 0 ? taken(result, recipients[0]!, secret) : undefined;
}

/** Taken for the blind copy alone when the recipient is inactive: no event tells of that. */
function taken({ Message, MessageID }: z.output<typeof Result>, { to }: Recipient, secret: string): Outcome {
  const inactive = /will not deliver to these inactive addresses:(.*)/is
    .exec(Message)?.[1]
    ?.toLowerCase()
    .split(/[\s,;]+/);
  if (inactive?.includes(to.email.toLowerCase())) return judged("refused", quoted(Message, [secret]));
  return { status: "accepted", messageId: MessageID };
}

/** A batch is answered 200 whatever becomes of its mails, with one result each, in their order. */
function each({ status, json }: Answer, mailing: Mailing, secret: string): Outcome[] | undefined {
  const results = z.array(z.unknown()).safeParse(json).data;
  if (status !== 200 || !results) return undefined;
  return mailing.recipients.map((recipient, n) => {
    const result = Result.safeParse(results[n]).data;
    if (!result) return judged("uncertain", "Postmark told nothing of this mail");
    if (result.ErrorCode === 0) return taken(result, recipient, secret);
    return judged(verdicts[result.ErrorCode] ?? "refused", quoted(result.Message, [secret]), wait(result.ErrorCode));
  });
}

// https://postmarkapp.com/developer/api/overview#error-codes; these numbers are no HTTP statuses, although 401 looks like one.
const verdicts: Record<number, Verdict> = {
  10: "config", // wrong token
  100: "fault", // maintenance
  400: "config", // no such sender signature
  401: "config", // sender signature not confirmed
  405: "pace", // no credits left
  412: "config", // account pending
  413: "config", // account may not send
};

/** A fault told with status 200 is a refusal; with any other, the status tells. */
const meaning = (code: number | undefined, status: number): Verdict | undefined =>
  verdicts[code ?? 0] ?? (code && status === 200 ? "refused" : undefined);

const wait = (code: number | undefined): number | undefined => (code === 405 ? 3600 : undefined);
