// SparkPost, Transmissions: https://developers.sparkpost.com/api/transmissions/
import * as z from "zod";
import * as credentials from "./credentials.ts";
import { type Answer, exchange, headersOf, judged, quoted, type Verdict } from "./exchange.ts";
import { bccOf, filled, type Mailbox, type Mailing, type Outcome, type Provider, type Recipient } from "./provider.ts";
import { alike, contentBytes, headerTemplate, holes, literals, particularBytes, template } from "./substitution.ts";

const Credentials = z.object({
  apiKey: credentials.token("API key that may write transmissions"),
  region: credentials.region(["us", "eu"], "Region of the account, us or eu; absent: us"),
});

const origins = { us: "https://api.sparkpost.com", eu: "https://api.eu.sparkpost.com" };

export const sparkpost: Provider<typeof Credentials> = {
  key: "sparkpost",
  name: "SparkPost",
  credentials: Credentials,
  webhookProof: "signature",
  // 20 MB for all content, base64 counted.
  maxAttachmentBytes: 14_000_000,
  tracking: { opens: true, clicks: true },
  idempotencySeconds: 0,
  batch: { max: 1000, takes },
  send: ({ mailing, credentials: { apiKey, region = "us" } }) =>
    exchange(
      sparkpost,
      mailing,
      {
        url: `${origins[region]}/api/v1/transmissions`,
        headers: { authorization: apiKey },
        body: { ...common(mailing), ...(mailing.recipients.length > 1 ? batchBody(mailing) : singleBody(mailing)) },
        secrets: [apiKey],
      },
      {
        accepted: (answer) => accepted(answer, mailing, apiKey),
        words: ({ json }) => said(Problem.safeParse(json).data?.errors),
        verdict,
        retryAfterSeconds: ({ status }) => (status === 420 ? 3600 : undefined),
      },
    ),
};

const Fault = z.object({ message: z.string(), description: z.string().optional(), code: z.string().optional() });
const Problem = z.object({ errors: z.array(Fault) });
const Result = z.object({
  results: z.object({
    id: z.string(),
    total_accepted_recipients: z.number(),
    total_rejected_recipients: z.number(),
    rcpt_to_errors: z.array(Fault).optional(),
  }),
});

/** A literal `{{` would be evaluated; one brace beside a placeholder would make it another one. */
function takes(mailing: Mailing): boolean {
  const texts = literals(mailing);
  const sizes = mailing.recipients.map((recipient) => particularBytes(recipient));
  return (
    alike(mailing) &&
    sizes.every((size) => size <= 80_000) &&
    sizes.reduce((sum, size) => sum + size * (mailing.bcc ? 2 : 1), contentBytes(mailing)) <= 19_000_000 &&
    !texts.some((text) => text.includes("{{") || text.startsWith("}") || text.endsWith("{"))
  );
}

/** Without substitutions html and text go out as they are; headers, subject and names are evaluated all the same. */
function singleBody(mailing: Mailing): object {
  const recipient = mailing.recipients[0]!;
  const subs: Record<string, string> = {};
  const still = (text: string): string => {
    if (!text.includes("{{")) return text;
    const name = `s${Object.keys(subs).length}`;
    subs[name] = text;
    return `{{{${name}}}}`;
  };
  const headers = Object.entries(headersOf(mailing, recipient)).map(([name, value]) => [name, still(value)]);
  const content = {
    from: { ...mailing.from, ...(mailing.from.name && { name: still(mailing.from.name) }) },
    subject: still(filled(mailing.subject, recipient)),
    headers: Object.fromEntries(headers),
    ...(mailing.text && { text: filled(mailing.text, recipient) }),
    ...(mailing.html && { html: filled(mailing.html, recipient) }),
  };
  return {
    options: options(mailing, false),
    recipients: addressees(recipient, mailing, Object.keys(subs).length > 0 ? { substitution_data: subs } : {}),
    content: { ...content, ...attached(mailing) },
  };
}

