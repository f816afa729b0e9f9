// One organization has very many due enrollments, another one has few.

import { afterEach, beforeAll, expect, test } from "vitest";
import { worker } from "../../functions/queue/advance.ts";
import { getMany, put, writeMany } from "../../shared/adapters/dynamodb/table.ts";
import { createItem } from "../../shared/domain/audience/contacts/contact-writes.ts";
import * as due from "../../shared/domain/automation/due-enrollments.ts";
import { maxAdvanceBatch } from "../../shared/domain/automation/enrollment-scheduling.ts";
import * as enrollment from "../../shared/domain/automation/enrollment-schema.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import { getDetail } from "../../shared/domain/automation/sequence-detail.ts";
import { indexes, keys } from "../../shared/keys.ts";
import { installFaultHooks, setFault, timeoutFault } from "../support/adapter-faults.ts";
import { newContact } from "../support/contacts.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
import {
  createContacts,
  createSequence,
  createSequenceSender,
  type SequenceSender,
  useVirtualQueues,
} from "../support/sequences.ts";
import { pendingMessages, toSqsRecord } from "../support/virtual-queues.ts";

beforeAll(async () => {
  await useVirtualQueues();
  installFaultHooks();
});
afterEach(removePauses);

const shard = 7;
const { pk } = indexes.dueEnrollments(shard);

/** Creates `n` enrollments in a sequence of delays, all due now and in one shard. */
async function createDueEnrollments(
  one: SequenceSender,
  n: number,
): Promise<enrollment.EnrollmentItem[]> {
  const { id: sequenceId } = await createSequence(one, [60, 60]);
  const contacts = [...Array(n).keys()].map((i) => {
    const id = 1_000_000 + i;
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
  const items = contacts.map((contact, i) => ({
    ...enrollment.newEnrollment(contact, { sequenceId, serial: i }),
    duepk: pk,
  }));
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
  const paging = pauseCall("Query", 6);
  const draining = due.drainShard(shard);
  await paging.reached;
  const [advancedOfMany, advancedOfFew] = [await countAdvanced(many), await countAdvanced(few)];
  expect(advancedOfMany + advancedOfFew).toBe(5 * maxAdvanceBatch);
  expect(advancedOfFew).toBeGreaterThan(0);
  paging.release();
  await draining;
  expect([await countAdvanced(many), await countAdvanced(few)]).toEqual([2000, 40]);
  for (const { provider } of [big, small]) await provider.stop();
});

test("one sequence that cannot be read does not hold back others of the same batch", async () => {
  const [broken, working] = [await createSequenceSender(), await createSequenceSender()];
  pendingMessages.splice(0);
  const enrolled: number[] = [];
  for (const one of [broken, working]) {
    const { id } = await createSequence(one, [60]);
    const [contactId = 0] = await createContacts(one, 1);
    await enrollments.enroll(one.caller, id, { contactIds: [contactId] });
    enrolled.push(id);
  }
  setFault("dynamodb", (call, passThrough) =>
    JSON.stringify(call.input).includes(keys.record(broken.orgId, "SEQUENCE", enrolled[0]!).pk)
      ? timeoutFault(call, passThrough)
      : passThrough(),
  );
  const messages = pendingMessages.filter(({ body }) => body.includes('"some"'));
  expect(messages).toHaveLength(2);
  const failed = await worker.run({ Records: messages.map(toSqsRecord) });
  setFault("dynamodb", undefined);
  expect(failed.map(({ messageId }) => messageId)).toEqual([messages[0]!.id]);
  const detail = await getDetail(working.caller, enrolled[1]!);
  expect(detail.steps[0]!.stats).toMatchObject({ reached: 1, waiting: 1 });
  for (const { provider } of [broken, working]) await provider.stop();
});

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
