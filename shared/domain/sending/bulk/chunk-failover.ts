// Moves waiting mail of campaigns, sequences and holidays from the lane of a sending config to that
// of another: to its fallback while it fails, and the share of another config. Only chunks move of
// which the provider certainly has no mail: no call is claimed, or each claimed call has a RESULT
// that says that nothing was accepted. Moving an entry and claiming a call of it exclude each
// other, so each mail goes to one of the two providers.
import { createHash } from "node:crypto";
import { equals } from "../../../adapters/dynamodb/conditions.ts";
import { get, queryPages, remove, transact } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { undefinedIfMissing } from "../../../errors.ts";
import { decompress } from "../../../kernel/compressed-values.ts";
import { keys, ranges } from "../../../keys.ts";
import type { SendingConfig } from "../../senders/sending-config-schema.ts";
import * as sendingConfigs from "../../senders/sending-configs.ts";
import { trackingOf } from "../../senders/tracking-modes.ts";
import * as rateLimiter from "../provider-calls/rate-limiter.ts";
import { listCallResults } from "./call-results.ts";
import * as chunks from "./chunks.ts";
import * as lanes from "./lanes.ts";
import { prepareChunk } from "./prepared-chunk.ts";
import {
  claimOf,
  entryKey,
  listClaimedCalls,
  type QueuedChunk,
  unchangedCondition,
} from "./queued-chunk.ts";

interface FailingLane {
  orgId: number;
  configId: number;
  shouldContinue(): boolean;
}

const pageSize = 50;

/**
 * Call it while the breaker of the config is open, and no call of this runner is in flight. Does
 * nothing if there is no fallback that can take mail at once. What is left when the time is up
 * moves after the next failure. Safe to repeat.
 */
export async function moveToFallback({
  orgId,
  configId,
  shouldContinue,
}: FailingLane): Promise<void> {
  const pair = await findPair(orgId, configId);
  if (!pair) return;
  let moved = 0;
  const waiting = ranges.queuedChunks(orgId, configId);
  for await (const { items } of queryPages<QueuedChunk>(waiting, {
    limit: pageSize,
    consistent: true,
  })) {
    for (const queued of items) {
      if (!shouldContinue()) break;
      // The breaker may be closed when later mail is due.
      if (queued.at > now().toISOString()) break;
      if (await moveChunk(orgId, pair, queued)) moved++;
    }
    if (!shouldContinue()) break;
  }
  if (moved) await lanes.announceArrival(orgId, pair.to.id);
}

/**
 * Returns a function that moves a chunk to the config with the share, if the chunk belongs to it,
 * and says whether it did. A chunk belongs to the same config whenever it is looked at.
 */
export function createShareMover(
  orgId: number,
  configId: number,
): (queued: QueuedChunk) => Promise<boolean> {
  let config: Promise<SendingConfig | undefined> | undefined;
  return async (queued) => {
    config ??= findConfig(orgId, configId);
    const from = await config;
    if (!from?.share || placeOf(queued) >= from.share.percent) return false;
    const to = await findOpenConfig(orgId, from.share.sendingConfigId);
    if (!to || !(await moveChunk(orgId, { from, to, isShare: true }, queued))) return false;
    await lanes.announceArrival(orgId, to.id);
    return true;
  };
}

/** From 0 to 99. */
const placeOf = ({ block, chunk }: QueuedChunk): number =>
  createHash("sha256").update(`${block} ${chunk}`).digest().readUInt32BE() % 100;

interface ConfigPair {
  from: SendingConfig;
  to: SendingConfig;
  /** The config does not fail: the other takes a part of its mail. */
  isShare?: true;
}

const findConfig = (orgId: number, id: number): Promise<SendingConfig | undefined> =>
  sendingConfigs.find({ orgId }, id).catch(undefinedIfMissing);

/** Undefined if the config has no fallback that can take mail at once. */
async function findPair(orgId: number, configId: number): Promise<ConfigPair | undefined> {
  const from = await findConfig(orgId, configId);
  if (!from?.fallbackConfigId) return undefined;
  const to = await findOpenConfig(orgId, from.fallbackConfigId);
  return to && { from, to };
}

