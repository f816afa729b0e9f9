// Entries of the audit log: who changed what, when and from where. The entry of a change is stored
// before the change, and completed after it. So no change lacks an entry: if the process dies in
// between, the outcome of the entry stays `unknown`. chain.ts chains the hashes of complete entries
// later, so that parallel requests of an organization do not write the same item.
import { absent, all, type Condition, equals, exists } from "../../adapters/dynamodb/conditions.ts";
import { put, remove, transact, update, write } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds, epochSeconds, now } from "../../clock.ts";
import { randomBase62 } from "../../ids.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { dueShardOf, indexAttributes, indexes, type Key, keys } from "../../keys.ts";
import { queues } from "../../queues.ts";

export const actorTypes = ["user", "api_key", "invitation", "operator", "anonymous"] as const;
/**
 * `done`: the change was made. `failed`: a login that was refused. `unknown`: the request still
 * runs, or it ended with an internal error or a crash, so the change may have been made.
 */
export const auditOutcomes = ["done", "failed", "second_factor_required", "unknown"] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

export interface AuditActor {
  type: (typeof actorTypes)[number];
  /** Null for `operator` and `anonymous`. */
  id: number | null;
}

export interface AuditEvent {
  /** Name of the operation, such as `deleteSite`. */
  action: string;
  actor: AuditActor;
  /** What was changed, such as `sites/3`. */
  target: string | null;
  /** Names of the fields that the request set. */
  fields?: string[];
  /** JSON of the values before and after, for fields that routes declare. */
  changes?: string | undefined;
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
}

export interface AuditItem extends Key, AuditEvent {
  outcome: AuditOutcome;
  /** Calls that the entry stands for. */
  count: number;
  /** Increases with every change. */
  v: number;
  /** Until when the entry may still change (Unix seconds). Absent: it is complete. */
  openUntil?: number;
  /** Number of the link of the chain that has the hash of the entry. */
  link?: number;
  expires?: number;
}

let entriesMade = 0;

/** The time, a counter for entries of the same millisecond, and a random part. */
function newPosition(): string {
  const counter = String(entriesMade++ % 1000).padStart(3, "0");
  return `${now().toISOString()}#${counter}${randomBase62(8)}`;
}
export const timeOf = ({ sk }: Pick<AuditItem, "sk">): string => sk.slice(0, 24);

/** No request runs for longer. */
const openSeconds = 15 * 60;

const unchainedAttributes = (orgId: number, position: string) =>
  indexAttributes(indexes.unchainedEntries(orgId), position);
const notChained: Condition = all(exists, absent("link"));

/** Identifies an entry that is not complete. */
export interface OpenEntry {
  orgId: number;
  position: string;
}

/** Stores the entry of a change that is about to be made. */
export async function beginEntry(orgId: number, event: AuditEvent): Promise<OpenEntry> {
  const position = newPosition();
  const item = { ...event, outcome: "unknown", count: 1, v: 1, openUntil: openUntil() };
  await storeEntry(orgId, position, item);
  return { orgId, position };
}

const openUntil = (): number => epochSeconds(addSeconds(openSeconds));

async function storeEntry(orgId: number, position: string, item: object): Promise<void> {
  const stored = { ...item, ...unchainedAttributes(orgId, position) };
  await Promise.all([write(put(keys.auditEntry(orgId, position), stored)), announce(orgId)]);
}

/** Completes the entry: the change was made. */
export async function completeEntry(
  { orgId, position }: OpenEntry,
  { target, changes }: Pick<AuditEvent, "target" | "changes">,
): Promise<void> {
  const set = { outcome: "done", target, ...(changes !== undefined && { changes }) };
  await transact(
    update(
      keys.auditEntry(orgId, position),
      { set, add: { v: 1 }, remove: ["openUntil"] },
      { if: notChained },
    ),
  );
}

/** Deletes the entry: the request was refused and changed nothing. */
export async function withdrawEntry({ orgId, position }: OpenEntry): Promise<void> {
  await transact(remove(keys.auditEntry(orgId, position), { if: notChained }));
}

const strangerRetentionSeconds = 3600;

/**
 * Stores the complete entry of something that has happened. Organization 0 stands for users that do
 * not exist. Their entries are never read; storing them takes as long as storing those of users who
 * exist, so that the duration of a response does not reveal who exists.
 */
export async function recordEntry(
  orgId: number,
  event: AuditEvent & { outcome: AuditOutcome },
): Promise<void> {
  const position = newPosition();
  const item = { ...event, count: 1, v: 1 };
  if (orgId) return storeEntry(orgId, position, item);
  const expires = epochSeconds(addSeconds(strangerRetentionSeconds));
  await write(put(keys.auditEntry(orgId, position), { ...item, expires }));
}

