// Crashes, pauses of workers, repeated messages and concurrent changes: each step of a sequence
// runs once, and all counts agree.
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import { ContactRow } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { upsert } from "../../shared/domain/audience/contacts/upserts.ts";
import * as members from "../../shared/domain/audience/groups/group-members.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { applyTag } from "../../shared/domain/audience/groups/tags.ts";
import * as scores from "../../shared/domain/audience/scoring/lead-scores.ts";
import * as activities from "../../shared/domain/audience/tracking/activities.ts";
import { advanceEnrollments } from "../../shared/domain/automation/advance.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import { getDetail } from "../../shared/domain/automation/sequence-detail.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import * as stepDrafts from "../../shared/domain/automation/step-drafts.ts";
import * as stepsOf from "../../shared/domain/automation/steps.ts";
import * as sources from "../../shared/domain/sending/mail-sources.ts";
import { nextActivityId } from "../../shared/ids.ts";
import { crashAtSomeSteps, pausedAtSomeSteps } from "../support/crash-injection.ts";
import { everything } from "../support/extent.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
import { sampleOf } from "../support/seeded-random.ts";
import { runLane } from "../support/sending.ts";
import {
  createContacts,
  createSequence,
  createSequenceSender,
  days,
  expectBalanced,
  listSubjectsTo,
  minutes,
  runFor,
  type SequenceSender,
  useVirtualQueues,
} from "../support/sequences.ts";

beforeAll(useVirtualQueues);
afterEach(removePauses);

type Work = () => Promise<unknown>;

/** Kills only the first worker that it gets. */
function once(crash: (work: Work) => Promise<unknown>): (work: Work) => Promise<unknown> {
  let killed = false;
  return (work) => {
    if (killed) return work();
    killed = true;
    return crash(work);
  };
}

