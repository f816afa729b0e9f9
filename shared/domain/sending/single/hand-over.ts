// Hands single sends over to the provider: read and render, claim, call, settle.
import { getTogether } from "../../../adapters/dynamodb/table.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../../../clock.ts";
import { keys } from "../../../keys.ts";
import type { HandOverOutcome } from "../../../providers/provider-adapter.ts";
import { queues } from "../../../queues.ts";
import * as warmUp from "../../senders/warm-up.ts";
import * as inFlight from "../in-flight.ts";
import {
  applyRetryLimit,
  canRepeatCall,
  lastCallBefore,
  logCall,
  mayBeHandedOver,
  sendOneByOne,
  toDelay,
  toPermanentMessage,
  workerDiedOutcome,
} from "../provider-calls/provider-call.ts";
import * as rateLimiter from "../provider-calls/rate-limiter.ts";
import { claimSend, isDue, postpone } from "./claim.ts";
import { findExclusionReason, type PreparedSend, prepareSend } from "./prepare-send.ts";
import { settleByEvent, settleSend } from "./settle.ts";
import { isPending, type SingleSendItem } from "./single-send-item.ts";

const memoryRetrySeconds = 5;
/** A mail of a paused campaign that is handed over again looks at it so often. */
const pausedRetrySeconds = 300;

/**
 * Hands a single send over. Safe to repeat: it leaves a send alone that is settled or that another
 * worker has claimed.
 */
export async function handOverSingle(orgId: number, sendId: number): Promise<void> {
  const send = await getTogether<SingleSendItem>(keys.send(orgId, sendId), { consistent: true });
  if (!send) return;
  if (!isDue(send)) return isPending(send) ? undefined : settleByEvent(orgId, send);
  const leave = await inFlight.enter(orgId, send.sendingConfigId);
  if (!leave)
    return enqueue(queues.send, [{ orgId, sendId }], {
      group: orgId,
      delaySeconds: memoryRetrySeconds,
    });
  // Another worker may have claimed it meanwhile. Then its own claim fails.
  await prepareAndHandOver(orgId, send).finally(leave);
}

async function prepareAndHandOver(orgId: number, send: SingleSendItem): Promise<void> {
  send.doubt ||= send.status === "sending";
  const prepared = await prepareSend(orgId, send).catch(toPermanentMessage);
  if (prepared === "no memory") return postpone(orgId, send, { seconds: memoryRetrySeconds });
  if (prepared === "paused") return postpone(orgId, send, { seconds: pausedRetrySeconds });
  if (typeof prepared === "string") return giveUp(orgId, send, prepared);
  await claimAndCall(orgId, send, prepared).finally(prepared.releaseMemory);
}

/** The mail must not be sent. If the provider may have it already, it is uncertain. */
const giveUp = (orgId: number, send: SingleSendItem, error: string): Promise<void> =>
  settleSend(orgId, send, {
    outcome: send.doubt ? workerDiedOutcome : { status: "refused", error },
  });

async function claimAndCall(
  orgId: number,
  send: SingleSendItem,
  prepared: PreparedSend,
): Promise<void> {
  const { config, contacts, slot, mailing, credentials, provider } = prepared;
  if (send.doubt && !canRepeatCall(send.key, config))
    return settleSend(orgId, send, { outcome: workerDiedOutcome, contacts });
  const { waitSeconds, isReserved } = slot;
  if (waitSeconds > 0)
    return postpone(orgId, send, {
      seconds: waitSeconds,
      turnAt: isReserved ? addSeconds(waitSeconds).toISOString() : undefined,
    });
  const claimed = await claimSend(orgId, send, prepared);
  if (!claimed) return;
  // The contact may have left between the first check and the claim.
  const reason = await findExclusionReason(orgId, send, prepared.mail);
  if (reason) return giveUp(orgId, claimed, reason);
  await warmUp.countMails(orgId, config, 1 + (send.copies?.length ?? 0));
  // The lease may have expired while this process was frozen. Then another worker settles the send.
  if (claimed.lease! <= now().toISOString()) return;
  const [outcome] = await sendOneByOne(provider, {
    mailing: { ...mailing, notAfter: lastCallBefore(new Date(claimed.lease!)) },
    credentials,
    term: claimed.key,
    repeated: (claimed.attempt ?? 1) > 1,
  });
  logCall(orgId, config, [outcome!]);
  await applyOutcome(orgId, claimed, { ...prepared, callOutcome: outcome! });
}

/** Settles the send, or postpones it, and tells the rate limiter how the provider is doing. */
async function applyOutcome(
  orgId: number,
  claimed: SingleSendItem,
  {
    config,
    slot,
    contacts,
    timezone,
    callOutcome,
  }: PreparedSend & { callOutcome: HandOverOutcome },
): Promise<void> {
  const send = { ...claimed, doubt: claimed.doubt || mayBeHandedOver(callOutcome) };
  const outcome = applyRetryLimit(callOutcome, config, {
    stalledSince: send.firstClaimedAt,
    maybeHandedOver: send.doubt,
  });
  if (outcome.status === "held") {
    const delay = toDelay(outcome, backOffSeconds(send));
    await postpone(orgId, send, { seconds: delay.seconds });
    if (outcome.why === "recipient") return;
    return rateLimiter.recordHeldSend(orgId, config.id, delay);
  }
  await settleSend(orgId, send, { outcome, contacts, timezone });
  await rateLimiter.applyPauses(orgId, config.id, [outcome]);
  if (outcome.status === "uncertain")
    await rateLimiter.recordHeldSend(orgId, config.id, {
      reason: "fault",
      seconds: 0,
      error: outcome.error,
    });
  if (outcome.status === "accepted" && slot.isAfterFailure)
    await rateLimiter.resetBreaker(orgId, config.id);
}

const backOffSeconds = ({ attempt = 1 }: SingleSendItem): number =>
  Math.min(2 ** (attempt - 1), 300);
