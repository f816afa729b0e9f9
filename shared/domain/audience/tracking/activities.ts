// Activities of contacts: custom events and page views. One transaction writes the log entry, the
// counts for segments and the points.

import {
  absent,
  all,
  any,
  atLeast,
  atMost,
  type Condition,
  contains,
  equals,
  isNew,
  sizeBelow,
} from "../../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  checkCondition,
  put,
  update,
  type Write,
  write,
} from "../../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds } from "../../../clock.ts";
import { positionParts } from "../../../kernel/paging.ts";
import { indexAttributes, indexes, keys, zeroPad } from "../../../keys.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";
import * as contacts from "../contacts/contacts.ts";
import {
  contactReactions,
  type ReactionWrites,
  type StartingEvent,
} from "../contacts/reactions.ts";
import {
  eventCountAttribute,
  firstEventAttribute,
  lastEventAttribute,
  maxEventNamesPerContact,
} from "../contacts/segment-attributes.ts";
import * as leadScores from "../scoring/lead-scores.ts";
import { causeOf, matchRules } from "../scoring/scoring.ts";
import { getSiteRules, type ScoringRule, type ScoringTrigger } from "../scoring/scoring-rules.ts";
import { conversionReactions } from "./converting-events.ts";

/** `inbound`: the contact replied by email. */
export const activitySources = ["api", "tracking", "inbound"] as const;
export type ActivitySource = (typeof activitySources)[number];

export interface Activity {
  id: number;
  /** When it happened (ISO 8601). */
  at: string;
  /** When it was recorded (ISO 8601). Undefined: at the same time. */
  recordedAt?: string | undefined;
  type: "custom" | "page_view";
  /** Name of the custom event, or `page_view`. */
  name: string;
  url?: string | undefined;
  /** JSON. */
  properties?: string | undefined;
  source: ActivitySource;
  /**
   * The visitor only typed the contact's email address, so the activity gives no points and
   * triggers no sequences.
   */
  unproven?: true;
  /** The site has too many event names: the activity is logged, but not counted for segments. */
  uncounted?: true;
}

/** The stored log entry. */
export interface ActivityItem extends Activity {
  siteId: number;
  contactId: number;
}

export const pageViewName = "page_view";
const pageViewTtlSeconds = 90 * 24 * 3600;

/** Sort key prefixes in the contact log. */
export const customEventLogPrefix = "EVENT|";
export const pageViewLogPrefix = "VIEW|";
export const activitySortKey = ({ type, at, id }: Pick<Activity, "type" | "at" | "id">): string =>
  `${type === "custom" ? customEventLogPrefix : pageViewLogPrefix}${at}|${zeroPad(id)}`;
export const eventPlace = new RegExp(`^EVENT\\|${positionParts.time}\\|${positionParts.id}$`);

/**
 * Idempotent. Records it for the contact that this one was merged into, if it was, and returns the
 * id of that one. Throws 404 when the contact is gone. `alreadyRead` is the contact, if the caller
 * has just read it.
 */
export const recordActivity = (
  orgId: number,
  contact: { id: number; alreadyRead?: ContactItem | undefined },
  activity: Activity,
): Promise<number> =>
  contacts.changeSurvivorWithRetry(orgId, contact, async (current) => {
    const rules = await getSiteRules(orgId, current.siteId);
    const recording = { activities: [activity], rules };
    // The log of a merged contact may still be moving.
    const notMoving =
      current.id === contact.id
        ? []
        : [checkCondition(keys.contactLog(orgId, contact.id, activitySortKey(activity)), isNew)];
    const reaction = await reactToActivities(current, recording, notMoving.length);
    try {
      await write(...notMoving, ...activityWrites(current, recording, reaction));
      await reaction.afterCommit();
    } catch (error) {
      // It was recorded before.
      if (!(error instanceof ConditionFailed && error.index <= notMoving.length)) throw error;
    }
    return current.id;
  });

export const maxTransactionWrites = 100;

interface Recording {
  activities: Activity[];
  /** Scoring rules of the site. */
  rules: ScoringRule[];
}

/**
 * Enrollments that activities trigger. `otherWrites` is the number of other writes in the
 * transaction that records them.
 */
