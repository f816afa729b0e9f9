// The dashboard: totals, change, recent campaigns and reputation.
import * as z from "zod";
import { query } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { rangeBefore } from "../../kernel/calendar-dates.ts";
import { Count, RecordId, RecordSiteId, Timestamp } from "../../kernel/record-fields.ts";
import { ranges } from "../../keys.ts";
import * as suppressions from "../audience/suppressions/suppressions.ts";
import { broadcastStatuses } from "../campaigns/campaign-schema.ts";
import type { StoredCampaign } from "../campaigns/stored-campaign.ts";
import { countSends } from "../identity/site-send-counts.ts";
import * as mailSources from "../sending/mail-sources.ts";
import { MailingStats, toMailingStats } from "../sending/mailing-stats.ts";
import * as contactCount from "./contact-count.ts";
import { ContactCount } from "./contact-count.ts";
import * as dailyTotals from "./daily-totals.ts";
import { compareMetrics, MailMetrics, MetricsChange, toMetrics } from "./mail-metrics.ts";
import {
  type PeriodQuery,
  PreviousPeriod,
  periodFields,
  resolvePeriod,
  sumWithin,
} from "./overview.ts";
import { Reputation, rateReputation } from "./reputation.ts";

const RecentCampaign = z.object({
  id: RecordId.describe("Id of the campaign, for GET /campaigns/:id."),
  siteId: RecordSiteId,
  name: z.string().describe("Name of the campaign."),
  status: z.enum(broadcastStatuses).describe("Status of the campaign, as in GET /campaigns/:id."),
  scheduledAt: Timestamp.nullable().describe(
    "When sending starts. `null` if it was never scheduled.",
  ),
  startedAt: Timestamp.nullable().describe("When sending started, or `null`."),
  stats: MailingStats,
});
export type RecentCampaign = z.output<typeof RecentCampaign>;

export const Dashboard = z
  .object({
    ...periodFields,
    contacts: ContactCount,
    sends: z
      .object({
        total: Count.describe("Emails accepted since the beginning, whatever their status."),
      })
      .describe("Emails of the organization."),
    suppressions: z
      .object({
        total: Count.describe(
          "Suppressed email addresses of the organization, for whatever reason.",
        ),
      })
      .describe("Suppression list of the organization."),
    totals: MailMetrics,
    previous: PreviousPeriod,
    change: MetricsChange,
    recentCampaigns: z.array(RecentCampaign).describe("The five latest campaigns."),
    reputation: Reputation,
  })
  .meta({ id: "Dashboard" });
export type Dashboard = z.output<typeof Dashboard>;

const maxCampaigns = 5;

export async function getDashboard(caller: CallerScope, request: PeriodQuery): Promise<Dashboard> {
  const { orgId } = caller;
  const { head: periodHead, span, siteIds } = await resolvePeriod(caller, request);
  const previousRange = rangeBefore(span);
  const [totalsByDate, contacts, sends, suppressed, recentCampaigns] = await Promise.all([
    dailyTotals.getTotalsByDate(orgId, siteIds, { from: previousRange.from, to: span.to }),
    contactCount.countSince(orgId, siteIds, span.from),
    countSends(orgId, siteIds),
    suppressions.getCounts(orgId),
    listRecentCampaigns(orgId, { siteIds, limit: maxCampaigns }),
  ]);
  const sum = sumWithin(totalsByDate, span);
  const totals = toMetrics(sum);
  const previousTotals = toMetrics(sumWithin(totalsByDate, previousRange));
  return {
    ...periodHead,
    contacts,
    sends: { total: sends },
    suppressions: { total: Object.values(suppressed).reduce((total, n) => total + n, 0) },
    totals,
    previous: { ...previousRange, totals: previousTotals },
    change: compareMetrics(totals, previousTotals),
    recentCampaigns,
    reputation: rateReputation(sum),
  };
}

const maxScanned = 200;

interface CampaignSearch {
  siteIds: number[];
  limit: number;
  filter?: (campaign: StoredCampaign) => boolean;
}

/**
 * The newest campaigns with their statistics. Finds fewer if the 200 newest campaigns are mostly of
 * other sites.
 */
export async function listRecentCampaigns(
  orgId: number,
  search: CampaignSearch,
): Promise<RecentCampaign[]> {
  const found = await findNewestCampaigns(orgId, search);
  return Promise.all(
    found.map(async ({ id, siteId, name, status, scheduledAt, startedAt }) => {
      const { all } = await mailSources.getSourceTotals(orgId, { kind: "campaign", id });
      return {
        id,
        siteId,
        name,
        status,
        scheduledAt: scheduledAt ?? null,
        startedAt: startedAt ?? null,
        stats: toMailingStats(all),
      };
    }),
  );
}

async function findNewestCampaigns(
  orgId: number,
  { siteIds, limit, filter = () => true }: CampaignSearch,
): Promise<StoredCampaign[]> {
  const found: StoredCampaign[] = [];
  let after: string | undefined;
  for (let scanned = 0; scanned < maxScanned && found.length < limit; scanned += 25) {
    const page: { items: StoredCampaign[]; next?: string } = await query(
      ranges.records(orgId, "CAMPAIGN"),
      {
        newestFirst: true,
        limit: 25,
        after,
      },
    );
    found.push(
      ...page.items.filter((campaign) => siteIds.includes(campaign.siteId) && filter(campaign)),
    );
    after = page.next;
    if (after === undefined) break;
  }
  return found.slice(0, limit);
}
