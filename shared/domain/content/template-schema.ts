// Schemas of templates: what requests give and responses return.
import * as z from "zod";
import { singleLineText } from "../../kernel/email-fields.ts";
import { Locale } from "../../kernel/locales.ts";
import {
  Count,
  CreatedAt,
  NewSiteId,
  RecordId,
  RecordSiteId,
  UpdatedAt,
} from "../../kernel/record-fields.ts";
import { bodyFields } from "./template-bodies.ts";
import { maxTranslations, TranslationPatches, translationsField } from "./template-translations.ts";

const name = singleLineText(200).trim().min(1);
const folderId = z.int().positive().nullable();
const { subject, previewText, html, text, designJson } = bodyFields;
const locale = Locale.nullable();

export const TemplateMeta = z
  .object({
    id: RecordId.describe(
      "Id of the template, for GET /templates/:id and `templateId` of other requests.",
    ),
    siteId: RecordSiteId,
    name: z.string().describe("Name of the template."),
    subject: z.string().describe("Subject line, with Liquid."),
    folderId: RecordId.nullable().describe("Folder of the template, or `null`."),
    campaignId: RecordId.nullable().describe(
      "Campaign whose own content it is: see `content` of POST /campaigns. GET /templates does " +
        "not list it, nothing else can use it, and it is deleted with the campaign. `null`: none.",
    ),
    locale: z
      .string()
      .nullable()
      .describe("Language of its own texts (BCP 47), or `null`. The others are translations."),
    locales: z
      .array(z.string())
      .describe("Languages of the translations that email is sent in: those with html or text."),
    version: Count.describe(
      "Rises by 1 with each change of a text, a design, `locale` or a translation. Email is " +
        "sent with the version it was accepted with.",
    ),
    variables: z
      .array(z.string())
      .describe(
        "Variables that the template reads in any language, such as `firstName` or `order.total`.",
      ),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "TemplateMeta" });
export type TemplateMeta = z.output<typeof TemplateMeta>;
export const Template = TemplateMeta.extend({
  previewText: z
    .string()
    .nullable()
    .describe("Text that mail programs show behind the subject, with Liquid, or `null`."),
  html: z.string().nullable().describe("HTML part, with Liquid. `null`: the template has none."),
  text: z
    .string()
    .nullable()
    .describe("Plain text part, with Liquid. `null`: made from `html` when the email is sent."),
  designJson: z.unknown().describe("State of your visual editor, as it was stored, or `null`."),
  translations: translationsField.describe(
    "Texts in other languages, by locale. An email is sent in the exact locale of its recipient, " +
      "else in the language, else in the texts of the template itself.",
  ),
}).meta({
  id: "Template",
});
export type Template = z.output<typeof Template>;

export const NewTemplate = z
  .object({
    siteId: NewSiteId,
    name: name.describe("Name of the template."),
    subject,
    html: html.default(null),
    text: text.default(null),
    designJson: designJson.default(null),
    folderId: folderId.default(null).describe("Folder of the template. `null`: none."),
    previewText: previewText.default(null),
    locale: locale
      .default(null)
      .describe("Language of these texts (BCP 47), such as `en`. Sets `lang` of the email."),
    translations: TranslationPatches.default({}).describe(
      "Texts in other languages, by locale, such as `de` or `pt-BR`. " +
        `At most ${maxTranslations}.`,
    ),
  })
  .meta({
    examples: [
      {
        name: "Welcome",
        subject: "Welcome, {{ firstName }}",
        html: "<p>Hello {{ firstName | default: 'there' }}</p>",
      },
    ],
  });
export type NewTemplate = z.output<typeof NewTemplate>;
export const TemplateChanges = z
  .object({
    name: name.describe("New name of the template."),
    subject,
    html,
    text,
    designJson,
    folderId: folderId.describe("Folder of the template. `null` takes it out of its folder."),
    previewText,
    locale: locale.describe("Language of the texts of the template itself (BCP 47), or `null`."),
    translations: TranslationPatches.describe(
      "Translations to add or change, by locale: fields that are not given stay. `null` removes " +
        `one. Other translations stay. At most ${maxTranslations} in all.`,
    ),
    version: z
      .int()
      .positive()
      .describe(
        "`version` of the template that the change is based on. If somebody else has changed " +
          "its content since, the response is 409. If omitted, the change replaces theirs.",
      ),
    autosave: z
      .boolean()
      .describe(
        "Whether an editor saves while somebody types. What one user saves in this way within " +
          "ten minutes is one version in the list of versions.",
      ),
  })
  .partial()
  .meta({ examples: [{ subject: "Welcome to the shop, {{ firstName }}" }] });
export type TemplateChanges = z.output<typeof TemplateChanges>;
