// Integer ids, unique per kind in the whole installation. They come from counter items. Gaps are
// normal, and only ids of settings-like records are in order of age.
import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { equals, exists } from "./adapters/dynamodb/conditions.ts";
import { update, updateReturning, write } from "./adapters/dynamodb/table.ts";
import { now } from "./clock.ts";
import { contended } from "./errors.ts";
import { idsPerBlock, type Key, keys } from "./keys.ts";

/**
 * Ids that a request has reserved, stored in its idempotency record. When a request dies and is
 * repeated, it gets the same ids in the same order, so its writes replace those of the first
 * attempt.
 */
export interface ReservedIds {
  key: Key;
  taken: Record<string, number[]>;
  /** The lease of the request. After another request has taken it over, no id is recorded. */
  lease?: number;
}
interface ReplayState {
  reserved: ReservedIds;
  nextIndex: Record<string, number>;
  /**
   * Allocates ids one at a time, so that their recorded order is the order of the calls and a
   * replay finds each by its index.
   */
  pending: Promise<unknown>;
}
const replayStore = new AsyncLocalStorage<ReplayState>();

export const withReservedIds = <T>(reserved: ReservedIds, work: () => Promise<T>): Promise<T> =>
  replayStore.run({ reserved, nextIndex: {}, pending: Promise.resolve() }, work);

/** Reserves `n` consecutive ids with one write and returns the first. */
export const nextId = (kind: string, n = 1): Promise<number> =>
  replayOr(kind, () => reserveIds(kind, n));

const allocateSendId = createIdAllocator(async () => {
  const block = await reserveIds("SENDBLOCK");
  return { next: block * idsPerBlock, end: (block + 1) * idsPerBlock };
});
const allocateSendBlock = createIdAllocator(counterBlocks("SENDBLOCK", 8));
const allocateContactIds = createIdAllocator(counterBlocks("CONTACT", 100));
const allocateActivityId = createIdAllocator(counterBlocks("ACTIVITY", 100));
const allocateEventIds = createIdAllocator(counterBlocks("EVENT", 1000));
const allocateEnrollmentIds = createIdAllocator(counterBlocks("ENROLLMENT", 100));

/** The id of a single send. */
export const nextSendId = (): Promise<number> => replayOr("SENDONE", allocateSendId);

/** The first of `n` consecutive ids of single sends. */
export const nextSendIds = (n: number): Promise<number> =>
  replayOr("SENDMANY", () => allocateSendId(n));

/** A whole block of send ids, which begins at `block * idsPerBlock`. */
export const nextSendBlock = (): Promise<number> => replayOr("SENDBLOCK", allocateSendBlock);

export async function nextContactIds(n: number): Promise<number[]> {
  if (n === 0) return [];
  const first = await replayOr("CONTACT", () => allocateContactIds(n));
  return Array.from({ length: n }, (_, i) => first + i);
}

/** The id of a custom event or page view. */
export const nextActivityId = (): Promise<number> => replayOr("ACTIVITY", allocateActivityId);

/** The first of `n` consecutive ids of custom events. */
export const nextActivityIds = (n: number): Promise<number> =>
  replayOr("ACTIVITY", () => allocateActivityId(n));

/** Returns the first of `n` consecutive ids. */
export const nextEventIds = (n: number): Promise<number> => allocateEventIds(n);

/** Returns the first of `n` consecutive ids. */
export const nextEnrollmentIds = (n: number): Promise<number> => allocateEnrollmentIds(n);

/**
 * The time of the first attempt of this request, in milliseconds since 1970. A repeated request
 * gets the same time.
 */
export const requestTime = (): Promise<number> => replayOr("TIME", async () => now().getTime());

/** Whether an earlier attempt of this request took ids. It had passed the checks before. */
export const isRepeated = (): boolean =>
  Object.keys(replayStore.getStore()?.reserved.taken ?? {}).length > 0;

interface IdBlock {
  next: number;
  end: number;
}
const maxOpenBlocks = 32;

/**
 * Allocates consecutive ids from blocks that this process has reserved, so most calls need no
 * write. It keeps several blocks, because concurrent calls may each reserve one.
 */
function createIdAllocator(
  reserveBlock: (minSize: number) => Promise<IdBlock>,
): (n?: number) => Promise<number> {
  const blocks: IdBlock[] = [];
  return async (n = 1) => {
    let block = blocks.find(({ next, end }) => end - next >= n);
    if (!block) {
      block = await reserveBlock(n);
      blocks.unshift(block);
      blocks.splice(maxOpenBlocks);
    }
    const first = block.next;
    block.next += n;
    return first;
  };
}

function counterBlocks(kind: string, blockSize: number) {
  return async (minSize: number): Promise<IdBlock> => {
    const size = Math.max(minSize, blockSize);
    const next = await reserveIds(kind, size);
    return { next, end: next + size };
  };
}

async function reserveIds(kind: string, n = 1): Promise<number> {
  const counter = await updateReturning<{ last: number }>(
    update(keys.idCounter(kind), { add: { last: n } }),
  );
  return counter!.last - n + 1;
}

/**
 * The id that an earlier attempt of this request reserved at the same position, else a fresh one,
 * which is recorded.
 */
async function replayOr(kind: string, allocate: () => Promise<number>): Promise<number> {
  const state = replayStore.getStore();
  if (!state) return allocate();
  const { reserved, nextIndex } = state;
  const index = nextIndex[kind] ?? 0;
  nextIndex[kind] = index + 1;
  const recorded = reserved.taken[kind]?.[index];
  if (recorded !== undefined) return recorded;
  const allocation = state.pending.then(async () => {
    const id = await allocate();
    reserved.taken[kind] = [...(reserved.taken[kind] ?? []), id];
    // The item may have been deleted meanwhile, such as the submission of a form. The update must
    // not create it again.
    const { key, taken, lease } = reserved;
    const isOwned = lease === undefined ? exists : equals("lease", lease);
    await write(update(key, { set: { taken } }, { if: isOwned, orThrow: contended("This") }));
    return id;
  });
  state.pending = allocation.catch(() => undefined);
  return allocation;
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** `length` random base62 characters (5.95 bits each), without bias. */
export function randomBase62(length: number): string {
  let text = "";
  while (text.length < length)
    for (const byte of randomBytes(length * 2))
      if (byte < 248 && text.length < length) text += base62[byte % 62];
  return text;
}
