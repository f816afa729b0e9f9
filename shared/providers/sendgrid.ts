// Twilio SendGrid, v3 Mail Send: https://www.twilio.com/docs/sendgrid/api-reference/mail-send
import * as z from "zod";
import * as credentials from "./credentials.ts";
import { type Answer, exchange, headersOf, secondsUntil, type Verdict } from "./exchange.ts";
import { bccOf, filled, type Mailbox, type Mailing, type Provider, type Recipient } from "./provider.ts";
import { absentWord, contentBytes, holes, particularBytes, template } from "./substitution.ts";

const Credentials = z.object({
  apiKey: credentials.token("API key with the permission Mail Send; begins with SG."),
  region: credentials.region(["global", "eu"], "eu for a subuser pinned to the EU, else global"),
});

const origins = { global: "https://api.sendgrid.com", eu: "https://api.eu.sendgrid.com" };

export const sendgrid: Provider<typeof Credentials> = {
  key: "sendgrid",
  name: "SendGrid",
  credentials: Credentials,
  webhookProof: "signature",
  // The request may have 30 MB: base64 makes four bytes of three, and the content needs room too.
  maxAttachmentBytes: 20_000_000,
  tracking: { opens: true, clicks: true },
  idempotencySeconds: 0,
  batch: { max: 1000, takes },
  send: ({ mailing, credentials: { apiKey, region = "global" } }) =>
    exchange(
      sendgrid,
      mailing,
      {
        url: `${origins[region]}/v3/mail/send`,
        headers: { authorization: `Bearer ${apiKey}` },
        body: mailing.recipients.length > 1 ? batchBody(mailing) : singleBody(mailing),
        secrets: [apiKey],
      },
      {
        accepted: ({ status, headers }) =>
          status === 202 || status === 200 ? { status: "accepted", messageId: headers.get("x-message-id") ?? undefined } : undefined,
        words: ({ json }) =>
          Problem.safeParse(json)
            .data?.errors.map(({ message }) => message)
            .join("; "),
        verdict,
        retryAfterSeconds,
      },
    ),
};

const Problem = z.object({ errors: z.array(z.object({ message: z.string() })) });

/** Each recipient's substitutions may have 10,000 bytes; half a thousand is for their keys. Of addresses a call may have 1,000. */
function takes(mailing: Mailing): boolean {
  const sizes = mailing.recipients.map((recipient) => particularBytes(recipient));
  const bytes = sizes.reduce((sum, size) => sum + size, contentBytes(mailing));
  const addresses = mailing.recipients.length * (mailing.bcc ? 2 : 1);
  return addresses <= 1000 && holes(mailing).length <= 50 && sizes.every((size) => size <= 8_000) && bytes <= 25_000_000;
}

const singleBody = (mailing: Mailing): object => {
  const recipient = mailing.recipients[0]!;
  return {
    ...common(mailing),
    personalizations: [personalization(mailing, recipient)],
    subject: filled(mailing.subject, recipient),
    content: content(mailing.text && filled(mailing.text, recipient), mailing.html && filled(mailing.html, recipient)),
  };
};

/** Substitutions are a plain search and replace, one after the other: a key must stand in no text and in no value. */
const batchBody = (mailing: Mailing): object => {
  const word = absentWord(mailing);
  const key = (hole: number): string => `-${word}.${hole}-`;
  const substitutions = ({ values }: Recipient) => Object.fromEntries(holes(mailing).map((hole) => [key(hole), values[hole] ?? ""]));
  return {
    ...common(mailing),
    personalizations: mailing.recipients.map((recipient) => ({
      ...personalization(mailing, recipient),
      substitutions: substitutions(recipient),
    })),
    subject: template(mailing.subject, key),
    content: content(mailing.text && template(mailing.text, key), mailing.html && template(mailing.html, key)),
  };
};

const personalization = (mailing: Mailing, recipient: Recipient, bcc = bccOf(mailing, recipient)) => ({
  to: [address(recipient.to)],
  ...(bcc && { bcc: [{ email: bcc }] }),
  headers: headersOf(mailing, recipient),
  custom_args: { sendId: String(recipient.sendId) },
});

const common = (mailing: Mailing) => ({
  from: address(mailing.from),
  ...(mailing.replyTo && { reply_to: { email: mailing.replyTo } }),
  ...(mailing.attachments.length > 0 && {
    attachments: mailing.attachments.map(({ filename, type, content }) => ({
      content,
      filename: ascii(filename),
      type,
      disposition: "attachment",
    })),
  }),
  ...(mailing.tags.length > 0 && { categories: [...new Set(mailing.tags.map((tag) => tag.slice(0, 255)))].slice(0, 10) }),
  tracking_settings: {
    ...(mailing.trackOpens !== undefined && { open_tracking: { enable: mailing.trackOpens } }),
    ...(mailing.trackClicks !== undefined && { click_tracking: { enable: mailing.trackClicks, enable_text: false } }),
    // Switched on, it replaces our List-Unsubscribe by SendGrid's own and adds a footer.
    ...(unsubscribable(mailing) && { subscription_tracking: { enable: false } }),
  },
});

const address = ({ email, name }: Mailbox) => ({ email, ...(name && { name }) });

/** Text before HTML, and no empty part: SendGrid refuses both. */
const content = (text: string | undefined, html: string | undefined) => [
  ...(text ? [{ type: "text/plain", value: text }] : []),
  ...(html ? [{ type: "text/html", value: html }] : []),
];

/** Other names arrive garbled. */
const ascii = (filename: string): string =>
  filename
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^\x20-\x7e]/gu, "_");

const unsubscribable = (mailing: Mailing): boolean =>
  mailing.recipients.some((recipient) =>
    Object.keys(headersOf(mailing, recipient)).some((name) => name.toLowerCase() === "list-unsubscribe"),
  );

/** Used-up credits come as 401, like a wrong key. */
const noCredits = (words: string): boolean => /maximum credits exceeded/i.test(words);

const verdict = (_: Answer, words: string): Verdict | undefined => (noCredits(words) ? "pace" : undefined);

function retryAfterSeconds({ headers }: Answer, words: string): number | undefined {
  if (noCredits(words)) return 3600;
  const reset = Number(headers.get("x-ratelimit-reset") ?? Number.NaN);
  return Number.isNaN(reset) ? undefined : secondsUntil(new Date(reset * 1000));
}
