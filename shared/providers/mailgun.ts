// Mailgun, v3 messages: https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/messages
import * as z from "zod";
import { mailbox } from "./addresses.ts";
import * as credentials from "./credentials.ts";
import { type Answer, exchange, headersOf, secondsUntil, type Verdict } from "./exchange.ts";
import { bccOf, filled, type Mailing, type Outcome, type Provider } from "./provider.ts";
import { alike, contentBytes, distinct, headerTemplate, holes, literals, particularBytes, particulars, template } from "./substitution.ts";

const Credentials = z.object({
  apiKey: credentials.token("API key of the account, or the domain's sending key"),
  // It becomes part of the path, so nothing else may pass.
  domain: z
    .string()
    .trim()
    .toLowerCase()
    .max(253, { abort: true })
    .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, "Must be a domain such as mg.example.com")
    .describe("Sending domain as Mailgun knows it, such as mg.example.com"),
  region: credentials.region(["us", "eu"], "Region of the domain, us or eu; absent: us"),
});

const origins = { us: "https://api.mailgun.net", eu: "https://api.eu.mailgun.net" };

export const mailgun: Provider<typeof Credentials> = {
  key: "mailgun",
  name: "Mailgun",
  credentials: Credentials,
  webhookProof: "signature",
  // 25 MB for all of a mail, base64 counted.
  maxAttachmentBytes: 18_000_000,
  tracking: { opens: true, clicks: true },
  idempotencySeconds: 0,
  batch: { max: 1000, takes },
  send({ mailing, credentials: { apiKey, domain, region = "us" } }) {
    const basic = Buffer.from(`api:${apiKey}`).toString("base64");
    return exchange(
      mailgun,
      mailing,
      {
        url: `${origins[region]}/v3/${domain}/messages`,
        headers: { authorization: `Basic ${basic}` },
        body: form(mailing, mailing.recipients.length > 1 ? batchFields(mailing) : singleFields(mailing)),
        secrets: [apiKey, basic],
      },
      {
        accepted,
        words: ({ json }) => Result.safeParse(json).data?.message,
        verdict,
        retryAfterSeconds,
      },
    );
  },
};

const Result = z.object({ id: z.string().optional(), message: z.string() });

/** Recipients are told apart by their addresses, and `%recipient...%` is replaced wherever it stands. There is one bcc for all of a call. */
function takes(mailing: Mailing): boolean {
  const texts = [...literals(mailing), ...mailing.recipients.flatMap(particulars)];
  const bytes = mailing.recipients.reduce((sum, recipient) => sum + particularBytes(recipient), contentBytes(mailing));
  return !mailing.bcc && distinct(mailing) && alike(mailing) && bytes <= 40_000_000 && !texts.some((text) => /%recipient/i.test(text));
}

type Fields = [name: string, value: string][];

function singleFields(mailing: Mailing): Fields {
  const recipient = mailing.recipients[0]!;
  return [
    ["to", mailbox(recipient.to)],
    ...part("bcc", bccOf(mailing, recipient)),
    ["subject", filled(mailing.subject, recipient)],
    ...part("text", mailing.text && filled(mailing.text, recipient)),
    ...part("html", mailing.html && filled(mailing.html, recipient)),
    ...headerFields(headersOf(mailing, recipient)),
    // It goes out with the mail, for the recipient to see: nothing but the id.
    ["v:sendId", String(recipient.sendId)],
  ];
}

function batchFields(mailing: Mailing): Fields {
  const hole = (n: number): string => `%recipient.v${n}%`;
  return [
    ...mailing.recipients.map(({ to }): Fields[number] => ["to", mailbox(to)]),
    ["recipient-variables", JSON.stringify(variables(mailing))],
    ["subject", template(mailing.subject, hole)],
    ...part("text", mailing.text && template(mailing.text, hole)),
    ...part("html", mailing.html && template(mailing.html, hole)),
    ...headerFields(headerTemplate(mailing, (n) => `%recipient.h${n}%`)),
    ["v:sendId", "%recipient.sendId%"],
  ];
}

function variables(mailing: Mailing): Record<string, Record<string, string>> {
  const used = holes(mailing);
  return Object.fromEntries(
    mailing.recipients.map(({ sendId, to, values, headers }) => [
      to.email,
      {
        sendId: String(sendId),
        ...Object.fromEntries(used.map((hole) => [`v${hole}`, values[hole] ?? ""])),
        ...Object.fromEntries(Object.values(headers).map((value, n) => [`h${n}`, value])),
      },
    ]),
  );
}

const headerFields = (headers: Record<string, string>): Fields => Object.entries(headers).map(([name, value]) => [`h:${name}`, value]);

const part = (name: string, value: string | undefined): Fields => (value ? [[name, value]] : []);

function form(mailing: Mailing, fields: Fields): FormData {
  const data = new FormData();
  for (const [name, value] of [["from", mailbox(mailing.from)] as const, ...fields, ...options(mailing)]) data.append(name, value);
  for (const { filename, type, content } of mailing.attachments)
    data.append("attachment", new Blob([Buffer.from(content, "base64")], { type }), filename);
  return data;
}

const options = ({ replyTo, tags, trackOpens, trackClicks }: Mailing): Fields => {
  const state = (on: boolean): string => (on ? "yes" : "no");
  return [
    ...part("h:Reply-To", replyTo),
    // ASCII, three to a mail.
    ...tags.slice(0, 3).map((tag): Fields[number] => ["o:tag", tag.replace(/[^\x20-\x7e]/gu, "_").slice(0, 128)]),
    ...part("o:tracking-opens", trackOpens === undefined ? undefined : state(trackOpens)),
    ...part("o:tracking-clicks", trackClicks === undefined ? undefined : state(trackClicks)),
  ];
};

/** One id for all recipients of a call. Events name it without its angle brackets. */
function accepted({ status, json }: Answer): Outcome | undefined {
  const result = Result.safeParse(json).data;
  if (status !== 200 || !result?.id) return undefined;
  return { status: "accepted", messageId: result.id.replace(/^<|>$/g, "") };
}

/** A wrong path is greeted with 200, a wrong region looks like a domain that is not found. */
function verdict({ status }: Answer, words: string): Verdict | undefined {
  if (status === 403 && /batch/i.test(words)) return "refused";
  if (status === 400 && /is not allowed to send/i.test(words)) return "config";
  return status === 404 || (status === 200 && /^Mailgun/i.test(words)) ? "config" : undefined;
}

/** The limit's end stands in the message: "... limit exceeded, try again after Mon, 20 Dec 2021 20:33:21 UTC". */
function retryAfterSeconds(_: Answer, words: string): number | undefined {
  const end = /try again after (.+?)\.?$/i.exec(words)?.[1];
  const seconds = end === undefined ? Number.NaN : secondsUntil(new Date(end));
  return Number.isNaN(seconds) ? undefined : seconds;
}
