// Request schemas of POST /send and POST /send/batch.
import * as z from "zod";
import { exactlyOneOf, requiredUnless } from "../../../kernel/either-or.ts";
import {
  EmailAddress,
  mailboxListSchema,
  normalizeEmail,
  singleLineText,
} from "../../../kernel/email-fields.ts";
import { StoredNumber, storable, storedObject } from "../../../kernel/stored-json.ts";
import { maxContentLength } from "../attachment-types.ts";
import { PreviewText, Utm, utmDescription } from "../rendering/utm.ts";

/** Previews of templates use it too. */
export const Variables = storedObject(10_000);

/** Stored with the send and returned with it. It is not sent to the provider. */
const Metadata = z
  .record(z.string().max(40), z.union([z.string().max(500), StoredNumber, z.boolean(), z.null()]))
  .refine((metadata) => Object.keys(metadata).length <= 20, "must have at most 20 fields")
  .check(storable(1000));

// Headers that the service or the provider sets, or that would change the recipients.
const reservedHeaders = new Set(
  (
    "from to cc bcc subject reply-to sender return-path date message-id mime-version " +
    "content-type content-transfer-encoding dkim-signature received"
  ).split(" "),
);
// Headers with options for a provider. Some return our send id in events.
const providerHeaders = [
  /^x-(send-id|smtpapi|mailgun-|mailin-|mailjet-|mj-|mc-|mandrill-|pm-|postmark-)/i,
  /^x-(msys-|ses-|sib-|smtp2go-|resend-)/i,
];
// Headers that misstate the route, the recipients or the format of a mail.
const mailServerHeaders = [
  /^(resent-|arc-|content-|dkim-|domainkey-|received|original-|x-envelope-)/i,
  /^(authentication-results|x-failed-recipients)$/i,
  /^(delivered|errors|apparently|envelope|x-original|x-rcpt)-to$/i,
];
const matchesAny = (patterns: RegExp[], name: string): boolean =>
  patterns.some((pattern) => pattern.test(name));

const HeaderName = z
  .string()
  .max(100)
  .regex(/^[!-9;-~]+$/, "must be a header name")
  .refine(
    (name) => !reservedHeaders.has(name.toLowerCase()),
    "is set automatically and cannot be given",
  )
  .refine((name) => !matchesAny(mailServerHeaders, name), "is a header that only mail servers set")
  .refine(
    (name) => !matchesAny(providerHeaders, name),
    "controls a mail provider and cannot be given",
  );

const Headers = z
  .record(HeaderName, singleLineText(998))
  .refine((headers) => Object.keys(headers).length <= 20, "must have at most 20 headers");

export const Tag = z
  .string()
  .regex(/^[\w.-]{1,50}$/, "must be 1 to 50 letters, digits, dots, dashes or underscores")
  .meta({ maxLength: 50 });

const maxAttachments = 20;
const maxReplyTos = 10;

/** `content` in base64, or the `uploadId` that POST /attachments gave. */
export const AttachmentInput = exactlyOneOf(
  z.object({
    filename: singleLineText(200)
      .min(1)
      .refine((name) => !/[\\/]/.test(name), "must not contain slashes")
      .describe("Name of the file, without slashes."),
    type: z
      .string()
      .max(100, { abort: true })
      .regex(
        /^[\w.+-]+\/[\w.+-]+( ?; ?[\w-]+="?[\w.+-]+"?)*$/,
        "must be a content type such as application/pdf",
      )
      .optional()
      .describe(
        "Content type, such as `application/pdf`. Defaults to the type of the upload, else " +
          "to the type of the file name's ending.",
      ),
    contentId: z
      .string()
      .regex(/^[\w.@-]{1,100}$/, "must be 1 to 100 letters, digits, dots, dashes, _ or @")
      .meta({ maxLength: 100 })
      .optional()
      .describe(
        'Shows the image where the HTML has `<img src="cid:<contentId>">`, and not in the list ' +
          "of files. Images only, and not with Brevo.",
      ),
    content: z
      .string()
      .meta({ maxLength: maxContentLength })
      .optional()
      .describe("Content of the file in base64. Give either this or `uploadId`."),
    uploadId: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe("Id of a finished upload: see POST /attachments. Give either this or `content`."),
  }),
  ["content", "uploadId"],
).meta({ id: "Attachment" });
export type AttachmentInput = z.output<typeof AttachmentInput>;