describe("a crash at any step", () => {
  test.each(sampleOf(1, ["the first mail", "the wait and the last mail"], "advance"))(
    "while enrollments advance to %s repeats no mail and no count",
    async (when) => {
      const sender = await createSequenceSender();
      const unopened = {
        match: "all",
        conditions: [{ field: "step.1.opened", operator: "notExists" }],
      };
      const steps = await crashAtSomeSteps(async (crash) => {
        const sequence = await createSequence(sender, [
          "One",
          { type: "condition", conditionConfig: unopened },
          60,
          "Two",
        ]);
        const all = await createContacts(sender, 2);
        await enrollments.enroll(sender.caller, sequence.id, { contactIds: all });
        if (when !== "the first mail") {
          await runFor(minutes(2));
          clock.advanceClock(minutes(60));
        }
        // After the crash, the queue delivers the message again.
        const { active } = await expectBalanced(sender, sequence.id, sequence.steps);
        await crash(() => advanceEnrollments(active));
        await expectBalanced(sender, sequence.id, sequence.steps);
        await runFor(minutes(70));
        for (const contact of all)
          expect(await listSubjectsTo(sender, contact)).toEqual(["One", "Two"]);
        expect((await expectBalanced(sender, sequence.id, sequence.steps)).counts).toEqual({
          active: 0,
          completed: 2,
          cancelled: 0,
          failed: 0,
        });
      });
      expect(steps.length).toBeGreaterThan(20);
      await sender.provider.stop();
    },
  );

  test("while enrollments advance loses none, also of who left or moved", async () => {
    const sender = await createSequenceSender();
    const steps = await crashAtSomeSteps(async (crash) => {
      const sequence = await createSequence(sender, [60, "Mail", 60]);
      const all = await createContacts(sender, 6);
      await enrollments.enroll(sender.caller, sequence.id, { contactIds: all });
      await runFor(minutes(1));
      const { active } = await expectBalanced(sender, sequence.id, sequence.steps);
      expect(active).toHaveLength(6);
      await enrollments.cancel(sender.caller, sequence.id, { contactId: all[0]! });
      await contacts.change(sender.caller, all[1]!, { email: `moved-${all[1]}@example.com` });
      clock.advanceClock(minutes(61));
      await crash(() => advanceEnrollments(active));
      await expectBalanced(sender, sequence.id, sequence.steps);
      await runFor(minutes(70));
      for (const contact of all.slice(1))
        expect(await listSubjectsTo(sender, contact)).toEqual(["Mail"]);
      expect((await expectBalanced(sender, sequence.id, sequence.steps)).counts).toEqual({
        active: 0,
        completed: 5,
        cancelled: 1,
        failed: 0,
      });
    });
    expect(steps.length).toBeGreaterThan(20);
    await sender.provider.stop();
  });

  test("while contacts are enrolled leaves exact counts, and a retry enrolls the rest", async () => {
    const sender = await createSequenceSender();
    const { id, steps } = await createSequence(sender, [60]);
    const stepNames = await crashAtSomeSteps(async (crash) => {
      const all = await createContacts(sender, 3);
      await crash(() => enrollments.enroll(sender.caller, id, { contactIds: all }));
      await expectBalanced(sender, id, steps);
      await enrollments.enroll(sender.caller, id, { contactIds: all });
      const { active } = await expectBalanced(sender, id, steps);
      expect(all.every((contact) => active.some(({ contactId }) => contactId === contact))).toBe(
        true,
      );
    });
    expect(stepNames.length).toBeGreaterThan(5);
    await sender.provider.stop();
  });

  test("while an enrollment, contact or sequence is cancelled or deleted leaves exact counts", async () => {
    const sender = await createSequenceSender();
    await crashAtSomeSteps(async (crash) => {
      const { id, steps } = await createSequence(sender, [60]);
      const [ann = 0] = await createContacts(sender, 1);
      await enrollments.enroll(sender.caller, id, { contactIds: [ann] });
      await crash(() => enrollments.cancel(sender.caller, id, { contactId: ann }));
      await expectBalanced(sender, id, steps);
      await enrollments.cancel(sender.caller, id, { contactId: ann }).catch(() => {});
      expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({
        active: 0,
        cancelled: 1,
      });
    });
    await crashAtSomeSteps(async (crash) => {
      const { id, steps } = await createSequence(sender, [60]);
      const [ann = 0] = await createContacts(sender, 1);
      await enrollments.enroll(sender.caller, id, { contactIds: [ann] });
      await crash(() => contacts.remove(sender.caller, ann));
      await expectBalanced(sender, id, steps);
      await contacts.remove(sender.caller, ann).catch(() => {});
      expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({
        active: 0,
        cancelled: 1,
      });
    });
    await crashAtSomeSteps(async (crash) => {
      const { id, steps } = await createSequence(sender, [60]);
      const all = await createContacts(sender, 2);
      await enrollments.enroll(sender.caller, id, { contactIds: all });
      await crash(() => sequences.remove(sender.caller, id));
      await sequences.remove(sender.caller, id).catch(() => {});
      await runFor(days(1));
      expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({ active: 0 });
    });
    await crashAtSomeSteps(async (crash) => {
      const { id, steps } = await createSequence(sender, [60]);
      await enrollments.enroll(sender.caller, id, { contactIds: await createContacts(sender, 2) });
      await sequences.remove(sender.caller, id);
      await runFor(minutes(1), once(crash));
      await runFor(days(1));
      expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({ active: 0 });
    });
    await sender.provider.stop();
  });

  test("while a sequence with suspended mail is deleted still cancels and counts that mail", async () => {
    const sender = await createSequenceSender();
    await crashAtSomeSteps(async (crash) => {
      const { id, steps } = await createSequence(sender, ["Held"]);
      await enrollments.enroll(sender.caller, id, { contactIds: await createContacts(sender, 2) });
      await advanceEnrollments((await expectBalanced(sender, id, steps)).active);
      await sequences.change(sender.caller, id, { status: "paused" });
      await runFor(minutes(1));
      const readSequenceTotals = async () =>
        (await sources.getSourceTotals(sender.orgId, { kind: "sequence", id })).all;
      expect(await readSequenceTotals()).toMatchObject({ accepted: 2, queued: 2 });
      await sequences.remove(sender.caller, id);
      await runFor(minutes(1), once(crash));
      await runFor(days(1));
      expect(await readSequenceTotals()).toMatchObject({ accepted: 2, queued: 0, cancelled: 2 });
      expect(sender.provider.mails).toEqual([]);
    });
    await sender.provider.stop();
  });

  test("while a sequence is paused or resumed loses and repeats no mail", async () => {
    const sender = await createSequenceSender();
    await crashAtSomeSteps(async (crash) => {
      const { id, steps } = await createSequence(sender, [10, "Mail"]);
      const all = await createContacts(sender, 2);
      await enrollments.enroll(sender.caller, id, { contactIds: all });
      await runFor(minutes(1));
      await sequences.change(sender.caller, id, { status: "paused" });
      clock.advanceClock(minutes(30));
      await runFor(minutes(5), once(crash));
      await sequences.change(sender.caller, id, { status: "active" });
      await runFor(days(1));
      for (const contact of all) expect(await listSubjectsTo(sender, contact)).toEqual(["Mail"]);
      expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({ completed: 2 });
    });
    await crashAtSomeSteps(async (crash) => {
      const { id, steps } = await createSequence(sender, [10, "Mail"]);
      const all = await createContacts(sender, 2);
      await enrollments.enroll(sender.caller, id, { contactIds: all });
      await runFor(minutes(1));
      await sequences.change(sender.caller, id, { status: "paused" });
      await runFor(minutes(30));
      await crash(() => sequences.change(sender.caller, id, { status: "active" }));
      await sequences.change(sender.caller, id, { status: "active" });
      await runFor(days(1));
      for (const contact of all) expect(await listSubjectsTo(sender, contact)).toEqual(["Mail"]);
      expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({ completed: 2 });
    });
    await sender.provider.stop();
  });
});

