// Watches contacts for triggers that depend on what a contact is: in a segment, or at a date. One
// item per contact has what was last seen, for each such sequence, and the next moment at which
// time alone can change it. That moment is on the due index, so a sweep reads only what is due.
import { isDeepStrictEqual } from "node:util";
import { equals, isNew } from "../../adapters/dynamodb/conditions.ts";
import { put, remove, type Write } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { now } from "../../clock.ts";
import { undefinedIfMissing } from "../../errors.ts";
import { dueShardOf, indexAttributes, indexes, type Key, keys } from "../../keys.ts";
import { queues } from "../../queues.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import * as fieldNames from "../audience/contacts/field-names.ts";
import { nextRuleChange } from "../audience/segments/rule-changes.ts";
import * as segments from "../audience/segments/segments.ts";
import { getTimezone } from "../identity/organizations.ts";
import { nextOccurrence } from "./date-occurrences.ts";
import { isWatched, type SiteTrigger } from "./trigger-registrations.ts";

/** What was last seen of a contact for the trigger of one sequence. */
interface WatchState {
  /** Since when the sequence watches. Other states are of an earlier activation. */
  since: string;
  isMember?: boolean;
  /** When to look again (ISO 8601). */
  at?: string;
  /** The last day on which a date started the sequence. */
  day?: string;
}
type WatchStates = Record<string, WatchState>;

export interface ContactWatchItem extends Key {
  orgId: number;
  siteId: number;
  contactId: number;
  /** By sequence id. */
  states: WatchStates;
  v: number;
}

interface Look {
  contact: ContactItem;
  watch: ContactWatchItem | undefined;
  /** The contact was created after the triggers began to watch. */
  isNewContact?: boolean | undefined;
  /** What changed it starts no sequences. */
  isQuiet?: boolean | undefined;
}

interface LookResult {
  states: WatchStates;
  /** Sequences that the contact starts. */
  sequenceIds: number[];
}

/** Returns what one trigger sees, and whether it starts its sequence. */
type Watcher = (
  look: Look,
  state: WatchState | undefined,
) => Promise<Omit<WatchState, "since"> & { starts?: boolean }>;

/** Prepares looks at contacts of one site. The rules of segments are read once. */
export async function createLooks(
  { orgId, siteId }: { orgId: number; siteId: number },
  triggers: SiteTrigger[],
): Promise<(look: Look) => Promise<LookResult>> {
  const watched = triggers.filter(isWatched);
  const site = { orgId, siteId, timezone: watched.length ? await getTimezone(orgId) : "UTC" };
  const watchers = await Promise.all(
    watched.map(async (trigger) => ({ trigger, watcher: await createWatcher(site, trigger) })),
  );
  return async (look) => {
    const states: WatchStates = {};
    const sequenceIds: number[] = [];
    for (const { trigger, watcher } of watchers) {
      const { sequenceId, since = "", isReady = false } = trigger;
      const stored = look.watch?.states[sequenceId];
      const state = stored?.since === since ? stored : undefined;
      const { starts, ...seen } = await watcher(look, state);
      if (starts) sequenceIds.push(sequenceId);
      // A missing state means the same as these, once every contact was looked at.
      const isNeeded = !isReady || seen.isMember || seen.at !== undefined || seen.day !== undefined;
      if (isNeeded) states[sequenceId] = { since, ...seen };
    }
    return { states, sequenceIds };
  };
}

interface WatchedSite {
  orgId: number;
  siteId: number;
  /** The time zone of the organization. */
  timezone: string;
}

const createWatcher = (site: WatchedSite, trigger: SiteTrigger): Promise<Watcher> | Watcher =>
  trigger.triggerType === "date" ? dateWatcher(site, trigger) : segmentWatcher(site, trigger);

/** Starts only at a moment that was planned, so that a date in the past starts nothing. */
const dateWatcher =
  (site: WatchedSite, { triggerConfig }: SiteTrigger): Watcher =>
  async ({ contact }, state) => {
    const local = { contact, timezone: contact.timezone ?? site.timezone };
    const next = (after: Date) => nextOccurrence(triggerConfig ?? {}, local, after);
    const planned =
      state?.at !== undefined && state.at <= now().toISOString()
        ? next(new Date(Date.parse(state.at) - 1))
        : undefined;
    const starts = planned !== undefined && planned.at === state?.at && planned.day !== state.day;
    const day = starts ? planned.day : state?.day;
    let following = next(now());
    // After a change of the time zone, the day may begin again.
    if (following && following.day === day) following = next(new Date(following.at));
    return {
      ...(following && { at: following.at }),
      ...(day !== undefined && { day }),
      starts,
    };
  };

async function segmentWatcher(
  { orgId, siteId, timezone }: WatchedSite,
  { triggerType, triggerConfig, isReady = false }: SiteTrigger,
): Promise<Watcher> {
  const id = triggerConfig?.segmentId ?? 0;
  const segment = await segments.find({ orgId }, id).catch(undefinedIfMissing);
  if (!segment) return async (_, state) => ({ ...state });
  const [matches, spellingOf] = await Promise.all([
    segments.createMatcher(orgId, siteId, segment.rules),
    fieldNames.createSpellingLookup(orgId, siteId),
  ]);
  return async ({ contact, isNewContact = false, isQuiet = false }, state) => {
    const isMember = await matches(contact);
    const moment = { contact, now: now(), timezone: contact.timezone ?? timezone, spellingOf };
    const at = nextRuleChange(segment.rules, moment)?.toISOString();
    const wasMember = state ? state.isMember === true : isUnknown(isReady, isNewContact);
    const hasEntered = wasMember === false && isMember;
    const hasLeft = wasMember === true && !isMember;
    const starts = !isQuiet && (triggerType === "segment_enter" ? hasEntered : hasLeft);
    return { ...(isMember && { isMember }), ...(at !== undefined && { at }), starts };
  };
}

/** Without a state, a contact was no member, unless the first look at it is still to come. */
const isUnknown = (isReady: boolean, isNewContact: boolean): false | undefined =>
  isReady || isNewContact ? false : undefined;

/** Stores what was seen, if it changed. Fails when another look came first. */
export function watchWrites(
  { orgId, siteId, id: contactId }: ContactItem,
  watch: ContactWatchItem | undefined,
  states: WatchStates,
): Write[] {
  if (isDeepStrictEqual(states, watch?.states ?? {})) return [];
  const key = keys.contactWatch(orgId, contactId);
  const unchanged = { if: watch ? equals("v", watch.v) : isNew };
  if (!Object.keys(states).length) return [remove(key, unchanged)];
  const [next] = Object.values(states)
    .flatMap(({ at }) => at ?? [])
    .toSorted();
  const item = { orgId, siteId, contactId, states, v: (watch?.v ?? 0) + 1 };
  const due = next && indexAttributes(indexes.due("WATCH", dueShardOf(contactId)), next);
  return [put(key, { ...item, ...due }, unchanged)];
}

export const enqueueLook = (orgId: number, siteId: number, contactId: number): Promise<void> =>
  enqueue(queues.advance, [{ work: "look", orgId, siteId, contactId }], { group: orgId });
