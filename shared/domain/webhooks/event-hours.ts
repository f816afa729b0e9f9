// Hours of event files. With event files, every event is committed in an hour of its site: the hour
// has an item, which says that its files are to be written. Before they are, the hour is closed:
// the seals of the site move to its end, and each transaction that commits events depends on one of
// them. So all events of a closed hour are visible, and a late worker commits in a later hour.
import { absent, any, atMost, isNew, lessThan } from "../../adapters/dynamodb/conditions.ts";
import {
  checkCondition,
  put,
  transact,
  update,
  type Write,
} from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds } from "../../clock.ts";
import { config } from "../../config.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { dueShardOf, indexAttributes, indexes, keys, sha256 } from "../../keys.ts";
import { queues } from "../../queues.ts";

export interface HourId {
  orgId: number;
  /** 0 for events that belong to no site. */
  siteId: number;
  /** In UTC: `2026-12-01T09`. */
  hour: string;
}

/** The item of an hour whose files are to be written. */
export interface EventHour extends HourId {
  /** The number of the next file, from 0. */
  part: number;
  /** The position after which the next file begins. */
  after?: string;
  /** All files are written. */
  isWritten?: boolean;
}

// Longer than a worker takes, so that closing an hour usually interrupts nobody.
const graceSeconds = 300;

/** When the files of an hour may be written. */
export const closesAt = (hour: string): Date => addSeconds(3600 + graceSeconds, startOf(hour));
const startOf = (hour: string): Date => new Date(`${hour}:00:00.000Z`);
const hourOf = (time: string): string => time.slice(0, "2026-12-01T09".length);

const registeredHours = createLruCache<true>(10_000);

/**
 * Conditions for the transaction that commits events of a site at `time`, which begins with an
 * ISO 8601 time. If the hour is closed they do not hold. Registers the hour, so that its files are
 * written. Without event files there are none.
 */
export async function hourConditions(
  orgId: number,
  siteId: number,
  time: string,
): Promise<Write[]> {
  if (!config.writesEventFiles) return [];
  const shard = Number.parseInt(sha256(time).slice(0, 4), 16) % sealShards;
  const isOpen = checkCondition(
    keys.eventSeal(orgId, siteId, shard),
    any(absent("until"), atMost("until", time)),
  );
  await registerHour({ orgId, siteId, hour: hourOf(time) }, isOpen);
  return [isOpen];
}

/** A closed hour is not registered again, because its files would be written again. */
async function registerHour(id: HourId, isOpen: Write): Promise<void> {
  const { orgId, siteId, hour } = id;
  const name = `${orgId} ${siteId} ${hour}`;
  if (registeredHours.get(name)) return;
  const item: EventHour = { ...id, part: 0 };
  const due = indexAttributes(
    indexes.due("EVENTHOUR", dueShardOf(siteId)),
    closesAt(hour).toISOString(),
  );
  await transact(
    put(keys.eventHour(orgId, siteId, hour), { ...item, ...due }, { if: isNew }),
    isOpen,
  );
  registeredHours.set(name, true, 1);
}

/** Several, because transactions that check the same item conflict. */
const sealShards = 8;

/** From now on nothing can be committed in this hour or an earlier one. */
export async function closeHour({ orgId, siteId, hour }: HourId): Promise<void> {
  const until = addSeconds(3600, startOf(hour)).toISOString();
  const shards = Array.from({ length: sealShards }, (_, shard) => shard);
  await inParallel(sealShards, shards, (shard) =>
    transact(
      update(
        keys.eventSeal(orgId, siteId, shard),
        { set: { until } },
        { if: any(absent("until"), lessThan("until", until)) },
      ),
    ),
  );
}

export const enqueueHour = ({ orgId, siteId, hour }: HourId): Promise<void> =>
  enqueue(queues.jobs, [{ job: "write-event-files", orgId, siteId, hour }], { group: orgId });
