// Uncertain mails: the provider may have them. They are settled by an event, by a look-up at the
// provider (look-up-sends.ts) or by a user. A mail that the provider does not have is handed over
// again as a single send, also if it was bulk mail, with a claim of its own.
//
// The counters have a mail as uncertain until another outcome settles it. Every change here
// requires that the mail is still uncertain, and in the look-up whose answer is applied: then no
// event, user or other worker has settled it, and no older answer can do so.

import * as z from "zod";
import { all, equals } from "../../adapters/dynamodb/conditions.ts";
import { transact, update } from "../../adapters/dynamodb/table.ts";
import { enqueue } from "../../adapters/sqs/enqueue.ts";
import type { Caller } from "../../caller.ts";
import { addSeconds, now } from "../../clock.ts";
import { conflict } from "../../errors.ts";
import { indexAttributeNames, keys } from "../../keys.ts";
import { queues } from "../../queues.ts";
import { getSourceState, sourceOf } from "./mail-sources.ts";
import { findSend } from "./read-sends.ts";
import { type Send, toApi } from "./send-schema.ts";
import { settleUncertain } from "./single/settle.ts";
import {
  dueAttributes,
  inLookUpCondition,
  type SingleSendItem,
  sameLookUpCondition,
} from "./single/single-send-item.ts";
import { findStoredMail } from "./stored-mail.ts";

/** From then on, no look-up is made, and a user can have the mail sent again. */
export const settlingSeconds = 72 * 3600;

/** The worker that is woken gets the mail first, and the due index finds what it leaves. */
const graceSeconds = 120;

/** More attributes that are set together with a change. */
type Extra = Pick<SingleSendItem, "resolution">;

/**
 * Hands the mail over again. Returns why it does not, or undefined: now, or the mail was settled in
 * the meantime.
 */
export async function handOverAgain(
  orgId: number,
  send: SingleSendItem,
  extra: Extra = {},
): Promise<"paused" | "cancelled" | "no content" | undefined> {
  const source = sourceOf(send);
  const state = source ? await getSourceState(orgId, source) : "going";
  if (state !== "going") return state;
  if (!(await findStoredMail(orgId, send))) return "no content";
  const isQueued = await changeUncertain(orgId, send, {
    set: {
      ...extra,
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

/** The mail keeps its status and leaves the due index. */
export async function endLookUps(orgId: number, send: SingleSendItem): Promise<void> {
  const remove = ["lookUp", "content", ...indexAttributeNames("due")];
  const unchanged = all(equals("status", send.status), sameLookUpCondition(send.lookUp));
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
      { if: inLookUpCondition(send.lookUp) },
    ),
  );

export const Resolution = z.object({
  outcome: z
    .enum(["sent", "send_again", "failed"])
    .describe(
      "What is known about the email. `sent`: the provider has it, for example because its " +
        "dashboard shows it; the send becomes `sent`. `send_again`: the provider does not have " +
        "it; it is handed over again under the same id. Possible from 72 hours after it became " +
        "uncertain, because until then the provider may still report it. `failed`: give it up; " +
        "the send becomes `failed`.",
    ),
});
type Resolution = z.output<typeof Resolution>;

const closedByUser = "Closed by a user: it is unknown whether the mail was sent";

/**
 * Settles an uncertain send by what a user knows. A repeat returns the send as it is by then.
 * Throws 404, and 409 for a send that is not uncertain or cannot be sent again now.
 */
export async function resolveSend(
  caller: Caller,
  id: number,
  { outcome }: Resolution,
): Promise<Send> {
  const { orgId } = caller;
  let send: SingleSendItem = await findSend(caller, id);
  // A look-up that runs at the same time changes the send.
  for (let n = 0; n < maxTries && send.status === "uncertain"; n++) {
    await applyResolution(orgId, send, outcome);
    send = await findSend(caller, id);
  }
  if (send.status !== "uncertain" && send.resolution?.outcome === outcome) return toApi(send);
  throw conflict(
    send.status === "uncertain"
      ? "The send is being looked up at the provider: try again"
      : `The send is ${send.status}: only an uncertain send can be resolved`,
  );
}

const maxTries = 4;

async function applyResolution(
  orgId: number,
  send: SingleSendItem,
  outcome: Resolution["outcome"],
): Promise<void> {
  const uncertainSince = send.lookUp?.at ?? send.updatedAt ?? send.createdAt;
  const resolution = { outcome, at: now().toISOString() };
  if (outcome === "sent")
    return settleUncertain(orgId, send, { status: "sent", sentAt: uncertainSince, resolution });
  if (outcome === "failed")
    return settleUncertain(orgId, send, { status: "failed", error: closedByUser, resolution });
  const possibleFrom = addSeconds(settlingSeconds, new Date(uncertainSince));
  if (possibleFrom > now())
    throw conflict(
      "Until the provider has had 72 hours to report the email, sending it again could send it " +
        `twice: it can be sent again from ${possibleFrom.toISOString()}`,
    );
  const obstacle = await handOverAgain(orgId, send, { resolution });
  if (obstacle) throw conflict(obstacles[obstacle]);
}

const obstacles = {
  paused: "The campaign, sequence or holiday of the email is paused: resume it first",
  cancelled: "The campaign, sequence or holiday of the email was cancelled: close it as `failed`",
  "no content": "The content of the email is no longer stored, so it cannot be sent again",
};
