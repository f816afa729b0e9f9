// The clicked links of a campaign, in total and by variant.
import * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import { Count, RecordId } from "../../kernel/record-fields.ts";
import * as clickedLinks from "../sending/clicked-links.ts";
import * as campaigns from "./campaigns.ts";

const clickCounts = {
  clicks: Count.describe("Clicks, those of machines included."),
  uniqueClicks: Count.describe("Recipients who clicked."),
  machineClicks: Count.describe("Clicks by machines, such as link scanners."),
};

const CampaignLink = z
  .object({
    url: z
      .string()
      .nullable()
      .describe(
        "Link without tracking parameters such as `utm_source`. `{email}`, `{contactId}` and " +
          "`{token}` stand for values that differ per recipient. `null`: all links after the " +
          `first ${clickedLinks.maxLinks}, in one row.`,
      ),
    ...clickCounts,
    variants: z
      .array(z.object({ variantId: RecordId.describe("Variant of the counts."), ...clickCounts }))
      .describe("The counts by variant. Empty without variants."),
  })
  .meta({ id: "CampaignLink" });

export const CampaignLinks = z
  .object({
    links: z.array(CampaignLink).describe("Clicked links, the most clicked first."),
  })
  .meta({ id: "CampaignLinks" });
export type CampaignLinks = z.output<typeof CampaignLinks>;

export async function list(who: CallerScope, id: number): Promise<CampaignLinks> {
  await campaigns.findStored(who, id);
  const rows = await clickedLinks.listLinkTotals(who.orgId, id);
  return {
    links: rows.map(({ url, all, variants }) => ({
      url: url ?? null,
      ...toClickCounts(all),
      variants: [...variants].map(([variantId, totals]) => ({
        variantId,
        ...toClickCounts(totals),
      })),
    })),
  };
}

const toClickCounts = ({ clicked, uniqueClicked, clickedByMachine }: clickedLinks.LinkTotals) => ({
  clicks: clicked,
  uniqueClicks: uniqueClicked,
  machineClicks: clickedByMachine,
});
