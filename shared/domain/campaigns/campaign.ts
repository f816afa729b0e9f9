// What a campaign and its variants are: to callers, and as they are stored.
import * as z from "zod";
import { oneLine } from "../../email.ts";
import type { Broadcast } from "../broadcasts/broadcast.ts";
import * as bodies from "../template-bodies.ts";
import { Numbers, Stats } from "./stats.ts";

export const campaignStatuses = ["draft", "scheduled", "held", "sending", "paused", "sent", "cancelled", "failed"] as const;
export type CampaignStatus = (typeof campaignStatuses)[number];

const id = z.int().positive();
export const maxVariants = 10;

export const AbTest = z
  .object({
    testPercent: z
      .int()
      .min(1)
      .max(100)
      .describe(
        "Share of the audience that gets the variants, by their weights; the rest waits for the winner. Lots are drawn for each person: of few people, shares can be well off",
      ),
    metric: z.enum(["open_rate", "click_rate"]).describe("People, not machines, of those whom the mail reached"),
    durationMinutes: z
      .int()
      .min(1)
      .max(7 * 24 * 60)
      .describe("From when the test is handed over to when the winner is picked, within a minute; at most 7 days"),
  })
  .meta({ id: "AbTest" });
export type AbTest = z.output<typeof AbTest>;

const fields = {
  name: oneLine(200).trim().min(1),
  subject: oneLine(998).min(1).nullable().describe("Liquid; null: the template's own"),
  templateId: id.nullable().describe("Needed at send unless every variant has a templateId or html of its own"),
  listId: id.nullable(),
  tagId: id.nullable(),
  segmentId: id.nullable().describe("Exactly one of listId, tagId and segmentId is needed at send"),
  sendingConfigId: id.nullable().describe("Needed at send"),
  abTest: AbTest.nullable().describe(
    "Picks the best of at least two variants, which are needed at send; null: everybody gets a variant at once, by the weights",
  ),
};

const Winner = z.object({
  variantId: z.int(),
  reason: z
    .enum(["best", "tie", "no_data"])
    .describe(
      "`tie`: the best rates are equal, `no_data`: nobody opened or clicked; then the greatest weight wins, and of equal ones the oldest variant",
    ),
  decidedAt: z.string(),
  results: z
    .array(
      z.object({
        variantId: z.int(),
        delivered: z.int().describe("Mails of the test"),
        opened: z.int().describe("People"),
        clicked: z.int().describe("People"),
        rate: z.number().describe("Of the metric, 0 to 1"),
      }),
    )
    .default([])
    .describe("By what it was decided: the figures of the variants count those who waited for the winner too"),
});
export type Winner = z.output<typeof Winner>;

export const Campaign = z
  .object({
    id: z.int(),
    siteId: z.int(),
    ...fields,
    status: z
      .enum(campaignStatuses)
      .describe(
        "`held`: overdue by more than an hour, so it waits for a word; `sent`: nothing is queued or sending any more; `failed`: it could not be started or gone on with",
      ),
    statusReason: z.string().nullable().describe("Why it is held, paused or failed"),
    scheduledAt: z.string().nullable(),
    sendLate: z.boolean().describe("It goes out however late it is"),
    startedAt: z.string().nullable(),
    finishedAt: z.string().nullable().describe("When it was seen to be sent, cancelled or failed"),
    winner: Winner.nullable().describe("Of the A/B test"),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "Campaign" });
export type Campaign = z.output<typeof Campaign>;

export const NewCampaign = z
  .object({
    siteId: id.optional(),
    name: fields.name,
    subject: fields.subject.default(null),
    templateId: fields.templateId.default(null),
    listId: fields.listId.default(null),
    tagId: fields.tagId.default(null),
    segmentId: fields.segmentId.default(null),
    sendingConfigId: fields.sendingConfigId.default(null),
    abTest: fields.abTest.default(null),
  })
  .meta({ examples: [{ name: "Spring sale", templateId: 1, listId: 1, sendingConfigId: 1 }] });
export type NewCampaign = z.output<typeof NewCampaign>;

