// Mailgun, v3 messages:
// https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/messages
import * as z from "zod";
import { epochSeconds, secondsUntil } from "../clock.ts";
import * as credentialFields from "./credential-fields.ts";
import { SendIdMetadata, searchMails } from "./look-up.ts";
import { formatMailbox } from "./mailbox-format.ts";
import {
  commonTexts,
  hasDistinctAddresses,
  hasSameHeaderNames,
  headerTemplate,
  mergeFieldsOf,
  recipientTexts,
  templateBatchBytes,
  toProviderTemplate,
} from "./merge-fields.ts";
import {
  type Attachment,
  addresseesOf,
  fillMergeText,
  type HandOverOutcome,
  idsOf,
  type Mailbox,
  type Mailing,
  type ProviderAdapter,
  splitAttachments,
} from "./provider-adapter.ts";
import {
  callProvider,
  type FailureKind,
  mergeHeaders,
  type ProviderResponse,
} from "./provider-http.ts";
import { traits } from "./traits.ts";

const Credentials = z.object({
  apiKey: credentialFields.secretField("API key of the account, or the domain's sending key"),
  // Part of the URL path, so other characters are rejected.
  domain: z
    .string()
    .trim()
    .toLowerCase()
    .max(253, { abort: true })
    .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, "must be a domain such as mg.example.com")
    .describe("Sending domain as Mailgun knows it, such as mg.example.com"),
  region: credentialFields.regionField(["us", "eu"], "Region of the domain, us or eu; absent: us"),
});

const origins = { us: "https://api.mailgun.net", eu: "https://api.eu.mailgun.net" };

export const mailgun: ProviderAdapter<typeof Credentials> = {
  key: "mailgun",
  ...traits.mailgun,
  credentials: Credentials,
  webhookProof: "signature",
  tracking: { opens: true, clicks: true },
  idempotencySeconds: 0,
  batch: { max: 1000, supports: supportsBatch },
  // A message without content is refused. A sending key permits no other request.
  credentialRequest: ({ apiKey, domain, region = "us" }) => ({
    url: `${origins[region]}/v3/${domain}/messages`,
    headers: { authorization: `Basic ${Buffer.from(`api:${apiKey}`).toString("base64")}` },
    body: {},
    isRefusal: ({ status }) => status === 401 || status === 404,
  }),
  send({ mailing, credentials: { apiKey, domain, region = "us" } }) {
    const basic = Buffer.from(`api:${apiKey}`).toString("base64");
    return callProvider(mailgun, mailing, {
      url: `${origins[region]}/v3/${domain}/messages`,
      headers: { authorization: `Basic ${basic}` },
      body: form(
        mailing,
        mailing.recipients.length > 1 ? batchFields(mailing) : singleFields(mailing),
      ),
      secrets: [apiKey, basic],
      readOutcomes,
      errorText: ({ json }) => Result.safeParse(json).data?.message,
      failureKind: failureKindOf,
      retryAfterSeconds,
    });
  },
  // https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/events
  lookUp: {
    max: 10,
    // "Check the timestamp of the last event on the result page. If it is older than the threshold
    // age (e.g. half an hour) … the result page is trustworthy":
    // https://documentation.mailgun.com/docs/mailgun/user-manual/events/event-polling.
    // The API keeps events for at least 3 days; free plans show one day.
    missing: { afterSeconds: 35 * 60, withinSeconds: 20 * 3600 },
    find({ mails, since, credentials: { apiKey, domain, region = "us" } }) {
      const basic = Buffer.from(`api:${apiKey}`).toString("base64");
      const eventsUrl = `${origins[region]}/v3/${domain}/events`;
      // Whether the filter regards case is not documented.
      const addresses = new Set(mails.flatMap(({ to }) => [to, to.toLowerCase()]));
      const query = new URLSearchParams({
        event: "accepted OR rejected OR delivered OR failed",
        recipient: [...addresses].join(" OR "),
        begin: String(epochSeconds(since)),
        ascending: "yes",
        limit: "300",
      });
      return searchMails({
        provider: mailgun,
        mails,
        request: {
          url: `${eventsUrl}?${query}`,
          headers: { authorization: `Basic ${basic}` },
        },
        secrets: [apiKey, basic],
        readFound({ json }) {
          const page = EventPage.safeParse(json).data;
          if (!page) return undefined;
          const found = page.items.map(({ message, reject, ...event }) => ({
            sendId: event["user-variables"].sendId,
            messageId: message?.headers["message-id"]?.replace(/^<|>$/g, ""),
            refusal: event.event === "rejected" ? `Rejected: ${reject?.reason ?? ""}` : undefined,
          }));
          // A short page may have a successor. Only an empty one is known to be the last.
          const isComplete = page.items.length === 0;
          const token = page.paging?.next?.split("/events/")[1];
          return {
            found,
            isComplete,
            nextUrl: isComplete || !token ? undefined : `${eventsUrl}/${token}`,
          };
        },
      });
    },
  },
};

const EventPage = z.object({
  items: z.array(
    z.object({
      event: z.string(),
      "user-variables": SendIdMetadata,
      message: z.object({ headers: z.object({ "message-id": z.string().optional() }) }).optional(),
      reject: z.object({ reason: z.string().optional() }).optional(),
    }),
  ),
  paging: z.object({ next: z.string().optional() }).optional(),
});

const Result = z.object({ id: z.string().optional(), message: z.string() });

/**
 * Mailgun identifies recipients by their addresses, replaces `%recipient...%` anywhere, and has one
 * bcc for the whole call.
 */
