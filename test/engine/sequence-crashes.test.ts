// Whoever dies at whatever step, and however often a message comes: each step is done once, and the
// books balance.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { TransactWriteCommand, UpdateCommand } from "../../shared/adapters/dynamodb/commands.ts";
import { put, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { ContactRow } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { upsert } from "../../shared/domain/audience/contacts/upserts.ts";
import * as members from "../../shared/domain/audience/groups/group-members.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import * as scores from "../../shared/domain/audience/scoring/lead-scores.ts";
import { applyTag } from "../../shared/domain/audience/scoring/scoring.ts";
import * as activities from "../../shared/domain/audience/tracking/activities.ts";
import { advanceEnrollments as bringOn } from "../../shared/domain/automation/advance.ts";
import { memberKeys } from "../../shared/domain/automation/cohorts.ts";
import { advanceCohorts } from "../../shared/domain/automation/due-enrollments.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import * as stepsOf from "../../shared/domain/automation/steps.ts";
import * as sources from "../../shared/domain/sending/mail-sources.ts";
import { nextActivityId } from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import { crashAtSomeSteps, pausedAtSomeSteps } from "../support/crash-injection.ts";
import { everything } from "../support/extent.ts";
import { pauseCall, restoreClient } from "../support/pause-dynamodb-call.ts";
import { sampleOf } from "../support/seeded-random.ts";
import { runLane } from "../support/sending.ts";
import {
  createContacts,
  createSequence,
  createSequenceSender,
  days,
  expectBalanced,
  listDueCohorts,
  listSubjectsTo,
  minutes,
  runFor,
  type SequenceSender,
  useVirtualQueues,
} from "../support/sequences.ts";

vi.setConfig({ testTimeout: 300_000 });
beforeAll(useVirtualQueues);
afterEach(restoreClient);

type Work = () => Promise<unknown>;

/** Only the first to come is killed. */
function once(kill: (work: Work) => Promise<unknown>): (work: Work) => Promise<unknown> {
  let killed = false;
  return (work) => {
    if (killed) return work();
    killed = true;
    return kill(work);
  };
}

describe("dead at any step", () => {
  test.each(sampleOf(1, ["the first mail", "the wait and the last mail"], "advance"))(
    "of advancing to %s: every mail once, every step counted once",
    async (when) => {
      const one = await createSequenceSender();
      const unopened = {
        match: "all",
        conditions: [{ field: "step.1.opened", operator: "notExists" }],
      };
      const steps = await crashAtSomeSteps(async (kill) => {
        const way = await createSequence(one, [
          "One",
          { type: "condition", conditionConfig: unopened },
          60,
          "Two",
        ]);
        const all = await createContacts(one, 2);
        await enrollments.enroll(one.caller, way.id, { contactIds: all });
        if (when !== "the first mail") {
          await runFor(minutes(2));
          clock.advanceClock(minutes(60));
        }
        // A worker who is killed, and then the queue, which brings the message again.
        const { active } = await expectBalanced(one, way.id, way.steps);
        await kill(() => bringOn(active));
        await expectBalanced(one, way.id, way.steps);
        await runFor(minutes(70));
        for (const contact of all)
          expect(await listSubjectsTo(one, contact)).toEqual(["One", "Two"]);
        expect((await expectBalanced(one, way.id, way.steps)).counts).toEqual({
          active: 0,
          completed: 2,
          cancelled: 0,
          failed: 0,
        });
      });
      expect(steps.length).toBeGreaterThan(20);
      await one.provider.stop();
    },
  );

  test("of bringing a cohort on: nobody is forgotten, whoever left it, and in the end it is gone", async () => {
    const one = await createSequenceSender();
    const steps = await crashAtSomeSteps(async (kill) => {
      const way = await createSequence(one, [60, "Mail", 60]);
      const all = await createContacts(one, 6);
      await enrollments.enroll(one.caller, way.id, { contactIds: all });
      await runFor(minutes(1));
      const [cohort] = await listDueCohorts(one.orgId, way.id);
      expect(memberKeys(cohort!)).toHaveLength(6);
      await enrollments.cancel(one.caller, way.id, { contactId: all[0]! });
      await contacts.change(one.caller, all[1]!, { email: `moved-${all[1]}@example.com` });
      clock.advanceClock(minutes(61));
      await kill(() => advanceCohorts([cohort!]));
      await expectBalanced(one, way.id, way.steps);
      await runFor(minutes(70));
      for (const contact of all.slice(1))
        expect(await listSubjectsTo(one, contact)).toEqual(["Mail"]);
      expect((await expectBalanced(one, way.id, way.steps)).counts).toEqual({
        active: 0,
        completed: 5,
        cancelled: 1,
        failed: 0,
      });
      expect(await listDueCohorts(one.orgId, way.id)).toEqual([]);
    });
    expect(steps.length).toBeGreaterThan(20);
    await one.provider.stop();
  });

  test("of enrolling: whole or not at all, and again it is done", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, [60]);
    const told = await crashAtSomeSteps(async (kill) => {
      const all = await createContacts(one, 3);
      await kill(() => enrollments.enroll(one.caller, id, { contactIds: all }));
      await expectBalanced(one, id, steps);
      await enrollments.enroll(one.caller, id, { contactIds: all });
      const { active } = await expectBalanced(one, id, steps);
      expect(all.every((contact) => active.some(({ contactId }) => contactId === contact))).toBe(
        true,
      );
    });
    expect(told.length).toBeGreaterThan(5);
    await one.provider.stop();
  });

  test("of cancelling, of deleting the contact, of removing the sequence", async () => {
    const one = await createSequenceSender();
    await crashAtSomeSteps(async (kill) => {
      const { id, steps } = await createSequence(one, [60]);
      const [ann = 0] = await createContacts(one, 1);
      await enrollments.enroll(one.caller, id, { contactIds: [ann] });
      await kill(() => enrollments.cancel(one.caller, id, { contactId: ann }));
      await expectBalanced(one, id, steps);
      await enrollments.cancel(one.caller, id, { contactId: ann }).catch(() => {});
      expect((await expectBalanced(one, id, steps)).counts).toMatchObject({
        active: 0,
        cancelled: 1,
      });
    });
    await crashAtSomeSteps(async (kill) => {
      const { id, steps } = await createSequence(one, [60]);
      const [ann = 0] = await createContacts(one, 1);
      await enrollments.enroll(one.caller, id, { contactIds: [ann] });
      await kill(() => contacts.remove(one.caller, ann));
      await expectBalanced(one, id, steps);
      await contacts.remove(one.caller, ann).catch(() => {});
      expect((await expectBalanced(one, id, steps)).counts).toMatchObject({
        active: 0,
        cancelled: 1,
      });
    });
    await crashAtSomeSteps(async (kill) => {
      const { id, steps } = await createSequence(one, [60]);
      const all = await createContacts(one, 2);
      await enrollments.enroll(one.caller, id, { contactIds: all });
      await kill(() => sequences.remove(one.caller, id));
      await sequences.remove(one.caller, id).catch(() => {});
      await runFor(days(1));
      expect((await expectBalanced(one, id, steps)).counts).toMatchObject({ active: 0 });
    });
    await crashAtSomeSteps(async (kill) => {
      const { id, steps } = await createSequence(one, [60]);
      await enrollments.enroll(one.caller, id, { contactIds: await createContacts(one, 2) });
      await sequences.remove(one.caller, id);
      await runFor(minutes(1), once(kill));
      await runFor(days(1));
      expect((await expectBalanced(one, id, steps)).counts).toMatchObject({ active: 0 });
    });
    await one.provider.stop();
  });

  test("of removing a sequence whose mail is held back: that mail never goes, and is counted so", async () => {
    const one = await createSequenceSender();
    await crashAtSomeSteps(async (kill) => {
      const { id, steps } = await createSequence(one, ["Held"]);
      await enrollments.enroll(one.caller, id, { contactIds: await createContacts(one, 2) });
      await bringOn((await expectBalanced(one, id, steps)).active);
      await sequences.change(one.caller, id, { status: "paused" });
      await runFor(minutes(1));
      const numbers = async () =>
        (await sources.getSourceTotals(one.orgId, { kind: "sequence", id })).all;
      expect(await numbers()).toMatchObject({ accepted: 2, queued: 2 });
      await sequences.remove(one.caller, id);
      await runFor(minutes(1), once(kill));
      await runFor(days(1));
      expect(await numbers()).toMatchObject({ accepted: 2, queued: 0, cancelled: 2 });
      expect(one.provider.mails).toEqual([]);
    });
    await one.provider.stop();
  });

  test("of pausing and going on again", async () => {
    const one = await createSequenceSender();
    await crashAtSomeSteps(async (kill) => {
      const { id, steps } = await createSequence(one, [10, "Mail"]);
      const all = await createContacts(one, 2);
      await enrollments.enroll(one.caller, id, { contactIds: all });
      await runFor(minutes(1));
      await sequences.change(one.caller, id, { status: "paused" });
      clock.advanceClock(minutes(30));
      await runFor(minutes(5), once(kill));
      await sequences.change(one.caller, id, { status: "active" });
      await runFor(days(1));
      for (const contact of all) expect(await listSubjectsTo(one, contact)).toEqual(["Mail"]);
      expect((await expectBalanced(one, id, steps)).counts).toMatchObject({ completed: 2 });
    });
    await crashAtSomeSteps(async (kill) => {
      const { id, steps } = await createSequence(one, [10, "Mail"]);
      const all = await createContacts(one, 2);
      await enrollments.enroll(one.caller, id, { contactIds: all });
      await runFor(minutes(1));
      await sequences.change(one.caller, id, { status: "paused" });
      await runFor(minutes(30));
      await kill(() => sequences.change(one.caller, id, { status: "active" }));
      await sequences.change(one.caller, id, { status: "active" });
      await runFor(days(1));
      for (const contact of all) expect(await listSubjectsTo(one, contact)).toEqual(["Mail"]);
      expect((await expectBalanced(one, id, steps)).counts).toMatchObject({ completed: 2 });
    });
    await one.provider.stop();
  });
});

