import { now } from "../../clock.ts";
import { exists } from "../../conditions.ts";
import * as blobs from "../../doors/blobs.ts";
import { claim, update } from "../../doors/table.ts";
import { dueShard, keys, off, on, shelves } from "../../keys.ts";
import { blobOf, type SecureMessageItem } from "./item.ts";

/** Leaves nothing readable of a message that expired or was revoked. Safe to repeat. */
export async function erase(orgId: number, id: number): Promise<void> {
  await blobs.remove(blobOf(orgId, id));
  await claim(update(keys.secureMessage(orgId, id), { remove: off("due") }));
}

/** Its reader is erased: nobody can read it any more, and it tells no more whom it was for. Safe to repeat. */
export async function forget(orgId: number, id: number, blank: Pick<SecureMessageItem, "toEmail" | "subject">): Promise<void> {
  const revokedAt = now().toISOString();
  // On the due index until the blob is gone: whoever dies in between is followed up.
  const set = { ...blank, ...on(shelves.due("SECURE", dueShard(id)), revokedAt) };
  if (await claim(update(keys.secureMessage(orgId, id), { set, initialize: { revokedAt } }, { if: exists }))) await erase(orgId, id);
}
