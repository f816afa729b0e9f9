// What events make of a send. Pure, and a matter of the set of events only: whatever order they come in, the end is the same.
import type { EventType, ProviderEvent } from "../../providers/inbound/inbound.ts";
import { counterOf, type ReasonCounter } from "../insight/bounce-reasons.ts";
import type { Place } from "../sending/sources.ts";
import type { Send } from "../sends.ts";

/** As ProviderEvent has it; a field may also be undefined. */
export type EventData = { [Field in keyof ProviderEvent["data"]]?: ProviderEvent["data"][Field] | undefined };

/** An event as it lies in its send. */
export interface Entry {
  id: number;
  type: EventType;
  /** ISO 8601, the provider's clock. */
  at: string;
  providerEventId: string;
  data?: EventData;
  ip?: string;
  /** The provider, or what it names itself, says that a machine did it. */
  machine?: true;
  /** The queue message that brought it, and the run that wrote it. */
  by: string;
  run: string;
}

/** What of a send is counted; `unique...` at most once, and by people only. */
export type Counter =
  | "delivered"
  | "bouncedHard"
  | "bouncedSoft"
  | "dropped"
  | "complained"
  | "unsubscribed"
  | "deferred"
  | "opened"
  | "openedByMachine"
  | "uniqueOpened"
  | "clicked"
  | "clickedByMachine"
  | "uniqueClicked"
  | ReasonCounter;
export type Counts = Partial<Record<Counter, number>>;

/** Also where the mail stands: `at.sent` falls when `at.delivered` rises. */
export type Move = `at.${Place}`;
export type Moves = Partial<Record<Counter | Move, number>>;

export interface Outcome {
  counts: Counts;
  status?: Send["status"];
  error?: string;
  deliveredAt?: string;
  openedAt?: string;
  clickedAt?: string;
}

// Link scanners follow every link as soon as a mail is delivered; nobody reads that fast.
export const machineClickSeconds = 10;

// Named by their operators, or by those who watch them: prefetching proxies do fetch images for people (Gmail's fetches when the
// mail is opened, so it counts as a person), scanners and crawlers do not.
const machines =
  /barracuda|mimecast|proofpoint|safelinks|microsoft office existence|symantec|forcepoint|ironport|trend ?micro|cloudmark|messagelabs|bot\b|crawl|spider|scanner|preview|curl\/|wget\/|python-requests|go-http-client|headless|^mozilla\/5\.0$/i;

export const isMachine = (event: { automated?: true | undefined; data: EventData }): boolean =>
  event.automated === true || (event.data.userAgent !== undefined && machines.test(event.data.userAgent));

/** Whether a machine opened or clicked, as far as is known by now. */
export function automated(entry: Pick<Entry, "type" | "at" | "machine">, delivered: string | undefined): boolean {
  if (entry.machine) return true;
  if (entry.type !== "click" || delivered === undefined) return false;
  const seconds = (Date.parse(entry.at) - Date.parse(delivered)) / 1000;
  return seconds >= 0 && seconds < machineClickSeconds;
}

/** The sum of a send's events. `before` is its status without them. */
export function outcomeOf(entries: Entry[], before: Send["status"]): Outcome {
  const of = (...types: EventType[]) => entries.filter(({ type }) => types.includes(type)).toSorted(inTime);
  const delivered = deliveredAt(entries);
  const opens = people(of("open"), delivered);
  const clicks = people(of("click"), delivered);
  const [failure] = of("bounce", "dropped");
  const [implying] = of("open", "click", "spam_report", "unsubscribe");
  const counts: Counts = {
    delivered: delivered || implying ? 1 : 0,
    ...(failure && { [failureCounter(failure)]: 1 }),
    ...(failure?.type === "bounce" && { [counterOf(failure.data?.bounceType, failure.data?.reason)]: 1 }),
    complained: Math.min(1, of("spam_report").length),
    unsubscribed: Math.min(1, of("unsubscribe").length),
    deferred: of("deferred").length,
    opened: of("open").length,
    openedByMachine: of("open").length - opens.length,
    uniqueOpened: Math.min(1, opens.length),
    clicked: of("click").length,
    clickedByMachine: of("click").length - clicks.length,
    uniqueClicked: Math.min(1, clicks.length),
  };
  return {
    counts,
    ...statusOf(failure, delivered ?? implying?.at, entries.length > 0, before),
    ...(opens[0] && { openedAt: opens[0].at }),
    ...(clicks[0] && { clickedAt: clicks[0].at }),
  };
}

/** Of two at the same time neither is the first by when it came: that would make the end a matter of order. */
export const inTime = (a: Entry, b: Entry): number =>
  a.at < b.at ? -1 : a.at > b.at ? 1 : a.type < b.type ? -1 : a.type > b.type ? 1 : a.providerEventId < b.providerEventId ? -1 : 1;

/** When it was, as far as the provider says so: what an open implies tells nothing of how soon it came. */
export const deliveredAt = (entries: Entry[]): string | undefined =>
  entries.filter(({ type }) => type === "delivered").toSorted(inTime)[0]?.at;

const people = (entries: Entry[], delivered: string | undefined) => entries.filter((entry) => !automated(entry, delivered));

const failureCounter = ({ type, data }: Entry): Counter =>
  type === "dropped" ? "dropped" : data?.bounceType === "hard" ? "bouncedHard" : "bouncedSoft";

const unsettled = new Set<Send["status"]>(["queued", "sending", "uncertain"]);

function statusOf(failure: Entry | undefined, arrivedAt: string | undefined, heard: boolean, before: Send["status"]) {
  const at = arrivedAt && { deliveredAt: arrivedAt };
  if (failure) return { status: "failed" as const, error: failure.data?.reason ?? failure.type, ...at };
  if (arrivedAt) return { status: "delivered" as const, ...at };
  // Whoever tells of a mail has it: it was handed over after all.
  return heard && unsettled.has(before) ? { status: "sent" as const } : {};
}

/** What the counters must be moved by when a send goes from one outcome to the next. */
export function moved(from: Moves, to: Moves): Moves {
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])] as (keyof Moves)[];
  return Object.fromEntries(names.map((name) => [name, (to[name] ?? 0) - (from[name] ?? 0)]).filter(([, by]) => by !== 0));
}

export const added = (a: Moves, b: Moves): Moves => moved(Object.fromEntries(Object.entries(b).map(([name, n]) => [name, -n])), a);

/** A mail that waits will be counted as sent when the hand-over is told, whatever an event made of it before. */
export const placeOf = (status: Send["status"]): Place =>
  status === "queued" || status === "scheduled" || status === "sending" ? "sent" : status;
