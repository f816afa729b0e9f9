// Who belongs to which lists and tags: an item for each membership, the set on the contact, and the group's count move together.
import { now } from "../../clock.ts";
import { all, type Condition, contains, equals, not } from "../../conditions.ts";
import { put, remove, update, type Write } from "../../doors/table.ts";
import { emailShard, type GroupKind, keys } from "../../keys.ts";
import { type Begun, nothing } from "../sequences/begun.ts";
import { type ContactItem, groupSet } from "./contact.ts";

export interface Membership {
  kind: GroupKind;
  group: number;
}

type Member = Pick<ContactItem, "orgId" | "sk" | "id" | "home">;

/** The collection in which a contact's memberships are kept and counted: that of its first address, whatever it changes to. */
export const homeOf = ({ home, sk }: Pick<ContactItem, "home" | "sk">): string => home ?? emailShard(sk);

const addressOf = (kind: GroupKind, group: number, member: Member) => keys.membership(member.orgId, kind, group, homeOf(member), member.id);
/** Without the counters. The address is a hint: who has changed it since is found by the id. */
export const entering = (member: Member, memberships: Membership[]): Write[] =>
  memberships.map(({ kind, group }) => put(addressOf(kind, group, member), { contactId: member.id, email: member.sk }));

/** The opposite of `entering`. */
export const withdrawing = (member: Member, memberships: Membership[]): Write[] =>
  memberships.map(({ kind, group }) => remove(addressOf(kind, group, member)));

/** A contact joins groups; to be written together with the contact's own sets. */
export const joining = (member: Member, memberships: Membership[]): Write[] => [
  ...entering(member, memberships),
  ...memberships.map(({ kind, group }) => counted(member.orgId, kind, group, homeOf(member), 1)),
];

export const parting = (member: Member, memberships: Membership[]): Write[] =>
  memberships.flatMap(({ kind, group }) => [
    remove(addressOf(kind, group, member)),
    counted(member.orgId, kind, group, homeOf(member), -1),
  ]);

export const counted = (orgId: number, kind: GroupKind, group: number, home: string, by: number): Write =>
  update(keys.groupCount(orgId, kind, group, home), { add: { count: by } });

/**
 * Contacts join a group, all or none of them, as long as each is the one that was read and no member yet. Two writes for each, one
 * more for every home they have. Each gets the points for it, and enters the sequences that it begins; their writes are made beside.
 */
export const adding = (kind: GroupKind, group: number, contacts: ContactItem[], points?: number, begun: Begun = nothing): Write[] => [
  ...contacts.map((contact) => {
    const { add, conditions } = begun.of(contact);
    return update(
      contact,
      { add: { [groupSet(kind)]: new Set([group]), v: 1, ...(points && { score: points }), ...add }, set: { updatedAt: stamp(contact) } },
      { if: all(outside(kind, group, contact), ...conditions) },
    );
  }),
  ...contacts.flatMap((contact) => entering(contact, [{ kind, group }])),
  ...counting(kind, group, contacts, 1),
];

export const dropping = (kind: GroupKind, group: number, contacts: ContactItem[]): Write[] => [
  ...contacts.map((contact) =>
    update(
      contact,
      { leave: { [groupSet(kind)]: new Set([group]) }, add: { v: 1 }, set: { updatedAt: stamp(contact) } },
      { if: inside(kind, group, contact) },
    ),
  ),
  ...contacts.map((contact) => remove(addressOf(kind, group, contact))),
  ...counting(kind, group, contacts, -1),
];

const inside = (kind: GroupKind, group: number, { id }: ContactItem): Condition => all(equals("id", id), contains(groupSet(kind), group));
const outside = (kind: GroupKind, group: number, { id }: ContactItem): Condition =>
  all(equals("id", id), not(contains(groupSet(kind), group)));
const stamp = ({ updatedAt }: ContactItem): string => [updatedAt, now().toISOString()].sort().at(-1)!;

const counting = (kind: GroupKind, group: number, contacts: ContactItem[], by: 1 | -1): Write[] =>
  [...Map.groupBy(contacts, homeOf)].map(([home, some]) => counted(some[0]!.orgId, kind, group, home, by * some.length));
