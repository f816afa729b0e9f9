// Several ranges, each read newest first, as one in that order: the 16 collections of contacts, members and suppressions.

import type { Condition } from "../conditions.ts";
import { query } from "../doors/table.ts";
import type { Range } from "../keys.ts";

export interface Start {
  /** Only sort keys below this one. */
  below?: string | undefined;
  /** Items of each range that are read ahead; more and more where the filter lets none pass. */
  size: number;
  filter?: Condition | undefined;
}

/** As many keys of an index as one call can bring. */
export const mostAhead = 5000;

/** From the greatest sort key down. A range that runs dry is read on, together with those that will soon. */
export async function* newest<T>(ranges: Range[], sortOf: (item: T) => string, { below, size, filter }: Start): AsyncGenerator<T> {
  const piles = ranges.map((range): Pile<T> => ({ range, items: [], taken: 0, after: undefined, dry: false, size }));
  for (;;) {
    while (piles.some((pile) => !pile.dry && !left(pile)))
      await Promise.all(piles.filter((pile) => !pile.dry && left(pile) <= size / 4).map((pile) => refill(pile, below, filter)));
    const full = piles.filter(left);
    if (!full.length) return;
    const first = full.reduce((best, pile) => (sortOf(head(pile)) > sortOf(head(best)) ? pile : best));
    yield head(first);
    first.taken++;
  }
}

interface Pile<T> {
  range: Range;
  items: T[];
  taken: number;
  after: string | undefined;
  /** Nothing is left to be read. */
  dry: boolean;
  /** Of the next reading. */
  size: number;
}
const left = ({ items, taken }: Pile<unknown>): number => items.length - taken;
const head = <T>({ items, taken }: Pile<T>): T => items[taken]!;

async function refill<T>(pile: Pile<T>, below: string | undefined, filter: Condition | undefined): Promise<void> {
  const { items, next } = await query<T>(pile.range, { newestFirst: true, limit: pile.size, below, after: pile.after, filter });
  const size = items.length ? pile.size : Math.min(pile.size * 2, mostAhead);
  Object.assign(pile, { items: [...pile.items.slice(pile.taken), ...items], taken: 0, after: next, dry: next === undefined, size });
}
