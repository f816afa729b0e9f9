// Whoever dies at whatever step, and however often a message comes: each step is done once, and the books balance.
import { setTimeout as sleep } from "node:timers/promises";
import { TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as activities from "../../shared/domain/contacts/activities.ts";
import * as groups from "../../shared/domain/contacts/groups.ts";
import * as members from "../../shared/domain/contacts/members.ts";
import * as scores from "../../shared/domain/contacts/scores.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import { applyTag } from "../../shared/domain/scoring.ts";
import * as sources from "../../shared/domain/sending/sources.ts";
import { advance as bringOn } from "../../shared/domain/sequences/advance.ts";
import { advanceCohorts } from "../../shared/domain/sequences/due.ts";
import * as enrollments from "../../shared/domain/sequences/enrollments.ts";
import * as stepsOf from "../../shared/domain/sequences/steps.ts";
import { membersOf } from "../../shared/domain/sequences/waiting.ts";
import * as sequences from "../../shared/domain/sequences.ts";
import { put, write } from "../../shared/doors/table.ts";
import { takeActivity } from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import { heldUp, letGo } from "../support/held-up.ts";
import { atSomeSteps } from "../support/killer.ts";
import { books, cohortsOf, days, mailsTo, minutes, opened, pass, people, type Shop, sequence, shop } from "../support/travellers.ts";

vi.setConfig({ testTimeout: 300_000 });
beforeAll(opened);
afterEach(letGo);

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
  test.each(["the first mail", "the wait and the last mail"])(
    "of advancing to %s: every mail once, every step counted once",
    async (when) => {
      const one = await shop();
      const unopened = { match: "all", conditions: [{ field: "step.1.opened", operator: "notExists" }] };
      const steps = await atSomeSteps(5, async (kill) => {
        const way = await sequence(one, ["One", { type: "condition", conditionConfig: unopened }, 60, "Two"]);
        const all = await people(one, 2);
        await enrollments.enroll(one.caller, way.id, all);
        if (when !== "the first mail") {
          await pass(minutes(2));
          clock.advance(minutes(60));
        }
        // A worker who is killed, and then the queue, which brings the message again.
        const { active } = await books(one, way.id, way.steps);
        await kill(() => bringOn(active));
        await books(one, way.id, way.steps);
        await pass(minutes(70));
        for (const contact of all) expect(await mailsTo(one, contact)).toEqual(["One", "Two"]);
        expect((await books(one, way.id, way.steps)).counts).toEqual({ active: 0, completed: 2, cancelled: 0, failed: 0 });
      });
      expect(steps.length).toBeGreaterThan(20);
      await one.provider.stop();
    },
  );

  test("of bringing a cohort on: nobody is forgotten, whoever left it, and in the end it is gone", async () => {
    const one = await shop();
    const steps = await atSomeSteps(5, async (kill) => {
      const way = await sequence(one, [60, "Mail", 60]);
      const all = await people(one, 6);
      await enrollments.enroll(one.caller, way.id, all);
      await pass(minutes(1));
      const [cohort] = await cohortsOf(one.orgId, way.id);
      expect(membersOf(cohort!)).toHaveLength(6);
      await enrollments.cancel(one.caller, way.id, { contactId: all[0]! });
      await contacts.change(one.caller, all[1]!, { email: `moved-${all[1]}@example.com` });
      clock.advance(minutes(61));
      await kill(() => advanceCohorts([cohort!]));
      await books(one, way.id, way.steps);
      await pass(minutes(70));
      for (const contact of all.slice(1)) expect(await mailsTo(one, contact)).toEqual(["Mail"]);
      expect((await books(one, way.id, way.steps)).counts).toEqual({ active: 0, completed: 5, cancelled: 1, failed: 0 });
      expect(await cohortsOf(one.orgId, way.id)).toEqual([]);
    });
    expect(steps.length).toBeGreaterThan(20);
    await one.provider.stop();
  });

  test("of enrolling: whole or not at all, and again it is done", async () => {
    const one = await shop();
    const { id, steps } = await sequence(one, [60]);
    const told = await atSomeSteps(5, async (kill) => {
      const all = await people(one, 3);
      await kill(() => enrollments.enroll(one.caller, id, all));
      await books(one, id, steps);
      await enrollments.enroll(one.caller, id, all);
      const { active } = await books(one, id, steps);
      expect(all.every((contact) => active.some(({ contactId }) => contactId === contact))).toBe(true);
    });
    expect(told.length).toBeGreaterThan(5);
    await one.provider.stop();
  });

  test("of cancelling, of deleting the contact, of removing the sequence", async () => {
    const one = await shop();
    await atSomeSteps(5, async (kill) => {
      const { id, steps } = await sequence(one, [60]);
      const [ann = 0] = await people(one, 1);
      await enrollments.enroll(one.caller, id, [ann]);
      await kill(() => enrollments.cancel(one.caller, id, { contactId: ann }));
      await books(one, id, steps);
      await enrollments.cancel(one.caller, id, { contactId: ann }).catch(() => {});
      expect((await books(one, id, steps)).counts).toMatchObject({ active: 0, cancelled: 1 });
    });
    await atSomeSteps(5, async (kill) => {
      const { id, steps } = await sequence(one, [60]);
      const [ann = 0] = await people(one, 1);
      await enrollments.enroll(one.caller, id, [ann]);
      await kill(() => contacts.remove(one.caller, ann));
      await books(one, id, steps);
      await contacts.remove(one.caller, ann).catch(() => {});
      expect((await books(one, id, steps)).counts).toMatchObject({ active: 0, cancelled: 1 });
    });
    await atSomeSteps(5, async (kill) => {
      const { id, steps } = await sequence(one, [60]);
      const all = await people(one, 2);
      await enrollments.enroll(one.caller, id, all);
      await kill(() => sequences.remove(one.caller, id));
      await sequences.remove(one.caller, id).catch(() => {});
      await pass(days(1));
      expect((await books(one, id, steps)).counts).toMatchObject({ active: 0 });
    });
    await atSomeSteps(5, async (kill) => {
      const { id, steps } = await sequence(one, [60]);
      await enrollments.enroll(one.caller, id, await people(one, 2));
      await sequences.remove(one.caller, id);
      await pass(minutes(1), once(kill));
      await pass(days(1));
      expect((await books(one, id, steps)).counts).toMatchObject({ active: 0 });
    });
    await one.provider.stop();
  });

  test("of removing a sequence whose mail is held back: that mail never goes, and is counted so", async () => {
    const one = await shop();
    await atSomeSteps(5, async (kill) => {
      const { id, steps } = await sequence(one, ["Held"]);
      await enrollments.enroll(one.caller, id, await people(one, 2));
      await bringOn((await books(one, id, steps)).active);
      await sequences.change(one.caller, id, { status: "paused" });
      await pass(minutes(1));
      const numbers = async () => (await sources.numbers(one.orgId, { kind: "sequence", id })).all;
      expect(await numbers()).toMatchObject({ accepted: 2, queued: 2 });
      await sequences.remove(one.caller, id);
      await pass(minutes(1), once(kill));
      await pass(days(1));
      expect(await numbers()).toMatchObject({ accepted: 2, queued: 0, cancelled: 2 });
      expect(one.provider.mails).toEqual([]);
    });
    await one.provider.stop();
  });

  test("of pausing and going on again", async () => {
    const one = await shop();
    await atSomeSteps(5, async (kill) => {
      const { id, steps } = await sequence(one, [10, "Mail"]);
      const all = await people(one, 2);
      await enrollments.enroll(one.caller, id, all);
      await pass(minutes(1));
      await sequences.change(one.caller, id, { status: "paused" });
      clock.advance(minutes(30));
      await pass(minutes(5), once(kill));
      await sequences.change(one.caller, id, { status: "active" });
      await pass(days(1));
      for (const contact of all) expect(await mailsTo(one, contact)).toEqual(["Mail"]);
      expect((await books(one, id, steps)).counts).toMatchObject({ completed: 2 });
    });
    await atSomeSteps(5, async (kill) => {
      const { id, steps } = await sequence(one, [10, "Mail"]);
      const all = await people(one, 2);
      await enrollments.enroll(one.caller, id, all);
      await pass(minutes(1));
      await sequences.change(one.caller, id, { status: "paused" });
      await pass(minutes(30));
      await kill(() => sequences.change(one.caller, id, { status: "active" }));
      await sequences.change(one.caller, id, { status: "active" });
      await pass(days(1));
      for (const contact of all) expect(await mailsTo(one, contact)).toEqual(["Mail"]);
      expect((await books(one, id, steps)).counts).toMatchObject({ completed: 2 });
    });
    await one.provider.stop();
  });
});

