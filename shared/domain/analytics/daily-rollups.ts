// Rolls up the counters of a day that is over: one item replaces the sharded counters, another one
// the counters by domain. Readers add up all items of the day, so it reads the same before, during
// and after the rollup. Every step can be repeated.

import { exists } from "../../adapters/dynamodb/conditions.ts";
import {
  put,
  queryAll,
  remove,
  transact,
  update,
  type Write,
  write,
  writeMany,
} from "../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../clock.ts";
import { type CompressedValue, compress } from "../../kernel/compressed-values.ts";
import { addUp, type CounterTotals } from "../../kernel/sharded-counters.ts";
import {
  dueShardOf,
  indexAttributeNames,
  indexAttributes,
  indexes,
  type Key,
  keys,
  ranges,
} from "../../keys.ts";
import { rollupDueAt } from "../sending/daily-counters.ts";

/** One shard of the day's counters, or their rollup. */
export type DayCountersItem = Key & Record<string, unknown>;
/** The rollup of the counters by domain. */
export type DomainRollupItem = Key & CompressedValue;
export type DomainTotals = Record<string, CounterTotals>;

interface SiteDay {
  orgId: number;
  siteId: number;
  date: string;
}

// The worker of the rollup is done or dead by then.
const retrySeconds = 300;

/** Does nothing until the day is over in every time zone. */
export async function rollUpDay(orgId: number, siteId: number, date: string): Promise<void> {
  if (now().toISOString() < rollupDueAt(date)) return;
  const items = await queryAll<DayCountersItem>(ranges.dayItems(orgId, siteId, date), {
    consistent: true,
  });
  const rollup = items.find(({ sk }) => sk === date);
  const counters = items.filter((item) => item !== rollup);
  const day = { orgId, siteId, date };
  if (!rollup && counters.length) await transact(...(await rollUpWrites(day, counters)));
  // Late counters stay, because readers add them to the rollup. They only leave the due index.
  else if (counters.length)
    await write(...counters.map((item) => update(item, { remove: indexAttributeNames("due") })));
  if (counters.length || rollup?.duepk) await deleteDomainCounters(day);
}

/** The rollup stays on the due index until the counters by domain are deleted too. */
async function rollUpWrites(day: SiteDay, counters: DayCountersItem[]): Promise<Write[]> {
  const { orgId, siteId, date } = day;
  const [dayKey, byDomain] = [
    keys.dayRollup(orgId, siteId, date),
    keys.dayDomainsRollup(orgId, siteId, date),
  ];
  const due = indexAttributes(
    indexes.due("DAY", dueShardOf(siteId)),
    addSeconds(retrySeconds).toISOString(),
  );
  const domains = await getDomainTotals(day);
  return [
    put(dayKey, { ...addUp(counters), of: [orgId, siteId, date], ...due }, { ifAbsent: true }),
    put(byDomain, await compress(byDomain, domains)),
    ...counters.map((item) => remove(item)),
  ];
}

/** Totals by domain of a day that is not rolled up. */
export async function getDomainTotals(
  { orgId, siteId, date }: SiteDay,
  { consistent = true } = {},
): Promise<DomainTotals> {
  const items = await queryAll<DayCountersItem>(ranges.dayDomainCounters(orgId, siteId, date), {
    consistent,
  });
  const byDomain = Map.groupBy(items, ({ sk }) => /^D#(.*)#\d+$/.exec(sk)?.[1] ?? sk);
  return Object.fromEntries([...byDomain].map(([domain, counters]) => [domain, addUp(counters)]));
}

async function deleteDomainCounters({ orgId, siteId, date }: SiteDay): Promise<void> {
  const items = await queryAll<Key>(ranges.dayDomainCounters(orgId, siteId, date));
  await writeMany(items.map((item) => remove(item)));
  await transact(
    update(
      keys.dayRollup(orgId, siteId, date),
      { remove: indexAttributeNames("due") },
      { if: exists },
    ),
  );
}
