// Mailjet, Send API v3.1: https://dev.mailjet.com/email/guides/send-api-v31/
import * as z from "zod";
import * as credentials from "./credentials.ts";
import { type Answer, exchange, headersOf, judged, quoted, type Verdict } from "./exchange.ts";
import { bccOf, filled, type Mailbox, type Mailing, type Outcome, type Provider, type Recipient } from "./provider.ts";
import { contentBytes, particularBytes } from "./substitution.ts";

const Credentials = z.object({
  apiKey: credentials.token("API key"),
  secretKey: credentials.token("Secret key that belongs to the API key"),
  region: credentials.region(["global", "us"], "us for an account on Mailjet's US architecture, else global"),
});

const origins = { global: "https://api.mailjet.com", us: "https://api.us.mailjet.com" };

export const mailjet: Provider<typeof Credentials> = {
  key: "mailjet",
  name: "Mailjet",
  credentials: Credentials,
  webhookProof: "secret",
  // 15 MB for all of a mail, base64 counted.
  maxAttachmentBytes: 11_000_000,
  tracking: { opens: true, clicks: true },
  idempotencySeconds: 0,
  batch: { max: 50, takes },
  send({ mailing, credentials: { apiKey, secretKey, region = "global" } }) {
    const basic = Buffer.from(`${apiKey}:${secretKey}`).toString("base64");
    const secrets = [basic, secretKey, apiKey];
    return exchange(
      mailjet,
      mailing,
      {
        url: `${origins[region]}/v3.1/send`,
        headers: { authorization: `Basic ${basic}` },
        body: { Messages: mailing.recipients.map((recipient) => message(mailing, recipient)) },
        secrets,
      },
      {
        accepted: (answer) => each(answer, mailing, secrets),
        words: ({ json }) => Problem.safeParse(json).data?.ErrorMessage,
      },
    );
  },
};

const Problem = z.object({ ErrorMessage: z.string() });
const Results = z.object({ Messages: z.array(z.unknown()) });
const Success = z.object({ Status: z.literal("success"), To: z.array(z.object({ MessageUUID: z.string().optional() })).default([]) });
const Failure = z.object({
  Status: z.literal("error"),
  Errors: z.array(z.object({ StatusCode: z.number().default(400), ErrorMessage: z.string().default("") })).min(1),
});

/** Each message has its own content and headers. No size of a request is published: 20 MB is what others take without trouble. */
function takes(mailing: Mailing): boolean {
  const alike = contentBytes(mailing) * mailing.recipients.length;
  const bytes = mailing.recipients.reduce((sum, recipient) => sum + particularBytes(recipient), alike);
  return bytes <= 20_000_000;
}

const message = (mailing: Mailing, recipient: Recipient, bcc = bccOf(mailing, recipient)): object => ({
  From: address(mailing.from),
  To: [address(recipient.to)],
  ...(bcc && { Bcc: [{ Email: bcc }] }),
  ...(mailing.replyTo && { ReplyTo: { Email: mailing.replyTo } }),
  Subject: filled(mailing.subject, recipient),
  ...(mailing.text && { TextPart: filled(mailing.text, recipient) }),
  ...(mailing.html && { HTMLPart: filled(mailing.html, recipient) }),
  CustomID: String(recipient.sendId),
  EventPayload: JSON.stringify({ sendId: recipient.sendId }),
  // It takes one tag a mail.
  ...(mailing.tags[0] && { CustomCampaign: mailing.tags[0] }),
  // Refused in a mail without HTML, where there is nothing to track.
  ...(mailing.html && mailing.trackOpens !== undefined && { TrackOpens: mailing.trackOpens ? "enabled" : "disabled" }),
  ...(mailing.html && mailing.trackClicks !== undefined && { TrackClicks: mailing.trackClicks ? "enabled" : "disabled" }),
  Headers: headersOf(mailing, recipient),
  ...(mailing.attachments.length > 0 && {
    Attachments: mailing.attachments.map(({ filename, type, content }) => ({
      ContentType: type,
      Filename: filename,
      Base64Content: content,
    })),
  }),
});

const address = ({ email, name }: Mailbox) => ({ Email: email, ...(name && { Name: name }) });

/** One bad message makes the whole answer a 4xx, which still tells of each message in order: the good ones were sent. */
function each({ json }: Answer, { recipients }: Mailing, secrets: string[]): Outcome[] | Outcome | undefined {
  const results = Results.safeParse(json).data?.Messages;
  if (!results) return undefined;
  if (results.length !== recipients.length) return judged("uncertain", "Mailjet told of another number of mails than it was given");
  return results.map((result) => one(result, secrets));
}

/** MessageID is too large a number for JSON.parse; the UUID comes back in every event too. */
function one(result: unknown, secrets: string[]): Outcome {
  const success = Success.safeParse(result).data;
  if (success) return { status: "accepted", messageId: success.To[0]?.MessageUUID || undefined };
  const failure = Failure.safeParse(result).data;
  if (!failure) return judged("uncertain", "Mailjet told nothing of this mail");
  const words = failure.Errors.map(({ ErrorMessage }) => ErrorMessage).join("; ");
  return judged(meaning(failure.Errors[0]!.StatusCode), quoted(words, secrets));
}

const verdicts: Record<number, Verdict> = { 401: "config", 403: "config", 429: "pace" };
const meaning = (status: number): Verdict => verdicts[status] ?? (status >= 500 ? "fault" : "refused");
