// Mandrill (Mailchimp Transactional): https://mailchimp.com/developer/transactional/api/messages/
import * as z from "zod";
import * as credentialFields from "./credential-fields.ts";
import { SendIdMetadata, searchMails } from "./look-up.ts";
import {
  commonTexts,
  hasDistinctAddresses,
  mergeFieldsOf,
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
  type MergeText,
  type ProviderAdapter,
  type Recipient,
  splitAttachments,
} from "./provider-adapter.ts";
import {
  bareType,
  callProvider,
  type FailureKind,
  mergeHeaders,
  outcomeOfFailure,
  type ProviderResponse,
  sanitizeError,
} from "./provider-http.ts";
import { traits } from "./traits.ts";

const Credentials = z.object({
  apiKey: credentialFields.secretField(
    "API key; begins with md-. A test key accepts mail and delivers none",
  ),
});

export const mandrill: ProviderAdapter<typeof Credentials> = {
  key: "mandrill",
  ...traits.mandrill,
  credentials: Credentials,
  webhookProof: "signature",
  tracking: { opens: true, clicks: true },
  idempotencySeconds: 0,
  batch: { max: 100, supports: supportsBatch },
  credentialRequest: ({ apiKey }) => ({
    url: "https://mandrillapp.com/api/1.0/users/ping2",
    headers: {},
    body: { key: apiKey },
    isRefusal: ({ json }) => Problem.safeParse(json).data?.name === "Invalid_Key",
  }),
  send: ({ mailing, credentials: { apiKey } }) =>
    callProvider(mandrill, mailing, {
      url: "https://mandrillapp.com/api/1.0/messages/send",
      headers: {},
      body: {
        key: apiKey,
        message: mailing.recipients.length > 1 ? batchMessage(mailing) : singleMessage(mailing),
        async: false,
      },
      secrets: [apiKey],
      readOutcomes: (response) => readOutcomes(response, mailing, apiKey),
      errorText: ({ json }) => Problem.safeParse(json).data?.message,
      failureKind: ({ json }) => failureKindOf(Problem.safeParse(json).data?.name),
    }),
  // messages/search: https://mailchimp.com/developer/transactional/api/messages/. It documents no
  // delay, shows metadata only of fields that the account lists, and permits 20 requests per
  // minute, so only a found mail counts.
  lookUp: {
    max: 1,
    find: ({ mails, since, credentials: { apiKey } }) =>
      searchMails({
        provider: mandrill,
        mails,
        request: {
          url: "https://mandrillapp.com/api/1.0/messages/search",
          headers: {},
          body: {
            key: apiKey,
            query: `email:${mails[0]!.to}`,
            date_from: since.toISOString().slice(0, "2026-12-01".length),
            limit: 1000,
          },
        },
        secrets: [apiKey],
        readFound({ json }) {
          const messages = z.array(SearchedMessage).safeParse(json).data;
          if (!messages) return undefined;
          const found = messages.map(({ _id, metadata, state }) => ({
            sendId: metadata.sendId,
            messageId: _id,
            refusal: state === "rejected" ? "Mandrill rejected the mail" : undefined,
          }));
          return { found, isComplete: messages.length < 1000 };
        },
      }),
  },
};

const SearchedMessage = z.object({
  _id: z.string(),
  metadata: SendIdMetadata,
  state: z.string().optional(),
});

const Problem = z.object({
  status: z.literal("error"),
  name: z.string(),
  message: z.string().default(""),
});
const Result = z.object({
  email: z.string(),
  status: z.string(),
  _id: z.string().optional(),
  reject_reason: z.string().nullish(),
});
type Result = z.output<typeof Result>;

/**
 * Headers and blind copies are common to all recipients, and recipients are identified by address.
 * Mandrill evaluates all merge tags, so neither the texts nor the rendered mails may contain one.
 */
function supportsBatch(mailing: Mailing): boolean {
  const { recipients, subject, html, text } = mailing;
  const texts: MergeText[] = [subject, html ?? [], text ?? []];
  const renderedTexts = (recipient: Recipient) => [
    recipient.to.name ?? "",
    ...texts.map((part) => fillMergeText(part, recipient)),
  ];
  const hasNoMergeTags = (texts: string[]) => !texts.some((text) => text.includes("*|"));
  return (
    !mailing.bcc &&
    hasDistinctAddresses(mailing) &&
    recipients.every(({ headers }) => Object.keys(headers).length === 0) &&
    templateBatchBytes(mailing) <= 20_000_000 &&
    hasNoMergeTags(commonTexts(mailing)) &&
    recipients.every((recipient) => hasNoMergeTags(renderedTexts(recipient)))
  );
}

const singleMessage = (mailing: Mailing): object => {
  const recipient = mailing.recipients[0]!;
  return {
    ...common(mailing, recipient),
    ...content(mailing, (mergeText) => fillMergeText(mergeText, recipient)),
    merge: false,
    ...copyFields(mailing, recipient),
  };
};

