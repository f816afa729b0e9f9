// Sequences that listen to custom events: waits, goals and exits name events. One item of the site
// has the names, for each active sequence, which each process caches for a few seconds. The
// transaction that records an event adds it to each enrollment of the contact whose sequence
// listens, and makes the enrollment due. step-runner.ts alone decides what the event changes.
// The item also has the sequences with a goal or an exit of rules, which any change of a contact
// can meet: a change note makes their enrollments due.
import {
  absent,
  all,
  any,
  type Condition,
  contains,
  equals,
  exists,
  isNew,
  not,
  sizeBelow,
} from "../../adapters/dynamodb/conditions.ts";
import {
  checkCondition,
  get,
  getMany,
  transact,
  update,
  type Write,
} from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { conflict } from "../../errors.ts";
import { keys } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { membershipShardOf } from "../audience/groups/membership-writes.ts";
import { dueIndexAttributes, enqueueAdvance } from "./enrollment-scheduling.ts";
import type { EnrollmentItem } from "./enrollment-schema.ts";
import type { SequenceItem } from "./sequence-schema.ts";
import type { StepGraph } from "./step-graph.ts";

/** Names of events per sequence, and sequences per name. */
const maxListened = 20;
/** Keeps the item far below the 400 KB of DynamoDB: a name has up to 400 bytes. */
const maxNamesPerSite = 500;

export interface ListeningSequence {
  sequence: SequenceItem;
  graph: StepGraph;
}

const listenedNames = (listening: ListeningSequence | undefined): string[] => {
  if (listening?.sequence.status !== "active") return [];
  const { goals = [], exits = [] } = listening.sequence;
  const awaited = listening.graph.steps.flatMap(({ waitConfig }) => waitConfig?.eventName ?? []);
  const leaving = [...goals, ...exits].flatMap(({ eventName }) => eventName ?? []);
  return [...new Set([...awaited, ...leaving])].toSorted();
};

/** By rules of goals and exits, or by a date that a step waits for. */
const testsContacts = (listening: ListeningSequence | undefined): boolean => {
  if (listening?.sequence.status !== "active") return false;
  const { goals = [], exits = [] } = listening.sequence;
  return (
    [...goals, ...exits].some(({ rules }) => rules !== undefined) ||
    listening.graph.steps.some(({ waitConfig }) => waitConfig?.field !== undefined)
  );
};

/** Moves the registration. `before` is undefined for a new sequence, `after` for a deleted one. */
export async function listenerWrites(
  orgId: number,
  before: ListeningSequence | undefined,
  after: ListeningSequence | undefined,
): Promise<Write[]> {
  const [from, to] = [listenedNames(before), listenedNames(after)];
  const isSame = from.join("\n") === to.join("\n");
  const tests = testsContacts(after);
  if (isSame && tests === testsContacts(before)) return [];
  const { id, siteId } = (after ?? before)!.sequence;
  if (to.length && !isSame) await checkRoom(orgId, { id, siteId }, to);
  const set = { ...(to.length && { [`e${id}`]: to }), ...(tests && { [`r${id}`]: true }) };
  const remove = [`e${id}`, `r${id}`].filter((name) => !(name in set));
  return [update(keys.siteListeners(orgId, siteId), { set, remove })];
}

async function checkRoom(
  orgId: number,
  { id, siteId }: Pick<SequenceItem, "id" | "siteId">,
  names: string[],
): Promise<void> {
  if (names.length > maxListened) throw tooMany(`A sequence can wait for ${maxListened} events`);
  const { names: known } = await readListeners(orgId, siteId);
  const others = [...known].filter(([other]) => other !== id);
  const crowded = names.find(
    (name) => others.filter(([, listened]) => listened.includes(name)).length >= maxListened,
  );
  if (crowded !== undefined)
    throw tooMany(`At most ${maxListened} active sequences can wait for the event ${crowded}`);
  const count = others.reduce((sum, [, listened]) => sum + listened.length, names.length);
  if (count > maxNamesPerSite)
    throw tooMany(`The active sequences of a site can wait for ${maxNamesPerSite} events`);
}

const tooMany = (message: string) => conflict(message, { code: "too_many_sequences" });

interface SiteListeners {
  /** Names of events that active sequences listen to, by the id of the sequence. */
  names: Map<number, string[]>;
  /** Active sequences for which a change of a contact can matter. */
  testing: Set<number>;
}

async function readListeners(orgId: number, siteId: number): Promise<SiteListeners> {
  const item = (await get<Record<string, unknown>>(keys.siteListeners(orgId, siteId))) ?? {};
  const attributes = Object.entries(item);
  const idOf = (name: string) => Number(name.slice(1));
  return {
    names: new Map(
      attributes.flatMap(([name, value]) =>
        /^e\d+$/.test(name) ? [[idOf(name), value as string[]]] : [],
      ),
    ),
    testing: new Set(attributes.flatMap(([name]) => (/^r\d+$/.test(name) ? idOf(name) : []))),
  };
}

