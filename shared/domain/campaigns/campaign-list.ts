// Lists campaigns, with their figures if a caller asks for them.
import type * as z from "zod";
import {
  absent,
  all,
  allEqual,
  any,
  atLeast,
  type Condition,
  lessThan,
} from "../../adapters/dynamodb/conditions.ts";
import type { CallerScope } from "../../caller.ts";
import type { PageRequest, Pagination } from "../../kernel/paging.ts";
import { inParallel } from "../../kernel/parallel.ts";
import * as records from "../../kernel/records.ts";
import * as sites from "../identity/sites.ts";
import * as mailSources from "../sending/mail-sources.ts";
import { MailingStats, toMailingStats } from "../sending/mailing-stats.ts";
import { Campaign } from "./campaign-schema.ts";
import { type StoredCampaign, toApi } from "./stored-campaign.ts";

export const ListedCampaign = Campaign.extend({
  stats: MailingStats.optional().describe(
    "Figures of the campaign, with `withStats=true` and once it has started.",
  ),
}).meta({ id: "ListedCampaign" });
type ListedCampaign = z.output<typeof ListedCampaign>;

interface CampaignFilter {
  siteId?: number | undefined;
  status?: string | undefined;
  seriesId?: number | undefined;
  /** The start of the campaign is at this time or later (ISO 8601). */
  from?: string | undefined;
  /** The start of the campaign is before this time (ISO 8601). */
  to?: string | undefined;
}

const readsAtOnce = 10;

/** Newest first. The figures of one campaign take up to eight small items to read. */
export async function list(
  who: CallerScope,
  request: PageRequest,
  { withStats = false, ...filter }: CampaignFilter & { withStats?: boolean },
): Promise<{ campaigns: ListedCampaign[]; pagination: Pagination }> {
  const { found, pagination } = await listStored(who, request, filter);
  if (!withStats) return { campaigns: found, pagination };
  const counted = await inParallel(readsAtOnce, found, async (campaign) => {
    if (campaign.startedAt === null) return campaign;
    const source = { kind: "campaign" as const, id: campaign.id };
    const { all } = await mailSources.getSourceTotals(who.orgId, source);
    return { ...campaign, stats: toMailingStats(all) };
  });
  return { campaigns: counted, pagination };
}

/** Filters read all campaigns of the organization, of which there are few. */
async function listStored(
  who: CallerScope,
  request: PageRequest,
  { siteId, from, to, ...equal }: CampaignFilter,
) {
  const conditions = [allEqual({ ...equal }), startCondition({ from, to })];
  const defined = conditions.filter((one) => one !== undefined);
  const filter = {
    siteIds: await sites.siteFilter(who, siteId),
    filter: defined.length ? all(...defined) : undefined,
  };
  const { items, pagination } = await records.list<StoredCampaign>("CAMPAIGN", who, {
    ...request,
    ...filter,
  });
  return { found: items.map(toApi), pagination };
}

/** When the campaign started, else when it is scheduled to start. */
function startCondition({ from, to }: Pick<CampaignFilter, "from" | "to">): Condition | undefined {
  if (from === undefined && to === undefined) return undefined;
  const within = (attribute: string): Condition =>
    all(
      ...(from === undefined ? [] : [atLeast(attribute, toUtc(from))]),
      ...(to === undefined ? [] : [lessThan(attribute, toUtc(to))]),
    );
  return any(within("startedAt"), all(absent("startedAt"), within("scheduledAt")));
}

const toUtc = (time: string): string => new Date(time).toISOString();
