// Uncertain mails: the provider may have them. They are settled by an event, or by a look-up at the
// provider (look-up-sends.ts). A mail that the provider does not have is handed over
// again as a single send, also if it was bulk mail, with a claim of its own.
//
// A mail counts as uncertain until its new outcome is counted (`wasUncertain`). Every change here
// requires that the mail is still uncertain, counted, and in the look-up whose answer is applied:
// then no event and no other worker has settled it, and no older answer can do so.

import { absent, all, type Condition, equals } from "../../adapters/dynamodb/conditions.ts";
import { transact, update } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../../clock.ts";
import { indexAttributeNames, keys } from "../../keys.ts";
import { queues } from "../../queues.ts";
import { countOutcome } from "./count-outcome.ts";
import { getSourceState, sourceOf } from "./mail-sources.ts";
import { dueAttributes, type SingleSendItem } from "./single-send-item.ts";
import { findStoredMail } from "./stored-mail.ts";

/** From then on, no look-up is made. */
export const settlingSeconds = 72 * 3600;

/** The worker that is woken gets the mail first, and the due index finds what it leaves. */
const graceSeconds = 120;

/**
 * Hands the mail over again. Returns why it does not, or undefined: now, or the mail was settled in
 * the meantime.
 */
export async function handOverAgain(
  orgId: number,
  send: SingleSendItem,
): Promise<"paused" | "cancelled" | "no content" | undefined> {
  const source = sourceOf(send);
  const state = source ? await getSourceState(orgId, source) : "going";
  if (state !== "going") return state;
  if (!(await findStoredMail(orgId, send))) return "no content";
  const isQueued = await changeUncertain(orgId, send, {
    set: {
      status: "queued",
      wasUncertain: true,
      updatedAt: now().toISOString(),
      ...dueAttributes(orgId, send.id, addSeconds(graceSeconds)),
    },
    remove: ["error", "lookUp"],
  });
  if (isQueued) await enqueue(queues.send, [{ orgId, sendId: send.id }], { group: orgId });
  return undefined;
}

/** Stores and counts the final outcome, unless the mail was settled in the meantime. */
export async function settleUncertain(
  orgId: number,
  send: SingleSendItem,
  fields: Partial<SingleSendItem> & { status: "sent" | "failed" | "cancelled" },
): Promise<void> {
  const set = {
    ...fields,
    updatedAt: now().toISOString(),
    ...(!send.system && { uncounted: fields.status, wasUncertain: true as const }),
    ...dueAttributes(orgId, send.id, addSeconds(graceSeconds)),
  };
  const remove = ["lookUp", ...(fields.error ? [] : ["error"])];
  if (!(await changeUncertain(orgId, send, { set, remove }))) return;
  const settled = { ...send, error: undefined, ...set, lookUp: undefined };
  await (send.system ? endLookUps(orgId, settled) : countOutcome(orgId, settled));
}

/** The mail keeps its status and leaves the due index. */
export async function endLookUps(orgId: number, send: SingleSendItem): Promise<void> {
  const remove = ["lookUp", ...indexAttributeNames("due")];
  const unchanged = all(equals("status", send.status), absent("uncounted"), isSameLookUp(send));
  await transact(update(keys.send(orgId, send.id), { remove }, { if: unchanged }));
}

/**
 * Changes an uncertain mail. Returns false when it was settled in the meantime. Incrementing `v`
 * makes events that read its old state try again.
 */
export const changeUncertain = (
  orgId: number,
  send: SingleSendItem,
  { set, remove = [] }: { set: Record<string, unknown>; remove?: string[] },
): Promise<boolean> =>
  transact(
    update(
      keys.send(orgId, send.id),
      { set, add: { v: 1 }, remove },
      { if: all(equals("status", "uncertain"), absent("uncounted"), isSameLookUp(send)) },
    ),
  );

const isSameLookUp = ({ lookUp }: SingleSendItem): Condition =>
  lookUp ? equals("lookUp", lookUp) : absent("lookUp");
