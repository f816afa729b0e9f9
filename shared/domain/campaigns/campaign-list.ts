// Lists campaigns, with their figures if a caller asks for them.
import type * as z from "zod";
import type { CallerScope } from "../../caller.ts";
import type { PageRequest, Pagination } from "../../kernel/paging.ts";
import { inParallel } from "../../kernel/parallel.ts";
import * as mailSources from "../sending/mail-sources.ts";
import { MailingStats, toMailingStats } from "../sending/mailing-stats.ts";
import { Campaign } from "./campaign-schema.ts";
import * as campaigns from "./campaigns.ts";

export const ListedCampaign = Campaign.extend({
  stats: MailingStats.optional().describe(
    "Figures of the campaign, with `withStats=true` and once it has started.",
  ),
}).meta({ id: "ListedCampaign" });
type ListedCampaign = z.output<typeof ListedCampaign>;

interface ListFilter {
  siteId?: number | undefined;
  status?: string | undefined;
  seriesId?: number | undefined;
}

const readsAtOnce = 10;

/** Newest first. The figures of one campaign take up to eight small items to read. */
export async function list(
  who: CallerScope,
  request: PageRequest,
  { withStats, ...filter }: ListFilter & { withStats: boolean },
): Promise<{ campaigns: ListedCampaign[]; pagination: Pagination }> {
  const { campaigns: found, pagination } = await campaigns.list(who, request, filter);
  if (!withStats) return { campaigns: found, pagination };
  const counted = await inParallel(readsAtOnce, found, async (campaign) => {
    if (campaign.startedAt === null) return campaign;
    const source = { kind: "campaign" as const, id: campaign.id };
    const { all } = await mailSources.getSourceTotals(who.orgId, source);
    return { ...campaign, stats: toMailingStats(all) };
  });
  return { campaigns: counted, pagination };
}
