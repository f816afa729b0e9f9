// SparkPost, Transmissions: https://developers.sparkpost.com/api/transmissions/
import * as z from "zod";
import * as credentialFields from "./credential-fields.ts";
import { SendIdMetadata, searchMails } from "./look-up.ts";
import {
  commonTexts,
  contentBytes,
  hasSameHeaderNames,
  headerTemplate,
  mergeFieldsOf,
  recipientBytes,
  toProviderTemplate,
} from "./merge-fields.ts";
import {
  type Attachment,
  addresseesOf,
  fillMergeText,
  type HandOverOutcome,
  idsOf,
  type Mailing,
  type ProviderAdapter,
  type Recipient,
  splitAttachments,
} from "./provider-adapter.ts";
import {
  callProvider,
  type FailureKind,
  mergeHeaders,
  outcomeOfFailure,
  type ProviderResponse,
  sanitizeError,
} from "./provider-http.ts";
import { traits } from "./traits.ts";

const Credentials = z.object({
  apiKey: credentialFields.secretField("API key that may write transmissions"),
  region: credentialFields.regionField(["us", "eu"], "Region of the account, us or eu; absent: us"),
});

const origins = { us: "https://api.sparkpost.com", eu: "https://api.eu.sparkpost.com" };

export const sparkpost: ProviderAdapter<typeof Credentials> = {
  key: "sparkpost",
  ...traits.sparkpost,
  credentials: Credentials,
  webhookProof: "signature",
  tracking: { opens: true, clicks: true },
  idempotencySeconds: 0,
  batch: { max: 1000, supports: supportsBatch },
  credentialRequest: ({ apiKey, region = "us" }) => ({
    url: `${origins[region]}/api/v1/account`,
    headers: { authorization: apiKey },
  }),
  send: ({ mailing, credentials: { apiKey, region = "us" } }) =>
    callProvider(sparkpost, mailing, {
      url: `${origins[region]}/api/v1/transmissions`,
      headers: { authorization: apiKey },
      body: {
        ...common(mailing),
        ...(mailing.recipients.length > 1 ? batchBody(mailing) : singleBody(mailing)),
      },
      secrets: [apiKey],
      readOutcomes: (response) => readOutcomes(response, mailing, apiKey),
      errorText: ({ json }) => errorText(Problem.safeParse(json).data?.errors),
      failureKind: failureKindOf,
      retryAfterSeconds: ({ status }) => (status === 420 ? 3600 : undefined),
    }),
  // An accepted mail has an injection event, or one of the others if it could not be generated:
  // https://support.sparkpost.com/docs/faq/messages-attempted
  lookUp: {
    // A URL may have 4,096 characters, and an address 254.
    max: 10,
    // Events are kept for 10 days: https://developers.sparkpost.com/api/events/. The API before it
    // documents that they are "generally available within 1 minute". Five minutes more, and the
    // second look-up an hour later, are for delays.
    missing: { afterSeconds: 360, withinSeconds: 9 * 24 * 3600 },
    find({ mails, since, credentials: { apiKey, region = "us" } }) {
      const query = new URLSearchParams({
        events: "injection,generation_failure,generation_rejection,policy_rejection",
        recipients: mails.map(({ to }) => to.toLowerCase()).join(","),
        // Without `to`, the search ends one minute ago by the clock of SparkPost.
        from: since.toISOString(),
        per_page: "500",
      });
      return searchMails({
        provider: sparkpost,
        mails,
        request: {
          url: `${origins[region]}/api/v1/events/message?${query}`,
          headers: { authorization: apiKey },
        },
        secrets: [apiKey],
        readFound({ json }) {
          const page = EventPage.safeParse(json).data;
          if (!page) return undefined;
          const found = page.results.map(({ type, rcpt_meta, transmission_id, reason }) => ({
            sendId: rcpt_meta.sendId,
            messageId: transmission_id,
            refusal: type === "injection" ? undefined : `${type}: ${reason ?? ""}`,
          }));
          return { found, isComplete: page.results.length < 500 && page.links?.next === undefined };
        },
      });
    },
  },
};

