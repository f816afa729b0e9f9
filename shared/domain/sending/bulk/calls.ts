// One provider call of a chunk, through all its attempts. An attempt is claimed before the provider
// is called. The first write after the response is a RESULT item with the outcome of each
// recipient.

import { absent, all, equals, exists } from "../../../adapters/dynamodb/conditions.ts";
import {
  get,
  getMany,
  put,
  queryAll,
  transact as tryWrite,
  update,
} from "../../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../../clock.ts";
import { randomBase62 } from "../../../ids.ts";
import { type CompressedValue, compress, decompress } from "../../../kernel/compressed-values.ts";
import { domainOf, normalizeEmail } from "../../../kernel/email-fields.ts";
import { keys, ranges } from "../../../keys.ts";
import type { HandOverOutcome } from "../../../providers/provider-adapter.ts";
import { isCovered } from "../../audience/contacts/departures.ts";
import * as engagement from "../../audience/contacts/engagement.ts";
import * as suppressions from "../../audience/suppressions/suppressions.ts";
import * as warmUp from "../../senders/warm-up.ts";
import * as eligibility from "../eligibility.ts";
import * as sources from "../mail-sources.ts";
import * as provider from "../provider-calls/provider-call.ts";
import * as limiter from "../provider-calls/rate-limiter.ts";
import type { ChunkRecipient } from "./chunks.ts";
import * as chunks from "./chunks.ts";
import {
  type CallClaim,
  type CallResult,
  claimOf,
  isSettled,
  type LaneRunResult,
  type QueuedChunk,
  unchangedCondition,
} from "./lanes.ts";
import { type ChunkTransport, type PreparedChunk, splitIntoCalls } from "./prepared-chunk.ts";
import * as slowDomains from "./slow-domains.ts";

/** How far a call has come. */
export interface CallProgress {
  lastClaim: CallClaim | undefined;
  results: CallResult[];
  /** The last attempt was claimed and has no result. */
  isInterrupted: boolean;
  /** Recipients without an outcome from any attempt. */
  unsettled: ChunkRecipient[];
  /** Indexes of the recipients whose mail the provider may have. */
  maybeHandedOver: Set<number>;
}

export async function getCallProgress(
  { orgId, queued }: PreparedChunk,
  recipients: ChunkRecipient[],
  call: number,
): Promise<CallProgress> {
  const lastClaim = claimOf(queued, call);
  const results = lastClaim ? await listCallResults({ orgId, queued }, call) : [];
  const isInterrupted = lastClaim !== undefined && results.at(-1)?.attempt !== lastClaim.attempt;
  const settled = new Set(
    results.flatMap(({ outcomes }) =>
      outcomes.filter(([, { status }]) => status !== "held").map(([i]) => i),
    ),
  );
  const unsettled = recipients.filter(({ i }) => !settled.has(i));
  return {
    lastClaim,
    results,
    isInterrupted,
    unsettled,
    maybeHandedOver: new Set(isInterrupted ? unsettled.map(({ i }) => i) : results.at(-1)?.doubt),
  };
}

/** The results of all finished attempts. */
export async function listCallResults(
  { orgId, queued }: Pick<PreparedChunk, "orgId" | "queued">,
  call: number,
): Promise<CallResult[]> {
  const items = await queryAll<CompressedValue>(
    ranges.callResults(orgId, { block: queued.block, chunk: queued.chunk, call }),
    { consistent: true },
  );
  return Promise.all(items.map((item) => decompress<CallResult>(item)));
}

/**
 * Calls the provider for the unsettled recipients. Without `results`, the call is still open and
 * will be repeated with the same content.
 * `stalledSince`: since when this mail has waited while the provider accepted nothing.
 */
