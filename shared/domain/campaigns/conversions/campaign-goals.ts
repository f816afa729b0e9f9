// The campaigns of a site that count conversions. Each process caches them for a few seconds, so a
// site without such a campaign pays nothing for its events.
import { getMany, put, query, remove, type Write } from "../../../adapters/dynamodb/table.ts";
import { epochSeconds, now } from "../../../clock.ts";
import { type Key, keys, ranges } from "../../../keys.ts";
import { type CampaignConversion, countedUntil } from "./conversion-schema.ts";

export interface CampaignGoal {
  campaignId: number;
  goal: CampaignConversion;
  /** ISO 8601. */
  startedAt: string;
  /** Some contacts got no email, and their conversions are compared. */
  holdsOut?: true;
  expires: number;
}
type StoredGoal = CampaignGoal & Key;

interface SiteScope {
  orgId: number;
  siteId: number;
}

/** For the transaction that starts the campaign. */
export function storeGoalWrite(
  { orgId, siteId }: SiteScope,
  goal: Omit<CampaignGoal, "expires">,
): Write {
  const expires = epochSeconds(countedUntil(goal.startedAt));
  return put(keys.campaignGoal(orgId, siteId, goal.campaignId), { ...goal, expires });
}

/** For the transaction that deletes the campaign. */
export const removeGoalWrite = (orgId: number, siteId: number, campaignId: number): Write =>
  remove(keys.campaignGoal(orgId, siteId, campaignId));

/** The latest campaigns of a site for which events count. */
const maxGoals = 100;
const cacheMs = 3000;
const maxCachedSites = 1000;
const cache = new Map<string, { goals: StoredGoal[]; until: number }>();
const cacheKeyOf = ({ orgId, siteId }: SiteScope): string => `${orgId}/${siteId}`;
export const clearGoalCache = (site: SiteScope): void => void cache.delete(cacheKeyOf(site));

/** The newest first. A campaign that just started can be missing for a few seconds. */
export async function listGoals(site: SiteScope): Promise<StoredGoal[]> {
  const cached = cache.get(cacheKeyOf(site));
  if (cached && cached.until > performance.now()) return cached.goals.filter(isOpen);
  const { items: goals } = await query<StoredGoal>(ranges.campaignGoals(site.orgId, site.siteId), {
    limit: maxGoals,
    newestFirst: true,
  });
  if (cache.size >= maxCachedSites) cache.clear();
  cache.set(cacheKeyOf(site), { goals, until: performance.now() + cacheMs });
  return goals.filter(isOpen);
}

const isOpen = ({ expires }: CampaignGoal): boolean => expires > epochSeconds(now());

/** Without those whose campaign was deleted meanwhile. */
export async function rereadGoals(goals: StoredGoal[]): Promise<StoredGoal[]> {
  const found = await getMany<StoredGoal>(goals, { consistent: true });
  return found.flatMap((goal) => goal ?? []);
}
