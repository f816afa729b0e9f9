import { toMessageJson } from "./message-json.ts";

/** Splits the items into arrays of at most `size`, in order. */
export const splitIntoBatches = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );

/** Leaves out the first `skip` items of a stream and yields the others in arrays of `size`. */
export async function* inGroups<T>(
  all: AsyncIterable<T>,
  size: number,
  skip = 0,
): AsyncGenerator<T[]> {
  let group: T[] = [];
  let left = skip;
  for await (const one of all) {
    if (left-- > 0) continue;
    group.push(one);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length) yield group;
}

/**
 * Halves the items until the message JSON of each part has at most `maxBytes`, or the part is one
 * item.
 */
export function splitByBytes<T>(items: T[], maxBytes: number): T[][] {
  if (!items.length) return [];
  if (items.length === 1 || Buffer.byteLength(toMessageJson(items)) <= maxBytes) return [items];
  const half = Math.ceil(items.length / 2);
  return [items.slice(0, half), items.slice(half)].flatMap((part) => splitByBytes(part, maxBytes));
}

/**
 * Calls `work` for each item, at most `concurrency` at a time. Returns the results in order; the
 * first failure rejects.
 */
export async function inParallel<T, R>(
  concurrency: number,
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array(items.length);
  const entries = items.entries();
  const worker = async () => {
    for (const [i, item] of entries) results[i] = await work(item, i);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  return results;
}

/** Runs tasks of several callers, at most `concurrency` at a time, in order. */
export function createLimiter(concurrency: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    isIdle: () => running === 0,
    async run<T>(task: () => Promise<T>): Promise<T> {
      if (running < concurrency) running++;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await task();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else running--;
      }
    },
  };
}

/**
 * Yields the values of all streams, in the order in which they arrive. Reads from at most
 * `concurrency` streams at a time, one value ahead of the caller.
 */
export async function* mergeStreams<T>(
  concurrency: number,
  streams: AsyncGenerator<T>[],
): AsyncGenerator<T> {
  const waiting = [...streams];
  const pending = new Map<
    AsyncGenerator<T>,
    Promise<{ stream: AsyncGenerator<T>; result: IteratorResult<T> }>
  >();
  const readNext = (stream: AsyncGenerator<T> | undefined) => {
    if (!stream) return;
    const next = stream.next().then((result) => ({ stream, result }));
    // The caller may end before it reaches an error.
    next.catch(() => {});
    pending.set(stream, next);
  };
  for (const stream of waiting.splice(0, concurrency)) readNext(stream);
  try {
    while (pending.size) {
      const { stream, result } = await Promise.race(pending.values());
      pending.delete(stream);
      readNext(result.done ? waiting.shift() : stream);
      if (!result.done) yield result.value;
    }
  } finally {
    await Promise.allSettled(pending.values());
    await Promise.all(streams.map((stream) => stream.return(undefined)));
  }
}
