// How a send keeps its events: the first twenty inside, and of those that then come what changes nothing of it in items beside it,
// so that a link opened ten thousand times does not cost its whole history each time.
import { after } from "../../clock.ts";
import type { Received } from "../../consume.ts";
import type { EventType } from "../../providers/inbound/inbound.ts";
import type { InboundEvent } from "../../queues.ts";
import type { SendItem } from "../sends.ts";
import {
  added,
  automated,
  type Counts,
  deliveredAt,
  type Entry,
  inTime,
  isMachine,
  type Moves,
  moved,
  type Outcome,
  outcomeOf,
  placeOf,
} from "./timeline.ts";

export type TimelineItem = SendItem & {
  /** Moves with every write of events. */
  v: number;
  events?: Entry[];
  /** What a run has still to count, or has counted lately. */
  deltas?: Record<string, Moves>;
};

/** An event that a message brought. */
export interface Arrival {
  event: InboundEvent;
  /** The message: the same when it is delivered again. */
  by: Received<unknown>["messageId"];
  provider: string;
}

export interface FurtherEntry extends Entry {
  delta: Counts;
}

/** An event beside its send that a run counts. */
export interface Further {
  entry: FurtherEntry;
  /** To be inserted; else it is there: this run's own, or to be taken over from the run `from`. */
  isNew: boolean;
  from?: string;
}

export interface Decision {
  /** Absent when the send itself stays as it is. */
  set?: Partial<TimelineItem>;
  /** Entries that this run brings to the counters, now or from a run that died. */
  counted: Entry[];
  delta: Moves;
  further: Further[];
}

const mostInside = 20;
const mostDeltas = 4;

export const nameOf = ({ type, providerEventId }: Pick<Entry, "type" | "providerEventId">): string => `${type} ${providerEventId}`;

/** Whether events may stand beside a send, or will when so many more have come. */
export const mayHaveFurther = ({ events = [] }: TimelineItem, coming = 0): boolean => events.length + coming >= mostInside;

/** The entries of a send, and what each run has to count of them. */
interface Inside {
  entries: Entry[];
  deltas: Record<string, Moves>;
  status: SendItem["status"];
}

/**
 * What a run has to write on a send, and to count. `lost` names the runs that died before they counted: their events that come
 * again with the message that brought them are taken over. Undefined when nothing is new.
 */
export function decide(
  item: TimelineItem,
  arrivals: Arrival[],
  run: string,
  lost: Set<string>,
  beside: Map<string, FurtherEntry>,
): Decision | undefined {
  const before: Inside = { entries: item.events ?? [], deltas: item.deltas ?? {}, status: item.status };
  let inside = before;
  const further = new Map<string, Further>();
  for (const arrival of arrivals) {
    const name = nameOf(arrival.event);
    const old = inside.entries.find((entry) => nameOf(entry) === name);
    const aside = further.get(name)?.entry ?? beside.get(name);
    const known = old ?? aside;
    const isLost = known?.by === arrival.by && lost.has(known.run);
    if (!known) {
      const entry = entryOf(arrival, run);
      if (standsBeside(inside.entries, entry)) further.set(name, { entry: counting(entry, inside.entries), isNew: true });
      else inside = grown(inside, entry);
    } else if (old && isLost) inside = takenOver(inside, old.run, run);
    else if (aside && isLost) further.set(name, { entry: { ...aside, run }, isNew: false, from: aside.run });
    // Written by this run, which then lost a race for something else.
    else if (aside?.run === run && !further.has(name)) further.set(name, { entry: aside, isNew: false });
  }
  const counted = [...inside.entries.filter((entry) => entry.run === run), ...[...further.values()].map(({ entry }) => entry)];
  if (!counted.length) return undefined;
  return {
    ...(inside !== before && { set: changesOf(item, inside, arrivals) }),
    counted,
    delta: [...further.values()].reduce((sum, { entry }) => added(sum, entry.delta), inside.deltas[run] ?? {}),
    further: [...further.values()],
  };
}

