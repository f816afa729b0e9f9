// How an endpoint fares. One that hangs is left alone for a while, then one call finds out whether it is back; one that has failed
// for days, or says that it is gone, is set inactive and its owner is told.
import { after, now } from "../../clock.ts";
import { absent, type Condition, equals } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import { type Changes, claim, update } from "../../doors/table.ts";
import { keys } from "../../keys.ts";
import { queues } from "../../queues.ts";
import { healthNames, type Webhook } from "../webhooks.ts";
import type { Outcome } from "./calls.ts";

const breakerTimeouts = 5;
const firstRestSeconds = 60;
const longestRestSeconds = 1800;
/** How long the others wait while one call finds out. */
const probeSeconds = 60;

const maxFailingDays = 5;
// The longest pause between two tries, and room: failures further apart are no row of failures.
const restartDays = 2;
const dayMs = 24 * 3600 * 1000;

/** How many calls in a row may yet go without an answer in time. */
export const timeoutsLeft = ({ timeouts = 0 }: Webhook): number => Math.max(1, breakerTimeouts - timeouts);

/** Until when the endpoint is left alone; undefined when it may be called. After a rest one caller goes first, and the others wait for it. */
export async function restUntil(orgId: number, webhook: Webhook): Promise<Date | undefined> {
  const { timeouts = 0, coolUntil } = webhook;
  if (timeouts < breakerTimeouts) return undefined;
  if (coolUntil !== undefined && coolUntil > now().toISOString()) return new Date(coolUntil);
  const probing = after(probeSeconds);
  const unchanged = coolUntil === undefined ? absent("coolUntil") : equals("coolUntil", coolUntil);
  return (await claim(changing(orgId, webhook, { set: { coolUntil: probing.toISOString() } }, unchanged))) ? undefined : probing;
}

/** Notes how calls went, in the order in which they ended. Says until when the endpoint is to be left alone now. */
export async function note(orgId: number, webhook: Webhook, outcomes: Outcome[]): Promise<{ active: boolean; restUntil?: Date }> {
  if (!outcomes.length) return { active: true };
  const delivered = outcomes.some((outcome) => outcome.delivered);
  const reason = reasonToEnd(webhook, outcomes, delivered);
  if (reason) return deactivate(orgId, webhook, reason);
  const trailing = outcomes.length - 1 - outcomes.findLastIndex(({ timedOut }) => !timedOut);
  const answered = trailing < outcomes.length;
  const timeouts = (answered ? 0 : (webhook.timeouts ?? 0)) + trailing;
  const cooled = answered ? 0 : (webhook.cooled ?? 0);
  const rest = timeouts >= breakerTimeouts ? after(Math.min(firstRestSeconds * 2 ** cooled, longestRestSeconds)) : undefined;
  const cooling = { cooled: rest ? cooled + 1 : cooled, coolUntil: rest?.toISOString() };
  // Calls of several workers that all hang add up.
  const counting: Changes = answered ? { set: { ...cooling, timeouts } } : { set: cooling, add: { timeouts: trailing } };
  await save(orgId, webhook, delivered, counting);
  return { active: true, ...(rest && { restUntil: rest }) };
}

function reasonToEnd(webhook: Webhook, outcomes: Outcome[], delivered: boolean): string | undefined {
  if (outcomes.some(({ responseStatus }) => responseStatus === 410)) return "It answered 410 Gone";
  const since = failingSince(webhook);
  const failing = !delivered && since !== null && now().getTime() - Date.parse(since) >= maxFailingDays * dayMs;
  return failing ? `It did nothing but fail for ${maxFailingDays} days` : undefined;
}

async function save(orgId: number, webhook: Webhook, delivered: boolean, { set, ...counting }: Changes): Promise<void> {
  const { failingSince: before, timeouts } = webhook;
  // One that fares well is not written at all.
  if (delivered && before === null && !timeouts && !set?.timeouts) return;
  const at = now().toISOString();
  const failing = delivered ? { failingSince: null } : { failingSince: failingSince(webhook) ?? at, failedAt: at };
  // What another worker has noted meanwhile is newer than what we read.
  await claim(changing(orgId, webhook, { ...counting, set: { ...set, ...failing } }, equals("failingSince", before)));
}

function failingSince({ failingSince: since, failedAt }: Webhook): string | null {
  const recent = failedAt !== undefined && now().getTime() - Date.parse(failedAt) < restartDays * dayMs;
  return recent ? since : null;
}

async function deactivate(orgId: number, webhook: Webhook, inactiveReason: string): Promise<{ active: boolean }> {
  const set = { active: false, inactiveReason, ownerUntold: true, updatedAt: now().toISOString() };
  if (await claim(changing(orgId, webhook, { set, remove: healthNames }, equals("active", true)))) await tellOwner(orgId, webhook.id);
  return { active: false };
}

/** If whoever set the endpoint inactive died before the mail was queued, the next who meets it does. */
export async function tellOwner(orgId: number, webhookId: number): Promise<void> {
  await enqueue(queues.systemMail, [{ mail: "webhook_inactive", orgId, webhookId }]);
  await claim(update(keys.record(orgId, "WEBHOOK", webhookId), { remove: ["ownerUntold"] }, { if: equals("active", false) }));
}

const changing = (orgId: number, { id }: Webhook, changes: Changes, condition: Condition) =>
  update(keys.record(orgId, "WEBHOOK", id), changes, { if: condition });
