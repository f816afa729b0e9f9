// Counts the sends of each site. The first 32 sites of an organization are counted on its quota
// item and the shares of it, because accepting a send writes that item anyway: a counter item would
// cost a single send 2 more write units. Further sites have a counter item each.
import { absent, type Condition, equals } from "../../adapters/dynamodb/conditions.ts";
import {
  checkCondition,
  getMany,
  queryAll,
  update,
  type Write,
} from "../../adapters/dynamodb/table.ts";
import type { Problem } from "../../errors.ts";
import { counterShards, keys, ranges } from "../../keys.ts";
import { findUnstored, listOpenCharges } from "./open-charges.ts";

/** `n` sends of one site. */
export interface SiteSendCount {
  siteId: number;
  n: number;
}

const counterPrefix = "sends.";
const maxSitesOnAccount = 32;

/** The attribute of the quota item and its shares that counts the sends of a site. */
export const accountCounterName = (siteId: number): string => `${counterPrefix}${siteId}`;

/**
 * The attribute of the quota item that counts the sends of a site; undefined when the site has a
 * counter item of its own.
 */
export function accountCounterOf(account: object, siteId: number): string | undefined {
  const name = accountCounterName(siteId);
  const names = Object.keys(account).filter((one) => one.startsWith(counterPrefix));
  return names.includes(name) || names.length < maxSitesOnAccount ? name : undefined;
}

/** The sites that the quota item or share counts. */
export const countedSites = (account: object): number[] =>
  Object.keys(account).flatMap((name) =>
    name.startsWith(counterPrefix) ? Number(name.slice(counterPrefix.length)) : [],
  );

export const countSiteSendsWrite = (orgId: number, { siteId, n }: SiteSendCount): Write =>
  update(keys.sendCount(orgId, siteId), { add: { count: n } });

export async function countSends(orgId: number, siteIds: number[]): Promise<number> {
  const [account, ownCounter] = await Promise.all([
    queryAll<Record<string, number>>(ranges.quotaAndCredits(orgId)),
    queryAll<{ sk: string; count: number }>(ranges.sendCounts(orgId)),
  ]);
  const counted = new Map(ownCounter.map(({ sk, count }) => [sk, count]));
  const onAccount = (name: string) => account.reduce((sum, item) => sum + (item[name] ?? 0), 0);
  const unstored = (await findUnstored(orgId, account.flatMap(listOpenCharges))).filter(
    ({ siteId }) => siteIds.includes(siteId),
  );
  return siteIds.reduce(
    (sum, id) =>
      sum + onAccount(accountCounterName(id)) + (counted.get(keys.sendCount(orgId, id).sk) ?? 0),
    -unstored.length,
  );
}

/**
 * Conditions that hold while the site has no sends and no open charges; the transaction fails with
 * `otherwise` when it has some.
 */
export async function requireNoSendsWrites(
  orgId: number,
  siteId: number,
  otherwise: Problem,
): Promise<Write[]> {
  const onAccount = [
    keys.quotaAndCredits(orgId),
    ...counterShards.map((shard) => keys.accountShare(orgId, shard)),
  ];
  const ownCounter = keys.sendCount(orgId, siteId);
  const [own, ...items] = await getMany<Record<string, number>>([ownCounter, ...onAccount], {
    consistent: true,
  });
  const name = accountCounterName(siteId);
  const total = items.reduce((sum, item) => sum + (item?.[name] ?? 0), own?.count ?? 0);
  if (total) throw otherwise;
  return [
    ...onAccount.map((address, i) =>
      checkCondition(address, unchangedCondition(name, items[i]?.[name]), otherwise),
    ),
    checkCondition(ownCounter, unchangedCondition("count", own?.count), otherwise),
  ];
}

const unchangedCondition = (attribute: string, n: number | undefined): Condition =>
  n === undefined ? absent(attribute) : equals(attribute, n);
