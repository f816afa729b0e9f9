// Decides whether soft bounces suppress an address: by the outcomes of the latest mails to it, in
// the order in which the mails were accepted. The sends store these outcomes, so repeated events
// and events in any order give the same result.
import { get, getMany } from "../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds, now } from "../../clock.ts";
import { normalizeEmail } from "../../kernel/email-fields.ts";
import { inGroups, inParallel } from "../../kernel/parallel.ts";
import { keys, zeroPad } from "../../keys.ts";
import type { EventType } from "../../providers/inbound/inbound-adapter.ts";
import * as softSuppressions from "../audience/suppressions/soft-suppressions.ts";
import * as suppressions from "../audience/suppressions/suppressions.ts";
import { maxSoftBounceLimit, type Site } from "../identity/sites.ts";
import * as readSends from "../sending/read-sends.ts";
import { readSendsTo } from "../sending/recipient-index/sends-to-address.ts";
import type { SendItem } from "../sending/send-schema.ts";
import type { SendWithEvents } from "./send-events.ts";

/** What an event says about one mail to one address. */
export interface MailReport {
  siteId: number;
  sendId: number;
  /** When the mail was accepted (ISO 8601). */
  acceptedAt: string;
  email: string;
  type: EventType;
  bounceType?: "hard" | "soft" | undefined;
  /** When it happened (ISO 8601). */
  at: string;
  detail?: string | undefined;
  provider: string;
}

export const isSoftBounce = ({ type, bounceType }: Pick<MailReport, "type" | "bounceType">) =>
  type === "bounce" && bounceType !== "hard";
const arrivalTypes = new Set<EventType>(["delivered", "open", "click"]);

/**
 * Suppresses addresses whose mails bounced softly, and ends such suppressions when a later mail has
 * arrived. Call it after the events are stored in their sends. Safe to repeat.
 */
export async function applyMailReports(orgId: number, reports: MailReport[]): Promise<void> {
  const counted = reports.filter((report) => isSoftBounce(report) || arrivalTypes.has(report.type));
  const byAddress = [...Map.groupBy(counted, ({ email }) => normalizeEmail(email))];
  // An arrival reads only whether the address is suppressed.
  const known = await getMany<suppressions.Suppression>(
    byAddress.map(([email]) => suppressions.keyOf(orgId, email)),
    { consistent: true },
  );
  await inParallel(8, byAddress, async ([email, ofAddress], i) => {
    if (!ofAddress.some(isSoftBounce) && !suppressions.isSoft(known[i])) return;
    await softSuppressions.reconcile(orgId, email, (current) =>
      decide({ orgId, email, reports: ofAddress }, current),
    );
  });
}

interface ReportedAddress {
  orgId: number;
  email: string;
  reports: MailReport[];
}

/** What became of a mail. Mails of which nothing is known have no outcome. */
interface MailOutcome {
  siteId: number;
  /** Orders the outcomes. */
  position: string;
  /** The last soft bounce; undefined: the mail arrived. */
  bounce?: { at: string; detail: string | undefined; provider: string };
  /** Sent by a server that reports no deliveries: without a bounce, it arrived after some days. */
  isSilent?: true;
}

/** A bounce counts more than a delivery, because it can come after it. */
async function decide(
  address: ReportedAddress,
  current: suppressions.Suppression | undefined,
): Promise<softSuppressions.SoftSuppression | undefined> {
  const { orgId, email, reports } = address;
  const siteIds = [
    ...new Set([
      ...reports.filter(isSoftBounce).map(({ siteId }) => siteId),
      ...(current?.softBounce ? [current.softBounce.siteId] : []),
    ]),
  ];
  const sites = await inParallel(8, siteIds, (siteId) => readSiteRule(orgId, siteId, email));
  const enough = Math.max(1, ...sites.map(({ limit }) => limit));
  const isCounted = ({ bounce, siteId }: MailOutcome) =>
    bounce !== undefined && siteIds.includes(siteId);
  const outcomes = await readOutcomes(address, { enough, isCounted });
  const found = sites.flatMap((site) => findBounces(outcomes, site) ?? []);
  // Several sites may have bounces that count: the suppression shows the last one.
  return found.toSorted((a, b) => (a.liftsAt! < b.liftsAt! ? 1 : -1))[0];
}

interface SiteRule {
  siteId: number;
  limit: number;
  /** Bounces up to this position do not count again. */
  countedFrom: string;
}

async function readSiteRule(orgId: number, siteId: number, email: string): Promise<SiteRule> {
  const [site, forgotten] = await Promise.all([
    get<Site>(keys.record(orgId, "SITE", siteId)),
    get<{ countedFrom?: string; expires: number }>(keys.softBounces(orgId, siteId, email)),
  ]);
  const isValid = forgotten !== undefined && forgotten.expires > epochSeconds();
  return {
    siteId,
    limit: site?.softBounceLimit ?? 1,
    countedFrom: (isValid && forgotten.countedFrom) || "",
  };
}

const quietSeconds = 30 * 24 * 3600;
/**
 * A mail can be scheduled for 30 days later, and bounce days after that. A later time is one of a
 * wrong clock. The bound depends on stored data only, so that each look gives the same result.
 */
const maxBounceSeconds = 45 * 24 * 3600;

