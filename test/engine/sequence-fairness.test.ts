// One organization has very many due enrollments, another one has few.

import { afterEach, beforeAll, expect, test } from "vitest";
import { QueryCommand, TransactWriteCommand } from "../../shared/adapters/dynamodb/commands.ts";
import { getMany, put, writeMany } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { createItem } from "../../shared/domain/audience/contacts/contact-writes.ts";
import {
  assignCohorts,
  dueIndexAttributes,
  maxAdvanceBatch,
} from "../../shared/domain/automation/cohorts.ts";
import * as due from "../../shared/domain/automation/due-enrollments.ts";
import * as enrollment from "../../shared/domain/automation/enrollment-schema.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import { splitIntoBatches } from "../../shared/kernel/parallel.ts";
import { indexes } from "../../shared/keys.ts";
import { newContact } from "../support/contacts.ts";
import { pauseCall, restoreClient } from "../support/pause-dynamodb-call.ts";
import {
  createContacts,
  createSequence,
  createSequenceSender,
  type SequenceSender,
  useVirtualQueues,
} from "../support/sequences.ts";
import { pendingMessages } from "../support/virtual-queues.ts";

beforeAll(useVirtualQueues);
afterEach(restoreClient);

const shard = 7;
const { pk } = indexes.dueEnrollments(shard);

/**
 * Creates `n` enrollments in a sequence of delays, all due now and in one shard of the due index,
 * as if 64 times as many were due.
 */
async function createDueEnrollments(
  one: SequenceSender,
  n: number,
): Promise<enrollment.EnrollmentItem[]> {
  const { id: sequenceId } = await createSequence(one, [60, 60]);
  const at = clock.now().toISOString();
  const ids: number[] = [];
  for (let id = 1_000_000; ids.length < n; id++)
    if (dueIndexAttributes({ orgId: one.orgId, sequenceId, contactId: id }, at).duepk === pk)
      ids.push(id);
  const contacts = ids.map((id) => {
    const { siteId: _, tags: __, lists: ___, ...fields } = newContact(`p${id}@example.com`);
    const item = createItem(fields, {
      orgId: one.orgId,
      siteId: one.siteId,
      id,
      tags: [],
      lists: [],
      suppressed: false,
    });
    return { ...item, sequences: new Set([sequenceId]) };
  });
  const items = contacts.map((contact, i) =>
    enrollment.newEnrollment(contact, { sequenceId, serial: i }),
  );
  await writeMany([...contacts, ...items].map((item) => put(item, item)));
  return items;
}

const countAdvanced = async (items: enrollment.EnrollmentItem[]): Promise<number> =>
  (await getMany<enrollment.EnrollmentItem>(items, { consistent: true })).filter(
    (item) => item!.v > 1,
  ).length;

test("enrollments of two organizations advance alternately, though one has 2,000", async () => {
  const [big, small] = [await createSequenceSender(), await createSequenceSender()];
  const [many, few] = [
    await createDueEnrollments(big, 2000),
    await createDueEnrollments(small, 40),
  ];
  // At the sixth page, a fifth of the enrollments has advanced.
  const paging = pauseCall(QueryCommand, 6);
  const draining = due.drainShard(shard);
  await paging.reached;
  const [advancedOfMany, advancedOfFew] = [await countAdvanced(many), await countAdvanced(few)];
  expect(advancedOfMany + advancedOfFew).toBe(5 * maxAdvanceBatch);
  expect(advancedOfFew).toBeGreaterThan(0);
  paging.release();
  await draining;
  expect([await countAdvanced(many), await countAdvanced(few)]).toEqual([2000, 40]);
  for (const { provider } of [big, small]) await provider.stop();
}, 120_000);

/** Puts the enrollments into cohorts of three. `place` orders them within their minute. */
async function putIntoCohorts(items: enrollment.EnrollmentItem[], place: string): Promise<void> {
  const cohorts = splitIntoBatches(items, 3).map((three) => {
    const cohort = assignCohorts(three.map((item) => ({ item, at: item.at }))).get(three[0]!)!;
    return { ...cohort, duepk: pk, duesk: `${three[0]!.at.slice(0, 17)}00.000Z#${place}` };
  });
  const unlisted = items.map(
    ({
      duepk: _,
      duesk: __,
      ...item
    }: enrollment.EnrollmentItem & { duepk?: string; duesk?: string }) => item,
  );
  await writeMany([...cohorts, ...unlisted].map((item) => put(item, item)));
}

test("a cohort of one organization does not wait for the many of another", async () => {
  const [big, small] = [await createSequenceSender(), await createSequenceSender()];
  const [many, few] = [await createDueEnrollments(big, 90), await createDueEnrollments(small, 3)];
  await putIntoCohorts(many, "0000");
  await putIntoCohorts(few, "ffff");
  const moving = pauseCall(TransactWriteCommand, 3);
  const draining = due.drainShard(shard);
  await moving.reached;
  expect([(await countAdvanced(many)) < 90, await countAdvanced(few)]).toEqual([true, 3]);
  moving.release();
  await draining;
  expect([await countAdvanced(many), await countAdvanced(few)]).toEqual([90, 3]);
  for (const { provider } of [big, small]) await provider.stop();
}, 120_000);

test("enrollments by hand advance through messages of the organization's own group", async () => {
  const one = await createSequenceSender();
  const { id } = await createSequence(one, [60]);
  pendingMessages.splice(0);
  await enrollments.enroll(one.caller, id, { contactIds: await createContacts(one, 2) });
  expect(
    pendingMessages.filter(({ queue }) => queue.includes("advance")).map(({ groupId }) => groupId),
  ).toEqual([String(one.orgId)]);
  await one.provider.stop();
});
