// Events of a send that no longer fit into its item: each is an item of its own. A send has a limit
// of them.
import { getMany, insertMany, update, updateMany, write } from "../../adapters/dynamodb/table.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { keys } from "../../keys.ts";
import { eventKey, mayHaveOverflow, type OverflowEvent, type SendUpdate } from "./send-events.ts";

/** Writes overflow events. Returns the updates of which another round changed an overflow event. */
export async function writeOverflow(
  orgId: number,
  updates: SendUpdate[],
): Promise<Set<SendUpdate>> {
  const all = updates.flatMap((update) =>
    update.overflow.map((write) => ({
      update,
      ...write,
      key: keys.overflowEvent(orgId, update.send.id, eventKey(write.event)),
    })),
  );
  const created = all.filter(({ isNew }) => isNew);
  const takenOver = all.filter(({ takenFrom }) => takenFrom !== undefined);
  const [inserted, updated] = await Promise.all([
    insertMany(created.map(({ key, event }) => ({ key, item: event }))),
    updateMany(
      takenOver.map(({ key, event: { round }, takenFrom }) => ({
        key,
        set: { round },
        ifEquals: { round: takenFrom! },
      })),
    ),
  ]);
  await countOverflow(
    orgId,
    created.filter((_, i) => inserted[i]).map(({ update }) => update.send.id),
  );
  const failed = [
    ...created.filter((_, i) => !inserted[i]),
    ...takenOver.filter((_, i) => !updated[i]),
  ];
  return new Set(failed.map(({ update }) => update));
}

/** Limit of overflow events of one send. A crash between write and count lets a few more in. */
const maxOverflowEvents = 1000;

async function countOverflow(orgId: number, sendIds: number[]): Promise<void> {
  const bySend = [...Map.groupBy(sendIds, (id) => id)];
  await inParallel(8, bySend, ([id, events]) =>
    write(update(keys.sendEventCount(orgId, id), { add: { count: events.length } })),
  );
}

/** Returns the ids of the sends that have reached the limit of overflow events. */
export async function listFullSends(orgId: number, updates: SendUpdate[]): Promise<Set<number>> {
  const ids = updates
    .filter(({ send, events }) => mayHaveOverflow(send, events.length))
    .map(({ send }) => send.id);
  const counts = await getMany<{ count: number }>(ids.map((id) => keys.sendEventCount(orgId, id)));
  return new Set(ids.filter((_, i) => (counts[i]?.count ?? 0) >= maxOverflowEvents));
}

/**
 * Drops new opens, clicks and deferrals of a full send. Keeps events that may change its status,
 * and events that are stored already.
 */
export function dropRepeatable({ send, events }: SendUpdate, overflow: Map<string, OverflowEvent>) {
  const stored = new Set([...(send.events ?? []).map(eventKey), ...overflow.keys()]);
  return events.filter((event) => !repeatable.has(event.type) || stored.has(eventKey(event)));
}
const repeatable = new Set<string>(["open", "click", "deferred"]);

export type OverflowBySend = Map<number, Map<string, OverflowEvent>>;

export async function loadOverflow(orgId: number, updates: SendUpdate[]): Promise<OverflowBySend> {
  const candidates = updates.flatMap(({ send, events }) =>
    mayHaveOverflow(send, events.length)
      ? events.map((event) => ({ id: send.id, key: eventKey(event) }))
      : [],
  );
  const found = await getMany<OverflowEvent>(
    candidates.map(({ id, key }) => keys.overflowEvent(orgId, id, key)),
    { consistent: true },
  );
  const bySend: OverflowBySend = new Map();
  for (const [i, { id, key }] of candidates.entries())
    if (found[i]) bySend.set(id, (bySend.get(id) ?? new Map()).set(key, found[i]));
  return bySend;
}