/** The soft bounces in a row of one site, since the last mail that arrived from any site. */
function findBounces(
  outcomes: MailOutcome[],
  { siteId, limit, countedFrom }: SiteRule,
): softSuppressions.SoftSuppression | undefined {
  const silentUntil = findSilentUntil(outcomes);
  const end = outcomes.findIndex(
    ({ bounce, isSilent, position }) =>
      position <= countedFrom || (!bounce && (!isSilent || position < silentUntil)),
  );
  const inRow = (end < 0 ? outcomes : outcomes.slice(0, end))
    .filter((outcome) => outcome.bounce && outcome.siteId === siteId)
    .slice(0, limit);
  const [last] = inRow;
  if (!last?.bounce || inRow.length < limit) return undefined;
  const acceptedAt = acceptedAtOf(last);
  const latest = addSeconds(maxBounceSeconds, acceptedAt).toISOString();
  const bouncedAt = last.bounce.at < latest ? last.bounce.at : latest;
  const liftsAt = addSeconds(quietSeconds, new Date(bouncedAt)).toISOString();
  if (liftsAt <= now().toISOString()) return undefined;
  const { detail, provider: source } = last.bounce;
  return {
    liftsAt,
    softBounce: { siteId, position: last.position },
    detail: detail?.replace(/\s+/g, " ").slice(0, suppressions.maxDetailLength) ?? null,
    source,
  };
}

/** Mail servers give up after five days (RFC 5321, section 4.5.4.1). */
const retrySeconds = 5 * 24 * 3600;

/**
 * Silent mails before this position have arrived: they are so much older than the last mail that
 * bounced. It depends on stored data only.
 */
function findSilentUntil(outcomes: MailOutcome[]): string {
  const last = outcomes.find(({ bounce }) => bounce);
  return last ? addSeconds(-retrySeconds, acceptedAtOf(last)).toISOString() : "";
}

const acceptedAtOf = ({ position }: MailOutcome): Date =>
  new Date(position.slice(0, position.indexOf("#")));

const sendsPerRead = 10;
const maxScanned = 5 * maxSoftBounceLimit;

/**
 * Outcomes of the latest mails to the address, newest first: up to one that arrived, or `enough`
 * counted bounces. The mails of the reports are among them.
 */
async function readOutcomes(
  { orgId, email, reports }: ReportedAddress,
  { enough, isCounted }: { enough: number; isCounted(outcome: MailOutcome): boolean },
): Promise<MailOutcome[]> {
  const ownIds = [...new Set(reports.map(({ sendId }) => sendId))];
  const own = await getOutcomes(orgId, email, ownIds);
  const found = new Map(reports.map((report) => [report.sendId, toOutcome(report)]));
  for (const [i, outcome] of own.entries()) if (outcome) found.set(ownIds[i]!, outcome);
  const ownSends = new Set(ownIds);
  let scanned = 0;
  let bounces = 0;
  for await (const group of inGroups(readSendsTo({ orgId, email }), sendsPerRead)) {
    const ids = group.map(({ id }) => id);
    const outcomes = await getOutcomes(orgId, email, ids);
    let arrived = false;
    for (const [i, outcome] of outcomes.entries()) {
      if (!outcome) continue;
      if (!ownSends.has(ids[i]!)) found.set(ids[i]!, outcome);
      if (isCounted(outcome)) bounces++;
      if (!outcome.bounce && !outcome.isSilent) arrived = true;
    }
    scanned += group.length;
    if (arrived || bounces >= enough || scanned >= maxScanned) break;
  }
  return [...found.values()].toSorted((a, b) => (a.position < b.position ? 1 : -1));
}

const positionOf = (at: string, sendId: number): string => `${at}#${zeroPad(sendId)}`;

function toOutcome(report: MailReport): MailOutcome {
  const { siteId, sendId, acceptedAt, at, detail, provider } = report;
  const position = positionOf(acceptedAt, sendId);
  return { siteId, position, ...(isSoftBounce(report) && { bounce: { at, detail, provider } }) };
}

async function getOutcomes(
  orgId: number,
  email: string,
  ids: number[],
): Promise<(MailOutcome | undefined)[]> {
  const sends = await readSends.getSends(orgId, ids, { consistent: true, rendersSubject: false });
  return sends.map((send) => send && readOutcome(send, email));
}

/** A send stores no events about its copies. */
function readOutcome(send: SendItem, email: string): MailOutcome | undefined {
  if (normalizeEmail(send.toEmail) !== email) return undefined;
  const { siteId, provider, status } = send;
  const { events = [] } = send as SendWithEvents;
  const bounces = events.filter(({ type }) => type === "bounce");
  const position = positionOf(send.createdAt, send.id);
  const [last] = bounces.toSorted((a, b) => (a.at < b.at ? 1 : -1));
  // A hard bounce suppresses the address for good.
  if (bounces.some(({ data }) => data?.bounceType === "hard")) return undefined;
  if (last)
    return { siteId, position, bounce: { at: last.at, detail: last.data?.reason, provider } };
  if (status === "delivered") return { siteId, position };
  const isSilent = status === "sent" && provider === "smtp";
  return isSilent ? { siteId, position, isSilent } : undefined;
}
