// Twilio SendGrid, v3 Mail Send: https://www.twilio.com/docs/sendgrid/api-reference/mail-send
import * as z from "zod";
import * as credentialFields from "./credential-fields.ts";
import { isOurs, searchMails } from "./look-up.ts";
import { encodedValue } from "./mailbox-format.ts";
import {
  contentBytes,
  mergeFieldsOf,
  recipientBytes,
  toProviderTemplate,
  unusedToken,
} from "./merge-fields.ts";
import {
  addresseesOf,
  fillMergeText,
  idsOf,
  type Mailbox,
  type Mailing,
  type ProviderAdapter,
  type Recipient,
} from "./provider-adapter.ts";
import {
  bareType,
  callProvider,
  type FailureKind,
  mergeHeaders,
  type ProviderResponse,
} from "./provider-http.ts";
import { traits } from "./traits.ts";

const Credentials = z.object({
  apiKey: credentialFields.secretField("API key with the permission Mail Send; begins with SG."),
  region: credentialFields.regionField(
    ["global", "eu"],
    "eu for a subuser pinned to the EU, else global",
  ),
});

const origins = { global: "https://api.sendgrid.com", eu: "https://api.eu.sendgrid.com" };

export const sendgrid: ProviderAdapter<typeof Credentials> = {
  key: "sendgrid",
  ...traits.sendgrid,
  credentials: Credentials,
  webhookProof: "signature",
  tracking: { opens: true, clicks: true },
  idempotencySeconds: 0,
  batch: { max: 1000, supports: supportsBatch },
  // Each key may read its own permissions.
  credentialRequest: ({ apiKey, region = "global" }) => ({
    url: `${origins[region]}/v3/scopes`,
    headers: { authorization: `Bearer ${apiKey}` },
  }),
  send: ({ mailing, credentials: { apiKey, region = "global" } }) =>
    callProvider(sendgrid, mailing, {
      url: `${origins[region]}/v3/mail/send`,
      headers: { authorization: `Bearer ${apiKey}` },
      body: mailing.recipients.length > 1 ? batchBody(mailing) : singleBody(mailing),
      secrets: [apiKey],
      // SendGrid responds with an empty body, and with 200 in sandbox mode. A 200 with a body comes
      // from a proxy.
      readOutcomes: ({ status, headers, text }) =>
        status === 202 || (status === 200 && !text.trim())
          ? { status: "accepted", messageId: headers.get("x-message-id") ?? undefined }
          : undefined,
      errorText: ({ json }) =>
        Problem.safeParse(json)
          .data?.errors.map(({ message }) => message)
          .join("; "),
      failureKind: failureKindOf,
      retryAfterSeconds: (_, errorText) => (noCredits(errorText) ? 3600 : undefined),
    }),
  // Email Activity: https://www.twilio.com/docs/sendgrid/api-reference/email-activity. It is an
  // add-on, has 6 requests per minute and documents no delay, so only a found mail counts.
  lookUp: {
    max: 1,
    find({ mails, since, credentials: { apiKey, region = "global" } }) {
      const { sendId } = mails[0]!;
      const query = new URLSearchParams({
        limit: "10",
        query: `unique_args['sendId']="${sendId}"`,
      });
      return searchMails({
        provider: sendgrid,
        mails,
        request: {
          url: `${origins[region]}/v3/messages?${query}`,
          headers: { authorization: `Bearer ${apiKey}` },
        },
        secrets: [apiKey],
        readFound({ json }) {
          const messages = Activity.safeParse(json).data?.messages;
          if (!messages) return undefined;
          // The query names our id, and the response does not repeat it.
          const found = messages
            .filter(({ to_email: to, last_event_time: at }) => isOurs({ to, at }, { mails, since }))
            .map(({ msg_id }) => ({ sendId: String(sendId), messageId: msg_id.split(".")[0] }));
          return { found, isComplete: found.length === messages.length };
        },
      });
    },
  },
};

const Activity = z.object({
  messages: z.array(
    z.object({
      msg_id: z.string(),
      to_email: z.string(),
      last_event_time: z.string().default(""),
    }),
  ),
});

const Problem = z.object({ errors: z.array(z.object({ message: z.string() })) });

/**
 * Substitutions of a recipient may have 10,000 bytes with their keys, and a call 1,000 addresses.
 */
function supportsBatch(mailing: Mailing): boolean {
  const sizes = mailing.recipients.map((recipient) => recipientBytes(recipient));
  const bytes = sizes.reduce((sum, size) => sum + size, contentBytes(mailing));
  const addresses = mailing.recipients.length * (mailing.bcc ? 2 : 1);
  return (
    addresses <= 1000 &&
    mergeFieldsOf(mailing).length <= 50 &&
    sizes.every((size) => size <= 8_000) &&
    bytes <= 25_000_000
  );
}

