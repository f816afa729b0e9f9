import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { put, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { applyTag } from "../../shared/domain/audience/groups/tags.ts";
import * as scores from "../../shared/domain/audience/scoring/lead-scores.ts";
import { advanceEnrollments } from "../../shared/domain/automation/advance.ts";
import * as enrollmentListing from "../../shared/domain/automation/enrollment-listing.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import { getDetail } from "../../shared/domain/automation/sequence-detail.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import {
  AddStepsRequest,
  ReplaceStepsRequest,
} from "../../shared/domain/automation/step-schema.ts";
import * as stepsOf from "../../shared/domain/automation/steps.ts";
import * as allowance from "../../shared/domain/billing/quota.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import { nextActivityId } from "../../shared/ids.ts";
import { addLocalDays, instantOfLocalTime } from "../../shared/kernel/time-zones.ts";
import { keys } from "../../shared/keys.ts";
import { plans } from "../../shared/plans.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
import {
  createContacts,
  createSequence,
  createSequenceSender,
  createTemplate,
  days,
  expectBalanced,
  listSubjectsTo,
  minutes,
  runFor,
  useVirtualQueues,
} from "../support/sequences.ts";

beforeAll(useVirtualQueues);
afterEach(removePauses);

const hasTagRule = (tag: string) => ({
  match: "all",
  conditions: [{ field: "tag", operator: "equals", value: tag }],
});

describe("over time", () => {
  test("14 days of mails and waits send each mail once and on time", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, [
      "Day 0",
      24 * 60,
      "Day 1",
      6 * 24 * 60,
      "Day 7",
      7 * 24 * 60,
      "Day 14",
    ]);
    const [ann = 0] = await createContacts(one, 1);
    expect(await enrollments.enroll(one.caller, id, { contactIds: [ann] })).toMatchObject({
      enrolled: 1,
      unchanged: 0,
      failed: [],
    });
    await runFor(minutes(1));
    expect(await listSubjectsTo(one, ann)).toEqual(["Day 0"]);
    await runFor(days(1) - minutes(5));
    expect(await listSubjectsTo(one, ann)).toEqual(["Day 0"]);
    await runFor(minutes(8));
    expect(await listSubjectsTo(one, ann)).toEqual(["Day 0", "Day 1"]);
    const { active } = await expectBalanced(one, id, steps);
    expect(active).toHaveLength(1);
    await runFor(days(15));
    expect(await listSubjectsTo(one, ann)).toEqual(["Day 0", "Day 1", "Day 7", "Day 14"]);
    const { finished } = await expectBalanced(one, id, steps);
    expect(finished).toMatchObject([{ contactId: ann, status: "completed" }]);
    const { stats, steps: stepDetails } = await getDetail(one.caller, id);
    expect(stats).toMatchObject({
      active: 0,
      completed: 1,
      mails: { candidates: 4, accepted: 4, sent: 4 },
    });
    expect(
      stepDetails.map((step) => [step.stats.reached, step.stats.waiting, step.stats.sent]),
    ).toEqual([
      [1, 0, 1],
      [1, 0, 0],
      [1, 0, 1],
      [1, 0, 0],
      [1, 0, 1],
      [1, 0, 0],
      [1, 0, 1],
    ]);
    await one.provider.stop();
  });

  test("a changed delay applies from the start of each contact's wait", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, [days(1) / 60, "Then"]);
    const first = await createContacts(one, 12);
    await enrollments.enroll(one.caller, id, { contactIds: first });
    await runFor(minutes(60));
    const [late = 0] = await createContacts(one, 1);
    await enrollments.enroll(one.caller, id, { contactIds: [late] });
    await runFor(minutes(1));
    const waitOf = async () =>
      (await expectBalanced(one, id, steps)).active.map(
        ({ at, lastProgressAt }) => (Date.parse(at) - Date.parse(lastProgressAt)) / 60_000,
      );
    const change = async (delayMinutes: number) => {
      await stepsOf.change(one.caller, { sequenceId: id, stepId: steps[0]!.id }, { delayMinutes });
      await runFor(minutes(1));
    };
    const mailed = async () =>
      (
        await Promise.all([...first, late].map((contactId) => listSubjectsTo(one, contactId)))
      ).flat().length;
    await change(2 * 24 * 60);
    expect(await waitOf()).toEqual(Array(13).fill(2 * 24 * 60));
    await runFor(days(1) + minutes(120));
    expect(await mailed()).toBe(0);
    await change(24 * 60 + 60 * 4);
    await runFor(minutes(40));
    expect(await mailed()).toBe(0);
    await runFor(minutes(30));
    expect([await mailed(), await listSubjectsTo(one, late)]).toEqual([12, []]);
    // With the new delay its wait is over, so it advances immediately.
    await change(60);
    await runFor(minutes(2));
    expect(await mailed()).toBe(13);
    expect((await expectBalanced(one, id, steps)).counts).toMatchObject({ completed: 13 });
    await one.provider.stop();
  });

  test("a longer delay applies to enrollments that are due before a worker has moved them", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, [60, "Then"]);
    const [ann = 0] = await createContacts(one, 1);
    await enrollments.enroll(one.caller, id, { contactIds: [ann] });
    await runFor(minutes(1));
    await stepsOf.change(
      one.caller,
      { sequenceId: id, stepId: steps[0]!.id },
      { delayMinutes: 180 },
    );
    clock.advanceClock(minutes(61));
    await advanceEnrollments((await expectBalanced(one, id, steps)).active);
    expect((await expectBalanced(one, id, steps)).active).toHaveLength(1);
    await runFor(minutes(60));
    expect(await listSubjectsTo(one, ann)).toEqual([]);
    await runFor(minutes(70));
    expect(await listSubjectsTo(one, ann)).toEqual(["Then"]);
    await one.provider.stop();
  });

  test("a delay changed during a pause applies after the sequence is active again", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, [60, "Then"]);
    const [ann = 0] = await createContacts(one, 1);
    await enrollments.enroll(one.caller, id, { contactIds: [ann] });
    await runFor(minutes(1));
    await sequences.change(one.caller, id, { status: "paused" });
    await stepsOf.change(
      one.caller,
      { sequenceId: id, stepId: steps[0]!.id },
      { delayMinutes: 300 },
    );
    await runFor(minutes(120));
    await sequences.change(one.caller, id, { status: "active" });
    await runFor(minutes(120));
    expect(await listSubjectsTo(one, ann)).toEqual([]);
    await runFor(minutes(70));
    expect(await listSubjectsTo(one, ann)).toEqual(["Then"]);
    await one.provider.stop();
  });

  test("a repeated message advances no enrollment early", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, [60, "Late"]);
    const [ann = 0] = await createContacts(one, 1);
    await enrollments.enroll(one.caller, id, { contactIds: [ann] });
    await runFor(minutes(1));
    const { active } = await expectBalanced(one, id, steps);
    await advanceEnrollments(active);
    expect((await expectBalanced(one, id, steps)).active).toEqual(active);
    expect(await listSubjectsTo(one, ann)).toEqual([]);
    await runFor(minutes(61));
    expect(await listSubjectsTo(one, ann)).toEqual(["Late"]);
    await one.provider.stop();
  });

  test("a condition is evaluated when it is reached, and only one branch runs", async () => {
    const one = await createSequenceSender();
    const email = async (subject: string, stepOrder: number, more = {}) => ({
      type: "email",
      stepOrder,
      templateId: await createTemplate(one, subject),
      ...more,
    });
    const { id: tagId } = await groups.create("TAG", one.caller, {
      siteId: one.siteId,
      name: "vip",
    });
    const { id, steps } = await createSequence(one, [
      { type: "delay", stepOrder: 1, delayMinutes: 60 },
      {
        type: "condition",
        stepOrder: 2,
        conditionConfig: hasTagRule("vip"),
        trueBranchStepOrder: 3,
        falseBranchStepOrder: 5,
      },
      await email("Dear VIP", 3),
      await email("And more", 4),
      await email("Dear all", 5, { nextStepOrder: 7 }),
      await email("Never", 6),
      await email("Bye", 7),
    ]);
    const [vip = 0, other = 0] = await createContacts(one, 2);
    await enrollments.enroll(one.caller, id, { contactIds: [vip, other] });
    await runFor(minutes(30));
    await applyTag(one.caller, vip, { id: tagId, name: "vip" });
    await runFor(minutes(40));
    expect(await listSubjectsTo(one, vip)).toEqual(["Dear VIP", "And more"]);
    expect(await listSubjectsTo(one, other)).toEqual(["Dear all", "Bye"]);
    expect((await expectBalanced(one, id, steps)).counts).toMatchObject({ completed: 2 });
    await one.provider.stop();
  });

  test("mails wait for the send window in the contact's time zone", async () => {
    const one = await createSequenceSender();
    const window = { days: [1, 2, 3, 4, 5], from: "09:00", until: "17:00", timezone: "UTC" };
    const { id } = await createSequence(one, ["In hours"], { sendWindow: window });
    // Moves the clock to a Saturday, 20:00 UTC.
    const now = clock.now();
    const saturday = new Date(
      Date.UTC(
        now.getUTCFullYear(),
        now.getUTCMonth(),
        now.getUTCDate() + ((6 - now.getUTCDay() + 7) % 7) + 7,
        20,
      ),
    );
    await runFor((saturday.getTime() - now.getTime()) / 1000);
    const [utc = 0, tokyo = 0] = await createContacts(one, 2);
    await contacts.change(one.caller, tokyo, { timezone: "Asia/Tokyo" });
    await enrollments.enroll(one.caller, id, { contactIds: [utc, tokyo] });
    await runFor(days(1) + 3 * 3600); // Sunday 23:00 UTC, Monday 08:00 in Tokyo
    expect([await listSubjectsTo(one, utc), await listSubjectsTo(one, tokyo)]).toEqual([[], []]);
    await runFor(2 * 3600);
    expect([await listSubjectsTo(one, utc), await listSubjectsTo(one, tokyo)]).toEqual([
      [],
      ["In hours"],
    ]);
    await runFor(8 * 3600 + 120);
    expect(await listSubjectsTo(one, utc)).toEqual(["In hours"]);
    await one.provider.stop();
  });
});

