// Postmark's API for sending (postmarkapp.com/developer), as its official libraries call it.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { now } from "../../clock.ts";
import { acceptSingle } from "../../domain/sending/accept/accept-single.ts";
import { addressesOf } from "../../domain/sending/accept/single-message.ts";
import { Problem } from "../../errors.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { storedObject } from "../../kernel/stored-json.ts";
import { toUuid } from "../../kernel/uuid-ids.ts";
import { validate } from "../validate.ts";
import { parseMailbox, parseMailboxes } from "./mailboxes.ts";
import {
  acceptEach,
  bareContentId,
  closed,
  type FieldNames,
  loadChecked,
  orEmptyList,
  renamed,
  SendUuid,
  supportedFields,
  type TranslatedFields,
  toLiteral,
  toMessage,
  tryToMessage,
  withoutComposerHeaders,
  wrongField,
} from "./translated-mail.ts";
import type { WireError, WireFormat } from "./wire-format.ts";

const addressList = z.string().max(20_000);

const Header = supportedFields({
  Name: z.string().min(1).max(100).describe("Name of the header."),
  Value: z.string().max(998).describe("Value of the header."),
}).meta({ id: "PostmarkHeader", ...closed });

const Attachment = supportedFields({
  Name: z.string().min(1).max(200).describe("Name of the file."),
  Content: z.string().max(14_000_000).describe("Content of the file in base64."),
  ContentType: z.string().max(100).describe("Content type of the file."),
  ContentID: z
    .string()
    .max(104)
    .nullish()
    .describe("Shows the image where the HTML has this `cid:` URL."),
}).meta({ id: "PostmarkAttachment", ...closed });

const commonFields = {
  From: z
    .string()
    .min(1)
    .max(1000)
    .describe("Sender: `hello@shop.example` or `Shop <hello@shop.example>`."),
  To: addressList.min(1).describe("Recipients, separated by commas."),
  Cc: addressList.nullish().describe("Addresses that get a copy, separated by commas."),
  Bcc: addressList.nullish().describe("Addresses that get a blind copy, separated by commas."),
  ReplyTo: addressList
    .nullish()
    .describe("Addresses for replies, separated by commas. Their names are left out."),
  Tag: z.string().max(50).nullish().describe("A tag for the provider's statistics."),
  Headers: z.array(Header).max(20).nullish().describe("Further email headers."),
  Attachments: z.array(Attachment).max(20).nullish().describe("Up to 20 files."),
  Metadata: orEmptyList(z.record(z.string().max(40), z.string().max(500)))
    .nullish()
    .describe("`metadata` of the send."),
  TrackOpens: z.boolean().nullish().describe("Whether opens are tracked."),
  TrackLinks: z
    .enum(["None", "HtmlAndText", "HtmlOnly"])
    .nullish()
    .describe("Whether clicks are tracked: all but `None` track them."),
  MessageStream: z
    .literal("outbound")
    .nullish()
    .describe("Only `outbound`: broadcasts are campaigns of Pennymail."),
};

const examples = [
  {
    From: "Shop <hello@shop.example>",
    To: "ada@example.com",
    Subject: "Your order is on its way",
    HtmlBody: "<p>It arrives on Tuesday.</p>",
  },
];

export const PostmarkEmail = supportedFields({
  ...commonFields,
  Subject: z.string().min(1).max(998).describe("Subject line."),
  HtmlBody: z.string().max(1_000_000).nullish().describe("HTML part, without Liquid."),
  TextBody: z.string().max(1_000_000).nullish().describe("Plain text part, without Liquid."),
}).meta({ id: "PostmarkEmail", ...closed, examples });
type PostmarkEmail = z.output<typeof PostmarkEmail>;

const templateExamples = [
  {
    From: "Shop <hello@shop.example>",
    To: "ada@example.com",
    TemplateId: 1,
    TemplateModel: { firstName: "Ada" },
  },
];
export const PostmarkTemplateEmail = supportedFields({
  ...commonFields,
  TemplateId: z
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .describe("Id of a template of Pennymail. There are no aliases."),
  TemplateModel: orEmptyList(storedObject(10_000))
    .nullish()
    .describe("Values for the variables of the template."),
  InlineCss: z
    .boolean()
    .nullish()
    .describe("Changes nothing: the styles of a template stay as they are."),
}).meta({ id: "PostmarkTemplateEmail", ...closed, examples: templateExamples });
type PostmarkTemplateEmail = z.output<typeof PostmarkTemplateEmail>;