export async function attemptCall(
  prepared: PreparedChunk,
  call: number,
  { progress, stalledSince }: { progress: CallProgress; stalledSince: string | undefined },
): Promise<LaneRunResult> {
  const { transport, orgId, runner } = prepared;
  const { unsettled, maybeHandedOver, isInterrupted } = progress;
  if (!transport)
    return {
      done: true,
      hasProgress: true,
      results: [toRefusedResult(prepared, unsettled, maybeHandedOver)],
    };
  const { config } = transport;
  const { waitSeconds, lane } = await limiter.acquireSlot(orgId, config, { n: unsettled.length });
  if (waitSeconds > 0) return waitForSlot(waitSeconds);
  // Another runner of the lane has failed. The next run tries with a single chunk.
  if (lane.heldSince && !runner.stalledSince) return waitForSlot(1);
  // The lease may have expired while this process was frozen. A call without a claim is free for
  // the next runner.
  if (!runner.holdsLease()) return leaseLost;
  const slow = isInterrupted ? { recipients: [] } : listSlowRecipients(prepared, lane, progress);
  const mails = unsettled.length - slow.recipients.length;
  if (!mails) return { done: false, resumeAfterSeconds: slow.seconds, hasProgress: false };
  const quotaWaitSeconds = isInterrupted ? 0 : await warmUp.takeDailyQuota(orgId, config, mails);
  if (quotaWaitSeconds > 0) return waitForSlot(quotaWaitSeconds);
  const contactIds = await findContactIds(prepared, unsettled);
  const claim = isInterrupted
    ? await takeOverClaim(prepared, call, progress.lastClaim!)
    : await claimCall({ prepared, transport, call, progress }, slow.recipients);
  if (!claim && !isInterrupted) await warmUp.giveBack(orgId, config, mails);
  if (!claim || !runner.holdsLease()) return leaseLost;
  return {
    ...(await callProvider(
      { prepared, transport, call, progress, claim, contactIds },
      stalledSince,
    )),
    ...(claim.later && { resumeAfterSeconds: slow.seconds ?? 1 }),
  };
}

const waitForSlot = (seconds: number): LaneRunResult => ({
  done: false,
  delay: { reason: "turn", seconds },
  hasProgress: false,
});

const leaseLost = waitForSlot(1);

const maxSlowDomainWaitSeconds = 24 * 3600;

/**
 * Recipients whose domain is paused. Mail that the provider may already have is repeated at once,
 * and no mail waits longer than 24 hours.
 */
function listSlowRecipients(
  { queued }: PreparedChunk,
  lane: object,
  { unsettled, maybeHandedOver }: CallProgress,
): { recipients: ChunkRecipient[]; seconds?: number } {
  if ((queued.since ?? queued.at) < addSeconds(-maxSlowDomainWaitSeconds).toISOString())
    return { recipients: [] };
  const paused = unsettled.flatMap((recipient) => {
    const until = maybeHandedOver.has(recipient.i)
      ? undefined
      : slowDomains.getPauseEnd(lane, domainOf(recipient.to));
    return until === undefined ? [] : [{ recipient, until }];
  });
  if (!paused.length) return { recipients: [] };
  const firstEnd = Math.min(...paused.map(({ until }) => until));
  return {
    recipients: paused.map(({ recipient }) => recipient),
    seconds: (firstEnd - now().getTime()) / 1000,
  };
}

export const toRefusedResult = (
  { refusalReason }: PreparedChunk,
  recipients: ChunkRecipient[],
  maybeHandedOver = new Set<number>(),
): CallResult => ({
  attempt: 0,
  outcomes: recipients.map(({ i }) => [
    i,
    maybeHandedOver.has(i)
      ? provider.workerDiedOutcome
      : { status: "refused", error: refusalReason },
  ]),
  doubt: [],
});

interface UnclaimedCall {
  prepared: PreparedChunk;
  transport: ChunkTransport;
  call: number;
  progress: CallProgress;
}

/**
 * Marks the call as about to be made, with the recipients that it leaves out. Undefined when
 * another runner claimed it, or when a recipient was cancelled in the meantime.
 */
