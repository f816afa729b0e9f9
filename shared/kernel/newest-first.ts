// Merges several sources into one list, such as the 16 email shards of the contacts. Most lists are
// newest first.
import type { Condition } from "../adapters/dynamodb/conditions.ts";
import { query } from "../adapters/dynamodb/table.ts";
import type { KeyRange } from "../keys.ts";

export interface NewestFirstOptions {
  /** Only smaller sort keys. */
  below?: string | undefined;
  /** Items to read ahead in each range. Doubles while the filter matches nothing. */
  size: number;
  filter?: Condition | undefined;
}

/** The number of index keys that one call can return. */
export const maxReadAhead = 5000;

/** Reads key ranges as one, from the greatest sort key down. */
export const readNewestFirst = <T>(
  ranges: KeyRange[],
  sortOf: (item: T) => string,
  { below, ...options }: NewestFirstOptions,
): AsyncGenerator<T> =>
  readInOrder(ranges, sortOf, { ...options, position: below, newestFirst: true });

export interface OrderOptions {
  /** The list continues behind this sort key. */
  position?: string | undefined;
  /** From the greatest sort key down. */
  newestFirst: boolean;
  /** Items to read ahead in each range. Doubles while the filter matches nothing. */
  size: number;
  filter?: Condition | undefined;
}

/**
 * Reads key ranges as one, in the order of their sort keys. When one buffer is empty, also refills
 * those that are nearly empty.
 */
export async function* readInOrder<T>(
  ranges: KeyRange[],
  sortOf: (item: T) => string,
  options: OrderOptions,
): AsyncGenerator<T> {
  const { size, newestFirst } = options;
  const buffers = ranges.map(
    (range): RangeBuffer<T> => ({
      range,
      items: [],
      consumed: 0,
      after: undefined,
      exhausted: false,
      size,
    }),
  );
  const comesFirst = (a: string, b: string) => (newestFirst ? a > b : a < b);
  for (;;) {
    while (buffers.some((buffer) => !buffer.exhausted && !remaining(buffer)))
      await Promise.all(
        buffers
          .filter((buffer) => !buffer.exhausted && remaining(buffer) <= size / 4)
          .map((buffer) => readMore(buffer, options)),
      );
    const filled = buffers.filter(remaining);
    if (!filled.length) return;
    const next = filled.reduce((best, buffer) =>
      comesFirst(sortOf(firstItem(buffer)), sortOf(firstItem(best))) ? buffer : best,
    );
    yield firstItem(next);
    next.consumed++;
  }
}

interface RangeBuffer<T> {
  range: KeyRange;
  items: T[];
  consumed: number;
  after: string | undefined;
  /** The range has no more items. */
  exhausted: boolean;
  /** Size of the next read. */
  size: number;
}
const remaining = ({ items, consumed }: RangeBuffer<unknown>): number => items.length - consumed;
const firstItem = <T>({ items, consumed }: RangeBuffer<T>): T => items[consumed]!;

async function readMore<T>(
  buffer: RangeBuffer<T>,
  { position, newestFirst, filter }: OrderOptions,
): Promise<void> {
  const { items, next } = await query<T>(buffer.range, {
    newestFirst,
    limit: buffer.size,
    [newestFirst ? "below" : "above"]: position,
    after: buffer.after,
    filter,
  });
  const size = items.length ? buffer.size : Math.min(buffer.size * 2, maxReadAhead);
  Object.assign(buffer, {
    items: [...buffer.items.slice(buffer.consumed), ...items],
    consumed: 0,
    after: next,
    exhausted: next === undefined,
    size,
  });
}

/** Merges sequences, each sorted from the greatest sort key down. */
export async function* mergeNewestFirst<T extends { sk: string }>(
  sources: AsyncGenerator<T>[],
): AsyncGenerator<T> {
  const heads = await Promise.all(sources.map((source) => source.next()));
  for (;;) {
    const open = heads.flatMap((head, i) => (head.done ? [] : [{ item: head.value, i }]));
    if (!open.length) return;
    const newest = open.reduce((best, head) => (head.item.sk > best.item.sk ? head : best));
    yield newest.item;
    heads[newest.i] = await sources[newest.i]!.next();
  }
}