function grown({ entries, deltas, status }: Inside, entry: Entry): Inside {
  const { run } = entry;
  const all = [...entries, entry];
  const [from, to] = [outcomeOf(entries, status), outcomeOf(all, status)];
  const { status: next = status } = to;
  const place = moved({ [`at.${placeOf(status)}`]: 1 }, { [`at.${placeOf(next)}`]: 1 });
  const delta = [moved(from.counts, to.counts), place].reduce(added, deltas[run] ?? {});
  return { entries: all, deltas: { ...deltas, [run]: delta }, status: next };
}

function takenOver({ entries, deltas, ...rest }: Inside, from: string, run: string): Inside {
  const { [from]: owed = {}, ...others } = deltas;
  return {
    ...rest,
    entries: entries.map((entry) => (entry.run === from ? { ...entry, run } : entry)),
    deltas: { ...others, [run]: added(deltas[run] ?? {}, owed) },
  };
}

function changesOf(item: TimelineItem, { entries, deltas }: Inside, arrivals: Arrival[]): Partial<TimelineItem> {
  const { counts: _, ...marks } = outcomeOf(entries, item.status);
  const providerMessageId = arrivals.find(({ event }) => event.providerMessageId)?.event.providerMessageId;
  return {
    ...unmarked(item, marks),
    ...marks,
    // Its hand-over may not have been told, or not yet.
    ...(!item.providerMessageId && providerMessageId && { providerMessageId }),
    events: entries,
    deltas: newest(deltas),
    v: item.v + 1,
  };
}

// A click that turns out a machine's takes its mark with it, and a mail that arrived what was thought of its hand-over.
const unmarked = (item: TimelineItem, { status, openedAt, clickedAt }: Partial<Outcome>): Partial<TimelineItem> => ({
  ...(item.openedAt && !openedAt && { openedAt: null }),
  ...(item.clickedAt && !clickedAt && { clickedAt: null }),
  ...(item.error && status && status !== "failed" && { error: null }),
});

const entryOf = ({ event, by }: Arrival, run: string): Entry => ({
  id: event.id,
  type: event.type,
  at: event.timestamp,
  providerEventId: event.providerEventId,
  ...(Object.keys(event.data).length && { data: event.data }),
  ...(event.ipAddress && { ip: event.ipAddress }),
  ...(isMachine(event) && { machine: true as const }),
  by,
  run,
});

// However often something is told, and in whatever order of time, a send has its bounds.
const mostEver = 2 * mostInside;

/** Only what changes nothing of the send: of its kind there is one inside, earlier, and a person's if it is a person's. */
function standsBeside(entries: Entry[], entry: Entry): boolean {
  if (entries.length < mostInside) return false;
  if (entry.type === "deferred") return true;
  const delivered = deliveredAt(entries);
  const ofKind = entries.filter(({ type }) => kindOf(type) === kindOf(entry.type));
  const same = automated(entry, delivered) ? ofKind : ofKind.filter((other) => !automated(other, delivered));
  return same.some((other) => inTime(other, entry) < 0 || entries.length >= mostEver);
}

const kindOf = (type: EventType): EventType => (type === "dropped" ? "bounce" : type);

function counting(entry: Entry, inside: Entry[]): FurtherEntry {
  const byMachine = automated(entry, deliveredAt(inside));
  return { ...entry, delta: countsBeside[entry.type]?.(byMachine) ?? {} };
}

/** All else is counted once for a send, by the first of its kind. */
const countsBeside: Partial<Record<EventType, (byMachine: boolean) => Counts>> = {
  open: (byMachine) => ({ opened: 1, ...(byMachine && { openedByMachine: 1 }) }),
  click: (byMachine) => ({ clicked: 1, ...(byMachine && { clickedByMachine: 1 }) }),
  deferred: () => ({ deferred: 1 }),
};

// Longer than a message comes again by itself. Run names begin with their time.
const owedSeconds = 24 * 3600;

function newest(deltas: Record<string, Moves>): Record<string, Moves> {
  const oldest = after(-owedSeconds).toISOString();
  const byAge = Object.entries(deltas).toSorted(([a], [b]) => (a < b ? 1 : -1));
  return Object.fromEntries(byAge.filter(([run], i) => i < mostDeltas || run > oldest));
}

/** As it is told: whether a machine did it follows from all that is known by now. */
export const isAutomated = (entry: Entry, { events = [] }: Pick<TimelineItem, "events">): boolean => automated(entry, deliveredAt(events));
