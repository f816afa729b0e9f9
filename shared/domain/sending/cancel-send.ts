import { absent, all, equals, exists } from "../../adapters/dynamodb/conditions.ts";
import { get, put, update, write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { conflict } from "../../errors.ts";
import { blockOf, indexAttributeNames, keys } from "../../keys.ts";
import * as chunks from "./bulk/chunks.ts";
import { queuedChunkKey } from "./bulk/queued-chunk.ts";
import { findSend } from "./read-sends.ts";
import * as eraseMessages from "./secure-messages/erase-messages.ts";
import { type Send, toApi } from "./send-schema.ts";

/** Cancels a scheduled send. Throws 409 if it is no longer scheduled. */
export async function cancelSend(caller: CallerScope, id: number): Promise<Send> {
  const send = toApi(await findSend(caller, id));
  const tooLate = conflict(`The send is ${send.status}: only a scheduled send can be cancelled`);
  if (send.status !== "scheduled") throw tooLate;
  if (send.campaignId !== null)
    throw conflict(`The send belongs to campaign ${send.campaignId}: cancel the campaign instead`);
  const address = keys.send(caller.orgId, id);
  const set = { status: "cancelled" as const, updatedAt: now().toISOString() };
  const isSecured = send.secure && (await get(keys.secureMessage(caller.orgId, id))) !== undefined;
  const revoked = isSecured ? [eraseMessages.revocation(caller.orgId, id)] : [];
  if (send.batchId === null) {
    const cancelled = update(
      address,
      { set, remove: indexAttributeNames("due") },
      { if: equals("status", "scheduled"), orThrow: tooLate },
    );
    await write(cancelled, ...revoked);
  } else {
    // The send is a line of a chunk. An item replaces it, unless the chunk is being handed over.
    const laneKey = queuedChunkKey(caller.orgId, send.sendingConfigId, {
      block: blockOf(id),
      chunk: chunks.chunkNumberOf(id),
      at: send.scheduledAt!,
    });
    const untouched = all(exists, absent("callSize"));
    await write(
      put(address, { ...send, ...set }, { ifAbsent: tooLate }),
      update(laneKey, { add: { cancels: 1 } }, { if: untouched, orThrow: tooLate }),
      ...revoked,
    );
  }
  if (isSecured) await eraseMessages.eraseBody(caller.orgId, id);
  return { ...send, ...set };
}
