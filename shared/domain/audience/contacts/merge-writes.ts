// Writes of a merge. One transaction removes the source, changes the target and stores the job that
// moves the history, so at no time does a person count twice or not at all.
import { any, equals, exists, isNew } from "../../../adapters/dynamodb/conditions.ts";
import {
  checkCondition,
  getMany,
  put,
  remove,
  update,
  type Write,
  write,
} from "../../../adapters/dynamodb/table.ts";
import { type Key, keys } from "../../../keys.ts";
import {
  groupCountWrite,
  type Membership,
  type MembershipItem,
  membershipKey,
  membershipShardOf,
} from "../groups/membership-writes.ts";
import { removedTopicChanges, topicCountWrites } from "../topics/topic-counts.ts";
import type { Combination, Pair } from "./combine-contacts.ts";
import { commitContactChanges } from "./contact-events.ts";
import { type ContactItem, groupAttribute } from "./contact-schema.ts";
import {
  bumpVersion,
  contactCountWrite,
  membershipsOf,
  unchangedCondition,
} from "./contact-writes.ts";

// A transaction takes 100 writes: 5 for each group, and up to 20 for all else.
export const maxGroupsPerMerge = 16;

/** Moves memberships of the source, when it has more than the transaction of the merge can take. */
export async function moveSurplusGroups({ source, target }: Pair): Promise<void> {
  const moved = membershipsOf(source).slice(0, maxGroupsPerMerge);
  const { writes, joined } = await moveGroups({ source, target }, moved);
  await write(
    update(
      source,
      { deleteFromSet: toSets(moved), set: bumpVersion(source) },
      { if: unchangedCondition(source) },
    ),
    update(
      target,
      { add: toSets(joined), set: bumpVersion(target) },
      { if: unchangedCondition(target) },
    ),
    ...writes,
  );
}

const toSets = (memberships: Membership[]): Record<string, Set<number>> =>
  Object.fromEntries(
    [...Map.groupBy(memberships, ({ kind }) => groupAttribute(kind))].map(([attribute, some]) => [
      attribute,
      new Set(some.map(({ group }) => group)),
    ]),
  );

interface MovedGroups {
  writes: Write[];
  /** Those that the target was not in. */
  joined: Membership[];
}

/** The target joins when the source did. A group that is being deleted is only left. */
async function moveGroups({ source, target }: Pair, moved: Membership[]): Promise<MovedGroups> {
  const [items, records] = await Promise.all([
    getMany<MembershipItem>(
      moved.map((membership) => membershipKey(membership, source)),
      { consistent: true },
    ),
    getMany<Key>(
      moved.map(({ kind, group }) => keys.record(source.orgId, kind, group)),
      { consistent: true },
    ),
  ]);
  const { orgId } = source;
  const [from, to] = [source, target].map((one) => ({ orgId, shard: membershipShardOf(one) }));
  const joined = moved.filter(
    ({ kind, group }, i) => records[i] && !target[groupAttribute(kind)]?.has(group),
  );
  const writes = moved.flatMap((membership, i) => {
    const joins = joined.includes(membership);
    const staysCounted = joins && from!.shard === to!.shard;
    return [
      remove(membershipKey(membership, source)),
      ...(records[i] && !staysCounted ? [groupCountWrite(membership, from!, -1)] : []),
      ...(joins
        ? [
            checkCondition(keys.record(orgId, membership.kind, membership.group), exists),
            put(membershipKey(membership, target), {
              ...items[i],
              ...membershipKey(membership, target),
              contactId: target.id,
              email: target.sk,
            }),
          ]
        : []),
      ...(joins && !staysCounted ? [groupCountWrite(membership, to!, 1)] : []),
    ];
  });
  return { writes, joined };
}

/**
 * Merges a source that is in no sequence and in few groups. `jobWrite` stores the job that moves
 * its history. Throws `ConditionFailed` if one of the two has changed since it was read.
 */
export async function commitMerge(
  { source, target }: Pair,
  { next, topics, consentWrites }: Combination,
  { jobWrite, date }: { jobWrite: Write; date: string },
): Promise<void> {
  const { writes: groupWrites, joined } = await moveGroups(
    { source, target },
    membershipsOf(source),
  );
  const after: ContactItem = { ...next, ...unite(target, toSets(joined)) };
  const transitions = [
    { before: source, mergedInto: target.id },
    { before: target, after },
  ];
  await commitContactChanges(source.orgId, { transitions, isQuiet: true }, (extraWrites) =>
    write(
      remove(source, { if: unchangedCondition(source) }),
      put(target, after, { if: unchangedCondition(target) }),
      put(keys.contactPointer(source.orgId, source.id), {
        siteId: source.siteId,
        mergedInto: target.id,
      }),
      contactCountWrite(source, -1, date),
      ...mergedTopicCountWrites({ source, target }, topics, date),
      ...mergedExternalIdWrites(source, after),
      ...groupWrites,
      ...consentWrites,
      jobWrite,
      ...extraWrites,
    ),
  );
}

const unite = (target: ContactItem, sets: Record<string, Set<number>>): object =>
  Object.fromEntries(
    Object.entries(sets).map(([attribute, ids]) => [
      attribute,
      ids.union(target[attribute as "tags" | "lists"] ?? new Set<number>()),
    ]),
  );

/** One write for both if they have the same counters, because a transaction writes an item once. */
function mergedTopicCountWrites(
  { source, target }: Pair,
  { changes }: Combination["topics"],
  date: string,
): Write[] {
  const removed = removedTopicChanges(source);
  if (membershipShardOf(source) === membershipShardOf(target))
    return topicCountWrites(target, [...removed, ...changes], date);
  return [...topicCountWrites(source, removed, date), ...topicCountWrites(target, changes, date)];
}

/** The target takes the external id of the source if it has none. Otherwise the id is free. */
function mergedExternalIdWrites(source: ContactItem, after: ContactItem): Write[] {
  const { orgId, siteId, id, externalId } = source;
  if (!externalId) return [];
  const key = keys.externalId(orgId, siteId, externalId);
  const isHeld = { if: any(isNew, equals("contactId", id)) };
  return externalId === after.externalId
    ? [put(key, { contactId: after.id }, isHeld)]
    : [remove(key, isHeld)];
}