const EventPage = z.object({
  results: z.array(
    z.object({
      type: z.string(),
      rcpt_meta: SendIdMetadata,
      transmission_id: z.string().optional(),
      reason: z.string().optional(),
    }),
  ),
  links: z.object({ next: z.string().optional() }).optional(),
});

const Fault = z.object({
  message: z.string(),
  description: z.string().optional(),
  code: z.string().optional(),
});
const Problem = z.object({ errors: z.array(Fault) });
const Result = z.object({
  results: z.object({
    id: z.string(),
    total_accepted_recipients: z.number(),
    total_rejected_recipients: z.number(),
    rcpt_to_errors: z.array(Fault).optional(),
  }),
});

/** SparkPost would evaluate a literal `{{`, and a brace next to a placeholder would change it. */
function supportsBatch(mailing: Mailing): boolean {
  const texts = commonTexts(mailing);
  const sizes = mailing.recipients.map((recipient) => recipientBytes(recipient));
  return (
    hasSameHeaderNames(mailing) &&
    sizes.every((size) => size <= 80_000) &&
    sizes.reduce((sum, size) => sum + size * (mailing.bcc ? 2 : 1), contentBytes(mailing)) <=
      19_000_000 &&
    !texts.some((text) => text.includes("{{") || text.startsWith("}") || text.endsWith("{"))
  );
}

/**
 * Without substitutions HTML and text are sent unchanged; headers, subject and names are still
 * evaluated.
 */
function singleBody(mailing: Mailing): object {
  const recipient = mailing.recipients[0]!;
  const subs: Record<string, string> = {};
  const asSubstitution = (text: string): string => {
    if (!text.includes("{{")) return text;
    const name = `s${Object.keys(subs).length}`;
    subs[name] = text;
    return `{{{${name}}}}`;
  };
  const headers = Object.entries(mergeHeaders(mailing, recipient)).map(([name, value]) => [
    name,
    asSubstitution(value),
  ]);
  const content = {
    from: {
      ...mailing.from,
      ...(mailing.from.name && { name: asSubstitution(mailing.from.name) }),
    },
    subject: asSubstitution(fillMergeText(mailing.subject, recipient)),
    headers: { ...Object.fromEntries(headers), ...ccHeader(mailing) },
    ...(mailing.text && { text: fillMergeText(mailing.text, recipient) }),
    ...(mailing.html && { html: fillMergeText(mailing.html, recipient) }),
  };
  return {
    options: options(mailing, false),
    recipients: recipientEntries(
      recipient,
      mailing,
      Object.keys(subs).length > 0 ? { substitution_data: subs } : {},
    ),
    content: { ...content, ...replyToAndAttachments(mailing) },
  };
}

/** Three braces prevent HTML and URL encoding. SparkPost does not evaluate values again. */
function batchBody(mailing: Mailing): object {
  const protocols = new Map(
    mergeFieldsOf(mailing).map((placeholder) => [
      placeholder,
      commonProtocol(mailing, placeholder),
    ]),
  );
  const placeholderOf = (n: number): string => `${protocols.get(n)}{{{v${n}}}}`;
  const subs = ({ values, headers }: Recipient): Record<string, string> => ({
    ...Object.fromEntries(
      [...protocols].map(([n, { length }]) => [`v${n}`, (values[n] ?? "").slice(length)]),
    ),
    ...Object.fromEntries(Object.values(headers).map((value, n) => [`h${n}`, value])),
  });
  const content = {
    from: mailing.from,
    subject: toProviderTemplate(mailing.subject, placeholderOf),
    headers: headerTemplate(mailing, (n) => `{{{h${n}}}}`),
    ...(mailing.text && { text: toProviderTemplate(mailing.text, placeholderOf) }),
    ...(mailing.html && { html: toProviderTemplate(mailing.html, placeholderOf) }),
  };
  return {
    options: options(mailing, true),
    recipients: mailing.recipients.flatMap((recipient) =>
      recipientEntries(recipient, mailing, { substitution_data: subs(recipient) }),
    ),
    content: { ...content, ...replyToAndAttachments(mailing) },
  };
}

