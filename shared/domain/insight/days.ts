// Days of sites as they were counted: those that are over from their folds, the last ones from their counters. One query for a site,
// whatever happened on them.
import { unpacked } from "../../bodies.ts";
import { query } from "../../doors/table.ts";
import { overLimit } from "../../errors.ts";
import { type Address, type Range, ranges } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import { counted, type DayItem, type Domains, type DomainsItem } from "./folds.ts";
import { type Span, shifted } from "./spans.ts";
import { type Sum, summed } from "./sums.ts";

const mostSites = 100;

/** By date, of all the sites together. 400 where they are too many. */
export async function between(orgId: number, siteIds: number[], span: Span): Promise<Map<string, Sum>> {
  return byDate((await itemsOf(orgId, siteIds, span)).flat());
}

const byDate = (items: DayItem[]): Map<string, Sum> =>
  new Map([...Map.groupBy(items, ({ sk }) => dateOf(sk))].map(([date, some]) => [date, summed(some)]));

async function itemsOf(orgId: number, siteIds: number[], span: Span): Promise<DayItem[][]> {
  if (siteIds.length > mostSites)
    throw overLimit("siteId", `siteId is needed: figures of more than ${mostSites} sites cannot be added up in one answer`);
  return inParallel(10, siteIds, (siteId) => within<DayItem>(ranges.days(orgId, siteId), span));
}

const dateOf = (sk: string): string => sk.slice(0, 10);

/** Above every sort key of a day. */
const end = (date: string): string => `${date}~`;

async function within<T extends Address>(range: Range, { from, to }: Span): Promise<T[]> {
  const items: T[] = [];
  for (let after: string | undefined = end(shifted(from, -1)); after !== undefined; ) {
    const page: { items: T[]; next?: string } = await query<T>(range, { after, below: end(to), limit: 1000 });
    items.push(...page.items);
    after = page.next;
  }
  return items;
}

export interface Whole {
  /** By date. */
  days: Map<string, Sum>;
  /** By the domain of the recipients, of what events tell. */
  domains: Map<string, Sum>;
}

/** With the domains: a query more for each site, and one for each of its days that is not folded yet. */
export async function withDomains(orgId: number, siteIds: number[], span: Span): Promise<Whole> {
  const [bySite, folded] = await Promise.all([
    itemsOf(orgId, siteIds, span),
    inParallel(10, siteIds, (siteId) => within<DomainsItem>(ranges.domainDays(orgId, siteId), span)),
  ]);
  const open = siteIds.flatMap((siteId, i) => {
    const known = new Set(folded[i]!.map(({ sk }) => sk));
    const dates = new Set(bySite[i]!.map(({ sk }) => dateOf(sk)));
    return [...dates].filter((date) => !known.has(date)).map((date) => ({ siteId, date }));
  });
  const all: Domains[] = [
    ...(await inParallel(20, folded.flat(), (item) => unpacked<Domains>(item))),
    ...(await inParallel(20, open, ({ siteId, date }) => counted(orgId, siteId, date, { consistent: false }))),
  ];
  const domains = Map.groupBy(
    all.flatMap((one) => Object.entries(one)),
    ([domain]) => domain,
  );
  return {
    days: byDate(bySite.flat()),
    domains: new Map([...domains].map(([domain, some]) => [domain, summed(some.map(([, sum]) => sum))])),
  };
}
