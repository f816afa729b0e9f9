// What one runner takes from its lane: the chunks that it hands over side by side, and those that
// come next.
import { queryPages } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { ranges } from "../../../keys.ts";
import type { QueuedChunk } from "./queued-chunk.ts";
import type { HandOverResult } from "./runner.ts";

export interface ChunksInHand {
  isEmpty(): boolean;
  sortKeys(): Set<string>;
  /** A runner with `width` calls in flight can take another chunk. */
  hasRoom(width: number): boolean;
  add(chunk: QueuedChunk, result: Promise<HandOverResult>): void;
  /** Resolves when one of the chunks is done or has failed. */
  nextIsDone(): Promise<void>;
  /** An error of the runner itself. */
  fail(error: unknown): void;
  /** A chunk has to wait or has failed, so no further one starts. */
  mustEnd(): boolean;
  /** Throws the first error. */
  combineResults(): HandOverResult;
}

// Sequences and small audiences make small chunks with one call each. One after the other they
// would take as long as large chunks.
const mailsPerParallelCall = 125;
// While the calls of some chunks are in flight, others are read and rendered.
const chunksPerPlace = 2;

export function createChunksInHand(): ChunksInHand {
  const chunks = new Map<string, { chunk: QueuedChunk; work: Promise<void> }>();
  const failures: unknown[] = [];
  const fail = (error: unknown) => void failures.push(error);
  const combined: HandOverResult = { done: true, hasProgress: false };
  const addResult = ({ done, delay, hasProgress }: HandOverResult) => {
    combined.done &&= done;
    combined.hasProgress ||= hasProgress;
    combined.delay = chooseDelay(combined.delay, delay);
  };
  const countMails = () => [...chunks.values()].reduce((sum, { chunk: { n } }) => sum + n, 0);
  return {
    isEmpty: () => chunks.size === 0,
    sortKeys: () => new Set(chunks.keys()),
    hasRoom: (width) =>
      chunks.size < width && countMails() < chunksPerPlace * width * mailsPerParallelCall,
    add(chunk, result) {
      const { sk } = chunk;
      const work = result.then(addResult, fail).finally(() => chunks.delete(sk));
      chunks.set(sk, { chunk, work });
    },
    nextIsDone: () => Promise.race([...chunks.values()].map(({ work }) => work)),
    fail,
    mustEnd: () => failures.length > 0 || combined.delay !== undefined,
    combineResults() {
      if (failures.length) throw failures[0];
      return combined;
    },
  };
}

/** What the provider asks for comes before the wait for a slot; of equal reasons, the shortest. */
function chooseDelay(
  a: HandOverResult["delay"],
  b: HandOverResult["delay"],
): HandOverResult["delay"] {
  if (!a || !b) return a ?? b;
  if ((a.reason === "turn") !== (b.reason === "turn")) return a.reason === "turn" ? b : a;
  return a.seconds <= b.seconds ? a : b;
}

export interface QueueReader {
  /** The next chunk that is due. Undefined: none, or it waits until no other is in hand. */
  next(inHand: ChunksInHand, width: number): Promise<QueuedChunk | undefined>;
  /** When the next look finds a chunk, if the last one found none (ISO 8601). */
  nextAt(): string | undefined;
}

/** Reads the queue from its start, so that a chunk that was released keeps its place. */
export function createQueueReader(orgId: number, configId: number): QueueReader {
  let waiting: QueuedChunk[] = [];
  let nextAt: string | undefined;
  let isAlone = false;
  const read = async (inHand: Set<string>, width: number) => {
    const at = now().toISOString();
    const due: QueuedChunk[] = [];
    let later: QueuedChunk | undefined;
    const options = { limit: inHand.size + width, consistent: true };
    const pages = queryPages<QueuedChunk>(ranges.queuedChunks(orgId, configId), options);
    for await (const { items } of pages) {
      due.push(...items.filter((chunk) => chunk.at <= at && !inHand.has(chunk.sk)));
      later = items.find((chunk) => chunk.at > at);
      if (later || due.length >= width) break;
    }
    nextAt = due.length ? undefined : later?.at;
    const end = due.findIndex(({ source }) => !source);
    return end < 0 ? due : due.slice(0, Math.max(1, end));
  };
  return {
    async next(inHand, width) {
      if (isAlone && !inHand.isEmpty()) return undefined;
      let hasChanged = true;
      while (!waiting.length && hasChanged) {
        // A chunk that is done during the read can still be in its result.
        const before = inHand.sortKeys();
        waiting = await read(before, width);
        const after = inHand.sortKeys();
        hasChanged = [...before].some((sk) => !after.has(sk));
      }
      const chunk = waiting.shift();
      // A batch can have large attachments and gets the runner for itself.
      isAlone = chunk !== undefined && !chunk.source && inHand.isEmpty();
      return chunk?.source || isAlone ? chunk : undefined;
    },
    nextAt: () => nextAt,
  };
}