describe("leaving", () => {
  test("unsubscribed, suppressed and deleted contacts leave with a reason and get no further mail", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, ["First", 60, "Second"]);
    const [ann = 0, bob = 0, cid = 0, dan = 0] = await createContacts(one, 4);
    await enrollments.enroll(one.caller, id, { contactIds: [ann, bob, cid, dan] });
    await runFor(minutes(1));
    const suppressions = await import("../../shared/domain/audience/suppressions/suppressions.ts");
    await contacts.change(one.caller, ann, { status: "unsubscribed" });
    const { email } = await contacts.find(one.caller, bob);
    await suppressions.suppress(one.orgId, {
      email,
      reason: "manual",
      detail: null,
      source: "test",
    });
    const contactStatus = await import("../../shared/domain/audience/contacts/contact-status.ts");
    await contactStatus.syncWithSuppressions(
      one.orgId,
      await contactStatus.getContactsByEmail(one.orgId, [email]),
    );
    await contacts.remove(one.caller, cid);
    await runFor(minutes(90));
    expect(await listSubjectsTo(one, dan)).toEqual(["First", "Second"]);
    expect(await listSubjectsTo(one, ann)).toEqual(["First"]);
    const { finished, counts } = await expectBalanced(one, id, steps);
    expect(counts).toEqual({ active: 0, completed: 1, cancelled: 3, failed: 0 });
    const reasonOf = (contactId: number) =>
      finished.find((item) => item.contactId === contactId)?.reason;
    expect([ann, bob, cid, dan].map(reasonOf)).toEqual([
      "unsubscribed",
      "suppressed",
      "contact_deleted",
      undefined,
    ]);
    expect(await enrollments.enroll(one.caller, id, { contactIds: [ann, bob, cid] })).toMatchObject(
      {
        enrolled: 0,
        failed: [
          { contactId: ann, error: "The contact is unsubscribed" },
          { contactId: bob, error: "The contact is suppressed" },
          { contactId: cid, error: "The contact does not exist" },
        ],
      },
    );
    await one.provider.stop();
  });

  test("a contact that unsubscribes during the request is not enrolled", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, ["Mail"]);
    const [ann = 0] = await createContacts(one, 1);
    const holding = pauseCall("TransactWriteItems");
    const enrolling = enrollments.enroll(one.caller, id, { contactIds: [ann] });
    await holding.reached;
    await contacts.change(one.caller, ann, { status: "unsubscribed" });
    holding.release();
    expect(await enrolling).toMatchObject({
      enrolled: 0,
      failed: [{ contactId: ann, error: "The contact is unsubscribed" }],
    });
    expect((await expectBalanced(one, id, steps)).counts).toMatchObject({ active: 0 });
    await one.provider.stop();
  });

  test("a score starts a sequence again only after it fell below the threshold", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, [60], {
      triggerType: "score_reached",
      triggerConfig: { score: 10 },
    });
    const [ann = 0] = await createContacts(one, 1);
    const isIn = async (points: number) => {
      await scores.addPoints(one.orgId, ann, {
        delta: points,
        cause: { key: `${ann} ${await nextActivityId()}`, at: clock.now().toISOString() },
      });
      return (await expectBalanced(one, id, steps)).active.length === 1;
    };
    expect(await isIn(12)).toBe(true);
    await enrollments.cancel(one.caller, id, { contactId: ann });
    expect(await isIn(1)).toBe(false);
    expect(await isIn(-4)).toBe(false);
    expect(await isIn(1)).toBe(true);
    await one.provider.stop();
  });

  test("a removed sequence ends all its enrollments", async () => {
    const one = await createSequenceSender();
    const { id } = await createSequence(one, ["First", 60, "Second"]);
    const all = await createContacts(one, 5);
    await enrollments.enroll(one.caller, id, { contactIds: all });
    await runFor(minutes(1));
    await sequences.remove(one.caller, id);
    await runFor(days(1));
    expect((await expectBalanced(one, id, [])).counts).toEqual({
      active: 0,
      completed: 0,
      cancelled: 0,
      failed: 0,
    });
    expect(await listSubjectsTo(one, all[0]!)).toEqual(["First"]);
    await one.provider.stop();
  });
});