const limit = 100;
export const PostmarkBatch = z
  .array(z.looseObject({}).meta({ documentedAs: PostmarkEmail }))
  .min(1)
  .max(limit)
  .describe("1 to 100 emails.")
  .meta({ examples: [examples] });
export const PostmarkTemplateBatch = supportedFields({
  Messages: z
    .array(z.looseObject({}).meta({ documentedAs: PostmarkTemplateEmail }))
    .min(1)
    .max(limit)
    .describe("1 to 100 emails."),
}).meta({ id: "PostmarkTemplateBatch", ...closed, examples: [{ Messages: templateExamples }] });

const acceptedExample = {
  To: "ada@example.com",
  SubmittedAt: "2026-12-01T09:00:00.412Z",
  MessageID: toUuid(101),
  ErrorCode: 0,
  Message: "OK",
};
export const PostmarkAccepted = z
  .object({
    To: z.string().describe("Recipients, as given."),
    SubmittedAt: z.string().optional().describe("When the email was accepted."),
    MessageID: SendUuid.optional(),
    ErrorCode: z.int().min(0).max(9999).describe("0 if the email was accepted."),
    Message: z.string().describe("`OK`, or why it was not accepted."),
  })
  .meta({ id: "PostmarkAccepted", examples: [acceptedExample] });
type PostmarkAccepted = z.input<typeof PostmarkAccepted>;
export const PostmarkBatchAccepted = z
  .array(PostmarkAccepted)
  .meta({ examples: [[acceptedExample]] });

const names: FieldNames = {
  fromEmail: "From",
  fromName: "From",
  to: "To",
  cc: "Cc",
  bcc: "Bcc",
  replyTo: "ReplyTo",
  subject: "Subject",
  html: "HtmlBody",
  text: "TextBody",
  tags: "Tag",
  headers: "Headers",
  metadata: "Metadata",
  templateId: "TemplateId",
  variables: "TemplateModel",
  attachments: "Attachments",
  filename: "Name",
  content: "Content",
  type: "ContentType",
  contentId: "ContentID",
  // Addresses are texts.
  email: "",
  name: "",
};

type CommonEmail = z.output<z.ZodObject<typeof commonFields>>;

function toCommonFields(email: CommonEmail): TranslatedFields {
  const { email: fromEmail, name: fromName } = parseMailbox(email.From);
  const { Tag, Headers, TrackLinks } = email;
  return {
    fromEmail,
    fromName,
    to: parseMailboxes(email.To),
    cc: email.Cc ? parseMailboxes(email.Cc) : undefined,
    bcc: email.Bcc ? parseMailboxes(email.Bcc) : undefined,
    replyTo: email.ReplyTo ? parseMailboxes(email.ReplyTo).map((one) => one.email) : undefined,
    headers: Headers
      ? withoutComposerHeaders(Object.fromEntries(Headers.map((one) => [one.Name, one.Value])))
      : undefined,
    tags: Tag ? [Tag] : undefined,
    metadata: email.Metadata ?? undefined,
    trackOpens: email.TrackOpens ?? undefined,
    trackClicks: TrackLinks ? TrackLinks !== "None" : undefined,
    attachments: email.Attachments?.map(({ Name, Content, ContentType, ContentID }) => ({
      filename: Name,
      content: Content,
      type: ContentType,
      contentId: ContentID ? bareContentId(ContentID) : undefined,
    })),
  };
}

function toFields(email: PostmarkEmail): TranslatedFields {
  const { Subject, HtmlBody, TextBody } = email;
  if (!HtmlBody && !TextBody) throw wrongField("HtmlBody", "is required without TextBody");
  return {
    ...toCommonFields(email),
    subject: toLiteral(Subject),
    html: HtmlBody ? toLiteral(HtmlBody) : undefined,
    text: TextBody ? toLiteral(TextBody) : undefined,
  };
}

const toTemplateFields = (email: PostmarkTemplateEmail): TranslatedFields => ({
  ...toCommonFields(email),
  templateId: email.TemplateId,
  variables: email.TemplateModel ?? undefined,
});

