// One attempt at a provider call: reserves a slot, claims the call, makes it, stores the RESULT.

import { addSeconds, now } from "../../../clock.ts";
import { domainOf } from "../../../kernel/email-fields.ts";
import type { HandOverOutcome } from "../../../providers/provider-adapter.ts";
import * as engagement from "../../audience/contacts/engagement.ts";
import * as warmUp from "../../senders/warm-up.ts";
import * as providerCall from "../provider-calls/provider-call.ts";
import * as rateLimiter from "../provider-calls/rate-limiter.ts";
import { getFanOutReadAt, listDepartedReasons } from "./call-exclusions.ts";
import {
  type CallProgress,
  type CallResult,
  storeResult,
  toRefusedResult,
} from "./call-results.ts";
import type { ChunkRecipient } from "./chunks.ts";
import { claimCall, replaceClaim, takeOverClaim, type UnclaimedCall } from "./claim-call.ts";
import type { PreparedChunk } from "./prepared-chunk.ts";
import type { CallClaim } from "./queued-chunk.ts";
import type { HandOverResult } from "./runner.ts";
import * as slowDomains from "./slow-domains.ts";

interface Attempt {
  progress: CallProgress;
  /** Since when this mail has waited while the provider accepted nothing. */
  stalledSince: string | undefined;
}

/**
 * Calls the provider for the recipients without an outcome. Without `results`, the call is still
 * open and will be repeated with the same content.
 */
export async function attemptCall(
  prepared: PreparedChunk,
  call: number,
  { progress, stalledSince }: Attempt,
): Promise<HandOverResult> {
  const { transport, orgId, runner } = prepared;
  const { open, maybeHandedOver, isInterrupted, lastClaim } = progress;
  if (!transport) {
    const refused = toRefusedResult(prepared, open, maybeHandedOver);
    return { done: true, hasProgress: true, results: [refused] };
  }
  const unclaimed = { prepared, transport, call, progress };
  const permit = await permitCall(unclaimed);
  if ("refusal" in permit) return permit.refusal;
  const contactIds = await findContactIds(prepared, open);
  const claim = isInterrupted
    ? await takeOverClaim(unclaimed, lastClaim!)
    : await claimCall(unclaimed, permit.slow.recipients);
  if (!claim && permit.warmUpMails)
    await warmUp.giveBack(orgId, transport.config, permit.warmUpMails);
  if (!claim || !runner.holdsLease()) return leaseLost;
  const result = await callProvider({ ...unclaimed, claim, contactIds, stalledSince });
  return { ...result, ...(claim.later && { resumeAfterSeconds: permit.slow.seconds ?? 1 }) };
}

/** A mail with the age of its chunk waits a quarter of it, within these limits. */
const recipientPause = { minSeconds: 60, maxSeconds: 3600 };

function recipientPauseSeconds({ queued }: PreparedChunk): number {
  const ageSeconds = (now().getTime() - Date.parse(firstDueAt(queued))) / 1000;
  return Math.min(Math.max(ageSeconds / 4, recipientPause.minSeconds), recipientPause.maxSeconds);
}

const firstDueAt = ({ since, at }: PreparedChunk["queued"]): string => since ?? at;

const waitForSlot = (seconds: number): HandOverResult => ({
  done: false,
  delay: { reason: "turn", seconds },
  hasProgress: false,
});

const leaseLost = waitForSlot(1);

interface SlowRecipients {
  recipients: ChunkRecipient[];
  /** Until the first of their domains gets mail again. */
  seconds?: number;
}

type CallPermit =
  | {
      slow: SlowRecipients;
      /** Taken from the daily quota of the warm-up. */
      warmUpMails: number;
    }
  | { refusal: HandOverResult };

