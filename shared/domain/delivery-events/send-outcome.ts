// Computes the outcome of a send from its events. Depends only on the set of events, never on the
// order in which they arrived.
import type { EventType, ProviderEvent } from "../../providers/inbound/inbound-adapter.ts";
import { bounceCounterOf } from "../sending/bounce-reasons.ts";
import { type LinkCounter, type LinkCounts, linkCounter } from "../sending/clicked-links.ts";
import type { EventCounter, EventCounts } from "../sending/daily-counters.ts";
import type { MailState } from "../sending/mail-sources.ts";
import type { Send } from "../sending/sends.ts";

/** An event as its send stores it. */
export interface SendEvent {
  id: number;
  type: EventType;
  /** ISO 8601, by the provider's clock. */
  at: string;
  providerEventId: string;
  data?: ProviderEvent["data"];
  /** The recipient left only this topic. */
  topic?: { topicId: number; topicName: string };
  /** How the recipient used one of our own unsubscribe links. */
  via?: "one_click" | "preference_page";
  ip?: string;
  /** Clicks in mails of campaigns: the number of the link. */
  link?: number;
  /** The provider or the user agent says that a machine did it. */
  machine?: true;
  /** Key of the queue message that contained the event. A redelivery has the same key. */
  by: string;
  /** Id of the run that counts the event. */
  run: string;
}

/** Number of mails with a status: when `at.delivered` rises, `at.sent` falls. */
export type StatusCounter = `at.${MailState}`;
export type CounterChanges = Partial<Record<EventCounter | StatusCounter | LinkCounter, number>>;

export interface SendOutcome {
  counts: EventCounts & LinkCounts;
  status?: Send["status"];
  error?: string;
  deliveredAt?: string;
  openedAt?: string;
  clickedAt?: string;
}

// Link scanners follow every link as soon as a mail is delivered; people do not read that fast.
export const machineClickSeconds = 10;

// User agents of scanners and crawlers. Image proxies are left out: Gmail's fetches an image when a
// person opens the mail.
const scannerUserAgents = [
  /barracuda|mimecast|proofpoint|safelinks|microsoft office existence|symantec|forcepoint/i,
  /ironport|trend ?micro|cloudmark|messagelabs/i,
  /bot\b|crawl|spider|scanner|preview|curl\/|wget\/|python-requests|go-http-client|headless/i,
  /^mozilla\/5\.0$/i,
];

export const isDeclaredMachine = (event: {
  automated?: true | undefined;
  data: ProviderEvent["data"];
}): boolean => event.automated === true || isScanner(event.data.userAgent ?? "");

const isScanner = (userAgent: string): boolean =>
  scannerUserAgents.some((pattern) => pattern.test(userAgent));

/** Whether a machine opened or clicked. A click soon after the delivery counts as automated. */
export function isAutomated(
  event: Pick<SendEvent, "type" | "at" | "machine">,
  deliveredAt: string | undefined,
): boolean {
  if (event.machine) return true;
  if (event.type !== "click" || deliveredAt === undefined) return false;
  const seconds = (Date.parse(event.at) - Date.parse(deliveredAt)) / 1000;
  return seconds >= 0 && seconds < machineClickSeconds;
}

/** Computes counters, status and times of a send. `statusBefore` is its status without events. */
export function outcomeOf(events: SendEvent[], statusBefore: Send["status"]): SendOutcome {
  const ofType = (...types: EventType[]) =>
    events.filter(({ type }) => types.includes(type)).toSorted(byTime);
  const delivered = deliveredAt(events);
  const opens = withoutAutomated(ofType("open"), delivered);
  const clicks = withoutAutomated(ofType("click"), delivered);
  const [failure] = ofType("bounce", "dropped");
  const [impliesDelivery] = ofType("open", "click", "spam_report", "unsubscribe");
  const counts: SendOutcome["counts"] = {
    delivered: delivered || impliesDelivery ? 1 : 0,
    ...(failure && { [failureCounterOf(failure)]: 1 }),
    ...(failure?.type === "bounce" && {
      [bounceCounterOf(failure.data?.bounceType, failure.data?.reason)]: 1,
    }),
    complained: Math.min(1, ofType("spam_report").length),
    unsubscribed: Math.min(1, ofType("unsubscribe").length),
    deferred: ofType("deferred").length,
    opened: ofType("open").length,
    openedByMachine: ofType("open").length - opens.length,
    uniqueOpened: Math.min(1, opens.length),
    clicked: ofType("click").length,
    clickedByMachine: ofType("click").length - clicks.length,
    uniqueClicked: Math.min(1, clicks.length),
    ...countLinks(ofType("click"), clicks),
  };
  return {
    counts,
    ...statusOf(statusBefore, {
      failure,
      arrivedAt: delivered ?? impliesDelivery?.at,
      hasEvents: events.length > 0,
    }),
    ...(opens[0] && { openedAt: opens[0].at }),
    ...(clicks[0] && { clickedAt: clicks[0].at }),
  };
}