function supportsBatch(mailing: Mailing): boolean {
  const texts = [...commonTexts(mailing), ...mailing.recipients.flatMap(recipientTexts)];
  return (
    !mailing.bcc &&
    hasDistinctAddresses(mailing) &&
    hasSameHeaderNames(mailing) &&
    templateBatchBytes(mailing) <= 40_000_000 &&
    !texts.some((text) => /%recipient/i.test(text))
  );
}

type FormFields = [name: string, value: string][];

function singleFields(mailing: Mailing): FormFields {
  const recipient = mailing.recipients[0]!;
  const addressees = Object.entries<Mailbox[]>({ ...addresseesOf(mailing, recipient) });
  return [
    ...addressees.flatMap(([field, mailboxes]) =>
      mailboxes.map((mailbox): FormFields[number] => [field, formatMailbox(mailbox)]),
    ),
    ["subject", fillMergeText(mailing.subject, recipient)],
    ...optionalField("text", mailing.text && fillMergeText(mailing.text, recipient)),
    ...optionalField("html", mailing.html && fillMergeText(mailing.html, recipient)),
    ...headerFields(mergeHeaders(mailing, recipient)),
    // The recipient can see this header in the mail, so it contains only the ids.
    ...idFields(idsOf(mailing, recipient)),
  ];
}

function batchFields(mailing: Mailing): FormFields {
  const placeholderOf = (n: number): string => `%recipient.v${n}%`;
  return [
    ...mailing.recipients.map(({ to }): FormFields[number] => ["to", formatMailbox(to)]),
    ["recipient-variables", JSON.stringify(recipientVariables(mailing))],
    ["subject", toProviderTemplate(mailing.subject, placeholderOf)],
    ...optionalField("text", mailing.text && toProviderTemplate(mailing.text, placeholderOf)),
    ...optionalField("html", mailing.html && toProviderTemplate(mailing.html, placeholderOf)),
    ...headerFields(headerTemplate(mailing, (n) => `%recipient.h${n}%`)),
    ...idFields(idsOf(mailing, { sendId: "%recipient.sendId%" })),
  ];
}

function recipientVariables(mailing: Mailing): Record<string, Record<string, string>> {
  const used = mergeFieldsOf(mailing);
  return Object.fromEntries(
    mailing.recipients.map(({ sendId, to, values, headers }) => [
      to.email,
      {
        sendId: String(sendId),
        ...Object.fromEntries(
          used.map((placeholder) => [`v${placeholder}`, values[placeholder] ?? ""]),
        ),
        ...Object.fromEntries(Object.values(headers).map((value, n) => [`h${n}`, value])),
      },
    ]),
  );
}

const idFields = (ids: Record<string, string>): FormFields =>
  Object.entries(ids).map(([name, value]) => [`v:${name}`, value]);

const headerFields = (headers: Record<string, string>): FormFields =>
  Object.entries(headers).map(([name, value]) => [`h:${name}`, value]);

const optionalField = (name: string, value: string | undefined): FormFields =>
  value ? [[name, value]] : [];

const toBlob = ({ type, content }: Attachment): Blob =>
  new Blob([Buffer.from(content, "base64")], { type });

function form(mailing: Mailing, fields: FormFields): FormData {
  const data = new FormData();
  for (const [name, value] of [
    ["from", formatMailbox(mailing.from)] as const,
    ...fields,
    ...options(mailing),
  ])
    data.append(name, value);
  const { files, images } = splitAttachments(mailing);
  for (const file of files) data.append("attachment", toBlob(file), file.filename);
  // Mailgun takes the file name as the content id.
  for (const image of images) data.append("inline", toBlob(image), image.contentId);
  return data;
}

const options = ({ replyTo, tags, trackOpens, trackClicks }: Mailing): FormFields => {
  const state = (on: boolean): string => (on ? "yes" : "no");
  return [
    ...optionalField("h:Reply-To", replyTo?.join(", ")),
    // At most three tags per mail, in ASCII.
    ...tags
      .slice(0, 3)
      .map((tag): FormFields[number] => [
        "o:tag",
        tag.replace(/[^\x20-\x7e]/gu, "_").slice(0, 128),
      ]),
    ...optionalField("o:tracking-opens", trackOpens === undefined ? undefined : state(trackOpens)),
    ...optionalField(
      "o:tracking-clicks",
      trackClicks === undefined ? undefined : state(trackClicks),
    ),
  ];
};

/** One id for all recipients of a call. Events contain it without angle brackets. */
function readOutcomes({ status, json }: ProviderResponse): HandOverOutcome | undefined {
  const result = Result.safeParse(json).data;
  if (status !== 200 || !result?.id) return undefined;
  return { status: "accepted", messageId: result.id.replace(/^<|>$/g, "") };
}

/** A wrong path gets 200 with a greeting. A wrong region looks like an unknown domain. */
function failureKindOf({ status }: ProviderResponse, errorText: string): FailureKind | undefined {
  if (status === 403 && /batch/i.test(errorText)) return "refused";
  if (status === 400 && /is not allowed to send/i.test(errorText)) return "config";
  return status === 404 || (status === 200 && /^Mailgun Magnificent/i.test(errorText))
    ? "config"
    : undefined;
}

/**
 * The message contains the end of the limit: "... limit exceeded, try again after Mon, 20 Dec 2021
 * 20:33:21 UTC".
 */
function retryAfterSeconds(_: ProviderResponse, errorText: string): number | undefined {
  const end = /try again after (.+?)\.?$/i.exec(errorText)?.[1];
  const seconds = end === undefined ? Number.NaN : secondsUntil(new Date(end));
  return Number.isNaN(seconds) ? undefined : seconds;
}