/** Three braces: neither HTML nor URL encoding. Values are not evaluated again. */
function batchBody(mailing: Mailing): object {
  const protocols = new Map(holes(mailing).map((hole) => [hole, protocol(mailing, hole)]));
  const hole = (n: number): string => `${protocols.get(n)}{{{v${n}}}}`;
  const subs = ({ values, headers }: Recipient): Record<string, string> => ({
    ...Object.fromEntries([...protocols].map(([n, { length }]) => [`v${n}`, (values[n] ?? "").slice(length)])),
    ...Object.fromEntries(Object.values(headers).map((value, n) => [`h${n}`, value])),
  });
  const content = {
    from: mailing.from,
    subject: template(mailing.subject, hole),
    headers: headerTemplate(mailing, (n) => `{{{h${n}}}}`),
    ...(mailing.text && { text: template(mailing.text, hole) }),
    ...(mailing.html && { html: template(mailing.html, hole) }),
  };
  return {
    options: options(mailing, true),
    recipients: mailing.recipients.flatMap((recipient) => addressees(recipient, mailing, { substitution_data: subs(recipient) })),
    content: { ...content, ...attached(mailing) },
  };
}

/** A link whose protocol is hidden in a value is not seen as a link and not tracked; what all values begin with is said aloud. */
const protocol = ({ recipients }: Mailing, hole: number): string =>
  ["https://", "http://"].find((start) => recipients.every(({ values }) => values[hole]?.startsWith(start))) ?? "";

const common = ({ tags }: Mailing): object => (tags[0] ? { campaign_id: cut(tags[0], 64) } : {});

const options = ({ trackOpens, trackClicks }: Mailing, substituting: boolean): object => ({
  // Otherwise SparkPost replaces our List-Unsubscribe by its own.
  transactional: true,
  perform_substitutions: substituting,
  ...(trackOpens !== undefined && { open_tracking: trackOpens }),
  ...(trackClicks !== undefined && { click_tracking: trackClicks }),
});

/** Who gets a blind copy is one more recipient, for whom the mail says that it is to the first. */
function addressees(recipient: Recipient, mailing: Mailing, data: object): object[] {
  const [{ to, sendId }, { tags }, bcc] = [recipient, mailing, bccOf(mailing, recipient)];
  const addressed = (address: object) => ({
    address,
    metadata: { sendId: String(sendId) },
    ...(tags.length > 0 && { tags: tags.slice(0, 10) }),
    ...data,
  });
  const own = { email: to.email, ...(to.name && { name: to.name }) } satisfies Mailbox;
  return [addressed(own), ...(bcc ? [addressed({ email: bcc, header_to: to.email })] : [])];
}

const attached = ({ replyTo, attachments }: Mailing) => ({
  ...(replyTo && { reply_to: replyTo }),
  ...(attachments.length > 0 && {
    attachments: attachments.map(({ filename, type, content }) => ({ name: filename, type, data: content })),
  }),
});

/** Cut to so many bytes, without cutting a character. */
const cut = (text: string, bytes: number): string => new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });

/** It tells how many were rejected, but not who. */
function accepted({ status, json }: Answer, mailing: Mailing, secret: string): Outcome | undefined {
  const results = Result.safeParse(json).data?.results;
  if (status !== 200 || !results) return undefined;
  if (results.total_rejected_recipients === 0) return { status: "accepted", messageId: results.id };
  const error = quoted(said(results.rcpt_to_errors) ?? "SparkPost rejected the recipient", [secret]);
  if (results.total_accepted_recipients > 0) return judged("uncertain", error);
  return mailing.recipients.length > 1 ? { status: "held", why: "batch", error } : judged("refused", error);
}

const said = (faults: z.output<typeof Fault>[] | undefined): string | undefined =>
  faults?.map(({ message, description }) => (description ? `${message}: ${description}` : message)).join("; ");

const verdicts: Record<string, Verdict> = {
  "1100": "config", // plan or permission
  "2103": "config", // five sandbox mails in an account's life
  "7000": "config", // sending domain
  "7001": "config",
};

/** 420: an hourly, daily or monthly limit; nothing was sent. */
const verdict = ({ status, json }: Answer): Verdict | undefined =>
  verdicts[Problem.safeParse(json).data?.errors[0]?.code ?? ""] ?? (status === 420 ? "pace" : undefined);
