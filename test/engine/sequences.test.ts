import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as allowance from "../../shared/domain/allowance.ts";
import * as scores from "../../shared/domain/contacts/scores.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import { advance } from "../../shared/domain/sequences/advance.ts";
import { detail } from "../../shared/domain/sequences/detail.ts";
import * as enrollments from "../../shared/domain/sequences/enrollments.ts";
import { NewSteps } from "../../shared/domain/sequences/step.ts";
import * as stepsOf from "../../shared/domain/sequences/steps.ts";
import * as sequences from "../../shared/domain/sequences.ts";
import * as templates from "../../shared/domain/templates.ts";
import { put, write } from "../../shared/doors/table.ts";
import { takeActivity } from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import { plans } from "../../shared/plans.ts";
import { heldUp, letGo } from "../support/held-up.ts";
import { books, days, mailsTo, minutes, opened, pass, people, sequence, shop, template } from "../support/travellers.ts";

vi.setConfig({ testTimeout: 120_000 });
beforeAll(opened);
afterEach(letGo);

const has = (tag: string) => ({ match: "all", conditions: [{ field: "tag", operator: "equals", value: tag }] });

describe("time travel", () => {
  test("14 days of mails and waits: each at its time, each once", async () => {
    const one = await shop();
    const { id, steps } = await sequence(one, ["Day 0", 24 * 60, "Day 1", 6 * 24 * 60, "Day 7", 7 * 24 * 60, "Day 14"]);
    const [ann = 0] = await people(one, 1);
    expect(await enrollments.enroll(one.caller, id, [ann])).toMatchObject({ enrolled: 1, unchanged: 0, failed: [] });
    await pass(minutes(1));
    expect(await mailsTo(one, ann)).toEqual(["Day 0"]);
    await pass(days(1) - minutes(5));
    expect(await mailsTo(one, ann)).toEqual(["Day 0"]);
    await pass(minutes(8));
    expect(await mailsTo(one, ann)).toEqual(["Day 0", "Day 1"]);
    const { active } = await books(one, id, steps);
    expect(active).toHaveLength(1);
    await pass(days(15));
    expect(await mailsTo(one, ann)).toEqual(["Day 0", "Day 1", "Day 7", "Day 14"]);
    const { finished } = await books(one, id, steps);
    expect(finished).toMatchObject([{ contactId: ann, status: "completed" }]);
    const { stats, steps: told } = await detail(one.caller, id);
    expect(stats).toMatchObject({ active: 0, completed: 1, mails: { candidates: 4, accepted: 4, sent: 4 } });
    expect(told.map((step) => [step.stats.reached, step.stats.waiting, step.stats.sent])).toEqual([
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

  test("a message that comes again brings nobody on before the time", async () => {
    const one = await shop();
    const { id, steps } = await sequence(one, [60, "Late"]);
    const [ann = 0] = await people(one, 1);
    await enrollments.enroll(one.caller, id, [ann]);
    await pass(minutes(1));
    const { active } = await books(one, id, steps);
    await advance(active);
    expect((await books(one, id, steps)).active).toEqual(active);
    expect(await mailsTo(one, ann)).toEqual([]);
    await pass(minutes(61));
    expect(await mailsTo(one, ann)).toEqual(["Late"]);
    await one.provider.stop();
  });

  test("a condition is asked at its moment; who comes out of one branch does not walk into the other", async () => {
    const one = await shop();
    const email = async (subject: string, stepOrder: number, more = {}) => ({
      type: "email",
      stepOrder,
      templateId: await template(one, subject),
      ...more,
    });
    const { id, steps } = await sequence(one, [
      { type: "delay", stepOrder: 1, delayMinutes: 60 },
      { type: "condition", stepOrder: 2, conditionConfig: has("vip"), trueBranchStepOrder: 3, falseBranchStepOrder: 5 },
      await email("Dear VIP", 3),
      await email("And more", 4),
      await email("Dear all", 5, { nextStepOrder: 7 }),
      await email("Never", 6),
      await email("Bye", 7),
    ]);
    const [vip = 0, other = 0] = await people(one, 2);
    await enrollments.enroll(one.caller, id, [vip, other]);
    await pass(minutes(30));
    const { id: tagId } = await import("../../shared/domain/contacts/groups.ts").then((groups) =>
      groups.create("TAG", one.caller, { siteId: one.siteId, name: "vip" }),
    );
    await contacts.join(one.caller, vip, "TAG", tagId);
    await pass(minutes(40));
    expect(await mailsTo(one, vip)).toEqual(["Dear VIP", "And more"]);
    expect(await mailsTo(one, other)).toEqual(["Dear all", "Bye"]);
    expect((await books(one, id, steps)).counts).toMatchObject({ completed: 2 });
    await one.provider.stop();
  });

  test("mails wait for the window on the contact's own clock", async () => {
    const one = await shop();
    const window = { days: [1, 2, 3, 4, 5], from: "09:00", until: "17:00", timezone: "UTC" };
    const { id } = await sequence(one, ["In hours"], { sendWindow: window });
    // To a Saturday, 20:00 UTC.
    const now = clock.now();
    const saturday = new Date(
      Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + ((6 - now.getUTCDay() + 7) % 7) + 7, 20),
    );
    await pass((saturday.getTime() - now.getTime()) / 1000);
    const [utc = 0, tokyo = 0] = await people(one, 2);
    await contacts.change(one.caller, tokyo, { timezone: "Asia/Tokyo" });
    await enrollments.enroll(one.caller, id, [utc, tokyo]);
    await pass(days(1) + 3 * 3600); // Sunday 23:00 UTC, Monday 08:00 in Tokyo
    expect([await mailsTo(one, utc), await mailsTo(one, tokyo)]).toEqual([[], []]);
    await pass(2 * 3600);
    expect([await mailsTo(one, utc), await mailsTo(one, tokyo)]).toEqual([[], ["In hours"]]);
    await pass(8 * 3600 + 120);
    expect(await mailsTo(one, utc)).toEqual(["In hours"]);
    await one.provider.stop();
  });
});

describe("who leaves", () => {
  test("who unsubscribed, is suppressed or is deleted gets no further mail, and leaves with the reason", async () => {
    const one = await shop();
    const { id, steps } = await sequence(one, ["First", 60, "Second"]);
    const [ann = 0, bob = 0, cid = 0, dan = 0] = await people(one, 4);
    await enrollments.enroll(one.caller, id, [ann, bob, cid, dan]);
    await pass(minutes(1));
    const suppressions = await import("../../shared/domain/suppressions.ts");
    await contacts.change(one.caller, ann, { status: "unsubscribed" });
    const { email } = await contacts.find(one.caller, bob);
    await suppressions.suppress(one.orgId, { email, reason: "manual", detail: null, source: "test" });
    const standing = await import("../../shared/domain/contacts/standing.ts");
    await standing.follow(one.orgId, await standing.everywhere(one.orgId, [email]));
    await contacts.remove(one.caller, cid);
    await pass(minutes(90));
    expect(await mailsTo(one, dan)).toEqual(["First", "Second"]);
    expect(await mailsTo(one, ann)).toEqual(["First"]);
    const { finished, counts } = await books(one, id, steps);
    expect(counts).toEqual({ active: 0, completed: 1, cancelled: 2, failed: 1 });
    const reasonOf = (contactId: number) => finished.find((item) => item.contactId === contactId)?.reason;
    expect([ann, bob, cid, dan].map(reasonOf)).toEqual(["unsubscribed", "suppressed", "contact_deleted", undefined]);
    expect(await enrollments.enroll(one.caller, id, [ann, bob, cid])).toMatchObject({
      enrolled: 0,
      failed: [
        { contactId: ann, error: "The contact is unsubscribed" },
        { contactId: bob, error: "The contact is suppressed" },
        { contactId: cid, error: "There is no such contact" },
      ],
    });
    await one.provider.stop();
  });

  test("who unsubscribes at the moment of being enrolled is not", async () => {
    const one = await shop();
    const { id, steps } = await sequence(one, ["Mail"]);
    const [ann = 0] = await people(one, 1);
    const holding = heldUp(TransactWriteCommand);
    const enrolling = enrollments.enroll(one.caller, id, [ann]);
    await holding.reached;
    await contacts.change(one.caller, ann, { status: "unsubscribed" });
    holding.release();
    expect(await enrolling).toMatchObject({ enrolled: 0, failed: [{ contactId: ann, error: "The contact is unsubscribed" }] });
    expect((await books(one, id, steps)).counts).toMatchObject({ active: 0 });
    await one.provider.stop();
  });

  test("a score that was reached starts nothing again before it is reached anew", async () => {
    const one = await shop();
    const { id, steps } = await sequence(one, [60], { triggerType: "score_reached", triggerConfig: { score: 10 } });
    const [ann = 0] = await people(one, 1);
    const isIn = async (points: number) => {
      await scores.adjust(one.orgId, ann, points, { key: `${ann} ${await takeActivity()}`, at: clock.now().toISOString() });
      return (await books(one, id, steps)).active.length === 1;
    };
    expect(await isIn(12)).toBe(true);
    await enrollments.cancel(one.caller, id, { contactId: ann });
    expect(await isIn(1)).toBe(false);
    expect(await isIn(-4)).toBe(false);
    expect(await isIn(1)).toBe(true);
    await one.provider.stop();
  });

  test("a removed sequence lets everyone go", async () => {
    const one = await shop();
    const { id } = await sequence(one, ["First", 60, "Second"]);
    const all = await people(one, 5);
    await enrollments.enroll(one.caller, id, all);
    await pass(minutes(1));
    await sequences.remove(one.caller, id);
    await pass(days(1));
    expect((await books(one, id, [])).counts).toEqual({ active: 0, completed: 0, cancelled: 0, failed: 0 });
    expect(await mailsTo(one, all[0]!)).toEqual(["First"]);
    await one.provider.stop();
  });
});

describe("while people are inside", () => {
  test("a paused sequence holds everyone's place, and lets go within two minutes of being active again", async () => {
    const one = await shop();
    const { id, steps } = await sequence(one, ["First", 60, "Second"]);
    const all = await people(one, 3);
    await enrollments.enroll(one.caller, id, all);
    await pass(minutes(1));
    await sequences.change(one.caller, id, { status: "paused" });
    await pass(days(3));
    for (const contact of all) expect(await mailsTo(one, contact)).toEqual(["First"]);
    const { active } = await books(one, id, steps);
    expect(active.map(({ held, duepk }: { held?: boolean; duepk?: string } & object) => [held, duepk])).toEqual(
      all.map(() => [true, undefined]),
    );
    await sequences.change(one.caller, id, { status: "active" });
    await pass(minutes(2));
    for (const contact of all) expect(await mailsTo(one, contact)).toEqual(["First", "Second"]);
    await pass(minutes(30));
    expect((await books(one, id, steps)).counts).toMatchObject({ active: 0, completed: 3 });
    await one.provider.stop();
  });

  test("who is enrolled in a draft begins when it becomes active", async () => {
    const one = await shop();
    const { id, steps } = await sequence(one, ["Hello"], { status: "draft" });
    const all = await people(one, 2);
    await enrollments.enroll(one.caller, id, all);
    await pass(minutes(10));
    await sequences.change(one.caller, id, { status: "active" });
    await pass(minutes(2));
    for (const contact of all) expect(await mailsTo(one, contact)).toEqual(["Hello"]);
    expect((await books(one, id, steps)).counts).toMatchObject({ completed: 2 });
    await one.provider.stop();
  });

  test("a removed step moves on whoever is at it; added and changed ones are done by all who have not come by", async () => {
    const one = await shop();
    const { id, steps } = await sequence(one, ["One", 24 * 60, "Two", 24 * 60, "Three"]);
    const [ann = 0, bob = 0] = await people(one, 2);
    await enrollments.enroll(one.caller, id, [ann]);
    await pass(days(1) + minutes(5));
    expect(await mailsTo(one, ann)).toEqual(["One", "Two"]);
    await enrollments.enroll(one.caller, id, [bob]);
    await pass(minutes(5));
    await stepsOf.remove(one.caller, id, steps[1]!.id);
    await pass(minutes(3));
    expect(await mailsTo(one, bob)).toEqual(["One", "Two"]);
    await stepsOf.remove(one.caller, id, steps[2]!.id);
    const more = { steps: [{ type: "email", stepOrder: 5, templateId: await template(one, "Between") }], insert: true };
    await stepsOf.add(one.caller, id, NewSteps.parse(more));
    await stepsOf.change(one.caller, id, steps[4]!.id, { templateId: await template(one, "Last") });
    await pass(days(2));
    for (const contact of [ann, bob]) expect(await mailsTo(one, contact)).toEqual(["One", "Two", "Between", "Last"]);
    const { steps: now } = await detail(one.caller, id);
    expect((await books(one, id, now)).counts).toMatchObject({ active: 0, completed: 2 });
    await one.provider.stop();
  });

  test("a template that is gone pauses it with the reason, and nobody loses the place", async () => {
    const one = await shop();
    const templateId = await template(one, "Gone");
    const { id, steps } = await sequence(one, [{ type: "email", templateId }, 5, "After"]);
    const [ann = 0] = await people(one, 1);
    await templates.remove(one.caller, templateId);
    await enrollments.enroll(one.caller, id, [ann]);
    await pass(minutes(2));
    expect(await sequences.find(one.caller, id)).toMatchObject({
      status: "paused",
      statusReason: `Template ${templateId} is not there any more`,
    });
    expect((await books(one, id, steps)).counts).toMatchObject({ active: 1 });
    await expect(sequences.change(one.caller, id, { status: "active" })).rejects.toMatchObject({ kind: "invalid" });
    await stepsOf.change(one.caller, id, steps[0]!.id, { templateId: await template(one, "New") });
    await sequences.change(one.caller, id, { status: "active" });
    await pass(minutes(10));
    expect(await mailsTo(one, ann)).toEqual(["New", "After"]);
    expect(await sequences.find(one.caller, id)).toMatchObject({ status: "active", statusReason: null });
    await one.provider.stop();
  });
});

test("without plan and credits for its mails it pauses, and goes on once they are paid for", async () => {
  const one = await shop();
  const { id, steps } = await sequence(one, ["Paid"]);
  const all = await people(one, 3);
  const plan = plans.free.mailsPerMonth;
  const { period } = await allowance.standing(one.orgId);
  await write(put(keys.account(one.orgId), { period: period.start, mails: plan - 1, charged: 0 }));
  await enrollments.enroll(one.caller, id, all);
  await pass(minutes(2));
  expect(await sequences.find(one.caller, id)).toMatchObject({ status: "paused", statusReason: expect.stringContaining("credits") });
  expect((await books(one, id, steps)).counts).toMatchObject({ active: 3 });
  await write(put(keys.account(one.orgId), { period: period.start, mails: plan - 1, charged: 0, balance: 1_000_000 }));
  await sequences.change(one.caller, id, { status: "active" });
  await pass(minutes(2));
  for (const contact of all) expect(await mailsTo(one, contact)).toEqual(["Paid"]);
  const account = (await allowance.standing(one.orgId)).account;
  expect(account).toMatchObject({ mails: plan + 2 });
  expect(account.balance).toBeLessThan(1_000_000);
  await one.provider.stop();
});