describe("changes with active enrollments", () => {
  test("a paused sequence keeps all places and continues within two minutes of being active again", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, ["First", 60, "Second"]);
    const all = await createContacts(one, 3);
    await enrollments.enroll(one.caller, id, { contactIds: all });
    await runFor(minutes(1));
    await sequences.change(one.caller, id, { status: "paused" });
    await runFor(days(3));
    for (const contact of all) expect(await listSubjectsTo(one, contact)).toEqual(["First"]);
    const { active } = await expectBalanced(one, id, steps);
    expect(
      active.map(({ held, duepk }: { held?: boolean; duepk?: string } & object) => [held, duepk]),
    ).toEqual(all.map(() => [true, undefined]));
    await sequences.change(one.caller, id, { status: "active" });
    await runFor(minutes(2));
    for (const contact of all)
      expect(await listSubjectsTo(one, contact)).toEqual(["First", "Second"]);
    await runFor(minutes(30));
    expect((await expectBalanced(one, id, steps)).counts).toMatchObject({
      active: 0,
      completed: 3,
    });
    await one.provider.stop();
  });

  test("an enrollment in a draft starts when the sequence becomes active", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, ["Hello"], { status: "draft" });
    const all = await createContacts(one, 2);
    await enrollments.enroll(one.caller, id, { contactIds: all });
    await runFor(minutes(10));
    await sequences.change(one.caller, id, { status: "active" });
    await runFor(minutes(2));
    for (const contact of all) expect(await listSubjectsTo(one, contact)).toEqual(["Hello"]);
    expect((await expectBalanced(one, id, steps)).counts).toMatchObject({ completed: 2 });
    await one.provider.stop();
  });

  test("enrollments leave a removed step, and later ones run added and changed steps", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, ["One", 24 * 60, "Two", 24 * 60, "Three"]);
    const [ann = 0, bob = 0] = await createContacts(one, 2);
    await enrollments.enroll(one.caller, id, { contactIds: [ann] });
    await runFor(days(1) + minutes(5));
    expect(await listSubjectsTo(one, ann)).toEqual(["One", "Two"]);
    await enrollments.enroll(one.caller, id, { contactIds: [bob] });
    await runFor(minutes(5));
    await stepsOf.remove(one.caller, id, steps[1]!.id);
    await runFor(minutes(3));
    expect(await listSubjectsTo(one, bob)).toEqual(["One", "Two"]);
    await stepsOf.remove(one.caller, id, steps[2]!.id);
    const more = {
      steps: [{ type: "email", stepOrder: 5, templateId: await createTemplate(one, "Between") }],
      insert: true,
    };
    await stepsOf.add(one.caller, id, AddStepsRequest.parse(more));
    await stepsOf.change(
      one.caller,
      { sequenceId: id, stepId: steps[4]!.id },
      {
        templateId: await createTemplate(one, "Last"),
      },
    );
    await runFor(days(2));
    for (const contact of [ann, bob])
      expect(await listSubjectsTo(one, contact)).toEqual(["One", "Two", "Between", "Last"]);
    const { steps: now } = await getDetail(one.caller, id);
    expect((await expectBalanced(one, id, now)).counts).toMatchObject({ active: 0, completed: 2 });
    await one.provider.stop();
  });

  test("enrollments stay at replaced steps with an id, and leave the others", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, ["One", 24 * 60, "Two", 24 * 60, "Three"]);
    const [ann = 0, bob = 0] = await createContacts(one, 2);
    await enrollments.enroll(one.caller, id, { contactIds: [ann] });
    await runFor(days(1) + minutes(5));
    await enrollments.enroll(one.caller, id, { contactIds: [bob] });
    await runFor(minutes(5));
    const at = async (stepId: number) =>
      (
        await enrollmentListing.list(
          one.caller,
          { limit: 50 },
          { sequenceId: id, stepId, status: "active" },
        )
      ).items.map(({ contactId }) => contactId);
    expect([await at(steps[1]!.id), await at(steps[3]!.id)]).toEqual([[bob], [ann]]);
    const [first, , second, secondWait, third] = steps.map(({ stepOrder: _, ...step }) => step);
    const templateId = await createTemplate(one, "Between");
    const replaced = await stepsOf.replace(
      one.caller,
      id,
      ReplaceStepsRequest.parse({
        stepsVersion: 1,
        steps: [
          first,
          { type: "email", templateId },
          second,
          { ...secondWait, delayMinutes: 60 },
          third,
        ],
      }),
    );
    expect(replaced.steps.map((step) => step.id)).toEqual([
      first!.id,
      replaced.steps[1]!.id,
      second!.id,
      secondWait!.id,
      third!.id,
    ]);
    expect(replaced.stepsVersion).toBe(2);
    await runFor(minutes(3));
    for (const contact of [ann, bob])
      expect(await listSubjectsTo(one, contact)).toEqual(["One", "Two"]);
    await runFor(minutes(65));
    for (const contact of [ann, bob])
      expect(await listSubjectsTo(one, contact)).toEqual(["One", "Two", "Three"]);
    const { steps: now } = await getDetail(one.caller, id);
    expect((await expectBalanced(one, id, now)).counts).toMatchObject({ active: 0, completed: 2 });
    await one.provider.stop();
  });

  test("of two replacements of the same steps, one succeeds, also if repeated", async () => {
    const one = await createSequenceSender();
    const { id, steps } = await createSequence(one, [5], { status: "draft" });
    const request = (delayMinutes: number) =>
      ReplaceStepsRequest.parse({
        stepsVersion: 1,
        steps: [steps[0], { type: "delay", delayMinutes }],
      });
    const both = await Promise.allSettled(
      [10, 20].map((delay) => stepsOf.replace(one.caller, id, request(delay))),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(both.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { kind: "conflict", code: "steps_changed" },
    });
    const stored = await sequences.listSteps(one.caller, id);
    const winner = stored.steps[1]!.delayMinutes!;
    expect(await stepsOf.replace(one.caller, id, request(winner))).toEqual(stored);
    expect(await sequences.listSteps(one.caller, id)).toEqual({ ...stored, stepsVersion: 2 });
    await one.provider.stop();
  });

  test("a deleted template pauses the sequence with a reason, and enrollments keep their place", async () => {
    const one = await createSequenceSender();
    const templateId = await createTemplate(one, "Gone");
    const { id, steps } = await createSequence(one, [{ type: "email", templateId }, 5, "After"]);
    const [ann = 0] = await createContacts(one, 1);
    await templates.remove(one.caller, templateId);
    await enrollments.enroll(one.caller, id, { contactIds: [ann] });
    await runFor(minutes(2));
    expect(await sequences.find(one.caller, id)).toMatchObject({
      status: "paused",
      statusReason: `Template ${templateId} no longer exists`,
    });
    expect((await expectBalanced(one, id, steps)).counts).toMatchObject({ active: 1 });
    await expect(sequences.change(one.caller, id, { status: "active" })).rejects.toMatchObject({
      kind: "invalid",
    });
    await stepsOf.change(
      one.caller,
      { sequenceId: id, stepId: steps[0]!.id },
      {
        templateId: await createTemplate(one, "New"),
      },
    );
    await sequences.change(one.caller, id, { status: "active" });
    await runFor(minutes(10));
    expect(await listSubjectsTo(one, ann)).toEqual(["New", "After"]);
    expect(await sequences.find(one.caller, id)).toMatchObject({
      status: "active",
      statusReason: null,
    });
    await one.provider.stop();
  });
});

