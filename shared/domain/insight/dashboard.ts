// What people look at first.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { query } from "../../doors/table.ts";
import { ranges } from "../../keys.ts";
import { campaignStatuses, type StoredCampaign } from "../campaigns/campaign.ts";
import { Stats, statsOf } from "../campaigns/stats.ts";
import * as feed from "../sending/feed.ts";
import * as sources from "../sending/sources.ts";
import * as suppressions from "../suppressions.ts";
import * as contactCount from "./contact-count.ts";
import { ContactCount } from "./contact-count.ts";
import * as days from "./days.ts";
import { Change, changeOf, Figures, figuresOf } from "./figures.ts";
import { type Asked, begun, named, spanned, within } from "./overview.ts";
import { Reputation, reputationOf } from "./reputation.ts";
import { previousOf } from "./spans.ts";

type Who = Pick<Caller, "orgId" | "siteId">;

const RecentCampaign = z.object({
  id: z.int(),
  siteId: z.int(),
  name: z.string(),
  status: z.enum(campaignStatuses),
  scheduledAt: z.string().nullable(),
  startedAt: z.string().nullable(),
  stats: Stats,
});
export type RecentCampaign = z.output<typeof RecentCampaign>;

export const Dashboard = z
  .object({
    ...named,
    contacts: ContactCount,
    sends: z.object({ total: z.int().describe("Accepted since ever, whatever became of them") }),
    suppressions: z.object({ total: z.int().describe("Addresses of the whole organization that get no mail, or no marketing mail") }),
    totals: Figures,
    previous: z.object({ ...spanned, totals: Figures }).describe("As many days, just before"),
    change: Change,
    recentCampaigns: z.array(RecentCampaign).describe("The five that were made last"),
    reputation: Reputation,
  })
  .meta({ id: "Dashboard" });
export type Dashboard = z.output<typeof Dashboard>;

const mostCampaigns = 5;

export async function dashboard(who: Who, asked: Asked): Promise<Dashboard> {
  const { orgId } = who;
  const { head, span, siteIds } = await begun(who, asked);
  const before = previousOf(span);
  const [counted, contacts, sends, suppressed, recentCampaigns] = await Promise.all([
    days.between(orgId, siteIds, { from: before.from, to: span.to }),
    contactCount.since(orgId, siteIds, span.from),
    feed.total(orgId, siteIds),
    suppressions.counts(orgId),
    campaignsOf(orgId, siteIds, mostCampaigns),
  ]);
  const sum = within(counted, span);
  const [totals, past] = [figuresOf(sum), figuresOf(within(counted, before))];
  return {
    ...head,
    contacts,
    sends: { total: sends },
    suppressions: { total: Object.values(suppressed).reduce((total, n) => total + n, 0) },
    totals,
    previous: { ...before, totals: past },
    change: changeOf(totals, past),
    recentCampaigns,
    reputation: reputationOf(sum),
  };
}

// Of an organization with very many campaigns on other sites not all are looked through.
const mostLookedAt = 200;

/** The newest of these sites, with their numbers; fewer where others stand between them. */
export async function campaignsOf(
  orgId: number,
  siteIds: number[],
  most: number,
  wanted: (campaign: StoredCampaign) => boolean = () => true,
): Promise<RecentCampaign[]> {
  const found = await newestOf(orgId, siteIds, most, wanted);
  return Promise.all(
    found.map(async ({ id, siteId, name, status, scheduledAt, startedAt }) => {
      const { all } = await sources.numbers(orgId, { kind: "campaign", id });
      return { id, siteId, name, status, scheduledAt: scheduledAt ?? null, startedAt: startedAt ?? null, stats: statsOf(all) };
    }),
  );
}

async function newestOf(orgId: number, siteIds: number[], most: number, wanted: (campaign: StoredCampaign) => boolean) {
  const found: StoredCampaign[] = [];
  let after: string | undefined;
  for (let looked = 0; looked < mostLookedAt && found.length < most; looked += 25) {
    const page: { items: StoredCampaign[]; next?: string } = await query(ranges.records(orgId, "CAMPAIGN"), {
      newestFirst: true,
      limit: 25,
      after,
    });
    found.push(...page.items.filter((one) => siteIds.includes(one.siteId) && wanted(one)));
    after = page.next;
    if (after === undefined) break;
  }
  return found.slice(0, most);
}