test("a crash at any step of publishing a draft leaves both or neither", async () => {
  const sender = await createSequenceSender();
  const { caller } = sender;
  await crashAtSomeSteps(async (crash) => {
    const { id, steps } = await createSequence(sender, [60, "Mail"]);
    const request = { stepsVersion: 1, steps: [{ ...steps[0]!, delayMinutes: 5 }] };
    await stepDrafts.save(
      caller,
      id,
      stepDrafts.StepDraftRequest.parse({ draftVersion: 0, ...request }),
    );
    const [contactId = 0] = await createContacts(sender, 1);
    await enrollments.enroll(caller, id, { contactIds: [contactId] });
    await runFor(minutes(1));
    await crash(() => stepDrafts.publish(caller, id, {}));
    const { stepsVersion } = await sequences.listSteps(caller, id);
    const left = await stepDrafts.find(caller, id).catch(() => undefined);
    expect([stepsVersion, left?.draftVersion]).toBeOneOf([
      [1, 1],
      [2, undefined],
    ]);
    if (left) await stepDrafts.publish(caller, id, {});
    expect(await sequences.listSteps(caller, id)).toMatchObject({
      stepsVersion: 2,
      steps: [{ delayMinutes: 5 }],
    });
    await runFor(minutes(15));
    expect(await listSubjectsTo(sender, contactId)).toEqual([]);
    expect((await getDetail(caller, id)).stats).toMatchObject({ active: 0, completed: 1 });
  });
  await sender.provider.stop();
});