describe("what starts sequences, dead at any step, starts them once", () => {
  const inside = async (one: SequenceSender, id: number) =>
    (await expectBalanced(one, id, [])).active.map(({ contactId }) => contactId);

  test("a tag", async () => {
    const one = await createSequenceSender();
    const tag = async () => {
      const ids = await groups.getOrCreateTags(one.caller, one.siteId, ["Buyer"]);
      return groups.findOfSite("TAG", one.caller, { id: ids.get("Buyer")!, siteId: one.siteId });
    };
    const { id } = await createSequence(one, [60], {
      triggerType: "tag_add",
      triggerConfig: { tagName: "buyer" },
    });
    await crashAtSomeSteps(async (kill) => {
      const [ann = 0] = await createContacts(one, 1);
      const found = await tag();
      await kill(() => applyTag(one.caller, ann, found));
      const tagged = (await contacts.findItem(one.caller, ann)).tags?.has(found.id) === true;
      expect((await inside(one, id)).includes(ann)).toBe(tagged);
      expect(await applyTag(one.caller, ann, found)).toMatchObject({ applied: !tagged });
      expect((await inside(one, id)).includes(ann)).toBe(true);
    });
    await sequences.change(one.caller, id, { status: "paused" });
    const [bob = 0] = await createContacts(one, 1);
    await applyTag(one.caller, bob, await tag());
    expect((await inside(one, id)).includes(bob)).toBe(false);
    await one.provider.stop();
  });

  test("a contact that is created with a tag and a list, alone or in bulk", async () => {
    const one = await createSequenceSender();
    const list = await groups.create("LIST", one.caller, { siteId: one.siteId, name: "News" });
    const tagged = await createSequence(one, [60], {
      triggerType: "tag_add",
      triggerConfig: { tagName: "buyer" },
    });
    const listed = await createSequence(one, [60], {
      triggerType: "list_join",
      triggerConfig: { listId: list.id },
    });
    const who = (email: string) => ({
      ...ContactRow.parse({ email, tags: ["Buyer"], lists: [list.id] }),
    });
    const save = async (rows: ContactRow[]) =>
      (await upsert({ caller: one.caller, siteId: one.siteId }, rows)).map((saved) =>
        saved.outcome === "failed" ? 0 : saved.id,
      );
    const both = async () => [await inside(one, tagged.id), await inside(one, listed.id)];
    let n = 0;
    await crashAtSomeSteps(async (kill) => {
      const email = `made${n++}@x.com`;
      await kill(() => contacts.create(one.caller, { siteId: one.siteId, ...who(email) }));
      const [made] = await save([who(email)]);
      for (const ids of await both()) expect(ids.filter((id) => id === made)).toHaveLength(1);
    });
    await crashAtSomeSteps(async (kill) => {
      const rows = [0, 1, 2].map((i) => who(`bulk${n}-${i}@x.com`));
      n++;
      await kill(() => upsert({ caller: one.caller, siteId: one.siteId }, rows));
      const saved = await save(rows);
      for (const ids of await both())
        for (const id of saved) expect(ids.filter((one) => one === id)).toHaveLength(1);
    });
    const [left] = await save([{ ...who("left@x.com"), status: "unsubscribed" }]);
    for (const ids of await both()) expect(ids).not.toContain(left);
    await one.provider.stop();
  });

  test("a list, for many at once; those who are not subscribed only join it", async () => {
    const one = await createSequenceSender();
    const list = await groups.create("LIST", one.caller, { siteId: one.siteId, name: "News" });
    const config = { triggerType: "list_join" as const, triggerConfig: { listId: list.id } };
    const ways = [await createSequence(one, [60], config), await createSequence(one, [60], config)];
    await crashAtSomeSteps(async (kill) => {
      const all = await createContacts(one, 5);
      await contacts.change(one.caller, all[0]!, { status: "unsubscribed" });
      await kill(() => members.addMembers(one.caller, { kind: "LIST", id: list.id }, all));
      // What it had asked for when it died, may come about after its death.
      await sleep(50);
      for (const { id } of ways) {
        const listed = (await contacts.getByIds(one.orgId, all, { consistent: true })).filter(
          ({ lists }) => lists?.has(list.id),
        );
        const expected = listed
          .map((contact) => contact.id)
          .filter((contact) => contact !== all[0]);
        expect(
          (await inside(one, id)).filter((contact) => all.includes(contact)).toSorted(),
        ).toEqual(expected.toSorted());
      }
      await members.addMembers(one.caller, { kind: "LIST", id: list.id }, all);
      for (const { id } of ways)
        expect((await inside(one, id)).filter((contact) => all.includes(contact))).toHaveLength(4);
    });
    await one.provider.stop();
  });

  test("a custom event, and a score that is reached by it, by hand, or by two at a time", async () => {
    const one = await createSequenceSender();
    const byEvent = await createSequence(one, [60], {
      triggerType: "custom_event",
      triggerConfig: { eventName: "bought" },
    });
    const byScore = await createSequence(one, [60], {
      triggerType: "score_reached",
      triggerConfig: { score: 10 },
    });
    await crashAtSomeSteps(async (kill) => {
      const [ann = 0] = await createContacts(one, 1);
      const activity = {
        id: await nextActivityId(),
        at: clock.now().toISOString(),
        type: "custom" as const,
        name: "bought",
        source: "api" as const,
      };
      await kill(() => activities.recordActivity(one.orgId, { id: ann }, activity));
      await activities.recordActivity(one.orgId, { id: ann }, activity);
      expect((await inside(one, byEvent.id)).includes(ann)).toBe(true);
      await kill(() => scores.changeByHand(one.caller, ann, { score: 9 })).catch(() => {});
      await scores.changeByHand(one.caller, ann, { score: 9 });
      expect((await inside(one, byScore.id)).includes(ann)).toBe(false);
      const cause = { key: `cause ${ann}`, at: clock.now().toISOString() };
      await kill(() => scores.addPoints(one.orgId, ann, { delta: 1, cause })).catch(() => {});
      await scores.addPoints(one.orgId, ann, { delta: 1, cause });
      expect((await inside(one, byScore.id)).includes(ann)).toBe(true);
      expect((await contacts.findItem(one.caller, ann)).score).toBe(10);
    });
    for (let n = 0; n < 10; n++) {
      const [bob = 0] = await createContacts(one, 1);
      const at = clock.now().toISOString();
      await Promise.all(
        [1, 2, 3].map((i) =>
          scores.addPoints(one.orgId, bob, { delta: 4, cause: { key: `${bob} ${i}`, at } }),
        ),
      );
      expect((await contacts.findItem(one.caller, bob)).score).toBe(12);
      expect((await inside(one, byScore.id)).includes(bob)).toBe(true);
    }
    await one.provider.stop();
  });
});

