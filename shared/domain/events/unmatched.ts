// Events whose send is not there (yet): a provider can be faster than our write. They wait on the due index and are tried again,
// then dropped and counted.
import { after, now } from "../../clock.ts";
import { exists, isNew } from "../../conditions.ts";
import { claim, put, remove, update, write, writeMany } from "../../doors/table.ts";
import { dueShard, keys, on, shelves } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import type { InboundEvent } from "../../queues.ts";
import { suppress } from "./effects.ts";
import type { Arrival } from "./timeline-item.ts";

/** As it waits; `orgId` and the rest make the queue message that brings it again. */
export interface Parked {
  orgId: number;
  provider: string;
  event: InboundEvent;
}

const retrySeconds = [60, 600, 3600, 24 * 3600];

/** What they say of the address holds whether or not we know the send; it is heard once, as somebody may since have lifted it. */
export async function keep(orgId: number, strangers: Arrival[]): Promise<void> {
  if (!strangers.length) return;
  const fresh = strangers.filter(({ event }) => !event.parked);
  await suppress(
    orgId,
    fresh.map(({ event, provider }) => ({ email: event.email, type: event.type, detail: event.data.reason, provider })),
  );
  await inParallel(8, strangers, (arrival) => park(orgId, arrival));
}

async function park(orgId: number, { event, provider }: Arrival): Promise<void> {
  const tries = event.parked?.tries ?? 0;
  const address = keys.parkedEvent(orgId, event.id);
  // Without an id of ours there is nothing that could appear.
  if (tries >= retrySeconds.length || event.sendId === undefined) return drop(orgId, event, tries > 0);
  const parked = { since: event.parked?.since ?? now().toISOString(), tries: tries + 1 };
  const due = on(shelves.due("EVENT", dueShard(event.id)), after(retrySeconds[tries]!).toISOString());
  const item: Parked & object = { orgId, provider, event: { ...event, parked }, ...due };
  await (tries ? write(put(address, item)) : claim(put(address, item, { if: isNew })));
}

async function drop(orgId: number, event: InboundEvent, waits: boolean): Promise<void> {
  const counting = update(keys.unmatchedCount(orgId), { add: { count: 1 } });
  if (waits) await claim(remove(keys.parkedEvent(orgId, event.id), { if: exists }), counting);
  else await write(counting);
}

/** Their sends have appeared. */
export const release = (orgId: number, events: InboundEvent[]): Promise<void> =>
  writeMany(events.filter(({ parked }) => parked).map(({ id }) => remove(keys.parkedEvent(orgId, id))));
