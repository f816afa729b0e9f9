// Very many who fall due at once, of one organization, beside few of another.
import { QueryCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeAll, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import { newItem } from "../../shared/domain/contacts/items.ts";
import * as due from "../../shared/domain/sequences/due.ts";
import * as enrollment from "../../shared/domain/sequences/enrollment.ts";
import * as enrollments from "../../shared/domain/sequences/enrollments.ts";
import { cohortsOf, dueAt, mostTogether } from "../../shared/domain/sequences/waiting.ts";
import { getMany, put, writeMany } from "../../shared/doors/table.ts";
import { shelves } from "../../shared/keys.ts";
import { chunked } from "../../shared/parallel.ts";
import { person } from "../support/audience.ts";
import { heldUp, letGo } from "../support/held-up.ts";
import { opened, people, type Shop, sequence, shop } from "../support/travellers.ts";
import { waiting } from "../support/virtual-queues.ts";

beforeAll(opened);
afterEach(letGo);

const shard = 7;
const { pk } = shelves.dueEnrollments(shard);

/** `n` people in a sequence of waits, all due now and all in one shard: as if 64 times as many were due. */
async function crowdedIn(one: Shop, n: number): Promise<enrollment.EnrollmentItem[]> {
  const { id: sequenceId } = await sequence(one, [60, 60]);
  const at = clock.now().toISOString();
  const ids: number[] = [];
  for (let id = 1_000_000; ids.length < n; id++) if (dueAt({ orgId: one.orgId, sequenceId, contactId: id }, at).duepk === pk) ids.push(id);
  const contacts = ids.map((id) => {
    const { siteId: _, tags: __, lists: ___, ...fields } = person(`p${id}@example.com`);
    const item = newItem(fields, { orgId: one.orgId, siteId: one.siteId, id, tags: [], lists: [], suppressed: false });
    return { ...item, sequences: new Set([sequenceId]) };
  });
  const items = contacts.map((contact, i) => enrollment.begun(contact, sequenceId, i));
  await writeMany([...contacts, ...items].map((item) => put(item, item)));
  return items;
}

const moved = async (items: enrollment.EnrollmentItem[]): Promise<number> =>
  (await getMany<enrollment.EnrollmentItem>(items, { consistent: true })).filter((item) => item!.v > 1).length;

test("2,000 of one organization and a few of another: they go on among each other, not one after the other", async () => {
  const [big, small] = [await shop(), await shop()];
  const [many, few] = [await crowdedIn(big, 2000), await crowdedIn(small, 40)];
  // The sixth page: a fifth is done.
  const paging = heldUp(QueryCommand, 6);
  const draining = due.drain(shard);
  await paging.reached;
  const [ofMany, ofFew] = [await moved(many), await moved(few)];
  expect(ofMany + ofFew).toBe(5 * mostTogether);
  expect(ofFew).toBeGreaterThan(0);
  paging.release();
  await draining;
  expect([await moved(many), await moved(few)]).toEqual([2000, 40]);
  for (const { provider } of [big, small]) await provider.stop();
}, 120_000);

/** The same people, by threes in cohorts; `place`: among those of the minute. */
async function asCohorts(items: enrollment.EnrollmentItem[], place: string): Promise<void> {
  const cohorts = chunked(items, 3).map((three) => {
    const cohort = cohortsOf(three.map((item) => ({ item, at: item.at }))).get(three[0]!)!;
    return { ...cohort, duepk: pk, duesk: `${three[0]!.at.slice(0, 17)}00.000Z#${place}` };
  });
  const unlisted = items.map(({ duepk: _, duesk: __, ...item }: enrollment.EnrollmentItem & { duepk?: string; duesk?: string }) => item);
  await writeMany([...cohorts, ...unlisted].map((item) => put(item, item)));
}

test("a cohort of one organization does not wait until the many of another are through", async () => {
  const [big, small] = [await shop(), await shop()];
  const [many, few] = [await crowdedIn(big, 90), await crowdedIn(small, 3)];
  await asCohorts(many, "0000");
  await asCohorts(few, "ffff");
  const moving = heldUp(TransactWriteCommand, 3);
  const draining = due.drain(shard);
  await moving.reached;
  expect([(await moved(many)) < 90, await moved(few)]).toEqual([true, 3]);
  moving.release();
  await draining;
  expect([await moved(many), await moved(few)]).toEqual([90, 3]);
  for (const { provider } of [big, small]) await provider.stop();
}, 120_000);

test("who is enrolled by hand is brought on by messages of the organization's own group", async () => {
  const one = await shop();
  const { id } = await sequence(one, [60]);
  waiting.splice(0);
  await enrollments.enroll(one.caller, id, await people(one, 2));
  expect(waiting.filter(({ queue }) => queue.includes("advance")).map(({ group }) => group)).toEqual([String(one.orgId)]);
  await one.provider.stop();
});
