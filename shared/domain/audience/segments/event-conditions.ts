// Conditions on the events of a contact: how often an event happened in the last days or with
// certain properties, its first and last time, and the latest value of a property. The summaries on
// the contact decide as far as they can, and event-history.ts reads events for the rest.
import {
  absent,
  all,
  any,
  atLeast,
  type Condition as Filter,
  present,
} from "../../../adapters/dynamodb/conditions.ts";
import type { ContactItem } from "../contacts/contact-schema.ts";
import {
  eventCountAttribute,
  firstEventAttribute,
  lastEventAttribute,
} from "../contacts/segment-attributes.ts";
import type { ContactWithEvents, EventNeed, HistoryEvent } from "./event-history.ts";
import { toFilter } from "./filter-pushdown.ts";
import { createValueTest, type RuleContext, readProperty } from "./rule-tests.ts";
import { daysToMs, toIsoTime } from "./rule-times.ts";
import { type EventFact, parseField, type SegmentField } from "./segment-fields.ts";
import type { PropertyCondition, SegmentCondition } from "./segment-rules.ts";

export interface EventCondition {
  /** Passes every contact that may match. */
  filter: Filter | undefined;
  attributes: string[];
  /** Undefined while more events could change the answer. */
  decide(contact: ContactItem): boolean | undefined;
  /** What to read for the answer, or for the value. Undefined: nothing. */
  need(contact: ContactItem, everything: boolean): EventNeed | undefined;
  /** The value that is compared. */
  actual(contact: ContactItem): unknown;
}

/** Undefined when the condition needs no events: a plain count is an attribute of the contact. */
export function compileEventCondition(
  condition: SegmentCondition,
  field: SegmentField,
  context: RuleContext,
): EventCondition | undefined {
  const { event } = field;
  const isPlainCount =
    event?.fact === "count" && condition.inLastDays === undefined && !condition.where;
  if (!event || isPlainCount) return undefined;
  return factories[event.fact](condition, { field, name: event.name, context });
}

interface EventField {
  field: SegmentField;
  name: string;
  context: RuleContext;
}
type Factory = (condition: SegmentCondition, at: EventField) => EventCondition;

/** What a contact keeps of an event. Without `first`, its events began before this was kept. */
interface Summary {
  count: number;
  first: string | undefined;
  last: string | undefined;
}

function summaryOf(contact: ContactItem, name: string): Summary {
  const first = contact[firstEventAttribute(name)];
  return {
    count: contact[eventCountAttribute(name)] ?? 0,
    first,
    last: first === undefined ? undefined : contact[lastEventAttribute(name)],
  };
}

const summaryAttributes = (name: string): string[] => [
  "id",
  eventCountAttribute(name),
  firstEventAttribute(name),
  lastEventAttribute(name),
  "timezone",
];

/** The events of the name that were read; empty while none were. */
function historyOf(contact: ContactItem, name: string) {
  const { eventHistory } = contact as ContactWithEvents;
  return {
    isRead: eventHistory !== undefined,
    isComplete: eventHistory?.isComplete === true,
    events: (eventHistory?.events ?? []).filter((one) => one.name === name),
  };
}

/** How often the event happened, in the last days, with properties that match. */
const countCondition: Factory = (condition, { field, name, context }) => {
  const { inLastDays, where, operator, value } = condition;
  const from =
    inLastDays === undefined
      ? undefined
      : toIsoTime(Math.ceil(context.now.getTime() - daysToMs(inLastDays)));
  const matches = compileWhere(where, context);
  const compare = createValueTest({ field, operator, value }, context);
  const holds = (n: number) => compare(n, {});
  const numbers = [0, value ?? []].flat(2).map(Number);
  // The answer can only change at these counts.
  const steps = numbers.flatMap((n) => [Math.ceil(n) - 1, Math.floor(n), Math.floor(n) + 1]);
  const isInWindow = (at: string) => from === undefined || at >= from;

  /** The lowest and the highest count that is still possible. */
  const countRange = (contact: ContactItem): [number, number] => {
    const { count, first, last } = summaryOf(contact, name);
    if (!count || (last !== undefined && !isInWindow(last))) return [0, 0];
    if (!where && first !== undefined && isInWindow(first)) return [count, count];
    const { events, isRead, isComplete } = historyOf(contact, name);
    const found = events.filter(
      ({ at, properties }) => isInWindow(at) && matches(properties, contact),
    );
    // Events may have been recorded since the contact was read, so its count is no limit for them.
    const highest = isRead ? Number.POSITIVE_INFINITY : count;
    return [found.length, isComplete ? found.length : highest];
  };
  const decide = (contact: ContactItem) => {
    const [low, high] = countRange(contact);
    const answer = holds(low);
    const possible = [high, ...steps].filter((n) => n >= low && n <= high);
    return possible.every((n) => holds(n) === answer) ? answer : undefined;
  };
  return {
    filter: holds(0)
      ? undefined
      : countFilter(
          name,
          from,
          steps.filter((n) => n > 0 && holds(n)),
        ),
    attributes: summaryAttributes(name),
    decide,
    need: (contact, everything) => {
      const [low, high] = countRange(contact);
      const isKnown = everything ? low === high : decide(contact) !== undefined;
      const { first, last } = summaryOf(contact, name);
      return isKnown ? undefined : { name, from: from ?? first, to: last };
    },
    actual: (contact) => countRange(contact)[0],
  };
};