describe("after a crash at any step and a retry, a sequence is started once", () => {
  const listEnrolled = async (sender: SequenceSender, id: number) =>
    (await expectBalanced(sender, id, [])).active.map(({ contactId }) => contactId);

  test("by a tag", async () => {
    const sender = await createSequenceSender();
    const tag = async () => {
      const ids = await groups.getOrCreateTags(sender.caller, sender.siteId, ["Buyer"]);
      return groups.findOfSite("TAG", sender.caller, {
        id: ids.get("Buyer")!,
        siteId: sender.siteId,
      });
    };
    const { id } = await createSequence(sender, [60], {
      triggerType: "tag_add",
      triggerConfig: { tagName: "buyer" },
    });
    await crashAtSomeSteps(async (crash) => {
      const [ann = 0] = await createContacts(sender, 1);
      const found = await tag();
      await crash(() => applyTag(sender.caller, ann, found));
      const tagged = (await contacts.findItem(sender.caller, ann)).tags?.has(found.id) === true;
      expect((await listEnrolled(sender, id)).includes(ann)).toBe(tagged);
      expect(await applyTag(sender.caller, ann, found)).toBe(!tagged);
      expect((await listEnrolled(sender, id)).includes(ann)).toBe(true);
    });
    await sequences.change(sender.caller, id, { status: "paused" });
    const [bob = 0] = await createContacts(sender, 1);
    await applyTag(sender.caller, bob, await tag());
    expect((await listEnrolled(sender, id)).includes(bob)).toBe(false);
    await sender.provider.stop();
  });

  test("by a contact that is created with a tag and a list, alone or in bulk", async () => {
    const sender = await createSequenceSender();
    const list = await groups.create("LIST", sender.caller, {
      siteId: sender.siteId,
      name: "News",
    });
    const tagged = await createSequence(sender, [60], {
      triggerType: "tag_add",
      triggerConfig: { tagName: "buyer" },
    });
    const listed = await createSequence(sender, [60], {
      triggerType: "list_join",
      triggerConfig: { listId: list.id },
    });
    const newContactRow = (email: string) => ({
      ...ContactRow.parse({ email, tags: ["Buyer"], lists: [list.id] }),
    });
    const save = async (rows: ContactRow[]) =>
      (await upsert({ caller: sender.caller, siteId: sender.siteId }, rows)).map((saved) =>
        saved.outcome === "failed" ? 0 : saved.id,
      );
    const listBothEnrolled = async () => [
      await listEnrolled(sender, tagged.id),
      await listEnrolled(sender, listed.id),
    ];
    let n = 0;
    await crashAtSomeSteps(async (crash) => {
      const email = `made${n++}@x.com`;
      await crash(() =>
        contacts.create(sender.caller, { siteId: sender.siteId, ...newContactRow(email) }),
      );
      const [createdId] = await save([newContactRow(email)]);
      for (const ids of await listBothEnrolled())
        expect(ids.filter((id) => id === createdId)).toHaveLength(1);
    });
    await crashAtSomeSteps(async (crash) => {
      const rows = [0, 1, 2].map((i) => newContactRow(`bulk${n}-${i}@x.com`));
      n++;
      await crash(() => upsert({ caller: sender.caller, siteId: sender.siteId }, rows));
      const saved = await save(rows);
      for (const ids of await listBothEnrolled())
        for (const id of saved) expect(ids.filter((one) => one === id)).toHaveLength(1);
    });
    const [left] = await save([{ ...newContactRow("left@x.com"), status: "unsubscribed" }]);
    for (const ids of await listBothEnrolled()) expect(ids).not.toContain(left);
    await sender.provider.stop();
  });

  test("by a list that many contacts join; unsubscribed contacts only join the list", async () => {
    const sender = await createSequenceSender();
    const list = await groups.create("LIST", sender.caller, {
      siteId: sender.siteId,
      name: "News",
    });
    const config = { triggerType: "list_join" as const, triggerConfig: { listId: list.id } };
    const ways = [
      await createSequence(sender, [60], config),
      await createSequence(sender, [60], config),
    ];
    await crashAtSomeSteps(async (crash) => {
      const all = await createContacts(sender, 5);
      await contacts.change(sender.caller, all[0]!, { status: "unsubscribed" });
      await crash(() => members.addMembers(sender.caller, { kind: "LIST", id: list.id }, all));
      for (const { id } of ways) {
        const listed = (await contacts.getByIds(sender.orgId, all, { consistent: true })).filter(
          ({ lists }) => lists?.has(list.id),
        );
        const expected = listed
          .map((contact) => contact.id)
          .filter((contact) => contact !== all[0]);
        expect(
          (await listEnrolled(sender, id)).filter((contact) => all.includes(contact)).toSorted(),
        ).toEqual(expected.toSorted());
      }
      await members.addMembers(sender.caller, { kind: "LIST", id: list.id }, all);
      for (const { id } of ways)
        expect(
          (await listEnrolled(sender, id)).filter((contact) => all.includes(contact)),
        ).toHaveLength(4);
    });
    await sender.provider.stop();
  });

  test("by a custom event and by a score, also if it is reached by concurrent points", async () => {
    const sender = await createSequenceSender();
    const byEvent = await createSequence(sender, [60], {
      triggerType: "custom_event",
      triggerConfig: { eventName: "bought" },
    });
    const byScore = await createSequence(sender, [60], {
      triggerType: "score_reached",
      triggerConfig: { score: 10 },
    });
    await crashAtSomeSteps(async (crash) => {
      const [ann = 0] = await createContacts(sender, 1);
      const activity = {
        id: await nextActivityId(),
        at: clock.now().toISOString(),
        type: "custom" as const,
        name: "bought",
        source: "api" as const,
      };
      await crash(() => activities.recordActivity(sender.orgId, { id: ann }, activity));
      await activities.recordActivity(sender.orgId, { id: ann }, activity);
      expect((await listEnrolled(sender, byEvent.id)).includes(ann)).toBe(true);
      await crash(() => scores.changeByHand(sender.caller, ann, { score: 9 })).catch(() => {});
      await scores.changeByHand(sender.caller, ann, { score: 9 });
      expect((await listEnrolled(sender, byScore.id)).includes(ann)).toBe(false);
      const cause = { key: `cause ${ann}`, at: clock.now().toISOString() };
      await crash(() => scores.addPoints(sender.orgId, ann, { delta: 1, cause })).catch(() => {});
      await scores.addPoints(sender.orgId, ann, { delta: 1, cause });
      expect((await listEnrolled(sender, byScore.id)).includes(ann)).toBe(true);
      expect((await contacts.findItem(sender.caller, ann)).score).toBe(10);
    });
    for (let n = 0; n < 10; n++) {
      const [bob = 0] = await createContacts(sender, 1);
      const at = clock.now().toISOString();
      await Promise.all(
        [1, 2, 3].map((i) =>
          scores.addPoints(sender.orgId, bob, { delta: 4, cause: { key: `${bob} ${i}`, at } }),
        ),
      );
      expect((await contacts.findItem(sender.caller, bob)).score).toBe(12);
      expect((await listEnrolled(sender, byScore.id)).includes(bob)).toBe(true);
    }
    await sender.provider.stop();
  });
});

