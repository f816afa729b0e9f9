// What is left of a campaign or holiday when it is deleted: swept in the background, however much it is. What is swept is gone from
// where it is looked for, so a sweep that dies is simply begun again.
import { after, now } from "../../clock.ts";
import { exists } from "../../conditions.ts";
import { claim, get, put, query, queryAll, remove, update, type Write, writeMany } from "../../doors/table.ts";
import { type Address, idsPerBlock, keys, ranges } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import { queues } from "../../queues.ts";
import * as feed from "../sending/feed.ts";
import { dueAt, type Key, kick } from "./broadcast.ts";
import * as log from "./log.ts";

interface Remains extends Key {
  diedAt: string;
}

const addressOf = ({ orgId, kind, id }: Key): Address => keys.fanOutRemains(orgId, kind, id);

/** In the transaction that takes the record away. */
export const leaving = ({ orgId, kind, id }: Key): Write =>
  put(addressOf({ orgId, kind, id }), { orgId, kind, id, diedAt: now().toISOString(), ...dueAt(id, after(60)) } satisfies Remains);

const workSeconds = queues.campaigns.timeoutSeconds - 40;

/** A holiday takes its sends along; those of a campaign stay in the list of sends. */
export async function clear(key: Key): Promise<void> {
  const there = await get<Remains>(addressOf(key));
  if (!there) return;
  const until = after(workSeconds);
  await claim(update(addressOf(key), { set: dueAt(key.id, after(2 * queues.campaigns.timeoutSeconds)) }, { if: exists }));
  for (;;) {
    const { items } = await log.page(key);
    if (!items.length) break;
    if (now() >= until) return kick(key);
    if (key.kind === "holiday") for (const line of items) await inParallel(4, line.blocks, (block) => sweep(key.orgId, line, block));
    await writeMany(items.map((line) => remove(line)));
  }
  const { orgId, kind, id } = key;
  const [cursors, counters] = await Promise.all([
    queryAll<Address>(ranges.fanOutCursors(orgId, kind, id)),
    queryAll<Address>(ranges.sourceCounts(orgId, kind, id)),
  ]);
  await writeMany([...cursors, ...counters, keys.fanOutPlan(orgId, kind, id)].map((address) => remove(address)));
  await claim(remove(addressOf(key)));
}

/** The sends of one chunk: off the list first, then one and all. */
async function sweep(orgId: number, { siteId, at }: log.Line, [block, n]: [number, number]): Promise<void> {
  const first = block * idsPerBlock;
  await claim(...feed.unlisting(orgId, siteId, at, first, n));
  const hundreds = Array.from({ length: Math.ceil(n / 100) }, (_, i) => first / 100 + i);
  await inParallel(4, hundreds, (hundred) => removeAll(ranges.sendsOf(orgId, hundred)));
  await removeAll(ranges.block(orgId, block));
}

async function removeAll(range: ReturnType<typeof ranges.block>): Promise<void> {
  for (;;) {
    const { items } = await query<Address>(range, { limit: 200, consistent: true });
    if (!items.length) return;
    await writeMany(items.map((item) => remove(item)));
  }
}
