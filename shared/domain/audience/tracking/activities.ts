// Activities of contacts: custom events and page views. One transaction writes the log entry, the
// counts for segments and the points.

import {
  absent,
  all,
  any,
  type Condition,
  contains,
  equals,
  sizeBelow,
} from "../../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
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
import type { ReactionWrites } from "../contacts/reactions.ts";
import { contactReactions } from "../contacts/reactions.ts";
import { eventCountAttribute, maxEventNamesPerContact } from "../contacts/segment-attributes.ts";
import * as scores from "../scoring/lead-scores.ts";
import { causeOf, matchRules } from "../scoring/scoring.ts";
import { getSiteRules, type ScoringRule, type ScoringTrigger } from "../scoring/scoring-rules.ts";

export interface Activity {
  id: number;
  /** ISO 8601. */
  at: string;
  type: "custom" | "page_view";
  /** Name of the custom event, or `page_view`. */
  name: string;
  url?: string | undefined;
  /** JSON. */
  properties?: string | undefined;
  source: "api" | "tracking";
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
 * Idempotent. Throws 404 when the contact is gone. `alreadyRead` is the contact, if the caller has
 * just read it.
 */
export const recordActivity = (
  orgId: number,
  contact: { id: number; alreadyRead?: ContactItem | undefined },
  activity: Activity,
): Promise<true> =>
  contacts.changeWithRetry<true>({ orgId }, contact, async (contact) => {
    const rules = await getSiteRules(orgId, contact.siteId);
    const recording = { activities: [activity], rules };
    const reaction = await reactToActivities(contact, recording);
    try {
      await write(...activityWrites(contact, recording, reaction));
      await reaction.afterCommit();
    } catch (error) {
      // It was recorded before.
      if (!(error instanceof ConditionFailed && error.index === 0)) throw error;
    }
    return true;
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
export function reactToActivities(
  contact: ContactItem,
  { activities, rules }: Recording,
  otherWrites = 0,
): Promise<ReactionWrites> {
  const scored = activities.flatMap((activity) => matchingRules(rules, activity));
  const eventNames = activities.flatMap(({ type, name, unproven }) =>
    type === "custom" && !unproven ? [name] : [],
  );
  const points = scored.reduce((sum, rule) => sum + rule.points, 0);
  const oncePerDay = activities.some(({ source }) => source === "tracking");
  return contactReactions().contactChanged(
    contact,
    { eventNames, points, oncePerDay },
    maxTransactionWrites - 1 - activities.length - scored.length - otherWrites,
  );
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
  const isCounted = contact.customEvents !== undefined;
  const total = isCounted && customEvents ? { customEvents } : {};
  const conditions = [
    equals("id", contact.id),
    ...nameLimitConditions(contact, names, maxNamesFor(activities)),
    ...(isCounted ? [] : [absent("customEvents")]),
    ...reactionChanges.conditions,
  ];
  const add = {
    ...counts,
    ...total,
    v: 1,
    ...(names.length && { eventNames: new Set(names) }),
    ...(scored.length && { score: points }),
    ...reactionChanges.add,
  };
  return [
    ...activities.map((activity) => activityLogWrite(contact, activity)),
    update(contact, { add }, { if: all(...conditions) }),
    ...scored.map(({ activity, rule }) =>
      scores.scoreLogWrite(
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
  const { id, at, type, name } = activity;
  const item: ActivityItem = { ...activity, siteId, contactId };
  // Custom events are listed by an index and stay; page views expire.
  const typeAttributes =
    type === "custom"
      ? indexAttributes(
          indexes.newCustomEvents(orgId, contactId),
          `${at}#${zeroPad(id)}#${siteId}#${name}`,
        )
      : { expires: epochSeconds(addSeconds(pageViewTtlSeconds, new Date(at))) };
  return put(
    keys.contactLog(orgId, contactId, activitySortKey(activity)),
    { ...item, ...typeAttributes },
    { ifAbsent: true },
  );
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
