// How a send stores its events: the first twenty inside the send, further ones that do not change
// it in items of their own. So the size of a send is bounded, and an event does not rewrite a long
// history: the twenty-first costs 10 write units, instead of 14 inside the send, and the sixtieth
// 10 instead of 24.
import { addSeconds } from "../../clock.ts";
import type { EventType } from "../../providers/inbound/inbound-adapter.ts";
import type { QueuedEvent } from "../../queues.ts";
import { linkCounter } from "../sending/clicked-links.ts";
import type { SendItem } from "../sending/sends.ts";
import {
  addCounters,
  byTime,
  type CounterChanges,
  counterDifference,
  deliveredAt,
  isAutomated,
  isDeclaredMachine,
  outcomeOf,
  type SendEvent,
  type SendOutcome,
  statusCounterOf,
} from "./send-outcome.ts";

export type SendWithEvents = SendItem & {
  /** Version: grows with every write of events. */
  v: number;
  events?: SendEvent[];
  /** Counter changes by run: of runs that have not committed yet, and of recent ones. */
  deltas?: Record<string, CounterChanges>;
};

/** An event that is stored in an item of its own, with the counter changes it causes. */
export interface OverflowEvent extends SendEvent {
  delta: CounterChanges;
}

/** What a run does to one send. `planUpdate` fills in the last four fields. */
export interface SendUpdate {
  /** As read; after the update is written, with its changes. */
  send: SendWithEvents;
  /** The send has no item yet, only a line in a chunk. */
  isNew: boolean;
  run: string;
  provider: string;
  providerMessageId?: string | undefined;
  /** The events that arrived, known ones included. */
  events: SendEvent[];
  /** Changes of the send's item. Absent if only overflow events change. */
  changes?: Partial<SendWithEvents> | undefined;
  /** The events that this run counts, those taken over from an abandoned run included. */
  countedEvents: SendEvent[];
  counterChanges: CounterChanges;
  overflow: OverflowWrite[];
}

/** An overflow event to insert, or to take over from the run `takenFrom`, or already this run's. */
interface OverflowWrite {
  event: OverflowEvent;
  isNew: boolean;
  takenFrom?: string;
}

const maxInlineEvents = 20;
const maxRunChanges = 4;

export const eventKey = ({
  type,
  providerEventId,
}: Pick<SendEvent, "type" | "providerEventId">): string => `${type} ${providerEventId}`;

/** `link` is the number of a clicked link of a campaign. */
export const toSendEvent = (
  event: QueuedEvent,
  { messageKey, run, link }: { messageKey: string; run: string; link?: number | undefined },
): SendEvent => ({
  id: event.id,
  type: event.type,
  at: event.timestamp,
  providerEventId: event.providerEventId,
  ...(Object.keys(event.data).length && { data: event.data }),
  ...(event.topic && { topic: event.topic }),
  ...(event.via && { via: event.via }),
  ...(event.ipAddress && { ip: event.ipAddress }),
  ...(link !== undefined && { link }),
  ...(isDeclaredMachine(event) && { machine: true as const }),
  by: messageKey,
  run,
});

/** Whether the send may have overflow events, or will after `incoming` more events. */
export const mayHaveOverflow = ({ events = [] }: SendWithEvents, incoming = 0): boolean =>
  events.length + incoming >= maxInlineEvents;

/** The events inside a send, the counter changes of each run, and the status they lead to. */
interface InlineEvents {
  events: SendEvent[];
  deltas: Record<string, CounterChanges>;
  status: SendItem["status"];
}

/**
 * Plans what the run writes to a send and what it counts. Takes over stored events of abandoned
 * runs that arrive again with the same message. Returns undefined if there is nothing new to count.
 */
export function planUpdate(
  update: SendUpdate,
  abandonedRuns: Set<string>,
  storedOverflow: Map<string, OverflowEvent>,
): SendUpdate | undefined {
  const { send, run } = update;
  const before: InlineEvents = {
    events: send.events ?? [],
    deltas: send.deltas ?? {},
    status: send.status,
  };
  let inline = before;
  const overflow = new Map<string, OverflowWrite>();
  for (const event of update.events) {
    const key = eventKey(event);
    const inlineEvent = inline.events.find((other) => eventKey(other) === key);
    const overflowEvent = overflow.get(key)?.event ?? storedOverflow.get(key);
    const known = inlineEvent ?? overflowEvent;
    const isAbandoned = known?.by === event.by && abandonedRuns.has(known.run);
    if (!known) {
      if (belongsInOverflow(inline.events, event))
        overflow.set(key, { event: toOverflowEvent(event, inline.events), isNew: true });
      else inline = addEvent(inline, event);
    } else if (inlineEvent && isAbandoned) inline = takeOverRun(inline, inlineEvent.run, run);
    else if (overflowEvent && isAbandoned)
      overflow.set(key, {
        event: { ...overflowEvent, run },
        isNew: false,
        takenFrom: overflowEvent.run,
      });
    // An earlier attempt of this run wrote the event, and then met a conflict on another item.
    else if (overflowEvent?.run === run && !overflow.has(key))
      overflow.set(key, { event: overflowEvent, isNew: false });
  }
  const overflowEvents = [...overflow.values()].map(({ event }) => event);
  const countedEvents = [...inline.events.filter((event) => event.run === run), ...overflowEvents];
  if (!countedEvents.length) return undefined;
  return {
    ...update,
    changes: inline === before ? undefined : sendChanges(update, inline),
    countedEvents,
    counterChanges: overflowEvents.reduce(
      (sum, { delta }) => addCounters(sum, delta),
      inline.deltas[run] ?? {},
    ),
    overflow: [...overflow.values()],
  };
}

