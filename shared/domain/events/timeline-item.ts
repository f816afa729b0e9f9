// How a send keeps its events: the first twenty inside, further opens, clicks and deferrals in items beside it, so that a link
// opened ten thousand times does not cost its whole history each time.
import type { Received } from "../../consume.ts";
import type { InboundEvent } from "../../queues.ts";
import type { SendItem } from "../sends.ts";
import { added, automated, type Counts, type Entry, isMachine, moved, type Outcome, outcomeOf } from "./timeline.ts";

export type TimelineItem = SendItem & {
  /** Moves with every write of events. */
  v: number;
  events?: Entry[];
  /** What a run has still to count, or has counted lately. */
  deltas?: Record<string, Counts>;
  /** Events beside it. */
  further?: number;
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

export interface Decision {
  set: Partial<TimelineItem>;
  /** Entries that this run brings to the counters, now or from a run that died. */
  counted: Entry[];
  delta: Counts;
  further: FurtherEntry[];
  outcome: Outcome;
}

const mostInside = 20;
const mostDeltas = 4;
const mayStandBeside = new Set(["open", "click", "deferred"]);

export const nameOf = ({ type, providerEventId }: Pick<Entry, "type" | "providerEventId">): string => `${type} ${providerEventId}`;

/**
 * What a run has to write on a send. `lost` names the runs that died before they counted: their events that come again with the
 * message that brought them are taken over. Undefined when nothing is new.
 */
export function decide(
  item: TimelineItem,
  arrivals: Arrival[],
  run: string,
  lost: Set<string>,
  beside: Map<string, FurtherEntry>,
): Decision | undefined {
  let entries = item.events ?? [];
  const deltas = { ...item.deltas };
  const further: FurtherEntry[] = [];
  let news = false;
  for (const arrival of arrivals) {
    const { event, by } = arrival;
    const name = nameOf(event);
    const old = entries.find((entry) => nameOf(entry) === name);
    const aside = beside.get(name) ?? further.find((entry) => nameOf(entry) === name);
    if (old && old.by === by && old.run !== run && lost.has(old.run)) {
      const from = old.run;
      entries = entries.map((entry) => (entry.run === from ? { ...entry, run } : entry));
      deltas[run] = added(deltas[run] ?? {}, deltas[from] ?? {});
      delete deltas[from];
      news = true;
    } else if (aside && aside.by === by && aside.run !== run && lost.has(aside.run)) further.push({ ...aside, run });
    else if (!old && !aside) {
      const entry = entryOf(arrival, run);
      if (standsBeside(entries, entry)) further.push({ ...entry, delta: countsBeside(entry) });
      else {
        const [before, after] = [outcomeOf(entries, item.status), outcomeOf([...entries, entry], item.status)];
        deltas[run] = added(deltas[run] ?? {}, moved(before.counts, after.counts));
        entries = [...entries, entry];
        news = true;
      }
    }
  }
  const pending = entries.filter((entry) => entry.run === run);
  if (!news && !further.length && !pending.length) return undefined;
  const outcome = outcomeOf(entries, item.status);
  const { counts, ...marks } = outcome;
  const newBeside = further.filter((entry) => !beside.has(nameOf(entry))).length;
  return {
    set: {
      ...unmarked(item, marks),
      ...marks,
      events: entries,
      deltas: newest(deltas),
      ...(newBeside && { further: (item.further ?? 0) + newBeside }),
      v: item.v + 1,
    },
    counted: [...pending, ...further],
    delta: further.reduce((sum, { delta }) => added(sum, delta), deltas[run] ?? {}),
    further,
    outcome,
  };
}

// A click that turns out to be a machine's takes its mark with it.
const unmarked = (item: TimelineItem, { openedAt, clickedAt }: Partial<Outcome>): Partial<TimelineItem> => ({
  ...(item.openedAt && !openedAt && { openedAt: null }),
  ...(item.clickedAt && !clickedAt && { clickedAt: null }),
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

/** What is counted once, by a person's first open or click, must be inside. */
function standsBeside(entries: Entry[], entry: Entry): boolean {
  if (entries.length < mostInside || !mayStandBeside.has(entry.type)) return false;
  return Boolean(entry.machine) || entry.type === "deferred" || entries.some((other) => other.type === entry.type && !other.machine);
}

function countsBeside({ type, machine }: Entry): Counts {
  if (type === "open") return { opened: 1, ...(machine && { openedByMachine: 1 }) };
  if (type === "click") return { clicked: 1, ...(machine && { clickedByMachine: 1 }) };
  return { deferred: 1 };
}

// Run names begin with their time. A run is counted, or taken over, within minutes; only replays by hand come later.
const newest = (deltas: Record<string, Counts>): Record<string, Counts> =>
  Object.fromEntries(
    Object.entries(deltas)
      .toSorted(([a], [b]) => (a < b ? 1 : -1))
      .slice(0, mostDeltas),
  );

/** As it is told: whether a machine did it follows from all that is known by now. */
export const isAutomated = (entry: Entry, { deliveredAt }: SendItem): boolean => automated(entry, deliveredAt ?? undefined);
