// Fields and rules that the requests of single sends and of batches share.
import * as z from "zod";
import { requiredUnless } from "../../../kernel/either-or.ts";
import { EmailAddress, singleLineText } from "../../../kernel/email-fields.ts";
import { Locale } from "../../../kernel/locales.ts";
import { StoredNumber, storable, storedObject } from "../../../kernel/stored-json.ts";
import { PreviewText, Utm, utmDescription } from "../rendering/utm.ts";
import { AttachmentInput } from "./attachment-input.ts";
import { Headers } from "./mail-headers.ts";

/** Previews of templates use it too. */
export const Variables = storedObject(10_000);

/** Stored with the send and returned with it. It is not sent to the provider. */
export const Metadata = z
  .record(z.string().max(40), z.union([z.string().max(500), StoredNumber, z.boolean(), z.null()]))
  .refine((metadata) => Object.keys(metadata).length <= 20, "must have at most 20 fields")
  .check(storable(1000));

export const Tag = z
  .string()
  .regex(/^[\w.-]{1,50}$/, "must be 1 to 50 letters, digits, dots, dashes or underscores")
  .meta({ maxLength: 50 });

export const maxAttachments = 20;
const maxReplyTos = 10;

/** Names that other mail APIs give to our fields, in lower case without dashes and underscores. */
export const mistakenVariables = {
  data: "variables",
  mergevars: "variables",
  params: "variables",
  substitutions: "variables",
  templatedata: "variables",
  dynamictemplatedata: "variables",
  templatemodel: "variables",
};
export const mistakenNames = {
  ...mistakenVariables,
  from: "fromEmail",
  sender: "fromEmail",
  body: "html",
  content: "html",
  htmlbody: "html",
  htmlcontent: "html",
  htmlpart: "html",
  textbody: "text",
  textcontent: "text",
  textpart: "text",
  template: "templateId",
  templatekey: "templateId",
  attachment: "attachments",
  files: "attachments",
  inreplyto: "headers",
  references: "headers",
  preheader: "previewText",
  sendat: "scheduledAt",
  deliverytime: "scheduledAt",
};

export function hasUniqueContentIds(attachments: { contentId?: string | undefined }[]): boolean {
  const given = attachments.flatMap(({ contentId }) => contentId ?? []);
  return new Set(given).size === given.length;
}

