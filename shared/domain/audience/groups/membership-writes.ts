// Writes of memberships. An item for each membership, the set on the contact and the count of the
// group always change together.

import {
  all,
  type Condition,
  contains,
  equals,
  not,
} from "../../../adapters/dynamodb/conditions.ts";
import { put, remove, update, type Write } from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import { emailShardOf, type GroupKind, keys } from "../../../keys.ts";
import { type ContactItem, groupAttribute } from "../contacts/contact-schema.ts";
import { noReaction, type ReactionWrites } from "../contacts/reactions.ts";

export interface Membership {
  kind: GroupKind;
  group: number;
}

type MemberRef = Pick<ContactItem, "orgId" | "sk" | "id" | "home">;

/**
 * The shard of a contact's memberships and enrollments: that of its first email address. It stays
 * when the email changes.
 */
export const membershipShardOf = ({ home: shard, sk }: Pick<ContactItem, "home" | "sk">): string =>
  shard ?? emailShardOf(sk);

export const membershipKey = ({ kind, group }: Membership, member: MemberRef) =>
  keys.membership(
    member.orgId,
    { kind, id: group },
    { shard: membershipShardOf(member), contactId: member.id },
  );

export interface MembershipItem {
  contactId: number;
  /** A hint: after a change of the email, the contact is found by id. */
  email: string;
  /** When the contact joined (ISO 8601). */
  at: string;
}

/** Without the counters. */
export const membershipItemWrites = (member: MemberRef, memberships: Membership[]): Write[] =>
  memberships.map((membership) => {
    const at = now().toISOString();
    const item: MembershipItem = { contactId: member.id, email: member.sk, at };
    return put(membershipKey(membership, member), { ...item });
  });

export const membershipRemovalWrites = (member: MemberRef, memberships: Membership[]): Write[] =>
  memberships.map((membership) => remove(membershipKey(membership, member)));

/** For the transaction that changes the sets on the contact. */
export const joinGroupsWrites = (member: MemberRef, memberships: Membership[]): Write[] => [
  ...membershipItemWrites(member, memberships),
  ...memberships.map((membership) => groupCountWrite(membership, shardOf(member), 1)),
];

export const leaveGroupsWrites = (member: MemberRef, memberships: Membership[]): Write[] =>
  memberships.flatMap((membership) => [
    remove(membershipKey(membership, member)),
    groupCountWrite(membership, shardOf(member), -1),
  ]);

const shardOf = (member: MemberRef): GroupShard => ({
  orgId: member.orgId,
  shard: membershipShardOf(member),
});

/** The part of a group's count that one shard of an organization's contacts has. */
interface GroupShard {
  orgId: number;
  shard: string;
}

export const groupCountWrite = (
  { kind, group }: Membership,
  { orgId, shard }: GroupShard,
  by: number,
): Write => update(keys.groupCount(orgId, { kind, id: group }, shard), { add: { count: by } });

/**
 * Adds contacts to a group and changes their scores. Fails when a contact is a member already or
 * was deleted. Two writes for each contact and one for each shard. The caller adds
 * `reaction.writes` to the transaction.
 */
export const addMembersWrites = (
  membership: Membership,
  contacts: ContactItem[],
  { points, reaction = noReaction }: { points?: number; reaction?: ReactionWrites } = {},
): Write[] => [
  ...contacts.map((contact) => {
    const { add, conditions } = reaction.forContact(contact);
    return update(
      contact,
      {
        add: {
          [groupAttribute(membership.kind)]: new Set([membership.group]),
          v: 1,
          ...(points && { score: points }),
          ...add,
        },
        set: { updatedAt: latestUpdatedAt(contact) },
      },
      { if: all(notMemberCondition(membership, contact), ...conditions) },
    );
  }),
  ...contacts.flatMap((contact) => membershipItemWrites(contact, [membership])),
  ...groupCountWrites(membership, contacts, 1),
];

export const removeMembersWrites = (membership: Membership, contacts: ContactItem[]): Write[] => [
  ...contacts.map((contact) =>
    update(
      contact,
      {
        deleteFromSet: { [groupAttribute(membership.kind)]: new Set([membership.group]) },
        add: { v: 1 },
        set: { updatedAt: latestUpdatedAt(contact) },
      },
      { if: isMemberCondition(membership, contact) },
    ),
  ),
  ...contacts.map((contact) => remove(membershipKey(membership, contact))),
  ...groupCountWrites(membership, contacts, -1),
];

const isMemberCondition = ({ kind, group }: Membership, { id }: ContactItem): Condition =>
  all(equals("id", id), contains(groupAttribute(kind), group));
const notMemberCondition = ({ kind, group }: Membership, { id }: ContactItem): Condition =>
  all(equals("id", id), not(contains(groupAttribute(kind), group)));
const latestUpdatedAt = ({ updatedAt }: ContactItem): string =>
  [updatedAt, now().toISOString()].sort().at(-1)!;

const groupCountWrites = (membership: Membership, contacts: ContactItem[], by: 1 | -1): Write[] =>
  [...Map.groupBy(contacts, membershipShardOf).values()].map((shardContacts) =>
    groupCountWrite(membership, shardOf(shardContacts[0]!), by * shardContacts.length),
  );