/** Contacts with at least the lowest of the counts, and an event in the window. */
function countFilter(name: string, from: string | undefined, counts: number[]): Filter {
  const lastAt = lastEventAttribute(name);
  const enough = atLeast(eventCountAttribute(name), Math.min(...counts, Number.MAX_SAFE_INTEGER));
  if (from === undefined) return enough;
  return all(enough, any(absent(firstEventAttribute(name)), atLeast(lastAt, from)));
}

/** Tests whether properties match all conditions. */
function compileWhere(where: PropertyCondition[] = [], context: RuleContext) {
  const tests = where.map(({ field: name, operator, value }) => {
    const field = parseField(name)!;
    const holds = createValueTest({ field, operator, value }, context);
    return (properties: unknown, contact: ContactItem) =>
      holds(readProperty(properties, propertyPath(field)), contact);
  });
  return (properties: unknown, contact: ContactItem): boolean =>
    tests.every((holds) => holds(properties, contact));
}

const propertyPath = ({ attribute }: SegmentField): string => attribute[1]!;

/** The first or the last time. */
const timeCondition =
  (pick: (events: HistoryEvent[]) => HistoryEvent | undefined): Factory =>
  (condition, { field, name, context }) => {
    const { operator, value } = condition;
    const holds = createValueTest({ field, operator, value }, context);
    const attribute = field.attribute as `firstEventAt.${string}` | `lastEventAt.${string}`;
    const needsHistory = (contact: ContactItem) => {
      const { count, first } = summaryOf(contact, name);
      return count > 0 && first === undefined && !historyOf(contact, name).isComplete;
    };
    const actual = (contact: ContactItem) =>
      historyOf(contact, name).isComplete && summaryOf(contact, name).first === undefined
        ? pick(historyOf(contact, name).events)?.at
        : contact[attribute];
    const pushed = toFilter({ field, operator, value }, context)?.condition;
    const isUnknown = all(absent(firstEventAttribute(name)), present(eventCountAttribute(name)));
    return {
      filter: pushed && any(pushed, isUnknown),
      attributes: summaryAttributes(name),
      decide: (contact) => (needsHistory(contact) ? undefined : holds(actual(contact), contact)),
      need: (contact) =>
        needsHistory(contact) ? { name, from: undefined, to: undefined } : undefined,
      actual: (contact) => actual(contact) ?? null,
    };
  };

/** The value of a property in the latest event of the name. */
const latestCondition: Factory = ({ operator, value, property }, { name, context }) => {
  const field = parseField(`properties.${property}`)!;
  const holds = createValueTest({ field, operator, value }, context);
  const hasNone = (contact: ContactItem) => !summaryOf(contact, name).count;
  const latestOf = (contact: ContactItem) => historyOf(contact, name).events[0];
  const isKnown = (contact: ContactItem) =>
    hasNone(contact) || latestOf(contact) !== undefined || historyOf(contact, name).isComplete;
  const actual = (contact: ContactItem) =>
    hasNone(contact) ? undefined : readProperty(latestOf(contact)?.properties, propertyPath(field));
  return {
    filter: holds(undefined, {}) ? undefined : present(eventCountAttribute(name)),
    attributes: summaryAttributes(name),
    decide: (contact) => (isKnown(contact) ? holds(actual(contact), contact) : undefined),
    need: (contact) => {
      const { last } = summaryOf(contact, name);
      return isKnown(contact) ? undefined : { name, from: last, to: last };
    },
    actual: (contact) => actual(contact) ?? null,
  };
};

const factories: Record<EventFact, Factory> = {
  count: countCondition,
  first: timeCondition((events) => events.at(-1)),
  last: timeCondition((events) => events[0]),
  latest: latestCondition,
};
