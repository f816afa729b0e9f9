// Merges several sources into one list, newest first, such as the 16 email shards of the contacts.
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

/**
 * Reads key ranges as one, from the greatest sort key down. When one buffer is empty, also refills
 * those that are nearly empty.
 */
export async function* readNewestFirst<T>(
  ranges: KeyRange[],
  sortOf: (item: T) => string,
  { below, size, filter }: NewestFirstOptions,
): AsyncGenerator<T> {
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
  for (;;) {
    while (buffers.some((buffer) => !buffer.exhausted && !remaining(buffer)))
      await Promise.all(
        buffers
          .filter((buffer) => !buffer.exhausted && remaining(buffer) <= size / 4)
          .map((buffer) => readMore(buffer, below, filter)),
      );
    const filled = buffers.filter(remaining);
    if (!filled.length) return;
    const newest = filled.reduce((best, buffer) =>
      sortOf(firstItem(buffer)) > sortOf(firstItem(best)) ? buffer : best,
    );
    yield firstItem(newest);
    newest.consumed++;
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
  below: string | undefined,
  filter: Condition | undefined,
): Promise<void> {
  const { items, next } = await query<T>(buffer.range, {
    newestFirst: true,
    limit: buffer.size,
    below,
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
