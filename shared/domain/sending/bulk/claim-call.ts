// Claims a provider call: stores in the entry of the chunk that the call is about to be made, so
// that no other runner makes it.

import { absent, all, equals, exists } from "../../../adapters/dynamodb/conditions.ts";
import { get, transact, update } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { randomBase62 } from "../../../ids.ts";
import * as mailSources from "../mail-sources.ts";
import * as providerCall from "../provider-calls/provider-call.ts";
import * as callExclusions from "./call-exclusions.ts";
import { type CallProgress, listCallResults } from "./call-results.ts";
import type { ChunkRecipient } from "./chunks.ts";
import * as chunks from "./chunks.ts";
import { type ChunkTransport, type PreparedChunk, splitIntoCalls } from "./prepared-chunk.ts";
import {
  type CallClaim,
  claimOf,
  entryKey,
  isSettled,
  type QueuedChunk,
  unchangedCondition,
} from "./queued-chunk.ts";

export interface UnclaimedCall {
  prepared: PreparedChunk;
  transport: ChunkTransport;
  call: number;
  progress: CallProgress;
}

/**
 * Marks the call as about to be made, with the recipients that it leaves out. Undefined when
 * another runner claimed it, or when a recipient was cancelled in the meantime.
 */
export async function claimCall(
  unclaimed: UnclaimedCall,
  slowRecipients: ChunkRecipient[],
): Promise<CallClaim | undefined> {
  const { prepared, call } = unclaimed;
  const { open } = unclaimed.progress;
  const fanOutReadAt = callExclusions.getFanOutReadAt(prepared);
  // Without a recent read, the recipients are read now, and those that leave before the claim are
  // found afterwards.
  const readAt = fanOutReadAt ?? now().toISOString();
  const claim = await createClaim(unclaimed, { slowRecipients, fanOutReadAt });
  if (!(await storeClaim(unclaimed, claim)) && !(await isOwnClaim(prepared, call, claim)))
    return undefined;
  prepared.queued[`c${call}`] = claim;
  const recipients = open.filter(({ i }) => !(i in claim.skip));
  return skipLateDepartures({ prepared, call, claim }, { recipients, readAt });
}

async function createClaim(
  { prepared, transport, progress }: UnclaimedCall,
  options: { slowRecipients: ChunkRecipient[]; fanOutReadAt: string | undefined },
): Promise<CallClaim> {
  const { slowRecipients, fanOutReadAt } = options;
  const { lastClaim, results, open, maybeHandedOver } = progress;
  return {
    by: randomBase62(8),
    attempt: 1 + (results.at(-1)?.attempt ?? 0),
    key: maybeHandedOver.size
      ? lastClaim?.key
      : await providerCall.openIdempotencyWindow(transport.provider, transport.config),
    revision: transport.config.revision,
    alone: maybeHandedOver.size ? true : undefined,
    skip: await callExclusions.listExclusions(prepared, transport, {
      recipients: open,
      fanOutReadAt,
    }),
    later: slowRecipients.length ? slowRecipients.map(({ i }) => i) : undefined,
  };
}

/** The first claim of a call also counts its mails as `sending`. */
function storeClaim(
  { prepared, call, progress }: UnclaimedCall,
  claim: CallClaim,
): Promise<boolean> {
  const { orgId, queued, callSize, source } = prepared;
  const { lastClaim, open } = progress;
  const unchanged = all(
    exists,
    lastClaim ? equals(`c${call}`, lastClaim) : absent(`c${call}`),
    queued.cancels === undefined ? absent("cancels") : equals("cancels", queued.cancels),
  );
  const countWrites =
    source && !lastClaim
      ? mailSources.addSourceCountWrites(orgId, queued.block, [
          { source, counts: { sending: open.length } },
        ])
      : [];
  return transact(
    update(
      entryKey(queued),
      { set: { [`c${call}`]: claim, callSize }, add: { moves: 1 } },
      { if: unchanged },
    ),
    ...countWrites,
  );
}