export async function reactToActivities(
  contact: ContactItem,
  { activities, rules }: Recording,
  otherWrites = 0,
): Promise<ReactionWrites> {
  const scored = activities.flatMap((activity) => matchingRules(rules, activity));
  const events = activities.flatMap((activity) =>
    activity.type === "custom" && !activity.unproven ? [toStartingEvent(activity)] : [],
  );
  const points = scored.reduce((sum, rule) => sum + rule.points, 0);
  const oncePerDay = activities.some(({ source }) => source === "tracking");
  const others = 1 + activities.length + scored.length + otherWrites;
  const free = maxTransactionWrites - others;
  const conversions = await countConversions(contact, activities, free);
  const reaction = await contactReactions().contactChanged(
    contact,
    { events, points, oncePerDay, after: withActivities(contact, activities, points) },
    free - conversions.length,
  );
  return { ...reaction, writes: [...conversions, ...reaction.writes] };
}

/** A transaction has at most one event that counts as a conversion: see `takeBatch` of visitors. */
async function countConversions(
  contact: ContactItem,
  activities: Activity[],
  maxWrites: number,
): Promise<Write[]> {
  const { listConvertingNames, conversionWrites } = conversionReactions();
  const names = await listConvertingNames(contact.orgId, contact.siteId);
  const event = activities.find((activity) => isConverting(names, activity));
  return event ? conversionWrites(contact, event, maxWrites) : [];
}

export const isConverting = (names: Set<string>, { type, name, unproven }: Activity): boolean =>
  type === "custom" && !unproven && names.has(name);

const toStartingEvent = (activity: Activity): StartingEvent => ({
  name: activity.name,
  sortKey: activitySortKey(activity),
  properties: activity.properties,
});

/** A contact with activities that are in its counts, and not in its log yet. */
export type ContactWithActivities = ContactItem & { unstored?: Activity[] };

/** The contact after the write that records the activities. */
function withActivities(
  contact: ContactItem,
  activities: Activity[],
  points: number,
): ContactWithActivities {
  const { counts, names } = countNames(contact, activities);
  const total = ([name, count]: [string, number]) => [
    name,
    (contact[name as `event.${string}`] ?? 0) + count,
  ];
  return {
    ...contact,
    ...(Object.fromEntries(Object.entries(counts).map(total)) as Record<string, number>),
    ...countTimes(contact, names, activities).set,
    unstored: activities,
    eventNames: new Set([...(contact.eventNames ?? []), ...names]),
    score: (contact.score ?? 0) + points,
  };
}

/**
 * First a log entry for each activity, which fails if it exists; then the contact, the score log
 * entries and the reaction.
 */
export function activityWrites(
  contact: ContactItem,
  { activities, rules }: Recording,
  reaction: ReactionWrites,
): Write[] {
  const { counts, names } = countNames(contact, activities);
  const scored = activities.flatMap((activity) =>
    matchingRules(rules, activity).map((rule) => ({ activity, rule })),
  );
  const points = scored.reduce((sum, { rule }) => sum + rule.points, 0);
  const reactionChanges = reaction.forContact(contact);
  const customEvents = activities.filter(({ type }) => type === "custom").length;
  const times = countTimes(contact, names, activities);
  const conditions = [
    equals("id", contact.id),
    ...nameLimitConditions(contact, names, maxNamesFor(activities)),
    ...times.conditions,
    ...reactionChanges.conditions,
  ];
  const add = {
    ...counts,
    customEvents,
    v: 1,
    ...(names.length && { eventNames: new Set(names) }),
    ...(scored.length && { score: points }),
    ...reactionChanges.add,
  };
  return [
    ...activities.map((activity) => activityLogWrite(contact, activity)),
    update(contact, { add, set: times.set }, { if: all(...conditions) }),
    ...scored.map(({ activity, rule }) =>
      leadScores.scoreLogWrite(
        contact,
        rule.points,
        causeOf({ key: `activity ${activity.id}`, at: activity.at }, rule),
      ),
    ),
    ...reaction.writes,
  ];
}

const triggerByType: Record<Activity["type"], ScoringTrigger> = {
  custom: "custom_event",
  page_view: "page_view",
};