test("a sequence without quota and credits pauses, and continues after credits are bought", async () => {
  const one = await createSequenceSender();
  const { id, steps } = await createSequence(one, ["Paid"]);
  const all = await createContacts(one, 3);
  const plan = plans.free.mailsPerMonth;
  const { period } = await allowance.getQuota(one.orgId);
  const spent = { period: period.start, mails: plan - 1, charged: 0 };
  await write(put(keys.accountShard(one.orgId, 0), spent));
  await enrollments.enroll(one.caller, id, { contactIds: all });
  await runFor(minutes(2));
  expect(await sequences.find(one.caller, id)).toMatchObject({
    status: "paused",
    statusReason: expect.stringContaining("credits"),
  });
  expect((await expectBalanced(one, id, steps)).counts).toMatchObject({ active: 3 });
  await write(put(keys.account(one.orgId), { balance: 1_000_000 }));
  await sequences.change(one.caller, id, { status: "active" });
  await runFor(minutes(2));
  for (const contact of all) expect(await listSubjectsTo(one, contact)).toEqual(["Paid"]);
  const { account, used } = await allowance.getQuota(one.orgId);
  expect(used.mails).toBe(plan + 2);
  expect(account.balance).toBeLessThan(1_000_000);
  await one.provider.stop();
});