describe("what starts sequences, dead at any step, starts them once", () => {
  const inside = async (one: Shop, id: number) => (await books(one, id, [])).active.map(({ contactId }) => contactId);

  test("a tag", async () => {
    const one = await shop();
    const tag = async () => {
      const ids = await groups.tagsNamed(one.caller, one.siteId, ["Buyer"]);
      return groups.ofSite("TAG", one.caller, ids.get("Buyer")!, one.siteId);
    };
    const { id } = await sequence(one, [60], { triggerType: "tag_add", triggerConfig: { tagName: "buyer" } });
    await atSomeSteps(5, async (kill) => {
      const [ann = 0] = await people(one, 1);
      const found = await tag();
      await kill(() => applyTag(one.caller, ann, found));
      const tagged = (await contacts.item(one.caller, ann)).tags?.has(found.id) === true;
      expect((await inside(one, id)).includes(ann)).toBe(tagged);
      expect(await applyTag(one.caller, ann, found)).toMatchObject({ applied: !tagged });
      expect((await inside(one, id)).includes(ann)).toBe(true);
    });
    await sequences.change(one.caller, id, { status: "paused" });
    const [bob = 0] = await people(one, 1);
    await applyTag(one.caller, bob, await tag());
    expect((await inside(one, id)).includes(bob)).toBe(false);
    await one.provider.stop();
  });

  test("a list, for many at once; those who are not subscribed only join it", async () => {
    const one = await shop();
    const list = await groups.create("LIST", one.caller, { siteId: one.siteId, name: "News" });
    const config = { triggerType: "list_join" as const, triggerConfig: { listId: list.id } };
    const ways = [await sequence(one, [60], config), await sequence(one, [60], config)];
    await atSomeSteps(5, async (kill) => {
      const all = await people(one, 5);
      await contacts.change(one.caller, all[0]!, { status: "unsubscribed" });
      await kill(() => members.add(one.caller, "LIST", list.id, all));
      // What it had asked for when it died, may come about after its death.
      await sleep(50);
      for (const { id } of ways) {
        const listed = (await contacts.byIds(one.orgId, all, { consistent: true })).filter(({ lists }) => lists?.has(list.id));
        const expected = listed.map((contact) => contact.id).filter((contact) => contact !== all[0]);
        expect((await inside(one, id)).filter((contact) => all.includes(contact)).toSorted()).toEqual(expected.toSorted());
      }
      await members.add(one.caller, "LIST", list.id, all);
      for (const { id } of ways) expect((await inside(one, id)).filter((contact) => all.includes(contact))).toHaveLength(4);
    });
    await one.provider.stop();
  });

  test("a custom event, and a score that is reached by it, by hand, or by two at a time", async () => {
    const one = await shop();
    const byEvent = await sequence(one, [60], { triggerType: "custom_event", triggerConfig: { eventName: "bought" } });
    const byScore = await sequence(one, [60], { triggerType: "score_reached", triggerConfig: { score: 10 } });
    await atSomeSteps(5, async (kill) => {
      const [ann = 0] = await people(one, 1);
      const activity = {
        id: await takeActivity(),
        at: clock.now().toISOString(),
        type: "custom" as const,
        name: "bought",
        source: "api" as const,
      };
      await kill(() => activities.record(one.orgId, ann, activity));
      await activities.record(one.orgId, ann, activity);
      expect((await inside(one, byEvent.id)).includes(ann)).toBe(true);
      await kill(() => scores.change(one.caller, ann, { score: 9 })).catch(() => {});
      await scores.change(one.caller, ann, { score: 9 });
      expect((await inside(one, byScore.id)).includes(ann)).toBe(false);
      const cause = { key: `cause ${ann}`, at: clock.now().toISOString() };
      await kill(() => scores.adjust(one.orgId, ann, 1, cause)).catch(() => {});
      await scores.adjust(one.orgId, ann, 1, cause);
      expect((await inside(one, byScore.id)).includes(ann)).toBe(true);
      expect((await contacts.item(one.caller, ann)).score).toBe(10);
    });
    for (let n = 0; n < 10; n++) {
      const [bob = 0] = await people(one, 1);
      const at = clock.now().toISOString();
      await Promise.all([1, 2, 3].map((i) => scores.adjust(one.orgId, bob, 4, { key: `${bob} ${i}`, at })));
      expect((await contacts.item(one.caller, bob)).score).toBe(12);
      expect((await inside(one, byScore.id)).includes(bob)).toBe(true);
    }
    await one.provider.stop();
  });
});

