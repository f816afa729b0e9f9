import * as blobs from "../../doors/blobs.ts";
import { claim, update } from "../../doors/table.ts";
import { keys, off } from "../../keys.ts";
import { blobOf } from "./item.ts";

/** Leaves nothing readable of a message that expired or was revoked. Safe to repeat. */
export async function erase(orgId: number, id: number): Promise<void> {
  await blobs.remove(blobOf(orgId, id));
  await claim(update(keys.secureMessage(orgId, id), { remove: off("due") }));
}