function countLinks(clicks: SendEvent[], clicksByPeople: SendEvent[]): LinkCounts {
  const links = [...new Set(clicks.flatMap(({ link }) => link ?? []))];
  const counters = links.flatMap((link): [LinkCounter, number][] => {
    const clicked = clicks.filter((event) => event.link === link).length;
    const byPeople = clicksByPeople.filter((event) => event.link === link).length;
    return [
      [linkCounter(link, "clicked"), clicked],
      [linkCounter(link, "clickedByMachine"), clicked - byPeople],
      [linkCounter(link, "uniqueClicked"), Math.min(1, byPeople)],
    ];
  });
  return Object.fromEntries(counters);
}

/**
 * Orders events by time, then type, then provider event id. The order of arrival does not count, so
 * the outcome does not depend on it.
 */
export const byTime = (a: SendEvent, b: SendEvent): number => (sortKey(a) < sortKey(b) ? -1 : 1);
const sortKey = ({ at, type, providerEventId }: SendEvent) => `${at} ${type} ${providerEventId}`;

/** The order of event lists in the API. */
export function byTimeThenId(
  a: Pick<SendEvent, "at" | "id">,
  b: Pick<SendEvent, "at" | "id">,
): number {
  if (a.at === b.at) return a.id - b.id;
  return a.at < b.at ? -1 : 1;
}

/** The time that the provider reports. The time of an open does not tell when the mail arrived. */
export const deliveredAt = (events: SendEvent[]): string | undefined =>
  events.filter(({ type }) => type === "delivered").toSorted(byTime)[0]?.at;

const withoutAutomated = (events: SendEvent[], deliveredAt: string | undefined) =>
  events.filter((event) => !isAutomated(event, deliveredAt));

function failureCounterOf({ type, data }: SendEvent): EventCounter {
  if (type === "dropped") return "dropped";
  return data?.bounceType === "hard" ? "bouncedHard" : "bouncedSoft";
}

const notYetSent = new Set<Send["status"]>(["queued", "sending", "uncertain"]);

function statusOf(
  statusBefore: Send["status"],
  {
    failure,
    arrivedAt,
    hasEvents,
  }: { failure: SendEvent | undefined; arrivedAt: string | undefined; hasEvents: boolean },
) {
  const at = arrivedAt && { deliveredAt: arrivedAt };
  if (failure)
    return { status: "failed" as const, error: failure.data?.reason ?? failure.type, ...at };
  if (arrivedAt) return { status: "delivered" as const, ...at };
  // Any event proves that the provider accepted the mail.
  return hasEvents && notYetSent.has(statusBefore) ? { status: "sent" as const } : {};
}

/** The counter changes that lead from one state of the counters to another. */
export function counterDifference(from: CounterChanges, to: CounterChanges): CounterChanges {
  const names = [
    ...new Set([...Object.keys(from), ...Object.keys(to)]),
  ] as (keyof CounterChanges)[];
  return Object.fromEntries(
    names.map((name) => [name, (to[name] ?? 0) - (from[name] ?? 0)]).filter(([, by]) => by !== 0),
  );
}

export const addCounters = (a: CounterChanges, b: CounterChanges): CounterChanges =>
  counterDifference(Object.fromEntries(Object.entries(b).map(([name, n = 0]) => [name, -n])), a);

/**
 * The counter of a status. A mail that is not handed over yet counts as sent, because the result of
 * its hand-over will count it so.
 */
export const statusCounterOf = (status: Send["status"]): MailState =>
  status === "queued" || status === "scheduled" || status === "sending" ? "sent" : status;