function addEvent({ events, deltas, status }: InlineEvents, event: SendEvent): InlineEvents {
  const { run } = event;
  const allEvents = [...events, event];
  const from = outcomeOf(events, status);
  const to = outcomeOf(allEvents, status);
  const { status: nextStatus = status } = to;
  const statusChange = counterDifference(
    { [`at.${statusCounterOf(status)}`]: 1 },
    { [`at.${statusCounterOf(nextStatus)}`]: 1 },
  );
  const delta = [counterDifference(from.counts, to.counts), statusChange].reduce(
    addCounters,
    deltas[run] ?? {},
  );
  return { events: allEvents, deltas: { ...deltas, [run]: delta }, status: nextStatus };
}

function takeOverRun(
  { events, deltas, status }: InlineEvents,
  from: string,
  run: string,
): InlineEvents {
  const { [from]: changes = {}, ...others } = deltas;
  return {
    status,
    events: events.map((event) => (event.run === from ? { ...event, run } : event)),
    deltas: { ...others, [run]: addCounters(deltas[run] ?? {}, changes) },
  };
}

function sendChanges(
  { send, providerMessageId }: SendUpdate,
  { events, deltas }: InlineEvents,
): Partial<SendWithEvents> {
  const { counts: _, ...outcome } = outcomeOf(events, send.status);
  return {
    ...clearedFields(send, outcome),
    ...outcome,
    // The result of the hand-over may be stored later, or never.
    ...(!send.providerMessageId && providerMessageId && { providerMessageId }),
    events,
    deltas: pruneRunChanges(deltas),
    v: send.v + 1,
  };
}

// Clears `openedAt` or `clickedAt` when the event turns out to be automated, and `error` when the
// mail was delivered after all.
const clearedFields = (
  send: SendWithEvents,
  { status, openedAt, clickedAt }: Partial<SendOutcome>,
): Partial<SendWithEvents> => ({
  ...(send.openedAt && !openedAt && { openedAt: null }),
  ...(send.clickedAt && !clickedAt && { clickedAt: null }),
  ...(send.error && status && status !== "failed" && { error: null }),
});

// Bounds the size of a send when events arrive in an unfavourable order of time.
const maxInlineEventsEver = 2 * maxInlineEvents;

/**
 * An event goes to the overflow only if it cannot change the send: the send already stores an
 * earlier event of the same type, and a non-automated one if this event is not automated. Clicks of
 * people on different links count as different types until the send has 40 events.
 */
function belongsInOverflow(inline: SendEvent[], event: SendEvent): boolean {
  if (inline.length < maxInlineEvents) return false;
  if (event.type === "deferred") return true;
  const delivered = deliveredAt(inline);
  const sameType = inline.filter(({ type }) => countedType(type) === countedType(event.type));
  const automated = isAutomated(event, delivered);
  const comparable = automated
    ? sameType
    : sameType.filter((other) => !isAutomated(other, delivered));
  if (inline.length >= maxInlineEventsEver) return comparable.length > 0;
  return comparable.some(
    (other) => byTime(other, event) < 0 && (automated || other.link === event.link),
  );
}

const countedType = (type: EventType): EventType => (type === "dropped" ? "bounce" : type);

function toOverflowEvent(event: SendEvent, inline: SendEvent[]): OverflowEvent {
  const automated = isAutomated(event, deliveredAt(inline));
  return { ...event, delta: overflowCounts[event.type]?.(automated, event) ?? {} };
}

/** Events of other types are counted once per send, by the first of their type. */
const overflowCounts: Partial<
  Record<EventType, (automated: boolean, event: SendEvent) => CounterChanges>
> = {
  open: (automated) => ({ opened: 1, ...(automated && { openedByMachine: 1 }) }),
  click: (automated, { link }) => ({
    clicked: 1,
    ...(automated && { clickedByMachine: 1 }),
    ...(link !== undefined && {
      [linkCounter(link, "clicked")]: 1,
      ...(automated && { [linkCounter(link, "clickedByMachine")]: 1 }),
    }),
  }),
  deferred: () => ({ deferred: 1 }),
};

// Longer than SQS redelivers a message. Run ids begin with their time.
const runChangesSeconds = 24 * 3600;

function pruneRunChanges(deltas: Record<string, CounterChanges>): Record<string, CounterChanges> {
  const oldest = addSeconds(-runChangesSeconds).toISOString();
  const newestFirst = Object.entries(deltas).toSorted(([a], [b]) => (a < b ? 1 : -1));
  return Object.fromEntries(newestFirst.filter(([run], i) => i < maxRunChanges || run > oldest));
}

/** Whether the event is automated, judged by all events that are known now. */
export const isAutomatedEvent = (
  event: SendEvent,
  { events = [] }: Pick<SendWithEvents, "events">,
): boolean => isAutomated(event, deliveredAt(events));