const singleBody = (mailing: Mailing): object => {
  const recipient = mailing.recipients[0]!;
  return {
    ...common(mailing),
    personalizations: [personalization(mailing, recipient)],
    subject: fillMergeText(mailing.subject, recipient),
    content: content(
      mailing.text && fillMergeText(mailing.text, recipient),
      mailing.html && fillMergeText(mailing.html, recipient),
    ),
  };
};

/**
 * SendGrid replaces substitutions one after the other, so a key must not occur in any text or
 * value.
 */
const batchBody = (mailing: Mailing): object => {
  const token = unusedToken(mailing);
  const key = (field: number): string => `-${token}.${field}-`;
  const keys = mergeFieldsOf(mailing).map((field) => [field, key(field)] as const);
  const substitutions = ({ values }: Recipient) =>
    Object.fromEntries(keys.map(([field, name]) => [name, values[field] ?? ""]));
  return {
    ...common(mailing),
    personalizations: mailing.recipients.map((recipient) => ({
      ...personalization(mailing, recipient),
      substitutions: substitutions(recipient),
    })),
    subject: toProviderTemplate(mailing.subject, key),
    content: content(
      mailing.text && toProviderTemplate(mailing.text, key),
      mailing.html && toProviderTemplate(mailing.html, key),
    ),
  };
};

const personalization = (
  mailing: Mailing,
  recipient: Recipient,
  { to, cc, bcc } = addresseesOf(mailing, recipient),
) => ({
  to: to.map(address),
  ...(cc.length && { cc: cc.map(address) }),
  ...(bcc.length && { bcc: bcc.map(address) }),
  headers: Object.fromEntries(
    Object.entries(mergeHeaders(mailing, recipient)).map(([name, value]) => [
      name,
      encodedValue(value),
    ]),
  ),
  custom_args: idsOf(mailing, recipient),
});

/** A request may have only one of the two fields. */
const replyToField = ([first, ...others]: string[] = []): object => {
  if (first === undefined) return {};
  if (!others.length) return { reply_to: { email: first } };
  return { reply_to_list: [first, ...others].map((email) => ({ email })) };
};

const common = (mailing: Mailing) => ({
  from: address(mailing.from),
  ...replyToField(mailing.replyTo),
  ...(mailing.attachments.length > 0 && {
    attachments: mailing.attachments.map(({ filename, type, content, contentId }) => ({
      content,
      filename: toAsciiName(filename),
      // SendGrid refuses parameters.
      type: bareType(type),
      disposition: contentId === undefined ? "attachment" : "inline",
      ...(contentId !== undefined && { content_id: contentId }),
    })),
  }),
  ...(mailing.tags.length > 0 && {
    categories: [...new Set(mailing.tags.map((tag) => tag.slice(0, 255)))].slice(0, 10),
  }),
  tracking_settings: {
    ...(mailing.trackOpens !== undefined && { open_tracking: { enable: mailing.trackOpens } }),
    ...(mailing.trackClicks !== undefined && {
      click_tracking: { enable: mailing.trackClicks, enable_text: false },
    }),
    // Subscription tracking would replace our List-Unsubscribe header and add a footer.
    ...(hasListUnsubscribe(mailing) && { subscription_tracking: { enable: false } }),
  },
});

const address = ({ email, name }: Mailbox) => ({ email, ...(name && { name }) });

/** SendGrid refuses HTML before text, and empty parts. */
const content = (text: string | undefined, html: string | undefined) => [
  ...(text ? [{ type: "text/plain", value: text }] : []),
  ...(html ? [{ type: "text/html", value: html }] : []),
];

/** Non-ASCII names arrive garbled. */
const toAsciiName = (filename: string): string =>
  filename
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^\x20-\x7e]/gu, "_");

const hasListUnsubscribe = (mailing: Mailing): boolean =>
  mailing.recipients.some((recipient) =>
    Object.keys(mergeHeaders(mailing, recipient)).some(
      (name) => name.toLowerCase() === "list-unsubscribe",
    ),
  );

/** SendGrid reports used-up credits with 401, like a wrong key. */
const noCredits = (errorText: string): boolean => /maximum credits exceeded/i.test(errorText);

const failureKindOf = (_: ProviderResponse, errorText: string): FailureKind | undefined =>
  noCredits(errorText) ? "pace" : undefined;