export const CampaignChanges = z
  .object(fields)
  .partial()
  .meta({ examples: [{ name: "Spring sale, second try", segmentId: 1, listId: null }] });
export type CampaignChanges = z.output<typeof CampaignChanges>;

export const Schedule = z
  .object({
    scheduledAt: z.iso
      .datetime({ offset: true })
      .describe(
        "At most 365 days ahead, and not in the past (400; a minute is forgiven, and means at once). It begins within a minute of it",
      ),
    sendLate: z
      .boolean()
      .default(false)
      .describe("true: after an outage it goes out however late; false: it is held when it is more than an hour late"),
  })
  .meta({ examples: [{ scheduledAt: "2027-03-20T09:00:00+01:00" }] });
export type Schedule = z.output<typeof Schedule>;

const variantFields = {
  name: oneLine(100).trim().min(1),
  subject: fields.subject.describe("Liquid; null: the campaign's, else the template's"),
  templateId: id.nullable().describe("null: the campaign's"),
  html: bodies.fields.html.describe("Liquid; instead of a template, then a subject is needed here or at the campaign"),
  weight: z.int().min(1).max(1000).describe("Its share beside the weights of the others"),
};

/** As it is stored: its html lies apart, under `htmlVersion`. */
export interface StoredVariant {
  id: number;
  name: string;
  subject: string | null;
  templateId: number | null;
  htmlVersion?: number;
  weight: number;
  createdAt: string;
  updatedAt: string;
}

export const Variant = z
  .object({
    id: z.int(),
    campaignId: z.int(),
    ...variantFields,
    hasHtml: z.boolean(),
    html: variantFields.html.optional().describe("Shown for one variant, not in lists"),
    recipients: z.int(),
    delivered: z.int(),
    opened: z.int().describe("People"),
    clicked: z.int().describe("People"),
    openRate: z.number().describe("Of those whom it reached, 0 to 1"),
    clickRate: z.number().describe("Of those whom it reached, 0 to 1"),
    isWinner: z.boolean(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "CampaignVariant" });
export type Variant = z.output<typeof Variant>;

const oneContent = { error: "needs either templateId or html, not both", path: ["html"] };
const isOneContent = ({ templateId, html }: { templateId?: number | null | undefined; html?: string | null | undefined }) =>
  !templateId || !html;

export const NewVariant = z
  .object({
    name: variantFields.name.optional().describe("Absent: A, B, C, ..."),
    subject: variantFields.subject.default(null),
    templateId: variantFields.templateId.default(null),
    html: variantFields.html.default(null),
    weight: variantFields.weight.default(50),
  })
  .refine(isOneContent, oneContent)
  .meta({ examples: [{ subject: "Last days of the sale, {{ firstName }}" }] });
export type NewVariant = z.output<typeof NewVariant>;

export const VariantChanges = z
  .object(variantFields)
  .partial()
  .refine(isOneContent, oneContent)
  .meta({ examples: [{ weight: 80 }] });
export type VariantChanges = z.output<typeof VariantChanges>;

export const CampaignDetail = Campaign.extend({
  sendingConfigLabel: z.string().nullable().describe("Name and address of the sender; null without a sending config, or when it is gone"),
  stats: Stats,
  accounting: Numbers,
  variants: z.array(Variant),
}).meta({ id: "CampaignDetail" });
export type CampaignDetail = z.output<typeof CampaignDetail>;

/** As it is stored. */
export interface StoredCampaign extends Broadcast {
  subject: string | null;
  templateId: number | null;
  listId: number | null;
  tagId: number | null;
  segmentId: number | null;
  sendingConfigId: number | null;
  abTest: AbTest | null;
  status: CampaignStatus;
  variants: StoredVariant[];
  sendLate?: boolean;
}

export const told = (item: StoredCampaign): Campaign => ({
  ...item,
  statusReason: item.statusReason ?? null,
  scheduledAt: item.scheduledAt ?? null,
  sendLate: item.sendLate ?? false,
  startedAt: item.startedAt ?? null,
  finishedAt: item.finishedAt ?? null,
  winner: item.winner ?? null,
});
