import { exists } from "../../../adapters/dynamodb/conditions.ts";
import { get, transact, update, type Write } from "../../../adapters/dynamodb/table.ts";
import * as objects from "../../../adapters/s3/objects.ts";
import { now } from "../../../clock.ts";
import { dueShardOf, indexAttributeNames, indexAttributes, indexes, keys } from "../../../keys.ts";
import { blobKeyOf, fileBlobKeyOf, type SecureMessageItem } from "./secure-message-item.ts";

/** Deletes the body and the files of an expired or revoked message. Safe to repeat. */
export async function eraseBody(orgId: number, id: number): Promise<void> {
  const { files = 0 } = (await get<SecureMessageItem>(keys.secureMessage(orgId, id))) ?? {};
  const fileBlobs = Array.from({ length: files }, (_, file) => fileBlobKeyOf(orgId, id, file));
  await Promise.all([blobKeyOf(orgId, id), ...fileBlobs].map(objects.remove));
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