/**
 * Leaves out recipients that left between the first look and the claim, so that nobody gets a mail
 * that was claimed after the unsubscription was answered. Undefined when another runner took over.
 */
async function skipLateDepartures(
  { prepared, call, claim }: { prepared: PreparedChunk; call: number; claim: CallClaim },
  { recipients, readAt }: { recipients: ChunkRecipient[]; readAt: string },
): Promise<CallClaim | undefined> {
  if (!prepared.source || !recipients.length) return claim;
  const late = await callExclusions.listDepartedReasons(prepared, recipients, readAt);
  if (!late.size) return claim;
  const changed = { ...claim, skip: { ...claim.skip, ...Object.fromEntries(late) } };
  return (await replaceClaim(prepared, call, changed)) ? changed : undefined;
}

/**
 * The runner that made the claim may only be slow: from now on it cannot change it. Undefined when
 * it changed in the meantime.
 */
export async function takeOverClaim(
  { prepared, call }: UnclaimedCall,
  claim: CallClaim,
): Promise<CallClaim | undefined> {
  const changed = { ...claim, by: randomBase62(8) };
  return (await replaceClaim(prepared, call, changed)) ? changed : undefined;
}

/** Changes the claim of this runner. False when another runner took over. */
export async function replaceClaim(
  prepared: PreparedChunk,
  call: number,
  changed: CallClaim,
): Promise<boolean> {
  const isChanged = await transact(
    update(
      entryKey(prepared.queued),
      { set: { [`c${call}`]: changed }, add: { moves: 1 } },
      { if: equals(`c${call}`, claimOf(prepared.queued, call)) },
    ),
  );
  if (!isChanged && !(await isOwnClaim(prepared, call, changed))) return false;
  prepared.queued[`c${call}`] = changed;
  return true;
}

/**
 * The SDK repeats a write whose response was lost, and the repeat then fails because of its own
 * first try.
 */
async function isOwnClaim(
  { queued }: PreparedChunk,
  call: number,
  { by, alone, skip }: CallClaim,
): Promise<boolean> {
  const stored = await get<QueuedChunk>(entryKey(queued));
  const claim = stored && claimOf(stored, call);
  return (
    claim?.by === by &&
    claim.alone === alone &&
    Object.keys(claim.skip).length === Object.keys(skip).length
  );
}

/**
 * After a restore, the provider may have mails of the chunk that the table does not know of. Claims
 * every open call as if its worker had crashed and the call could not be repeated, so that its
 * mails become `uncertain`. Returns their number, or undefined when the chunk changed in the
 * meantime.
 */
export async function markUncertain(
  orgId: number,
  queued: QueuedChunk,
): Promise<number | undefined> {
  const stored = await chunks.getChunk(orgId, queued.block, queued.chunk);
  if (!stored) return 0;
  const { head, lines: recipients } = stored;
  const callSize = queued.callSize ?? chunks.recipientsPerChunk;
  const calls = splitIntoCalls(
    chunks.withTranslations(head, recipients).filter(({ error }) => !error),
    callSize,
  );
  const claims: Record<string, CallClaim> = {};
  let [openMails, newlyClaimed] = [0, 0];
  for (const [call, { length }] of calls.entries()) {
    if (isSettled(queued, call)) continue;
    const results = await listCallResults(orgId, queued, call);
    const attempt = 1 + (results.at(-1)?.attempt ?? 0);
    claims[`c${call}`] = { by: randomBase62(8), attempt, alone: true, skip: {} };
    openMails += length;
    if (!claimOf(queued, call)) newlyClaimed += length;
  }
  const countWrites = head.source
    ? mailSources.addSourceCountWrites(orgId, queued.block, [
        { source: head.source, counts: { sending: newlyClaimed } },
      ])
    : [];
  const isClaimed = await transact(
    update(
      entryKey(queued),
      { set: { ...claims, callSize }, add: { moves: 1 } },
      { if: unchangedCondition(queued) },
    ),
    ...countWrites,
  );
  return isClaimed ? openMails : undefined;
}