describe("at the same time", () => {
  test("whose contact took another address while the cohort was brought on, is not forgotten: the cohort stays until a tick has seen to it", async () => {
    const one = await shop();
    const { id, steps } = await sequence(one, [60]);
    const all = await people(one, 4);
    await enrollments.enroll(one.caller, id, all);
    await pass(minutes(1));
    const [cohort] = await cohortsOf(one.orgId, id);
    clock.advance(minutes(61));
    // Its contact takes another address between the reading and the writing: the end that was planned for it cannot be made.
    const ending = heldUp(TransactWriteCommand);
    const brought = advanceCohorts([cohort!]);
    await ending.reached;
    await contacts.change(one.caller, all[0]!, { email: `other-${all[0]}@example.com` });
    ending.release();
    await brought;
    const { active } = await books(one, id, steps);
    expect(active.map(({ contactId }) => contactId)).toEqual([all[0]]);
    expect(await cohortsOf(one.orgId, id)).toHaveLength(1);
    await pass(minutes(2));
    expect((await books(one, id, steps)).counts).toMatchObject({ active: 0, completed: 4 });
    expect(await cohortsOf(one.orgId, id)).toEqual([]);
    await one.provider.stop();
  });

  test("who is named by two cohorts goes on once", async () => {
    const one = await shop();
    const { id, steps } = await sequence(one, [60, "Mail"]);
    const all = await people(one, 3);
    await enrollments.enroll(one.caller, id, all);
    await pass(minutes(1));
    const [cohort] = await cohortsOf(one.orgId, id);
    const other = { ...cohort!, ...keys.cohort(one.orgId, id, "other"), id: "other" };
    await write(put(other, other));
    clock.advance(minutes(61));
    await Promise.all([advanceCohorts([cohort!, other]), advanceCohorts([other])]);
    await pass(minutes(2));
    for (const contact of all) expect(await mailsTo(one, contact)).toEqual(["Mail"]);
    expect((await books(one, id, steps)).counts).toMatchObject({ active: 0, completed: 3 });
    expect(await cohortsOf(one.orgId, id)).toEqual([]);
    await one.provider.stop();
  });

  test("a worker whose clock is behind leaves a cohort to the next one", async () => {
    const one = await shop();
    const { id, steps } = await sequence(one, [60]);
    await enrollments.enroll(one.caller, id, await people(one, 3));
    await pass(minutes(1));
    const [cohort] = await cohortsOf(one.orgId, id);
    await advanceCohorts([cohort!]);
    expect((await books(one, id, steps)).counts).toMatchObject({ active: 3 });
    await pass(minutes(65));
    expect((await books(one, id, steps)).counts).toMatchObject({ completed: 3 });
    await one.provider.stop();
  });

  test("who goes on while somebody late would hold it for a pause that is over, waits as long as it is to", async () => {
    const one = await shop();
    const { id, steps } = await sequence(one, [60, "Late"]);
    const [ann = 0] = await people(one, 1);
    await enrollments.enroll(one.caller, id, [ann]);
    const { active } = await books(one, id, steps);
    await sequences.change(one.caller, id, { status: "paused" });
    const holding = heldUp(UpdateCommand);
    const late = bringOn(active);
    await holding.reached;
    await sequences.change(one.caller, id, { status: "active" });
    await bringOn(active);
    holding.release();
    await late;
    await pass(minutes(50));
    expect(await mailsTo(one, ann)).toEqual([]);
    await pass(minutes(20));
    expect(await mailsTo(one, ann)).toEqual(["Late"]);
    await one.provider.stop();
  });

  test("enrolled by many, a contact is in it once", async () => {
    const one = await shop();
    const { id, steps } = await sequence(one, ["Mail", 60]);
    const all = await people(one, 20);
    const entered = await Promise.all([1, 2, 3, 4].map(() => enrollments.enroll(one.caller, id, all)));
    expect(entered.reduce((sum, { enrolled }) => sum + enrolled, 0)).toBe(20);
    await pass(minutes(5));
    expect((await books(one, id, steps)).counts).toMatchObject({ active: 20 });
    for (const contact of all) expect(await mailsTo(one, contact)).toEqual(["Mail"]);
    await one.provider.stop();
  });

  test("the same message twice, an edit, a cancellation and a pause while it is worked on: nobody gets a mail twice", async () => {
    const one = await shop();
    for (let n = 0; n < 5; n++) {
      const { id, steps } = await sequence(one, ["One", 0, "Two", 0, "Three"]);
      const all = await people(one, 10);
      await enrollments.enroll(one.caller, id, all);
      const { active } = await books(one, id, steps);
      await Promise.all([
        bringOn(active),
        bringOn(active),
        stepsOf.remove(one.caller, id, steps[2]!.id),
        enrollments.cancel(one.caller, id, { contactId: all[0]! }),
        sequences.change(one.caller, id, { status: "paused" }),
        contacts.remove(one.caller, all[1]!),
      ]);
      await sequences.change(one.caller, id, { status: "active" });
      await pass(days(1));
      const { counts } = await books(
        one,
        id,
        steps.filter((_, i) => i !== 2),
      );
      expect(counts).toMatchObject({ active: 0, completed: 8, cancelled: 2 });
      // What the pause held back may be overtaken by what comes next.
      for (const contact of all.slice(2))
        expect((await mailsTo(one, contact)).filter((subject) => subject !== "Two").toSorted()).toEqual(["One", "Three"]);
    }
    await one.provider.stop();
  });
});