describe("concurrent changes", () => {
  test("a new address while the enrollment advances: the next run advances it", async () => {
    const sender = await createSequenceSender();
    const { id, steps } = await createSequence(sender, [60]);
    const all = await createContacts(sender, 4);
    await enrollments.enroll(sender.caller, id, { contactIds: all });
    await runFor(minutes(1));
    const due = (await expectBalanced(sender, id, steps)).active;
    clock.advanceClock(minutes(61));
    // The contact gets a new address between the worker's read and its write, so the write fails.
    const ending = pauseCall("TransactWriteItems");
    const advancing = advanceEnrollments(due);
    await ending.reached;
    await contacts.change(sender.caller, all[0]!, { email: `other-${all[0]}@example.com` });
    ending.release();
    await advancing;
    const { active } = await expectBalanced(sender, id, steps);
    expect(active.map(({ contactId }) => contactId)).toEqual([all[0]]);
    await runFor(minutes(2));
    expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({
      active: 0,
      completed: 4,
    });
    await sender.provider.stop();
  });

  test("enrollments that two workers advance at the same time advance once", async () => {
    const sender = await createSequenceSender();
    const { id, steps } = await createSequence(sender, [60, "Mail"]);
    const all = await createContacts(sender, 3);
    await enrollments.enroll(sender.caller, id, { contactIds: all });
    await runFor(minutes(1));
    const { active } = await expectBalanced(sender, id, steps);
    clock.advanceClock(minutes(61));
    await Promise.all([advanceEnrollments(active), advanceEnrollments(active)]);
    await runFor(minutes(2));
    for (const contact of all) expect(await listSubjectsTo(sender, contact)).toEqual(["Mail"]);
    expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({
      active: 0,
      completed: 3,
    });
    await sender.provider.stop();
  });

  test("a late worker that saw a pause changes no enrollment that has advanced since", async () => {
    const sender = await createSequenceSender();
    const { id, steps } = await createSequence(sender, [60, "Late"]);
    const [ann = 0] = await createContacts(sender, 1);
    await enrollments.enroll(sender.caller, id, { contactIds: [ann] });
    const { active } = await expectBalanced(sender, id, steps);
    await sequences.change(sender.caller, id, { status: "paused" });
    const holding = pauseCall("UpdateItem");
    const late = advanceEnrollments(active);
    await holding.reached;
    await sequences.change(sender.caller, id, { status: "active" });
    await advanceEnrollments(active);
    holding.release();
    await late;
    await runFor(minutes(50));
    expect(await listSubjectsTo(sender, ann)).toEqual([]);
    await runFor(minutes(20));
    expect(await listSubjectsTo(sender, ann)).toEqual(["Late"]);
    await sender.provider.stop();
  });

  test("concurrent requests enroll each contact once", async () => {
    const sender = await createSequenceSender();
    const { id, steps } = await createSequence(sender, ["Mail", 60]);
    const all = await createContacts(sender, 20);
    const entered = await Promise.all(
      [1, 2, 3, 4].map(() => enrollments.enroll(sender.caller, id, { contactIds: all })),
    );
    expect(entered.reduce((sum, { enrolled }) => sum + enrolled, 0)).toBe(20);
    await runFor(minutes(5));
    expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({ active: 20 });
    for (const contact of all) expect(await listSubjectsTo(sender, contact)).toEqual(["Mail"]);
    await sender.provider.stop();
  });

  test("a repeated message and changes of the sequence while enrollments advance repeat no mail", async () => {
    const sender = await createSequenceSender();
    for (let n = 0; n < (everything ? 5 : 2); n++) {
      const { id, steps } = await createSequence(sender, ["One", 0, "Two", 0, "Three"]);
      const all = await createContacts(sender, 10);
      await enrollments.enroll(sender.caller, id, { contactIds: all });
      const { active } = await expectBalanced(sender, id, steps);
      await Promise.all([
        advanceEnrollments(active),
        advanceEnrollments(active),
        stepsOf.remove(sender.caller, id, steps[2]!.id),
        enrollments.cancel(sender.caller, id, { contactId: all[0]! }),
        sequences.change(sender.caller, id, { status: "paused" }),
        contacts.remove(sender.caller, all[1]!),
      ]);
      await sequences.change(sender.caller, id, { status: "active" });
      await runFor(days(1));
      const { counts } = await expectBalanced(
        sender,
        id,
        steps.filter((_, i) => i !== 2),
      );
      expect(counts).toMatchObject({ active: 0, completed: 8, cancelled: 2 });
      // Later mail may overtake mail that was suspended by the pause.
      for (const contact of all.slice(2))
        expect(
          (await listSubjectsTo(sender, contact)).filter((subject) => subject !== "Two").toSorted(),
        ).toEqual(["One", "Three"]);
    }
    await sender.provider.stop();
  });
});

