// How a send stores its events: the first twenty inside the send, further ones that do not change
// it in items of their own. So the size of a send is bounded, and an event does not rewrite a long
// history: the twenty-first costs 10 write units, instead of 14 inside the send, and the sixtieth
// 10 instead of 24.
import { addSeconds } from "../../clock.ts";
import type { EventType } from "../../providers/inbound/inbound-adapter.ts";
import type { QueuedEvent } from "../../queues.ts";
import { linkCounter } from "../sending/clicked-links.ts";
import type { SendItem } from "../sending/send-schema.ts";
import {
  addCounters,
  byTime,
  type CounterChanges,
  counterDifference,
  isAutomated,
  isDeclaredMachine,
  isInBurst,
  outcomeOf,
  type SendEvent,
  type SendOutcome,
  statusCounterOf,
} from "./send-outcome.ts";

export type SendWithEvents = SendItem & {
  /** Version: grows with every write of events. */
  v: number;
  events?: SendEvent[];
  /** Counter changes by round: of rounds that have not committed yet, and of recent ones. */
  deltas?: Record<string, CounterChanges>;
};

/** An event that is stored in an item of its own, with the counter changes it causes. */
export interface OverflowEvent extends SendEvent {
  delta: CounterChanges;
}

/** What a round does to one send. `planUpdate` fills in the last four fields. */
export interface SendUpdate {
  /** As read; after the update is written, with its changes. */
  send: SendWithEvents;
  /** The send has no item yet, only a line in a chunk. */
  isNew: boolean;
  round: string;
  provider: string;
  providerMessageId?: string | undefined;
  /** The events that arrived, known ones included. */
  events: SendEvent[];
  /** Changes of the send's item. Absent if only overflow events change. */
  changes?: Partial<SendWithEvents> | undefined;
  /** The events that this round counts, those taken over from an abandoned round included. */
  countedEvents: SendEvent[];
  counterChanges: CounterChanges;
  overflow: OverflowWrite[];
}

/**
 * An overflow event to insert, or to take over from the round `takenFrom`, or already of this
 * round.
 */
interface OverflowWrite {
  event: OverflowEvent;
  isNew: boolean;
  takenFrom?: string;
}

const maxInlineEvents = 20;
const maxRoundChanges = 4;

export const eventKey = ({
  type,
  providerEventId,
}: Pick<SendEvent, "type" | "providerEventId">): string => `${type} ${providerEventId}`;

/** `link` is the number of a clicked link of a campaign. */
export const toSendEvent = (
  event: QueuedEvent,
  { round, link }: { round: string; link?: number | undefined },
): SendEvent => ({
  id: event.id,
  type: event.type,
  at: event.timestamp,
  providerEventId: event.providerEventId,
  ...(Object.keys(event.data).length && { data: event.data }),
  ...(event.topic && { topic: event.topic }),
  ...(event.own && { own: true as const }),
  ...(event.via && { via: event.via }),
  ...(event.ipAddress && { ip: event.ipAddress }),
  ...(link !== undefined && { link }),
  ...(isDeclaredMachine(event) && { machine: true as const }),
  round,
});

/**
 * Whether both are the same queued event. A queue can deliver it several times, also with another
 * message id. An event that a provider reports twice has two ids. Our own unsubscribe link makes
 * one event per send, however often it is used.
 */
export const isSameEvent = (a: SendEvent, b: SendEvent): boolean =>
  eventKey(a) === eventKey(b) && (a.id === b.id || (a.via !== undefined && b.via !== undefined));

/** Whether the send may have overflow events, or will after `incoming` more events. */
export const mayHaveOverflow = ({ events = [] }: SendWithEvents, incoming = 0): boolean =>
  events.length + incoming >= maxInlineEvents;

/** The events inside a send, the counter changes of each round, and the status they lead to. */
interface InlineEvents {
  events: SendEvent[];
  deltas: Record<string, CounterChanges>;
  status: SendItem["status"];
}

/**
 * Plans what the round writes to a send and what it counts. Takes over stored events of abandoned
 * rounds that are delivered again. Returns undefined if there is nothing new to count.
 */
