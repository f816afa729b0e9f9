// What one runner takes from its lane: the chunks that it hands over side by side, and those that
// come next.
import { query } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { ranges } from "../../../keys.ts";
import type { LaneRunResult, QueuedChunk } from "./lanes.ts";

export interface ChunksInHand {
  isEmpty(): boolean;
  has(chunk: QueuedChunk): boolean;
  count(): number;
  /** A runner with `width` calls in flight can take another chunk. */
  hasRoom(width: number): boolean;
  add(chunk: QueuedChunk, result: Promise<LaneRunResult>): void;
  /** Resolves when one of the chunks is done or has failed. */
  nextIsDone(): Promise<void>;
  /** An error of the runner itself. */
  fail(error: unknown): void;
  hasFailed(): boolean;
  /** Throws the first error. */
  combineResults(): LaneRunResult;
}

// Sequences and small audiences make small chunks with one call each. One after the other they
// would take as long as large chunks.
const mailsPerParallelCall = 125;
// While the calls of some chunks are in flight, others are read and rendered.
const chunksPerPlace = 2;

export function createChunksInHand(): ChunksInHand {
  const chunks = new Map<string, { n: number; work: Promise<void> }>();
  const failures: unknown[] = [];
  const fail = (error: unknown) => void failures.push(error);
  const combined: LaneRunResult = { done: true, hasProgress: false };
  const addResult = ({ done, delay, hasProgress }: LaneRunResult) => {
    combined.done &&= done;
    combined.hasProgress ||= hasProgress;
    combined.delay = chooseDelay(combined.delay, delay);
  };
  const countMails = () => [...chunks.values()].reduce((sum, { n }) => sum + n, 0);
  return {
    isEmpty: () => chunks.size === 0,
    has: ({ sk }) => chunks.has(sk),
    count: () => chunks.size,
    hasRoom: (width) =>
      chunks.size < width && countMails() < chunksPerPlace * width * mailsPerParallelCall,
    add({ sk, n }, result) {
      const work = result.then(addResult, fail).finally(() => chunks.delete(sk));
      chunks.set(sk, { n, work });
    },
    nextIsDone: () => Promise.race([...chunks.values()].map(({ work }) => work)),
    fail,
    hasFailed: () => failures.length > 0,
    combineResults() {
      if (failures.length) throw failures[0];
      return combined;
    },
  };
}

/** What the provider asks for comes before the wait for a slot; of equal reasons, the shortest. */
function chooseDelay(a: LaneRunResult["delay"], b: LaneRunResult["delay"]): LaneRunResult["delay"] {
  if (!a || !b) return a ?? b;
  if ((a.reason === "turn") !== (b.reason === "turn")) return a.reason === "turn" ? b : a;
  return a.seconds <= b.seconds ? a : b;
}

export interface QueueReader {
  /** The next chunk that is due. Undefined: none, or it waits until no other is in hand. */
  next(inHand: ChunksInHand, width: number): Promise<QueuedChunk | undefined>;
  /** When the first chunk is due, if the last read found none that is (ISO 8601). */
  nextAt(): string | undefined;
}

/** Reads the queue from its start, so that a chunk that was released keeps its place. */
export function createQueueReader(lane: { orgId: number; configId: number }): QueueReader {
  let waiting: QueuedChunk[] = [];
  let nextAt: string | undefined;
  let isAlone = false;
  const read = async (inHand: ChunksInHand, width: number) => {
    const { items } = await query<QueuedChunk>(ranges.queuedChunks(lane.orgId, lane.configId), {
      limit: inHand.count() + width,
      consistent: true,
    });
    const free = items.filter((chunk) => !inHand.has(chunk));
    const at = now().toISOString();
    const due = free.filter((chunk) => chunk.at <= at);
    nextAt = due.length ? undefined : free[0]?.at;
    const end = due.findIndex(({ source }) => !source);
    return end < 0 ? due : due.slice(0, Math.max(1, end));
  };
  return {
    async next(inHand, width) {
      if (isAlone && !inHand.isEmpty()) return undefined;
      if (!waiting.length) waiting = await read(inHand, width);
      const chunk = waiting.shift();
      // A batch can have large attachments and gets the runner for itself.
      isAlone = chunk !== undefined && !chunk.source && inHand.isEmpty();
      return chunk?.source || isAlone ? chunk : undefined;
    },
    nextAt: () => nextAt,
  };
}