// A change takes effect in every process within this time.
const cacheMs = 3000;
const listenerCache = new Map<string, { listeners: SiteListeners; until: number }>();
export const clearListenerCache = (orgId: number, siteId: number): void =>
  void listenerCache.delete(`${orgId}/${siteId}`);

async function getListeners(orgId: number, siteId: number): Promise<SiteListeners> {
  const cached = listenerCache.get(`${orgId}/${siteId}`);
  if (cached && cached.until > performance.now()) return cached.listeners;
  const listeners = await readListeners(orgId, siteId);
  if (listenerCache.size >= 1000) listenerCache.clear();
  listenerCache.set(`${orgId}/${siteId}`, { listeners, until: performance.now() + cacheMs });
  return listeners;
}

export interface ArrivingEvent {
  name: string;
  /** Sort key of the event in the log of its contact. */
  sortKey: string;
}

export interface WakeUp {
  /** For the transaction that records the events. */
  writes: Write[];
  /** For the write of the contact in that transaction: it is in no other sequence that listens. */
  conditions: Condition[];
  afterCommit(): Promise<void>;
}

const noWakeUp: WakeUp = { writes: [], conditions: [], afterCommit: async () => {} };

/** Events that an enrollment keeps until its next run. Later ones are not heard. */
const maxHeard = 100;

/** Reads at most the cached registrations, if no sequence of the contact listens. */
export async function wakeListeners(
  contact: ContactItem,
  events: ArrivingEvent[],
  maxWrites = maxListened,
): Promise<WakeUp> {
  if (!events.length) return noWakeUp;
  const { orgId, siteId, id: contactId } = contact;
  const heardBy = new Map(
    [...(await getListeners(orgId, siteId)).names].flatMap(([sequenceId, names]) => {
      const heard = events.filter(({ name }) => names.includes(name)).map((one) => one.sortKey);
      return heard.length ? [[sequenceId, new Set(heard.slice(-maxListened))]] : [];
    }),
  );
  if (!heardBy.size) return noWakeUp;
  const [inside, outside] = [true, false].map((isIn) =>
    [...heardBy.keys()].filter((id) => (contact.sequences?.has(id) ?? false) === isIn),
  );
  const shard = membershipShardOf(contact);
  const enrollmentKeys = inside!.map((id) => keys.enrollment(orgId, id, { shard, contactId }));
  const items = await getMany<EnrollmentItem>(enrollmentKeys, { consistent: true });
  const due = items.filter((item) => item !== undefined && (item.heard?.size ?? 0) < maxHeard);
  const wakeWrites = due.map((item) => wakeWrite(item!, heardBy.get(item!.sequenceId)!));
  const maxTogether = Math.min(maxListened, Math.max(0, maxWrites));
  return {
    conditions: outside!.map((id) => not(contains("sequences", id))),
    writes: [
      // One that begins in between is read by the next attempt.
      ...enrollmentKeys.filter((_, i) => !items[i]).map((key) => checkCondition(key, isNew)),
      ...wakeWrites,
    ].slice(0, maxTogether),
    afterCommit: async () => {
      for (const late of wakeWrites.slice(maxTogether)) await transact(late);
      await enqueueAdvance(
        orgId,
        due.flatMap((item) => item ?? []),
      );
    },
  };
}

function wakeWrite(item: EnrollmentItem, heard: Set<string>): Write {
  const at = now().toISOString();
  return update(
    item,
    { set: { at, held: false, ...dueIndexAttributes(item, at) }, add: { v: 1, heard } },
    { if: all(exists, any(absent("heard"), sizeBelow("heard", maxHeard))) },
  );
}

/** Sequences of the contact for which its change can matter. */
export async function listTestingSequences(contact: ContactItem): Promise<number[]> {
  if (!contact.sequences?.size) return [];
  const { testing } = await getListeners(contact.orgId, contact.siteId);
  return [...contact.sequences].filter((id) => testing.has(id));
}

/** Makes enrollments due, so that a run tests rules and dates. Safe to repeat. */
export async function wakeEnrollments(contact: ContactItem, sequenceIds: number[]): Promise<void> {
  const { orgId, id: contactId } = contact;
  const shard = membershipShardOf(contact);
  const items = await getMany<EnrollmentItem>(
    sequenceIds.map((id) => keys.enrollment(orgId, id, { shard, contactId })),
    { consistent: true },
  );
  const at = now().toISOString();
  // A held enrollment is of a sequence that was paused in between.
  const waiting = items.flatMap((item) => (item && !item.held && item.at > at ? [item] : []));
  for (const item of waiting)
    await transact(
      update(
        item,
        { set: { at, ...dueIndexAttributes(item, at) }, add: { v: 1 } },
        { if: equals("v", item.v) },
      ),
    );
  await enqueueAdvance(orgId, waiting);
}
