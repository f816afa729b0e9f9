// The health of an endpoint. A circuit breaker opens after five timeouts in a row; when its pause
// is over, one probe call decides whether it closes. An endpoint that fails for five days, or
// responds with 410 Gone, is set inactive, and its owner gets a mail.

import { absent, type Condition, equals } from "../../adapters/dynamodb/conditions.ts";
import { type ItemChanges, transact, update } from "../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../clock.ts";
import { queueSystemMail } from "../../kernel/system-mail-queue.ts";
import { keys } from "../../keys.ts";
import type { DeliveryAttempt } from "./deliver-event.ts";
import type { Webhook } from "./webhooks.ts";

/** Attributes of a webhook record. Times are ISO 8601. */
export interface EndpointHealth {
  /** Null while the last call succeeded. */
  failingSince: string | null;
  failedAt?: string;
  /** Timeouts in a row. */
  timeouts?: number;
  /** How often in a row the breaker opened. */
  cooled?: number;
  /** Until when the breaker is open. */
  coolUntil?: string;
  /** The endpoint was set inactive, and the mail to its owner is not queued yet. */
  ownerUntold?: true;
}
export const healthAttributes = ["failedAt", "timeouts", "cooled", "coolUntil"];

const breakerThreshold = 5;
const firstOpenSeconds = 60;
const maxOpenSeconds = 1800;
/** How long the other workers wait for the result of a probe call. */
const probeSeconds = 60;

const maxFailingDays = 5;
// Longer than the longest pause between two attempts. Failures further apart do not belong
// together.
const failureGapDays = 2;
const dayMs = 24 * 3600 * 1000;

/** How many further timeouts open the breaker. */
export const timeoutsLeft = ({ timeouts = 0 }: Webhook): number =>
  Math.max(1, breakerThreshold - timeouts);

/**
 * Returns until when the breaker is open, or undefined if the endpoint may be called. After the
 * pause only the first caller may make a probe call; the others wait for its result.
 */
export async function checkBreaker(orgId: number, webhook: Webhook): Promise<Date | undefined> {
  const { timeouts = 0, coolUntil } = webhook;
  if (timeouts < breakerThreshold) return undefined;
  if (coolUntil !== undefined && coolUntil > now().toISOString()) return new Date(coolUntil);
  const probeUntil = addSeconds(probeSeconds);
  const unchanged = coolUntil === undefined ? absent("coolUntil") : equals("coolUntil", coolUntil);
  const changes = { set: { coolUntil: probeUntil.toISOString() } };
  const isProbe = await transact(changeWrite(orgId, webhook, { changes, condition: unchanged }));
  return isProbe ? undefined : probeUntil;
}

/**
 * Stores the results of calls, given in the order in which they ended. Returns whether the endpoint
 * is still active, and until when the breaker is open if it opened now.
 */
export async function recordAttempts(
  orgId: number,
  webhook: Webhook,
  outcomes: DeliveryAttempt[],
): Promise<{ active: boolean; openUntil?: Date }> {
  if (!outcomes.length) return { active: true };
  const delivered = outcomes.some((outcome) => outcome.delivered);
  const reason = deactivationReason(webhook, outcomes, delivered);
  if (reason) return deactivate(orgId, webhook, reason);
  const trailingTimeouts =
    outcomes.length - 1 - outcomes.findLastIndex(({ timedOut }) => !timedOut);
  const answered = trailingTimeouts < outcomes.length;
  const timeouts = (answered ? 0 : (webhook.timeouts ?? 0)) + trailingTimeouts;
  const cooled = answered ? 0 : (webhook.cooled ?? 0);
  const openUntil =
    timeouts >= breakerThreshold
      ? addSeconds(Math.min(firstOpenSeconds * 2 ** cooled, maxOpenSeconds))
      : undefined;
  const breakerState = {
    cooled: openUntil ? cooled + 1 : cooled,
    coolUntil: openUntil?.toISOString(),
  };
  // Timeouts of several workers add up.
  const breakerChanges: ItemChanges = answered
    ? { set: { ...breakerState, timeouts } }
    : { set: breakerState, add: { timeouts: trailingTimeouts } };
  await saveHealth(orgId, webhook, { delivered, changes: breakerChanges });
  return { active: true, ...(openUntil && { openUntil }) };
}

function deactivationReason(
  webhook: Webhook,
  outcomes: DeliveryAttempt[],
  delivered: boolean,
): string | undefined {
  if (outcomes.some(({ responseStatus }) => responseStatus === 410))
    return "The endpoint responded with 410 Gone";
  const since = failingSince(webhook);
  const isFailing =
    !delivered && since !== null && now().getTime() - Date.parse(since) >= maxFailingDays * dayMs;
  return isFailing ? `Every delivery failed for ${maxFailingDays} days` : undefined;
}

async function saveHealth(
  orgId: number,
  webhook: Webhook,
  { delivered, changes: { set, ...breakerChanges } }: { delivered: boolean; changes: ItemChanges },
): Promise<void> {
  const { failingSince: before, timeouts } = webhook;
  // A healthy endpoint is not written.
  if (delivered && before === null && !timeouts && !set?.timeouts) return;
  const at = now().toISOString();
  const failureTimes = delivered
    ? { failingSince: null }
    : { failingSince: failingSince(webhook) ?? at, failedAt: at };
  // If another worker has changed the health since, its result is newer and stays.
  const unchanged = equals("failingSince", before);
  const changes = { ...breakerChanges, set: { ...set, ...failureTimes } };
  await transact(changeWrite(orgId, webhook, { changes, condition: unchanged }));
}

function failingSince({ failingSince: since, failedAt }: Webhook): string | null {
  const isRecent =
    failedAt !== undefined && now().getTime() - Date.parse(failedAt) < failureGapDays * dayMs;
  return isRecent ? since : null;
}

async function deactivate(
  orgId: number,
  webhook: Webhook,
  inactiveReason: string,
): Promise<{ active: boolean }> {
  const set = { active: false, inactiveReason, ownerUntold: true, updatedAt: now().toISOString() };
  const changes = { set, remove: healthAttributes };
  const isChanged = await transact(
    changeWrite(orgId, webhook, { changes, condition: equals("active", true) }),
  );
  if (isChanged) await notifyOwner(orgId, webhook.id);
  return { active: false };
}

/** Queues the mail to the owner. After a crash the next worker that reads `ownerUntold` does so. */
export async function notifyOwner(orgId: number, webhookId: number): Promise<void> {
  await queueSystemMail({ mail: "webhook_inactive", orgId, webhookId });
  await transact(
    update(
      keys.record(orgId, "WEBHOOK", webhookId),
      { remove: ["ownerUntold"] },
      { if: equals("active", false) },
    ),
  );
}

const changeWrite = (
  orgId: number,
  { id }: Webhook,
  { changes, condition }: { changes: ItemChanges; condition: Condition },
) => update(keys.record(orgId, "WEBHOOK", id), changes, { if: condition });
