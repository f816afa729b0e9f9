// Request schemas of POST /send/batch: one message to many recipients.
import * as z from "zod";
import { requiredUnless } from "../../../kernel/either-or.ts";
import { EmailAddress, singleLineText } from "../../../kernel/email-fields.ts";
import { Locale } from "../../../kernel/locales.ts";
import {
  contentAndSender,
  contentRules,
  hasNoSecureImages,
  hasSender,
  imagesNotSecure,
  isPassphraseAllowed,
  MessageFields,
  Metadata,
  mistakenNames,
  mistakenVariables,
  passphraseNeedsSecure,
  senderMissing,
  Variables,
} from "./message-fields.ts";

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
    locale: Locale.optional().describe(
      "Language of this recipient. Defaults to `locale` of the batch, else to that of the contact.",
    ),
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
  .refine(hasNoSecureImages, imagesNotSecure)
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
