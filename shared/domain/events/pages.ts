// A run's page: which events of a site were counted, in the transaction that moved the counters. The pages in a row are the
// site's events, newest first.
import { type Packed, packed, unpacked } from "../../bodies.ts";
import { epochSeconds, now } from "../../clock.ts";
import { claim, get, put, update, type Write } from "../../doors/table.ts";
import { domainOf } from "../../email.ts";
import { keys, sha256 } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import type { EventType } from "../../providers/inbound/inbound.ts";
import * as days from "../days.ts";
import * as organizations from "../organizations.ts";
import * as sources from "../sending/sources.ts";
import { sourceOf, type Tallies } from "../sending/sources.ts";
import type { SendItem } from "../sends.ts";
import type { Counts, Moves } from "./timeline.ts";
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

// A transaction takes 100 items: a run that met more domains, campaigns, sequences and holidays than this ends in several pages.
const countersToPage = 60;

/** Which page of a run a send goes to. */
export function split(sends: SendItem[]): (send: SendItem) => number {
  const pageOf = new Map<string, number>();
  let [page, counters] = [0, new Set<string>()];
  for (const name of [...new Set(sends.map(pairOf))].sort()) {
    const wider = new Set([...counters, ...name.split(" ")]);
    const fits = wider.size <= countersToPage;
    if (!fits) page++;
    counters = fits ? wider : new Set(name.split(" "));
    pageOf.set(name, page);
  }
  return (send) => pageOf.get(pairOf(send)) ?? 0;
}

/** What a send is counted for. Neither has spaces in it. */
const pairOf = (send: SendItem): string => `${domainOf(send.toEmail)} ${sourceName(send)}`;

function sourceName(send: SendItem): string {
  const source = sourceOf(send);
  return source ? `${source.kind}#${source.id}` : "";
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
  const happenings = parts.map(({ decision: { delta }, item }) => ({
    configId: item.sendingConfigId,
    domain: domainOf(item.toEmail),
    counts: { ...countsOf(delta), ...(delta["at.uncertain"] === -1 && { recovered: 1 }) },
  }));
  return [
    put(address, { ...(await packed(address, rows)), n: rows.length, types }, { new: true }),
    update(keys.eventTotals(orgId, siteId), { add: { all: rows.length, ...types } }),
    ...days.counting(orgId, siteId, date, spreadOf(run), happenings),
    ...[...Map.groupBy(parts, ({ item }) => sourceName(item)).values()].flatMap((some) => ofSource(orgId, run, some)),
  ];
}

const spreadOf = (run: string): number => Number.parseInt(sha256(run).slice(0, 4), 16);

const countsOf = (moves: Moves): Counts => Object.fromEntries(Object.entries(moves).filter(([name]) => !name.startsWith(atMark)));
const placesOf = (moves: Moves): Tallies =>
  Object.fromEntries(Object.entries(moves).flatMap(([name, n]) => (name.startsWith(atMark) ? [[name.slice(atMark.length), n]] : [])));
const atMark = "at.";

/** One write for a campaign, sequence or holiday, whatever parts of it were met. */
function ofSource(orgId: number, run: string, parts: Part[]): Write[] {
  return sources.counting(
    orgId,
    spreadOf(run),
    parts.flatMap(({ item, decision: { delta } }) => {
      const source = sourceOf(item);
      return source ? [{ source, tallies: placesOf(delta), events: countsOf(delta) }] : [];
    }),
  );
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
