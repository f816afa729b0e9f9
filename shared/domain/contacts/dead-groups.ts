// Lists and tags that were deleted. Nobody is shown one any more; whoever still carries its id is swept up in the background, however
// many they are. What is swept is gone from where it is looked for, so a sweep that dies is simply begun again.
import { after, now } from "../../clock.ts";
import { all, contains, equals, exists } from "../../conditions.ts";
import { enqueue } from "../../doors/queue.ts";
import { claim, get, put, query, queryAll, remove, update, type Write, write, writeMany } from "../../doors/table.ts";
import { dueShard, type GroupKind, keys, on, ranges, shards, shelves } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import { queues } from "../../queues.ts";
import { type ContactItem, groupSet } from "./contact.ts";

interface DeadGroup {
  orgId: number;
  siteId: number;
  kind: GroupKind;
  group: number;
  diedAt: string;
}

/** Who was about to join when it died has joined by then. */
const lastCallSeconds = 900;

/** To be written together with the removal of the group itself. */
export function dying(group: Omit<DeadGroup, "diedAt">): Write {
  const address = keys.deadGroup(group.orgId, group.kind, group.group);
  const place = on(shelves.due("GROUP", dueShard(group.group)), after(60).toISOString());
  return put(address, { ...group, diedAt: now().toISOString(), ...place });
}

export const sweepSoon = (orgId: number, kind: GroupKind, groupId: number): Promise<void> =>
  enqueue(queues.sweep, [{ orgId, kind, groupId }], { group: orgId });

/** Ids that contacts may still carry though their group is gone. */
export async function among(orgId: number, kind: GroupKind): Promise<Set<number>> {
  const found = await queryAll<DeadGroup>(ranges.deadGroups(orgId, kind), { consistent: true });
  return new Set(found.map(({ group }) => group));
}

/** Sweeps until all is done or its time is up; then another message goes on. */
export async function sweep(orgId: number, kind: GroupKind, groupId: number): Promise<void> {
  const address = keys.deadGroup(orgId, kind, groupId);
  const dead = await get<DeadGroup>(address);
  if (!dead) return;
  const until = after(queues.sweep.timeoutSeconds - 30);
  const [standing, ...others] = await Promise.all([
    // Ticks need not bring what is under way.
    claim(update(address, { set: { duesk: after(queues.sweep.timeoutSeconds * 2).toISOString() } }, { if: exists })),
    ...shards.map((shard) => sweepShard(dead, shard, until)),
  ]);
  if (!standing) return;
  if (!others.every(Boolean)) return sweepSoon(orgId, kind, groupId);
  const end = after(lastCallSeconds, new Date(dead.diedAt));
  if (now() >= end) await bury(dead);
  else await claim(update(address, { set: { duesk: end.toISOString() } }, { if: exists }));
}

const pageSize = 200;

/** Tells whether the collection is swept. */
async function sweepShard(dead: DeadGroup, shard: string, until: Date): Promise<boolean> {
  for (let next: string | undefined = ""; next !== undefined; ) {
    if (now() >= until) return false;
    const members: { items: Member[]; next?: string } = await query<Member>(ranges.members(dead.orgId, dead.kind, dead.group, shard), {
      limit: pageSize,
      after: next || undefined,
      consistent: true,
    });
    const forgotten = await inParallel(8, members.items, (member) => forget(dead, member));
    await writeMany(members.items.filter((_, i) => forgotten[i]).map((member) => remove(member)));
    next = members.next;
  }
  return true;
}

interface Member {
  pk: string;
  sk: string;
  contactId: number;
  email: string;
}

/** Tells whether the contact no longer carries the group. */
async function forget(dead: DeadGroup, { contactId, email }: Member): Promise<boolean> {
  if (await leave(dead, keys.contact(dead.orgId, dead.siteId, email), contactId)) return true;
  // It has another address by now, or is gone.
  const pointer = await get<{ siteId: number; email: string }>(keys.contactPointer(dead.orgId, contactId));
  const address = pointer && keys.contact(dead.orgId, pointer.siteId, pointer.email);
  const contact = address && (await get<ContactItem>(address));
  if (contact?.id !== contactId || !contact[groupSet(dead.kind)]?.has(dead.group)) return true;
  return leave(dead, address!, contactId);
}

const leave = ({ kind, group }: DeadGroup, address: { pk: string; sk: string }, contactId: number): Promise<boolean> =>
  claim(
    update(
      address,
      { leave: { [groupSet(kind)]: new Set([group]) }, add: { v: 1 } },
      { if: all(equals("id", contactId), contains(groupSet(kind), group)) },
    ),
  );

async function bury({ orgId, kind, group }: DeadGroup): Promise<void> {
  await writeMany(shards.map((shard) => remove(keys.groupCount(orgId, kind, group, shard))));
  await write(remove(keys.deadGroup(orgId, kind, group)));
}