/** Undefined if the config cannot take mail at once. */
async function findOpenConfig(orgId: number, id: number): Promise<SendingConfig | undefined> {
  const config = await findConfig(orgId, id);
  if (!config?.verified) return undefined;
  const state = await rateLimiter.readState(orgId, id);
  return rateLimiter.isPaused(state) || rateLimiter.hasFailures(state) ? undefined : config;
}

/** False if the chunk stays: another runner changed it, or it must not move. */
async function moveChunk(
  orgId: number,
  { from, to, isShare }: ConfigPair,
  queued: QueuedChunk,
): Promise<boolean> {
  // A fallback of the fallback is not used, and a share is not shared.
  const hasMoved = queued.movedFrom !== undefined && (isShare || !queued.isShare);
  if (!queued.source || hasMoved) return false;
  if (!(await isCertainlyNotAccepted(orgId, queued))) return false;
  const key = keys.chunk(orgId, queued.block, queued.chunk);
  const item = await get<chunks.ChunkItem>(key);
  if (!item) return false;
  const { head, lines } = await decompress<chunks.Chunk>(item);
  const moved = toMovedEntry(queued, { from, to, ...(isShare && { isShare }) });
  if (!(await canBeSent(orgId, to.id, { ...queued, ...moved }))) return false;
  const unchanged = item.blob === undefined ? equals("gz", item.gz) : equals("blob", item.blob);
  const changedHead = { ...head, ...senderOf(head, { from, to }) };
  return transact(
    remove(entryKey(queued), { if: unchangedCondition(queued) }),
    ...lanes.enqueueChunkWrites(orgId, to.id, [moved]),
    await chunks.replaceChunkWrite(key, { head: changedHead, lines }, unchanged),
  );
}

function toMovedEntry(
  { pk: _pk, sk: _sk, isShare: _, ...rest }: QueuedChunk,
  { from, to, isShare }: ConfigPair,
) {
  const moves = (rest.moves ?? 0) + 1;
  return { ...rest, configId: to.id, movedFrom: from.id, moves, ...(isShare && { isShare }) };
}

/** A sender that the mail has from the failing config gives way to that of the fallback. */
function senderOf(head: chunks.ChunkHead, { from, to }: ConfigPair): Partial<chunks.ChunkHead> {
  const ofFallback = {
    sendingConfigId: to.id,
    provider: to.provider,
    movedTracking: trackingOf(to),
  };
  if (!to.fromEmail || head.fromEmail !== from.fromEmail) return ofFallback;
  const hasOwnName = head.fromName !== (from.fromName ?? undefined);
  const fromName = hasOwnName ? head.fromName : (to.fromName ?? undefined);
  return { ...ofFallback, fromEmail: to.fromEmail, fromName };
}

async function isCertainlyNotAccepted(orgId: number, queued: QueuedChunk): Promise<boolean> {
  for (const call of listClaimedCalls(queued)) {
    const results = await listCallResults(orgId, queued, call);
    const last = results.at(-1);
    // A claim without a RESULT: its provider may have the mails.
    if (last?.attempt !== claimOf(queued, call)!.attempt || last.doubt.length) return false;
    const statuses = results.flatMap(({ outcomes }) => outcomes.map(([, { status }]) => status));
    if (statuses.some((status) => status !== "held" && status !== "refused")) return false;
  }
  return true;
}

/** Whether the provider of the fallback takes the mail, judged by the first recipient. */
async function canBeSent(orgId: number, configId: number, queued: QueuedChunk): Promise<boolean> {
  // The size of the calls does not matter here, and choosing it would render a whole call.
  const alone = { ...queued, callSize: queued.callSize ?? 1 };
  const prepared = await prepareChunk(orgId, configId, alone);
  const first = prepared?.calls[0]?.slice(0, 1) ?? [];
  if (!prepared?.transport) return false;
  const [flaw] = await prepared.transport.listFlaws(first);
  return flaw === undefined;
}
