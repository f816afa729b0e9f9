// Computes the outcome of a send from its events. Depends only on the set of events, never on the
// order in which they arrived.
import type { EventType, ProviderEvent } from "../../providers/inbound/inbound-adapter.ts";
import {
  bounceCounterOf,
  type ReasonCounter,
  refusalCounterOf,
} from "../sending/bounce-reasons.ts";
import { type LinkCounter, type LinkCounts, linkCounter } from "../sending/clicked-links.ts";
import type { EventCounter, EventCounts } from "../sending/daily-counters.ts";
import type { MailState } from "../sending/mail-sources.ts";
import type { Send } from "../sending/send-schema.ts";

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
  /** Recorded by our own links and pixels, not reported by a provider. */
  own?: true;
  /** How the recipient used one of our own unsubscribe links. */
  via?: "one_click" | "preference_page";
  ip?: string;
  /** Clicks in mails of campaigns: the number of the link. */
  link?: number;
  /** The provider or the user agent says that a machine did it. */
  machine?: true;
  /** Id of the round that counts the event. */
  round: string;
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
// Many providers round times to a second.
const burstSeconds = 1;
/** These apply to clicks on our own links. Providers leave slow scanners out themselves. */
const slowBurstSeconds = 60;
const slowBurstLinks = 3;

// User agents of scanners and crawlers. Image proxies are left out: Gmail's fetches an image when a
// person opens the mail.
const scannerUserAgents = [
  /barracuda|mimecast|proofpoint|safelinks|microsoft office existence|symantec|forcepoint/i,
  /ironport|trend ?micro|cloudmark|messagelabs|sophos|fortinet|zscaler|hornetsecurity/i,
  // Cubot makes phones.
  /(?<!\bcu)bot\b|crawl|spider|scanner|preview|headless/i,
  /facebookexternalhit|whatsapp\/|pagerenderer/i,
  /curl\/|wget\/|python-(requests|urllib|httpx)|aiohttp|go-http-client|^java\/|okhttp|libwww/i,
  /apache-httpclient|axios\/|node-fetch|^node$|undici|zgrab|masscan/i,
  /^mozilla\/5\.0$/i,
];

export const isDeclaredMachine = (event: {
  automated?: true | undefined;
  data: ProviderEvent["data"];
}): boolean => event.automated === true || isScanner(event.data.userAgent ?? "");

const isScanner = (userAgent: string): boolean =>
  scannerUserAgents.some((pattern) => pattern.test(userAgent));

/**
 * Whether a machine opened or clicked, judged by all events of the send. A click soon after the
 * delivery counts as automated, and so does one in a burst.
 */
export function isAutomated(
  event: Pick<SendEvent, "type" | "at" | "machine" | "data" | "own">,
  events: SendEvent[],
): boolean {
  if (event.machine) return true;
  if (event.type !== "click") return false;
  const delivered = deliveredAt(events);
  const seconds = delivered === undefined ? -1 : secondsBetween(delivered, event.at);
  return (seconds >= 0 && seconds < machineClickSeconds) || isInBurst(event, events);
}

/**
 * Link scanners follow several links at once, or many one after another. People need longer from
 * one link to the next.
 */
export function isInBurst(
  { at, data, own }: Pick<SendEvent, "at" | "data" | "own">,
  events: SendEvent[],
): boolean {
  const url = data?.url;
  if (url === undefined) return false;
  const countLinksWithin = (seconds: number): number => {
    const near = events.filter(
      (other) => other.type === "click" && Math.abs(secondsBetween(other.at, at)) <= seconds,
    );
    return new Set([url, ...near.flatMap((other) => other.data?.url ?? [])]).size;
  };
  if (countLinksWithin(burstSeconds) > 1) return true;
  return own === true && countLinksWithin(slowBurstSeconds) >= slowBurstLinks;
}

const secondsBetween = (from: string, to: string): number =>
  (Date.parse(to) - Date.parse(from)) / 1000;

/** Computes counters, status and times of a send. `statusBefore` is its status without events. */
export function outcomeOf(events: SendEvent[], statusBefore: Send["status"]): SendOutcome {
  const ofType = (...types: EventType[]) =>
    events.filter(({ type }) => types.includes(type)).toSorted(byTime);
  const delivered = deliveredAt(events);
  const byPeople = (event: SendEvent) => !isAutomated(event, events);
  const opens = ofType("open").filter(byPeople);
  const clicks = ofType("click").filter(byPeople);
  const [failure] = ofType("bounce", "dropped");
  const [impliesDelivery] = ofType("open", "click", "spam_report", "unsubscribe");
  const counts: SendOutcome["counts"] = {
    delivered: delivered || impliesDelivery ? 1 : 0,
    ...(failure && { [failureCounterOf(failure)]: 1 }),
    ...(failure && countReason(failure)),
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

function countReason({ type, data }: SendEvent): Partial<Record<ReasonCounter, number>> {
  if (type === "bounce") return { [bounceCounterOf(data?.bounceType, data?.reason)]: 1 };
  const { cause } = data ?? {};
  const isRefused = cause === "message" || cause === "sender";
  return isRefused ? { [refusalCounterOf(cause, data?.reason)]: 1 } : {};
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
const deliveredAt = (events: SendEvent[]): string | undefined =>
  events.filter(({ type }) => type === "delivered").toSorted(byTime)[0]?.at;

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