export const MessageFields = z.object({
  siteId: z
    .int()
    .positive()
    .optional()
    .describe(
      "Site of the email. Defaults to the site of the API key, else to the organization's " +
        "only site.",
    ),
  fromEmail: EmailAddress.optional().describe(
    "Email address of the sender. Selects the sending config with this `fromEmail`, else a " +
      "verified one whose domain is verified. Required without `sendingConfigId`.",
  ),
  fromName: singleLineText(100)
    .optional()
    .describe("Name of the sender. Defaults to `fromName` of the sending config."),
  sendingConfigId: z
    .int()
    .positive()
    .optional()
    .describe("Sending config to send with. Required without `fromEmail`."),
  subject: singleLineText(998)
    .min(1)
    .optional()
    .describe(
      "Subject line, with Liquid. Required with `html`. With `templateId`, replaces the " +
        "subject of the template.",
    ),
  html: z
    .string()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe(
      "HTML part, with Liquid; values are HTML-escaped. At most 1,000,000 characters. " +
        "Required without `templateId`, ignored with it.",
    ),
  text: z
    .string()
    .max(1_000_000)
    .optional()
    .describe(
      "Plain text part, with Liquid. Made from `html` if omitted. Ignored with `templateId`.",
    ),
  templateId: z
    .int()
    .positive()
    .optional()
    .describe("Template of the email. Required without `html`."),
  locale: Locale.optional().describe(
    "Language of the recipient (BCP 47), such as `de` or `pt-BR`. Picks the translation of the " +
      "template: the exact locale, else the language, else the texts of the template itself. " +
      "Defaults to the `locale` of the contact with the address of the recipient. Ignored " +
      "without `templateId`.",
  ),
  previewText: PreviewText.optional(),
  utm: Utm.optional().describe(utmDescription),
  variables: Variables.default({}).describe(
    "Values for the Liquid variables, at most 10,000 bytes of JSON. `email` and `name` of " +
      "the recipient are always set. Contact fields are not read.",
  ),
  strict: z
    .boolean()
    .optional()
    .describe(
      "`true`: nothing is accepted if a variable has no value for a recipient (400 " +
        "`variables_missing`). Variables with the filter `default` or in a condition may be " +
        "missing. Otherwise they render empty, and `warnings` names them.",
    ),
  replyTo: z
    .union([z.array(EmailAddress).min(1).max(maxReplyTos), EmailAddress])
    .transform((given) => [given].flat())
    .optional()
    .describe(
      "Email address that replies go to, or a list of up to 10. Brevo, Mailjet and SparkPost " +
        "take only one. Defaults to `replyTo` of the site, else to that of the sending config.",
    ),
  headers: Headers.default({}).describe(
    "Up to 20 further email headers. Headers that the service or the provider sets are refused.",
  ),
  tags: z
    .array(Tag)
    .max(10)
    .default([])
    .describe("Up to 10 tags for the provider's statistics. They are not tags of contacts."),
  trackOpens: z
    .boolean()
    .optional()
    .describe(
      "Whether opens are tracked. Defaults to the setting of the sender's domain (PATCH " +
        "/domains/:id), else to the setting of the provider account. `tracking` of the sending " +
        "config says who tracks: with `own` the default is `true`, with `off` nobody does.",
    ),
  trackClicks: z
    .boolean()
    .optional()
    .describe(
      "Whether clicks are tracked. Defaults to the setting of the sender's domain (PATCH " +
        "/domains/:id), else to the setting of the provider account. `tracking` of the sending " +
        "config says who tracks: with `own` the default is `true`, with `off` nobody does.",
    ),
  secure: z
    .boolean()
    .optional()
    .describe(
      "Encrypts the content. The recipient gets a notice with a link to a page that shows " +
        "it, and from which attachments are downloaded. Subject and addresses are not encrypted. " +
        "A file can have up to 4 MB, and no `contentId`. In a batch, all copies together can " +
        "have up to 100 MB.",
    ),
  secureExpiresInDays: z
    .int()
    .min(1)
    .max(365)
    .optional()
    .describe(
      "Days until a secure message expires, counted from when it is due. Defaults to 30. " +
        "Needs `secure: true`.",
    ),
  securePassphrase: z
    .string()
    .min(4)
    .max(200)
    .optional()
    .describe(
      "Passphrase that the page of a secure message asks for, with five attempts per hour. " +
        "Tell it to the recipient by another channel. Needs `secure: true`.",
    ),
  scheduledAt: z.iso
    .datetime({ offset: true })
    .optional()
    .describe(
      "When to send, at most 30 days ahead. Defaults to now; a time in the past means now.",
    ),
  attachments: z
    .array(AttachmentInput)
    .max(maxAttachments)
    .refine(hasUniqueContentIds, "must have a different contentId each")
    .default([])
    .describe(
      "Up to 20 files, 10 MB each and 25 MB in total. Give each file as `content` or as " +
        "`uploadId`.",
    ),
});

interface MessageParts {
  templateId?: number | undefined;
  html?: string | undefined;
  subject?: string | undefined;
}
export const contentRules = {
  hasContent: ({ templateId, html, subject }: MessageParts) =>
    (templateId ?? html ?? subject) !== undefined,
  contentMissing: { error: "is required unless html and subject are given", path: ["templateId"] },
  hasSubject: ({ templateId, html, subject }: MessageParts) =>
    templateId !== undefined || html === undefined || subject !== undefined,
  subjectMissing: { error: "is required when html is given without templateId", path: ["subject"] },
  hasHtml: ({ templateId, html, subject }: MessageParts) =>
    templateId !== undefined || subject === undefined || html !== undefined,
  htmlMissing: {
    error: "is required when subject is given without templateId",
    path: ["html"],
  },
};
export const hasSender = ({
  fromEmail,
  sendingConfigId,
}: {
  fromEmail?: string | undefined;
  sendingConfigId?: number | undefined;
}) => fromEmail !== undefined || sendingConfigId !== undefined;
export const isPassphraseAllowed = ({
  secure = false,
  securePassphrase,
}: {
  secure?: boolean | undefined;
  securePassphrase?: string | undefined;
}) => secure || securePassphrase === undefined;
export const passphraseNeedsSecure = {
  error: "is allowed only with secure: true",
  path: ["securePassphrase"],
};
export const hasNoSecureImages = ({
  secure,
  attachments,
}: {
  secure?: boolean | undefined;
  attachments: AttachmentInput[];
}) => !secure || attachments.every(({ contentId }) => contentId === undefined);
export const imagesNotSecure = {
  error: "cannot have a contentId with secure: true",
  path: ["attachments"],
};
export const senderMissing = {
  error: "is required unless sendingConfigId is given",
  path: ["fromEmail"],
};

export const contentAndSender = requiredUnless({
  templateId: ["subject", "html"],
  fromEmail: ["sendingConfigId"],
});

/** The fields that single messages and batches share. */
export type MessageFields = z.output<typeof MessageFields>;