/**
 * The common protocol of all values of a field. SparkPost does not track a link whose protocol is
 * inside a value, so the protocol goes into the template.
 */
const commonProtocol = ({ recipients }: Mailing, placeholder: number): string =>
  ["https://", "http://"].find((start) =>
    recipients.every(({ values }) => values[placeholder]?.startsWith(start)),
  ) ?? "";

const common = ({ tags }: Mailing): object =>
  tags[0] ? { campaign_id: truncateBytes(tags[0], 64) } : {};

const options = ({ trackOpens, trackClicks }: Mailing, substituting: boolean): object => ({
  // By default SparkPost replaces our List-Unsubscribe header.
  transactional: true,
  perform_substitutions: substituting,
  ...(trackOpens !== undefined && { open_tracking: trackOpens }),
  ...(trackClicks !== undefined && { click_tracking: trackClicks }),
});

/** Copies are further recipients. `header_to` is what their mails show as the To header. */
function recipientEntries(recipient: Recipient, mailing: Mailing, data: object): object[] {
  const { tags } = mailing;
  const { to, cc, bcc } = addresseesOf(mailing, recipient);
  const entryFor = (address: object) => ({
    address,
    metadata: idsOf(mailing, recipient),
    ...(tags.length > 0 && { tags: tags.slice(0, 10) }),
    ...data,
  });
  const shown = to.map(({ email }) => email).join(", ");
  const [own, ...copies] = [...to, ...cc, ...bcc];
  const name = own!.name && { name: own!.name };
  const isAlone = to.length === 1;
  return [
    entryFor({ email: own!.email, ...(isAlone ? name : { header_to: shown }) }),
    ...copies.map(({ email }) => entryFor({ email, header_to: shown })),
  ];
}

/** SparkPost shows no CC header by itself. */
const ccHeader = ({ copies }: Mailing): Record<string, string> =>
  copies?.cc.length ? { CC: copies.cc.map(({ email }) => email).join(", ") } : {};

/** The name of an image is its content id. */
function replyToAndAttachments(mailing: Mailing): object {
  const { replyTo } = mailing;
  const { files, images } = splitAttachments(mailing);
  const toField = (name: string, { type, content }: Attachment) => ({ name, type, data: content });
  return {
    ...(replyTo && { reply_to: replyTo[0] }),
    ...(files.length > 0 && { attachments: files.map((file) => toField(file.filename, file)) }),
    ...(images.length > 0 && {
      inline_images: images.map((image) => toField(image.contentId, image)),
    }),
  };
}

/** Truncates to a number of bytes, never within a character. */
const truncateBytes = (text: string, bytes: number): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });

/** The response tells how many recipients were rejected, but not which ones. */
function readOutcomes(
  { status, json }: ProviderResponse,
  mailing: Mailing,
  secret: string,
): HandOverOutcome | undefined {
  const results = Result.safeParse(json).data?.results;
  if (status !== 200 || !results) return undefined;
  if (results.total_rejected_recipients === 0) return { status: "accepted", messageId: results.id };
  const error = sanitizeError(
    errorText(results.rcpt_to_errors) ?? "SparkPost rejected the recipient",
    [secret],
  );
  if (results.total_accepted_recipients > 0) return outcomeOfFailure("uncertain", error);
  return mailing.recipients.length > 1
    ? { status: "held", why: "batch", error }
    : outcomeOfFailure("refused", error);
}

const errorText = (faults: z.output<typeof Fault>[] | undefined): string | undefined =>
  faults
    ?.map(({ message, description }) => (description ? `${message}: ${description}` : message))
    .join("; ");

const failureByCode: Record<string, FailureKind> = {
  "1100": "config", // plan or permission
  "2103": "config", // five sandbox mails in an account's life
  "7000": "config", // sending domain
  "7001": "config",
};

/** 420: an hourly, daily or monthly limit. Nothing was sent. */
const failureKindOf = ({ status, json }: ProviderResponse): FailureKind | undefined =>
  failureByCode[Problem.safeParse(json).data?.errors[0]?.code ?? ""] ??
  (status === 420 ? "pace" : undefined);
