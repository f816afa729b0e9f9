// Moves the enrollments of a contact that is merged into another one.
import { equals } from "../../adapters/dynamodb/conditions.ts";
import {
  get,
  getMany,
  put,
  remove,
  update,
  type Write,
  write,
} from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import * as ids from "../../ids.ts";
import { emailShards, keys, zeroPad } from "../../keys.ts";
import type { ContactItem } from "../audience/contacts/contact-schema.ts";
import { bumpVersion, unchangedCondition } from "../audience/contacts/contact-writes.ts";
import { membershipShardOf } from "../audience/groups/membership-writes.ts";
import { type ActivityItem, activityCopyWrite } from "../audience/tracking/activities.ts";
import { dueIndexAttributes } from "./enrollment-scheduling.ts";
import { type EnrollmentItem, logPrefix, maxSequencesPerContact } from "./enrollment-schema.ts";
import {
  toFinishedItem,
  transitionCountWrites,
  transitionToEnd,
  transitionWrites,
} from "./enrollment-transition.ts";

interface Pair {
  source: ContactItem;
  target: ContactItem;
}

/**
 * Moves one enrollment of the source to the target. If the target is in the same sequence, its own
 * enrollment goes on and the other one is cancelled. Throws `ConditionFailed` if one of the two
 * contacts or the enrollment has changed since it was read.
 */
export async function moveEnrollment({ source, target }: Pair, sequenceId: number): Promise<void> {
  const { orgId } = source;
  const place = { shard: membershipShardOf(source), contactId: source.id };
  const enrollment = await get<EnrollmentItem>(keys.enrollment(orgId, sequenceId, place));
  const sequences = new Set([sequenceId]);
  const isFull = (target.sequences?.size ?? 0) >= maxSequencesPerContact;
  const isMoved = enrollment && !isFull && !target.sequences?.has(sequenceId);
  await write(
    update(
      source,
      { deleteFromSet: { sequences }, set: bumpVersion(source) },
      { if: unchangedCondition(source) },
    ),
    update(
      target,
      { ...(isMoved && { add: { sequences } }), set: bumpVersion(target) },
      { if: unchangedCondition(target) },
    ),
    ...(await enrollmentWrites(enrollment, target, isMoved)),
  );
}

/** The enrollments of a deleted sequence may be gone already. */
async function enrollmentWrites(
  enrollment: EnrollmentItem | undefined,
  target: ContactItem,
  isMoved = false,
): Promise<Write[]> {
  if (!enrollment) return [];
  return isMoved ? moveWrites(enrollment, target) : cancelWrites(enrollment, target);
}

async function moveWrites(enrollment: EnrollmentItem, target: ContactItem): Promise<Write[]> {
  const { orgId, sequenceId, v, at } = enrollment;
  const home = membershipShardOf(target);
  const ref = { orgId, sequenceId, contactId: target.id };
  const moved: EnrollmentItem = {
    ...enrollment,
    ...keys.enrollment(orgId, sequenceId, { shard: home, contactId: target.id }),
    // The remainder of the id names the shard (see `shardOfId`).
    id: (await ids.nextEnrollmentIds(1)) * emailShards.length + emailShards.indexOf(home),
    contactId: target.id,
    email: target.sk,
    home,
    v: v + 1,
    ...(enrollment.held ? {} : dueIndexAttributes(ref, at)),
  };
  return [
    remove(enrollment, { if: equals("v", v) }),
    put(moved, moved, { ifAbsent: true }),
    ...(await eventCopyWrites(enrollment, target)),
  ];
}

// Each event takes a write of the transaction, which takes 100.
const maxEvents = 60;

/** Its steps may read these events before the log of the source has moved. */
async function eventCopyWrites(
  { orgId, contactId, startedBy, wokenBy, heard = new Set() }: EnrollmentItem,
  target: ContactItem,
): Promise<Write[]> {
  const named = new Set([startedBy ?? [], wokenBy ?? [], ...heard].flat());
  const found = await getMany<ActivityItem>(
    [...named].slice(0, maxEvents).map((sortKey) => keys.contactLog(orgId, contactId, sortKey)),
    { consistent: true },
  );
  return found.flatMap((entry) => (entry ? [activityCopyWrite(orgId, entry, target.id)] : []));
}

function cancelWrites(item: EnrollmentItem, target: ContactItem): Write[] {
  const enrollment = { ...item, contactId: target.id };
  const to = {
    status: "cancelled" as const,
    reason: "contact_merged",
    contact: undefined,
    at: now().toISOString(),
  };
  const transition = transitionToEnd(enrollment, to);
  const sortKey = `${logPrefix}${to.at}#${zeroPad(item.id)}`;
  return [
    ...transitionWrites(transition),
    ...transitionCountWrites([transition]),
    put(keys.contactLog(target.orgId, target.id, sortKey), toFinishedItem(enrollment, to)),
  ];
}