export function planUpdate(
  update: SendUpdate,
  abandonedRounds: Set<string>,
  storedOverflow: Map<string, OverflowEvent>,
): SendUpdate | undefined {
  const { send, round } = update;
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
    const isAbandoned =
      known !== undefined && isSameEvent(known, event) && abandonedRounds.has(known.round);
    if (!known) {
      if (belongsInOverflow(inline.events, event))
        overflow.set(key, { event: toOverflowEvent(event, inline.events), isNew: true });
      else inline = addEvent(inline, event);
    } else if (inlineEvent && isAbandoned) inline = takeOverRound(inline, inlineEvent.round, round);
    else if (overflowEvent && isAbandoned)
      overflow.set(key, {
        event: { ...overflowEvent, round },
        isNew: false,
        takenFrom: overflowEvent.round,
      });
    // An earlier attempt of this round wrote the event, and then met a conflict on another item.
    else if (overflowEvent?.round === round && !overflow.has(key))
      overflow.set(key, { event: overflowEvent, isNew: false });
  }
  const overflowEvents = [...overflow.values()].map(({ event }) => event);
  const countedEvents = [
    ...inline.events.filter((event) => event.round === round),
    ...overflowEvents,
  ];
  if (!countedEvents.length) return undefined;
  return {
    ...update,
    changes: inline === before ? undefined : sendChanges(update, inline),
    countedEvents,
    counterChanges: overflowEvents.reduce(
      (sum, { delta }) => addCounters(sum, delta),
      inline.deltas[round] ?? {},
    ),
    overflow: [...overflow.values()],
  };
}

function addEvent({ events, deltas, status }: InlineEvents, event: SendEvent): InlineEvents {
  const { round } = event;
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
    deltas[round] ?? {},
  );
  return { events: allEvents, deltas: { ...deltas, [round]: delta }, status: nextStatus };
}

function takeOverRound(
  { events, deltas, status }: InlineEvents,
  from: string,
  round: string,
): InlineEvents {
  const { [from]: changes = {}, ...others } = deltas;
  return {
    status,
    events: events.map((event) => (event.round === from ? { ...event, round } : event)),
    deltas: { ...others, [round]: addCounters(deltas[round] ?? {}, changes) },
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
    deltas: pruneRoundChanges(deltas),
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
 * earlier event of the same type, and a non-automated one if this event is not automated. A click
 * in a burst shows that other clicks are automated, so it stays with the send. Clicks of people on
 * different links count as different types until the send has 40 events.
 */
function belongsInOverflow(inline: SendEvent[], event: SendEvent): boolean {
  if (inline.length < maxInlineEvents) return false;
  if (event.type === "deferred") return true;
  const sameType = inline.filter(({ type }) => countedType(type) === countedType(event.type));
  const automated = isAutomated(event, inline);
  const comparable = automated ? sameType : sameType.filter((other) => !isAutomated(other, inline));
  if (inline.length >= maxInlineEventsEver) return comparable.length > 0;
  if (event.type === "click" && isInBurst(event, inline)) return false;
  return comparable.some(
    (other) => byTime(other, event) < 0 && (automated || other.link === event.link),
  );
}

const countedType = (type: EventType): EventType => (type === "dropped" ? "bounce" : type);

function toOverflowEvent(event: SendEvent, inline: SendEvent[]): OverflowEvent {
  const automated = isAutomated(event, inline);
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

// Longer than a message can wait: up to 14 days in its queue, and as long in the dead-letter queue.
// Round ids begin with their time.
const roundChangesSeconds = 28 * 24 * 3600;

function pruneRoundChanges(deltas: Record<string, CounterChanges>): Record<string, CounterChanges> {
  const oldest = addSeconds(-roundChangesSeconds).toISOString();
  const newestFirst = Object.entries(deltas).toSorted(([a], [b]) => (a < b ? 1 : -1));
  return Object.fromEntries(
    newestFirst.filter(([round], i) => i < maxRoundChanges || round > oldest),
  );
}

/** Whether the event is automated, judged by all events that are known now. */
export const isAutomatedEvent = (
  event: SendEvent,
  { events = [] }: Pick<SendWithEvents, "events">,
): boolean => isAutomated(event, events);