/** The calls of one action by one API key in one minute, as this process counts them. */
interface CountedCalls {
  orgId: number;
  event: AuditEvent;
  minute: string;
  count: number;
  /** How many of them the entry has. */
  stored: number;
  storing?: Promise<void> | undefined;
}
const countedCalls = new Map<string, CountedCalls>();
const maxCountedCalls = 10_000;

/**
 * Counts a frequent change by an API key that is about to be made. One entry stands for all calls
 * of the key and action in one minute. A process stores its first call before it is made, then its
 * count whenever it has doubled and when the minute is over. So if a process dies, the entry has at
 * least half of its calls.
 */
export async function countCall(orgId: number, event: AuditEvent): Promise<CountedCalls> {
  const name = `${orgId} ${event.actor.id} ${event.action}`;
  const minute = currentMinute();
  const known = countedCalls.get(name);
  const counted = known?.minute === minute ? known : { orgId, event, minute, count: 0, stored: 0 };
  if (known !== counted && countedCalls.size >= maxCountedCalls) await storeCounts();
  countedCalls.set(name, counted);
  counted.count++;
  try {
    const hasDoubled = counted.count >= 2 * counted.stored;
    await Promise.all([
      known && known !== counted && storeCount(known),
      hasDoubled && storeCount(counted),
    ]);
  } catch (error) {
    counted.count--;
    throw error;
  }
  return counted;
}

const currentMinute = (): string => `${now().toISOString().slice(0, 16)}:00.000Z`;

/** Takes a call back that was refused and changed nothing. */
export async function uncountCall(counted: CountedCalls): Promise<void> {
  await counted.storing;
  counted.count--;
  if (counted.count < counted.stored) await storeCount(counted);
}

/** Stores what entries lack. Called now and then, and before the process ends. */
export async function storeCounts(): Promise<void> {
  const minute = currentMinute();
  await inParallel(8, [...countedCalls], async ([name, counted]) => {
    await storeCount(counted);
    if (counted.minute !== minute) countedCalls.delete(name);
  });
}

/** Adds to the entry what it lacks. One write at a time, so that no call is added twice. */
function storeCount(counted: CountedCalls): Promise<void> {
  counted.storing ??= addRest(counted).finally(() => {
    counted.storing = undefined;
  });
  return counted.storing;
}

async function addRest(counted: CountedCalls): Promise<void> {
  const added = counted.count - counted.stored;
  if (!added) return;
  await addToEntry(counted, added);
  counted.stored += added;
}

async function addToEntry({ orgId, event, minute }: CountedCalls, added: number): Promise<void> {
  const { target: _, fields: __, ...first } = event;
  const addTo = (position: string) =>
    transact(
      update(
        keys.auditEntry(orgId, position),
        {
          add: { count: added, v: 1 },
          set: unchainedAttributes(orgId, position),
          setIfAbsent: { ...first, target: null, outcome: "done", openUntil: openUntil() },
        },
        { if: absent("link") },
      ),
    );
  const position = `${minute}#key${event.actor.id}#${event.action}`;
  const [isAdded] = await Promise.all([addTo(position), announce(orgId)]);
  // A process that was paused for long finds its entry chained, and no chained entry changes.
  if (!isAdded) await addTo(`${position}#${randomBase62(8)}`);
}

const announceSeconds = 60;
/** If no process has announced entries for this time, no request adds any. */
export const idleSeconds = 3 * announceSeconds;
const chainDelaySeconds = 60;
const announcedAt = createLruCache<Date>(10_000);

/** Makes sure that a job chains new entries. Each process writes it once a minute. */
async function announce(orgId: number): Promise<void> {
  const name = String(orgId);
  const time = now();
  const last = announcedAt.get(name);
  if (last && last > addSeconds(-announceSeconds, time)) return;
  await write(
    update(keys.auditChain(orgId), {
      set: { orgId, markedAt: time.toISOString() },
      setIfAbsent: chainDueAttributes(orgId, chainDelaySeconds),
    }),
  );
  announcedAt.set(name, time, 1);
}

export const chainDueAttributes = (orgId: number, seconds: number) =>
  indexAttributes(indexes.due("AUDIT", dueShardOf(orgId)), addSeconds(seconds).toISOString());

export const enqueueChaining = (orgId: number): Promise<void> =>
  enqueue(queues.jobs, [{ job: "chain-audit-log", orgId }], { group: orgId });

/** The condition that an entry is as it was read. */
export const isUnchanged = ({ v }: AuditItem): Condition => all(absent("link"), equals("v", v));
