// A day that is over, folded: its counters become one item, those by domain another, and the counters go. Readers add up whatever
// there is, so a day reads the same before, after and while it is folded. Safe to repeat, and at any step.
import { type Packed, packed } from "../../bodies.ts";
import { after, now } from "../../clock.ts";
import { claim, put, queryAll, remove, update, type Write, write, writeMany } from "../../doors/table.ts";
import { type Address, dueShard, keys, off, on, ranges, shelves } from "../../keys.ts";
import { foldedFrom } from "../days.ts";
import { type Sum, summed } from "./sums.ts";

/** Counters of the whole day, or their fold. */
export type DayItem = Address & Record<string, unknown>;
/** The fold of those by domain. */
export type DomainsItem = Address & Packed;
export type Domains = Record<string, Sum>;

// Far enough away that whoever folds has had its chance.
const againSeconds = 300;

/** Nothing happens before the day is over everywhere. */
export async function fold(orgId: number, siteId: number, date: string): Promise<void> {
  if (now().toISOString() < foldedFrom(date)) return;
  const items = await queryAll<DayItem>(ranges.dayInAll(orgId, siteId, date), { consistent: true });
  const folded = items.find(({ sk }) => sk === date);
  const parts = items.filter((item) => item !== folded);
  if (!folded && parts.length) await claim(...(await folding(orgId, siteId, date, parts)));
  // Whoever counted so late is not lost: readers add it to the fold.
  else if (parts.length) await write(...parts.map((part) => update(part, { remove: off("due") })));
  if (parts.length || folded?.duepk) await sweep(orgId, siteId, date);
}

/** On the due index until the counters by domain are swept too. */
async function folding(orgId: number, siteId: number, date: string, parts: DayItem[]): Promise<Write[]> {
  const [whole, byDomain] = [keys.dayFold(orgId, siteId, date), keys.dayDomainsFold(orgId, siteId, date)];
  const due = on(shelves.due("DAY", dueShard(siteId)), after(againSeconds).toISOString());
  const domains = await counted(orgId, siteId, date);
  return [
    put(whole, { ...summed(parts), of: [orgId, siteId, date], ...due }, { new: true }),
    put(byDomain, await packed(byDomain, domains)),
    ...parts.map((part) => remove(part)),
  ];
}

/** What was counted by domain, as long as it is not folded. */
export async function counted(orgId: number, siteId: number, date: string, { consistent = true } = {}): Promise<Domains> {
  const items = await queryAll<DayItem>(ranges.dayDomains(orgId, siteId, date), { consistent });
  const byDomain = Map.groupBy(items, ({ sk }) => /^D#(.*)#\d+$/.exec(sk)?.[1] ?? sk);
  return Object.fromEntries([...byDomain].map(([domain, some]) => [domain, summed(some)]));
}

async function sweep(orgId: number, siteId: number, date: string): Promise<void> {
  const items = await queryAll<Address>(ranges.dayDomains(orgId, siteId, date));
  await writeMany(items.map((item) => remove(item)));
  await write(update(keys.dayFold(orgId, siteId, date), { remove: off("due") }));
}