// Like a process that is stopped and continued: its leases expire, other workers do its work, and
// then it continues.
describe("a worker that is paused past its lease", () => {
  const meanwhile = () => runFor(minutes(30));

  test("while it advances enrollments sends no mail twice, and all counts agree", async () => {
    const sender = await createSequenceSender();
    const steps = await pausedAtSomeSteps(meanwhile, async (pause) => {
      const sequence = await createSequence(sender, ["One", 60, "Two"]);
      const all = await createContacts(sender, 2);
      await enrollments.enroll(sender.caller, sequence.id, { contactIds: all });
      const { active } = await expectBalanced(sender, sequence.id, sequence.steps);
      await pause(() => advanceEnrollments(active));
      await expectBalanced(sender, sequence.id, sequence.steps);
      await runFor(minutes(120));
      for (const contact of all)
        expect(await listSubjectsTo(sender, contact)).toEqual(["One", "Two"]);
      expect((await expectBalanced(sender, sequence.id, sequence.steps)).counts).toMatchObject({
        active: 0,
        completed: 2,
      });
      expect(await readTotals(sender, sequence.id)).toMatchObject({
        accepted: 4,
        queued: 0,
        sending: 0,
      });
    });
    expect(steps.length).toBeGreaterThan(20);
    await sender.provider.stop();
  });

  const readTotals = async ({ orgId }: SequenceSender, id: number) =>
    (await sources.getSourceTotals(orgId, { kind: "sequence", id })).all;

  test("while it advances and runs the lane sends each mail once, none stays queued", async () => {
    const sender = await createSequenceSender();
    await pausedAtSomeSteps(meanwhile, async (pause) => {
      const sequence = await createSequence(sender, [60, "Mail", 60]);
      const all = await createContacts(sender, 4);
      await enrollments.enroll(sender.caller, sequence.id, { contactIds: all });
      await runFor(minutes(1));
      const { active } = await expectBalanced(sender, sequence.id, sequence.steps);
      clock.advanceClock(minutes(61));
      await pause(async () => {
        await advanceEnrollments(active);
        await runLane(sender.orgId, sender.configId);
      });
      await runFor(minutes(180));
      // The provider has no idempotency keys. If the pause falls between the claim of the call and
      // its result, another worker cannot know whether the call was made and marks the mail as
      // uncertain.
      const totals = await readTotals(sender, sequence.id);
      expect(totals).toMatchObject({ accepted: 4, queued: 0, sending: 0 });
      expect([0, 4]).toContain(totals.uncertain);
      for (const contact of all) {
        const subjects = await listSubjectsTo(sender, contact);
        if (!totals.uncertain || subjects.length) expect(subjects).toEqual(["Mail"]);
      }
      expect((await expectBalanced(sender, sequence.id, sequence.steps)).counts).toMatchObject({
        active: 0,
        completed: 4,
      });
    });
    await sender.provider.stop();
  });

  test("while it sweeps a deleted sequence leaves no active enrollment and no queued mail", async () => {
    const sender = await createSequenceSender();
    await pausedAtSomeSteps(meanwhile, async (pause) => {
      const { id, steps } = await createSequence(sender, ["Held", 60]);
      await enrollments.enroll(sender.caller, id, { contactIds: await createContacts(sender, 2) });
      await advanceEnrollments((await expectBalanced(sender, id, steps)).active);
      await sequences.change(sender.caller, id, { status: "paused" });
      await runFor(minutes(1));
      await sequences.remove(sender.caller, id);
      await runFor(minutes(1), once(pause));
      await runFor(days(1));
      expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({ active: 0 });
      expect(await readTotals(sender, id)).toMatchObject({ accepted: 2, queued: 0, cancelled: 2 });
    });
    await sender.provider.stop();
  });
});
