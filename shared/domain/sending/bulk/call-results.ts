// The RESULT of an attempt at a provider call, and how far a call has come by its RESULTs.

import { get, put, queryAll, transact } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { type CompressedValue, compress, decompress } from "../../../kernel/compressed-values.ts";
import { type KeyRange, keys, ranges } from "../../../keys.ts";
import type { HandOverOutcome } from "../../../providers/provider-adapter.ts";
import * as providerCall from "../provider-calls/provider-call.ts";
import type { ChunkRecipient } from "./chunks.ts";
import type { PreparedChunk } from "./prepared-chunk.ts";
import { type CallClaim, claimOf, type QueuedChunk } from "./queued-chunk.ts";

/** The outcome of one attempt at a call, stored as the first write after the response. */
export interface CallResult {
  attempt: number;
  outcomes: [i: number, outcome: HandOverOutcome][];
  /**
   * Indexes of the recipients whose mail the provider may have, without confirming it. From now on
   * each gets a call of its own.
   */
  doubt: number[];
  /**
   * When the provider responded (ISO 8601). Set when the result is the only record of the accepted
   * mails. When absent, each accepted mail has an item of its own.
   */
  at?: string | undefined;
  /**
   * When the outcomes were stored (ISO 8601), so that a repeat after a crash gives sends and
   * contacts the same time.
   */
  storedAt: string;
  /** Key of the provider that was called. Stored together with `at`. */
  provider?: string | undefined;
  /** Revision of the sending config that made the call. Absent: unknown. */
  revision?: number | undefined;
  /** By index: the contact who had the address of a transactional mail. */
  contactIds?: Record<string, number> | undefined;
}

/**
 * Stores the result. When another runner already stored one for this attempt, that one is returned.
 */
export async function storeResult(
  { orgId, queued }: PreparedChunk,
  call: number,
  result: CallResult,
): Promise<CallResult> {
  const { block, chunk } = queued;
  const key = keys.callResult(orgId, { block, chunk, call }, result.attempt);
  const item = await compress(key, result);
  if (await transact(put(key, item, { ifAbsent: true }))) return result;
  const stored = await get<CompressedValue>(key);
  return stored ? decompress<CallResult>(stored) : result;
}

/** The results of all finished attempts at a call. */
export const listCallResults = (
  orgId: number,
  { block, chunk }: QueuedChunk,
  call: number,
): Promise<CallResult[]> =>
  readResults(ranges.callResults(orgId, { block, chunk, call }), { consistent: true });

/** The results of all calls of a chunk. */
export const listChunkResults = (
  orgId: number,
  { block, chunk, consistent }: { block: number; chunk: number; consistent: boolean },
): Promise<CallResult[]> => readResults(ranges.chunkResults(orgId, block, chunk), { consistent });

async function readResults(
  range: KeyRange,
  options: { consistent: boolean },
): Promise<CallResult[]> {
  const items = await queryAll<CompressedValue>(range, options);
  return Promise.all(items.map((item) => decompress<CallResult>(item)));
}

/** The result of a call that cannot be made, because the config or the content is gone. */
export const toRefusedResult = (
  { refusalReason }: PreparedChunk,
  recipients: ChunkRecipient[],
  maybeHandedOver = new Set<number>(),
): CallResult => ({
  attempt: 0,
  outcomes: recipients.map(({ i }) => [
    i,
    maybeHandedOver.has(i)
      ? providerCall.workerDiedOutcome
      : { status: "refused", error: refusalReason },
  ]),
  doubt: [],
  storedAt: now().toISOString(),
});

/** How far a call has come. */
export interface CallProgress {
  lastClaim: CallClaim | undefined;
  results: CallResult[];
  /** The last attempt was claimed and has no result. */
  isInterrupted: boolean;
  /** Recipients without an outcome from any attempt. */
  open: ChunkRecipient[];
  /** Indexes of the recipients whose mail the provider may have. */
  maybeHandedOver: Set<number>;
}

export async function getCallProgress(
  { orgId, queued }: PreparedChunk,
  recipients: ChunkRecipient[],
  call: number,
): Promise<CallProgress> {
  const lastClaim = claimOf(queued, call);
  const results = lastClaim ? await listCallResults(orgId, queued, call) : [];
  const isInterrupted = lastClaim !== undefined && results.at(-1)?.attempt !== lastClaim.attempt;
  const recorded = new Set(results.flatMap(listFinalOutcomes).map(([i]) => i));
  const open = recipients.filter(({ i }) => !recorded.has(i));
  return {
    lastClaim,
    results,
    isInterrupted,
    open,
    maybeHandedOver: new Set(isInterrupted ? open.map(({ i }) => i) : results.at(-1)?.doubt),
  };
}

/** Without those of mails that the provider refused for now. */
export const listFinalOutcomes = ({ outcomes }: CallResult): CallResult["outcomes"] =>
  outcomes.filter(([, { status }]) => status !== "held");
