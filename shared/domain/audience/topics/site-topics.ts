// The topics of a site in their order, as contacts, mail and pages need them: one item per site, so
// a list of contacts reads all topics at once.
import { get, getMany } from "../../../adapters/dynamodb/table.ts";
import { keys } from "../../../keys.ts";
import type { TopicItem } from "./topic-schema.ts";

/** What the item of the site holds of each topic. The records have the rest. */
export type SiteTopic = Pick<
  TopicItem,
  "id" | "name" | "description" | "visibility" | "defaultSubscription"
>;

export interface SiteTopicsItem {
  topics: SiteTopic[];
  v: number;
}

/** The topics of a site in their order. */
export const listOfSite = async (orgId: number, siteId: number): Promise<SiteTopic[]> =>
  (await get<SiteTopicsItem>(keys.siteTopics(orgId, siteId)))?.topics ?? [];

/** The topics of several sites, by the id of the site. */
export async function listOfSites(
  orgId: number,
  siteIds: number[],
): Promise<Map<number, SiteTopic[]>> {
  const distinct = [...new Set(siteIds)];
  const found = await getMany<SiteTopicsItem>(
    distinct.map((siteId) => keys.siteTopics(orgId, siteId)),
    { consistent: true },
  );
  return new Map(distinct.map((siteId, i) => [siteId, found[i]?.topics ?? []]));
}
