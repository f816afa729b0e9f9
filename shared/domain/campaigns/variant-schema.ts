// Schemas of the variants of a campaign.
import * as z from "zod";
import { singleLineText } from "../../kernel/email-fields.ts";
import { Count, CreatedAt, RecordId, UpdatedAt } from "../../kernel/record-fields.ts";
import * as templateBodies from "../content/template-bodies.ts";
import { PreviewText } from "../sending/rendering/utm.ts";
import { Campaign } from "./campaign-schema.ts";
import { Revenue, revenueText } from "./conversions/conversion-schema.ts";

export const maxVariants = 10;

const variantFields = {
  name: singleLineText(100).trim().min(1).describe("Name of the variant."),
  subject: Campaign.shape.subject.describe(
    "Subject line, with Liquid. `null`: the subject of the campaign, else of the template.",
  ),
  templateId: Campaign.shape.templateId.describe(
    "Template of the variant. `null`: the template of the campaign.",
  ),
  html: templateBodies.bodyFields.html.describe(
    "HTML with Liquid, instead of a template. Then a subject is required, here or on the campaign.",
  ),
  previewText: PreviewText.nullable().describe(
    "Preview text of the variant, with Liquid. `null`: the preview text of the campaign.",
  ),
  weight: z
    .int()
    .min(1)
    .max(1000)
    .describe("Share of the variant relative to the weights of the others."),
};

export const CampaignVariant = z
  .object({
    id: RecordId.describe("Id of the variant, for GET /campaigns/:id/variants/:variantId."),
    campaignId: RecordId.describe("Campaign of the variant."),
    ...variantFields,
    hasHtml: z.boolean().describe("Whether the variant has HTML of its own instead of a template."),
    html: variantFields.html
      .optional()
      .describe("HTML of the variant. Returned by GET /campaigns/:id/variants/:variantId only."),
    recipients: Count.describe("Emails accepted for this variant."),
    delivered: Count.describe("Emails delivered."),
    opened: Count.describe("Recipients who opened."),
    clicked: Count.describe("Recipients who clicked."),
    openRate: z.number().describe("opened / delivered, from 0 to 1."),
    clickRate: z.number().describe("clicked / delivered, from 0 to 1."),
    conversions: Count.describe("Contacts with the `conversion` event of the campaign."),
    conversionRate: z.number().describe("conversions / delivered, from 0 to 1."),
    revenue: z.array(Revenue).describe(revenueText),
    isWinner: z.boolean().describe("Whether the variant won the A/B test."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "CampaignVariant" });
export type CampaignVariant = z.output<typeof CampaignVariant>;

const htmlOrTemplateError = {
  error: "exactly one of templateId and html is required",
  path: ["html"],
};
const hasOneContent = ({
  templateId,
  html,
}: {
  templateId?: number | null | undefined;
  html?: string | null | undefined;
}) => !templateId || !html;

export const NewVariant = z
  .object({
    name: variantFields.name
      .optional()
      .describe("Name of the variant. Defaults to A, B, C and so on."),
    subject: variantFields.subject.default(null),
    templateId: variantFields.templateId.default(null),
    html: variantFields.html.default(null),
    previewText: variantFields.previewText.default(null),
    weight: variantFields.weight.default(50),
  })
  .refine(hasOneContent, htmlOrTemplateError)
  .meta({ examples: [{ subject: "Last days of the sale, {{ firstName }}" }] });
export type NewVariant = z.output<typeof NewVariant>;

export const VariantChanges = z
  .object(variantFields)
  .partial()
  .refine(hasOneContent, htmlOrTemplateError)
  .meta({ examples: [{ weight: 80 }] });
export type VariantChanges = z.output<typeof VariantChanges>;
