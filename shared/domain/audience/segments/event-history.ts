// Reads the custom events and page views of contacts for rules that the summaries on the contact
// cannot decide: counts in the last days or with certain properties, and the latest properties.
import { query } from "../../../adapters/dynamodb/table.ts";
import type { SiteRef } from "../../../caller.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { ranges } from "../../../keys.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";
import {
  type Activity,
  activitySortKey,
  type ContactWithActivities,
  customEventLogPrefix,
  pageViewLogPrefix,
  pageViewName,
} from "../tracking/activities.ts";

export interface HistoryEvent {
  name: string;
  /** ISO 8601. */
  at: string;
  properties: Record<string, unknown>;
}

/** Events that a reader adds to a contact for the test. They are never stored there. */
export interface EventHistory {
  /** Newest first. */
  events: HistoryEvent[];
  /** Whether all events that the rules need are read, or as many as are read at most. */
  isComplete: boolean;
}
export type ContactWithEvents = ContactItem & { eventHistory?: EventHistory };

/** The events of a name that a condition needs. */
export interface EventNeed {
  name: string;
  /** ISO 8601. Undefined: no limit. */
  from: string | undefined;
  to: string | undefined;
}

export interface EventRules {
  /** Undefined while more events of the contact could change the answer. */
  decide(contact: ContactItem): boolean | undefined;
  /** Lists nothing when the answer is known; with `everything`, when all values are known, too. */
  listNeeds(contact: ContactItem, everything: boolean): EventNeed[];
}

/**
 * The newest events of a contact that one rule reads at most, from each of its two logs: that of
 * custom events, and for `page_view` that of page views. Rules do not see older ones.
 */
export const maxEventsPerContact = 1000;
// Most answers are in the newest events.
const firstPageSize = 100;
const contactsInParallel = 8;

export type EventReader = <T extends ContactItem>(contacts: T[]) => Promise<T[]>;

interface EventReaderOptions {
  consistent?: boolean;
  /** Reads what the values of all conditions need, and not only the answer. */
  everything?: boolean;
}

/**
 * Returns a function that adds events to those contacts of a site for which the rules need them.
 * Costs a read unit per 8 KB of events of the contact in the time that the rules look at.
 */
export const createEventReader =
  (site: SiteRef, rules: EventRules, options: EventReaderOptions = {}): EventReader =>
  (contacts) =>
    inParallel(contactsInParallel, contacts, (contact) =>
      readHistory(site, contact, { ...options, rules }),
    );

async function readHistory<T extends ContactItem>(
  { orgId }: SiteRef,
  contact: T,
  { rules, consistent, everything = false }: EventReaderOptions & { rules: EventRules },
): Promise<T> {
  const needs = rules.listNeeds(contact, everything);
  if (!needs.length) return contact;
  const names = new Set(needs.map(({ name }) => name));
  const log = { orgId, contactId: contact.id, consistent, span: spanOf(needs) };
  const pages = names.has(pageViewName) ? readBothLogs(log) : readLog(customEventLogPrefix, log);
  const { unstored = [] } = contact as ContactWithActivities;
  let known: T & ContactWithEvents = contact;
  const read: Activity[] = [];
  for await (const { items, isLast } of pages) {
    read.push(...items);
    const events = toHistory(isLast ? mergeActivities(read, unstored) : read, names);
    known = { ...contact, eventHistory: { events, isComplete: isLast } };
    // An activity that is not stored yet may be newer than those that were read.
    if (!everything && !unstored.length && rules.decide(known) !== undefined) break;
  }
  return known;
}

type Span = [from: string, to: string];

function spanOf(needs: EventNeed[]): Span {
  const earliest = needs.map(({ from = "" }) => from).sort()[0]!;
  const latest = needs
    .map(({ to = endOfTime }) => to)
    .sort()
    .at(-1)!;
  return [earliest, latest];
}
const endOfTime = "~";

interface ContactLog {
  orgId: number;
  contactId: number;
  consistent: boolean | undefined;
  span: Span;
}
interface LogPage {
  items: Activity[];
  isLast: boolean;
}

async function* readLog(
  prefix: string,
  { orgId, contactId, consistent, span: [from, to] }: ContactLog,
): AsyncGenerator<LogPage> {
  let left = maxEventsPerContact;
  let after: string | undefined;
  do {
    const { items, next } = await query<Activity>(ranges.contactLog(orgId, contactId), {
      between: [`${prefix}${from}`, `${prefix}${to}|~`],
      newestFirst: true,
      limit: after === undefined ? firstPageSize : left,
      after,
      attributes: ["id", "name", "at", "type", "properties", "url", "uncounted"],
      ...(consistent && { consistent }),
    });
    left -= items.length;
    after = next;
    yield { items, isLast: after === undefined || left <= 0 };
  } while (after !== undefined && left > 0);
}

/** An API call can name a custom event like a page view. */
async function* readBothLogs(log: ContactLog): AsyncGenerator<LogPage> {
  const logs = await Promise.all(
    [customEventLogPrefix, pageViewLogPrefix].map(async (prefix) => {
      const items: Activity[] = [];
      for await (const page of readLog(prefix, log)) items.push(...page.items);
      return items;
    }),
  );
  yield { items: mergeActivities(...logs), isLast: true };
}

/** Newest first. A retry may have stored an activity that is not known to be stored. */
function mergeActivities(...logs: Activity[][]): Activity[] {
  const byKey = new Map(logs.flat().map((one) => [activitySortKey(one), one]));
  const timeAndId = (one: Activity) => activitySortKey(one).replace(/^[A-Z]+/, "");
  return [...byKey.values()].sort((a, b) => (timeAndId(a) > timeAndId(b) ? -1 : 1));
}

/** Leaves out events that are not counted. A page view has its URL as its property. */
const toHistory = (items: Activity[], names: Set<string>): HistoryEvent[] =>
  items.flatMap(({ name, at, type, properties, url, uncounted }) => {
    if (uncounted || !names.has(name)) return [];
    if (type === "page_view") return [{ name, at, properties: { url } }];
    return [{ name, at, properties: JSON.parse(properties ?? "{}") as Record<string, unknown> }];
  });
