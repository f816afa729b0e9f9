// Parks events whose send is not stored yet: a provider can be faster than our write. A parked
// event waits on the due index and is retried up to four times; then it is counted, and kept for a
// week to be listed.

import { absent, all, equals, exists, isNew } from "../../adapters/dynamodb/conditions.ts";
import {
  put,
  queryPages,
  remove,
  transact,
  update,
  updateReturning,
  writeMany,
} from "../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds, now } from "../../clock.ts";
import { erasedEmail, normalizeEmail } from "../../kernel/email-fields.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { dueShardOf, indexAttributes, indexes, type Key, keys, ranges } from "../../keys.ts";
import type { QueuedEvent } from "../../queues.ts";
import * as suppressions from "../audience/suppressions/suppressions.ts";
import { leaveEverywhere, suppressRecipients } from "./event-reactions.ts";
import { isSoftBounce } from "./soft-bounces.ts";

/** The stored item; the queue message of its next attempt is built from it. */
export interface ParkedEvent {
  orgId: number;
  provider: string;
  event: QueuedEvent;
}

export interface StoredUnmatchedEvent extends ParkedEvent {
  /** Set when the event was given up. */
  expires?: number;
}

const retrySeconds = [60, 600, 3600, 24 * 3600];
/** A message id is stored within seconds after the provider has the mail. */
const retriesByMessageId = 2;

/**
 * Parks events without a stored send. Suppresses the address even though the send is unknown, but
 * on the first attempt only, because a user may have removed the suppression since. A soft bounce
 * waits for its send, because the site of the send says how many it allows.
 */
export async function parkEvents(orgId: number, unmatched: ParkedEvent[]): Promise<void> {
  if (!unmatched.length) return;
  const reports = unmatched
    .filter(({ event }) => !event.parked && !isSoftBounce({ ...event, ...event.data }))
    .map(({ event: { email, type, data }, provider }) => ({
      email,
      type,
      detail: data.reason,
      provider,
    }));
  const unsubscribes = reports.filter(({ type }) => type === "unsubscribe");
  const others = reports.filter(({ type }) => type !== "unsubscribe");
  await Promise.all([leaveEverywhere(orgId, unsubscribes), suppressRecipients(orgId, others)]);
  await inParallel(8, unmatched, parkEvent);
}

async function parkEvent({ orgId, provider, event }: ParkedEvent): Promise<void> {
  const tries = event.parked?.tries ?? 0;
  if (tries >= maxTries(event)) return giveUp({ orgId, provider, event }, tries > 0);
  const parked = { since: event.parked?.since ?? now().toISOString(), tries: tries + 1 };
  const due = indexAttributes(
    indexes.due("EVENT", dueShardOf(event.id)),
    addSeconds(retrySeconds[tries]!).toISOString(),
  );
  const item: ParkedEvent & object = { orgId, provider, event: { ...event, parked }, ...due };
  // Another worker may have matched or dropped the event since it was read.
  const unchanged = tries ? equals(triesPath, tries) : isNew;
  await transact(put(keys.unmatchedEvent(orgId, event.id), item, { if: unchanged }));
}

const triesPath = ["event", "parked", "tries"];

function maxTries({ sendId, providerMessageId }: QueuedEvent): number {
  if (sendId !== undefined) return retrySeconds.length;
  // An event without any id can never be matched.
  return providerMessageId === undefined ? 0 : retriesByMessageId;
}

const keptSeconds = 7 * 24 * 3600;
/** Further events of the same day are only counted. */
const maxKeptPerDay = 1000;

/** Counts the event exactly once. The item says so, also if it is not kept. */
async function giveUp(parked: ParkedEvent, isParked: boolean): Promise<void> {
  const { orgId, provider } = parked;
  const isErased = await isErasedAddress(orgId, parked.event.email);
  const event = isErased ? withoutPerson(parked.event) : parked.event;
  const isKept = !isErased && (await isKeptToday(orgId));
  const expires = epochSeconds() + (isKept ? keptSeconds : 0);
  const isWaiting = all(exists, absent("expires"));
  await transact(
    put(
      keys.unmatchedEvent(orgId, event.id),
      { orgId, provider, event, expires },
      { if: isParked ? isWaiting : isNew },
    ),
    update(keys.droppedEventCount(orgId), { add: { count: 1 } }),
  );
}

async function isKeptToday(orgId: number): Promise<boolean> {
  const key = keys.unmatchedEventsOfDay(orgId, now().toISOString().slice(0, 10));
  const counted = await updateReturning<{ count: number }>(
    update(key, { add: { count: 1 }, set: { expires: epochSeconds() + keptSeconds } }),
  );
  return counted!.count <= maxKeptPerDay;
}

/** Erasing a person leaves only a hash of the address on the suppression list. */
async function isErasedAddress(orgId: number, email: string): Promise<boolean> {
  if (email === erasedEmail) return true;
  return suppressions.isHashOnly(await suppressions.find(orgId, email));
}

/** Keeps what is needed to find the send and to count the event. */
const withoutPerson = ({ ipAddress: _, data, ...event }: QueuedEvent): QueuedEvent => ({
  ...event,
  email: erasedEmail,
  data: data.bounceType ? { bounceType: data.bounceType } : {},
});

/** All unmatched events about an address, newest first. Reads those of the organization. */
export async function listAbout(
  orgId: number,
  email: string,
): Promise<(StoredUnmatchedEvent & Key)[]> {
  const found: (StoredUnmatchedEvent & Key)[] = [];
  const pages = queryPages<StoredUnmatchedEvent & Key>(ranges.unmatchedEvents(orgId), {
    newestFirst: true,
    limit: 500,
  });
  for await (const { items } of pages)
    found.push(...items.filter(({ event }) => normalizeEmail(event.email) === email));
  return found;
}

/**
 * Deletes the events about an address that were given up, and the personal data of those that wait.
 * An event that another worker has at this moment loses its data when it is given up.
 */
export async function eraseAbout(orgId: number, email: string): Promise<void> {
  const [waiting, givenUp] = splitByState(await listAbout(orgId, email));
  await writeMany(givenUp.map((item) => remove(item)));
  await inParallel(8, waiting, (item) =>
    transact(
      put(
        item,
        { ...item, event: withoutPerson(item.event) },
        { if: all(absent("expires"), equals(triesPath, item.event.parked!.tries)) },
      ),
    ),
  );
}

const splitByState = <T extends StoredUnmatchedEvent>(items: T[]): [waiting: T[], givenUp: T[]] => [
  items.filter(({ expires }) => expires === undefined),
  items.filter(({ expires }) => expires !== undefined),
];

/** Deletes the parked items of events that have been applied. */
export const deleteParked = (orgId: number, events: QueuedEvent[]): Promise<void> =>
  writeMany(
    events.filter(({ parked }) => parked).map(({ id }) => remove(keys.unmatchedEvent(orgId, id))),
  );