/** Asks the rate limiter, the pauses of recipient domains, and the warm-up. */
async function permitCall({ prepared, transport, progress }: UnclaimedCall): Promise<CallPermit> {
  const { orgId, runner } = prepared;
  const { config } = transport;
  const { open, isInterrupted } = progress;
  const { waitSeconds, lane } = await rateLimiter.acquireSlot(orgId, config, { n: open.length });
  if (waitSeconds > 0) return { refusal: waitForSlot(waitSeconds) };
  // The lease may have expired while this process was frozen. A call without a claim is free for
  // the next runner.
  if (!runner.holdsLease()) return { refusal: leaseLost };
  // Its claim has taken the quota and chosen the recipients.
  if (isInterrupted) return { slow: { recipients: [] }, warmUpMails: 0 };
  const slow = listSlowRecipients(prepared, lane, progress);
  const mails = open.length - slow.recipients.length;
  if (!mails)
    return { refusal: { done: false, resumeAfterSeconds: slow.seconds, hasProgress: false } };
  const quotaWaitSeconds = await warmUp.takeDailyQuota(orgId, config, mails);
  if (quotaWaitSeconds > 0) return { refusal: waitForSlot(quotaWaitSeconds) };
  return { slow, warmUpMails: mails };
}

const maxSlowDomainWaitSeconds = 24 * 3600;

/**
 * Recipients whose domain is paused. Mail that the provider may already have is repeated at once,
 * and no mail waits longer than 24 hours.
 */