describe("at the same time", () => {
  test("whose contact took another address while the cohort was brought on, is not forgotten: the cohort stays until a tick has seen to it", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, [60]);
    const all = await createContacts(one, 4);
    await enrollments.enroll(one.caller, id, { contactIds: all });
    await runFor(minutes(1));
    const [cohort] = await listDueCohorts(one.orgId, id);
    clock.advanceClock(minutes(61));
    // Its contact takes another address between the reading and the writing: the end that was
    // planned for it cannot be made.
    const ending = pauseCall(TransactWriteCommand);
    const brought = advanceCohorts([cohort!]);
    await ending.reached;
    await contacts.change(one.caller, all[0]!, { email: `other-${all[0]}@example.com` });
    ending.release();
    await brought;
    const { active } = await expectBalanced(one, id, steps);
    expect(active.map(({ contactId }) => contactId)).toEqual([all[0]]);
    expect(await listDueCohorts(one.orgId, id)).toHaveLength(1);
    await runFor(minutes(2));
    expect((await expectBalanced(one, id, steps)).counts).toMatchObject({
      active: 0,
      completed: 4,
    });
    expect(await listDueCohorts(one.orgId, id)).toEqual([]);
    await one.provider.stop();
  });

  test("who is named by two cohorts goes on once", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, [60, "Mail"]);
    const all = await createContacts(one, 3);
    await enrollments.enroll(one.caller, id, { contactIds: all });
    await runFor(minutes(1));
    const [cohort] = await listDueCohorts(one.orgId, id);
    const other = { ...cohort!, ...keys.cohort(one.orgId, id, "other"), id: "other" };
    await write(put(other, other));
    clock.advanceClock(minutes(61));
    await Promise.all([advanceCohorts([cohort!, other]), advanceCohorts([other])]);
    await runFor(minutes(2));
    for (const contact of all) expect(await listSubjectsTo(one, contact)).toEqual(["Mail"]);
    expect((await expectBalanced(one, id, steps)).counts).toMatchObject({
      active: 0,
      completed: 3,
    });
    expect(await listDueCohorts(one.orgId, id)).toEqual([]);
    await one.provider.stop();
  });

  test("a worker whose clock is behind leaves a cohort to the next one", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, [60]);
    await enrollments.enroll(one.caller, id, { contactIds: await createContacts(one, 3) });
    await runFor(minutes(1));
    const [cohort] = await listDueCohorts(one.orgId, id);
    await advanceCohorts([cohort!]);
    expect((await expectBalanced(one, id, steps)).counts).toMatchObject({ active: 3 });
    await runFor(minutes(65));
    expect((await expectBalanced(one, id, steps)).counts).toMatchObject({ completed: 3 });
    await one.provider.stop();
  });

  test("who goes on while somebody late would hold it for a pause that is over, waits as long as it is to", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, [60, "Late"]);
    const [ann = 0] = await createContacts(one, 1);
    await enrollments.enroll(one.caller, id, { contactIds: [ann] });
    const { active } = await expectBalanced(one, id, steps);
    await sequences.change(one.caller, id, { status: "paused" });
    const holding = pauseCall(UpdateCommand);
    const late = bringOn(active);
    await holding.reached;
    await sequences.change(one.caller, id, { status: "active" });
    await bringOn(active);
    holding.release();
    await late;
    await runFor(minutes(50));
    expect(await listSubjectsTo(one, ann)).toEqual([]);
    await runFor(minutes(20));
    expect(await listSubjectsTo(one, ann)).toEqual(["Late"]);
    await one.provider.stop();
  });

  test("enrolled by many, a contact is in it once", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, ["Mail", 60]);
    const all = await createContacts(one, 20);
    const entered = await Promise.all(
      [1, 2, 3, 4].map(() => enrollments.enroll(one.caller, id, { contactIds: all })),
    );
    expect(entered.reduce((sum, { enrolled }) => sum + enrolled, 0)).toBe(20);
    await runFor(minutes(5));
    expect((await expectBalanced(one, id, steps)).counts).toMatchObject({ active: 20 });
    for (const contact of all) expect(await listSubjectsTo(one, contact)).toEqual(["Mail"]);
    await one.provider.stop();
  });

  test("the same message twice, an edit, a cancellation and a pause while it is worked on: nobody gets a mail twice", async () => {
    const one = await createSequenceSender();
    for (let n = 0; n < (everything ? 5 : 2); n++) {
      const { id, steps } = await createSequence(one, ["One", 0, "Two", 0, "Three"]);
      const all = await createContacts(one, 10);
      await enrollments.enroll(one.caller, id, { contactIds: all });
      const { active } = await expectBalanced(one, id, steps);
      await Promise.all([
        bringOn(active),
        bringOn(active),
        stepsOf.remove(one.caller, id, steps[2]!.id),
        enrollments.cancel(one.caller, id, { contactId: all[0]! }),
        sequences.change(one.caller, id, { status: "paused" }),
        contacts.remove(one.caller, all[1]!),
      ]);
      await sequences.change(one.caller, id, { status: "active" });
      await runFor(days(1));
      const { counts } = await expectBalanced(
        one,
        id,
        steps.filter((_, i) => i !== 2),
      );
      expect(counts).toMatchObject({ active: 0, completed: 8, cancelled: 2 });
      // What the pause held back may be overtaken by what comes next.
      for (const contact of all.slice(2))
        expect(
          (await listSubjectsTo(one, contact)).filter((subject) => subject !== "Two").toSorted(),
        ).toEqual(["One", "Three"]);
    }
    await one.provider.stop();
  });
});