export const matchingRules = (
  rules: ScoringRule[],
  { type, name, url, unproven }: Activity,
): ScoringRule[] =>
  unproven
    ? []
    : matchRules(rules, { trigger: triggerByType[type], facts: { eventName: name, url } });

function activityLogWrite(
  { orgId, siteId, id: contactId }: ContactItem,
  activity: Activity,
): Write {
  const item: ActivityItem = { ...activity, siteId, contactId };
  return put(
    keys.contactLog(orgId, contactId, activitySortKey(activity)),
    { ...item, ...listingAttributes(orgId, item) },
    { ifAbsent: true },
  );
}

/** Custom events are listed by an index and stay; page views expire. */
const listingAttributes = (
  orgId: number,
  { id, at, type, name, siteId, contactId }: ActivityItem,
): object =>
  type === "custom"
    ? indexAttributes(
        indexes.newCustomEvents(orgId, contactId),
        `${at}#${zeroPad(id)}#${siteId}#${name}`,
      )
    : { expires: epochSeconds(addSeconds(pageViewTtlSeconds, new Date(at))) };

/** Copies a log entry to the log of the contact that its contact is merged into. */
export function activityCopyWrite(orgId: number, entry: ActivityItem, contactId: number): Write {
  const item = { ...entry, contactId };
  return put(keys.contactLog(orgId, contactId, activitySortKey(entry)), {
    ...item,
    ...listingAttributes(orgId, item),
  });
}

/**
 * Unproven visitors may use half of a contact's event names, so that they cannot crowd out its own
 * events.
 */
const maxNamesFor = (activities: Activity[]): number =>
  activities.some(({ unproven }) => unproven)
    ? maxEventNamesPerContact / 2
    : maxEventNamesPerContact;

/**
 * A contact counts a limited number of event names. Events with other names are logged and not
 * counted.
 */
function countNames({ eventNames = new Set() }: ContactItem, activities: Activity[]) {
  const free = maxNamesFor(activities) - eventNames.size;
  const countable = [
    ...new Set(activities.flatMap(({ name, uncounted }) => (uncounted ? [] : [name]))),
  ];
  const newNames = countable.filter((name) => !eventNames.has(name)).slice(0, Math.max(0, free));
  const names = countable.filter((name) => eventNames.has(name) || newNames.includes(name));
  const timesOf = (name: string) => activities.filter((activity) => activity.name === name).length;
  return {
    counts: Object.fromEntries(names.map((name) => [eventCountAttribute(name), timesOf(name)])),
    names,
  };
}

/**
 * The first and the last time of each counted name. Activities may be recorded in any order, so
 * each write only moves the first time back and the last time forward.
 */
function countTimes(contact: ContactItem, names: string[], activities: Activity[]) {
  const set: Record<string, string> = {};
  const conditions: Condition[] = [];
  for (const name of names) {
    const times = activities.flatMap((activity) => (activity.name === name ? [activity.at] : []));
    const [earliest, latest] = [times.toSorted()[0]!, times.toSorted().at(-1)!];
    const [firstAttribute, lastAttribute] = [firstEventAttribute(name), lastEventAttribute(name)];
    const [first, last] = [contact[firstAttribute], contact[lastAttribute]];
    const isUnknown = first === undefined && contact[eventCountAttribute(name)] !== undefined;
    if (!isUnknown && (first === undefined || earliest < first)) {
      set[firstAttribute] = earliest;
      conditions.push(any(absent(firstAttribute), atLeast(firstAttribute, earliest)));
    }
    if (last === undefined || latest > last) {
      set[lastAttribute] = latest;
      conditions.push(any(absent(lastAttribute), atMost(lastAttribute, latest)));
    }
  }
  return { set, conditions };
}

/** Fails when concurrent writes have added too many names since the contact was read. */
function nameLimitConditions(
  { eventNames = new Set() }: ContactItem,
  names: string[],
  maxNames: number,
): Condition[] {
  const newNames = names.filter((name) => !eventNames.has(name));
  if (!newNames.length) return [];
  const addedAlready = all(...newNames.map((name) => contains("eventNames", name)));
  const hasRoom = sizeBelow("eventNames", maxNames - newNames.length + 1);
  return [any(absent("eventNames"), hasRoom, addedAlready)];
}