function listSlowRecipients(
  { queued }: PreparedChunk,
  lane: object,
  { open, maybeHandedOver }: CallProgress,
): SlowRecipients {
  if (firstDueAt(queued) < addSeconds(-maxSlowDomainWaitSeconds).toISOString())
    return { recipients: [] };
  const paused = open.flatMap((recipient) => {
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

interface ClaimedCall extends UnclaimedCall {
  claim: CallClaim;
  contactIds: Record<string, number>;
  stalledSince: string | undefined;
}

interface ProviderResponse {
  /** The recipients of the call, and what came of their mails. */
  called: ChunkRecipient[];
  outcomes: HandOverOutcome[];
  inOneCall: boolean;
}

/** Calls the provider, and stores the outcomes unless the same call is to be repeated. */
async function callProvider(claimed: ClaimedCall): Promise<HandOverResult> {
  const { orgId } = claimed.prepared;
  const { config } = claimed.transport;
  const called = await listCalledRecipients(claimed);
  const response = await sendMailing(claimed, called);
  if (!response) return leaseLost;
  const { outcomes } = response;
  if (called.length) providerCall.logCall(orgId, config, outcomes);
  const delay = chooseDelay(outcomes);
  if (mustRepeat(claimed, response)) return { done: false, delay, hasProgress: false };
  const result = await storeResult(claimed.prepared, claimed.call, toResult(claimed, response));
  await rateLimiter.applyPauses(orgId, config.id, outcomes);
  return {
    done: result.outcomes.every(([, { status }]) => status !== "held"),
    results: [result],
    delay,
    ...(!delay &&
      outcomes.some(isRecipientHeld) && {
        resumeAfterSeconds: recipientPauseSeconds(claimed.prepared),
      }),
    hasProgress: outcomes.some(({ status }) => status === "accepted" || status === "refused"),
  };
}

/** Without those for whom an earlier attempt cannot be repeated safely. */
async function listCalledRecipients(claimed: ClaimedCall): Promise<ChunkRecipient[]> {
  const { transport, claim } = claimed;
  const { open, maybeHandedOver, isInterrupted } = claimed.progress;
  const canRepeat =
    providerCall.canRepeatCall(claim.key, transport.config) &&
    !(isInterrupted && (await hasDeparted(claimed)));
  return open.filter(
    ({ i }) =>
      !(i in claim.skip) && !claim.later?.includes(i) && (canRepeat || !maybeHandedOver.has(i)),
  );
}

/**
 * Whether recipients of an interrupted call left since they were read. Its runner may have stopped
 * before it saw them, and a repeat with the same key has to have the same recipients.
 */
async function hasDeparted({ prepared, progress, claim }: ClaimedCall): Promise<boolean> {
  if (!prepared.source) return false;
  const called = progress.open.filter(({ i }) => !(i in claim.skip));
  const reasons = await listDepartedReasons(prepared, called, getFanOutReadAt(prepared));
  return reasons.size > 0;
}

/**
 * Uses one batch call where the provider supports it, else one call for each mail. Undefined when
 * another runner took the call over.
 */
async function sendMailing(
  { prepared, transport, call, progress, claim }: ClaimedCall,
  called: ChunkRecipient[],
): Promise<ProviderResponse | undefined> {
  const { provider: adapter, credentials } = transport;
  const mailing = {
    ...(await transport.toMailing(called)),
    notAfter: providerCall.lastCallBefore(prepared.runner.end),
  };
  // A repeat must have the same content. That is impossible while a recipient's mail cannot be
  // rendered.
  if (mailing.recipients.length !== called.length)
    return {
      called,
      outcomes: called.map(() => providerCall.notRepeatableOutcome),
      inOneCall: true,
    };
  if (!claim.alone && providerCall.fitsBatchCall(adapter, mailing)) {
    const { block, chunk } = prepared.queued;
    // A new attempt starts only when the provider clearly did not accept the last one. Any other
    // repeat reuses the last attempt's key.
    const outcomes = await adapter.send({
      mailing,
      credentials,
      idempotencyKey: providerCall.idempotencyKey(claim.key, block, chunk, call, claim.attempt),
      repeated: progress.isInterrupted,
    });
    if (!outcomes.some((outcome) => outcome.status === "held" && outcome.why === "batch"))
      return { called, outcomes, inOneCall: true };
    // The next worker must not repeat the batch call.
    if (!(await replaceClaim(prepared, call, { ...claim, alone: true }))) return undefined;
  }
  const repeated = progress.lastClaim !== undefined;
  const options = { mailing, credentials, term: claim.key, repeated };
  return { called, outcomes: await providerCall.sendOneByOne(adapter, options), inOneCall: false };
}

const isRecipientHeld = (outcome: HandOverOutcome): boolean =>
  outcome.status === "held" && outcome.why === "recipient";

/** A provider that does not respond is treated like one that reports an error. */
function chooseDelay(outcomes: HandOverOutcome[]): rateLimiter.HandOverDelay | undefined {
  const others = outcomes.filter((outcome) => !isRecipientHeld(outcome));
  const held = others.find((outcome) => outcome.status === "held");
  if (held) return providerCall.toDelay(held);
  const uncertain = outcomes.find((outcome) => outcome.status === "uncertain");
  return uncertain && { reason: "fault", seconds: 1, error: uncertain.error };
}

/** The provider may have a batch call that it refused for now: only the same call may follow. */
const mustRepeat = (
  { progress }: ClaimedCall,
  { called, outcomes, inOneCall }: ProviderResponse,
): boolean =>
  inOneCall &&
  called.length > 0 &&
  outcomes.every(({ status }) => status === "held") &&
  (progress.isInterrupted || outcomes.some(providerCall.mayBeHandedOver));

function toResult(
  { prepared, transport, claim, progress, contactIds, stalledSince }: ClaimedCall,
  { called, outcomes }: ProviderResponse,
): CallResult {
  const { open, maybeHandedOver } = progress;
  const doubted = new Set(
    called.flatMap(({ i }, k) =>
      maybeHandedOver.has(i) || providerCall.mayBeHandedOver(outcomes[k]!) ? [i] : [],
    ),
  );
  const outcomeByIndex = new Map(
    called.map(({ i }, k) => {
      const options = {
        // The provider takes other mail.
        stalledSince: isRecipientHeld(outcomes[k]!) ? firstDueAt(prepared.queued) : stalledSince,
        maybeHandedOver: doubted.has(i),
      };
      return [i, providerCall.applyRetryLimit(outcomes[k]!, transport.config, options)];
    }),
  );
  const storedAt = now().toISOString();
  return {
    attempt: claim.attempt,
    outcomes: open.map(({ i }) => [
      i,
      outcomeByIndex.get(i) ?? toUncalledOutcome(claim, i, maybeHandedOver.has(i)),
    ]),
    doubt: [...doubted].filter((i) => outcomeByIndex.get(i)?.status === "held"),
    revision: claim.revision,
    storedAt,
    ...(!prepared.needsItems && { at: storedAt, provider: transport.provider.key, contactIds }),
  };
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
  return key ? providerCall.answerLostOutcome : providerCall.workerDiedOutcome;
}