export const acceptEmail = (caller: Caller, email: PostmarkEmail) =>
  accept(caller, email.To, toFields(email));
export const acceptTemplateEmail = (caller: Caller, email: PostmarkTemplateEmail) =>
  accept(caller, email.To, toTemplateFields(email));

async function accept(
  caller: Caller,
  to: string,
  fields: TranslatedFields,
): Promise<PostmarkAccepted> {
  try {
    const message = toMessage(fields, names);
    const context = await loadChecked(caller, message);
    const inactive = addressesOf(message).filter((one) =>
      context.suppressed.has(normalizeEmail(one)),
    );
    if (inactive.length === addressesOf(message).length) throw allInactive(inactive);
    const { id } = await acceptSingle(caller, message, { context });
    return toAccepted(to, id, inactive);
  } catch (error) {
    throw renamed(error, names);
  }
}

/** Their libraries find the addresses in this text. */
const inactiveMessage = (emails: string[]): string =>
  "You tried to send to recipient(s) that have been marked as inactive. " +
  `Found ${inactiveList(emails)}`;
const inactiveList = (emails: string[]): string =>
  `inactive addresses: ${emails.join(", ")}. Inactive recipients are ones that are suppressed.`;

function allInactive(emails: string[]): Problem {
  const message = inactiveMessage(emails);
  return new Problem("invalid", message, { details: [{ path: inactivePath, message }] });
}
/** Tells `toError` apart from other errors. */
const inactivePath = "To (inactive)";

const toAccepted = (to: string, id: number, inactive: string[] = []): PostmarkAccepted => ({
  To: to,
  SubmittedAt: now().toISOString(),
  MessageID: toUuid(id),
  ErrorCode: 0,
  Message: inactive.length
    ? `Message OK, but will not deliver to these ${inactiveList(inactive)}`
    : "OK",
});

/** Accepts each email of a batch alone, with its own error. */
export const acceptBatch = (caller: Caller, batch: object[]) =>
  acceptAll(caller, batch, (email) => toFields(validate(PostmarkEmail, email) as PostmarkEmail));
export const acceptTemplateBatch = (caller: Caller, batch: object[]) =>
  acceptAll(caller, batch, (email) =>
    toTemplateFields(validate(PostmarkTemplateEmail, email) as PostmarkTemplateEmail),
  );

async function acceptAll(
  caller: Caller,
  batch: { To?: unknown }[],
  toOurFields: (email: object) => TranslatedFields,
): Promise<PostmarkAccepted[]> {
  const checked = batch.map((email) => tryToMessage(() => toOurFields(email), names));
  const results = await acceptEach(caller, checked);
  return results.map(({ index, id, status, problem }) => {
    const to = String(batch[index]!.To ?? "").slice(0, 1000);
    if (status === "failed")
      return { To: to, ErrorCode: inactiveCode, Message: inactiveMessage([to]) };
    if (id !== null) return toAccepted(to, id);
    const { message, code } = renamed(problem, names) as Problem;
    return { To: to, ErrorCode: errorCodeOf(code), Message: message };
  });
}

const inactiveCode = 406;
const usualCode = 300;
const errorCodes: Record<string, number> = {
  unauthorized: 10,
  no_sending_config: 400,
  payment_required: 405,
  not_found: 1101,
};
const errorCodeOf = (code: string): number => errorCodes[code] ?? usualCode;

/** Postmark's API answers with 422 where ours tells several statuses apart. */
const failureStatuses: Record<number, number> = { 400: 422, 402: 422, 409: 422 };

function toError({ status, code, message, field }: WireError) {
  const ErrorCode = field === inactivePath ? inactiveCode : errorCodeOf(code);
  const isTemplate = status === 404 && field !== undefined;
  const wireStatus = isTemplate ? 422 : (failureStatuses[status] ?? status);
  return { status: wireStatus, body: { ErrorCode, Message: message } };
}

export const postmarkFormat: WireFormat = {
  name: "Postmark",
  path: "/compat/postmark",
  keyHeader: "x-postmark-server-token",
  Failure: z
    .object({
      ErrorCode: z.int().min(0).max(9999).describe("Code of the error, such as 300."),
      Message: z.string().describe("What is wrong, in one sentence that names the field."),
    })
    .meta({ id: "PostmarkFailure" }),
  toError,
};
