// Half a year of events, straight into the table of the service that is measured, as its days would have been counted and folded.
import { packed } from "../../../shared/bodies.ts";
import { now } from "../../../shared/clock.ts";
import type { DayCounts } from "../../../shared/domain/days.ts";
import { shifted } from "../../../shared/domain/insight/spans.ts";
import { put, type Write, writeMany } from "../../../shared/doors/table.ts";
import { countShards, keys } from "../../../shared/keys.ts";

export interface History {
  orgId: number;
  siteId: number;
  configId: number;
  /** In all. */
  events: number;
}

const days = 180;
// The last ones are not over everywhere, and stand as they were counted.
const open = 2;
const known = ["gmail.com", "outlook.com", "yahoo.com", "icloud.com", "web.de"];
const domains = [...known, ...Array.from({ length: 5000 }, (_, i) => `company${i}.example`)];

export async function history({ events, ...site }: History): Promise<void> {
  const today = now().toISOString().slice(0, 10);
  for (let i = 0; i < days; i++) {
    const date = shifted(today, -i);
    await writeMany(await (i < open ? counted : folded)(site, date, events / days));
  }
}

/** Of each event about a third is a delivery, some of which are opened. */
const countsOf = (events: number): DayCounts => ({
  sent: Math.round(events * 0.42),
  delivered: Math.round(events * 0.4),
  opened: Math.round(events * 0.45),
  openedByMachine: Math.round(events * 0.1),
  uniqueOpened: Math.round(events * 0.17),
  clicked: Math.round(events * 0.1),
  uniqueClicked: Math.round(events * 0.04),
  bouncedHard: Math.round(events * 0.015),
  bouncedSoft: Math.round(events * 0.005),
  complained: Math.round(events * 0.0002),
  unsubscribed: Math.round(events * 0.003),
  "reason.hard.unknown_mailbox": Math.round(events * 0.012),
  "reason.hard.blocked": Math.round(events * 0.003),
  "reason.soft.mailbox_full": Math.round(events * 0.005),
});

type Site = Omit<History, "events">;

function whole({ configId }: Site, events: number): Record<string, number> {
  const counts = Object.entries(countsOf(events)).filter((entry): entry is [string, number] => Boolean(entry[1]));
  return Object.fromEntries(counts.flatMap(([name, n]) => [[name, n] as const, [`g.${configId}.${name}`, n] as const]));
}

/** A few have most of it, and many very little. */
function byDomain(events: number): Record<string, DayCounts> {
  const share = (i: number) => events / ((i + 2) * Math.log(domains.length));
  const heard = domains.flatMap((domain, i) => (share(i) >= 1 ? [[domain, share(i)] as const] : []));
  return Object.fromEntries(heard.map(([domain, n]) => [domain, { ...countsOf(n), sent: 0 }]));
}

async function folded(site: Site, date: string, events: number): Promise<Write[]> {
  const address = keys.dayDomainsFold(site.orgId, site.siteId, date);
  return [put(keys.dayFold(site.orgId, site.siteId, date), whole(site, events)), put(address, await packed(address, byDomain(events)))];
}

async function counted(site: Site, date: string, events: number): Promise<Write[]> {
  const { orgId, siteId } = site;
  const share = 1 / countShards.length;
  return countShards.flatMap((shard) => [
    put(keys.day(orgId, siteId, date, shard), whole(site, events * share)),
    ...Object.entries(byDomain(events * share)).map(([domain, counts]) => put(keys.dayDomain(orgId, siteId, date, domain, shard), counts)),
  ]);
}