// As a process that is stopped and continued: its leases end, others do its work, and then it goes
// on where it was.
describe("a worker that stands still past its lease and then goes on", () => {
  const meanwhile = () => runFor(minutes(30));

  test("while it advances enrollments mails nobody twice, and the books balance", async () => {
    const one = await createSequenceSender();
    const steps = await pausedAtSomeSteps(meanwhile, async (pause) => {
      const way = await createSequence(one, ["One", 60, "Two"]);
      const all = await createContacts(one, 2);
      await enrollments.enroll(one.caller, way.id, { contactIds: all });
      const { active } = await expectBalanced(one, way.id, way.steps);
      await pause(() => bringOn(active));
      await expectBalanced(one, way.id, way.steps);
      await runFor(minutes(120));
      for (const contact of all) expect(await listSubjectsTo(one, contact)).toEqual(["One", "Two"]);
      expect((await expectBalanced(one, way.id, way.steps)).counts).toMatchObject({
        active: 0,
        completed: 2,
      });
      expect(await standing(one, way.id)).toMatchObject({ accepted: 4, queued: 0, sending: 0 });
    });
    expect(steps.length).toBeGreaterThan(20);
    await one.provider.stop();
  });

  const standing = async ({ orgId }: SequenceSender, id: number) =>
    (await sources.getSourceTotals(orgId, { kind: "sequence", id })).all;

  test("advancing a cohort and running the lane sends each mail once, and nothing stays queued", async () => {
    const one = await createSequenceSender();
    await pausedAtSomeSteps(meanwhile, async (pause) => {
      const way = await createSequence(one, [60, "Mail", 60]);
      const all = await createContacts(one, 4);
      await enrollments.enroll(one.caller, way.id, { contactIds: all });
      await runFor(minutes(1));
      const [cohort] = await listDueCohorts(one.orgId, way.id);
      clock.advanceClock(minutes(61));
      await pause(async () => {
        await advanceCohorts([cohort!]);
        await runLane(one.orgId, one.configId);
      });
      await runFor(minutes(180));
      // The provider has no idempotency keys. If the pause falls between the claim of the call and
      // its result, another worker cannot know whether the call was made and marks the mail as
      // uncertain.
      const totals = await standing(one, way.id);
      expect(totals).toMatchObject({ accepted: 4, queued: 0, sending: 0 });
      expect([0, 4]).toContain(totals.uncertain);
      for (const contact of all) {
        const subjects = await listSubjectsTo(one, contact);
        if (!totals.uncertain || subjects.length) expect(subjects).toEqual(["Mail"]);
      }
      expect((await expectBalanced(one, way.id, way.steps)).counts).toMatchObject({
        active: 0,
        completed: 4,
      });
    });
    await one.provider.stop();
  });

  test("while it sweeps a sequence that was paused, made active and removed: nothing is left behind", async () => {
    const one = await createSequenceSender();
    await pausedAtSomeSteps(meanwhile, async (pause) => {
      const { id, steps } = await createSequence(one, ["Held", 60]);
      await enrollments.enroll(one.caller, id, { contactIds: await createContacts(one, 2) });
      await bringOn((await expectBalanced(one, id, steps)).active);
      await sequences.change(one.caller, id, { status: "paused" });
      await runFor(minutes(1));
      await sequences.remove(one.caller, id);
      await runFor(minutes(1), once(pause));
      await runFor(days(1));
      expect((await expectBalanced(one, id, steps)).counts).toMatchObject({ active: 0 });
      expect(await standing(one, id)).toMatchObject({ accepted: 2, queued: 0, cancelled: 2 });
    });
    await one.provider.stop();
  });
});
