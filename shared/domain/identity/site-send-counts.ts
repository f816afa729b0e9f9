// Counts the sends of each site. The first 32 sites of an organization are counted on its account
// and the shards of it, because accepting a send writes one of them anyway: a counter item would
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

/** `n` sends of one site. */
export interface SiteSendCount {
  siteId: number;
  n: number;
}

const counterPrefix = "sends.";
const maxSitesOnAccount = 32;

const counterName = (siteId: number): string => `${counterPrefix}${siteId}`;

/**
 * The attribute of the account, or of a shard, that counts the sends of a site; undefined when the
 * site has a counter item of its own.
 */
export function siteCounterOf(account: object, siteId: number): string | undefined {
  const name = counterName(siteId);
  const names = Object.keys(account).filter((one) => one.startsWith(counterPrefix));
  return names.includes(name) || names.length < maxSitesOnAccount ? name : undefined;
}

export const countSiteSendsWrite = (orgId: number, { siteId, n }: SiteSendCount): Write =>
  update(keys.sendCount(orgId, siteId), { add: { count: n } });

export async function countSends(orgId: number, siteIds: number[]): Promise<number> {
  const [account, ownCounters] = await Promise.all([
    queryAll<Record<string, number>>(ranges.account(orgId)),
    queryAll<{ sk: string; count: number }>(ranges.sendCounts(orgId)),
  ]);
  const counted = new Map(ownCounters.map(({ sk, count }) => [sk, count]));
  const onAccount = (name: string) => account.reduce((sum, item) => sum + (item[name] ?? 0), 0);
  return siteIds.reduce(
    (sum, id) =>
      sum + onAccount(counterName(id)) + (counted.get(keys.sendCount(orgId, id).sk) ?? 0),
    0,
  );
}

/**
 * Conditions that hold while the site has no sends; the transaction fails with `otherwise` when it
 * has some.
 */
export async function requireNoSendsWrites(
  orgId: number,
  siteId: number,
  otherwise: Problem,
): Promise<Write[]> {
  const accountKeys = [
    keys.account(orgId),
    ...counterShards.map((shard) => keys.accountShard(orgId, shard)),
  ];
  const ownCounter = keys.sendCount(orgId, siteId);
  const [own, ...items] = await getMany<Record<string, number>>([ownCounter, ...accountKeys], {
    consistent: true,
  });
  const name = counterName(siteId);
  const total = items.reduce((sum, item) => sum + (item?.[name] ?? 0), own?.count ?? 0);
  if (total) throw otherwise;
  return [
    ...accountKeys.map((key, i) =>
      checkCondition(key, unchangedCondition(name, items[i]?.[name]), otherwise),
    ),
    checkCondition(ownCounter, unchangedCondition("count", own?.count), otherwise),
  ];
}

const unchangedCondition = (attribute: string, n: number | undefined): Condition =>
  n === undefined ? absent(attribute) : equals(attribute, n);
