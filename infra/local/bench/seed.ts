// Writes contacts and statistics directly to the table of the measured service.
import { put, type Write, writeMany } from "../../../shared/adapters/dynamodb/table.ts";
import { now } from "../../../shared/clock.ts";
import type { ContactItem } from "../../../shared/domain/audience/contacts/contact-schema.ts";
import {
  createItem,
  pointerWrite,
} from "../../../shared/domain/audience/contacts/contact-writes.ts";
import type { DayCounts } from "../../../shared/domain/sending/daily-counters.ts";
import { nextContactIds } from "../../../shared/ids.ts";
import { addDays } from "../../../shared/kernel/calendar-dates.ts";
import { compress } from "../../../shared/kernel/compressed-values.ts";
import { counterShards, keys } from "../../../shared/keys.ts";
import { uniqueAddress } from "./organizations.ts";

interface ContactSeed {
  orgId: number;
  siteId: number;
  from: number;
  count: number;
  /** The list that all contacts are on. */
  listId: number;
  /** The tag of one contact in ten. */
  tagId: number;
  /** All contacts have the tag and are subscribed, so that a campaign reaches each of them. */
  all?: boolean;
}

const dayMs = 24 * 3_600_000;

/**
 * Writes contacts of about 650 bytes. Nine of ten are subscribed, six of ten opened a mail in the
 * last two months.
 * Returns the first of their consecutive ids.
 */
export async function insertContacts({
  orgId,
  siteId,
  from,
  count,
  listId,
  tagId,
  all = false,
}: ContactSeed): Promise<number> {
  const ids = await nextContactIds(count);
  const items = ids.map((id, k): ContactItem => {
    const i = from + k;
    const tags = all || i % 10 === 0 ? [tagId] : [];
    const item = createItem(contactFields(i, all), {
      orgId,
      siteId,
      id,
      tags,
      lists: [listId],
      suppressed: false,
    });
    return { ...item, ...engagementFields(i, Date.parse(item.createdAt)) };
  });
  await writeMany(items.flatMap((item) => [put(item, item), ...(all ? [pointerWrite(item)] : [])]));
  return ids[0]!;
}

const plans = ["free", "free", "free", "pro", "team"];

const contactFields = (i: number, all: boolean) => ({
  email: uniqueAddress(i),
  firstName: `Ada${i % 977}`,
  lastName: `Lovelace${i % 1013}`,
  company: i % 4 ? null : `Mill ${i % 313}`,
  timezone: "Europe/Lisbon",
  source: "import",
  status: !all && i % 10 === 9 ? ("unsubscribed" as const) : ("subscribed" as const),
  customFields: {
    plan: plans[i % plans.length]!,
    seats: i % 40,
    city: "Lisbon",
    renews: `2026-${String(1 + (i % 12)).padStart(2, "0")}-15`,
  },
});

const engagementFields = (i: number, now: number) => ({
  score: i % 100,
  sendCount: 10,
  lastSentAt: new Date(now - (i % 7) * dayMs).toISOString(),
  ...(i % 10 < 6 && {
    openCount: 3,
    lastOpenedAt: new Date(now - (i % 60) * dayMs - 1000).toISOString(),
  }),
});

interface HistorySeed {
  orgId: number;
  siteId: number;
  configId: number;
  events: number;
}

const days = 180;
// The newest days have counters, and the older ones are rolled up.
const openDays = 2;
const mailboxProviders = ["gmail.com", "outlook.com", "yahoo.com", "icloud.com", "web.de"];
const domains = [
  ...mailboxProviders,
  ...Array.from({ length: 5000 }, (_, i) => `company${i}.example`),
];

/** Half a year of events, as counters and rollups. */
export async function insertHistory({ events, ...site }: HistorySeed): Promise<void> {
  const today = now().toISOString().slice(0, 10);
  for (let i = 0; i < days; i++) {
    const date = addDays(today, -i);
    await writeMany(await (i < openDays ? openDayWrites : rollupWrites)(site, date, events / days));
  }
}

/** The number of counts of each kind for a number of events. */
const eventMix = (events: number): DayCounts => ({
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

type SeedSite = Omit<HistorySeed, "events">;

function dayTotals({ configId }: SeedSite, events: number): Record<string, number> {
  const counts = Object.entries(eventMix(events)).filter((entry): entry is [string, number] =>
    Boolean(entry[1]),
  );
  return Object.fromEntries(
    counts.flatMap(([name, n]) => [[name, n] as const, [`g.${configId}.${name}`, n] as const]),
  );
}

/** A few domains have most events, and many have very few. */
function countsByDomain(events: number): Record<string, DayCounts> {
  const share = (i: number) => events / ((i + 2) * Math.log(domains.length));
  const counted = domains.flatMap((domain, i) =>
    share(i) >= 1 ? [[domain, share(i)] as const] : [],
  );
  return Object.fromEntries(counted.map(([domain, n]) => [domain, { ...eventMix(n), sent: 0 }]));
}

async function rollupWrites(site: SeedSite, date: string, events: number): Promise<Write[]> {
  const address = keys.dayDomainsRollup(site.orgId, site.siteId, date);
  return [
    put(keys.dayRollup(site.orgId, site.siteId, date), dayTotals(site, events)),
    put(address, await compress(address, countsByDomain(events))),
  ];
}

async function openDayWrites(site: SeedSite, date: string, events: number): Promise<Write[]> {
  const { orgId, siteId } = site;
  const share = 1 / counterShards.length;
  return counterShards.flatMap((shard) => [
    put(keys.dayCounters(orgId, siteId, { date, shard }), dayTotals(site, events * share)),
    ...Object.entries(countsByDomain(events * share)).map(([domain, counts]) =>
      put(keys.dayDomainCounters(orgId, siteId, { date, domain, shard }), counts),
    ),
  ]);
}