/** Names that other mail APIs give to our fields, in lower case without dashes and underscores. */
const mistakenVariables = {
  data: "variables",
  mergevars: "variables",
  params: "variables",
  substitutions: "variables",
  templatedata: "variables",
  dynamictemplatedata: "variables",
  templatemodel: "variables",
};
const mistakenNames = {
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

function hasUniqueContentIds(attachments: { contentId?: string | undefined }[]): boolean {
  const given = attachments.flatMap(({ contentId }) => contentId ?? []);
  return new Set(given).size === given.length;
}

const MessageFields = z.object({
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
        "take only one.",
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
        "/domains/:id), else to the setting of the provider account.",
    ),
  trackClicks: z
    .boolean()
    .optional()
    .describe(
      "Whether clicks are tracked. Defaults to the setting of the sender's domain (PATCH " +
        "/domains/:id), else to the setting of the provider account.",
    ),
  secure: z
    .boolean()
    .optional()
    .describe(
      "Encrypts the content. The recipient gets a notice with a link to a page that shows " +
        "it. Subject and addresses are not encrypted. Cannot be used with attachments.",
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
const contentRules = {
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
const hasSender = ({
  fromEmail,
  sendingConfigId,
}: {
  fromEmail?: string | undefined;
  sendingConfigId?: number | undefined;
}) => fromEmail !== undefined || sendingConfigId !== undefined;
const isPassphraseAllowed = ({
  secure = false,
  securePassphrase,
}: {
  secure?: boolean | undefined;
  securePassphrase?: string | undefined;
}) => secure || securePassphrase === undefined;
const passphraseNeedsSecure = {
  error: "is allowed only with secure: true",
  path: ["securePassphrase"],
};
const hasNoSecureAttachments = ({
  secure,
  attachments,
}: {
  secure?: boolean | undefined;
  attachments: unknown[];
}) => !secure || attachments.length === 0;
const attachmentsNotSecure = {
  error: "cannot be combined with secure: true",
  path: ["attachments"],
};
const senderMissing = { error: "is required unless sendingConfigId is given", path: ["fromEmail"] };

const contentAndSender = requiredUnless({
  templateId: ["subject", "html"],
  fromEmail: ["sendingConfigId"],
});

type MailboxList = z.output<ReturnType<typeof mailboxListSchema>>;

interface AddressFields {
  to: MailboxList;
  toName?: string | undefined;
  cc?: MailboxList | undefined;
  bcc?: MailboxList | undefined;
}

interface AddressedTo {
  /** The recipient. */
  to: string;
  toName?: string | undefined;
  alsoTo?: MailboxList | undefined;
  cc?: MailboxList | undefined;
  bcc?: MailboxList | undefined;
}

/**
 * The first address of `to` is the recipient, and `alsoTo` are the others. An address that is
 * repeated counts where it stands first.
 */
function nameRecipient({ to, toName, cc, bcc }: AddressFields): AddressedTo {
  const seen = new Set<string>();
  const withoutRepeats = (mailboxes: MailboxList) =>
    mailboxes.filter(({ email }) => {
      const isNew = !seen.has(normalizeEmail(email));
      seen.add(normalizeEmail(email));
      return isNew;
    });
  const [first, ...alsoTo] = withoutRepeats(to);
  return {
    to: first!.email,
    toName: first!.name ?? toName,
    ...(alsoTo.length && { alsoTo }),
    ...(cc && { cc: withoutRepeats(cc) }),
    ...(bcc && { bcc: withoutRepeats(bcc) }),
  };
}

/** All addresses that a message goes to, the recipient's first. */
export const addressesOf = ({ to, alsoTo = [], cc = [], bcc = [] }: AddressedTo): string[] => [
  to,
  ...[...alsoTo, ...cc, ...bcc].map(({ email }) => email),
];

// Several providers take no more.
const maxAddressees = 50;

export const SingleMessage = MessageFields.extend({
  to: mailboxListSchema(maxAddressees).describe(
    "Email address of the recipient, `{email, name}`, or a list. Everyone in the list gets the " +
      "same email and sees the others; to send to each alone, use POST /send/batch. The send " +
      "and its statistics are about the first. `to`, `cc` and `bcc` can have 50 addresses " +
      "together, and each counts as an email.",
  ),
  cc: mailboxListSchema(maxAddressees)
    .optional()
    .describe("Gets a copy, and is shown in the email. An address, `{email, name}`, or a list."),
  bcc: mailboxListSchema(maxAddressees)
    .optional()
    .describe("Gets a copy, and is not shown. An address, `{email, name}`, or a list."),
  toName: singleLineText(100)
    .optional()
    .describe("Name of the recipient. Templates read it as `name`."),
  metadata: Metadata.optional().describe(
    "Your own data, stored with the send and returned with it: up to 20 fields and 1,000 " +
      "bytes of JSON. It is not sent to the provider.",
  ),
})
  .refine(contentRules.hasContent, contentRules.contentMissing)
  .refine(contentRules.hasSubject, contentRules.subjectMissing)
  .refine(contentRules.hasHtml, contentRules.htmlMissing)
  .refine(hasSender, senderMissing)
  .refine(isPassphraseAllowed, passphraseNeedsSecure)
  .refine(hasNoSecureAttachments, attachmentsNotSecure)
  .refine(({ to, cc = [], bcc = [] }) => to.length + cc.length + bcc.length <= maxAddressees, {
    error: `can have ${maxAddressees} addresses at most, together with cc and bcc`,
    path: ["to"],
  })
  .refine(({ secure, to, cc, bcc }) => !secure || (to.length === 1 && !cc && !bcc), {
    error: "can have only one address with secure: true, and no cc or bcc",
    path: ["to"],
  })
  .transform(({ to, toName, cc, bcc, ...message }) => ({
    ...message,
    ...nameRecipient({ to, toName, cc, bcc }),
  }))
  .meta({
    ...contentAndSender,
    mistakenNames: {
      ...mistakenNames,
      recipient: "to",
      recipients: "to",
      toemail: "to",
      email: "to",
    },
    examples: [
      {
        to: "ada@example.com",
        fromEmail: "hello@shop.example",
        subject: "Hello {{ firstName }}",
        html: "<p>Your order is on its way.</p>",
        variables: { firstName: "Ada" },
      },
    ],
  });
export type SingleMessage = z.output<typeof SingleMessage>;

const maxMessages = 100;
const singleMessageReference = z.object({}).meta({ $ref: "#/$defs/SendEmailRequest" });

/** Messages are validated one by one, so that an invalid one is rejected alone. */
export const MessageList = z
  .object({
    messages: z
      .array(z.looseObject({}).meta({ documentedAs: singleMessageReference }))
      .min(1)
      .max(maxMessages)
      .describe("1 to 100 emails, each as in POST /send."),
  })
  .meta({
    examples: [
      {
        messages: [
          {
            to: "ada@example.com",
            fromEmail: "hello@shop.example",
            subject: "Your order 1843 is on its way",
            html: "<p>It arrives on Tuesday.</p>",
          },
          {
            to: "grace@example.com",
            fromEmail: "hello@shop.example",
            templateId: 1,
            variables: { firstName: "Grace" },
          },
        ],
      },
    ],
  });

const toEachAlone = "recipients: each gets an email alone. POST /send has cc and bcc";
const singleOnly = { cc: toEachAlone, bcc: toEachAlone };

/** Recipients of a batch are validated one by one, so that an invalid one is rejected alone. */
export const BatchRecipient = z
  .object({
    to: EmailAddress.optional().describe("Email address of the recipient."),
    email: EmailAddress.optional().describe("Alias of `to`."),
    toName: singleLineText(100)
      .optional()
      .describe("Name of the recipient. Templates read it as `name`."),
    variables: Variables.optional().describe(
      "Values for this recipient. They take precedence over `variables` of the batch.",
    ),
    metadata: Metadata.optional().describe("Your own data, stored with this send."),
    trackOpens: z
      .boolean()
      .optional()
      .describe("Whether opens are tracked. Defaults to `trackOpens` of the batch."),
    trackClicks: z
      .boolean()
      .optional()
      .describe("Whether clicks are tracked. Defaults to `trackClicks` of the batch."),
  })
  .refine(({ to, email }) => to !== undefined || email !== undefined, {
    error: "is required",
    path: ["to"],
  })
  .meta({
    ...requiredUnless({ to: ["email"] }),
    mistakenNames: {
      ...mistakenVariables,
      ...singleOnly,
      name: "toName",
      recipient: "to",
      toemail: "to",
      emailaddress: "to",
      address: "to",
    },
  });
export type BatchRecipient = z.output<typeof BatchRecipient>;

const maxRecipients = 1000;

export const BatchMessage = MessageFields.extend({
  recipients: z
    .array(z.looseObject({}).meta({ documentedAs: BatchRecipient }))
    .min(1)
    .max(maxRecipients)
    .describe("1 to 1,000 recipients."),
})
  .refine(contentRules.hasContent, contentRules.contentMissing)
  .refine(contentRules.hasSubject, contentRules.subjectMissing)
  .refine(contentRules.hasHtml, contentRules.htmlMissing)
  .refine(hasSender, senderMissing)
  .refine(isPassphraseAllowed, passphraseNeedsSecure)
  .refine(hasNoSecureAttachments, attachmentsNotSecure)
  .meta({
    ...contentAndSender,
    id: "EmailBatch",
    mistakenNames: { ...mistakenNames, ...singleOnly },
    examples: [
      {
        templateId: 1,
        fromEmail: "hello@shop.example",
        recipients: [
          { to: "ada@example.com", variables: { firstName: "Ada" } },
          { to: "grace@example.com", variables: { firstName: "Grace" } },
        ],
      },
    ],
  });
export type BatchMessage = z.output<typeof BatchMessage>;

/** The fields that single messages and batches share. */
export type MessageFields = z.output<typeof MessageFields>;