async function claimCall(
  { prepared, transport, call, progress }: UnclaimedCall,
  slowRecipients: ChunkRecipient[],
): Promise<CallClaim | undefined> {
  const { orgId, queued, callSize, source } = prepared;
  const { lastClaim, results, unsettled, maybeHandedOver } = progress;
  const fanOutReadAt = getRecentReadAt(prepared);
  // Without a recent read, the recipients are read now, and those that leave before the claim are
  // found afterwards.
  const readAt = fanOutReadAt ?? now().toISOString();
  const claim: CallClaim = {
    by: randomBase62(8),
    attempt: 1 + (results.at(-1)?.attempt ?? 0),
    key: maybeHandedOver.size
      ? lastClaim?.key
      : await provider.openIdempotencyWindow(transport.provider, transport.config),
    revision: transport.config.revision,
    alone: maybeHandedOver.size ? true : undefined,
    skip: await listExclusions(prepared, transport, { recipients: unsettled, fanOutReadAt }),
    later: slowRecipients.length ? slowRecipients.map(({ i }) => i) : undefined,
  };
  const unchanged = all(
    exists,
    lastClaim ? equals(`c${call}`, lastClaim) : absent(`c${call}`),
    queued.cancels === undefined ? absent("cancels") : equals("cancels", queued.cancels),
  );
  const countWrites =
    source && !lastClaim
      ? sources.addSourceCountWrites(orgId, queued.block, [
          { source, counts: { sending: unsettled.length } },
        ])
      : [];
  const isClaimed = await tryWrite(
    update(
      queuedKey(prepared),
      { set: { [`c${call}`]: claim, callSize }, add: { moves: 1 } },
      { if: unchanged },
    ),
    ...countWrites,
  );
  if (!isClaimed && !(await isOwnClaim(prepared, call, claim))) return undefined;
  queued[`c${call}`] = claim;
  const kept = unsettled.filter(({ i }) => !(i in claim.skip));
  return skipLateDepartures({ prepared, call, claim }, { recipients: kept, readAt });
}

/**
 * When the fan-out read the recipients, if the departure log covers the time since. Undefined for
 * chunks of sequences and for old chunks.
 */
const getRecentReadAt = ({ head: { readAt } }: PreparedChunk): string | undefined =>
  readAt !== undefined && isCovered(readAt) ? readAt : undefined;

/**
 * Leaves out recipients that left between the first look and the claim, so that nobody gets a mail
 * that was claimed after the unsubscription was answered. Undefined when another runner took over.
 */
async function skipLateDepartures(
  { prepared, call, claim }: Pick<ClaimedCall, "prepared" | "call" | "claim">,
  { recipients, readAt }: { recipients: ChunkRecipient[]; readAt: string },
): Promise<CallClaim | undefined> {
  if (!prepared.source || !recipients.length) return claim;
  const late = await listDepartedReasons(prepared, recipients, readAt);
  if (!late.size) return claim;
  const changed = { ...claim, skip: { ...claim.skip, ...Object.fromEntries(late) } };
  return (await replaceClaim(prepared, call, changed)) ? changed : undefined;
}

/**
 * The runner that made the claim may only be slow: from now on it cannot change it. Undefined when
 * it changed in the meantime.
 */
async function takeOverClaim(
  prepared: PreparedChunk,
  call: number,
  claim: CallClaim,
): Promise<CallClaim | undefined> {
  const changed = { ...claim, by: randomBase62(8) };
  return (await replaceClaim(prepared, call, changed)) ? changed : undefined;
}

