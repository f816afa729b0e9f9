// Builds contact items and their writes.

import { all, type Condition, equals } from "../../../adapters/dynamodb/conditions.ts";
import { put, remove, update, type Write } from "../../../adapters/dynamodb/table.ts";
import { epochSeconds, now } from "../../../clock.ts";
import { invalid, type Problem } from "../../../errors.ts";
import { normalizeEmail } from "../../../kernel/email-fields.ts";
import { validationMessages } from "../../../kernel/validation-messages.ts";
import { emailShardOf, indexAttributes, indexes, type Key, keys, zeroPad } from "../../../keys.ts";
import * as membershipWrites from "../groups/membership-writes.ts";
import { removedTopicCountWrites } from "../topics/topic-counts.ts";
import type { StoredChoices } from "../topics/topic-subscription.ts";
import { growthChanges } from "./contact-growth.ts";
import {
  type ContactChanges,
  type ContactItem,
  groupAttribute,
  type NewContact,
} from "./contact-schema.ts";
import { searchAttributes } from "./contact-search-text.ts";
import { CustomFields } from "./custom-fields.ts";
import { externalIdTaken, externalIdWrites } from "./external-ids.ts";

export type NewContactFields = Omit<
  NewContact,
  "siteId" | "tags" | "lists" | "topics" | "sendConfirmation"
>;

export interface NewContactContext {
  orgId: number;
  siteId: number;
  id: number;
  /** Ids of tags and lists. */
  tags: number[];
  lists: number[];
  choices?: StoredChoices;
  /** The email address is suppressed: the status takes effect when the suppression is removed. */
  suppressed: boolean;
}

export function createItem(
  { status = "subscribed", ...fields }: NewContactFields,
  { orgId, siteId, id, tags, lists, choices, suppressed }: NewContactContext,
): ContactItem {
  const at = now().toISOString();
  const nonEmpty = withoutEmpty(fields) as Pick<ContactItem, "email">;
  return withIndexAttributes({
    ...keys.contact(orgId, siteId, normalizeEmail(fields.email)),
    orgId,
    siteId,
    id,
    ...nonEmpty,
    status: suppressed ? "suppressed" : status,
    ...(suppressed && { unsuppressed: status }),
    ...(tags.length && { tags: new Set(tags) }),
    ...(lists.length && { lists: new Set(lists) }),
    ...choices,
    ...searchAttributes(nonEmpty),
    customEvents: 0,
    v: 1,
    createdAt: at,
    updatedAt: at,
  });
}

const withoutEmpty = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );

const withIndexAttributes = (item: ContactItem): ContactItem => ({
  ...item,
  ...indexAttributes(
    indexes.newContacts(item.orgId, item.siteId, emailShardOf(item.sk)),
    `${item.createdAt}#${zeroPad(item.id)}`,
  ),
});

/**
 * The contact after a change. Null clears a field; custom fields change one by one. On a suppressed
 * contact, a new status takes effect when the suppression is removed. Throws 400 for more than 100
 * custom fields.
 */
export function applyChanges(
  current: ContactItem,
  { status, customFields, ...changes }: Omit<ContactChanges, "topics">,
): ContactItem {
  const definedChanges = Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== undefined),
  );
  const nonEmpty = withoutEmpty({
    ...current,
    ...definedChanges,
    customFields: mergeCustomFields(current.customFields, customFields),
  }) as ContactItem;
  const key = keys.contact(current.orgId, current.siteId, normalizeEmail(nonEmpty.email));
  const statusFields =
    current.status === "suppressed"
      ? { unsuppressed: status ?? current.unsuppressed ?? "subscribed" }
      : { status: status ?? current.status };
  const next = {
    ...nonEmpty,
    ...key,
    ...statusFields,
    ...searchAttributes(nonEmpty),
    ...bumpVersion(current),
  };
  return next.sk === current.sk
    ? next
    : withIndexAttributes({
        ...next,
        home: membershipWrites.membershipShardOf(current),
        ...emailChangeMarks(current, next.updatedAt),
      });
}

function mergeCustomFields(
  current: ContactItem["customFields"],
  changes: ContactChanges["customFields"],
): ContactItem["customFields"] | null {
  if (changes === undefined || changes === null) return changes === null ? null : current;
  const removed = new Set(Object.keys(changes).filter((key) => changes[key] === null));
  // A field whose name differs only in letter case is replaced.
  const changedNames = new Set(Object.keys(changes).map((key) => key.toLowerCase()));
  const kept = Object.entries(current ?? {}).filter(
    ([key]) => key in changes || !changedNames.has(key.toLowerCase()),
  );
  const fields = Object.fromEntries(
    Object.entries({ ...Object.fromEntries(kept), ...changes }).filter(
      ([key]) => !removed.has(key),
    ),
  );
  const { error } = CustomFields.safeParse(fields, { error: validationMessages });
  const message = error?.issues[0]?.message;
  if (message)
    throw invalid(`customFields ${message}`, { details: [{ path: "customFields", message }] });
  return fields;
}

