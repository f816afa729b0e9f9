// Events about records that are not in a file yet. Each outbox item is logged once.
import { absent, all, exists } from "../../adapters/dynamodb/conditions.ts";
import { get, put, transact, update } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { config } from "../../config.ts";
import { contended } from "../../errors.ts";
import { type CompressedValue, compress } from "../../kernel/compressed-values.ts";
import { type Key, keys } from "../../keys.ts";
import type { OutgoingEvent } from "../../queues.ts";
import { hourConditions } from "./event-hours.ts";

export interface LoggedEvents extends Key, CompressedValue {
  /** Bytes of the events as JSON. */
  bytes: number;
}

/**
 * Logs the events of an outbox item, by site. Without event files this does nothing. Safe to
 * repeat: the item remembers that its events are logged.
 */
export async function logEvents(
  outboxItem: Key,
  orgId: number,
  events: OutgoingEvent[],
): Promise<void> {
  if (!config.writesEventFiles) return;
  const time = `${now().toISOString()}#${events[0]!.id}`;
  const bySite = Map.groupBy(events, ({ details }) => Number(details.siteId ?? 0));
  const writes = await Promise.all(
    [...bySite].map(async ([siteId, ofSite]) => {
      const key = keys.recordEvents(orgId, siteId, time);
      const bytes = Buffer.byteLength(JSON.stringify(ofSite));
      const item = { ...(await compress(key, ofSite)), bytes };
      return [put(key, item), ...(await hourConditions(orgId, siteId, time))];
    }),
  );
  const markLogged = update(
    outboxItem,
    { set: { logged: true } },
    { if: all(exists, absent("logged")) },
  );
  if (await transact(markLogged, ...writes.flat())) return;
  const stored = await get<{ logged?: true }>(outboxItem);
  // Their hour was closed in between, so the queue or the due index repeats it in a later hour.
  if (stored && !stored.logged) throw contended("The record");
}
