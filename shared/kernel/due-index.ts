// Sweeps over the due index. Its shards hold entries sorted by the time at which they are due. The
// index only finds entries: the worker decides by the item itself, which it reads consistently.
import { query } from "../adapters/dynamodb/table.ts";
import { now } from "../clock.ts";
import type { IndexRange, Key } from "../keys.ts";
import { inParallel } from "./parallel.ts";

export type DueEntry = Key & { duesk: string };

/** The shards whose first entry is due. A shard without due work costs 0.5 read units. */
export async function findDueShards<S>(
  shards: S[],
  rangeOf: (shard: S) => IndexRange,
): Promise<S[]> {
  const time = now().toISOString();
  const times = await readFirstDueTimes(shards.map(rangeOf));
  return shards.filter((_, i) => (times[i] ?? "~") <= time);
}

/** When the first entry of each range is due. Undefined: the range is empty. */
const readFirstDueTimes = (ranges: IndexRange[]): Promise<(string | undefined)[]> =>
  inParallel(
    16,
    ranges,
    async (range) => (await query<DueEntry>(range, { limit: 1 })).items[0]?.duesk,
  );

// An entry whose work failed has the sort key "<next attempt>#<when it was first due>".
export const toFailedSortKey = (nextDueAt: string, since: string): string =>
  `${nextDueAt}#${since}`;

/** The time at which the work of an entry was first due, however often it has failed since. */
export const firstDueAt = (sortKey: string): string => {
  const [dueAt, since] = sortKey.split("#");
  // The sort key of an enrollment has a hash behind its time.
  return since && /^\d{4}-\d\d-\d\dT/.test(since) ? since : dueAt!;
};

// As many entries as 0.5 read units have.
const entriesPerRange = 25;

/**
 * When the oldest work of each range was first due (ISO 8601). Undefined: the range is empty. Looks
 * at the first entries only; work that failed is among them, because it is due again in minutes.
 */
export const readOldestDueTimes = (ranges: IndexRange[]): Promise<(string | undefined)[]> =>
  inParallel(16, ranges, async (range) => {
    const { items } = await query<DueEntry>(range, { limit: entriesPerRange });
    return items.map(({ duesk }) => firstDueAt(duesk)).toSorted()[0];
  });

/**
 * Yields the due entries of a shard page by page. Ends at the first entry that is not due yet,
 * because those behind it are due even later. Reads a page only when the consumer asks for it, so a
 * worker whose time is up leaves the loop.
 */
export async function* readDuePages(range: IndexRange, limit: number): AsyncGenerator<DueEntry[]> {
  let after: string | undefined;
  do {
    const page = await query<DueEntry>(range, { limit, after });
    const time = now().toISOString();
    const due = page.items.filter(({ duesk }) => duesk <= time);
    yield due;
    after = due.length === page.items.length ? page.next : undefined;
  } while (after !== undefined);
}