/** The key on which all writers of a contact take turns (see kernel/retry-on-conflict.ts). */
export const lineOf = (orgId: number, id: number): string => `contact ${orgId} ${id}`;

/** For every write of a contact: a concurrent write that compares them fails. */
export const bumpVersion = ({
  updatedAt,
  v,
}: ContactItem): Pick<ContactItem, "updatedAt" | "v"> => ({
  updatedAt: [updatedAt, now().toISOString()].sort().at(-1)!,
  v: v + 1,
});

export const unchangedCondition = ({ id, updatedAt, v }: ContactItem): Condition =>
  all(equals("id", id), equals("updatedAt", updatedAt), equals("v", v));

export const membershipsOf = ({
  tags,
  lists,
}: Pick<ContactItem, "tags" | "lists">): membershipWrites.Membership[] => [
  ...[...(tags ?? [])].map((group) => ({ kind: "TAG" as const, group })),
  ...[...(lists ?? [])].map((group) => ({ kind: "LIST" as const, group })),
];

const countKey = ({ orgId, siteId, sk }: ContactItem): Key =>
  keys.contactCount(orgId, siteId, emailShardOf(sk));

/** Changes the number of contacts on `date`, a day of the organization. */
export const contactCountWrite = (contact: ContactItem, by: number, date: string): Write =>
  update(countKey(contact), growthChanges(date, by));

const shardCountWrite = (contact: ContactItem, by: number): Write =>
  update(countKey(contact), { add: { count: by } });

/**
 * The contact with its count and memberships. Write the pointer before. `date`: the day of the
 * organization.
 */
export const insertWrites = (item: ContactItem, date: string): Write[] => [
  put(item, item, { ifAbsent: true }),
  contactCountWrite(item, 1, date),
  ...membershipWrites.joinGroupsWrites(item, membershipsOf(item)),
  ...externalIdWrites(undefined, item, externalIdTaken()),
];

export const pointerWrite = ({ orgId, siteId, id, sk }: ContactItem): Write =>
  put(keys.contactPointer(orgId, id), { siteId, email: sk });

/** Replaces the contact. A new email address moves it to another key, which must be free. */
export const changeWrites = (
  current: ContactItem,
  next: ContactItem,
  takenProblem: Problem,
): Write[] => [
  ...(next.sk === current.sk
    ? [put(current, next, { if: unchangedCondition(current) })]
    : [
        remove(current, { if: unchangedCondition(current) }),
        put(next, next, { ifAbsent: takenProblem }),
        pointerWrite(next),
        emailChangeWrite(next),
        ...(emailShardOf(current.sk) === emailShardOf(next.sk)
          ? []
          : [shardCountWrite(current, -1), shardCountWrite(next, 1)]),
      ]),
  ...externalIdWrites(current, next, externalIdTaken()),
];

/** Records a change of the email, for jobs that read all contacts in email order at that time. */
export interface EmailChange {
  id: number;
  at: string;
}
// Longer than a campaign may be paused.
const emailChangeTtlSeconds = 90 * 24 * 3600;
const maxPreviousShards = 16;

const emailChangeMarks = (
  { sk, movedFrom = [] }: ContactItem,
  at: string,
): Pick<ContactItem, "movedAt" | "movedFrom"> => ({
  movedAt: at,
  movedFrom: [...new Set([...movedFrom, emailShardOf(sk)])].slice(-maxPreviousShards),
});

const emailChangeWrite = ({ orgId, siteId, id, movedAt: at = "" }: ContactItem): Write =>
  put(keys.emailChange(orgId, siteId, `${at}#${zeroPad(id)}`), {
    id,
    at,
    expires: epochSeconds() + emailChangeTtlSeconds,
  });

/**
 * Removes the contact. Its memberships must fit into the transaction. `date`: the day of the
 * organization.
 */
export const removeWrites = (current: ContactItem, date: string): Write[] => [
  remove(current, { if: unchangedCondition(current) }),
  remove(keys.contactPointer(current.orgId, current.id)),
  ...externalIdWrites(current, undefined),
  contactCountWrite(current, -1, date),
  ...removedTopicCountWrites(current),
  ...membershipWrites.leaveGroupsWrites(current, membershipsOf(current)),
];

export const leaveGroupsWrites = (
  current: ContactItem,
  leaving: membershipWrites.Membership[],
): Write[] => {
  const deleteFromSet = Object.fromEntries(
    [...Map.groupBy(leaving, ({ kind }) => groupAttribute(kind))].map(([attribute, groups]) => [
      attribute,
      new Set(groups.map(({ group }) => group)),
    ]),
  );
  return [
    update(
      current,
      { deleteFromSet, set: bumpVersion(current) },
      { if: unchangedCondition(current) },
    ),
    ...membershipWrites.leaveGroupsWrites(current, leaving),
  ];
};
