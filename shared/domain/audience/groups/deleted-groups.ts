// Cleanup of deleted lists and tags: a background job removes the group's id from its members. It
// deletes each membership it has handled, so after a crash it starts again and finds the rest.

import { all, contains, equals } from "../../../adapters/dynamodb/conditions.ts";
import {
  get,
  put,
  query,
  queryAll,
  remove,
  transact,
  update,
  type Write,
  write,
  writeMany,
} from "../../../adapters/dynamodb/table.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import { addSeconds, now } from "../../../clock.ts";
import { runCleanup } from "../../../kernel/cleanup-job.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import {
  dueShardOf,
  emailShards,
  type GroupKind,
  indexAttributes,
  indexes,
  type Key,
  keys,
  ranges,
} from "../../../keys.ts";
import { jobSeconds, queues } from "../../../queues.ts";
import { type ContactItem, groupAttribute } from "../contacts/contact-schema.ts";

interface DeletedGroup {
  orgId: number;
  siteId: number;
  kind: GroupKind;
  group: number;
  diedAt: string;
}

/** The tombstone, for the transaction that deletes the group. */
export function deletionWrite(group: Omit<DeletedGroup, "diedAt">): Write {
  const dueAttributes = indexAttributes(
    indexes.due("GROUP", dueShardOf(group.group)),
    addSeconds(60).toISOString(),
  );
  return put(keys.deletedGroup(group.orgId, { kind: group.kind, id: group.group }), {
    ...group,
    diedAt: now().toISOString(),
    ...dueAttributes,
  });
}

export const enqueueCleanup = (
  orgId: number,
  kind: GroupKind | "SITE",
  groupId: number,
): Promise<void> =>
  enqueue(queues.jobs, [{ job: "sweep", orgId, kind, groupId }], { group: orgId });

/** Ids of deleted groups that contacts may still have. */
export async function getDeletedIds(orgId: number, kind: GroupKind): Promise<Set<number>> {
  const found = await queryAll<DeletedGroup>(ranges.deletedGroups(orgId, kind), {
    consistent: true,
  });
  return new Set(found.map(({ group }) => group));
}

/** Removes the group's id from all contacts that still have it. */
export const cleanUp = (orgId: number, kind: GroupKind, groupId: number): Promise<void> =>
  runCleanup<DeletedGroup>(keys.deletedGroup(orgId, { kind, id: groupId }), {
    timeoutSeconds: jobSeconds.sweep,
    clean: async (deleted, deadline) => {
      const shards = emailShards.map((shard) => cleanUpShard(deleted, shard, deadline));
      return (await Promise.all(shards)).every(Boolean);
    },
    enqueueNext: () => enqueueCleanup(orgId, kind, groupId),
    deleteTombstone,
  });

const pageSize = 200;

/** Returns false when the time is up before the shard is done. */
async function cleanUpShard(deleted: DeletedGroup, shard: string, until: Date): Promise<boolean> {
  for (let next: string | undefined = ""; next !== undefined; ) {
    if (now() >= until) return false;
    const members: { items: MembershipItem[]; next?: string } = await query<MembershipItem>(
      ranges.members(deleted.orgId, { kind: deleted.kind, id: deleted.group }, shard),
      {
        limit: pageSize,
        after: next || undefined,
        consistent: true,
      },
    );
    const removed = await inParallel(8, members.items, (member) =>
      removeFromContact(deleted, member),
    );
    await writeMany(members.items.filter((_, i) => removed[i]).map((member) => remove(member)));
    next = members.next;
  }
  return true;
}

interface MembershipItem extends Key {
  contactId: number;
  email: string;
}

/** Returns whether the contact no longer has the group. */
async function removeFromContact(
  deleted: DeletedGroup,
  { contactId, email }: MembershipItem,
): Promise<boolean> {
  if (await removeFromItem(deleted, keys.contact(deleted.orgId, deleted.siteId, email), contactId))
    return true;
  // The contact has changed its email address, or is gone.
  const pointer = await get<{ siteId: number; email?: string }>(
    keys.contactPointer(deleted.orgId, contactId),
  );
  // A merged contact has no email.
  const contact =
    pointer?.email !== undefined &&
    (await get<ContactItem>(keys.contact(deleted.orgId, pointer.siteId, pointer.email)));
  if (
    !contact ||
    contact.id !== contactId ||
    !contact[groupAttribute(deleted.kind)]?.has(deleted.group)
  )
    return true;
  return removeFromItem(deleted, contact, contactId);
}

const removeFromItem = (
  { kind, group }: DeletedGroup,
  { pk, sk }: Key,
  contactId: number,
): Promise<boolean> =>
  transact(
    update(
      { pk, sk },
      { deleteFromSet: { [groupAttribute(kind)]: new Set([group]) }, add: { v: 1 } },
      { if: all(equals("id", contactId), contains(groupAttribute(kind), group)) },
    ),
  );

async function deleteTombstone({ orgId, kind, group }: DeletedGroup): Promise<void> {
  const key = { kind, id: group };
  await writeMany(emailShards.map((shard) => remove(keys.groupCount(orgId, key, shard))));
  await write(remove(keys.deletedGroup(orgId, key)));
}
