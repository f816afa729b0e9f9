import { exists } from "../../../adapters/dynamodb/conditions.ts";
import { transact, update, type Write } from "../../../adapters/dynamodb/table.ts";
import * as blobs from "../../../adapters/s3/objects.ts";
import { now } from "../../../clock.ts";
import { dueShardOf, indexAttributeNames, indexAttributes, indexes, keys } from "../../../keys.ts";
import { blobKeyOf, type SecureMessageItem } from "./secure-message-item.ts";

/** Deletes the body of an expired or revoked message. Safe to repeat. */
export async function eraseBody(orgId: number, id: number): Promise<void> {
  await blobs.remove(blobKeyOf(orgId, id));
  await transact(
    update(keys.secureMessage(orgId, id), { remove: indexAttributeNames("due") }, { if: exists }),
  );
}

/** Revokes the message, for the transaction that cancels its send. Call `eraseBody` afterwards. */
export function revocation(orgId: number, id: number): Write {
  const revokedAt = now().toISOString();
  const set = indexAttributes(indexes.due("SECURE", dueShardOf(id)), revokedAt);
  return update(keys.secureMessage(orgId, id), { set, setIfAbsent: { revokedAt } }, { if: exists });
}

/**
 * For the erasure of a contact: revokes the message and replaces its address and subject. Safe to
 * repeat.
 */
export async function anonymizeMessage(
  orgId: number,
  id: number,
  replacement: Pick<SecureMessageItem, "toEmail" | "subject">,
): Promise<void> {
  const revokedAt = now().toISOString();
  // The message stays on the due index until the blob is deleted, so that a crash in between is
  // repaired.
  const set = {
    ...replacement,
    ...indexAttributes(indexes.due("SECURE", dueShardOf(id)), revokedAt),
  };
  if (
    await transact(
      update(keys.secureMessage(orgId, id), { set, setIfAbsent: { revokedAt } }, { if: exists }),
    )
  )
    await eraseBody(orgId, id);
}