test("a delay of days ends at the same local time when the clocks change", async () => {
  const one = await createSequenceSender();
  const timezone = "Europe/Berlin";
  const { id, steps } = await createSequence(one, [24 * 60, "Next day"], {
    sendWindow: { days: [1, 2, 3, 4, 5, 6, 7], from: "09:00", until: "10:00", timezone },
  });
  const today = clock.now().toISOString().slice(0, 10);
  const morning = instantOfLocalTime(`${today}T09:30`, timezone);
  const mornings = Array.from({ length: 400 }, (_, n) => addLocalDays(morning, n + 1, timezone));
  const dayMs = days(1) * 1000;
  const changes = mornings.filter(
    (at) => addLocalDays(at, 1, timezone).getTime() - at.getTime() !== dayMs,
  );
  for (const eve of changes) {
    await runFor((eve.getTime() - clock.now().getTime()) / 1000);
    const [contact = 0] = await createContacts(one, 1);
    await enrollments.enroll(one.caller, id, { contactIds: [contact] });
    await runFor(minutes(1));
    // A change of the step is applied to the enrollments that wait at it.
    const change = async (delayMinutes: number) =>
      stepsOf.change(one.caller, { sequenceId: id, stepId: steps[0]!.id }, { delayMinutes });
    await change(2 * 24 * 60);
    await runFor(minutes(1));
    await change(24 * 60);
    await runFor(days(1) - minutes(70));
    expect(await listSubjectsTo(one, contact)).toEqual([]);
    const nextMorning = addLocalDays(eve, 1, timezone);
    await runFor((nextMorning.getTime() - clock.now().getTime()) / 1000 + minutes(5));
    expect(await listSubjectsTo(one, contact)).toEqual(["Next day"]);
  }
  await one.provider.stop();
});