/** Shows all addressees but the blind ones in each copy, and adds the send id to its events. */
function copyFields(mailing: Mailing, recipient: Recipient): object {
  const typed = Object.entries<Mailbox[]>({ ...addresseesOf(mailing, recipient) }).flatMap(
    ([type, mailboxes]) => mailboxes.map((mailbox) => toAddress(mailbox, type)),
  );
  if (typed.length === 1) return {};
  const values = idsOf(mailing, recipient);
  return {
    to: typed,
    preserve_recipients: true,
    recipient_metadata: typed.map(({ email }) => ({ rcpt: email, values })),
  };
}

const toAddress = ({ email, name }: Mailbox, type: string) => ({
  email,
  ...(name && { name }),
  type,
});

const batchMessage = (mailing: Mailing): object => ({
  ...common(mailing, { headers: {} }),
  ...content(mailing, (mergeText) => toProviderTemplate(mergeText, (field) => `*|V${field}|*`)),
  merge: true,
  merge_language: "mailchimp",
  merge_vars: mailing.recipients.map(({ to, values }) => ({
    rcpt: to.email,
    vars: mergeFieldsOf(mailing).map((field) => ({
      name: `V${field}`,
      content: values[field] ?? "",
    })),
  })),
});

const content = ({ subject, html, text }: Mailing, render: (mergeText: MergeText) => string) => ({
  subject: render(subject),
  ...(html && { html: render(html) }),
  ...(text && { text: render(text) }),
});

const common = (mailing: Mailing, { headers }: Pick<Recipient, "headers">) => ({
  from_email: mailing.from.email,
  ...(mailing.from.name && { from_name: mailing.from.name }),
  to: mailing.recipients.map(({ to }) => toAddress(to, "to")),
  headers: mergeHeaders(mailing, {
    headers: { ...headers, ...(mailing.replyTo && { "Reply-To": mailing.replyTo.join(", ") }) },
  }),
  ...(mailing.trackOpens !== undefined && { track_opens: mailing.trackOpens }),
  ...(mailing.trackClicks !== undefined && { track_clicks: mailing.trackClicks }),
  // Account defaults would change the mail.
  auto_text: false,
  auto_html: false,
  // Each recipient sees only their own address.
  preserve_recipients: false,
  recipient_metadata: mailing.recipients.map((recipient) => ({
    rcpt: recipient.to.email,
    values: idsOf(mailing, recipient),
  })),
  // Tags with a leading underscore are reserved.
  tags: mailing.tags.map((tag) => tag.replace(/^_+/, "").slice(0, 50)).filter(Boolean),
  ...attachmentFields(mailing),
});

/** The name of an image is its content id. */
function attachmentFields(mailing: Mailing): object {
  const { files, images } = splitAttachments(mailing);
  const toField = (name: string, { type, content }: Attachment) => ({
    type: bareType(type),
    name,
    content,
  });
  return {
    ...(files.length > 0 && { attachments: files.map((file) => toField(file.filename, file)) }),
    ...(images.length > 0 && { images: images.map((image) => toField(image.contentId, image)) }),
  };
}

/** The response has one result per address, in any order. */
function readOutcomes(
  { status, json }: ProviderResponse,
  { recipients }: Mailing,
  secret: string,
): HandOverOutcome[] | undefined {
  const results = z.array(z.unknown()).safeParse(json).data;
  if (status !== 200 || !results) return undefined;
  const known = results.flatMap((result) => Result.safeParse(result).data ?? []);
  const byEmail = new Map(known.map((result) => [result.email.toLowerCase(), result]));
  return recipients.map(({ to }) =>
    readOutcome(
      byEmail.get(to.email.toLowerCase()) ??
        (recipients.length === 1 ? onlyResult(known) : undefined),
      secret,
    ),
  );
}

/** The address in the result may be written differently from ours. */
const onlyResult = (results: Result[]): Result | undefined =>
  results.length === 1 ? results[0] : undefined;

function readOutcome(result: Result | undefined, secret: string): HandOverOutcome {
  if (!result)
    return outcomeOfFailure("uncertain", "Mandrill's response does not mention this mail");
  if (!rejectedStatuses.has(result.status)) return { status: "accepted", messageId: result._id };
  const reason = result.reject_reason ?? "";
  return outcomeOfFailure(
    senderNotSetUp.has(reason) ? "config" : "refused",
    sanitizeError(`${result.status}${reason && `: ${reason}`}`, [secret]),
  );
}

const rejectedStatuses = new Set(["rejected", "invalid"]);
/** The domain of the sender is not set up. */
const senderNotSetUp = new Set(["unsigned", "invalid-sender"]);

// Some hosts respond to every error with 500, so the name decides.
const failureByName: Record<string, FailureKind> = {
  Invalid_Key: "config",
  PaymentRequired: "config",
  Unknown_Subaccount: "config",
  ValidationError: "refused",
  RequestLimitExceeded: "pace",
  // "The subsystem responsible for this API call is down for maintenance".
  ServiceUnavailable: "fault",
  // "An unexpected error occurred processing the request": the mail may have been sent.
  GeneralError: "uncertain",
};

const failureKindOf = (name = ""): FailureKind | undefined =>
  failureByName[name] ?? (/^(Invalid|Unknown)_/.test(name) ? "refused" : undefined);
