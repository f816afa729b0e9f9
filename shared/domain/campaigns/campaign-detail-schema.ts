// Schema of one campaign with its variants and figures.
import * as z from "zod";
import { Count, Missing, Timestamp } from "../../kernel/record-fields.ts";
import { MailingAccounting, MailingStats } from "../sending/mailing-stats.ts";
import { Campaign } from "./campaign-schema.ts";
import { CampaignConversions } from "./conversions/conversion-schema.ts";
import { CampaignVariant } from "./variant-schema.ts";

const WaitingForLocalTime = z
  .object({
    emails: Count.describe("Emails that wait. They also count as `queued` of the accounting."),
    nextAt: Timestamp.describe("When the first of them are due."),
    lastAt: Timestamp.describe("When the last of them are due."),
  })
  .meta({ id: "WaitingForLocalTime" });
export type WaitingForLocalTime = z.output<typeof WaitingForLocalTime>;

export const CampaignDetail = Campaign.extend({
  sendingConfigLabel: z
    .string()
    .nullable()
    .describe("Name and email address of the sender. `null` without a sending config."),
  stats: MailingStats,
  accounting: MailingAccounting,
  conversions: CampaignConversions.nullable().describe(
    "What the `conversion` event has counted. `null` without one.",
  ),
  waitingForLocalTime: WaitingForLocalTime.nullable().describe(
    "Emails of recipients for whom it is not yet `localTime`. `null` if there are none.",
  ),
  waitingReason: z
    .string()
    .nullable()
    .describe(
      "Why the provider does not accept the emails of the campaign for now, with its own words. " +
        "`null` unless the campaign is `sending` and the provider failed or asked for a pause.",
    ),
  variants: z.array(CampaignVariant).describe("Variants of the campaign, oldest first."),
  missing: Missing,
}).meta({ id: "CampaignDetail" });
export type CampaignDetail = z.output<typeof CampaignDetail>;
