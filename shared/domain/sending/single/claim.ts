// Claims a single send for one worker, and gives it back. A claim is a status, a lease and a random
// id: whoever finds a valid lease leaves the send alone, and whoever finds an expired one knows
// that the provider may have the mail.
import { get, transact, update } from "../../../adapters/dynamodb/table.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../../../clock.ts";
import { randomBase62 } from "../../../ids.ts";
import { endedBy } from "../../../kernel/leases.ts";
import { keys } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import { openIdempotencyWindow } from "../provider-calls/provider-call.ts";
import type { PreparedSend } from "./prepare-send.ts";
import {
  dueAttributes,
  leaseSeconds,
  type SingleSendItem,
  unchangedCondition,
} from "./single-send-item.ts";

/** The due index finds a send this long after the queue should have delivered it. */
export const graceSeconds = 120;

/** Whether the send may be claimed now. */
export function isDue({ status, scheduledAt, lease, turnAt }: SingleSendItem): boolean {
  const time = now().toISOString();
  if (status === "scheduled") return (scheduledAt ?? "") <= time;
  if (status === "queued") return (turnAt ?? "") <= time;
  return status === "sending" && (lease ?? "") <= endedBy(leaseSeconds).toISOString();
}

/** Marks the send as about to be handed over. Undefined when another worker claimed it. */
export async function claimSend(
  orgId: number,
  send: SingleSendItem,
  { provider, config }: PreparedSend,
): Promise<SingleSendItem | undefined> {
  const key = keys.send(orgId, send.id);
  const set = {
    status: "sending" as const,
    attempt: (send.attempt ?? 0) + 1,
    by: randomBase62(8),
    lease: addSeconds(leaseSeconds).toISOString(),
    firstClaimedAt: send.firstClaimedAt ?? now().toISOString(),
    provider: provider.key,
    revision: config.revision,
    ...(send.doubt ? { doubt: true } : { key: await openIdempotencyWindow(provider, config) }),
  };
  const isStored = async () => (await get<SingleSendItem>(key))?.by === set.by;
  // The response of a write may be lost. Then the write fails, or the SDK repeats it, and the
  // repeat fails because of its own first try.
  const isClaimed = await transact(
    update(key, { set, remove: ["turnAt"] }, { if: unchangedCondition(send) }),
  ).catch(async (error: unknown) => {
    if (await isStored()) return true;
    throw error;
  });
  if (!isClaimed && !(await isStored())) return undefined;
  const { turnAt: _, ...rest } = send;
  return { ...rest, ...set } as SingleSendItem;
}

/** Returns the send to the queue. With `turnAt`, it comes back for its reserved slot. */
export async function postpone(
  orgId: number,
  send: SingleSendItem,
  { seconds, turnAt }: { seconds: number; turnAt?: string | undefined },
): Promise<void> {
  const due = dueAttributes(orgId, send.id, addSeconds(seconds + graceSeconds));
  const set = { status: "queued", turnAt, ...(send.doubt && { doubt: true }), ...due };
  const remove = ["lease", ...(turnAt ? [] : ["turnAt"]), ...(send.doubt ? [] : ["key"])];
  const isPostponed = await transact(
    update(keys.send(orgId, send.id), { set, remove }, { if: unchangedCondition(send) }),
  );
  if (isPostponed)
    await enqueue(queues.send, [{ orgId, sendId: send.id }], {
      group: orgId,
      delaySeconds: seconds,
    });
}

/**
 * After a restore, the provider may have a mail that the table does not know of: the send becomes
 * `uncertain`.
 */
export const markUncertain = (orgId: number, send: SingleSendItem): Promise<boolean> => {
  const set = {
    status: "sending" as const,
    attempt: (send.attempt ?? 0) + 1,
    by: randomBase62(8),
    lease: now().toISOString(),
    doubt: true,
    ...dueAttributes(orgId, send.id, now()),
  };
  const change = { set, remove: ["key", "turnAt", "revision"] };
  return transact(update(keys.send(orgId, send.id), change, { if: unchangedCondition(send) }));
};