/** Changes the claim of this runner. False when another runner took over. */
async function replaceClaim(
  prepared: PreparedChunk,
  call: number,
  changed: CallClaim,
): Promise<boolean> {
  const isChanged = await tryWrite(
    update(
      queuedKey(prepared),
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
  prepared: PreparedChunk,
  call: number,
  { by, alone, skip }: CallClaim,
): Promise<boolean> {
  const queued = await get<QueuedChunk>(queuedKey(prepared));
  const claim = queued && claimOf(queued, call);
  return (
    claim?.by === by &&
    claim.alone === alone &&
    Object.keys(claim.skip).length === Object.keys(skip).length
  );
}

const queuedKey = ({ queued: { pk, sk } }: PreparedChunk) => ({ pk, sk });

interface RecipientLook {
  recipients: ChunkRecipient[];
  /** Undefined: all recipients are read again. */
  fanOutReadAt: string | undefined;
}

/**
 * By index: why recipients get no mail. They were cancelled or suppressed since acceptance, or
 * their mail cannot be rendered.
 */
async function listExclusions(
  prepared: PreparedChunk,
  { listFlaws }: ChunkTransport,
  { recipients, fanOutReadAt }: RecipientLook,
): Promise<CallClaim["skip"]> {
  const reasons = await (prepared.source
    ? listMarketingExclusions(prepared, prepared.source, { recipients, fanOutReadAt })
    : listTransactionalExclusions(prepared, recipients));
  const flaws = await listFlaws(recipients);
  return Object.fromEntries(
    recipients
      .flatMap(({ i }, k) => [[String(i), reasons[k] ?? flaws[k]]])
      .filter(([, reason]) => reason),
  );
}

async function listMarketingExclusions(
  prepared: PreparedChunk,
  source: sources.MailSource,
  { recipients, fanOutReadAt }: RecipientLook,
): Promise<(string | undefined)[]> {
  const { orgId, head } = prepared;
  const { siteId, capDays, topic } = head;
  const limits = { orgId, siteId, capDays, topic };
  const isRecent = fanOutReadAt !== undefined;
  const [state, reasons, departed] = await Promise.all([
    prepared.runner.readSourceState(source),
    // The departures name suppressed addresses. The frequency cap depends on mail that other
    // campaigns have sent since.
    isRecent && !head.capDays
      ? []
      : eligibility.listExclusionReasons(limits, recipients, { readsSuppressions: !isRecent }),
    isRecent ? listDepartedReasons(prepared, recipients, fanOutReadAt) : new Map<number, string>(),
  ]);
  return recipients.map(({ i }, k) =>
    state === "cancelled" ? "cancelled" : (departed.get(i) ?? reasons[k]),
  );
}

/**
 * By index: why recipients of marketing mail get none, of those that left since they were read at
 * `readAt`. Without it, all of them are read. Every change that was answered before this call
 * counts.
 */
async function listDepartedReasons(
  { orgId, head: { siteId, topic }, runner }: PreparedChunk,
  recipients: ChunkRecipient[],
  readAt: string | undefined,
): Promise<Map<number, string>> {
  const departed =
    readAt === undefined ? recipients : await runner.departures.filterDeparted(recipients, readAt);
  if (!departed.length) return new Map();
  const reasons = await eligibility.listExclusionReasons({ orgId, siteId, topic }, departed, {
    consistent: true,
  });
  return new Map(
    departed.flatMap(({ i }, k): [number, string][] => (reasons[k] ? [[i, reasons[k]]] : [])),
  );
}

async function listTransactionalExclusions(
  { orgId, queued }: PreparedChunk,
  recipients: ChunkRecipient[],
): Promise<(string | undefined)[]> {
  const emails = recipients.map(({ to }) => to);
  // A send that was cancelled before the hand-over has an item of its own.
  const [suppressed, cancelledSends] = await Promise.all([
    suppressions.filterSuppressed(orgId, emails, { purpose: "transactional" }),
    queued.cancels
      ? getMany(
          recipients.map((one) => keys.send(orgId, chunks.sendIdOf(queued.block, one))),
          { consistent: true },
        )
      : [],
  ]);
  return recipients.map(({ to }, k) => {
    if (cancelledSends[k]) return "cancelled";
    return suppressed.has(normalizeEmail(to)) ? "suppressed" : undefined;
  });
}

interface ClaimedCall extends UnclaimedCall {
  claim: CallClaim;
  contactIds: Record<string, number>;
}

/**
 * By index: the contacts who have the addresses of transactional mails. They are read before the
 * call, because the first write after it is the result.
 */
async function findContactIds(
  { orgId, head, source, needsItems }: PreparedChunk,
  recipients: ChunkRecipient[],
): Promise<Record<string, number>> {
  if (source || needsItems) return {};
  const contacts = await engagement.getAddressees(
    orgId,
    recipients.map(({ to }) => ({ siteId: head.siteId, toEmail: to })),
  );
  return Object.fromEntries(
    recipients.flatMap(({ i }, k) => (contacts[k] ? [[String(i), contacts[k].id]] : [])),
  );
}

/**
 * Calls the provider for each recipient, except where an earlier attempt cannot be repeated safely,
 * and stores the outcomes.
 */
async function callProvider(
  claimed: ClaimedCall,
  stalledSince: string | undefined,
): Promise<LaneRunResult> {
  const { prepared, transport, call, claim } = claimed;
  const { unsettled, maybeHandedOver, isInterrupted } = claimed.progress;
  const canRepeat =
    provider.canRepeatCall(claim.key, transport.config) &&
    !(isInterrupted && (await hasDeparted(claimed)));
  const called = unsettled.filter(
    ({ i }) =>
      !(i in claim.skip) && !claim.later?.includes(i) && (canRepeat || !maybeHandedOver.has(i)),
  );
  const response = await sendMailing(claimed, called);
  if (!response) return leaseLost;
  const { outcomes, inOneCall } = response;
  if (called.length) provider.logCall(prepared.orgId, transport.config, outcomes);
  const delay = chooseDelay(outcomes);
  const isAllHeld = called.length > 0 && outcomes.every(({ status }) => status === "held");
  if (inOneCall && isAllHeld && (isInterrupted || outcomes.some(provider.mayBeHandedOver)))
    return { done: false, delay, hasProgress: false };
  const nowMaybeHandedOver = called
    .filter(({ i }, k) => maybeHandedOver.has(i) || provider.mayBeHandedOver(outcomes[k]!))
    .map(({ i }) => i);
  const outcomeByIndex = new Map(
    called.map(({ i }, k) => [
      i,
      provider.applyRetryLimit(outcomes[k]!, transport.config, {
        stalledSince,
        maybeHandedOver: nowMaybeHandedOver.includes(i),
      }),
    ]),
  );
  const storedAt = now().toISOString();
  const result = await storeResult(prepared, call, {
    attempt: claim.attempt,
    outcomes: unsettled.map(({ i }) => [
      i,
      outcomeByIndex.get(i) ?? toUncalledOutcome(claim, i, maybeHandedOver.has(i)),
    ]),
    doubt: nowMaybeHandedOver.filter((i) => outcomeByIndex.get(i)?.status === "held"),
    revision: claim.revision,
    storedAt,
    ...(!prepared.needsItems && {
      at: storedAt,
      provider: transport.provider.key,
      contactIds: claimed.contactIds,
    }),
  });
  await limiter.applyPauses(prepared.orgId, transport.config.id, outcomes);
  return {
    done: result.outcomes.every(([, { status }]) => status !== "held"),
    results: [result],
    delay,
    hasProgress: outcomes.some(({ status }) => status === "accepted" || status === "refused"),
  };
}

/**
 * Whether recipients of an interrupted call left since they were read. Its runner may have stopped
 * before it saw them, and a repeat with the same key has to have the same recipients.
 */
async function hasDeparted({ prepared, progress, claim }: ClaimedCall): Promise<boolean> {
  if (!prepared.source) return false;
  const called = progress.unsettled.filter(({ i }) => !(i in claim.skip));
  const reasons = await listDepartedReasons(prepared, called, getRecentReadAt(prepared));
  return reasons.size > 0;
}

function toUncalledOutcome(
  { skip, later, key }: CallClaim,
  i: number,
  isMaybeHandedOver: boolean,
): HandOverOutcome {
  if (i in skip && !isMaybeHandedOver) return { status: "refused", error: skip[i]! };
  if (later?.includes(i))
    return {
      status: "held",
      why: "pace",
      error: "The recipient's domain is deferring mail, so delivery to it is paused",
    };
  return key ? provider.answerLostOutcome : provider.workerDiedOutcome;
}

/** A provider that does not respond is treated like one that reports an error. */
function chooseDelay(outcomes: HandOverOutcome[]): limiter.HandOverDelay | undefined {
  const held = outcomes.find((outcome) => outcome.status === "held");
  if (held) return provider.toDelay(held);
  return outcomes.some(({ status }) => status === "uncertain")
    ? { reason: "fault", seconds: 1 }
    : undefined;
}

/**
 * Uses one batch call where the provider supports it, else one call for each mail. Undefined when
 * another runner took the call over.
 */
async function sendMailing(
  { prepared, transport, call, progress, claim }: ClaimedCall,
  recipients: ChunkRecipient[],
): Promise<{ outcomes: HandOverOutcome[]; inOneCall: boolean } | undefined> {
  const { provider: adapter, credentials } = transport;
  const mailing = {
    ...(await transport.toMailing(recipients)),
    notAfter: provider.lastCallBefore(prepared.runner.end),
  };
  // A repeat must have the same content. That is impossible while a recipient's mail cannot be
  // rendered.
  if (mailing.recipients.length !== recipients.length)
    return { outcomes: recipients.map(() => provider.notRepeatableOutcome), inOneCall: true };
  if (!claim.alone && provider.fitsBatchCall(adapter, mailing)) {
    const { block, chunk } = prepared.queued;
    // A new attempt starts only when the provider clearly did not accept the last one. Any other
    // repeat reuses the last attempt's key.
    const outcomes = await adapter.send({
      mailing,
      credentials,
      idempotencyKey: provider.idempotencyKey(claim.key, block, chunk, call, claim.attempt),
      repeated: progress.isInterrupted,
    });
    if (!outcomes.some((outcome) => outcome.status === "held" && outcome.why === "batch"))
      return { outcomes, inOneCall: true };
    // The next worker must not repeat the batch call.
    if (!(await replaceClaim(prepared, call, { ...claim, alone: true }))) return undefined;
  }
  const repeated = progress.lastClaim !== undefined;
  const options = { mailing, credentials, term: claim.key, repeated };
  return { outcomes: await provider.sendOneByOne(adapter, options), inOneCall: false };
}

/**
 * Stores the result. When another runner already stored one for this attempt, that one is returned.
 */
async function storeResult(
  { orgId, queued }: PreparedChunk,
  call: number,
  result: CallResult,
): Promise<CallResult> {
  const { block, chunk } = queued;
  const key = keys.callResult(orgId, { block, chunk, call }, result.attempt);
  const item = await compress(key, result);
  if (await tryWrite(put(key, item, { ifAbsent: true }))) return result;
  const stored = await get<CompressedValue>(key);
  return stored ? decompress<CallResult>(stored) : result;
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
    recipients.filter(({ error }) => !error),
    callSize,
  );
  const claims: Record<string, CallClaim> = {};
  let [openMails, newlyClaimed] = [0, 0];
  for (const [call, { length }] of calls.entries()) {
    if (isSettled(queued, call)) continue;
    const results = await listCallResults({ orgId, queued }, call);
    const attempt = 1 + (results.at(-1)?.attempt ?? 0);
    claims[`c${call}`] = { by: randomBase62(8), attempt, alone: true, skip: {} };
    openMails += length;
    if (!claimOf(queued, call)) newlyClaimed += length;
  }
  const countWrites = head.source
    ? sources.addSourceCountWrites(orgId, queued.block, [
        { source: head.source, counts: { sending: newlyClaimed } },
      ])
    : [];
  const { pk, sk } = queued;
  const isClaimed = await tryWrite(
    update(
      { pk, sk },
      { set: { ...claims, callSize }, add: { moves: 1 } },
      { if: unchangedCondition(queued) },
    ),
    ...countWrites,
  );
  return isClaimed ? openMails : undefined;
}
