// A run's page: which events of a site were counted, in the transaction that moved the counters. The pages in a row are the
// site's events, newest first.
import { type Packed, packed, unpacked } from "../../bodies.ts";
import { epochSeconds, now } from "../../clock.ts";
import { claim, get, put, update, type Write } from "../../doors/table.ts";
import { domainOf } from "../../email.ts";
import { keys } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import type { EventType } from "../../providers/inbound/inbound.ts";
import * as organizations from "../organizations.ts";
import type { SendItem } from "../sends.ts";
import { added, type Counts } from "./timeline.ts";
import type { Decision } from "./timeline-item.ts";

export interface PageItem extends Packed {
  sk: string;
  /** The run died before it counted, and was taken over: this page stands for nothing. */
  void?: true;
  n: number;
  types: Partial<Record<EventType, number>>;
}
/** In the order of time. `beside`: it lies beside its send, under this id of the provider's. */
export type PageRow = [sendId: number, eventId: number, type: EventType, beside?: string];

interface Part {
  decision: Decision;
  item: SendItem;
  run: string;
}

// A transaction takes 100 items; a run that met more domains than this ends in several pages.
const domainsToPage = 60;

/** Which page of a run a domain's sends go to. */
export function split(domains: string[]): (domain: string) => number {
  const distinct = [...new Set(domains)].sort();
  const pageOf = new Map(distinct.map((domain, i) => [domain, Math.floor(i / domainsToPage)]));
  return (domain) => pageOf.get(domain) ?? 0;
}

/**
 * Ends a run: page and counters of each site in one transaction. Throws when a page was voided meanwhile: whoever did so took over
 * what it met, perhaps not all, so all of it must come again.
 */
export async function close(orgId: number, parts: Part[]): Promise<void> {
  const pages = [...Map.groupBy(parts, ({ item, run }) => JSON.stringify([item.siteId, run])).values()];
  if (!pages.length) return;
  const date = await organizations.today(orgId);
  await inParallel(8, pages, async (some) => {
    const [{ item, run }] = some as [Part];
    if (await claim(...(await closing(orgId, item.siteId, run, date, some)))) return;
    if ((await get<PageItem>(keys.eventPage(orgId, item.siteId, run)))?.void)
      throw new Error("Another run has taken over what this one wrote");
  });
}

async function closing(orgId: number, siteId: number, run: string, date: string, parts: Part[]): Promise<Write[]> {
  const rows = rowsOf(parts);
  const types = Object.fromEntries([...Map.groupBy(rows, ([, , type]) => type)].map(([type, some]) => [type, some.length]));
  const address = keys.eventPage(orgId, siteId, run);
  const sum = (some: Part[]) => some.reduce((total, { decision }) => added(total, decision.delta), {} as Counts);
  const byConfig = Map.groupBy(parts, ({ item }) => item.sendingConfigId);
  const ofConfigs = [...byConfig].flatMap(([config, some]) => Object.entries(sum(some)).map(([name, n]) => [`g.${config}.${name}`, n]));
  const byDomain = Map.groupBy(parts, ({ item }) => domainOf(item.toEmail));
  const counting = (to: ReturnType<typeof keys.day>, counts: object) =>
    Object.keys(counts).length ? [update(to, { add: { ...counts } as Record<string, number> })] : [];
  return [
    put(address, { ...(await packed(address, rows)), n: rows.length, types }, { new: true }),
    update(keys.eventTotals(orgId, siteId), { add: { all: rows.length, ...types } }),
    ...counting(keys.day(orgId, siteId, date), { ...sum(parts), ...Object.fromEntries(ofConfigs) }),
    ...[...byDomain].flatMap(([domain, some]) => counting(keys.dayDomain(orgId, siteId, date, domain), sum(some))),
  ];
}

function rowsOf(parts: Part[]): PageRow[] {
  const rows = parts.flatMap(({ item, decision: { counted, further } }) => {
    const beside = new Set(further.map(({ entry }) => entry.id));
    return counted.map(({ at, id, type, providerEventId }) => ({
      at,
      row: [item.id, id, type, ...(beside.has(id) ? [providerEventId] : [])] as PageRow,
    }));
  });
  return rows.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.row[1] - b.row[1])).map(({ row }) => row);
}

export const read = (page: PageItem): Promise<PageRow[]> => unpacked<PageRow[]>(page);

// Longer than any message can come again by itself.
const voidSeconds = 30 * 24 * 3600;

/** Whether a run did not count, and now never will. */
export async function abandoned(orgId: number, siteId: number, run: string): Promise<boolean> {
  const address = keys.eventPage(orgId, siteId, run);
  if (await claim(put(address, { void: true, n: 0, types: {}, expires: epochSeconds(now()) + voidSeconds }, { new: true }))) return true;
  return Boolean((await get<PageItem>(address))?.void);
}
