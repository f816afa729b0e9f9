// Waits for an event, a date and an hour of a weekday: each ends once, and no event is missed.
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { applyTag } from "../../shared/domain/audience/groups/tags.ts";
import * as customEvents from "../../shared/domain/audience/tracking/custom-events.ts";
import * as recordCustomEvents from "../../shared/domain/audience/tracking/record-custom-events.ts";
import { advanceEnrollments } from "../../shared/domain/automation/advance.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import { getDetail } from "../../shared/domain/automation/sequence-detail.ts";
import { SequenceChanges } from "../../shared/domain/automation/sequence-schema.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import * as stepsOf from "../../shared/domain/automation/steps.ts";
import { NewTemplate } from "../../shared/domain/content/template-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
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

const overFifty = {
  match: "all",
  conditions: [{ field: "properties.total", operator: "greaterThan", value: 50 }],
};
/** Waits a day for a large order, then mails "Bought" or "Missed". */
const waitForOrder = [
  {
    type: "wait_until",
    waitConfig: { eventName: "ordered", filter: overFifty, timeoutMinutes: 1440 },
    nextStepOrder: 2,
    timeoutStepOrder: 4,
  },
  "Bought",
  { type: "exit" },
  "Missed",
];

const order = ({ caller }: SequenceSender, contactId: number, total = 60, eventName = "ordered") =>
  recordCustomEvents.create(
    caller,
    customEvents.NewCustomEvent.parse({ contactId, eventName, properties: { total } }),
  );

async function enrollOne(sender: SequenceSender, steps: Parameters<typeof createSequence>[1]) {
  const sequence = await createSequence(sender, steps);
  const [ann = 0] = await createContacts(sender, 1);
  await enrollments.enroll(sender.caller, sequence.id, { contactIds: [ann] });
  return { ...sequence, ann };
}

describe("a wait for an event", () => {
  test("goes on at once with an event that matches, and elsewhere when time is over", async () => {
    const sender = await createSequenceSender();
    const { id, steps, ann } = await enrollOne(sender, waitForOrder);
    const [bob = 0] = await createContacts(sender, 1);
    await enrollments.enroll(sender.caller, id, { contactIds: [bob] });
    await runFor(minutes(2));
    await order(sender, ann, 10);
    await order(sender, ann, 90, "viewed");
    await runFor(minutes(2));
    expect((await expectBalanced(sender, id, steps)).active).toHaveLength(2);
    await order(sender, ann);
    await runFor(0);
    expect(await listSubjectsTo(sender, ann)).toEqual(["Bought"]);
    await runFor(days(1));
    expect(await listSubjectsTo(sender, bob)).toEqual(["Missed"]);
    expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({ completed: 2 });
    await sender.provider.stop();
  });

  test("leaves out events that arrive before the contact reaches the step", async () => {
    const sender = await createSequenceSender();
    const { id, steps, ann } = await enrollOne(sender, [60, ...shifted(waitForOrder)]);
    await runFor(minutes(2));
    await order(sender, ann);
    await runFor(minutes(70));
    expect((await expectBalanced(sender, id, steps)).active).toHaveLength(1);
    await runFor(days(1));
    expect(await listSubjectsTo(sender, ann)).toEqual(["Missed"]);
    await sender.provider.stop();
  });

  test("does not miss an event that arrives while a worker ends the wait", async () => {
    const sender = await createSequenceSender();
    const { id, steps, ann } = await enrollOne(sender, waitForOrder);
    await runFor(minutes(2));
    clock.advanceClock(days(1));
    const { active } = await expectBalanced(sender, id, steps);
    const paused = pauseCall("TransactWriteItems");
    const timeout = advanceEnrollments(active);
    await paused.reached;
    await order(sender, ann);
    paused.release();
    await timeout;
    await runFor(minutes(2));
    expect(await listSubjectsTo(sender, ann)).toEqual(["Bought"]);
    expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({ completed: 1 });
    await sender.provider.stop();
  });

  test("ends once after a crash at any step, also of the recording of the event", async () => {
    const sender = await createSequenceSender();
    await crashAtSomeSteps(async (crash) => {
      const { id, steps, ann } = await enrollOne(sender, waitForOrder);
      await runFor(minutes(2));
      await crash(() => order(sender, ann));
      await expectBalanced(sender, id, steps);
      await runFor(minutes(2));
      const isRecorded = (await contacts.findItem(sender.caller, ann)).eventNames?.has("ordered");
      expect(await listSubjectsTo(sender, ann)).toEqual(isRecorded ? ["Bought"] : []);
      await order(sender, ann);
      await runFor(minutes(2));
      expect(await listSubjectsTo(sender, ann)).toEqual(["Bought"]);
    });
    await crashAtSomeSteps(async (crash) => {
      const { id, steps, ann } = await enrollOne(sender, waitForOrder);
      await runFor(minutes(2));
      await order(sender, ann);
      await crash(async () => advanceEnrollments((await expectBalanced(sender, id, steps)).active));
      await runFor(minutes(2));
      expect(await listSubjectsTo(sender, ann)).toEqual(["Bought"]);
      expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({ completed: 1 });
    });
    await sender.provider.stop();
  });

  test("is not woken while the sequence is paused, and has the time that is left", async () => {
    const sender = await createSequenceSender();
    const { id, ann } = await enrollOne(sender, waitForOrder);
    await runFor(minutes(2));
    await sequences.change(sender.caller, id, { status: "paused" });
    await order(sender, ann);
    await runFor(minutes(2));
    await sequences.change(sender.caller, id, { status: "active" });
    await runFor(minutes(2));
    expect(await listSubjectsTo(sender, ann)).toEqual([]);
    await order(sender, ann);
    await runFor(minutes(2));
    expect(await listSubjectsTo(sender, ann)).toEqual(["Bought"]);
    await sender.provider.stop();
  });
});

/** The steps with each order raised by one. */
const shifted = (given: typeof waitForOrder) =>
  given.map((step) =>
    typeof step === "object" && "waitConfig" in step
      ? { ...step, nextStepOrder: 3, timeoutStepOrder: 5 }
      : step,
  );

describe("a wait for a date", () => {
  const waitForRenewal = (offsetDays: number) => [
    {
      type: "wait_until",
      waitConfig: { field: "customFields.renewal", offsetDays, hour: 9 },
      nextStepOrder: 2,
      timeoutStepOrder: 3,
    },
    "Renew",
    "Later",
  ];
  const dayIn = (n: number) => clock.addSeconds(days(n)).toISOString().slice(0, 10);

  test("ends at the date, at once after it, and elsewhere without one", async () => {
    const sender = await createSequenceSender();
    const { id, steps } = await createSequence(sender, waitForRenewal(-3));
    const [soon = 0, past = 0, none = 0] = await createContacts(sender, 3);
    await contacts.change(sender.caller, soon, { customFields: { renewal: dayIn(6) } });
    await contacts.change(sender.caller, past, { customFields: { renewal: dayIn(1) } });
    await contacts.change(sender.caller, none, { customFields: { renewal: "soon" } });
    await enrollments.enroll(sender.caller, id, { contactIds: [soon, past, none] });
    await runFor(minutes(2));
    const subjects = () =>
      Promise.all([soon, past, none].map((contactId) => listSubjectsTo(sender, contactId)));
    expect(await subjects()).toEqual([[], ["Renew"], ["Later"]]);
    await runFor(days(4));
    expect(await subjects()).toEqual([["Renew"], ["Renew"], ["Later"]]);
    expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({ completed: 3 });
    await sender.provider.stop();
  });

  test("follows the date of the contact, earlier and later", async () => {
    const sender = await createSequenceSender();
    const { id, steps } = await createSequence(sender, waitForRenewal(0));
    const [earlier = 0, later = 0] = await createContacts(sender, 2);
    const renewIn = (contactId: number, n: number) =>
      contacts.change(sender.caller, contactId, { customFields: { renewal: dayIn(n) } });
    for (const contactId of [earlier, later]) await renewIn(contactId, 10);
    await enrollments.enroll(sender.caller, id, { contactIds: [earlier, later] });
    await runFor(minutes(2));
    await renewIn(earlier, 3);
    await renewIn(later, 20);
    await runFor(days(4));
    const subjects = () =>
      Promise.all([earlier, later].map((contactId) => listSubjectsTo(sender, contactId)));
    expect(await subjects()).toEqual([["Renew"], []]);
    await runFor(days(8));
    expect(await subjects()).toEqual([["Renew"], []]);
    await runFor(days(9));
    expect(await subjects()).toEqual([["Renew"], ["Renew"]]);
    expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({ completed: 2 });
    await sender.provider.stop();
  });

  test("follows a change of the step for contacts that wait", async () => {
    const sender = await createSequenceSender();
    const { id, steps } = await createSequence(sender, waitForRenewal(0));
    const [ann = 0] = await createContacts(sender, 1);
    await contacts.change(sender.caller, ann, { customFields: { renewal: dayIn(30) } });
    await enrollments.enroll(sender.caller, id, { contactIds: [ann] });
    await runFor(minutes(2));
    const waitConfig = { field: "customFields.renewal", offsetDays: -40 };
    await stepsOf.change(sender.caller, { sequenceId: id, stepId: steps[0]!.id }, { waitConfig });
    await runFor(minutes(2));
    expect(await listSubjectsTo(sender, ann)).toEqual(["Renew"]);
    await sender.provider.stop();
  });
});

test("a wait for every day of the week ends within a day, and mails once", async () => {
  const sender = await createSequenceSender();
  const { id, steps, ann } = await enrollOne(sender, [
    { type: "wait_until", waitConfig: { weekdays: [1, 2, 3, 4, 5, 6, 7], hour: 9 } },
    "Morning",
  ]);
  await runFor(days(1) + minutes(2));
  expect(await listSubjectsTo(sender, ann)).toEqual(["Morning"]);
  expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({ completed: 1 });
  await sender.provider.stop();
});

describe("the event of an enrollment", () => {
  const items = [
    { name: "Shoe <b>", price: 40 },
    { name: "Sock", price: 5 },
  ];
  const cartHtml =
    "<p>{% for item in event.items %}{{ item.name }}: {{ item.price }}. {% endfor %}</p>";
  const recordCart = ({ caller }: SequenceSender, contactId: number, properties: object) =>
    recordCustomEvents.create(
      caller,
      customEvents.NewCustomEvent.parse({ contactId, eventName: "cart", properties }),
    );

  async function createCartSequence(sender: SequenceSender) {
    const { id: templateId } = await templates.create(
      sender.caller,
      NewTemplate.parse({
        siteId: sender.siteId,
        name: "Cart",
        subject: "{{ event.items.size }} items, {{ event.total }}",
        html: cartHtml,
      }),
    );
    return createSequence(
      sender,
      [
        {
          type: "condition",
          conditionConfig: { field: "properties.total", operator: "greaterThan", value: 10 },
          falseBranchStepOrder: null,
        },
        { type: "email", templateId },
        { type: "wait_until", waitConfig: { eventName: "paid", timeoutMinutes: 60 } },
        { type: "email", templateId },
      ],
      { triggerType: "custom_event", triggerConfig: { eventName: "cart" } },
    );
  }

  test("is read by conditions and mails, first of the start, then of the wait", async () => {
    const sender = await createSequenceSender();
    await createCartSequence(sender);
    const [ann = 0, bob = 0] = await createContacts(sender, 2);
    await recordCart(sender, ann, { total: 45, items });
    await recordCart(sender, bob, { total: 5, items });
    await runFor(minutes(2));
    await order(sender, ann, 99, "paid");
    await runFor(minutes(2));
    expect(await listSubjectsTo(sender, ann)).toEqual(["2 items, 45", " items, 99"]);
    expect(await listSubjectsTo(sender, bob)).toEqual([]);
    const { email } = await contacts.find(sender.caller, ann);
    const [first] = sender.provider.mails.filter(({ to }) => to === email);
    expect(first?.html).toContain("Shoe &lt;b&gt;: 40. Sock: 5.");
    await sender.provider.stop();
  });
});

describe("a goal of the sequence", () => {
  const goals = [{ eventName: "ordered", filter: overFifty, valueProperty: "total" }];
  const exits = [{ eventName: "refunded" }];
  const enrollForGoal = async (sender: SequenceSender, n: number) => {
    const sequence = await createSequence(sender, ["Offer", 1440, "Reminder"]);
    await sequences.change(sender.caller, sequence.id, SequenceChanges.parse({ goals, exits }));
    const contactIds = await createContacts(sender, n);
    await enrollments.enroll(sender.caller, sequence.id, { contactIds });
    await runFor(minutes(2));
    return { ...sequence, contactIds };
  };

  test("ends a wait at once, counts with its value, and an exit does not count", async () => {
    const sender = await createSequenceSender();
    const { id, steps, contactIds } = await enrollForGoal(sender, 3);
    const [ann = 0, bob = 0, carl = 0] = contactIds;
    await order(sender, ann, 90.5);
    await order(sender, bob, 0, "refunded");
    await order(sender, carl, 20);
    await runFor(minutes(2));
    const { finished } = await expectBalanced(sender, id, steps);
    expect(finished.map(({ contactId, reason }) => [contactId, reason]).toSorted()).toEqual(
      [
        [ann, "goal"],
        [bob, "exit"],
      ].toSorted(),
    );
    const { stats, steps: details } = await getDetail(sender.caller, id);
    expect(stats).toMatchObject({ active: 1, completed: 2, converted: 1, value: 90.5 });
    expect(details.map((step) => [step.stats.converted, step.stats.value])).toEqual([
      [0, 0],
      [1, 90.5],
      [0, 0],
    ]);
    await runFor(days(1));
    expect(await listSubjectsTo(sender, ann)).toEqual(["Offer"]);
    expect(await listSubjectsTo(sender, carl)).toEqual(["Offer", "Reminder"]);
    await sender.provider.stop();
  });

  test("counts once after a crash at any step", async () => {
    const sender = await createSequenceSender();
    await crashAtSomeSteps(async (crash) => {
      const { id, steps, contactIds } = await enrollForGoal(sender, 1);
      await order(sender, contactIds[0]!, 70);
      await crash(async () => advanceEnrollments((await expectBalanced(sender, id, steps)).active));
      await runFor(minutes(2));
      await expectBalanced(sender, id, steps);
      const { stats } = await getDetail(sender.caller, id);
      expect(stats).toMatchObject({ completed: 1, converted: 1, value: 70 });
    });
    await sender.provider.stop();
  });

  test("of rules is met at once by a change, an event or a tag, also while the contact waits", async () => {
    const sender = await createSequenceSender();
    const created = await groups.getOrCreateTags(sender.caller, sender.siteId, ["gold"]);
    const gold = { id: created.get("gold")!, name: "gold", starts: new Set<number>() };
    const { id, steps } = await createSequence(sender, [60, "Upgrade"]);
    const goals = [
      { field: "customFields.plan", operator: "equals", value: "pro" },
      { field: "event.bought", operator: "greaterThan", value: 0 },
      { field: "tag", operator: "equals", value: "gold" },
    ].map((condition) => ({ rules: { match: "all", conditions: [condition] } }));
    await sequences.change(sender.caller, id, SequenceChanges.parse({ goals }));
    const [ann = 0, bob = 0, carl = 0, dora = 0] = await createContacts(sender, 4);
    await enrollments.enroll(sender.caller, id, { contactIds: [ann, bob, carl, dora] });
    await runFor(minutes(2));
    await contacts.change(sender.caller, ann, { customFields: { plan: "pro" } });
    await contacts.change(sender.caller, dora, { customFields: { plan: "free" } });
    await order(sender, bob, 5, "bought");
    await applyTag(sender.caller, carl, gold);
    await runFor(minutes(2));
    const { active, finished } = await expectBalanced(sender, id, steps);
    const left = finished.map(({ contactId }) => contactId);
    expect(new Set(left)).toEqual(new Set([ann, bob, carl]));
    expect(active).toMatchObject([{ contactId: dora }]);
    // The wait of the others ends when it would have ended.
    await runFor(minutes(60));
    expect(await listSubjectsTo(sender, dora)).toEqual(["Upgrade"]);
    await sender.provider.stop();
  });

  test("of rules is met after a crash of the change at any step", async () => {
    const sender = await createSequenceSender();
    const { id, steps } = await createSequence(sender, [1440, "Upgrade"]);
    const isPro = { field: "customFields.plan", operator: "equals", value: "pro" };
    const goals = [{ rules: { match: "all", conditions: [isPro] } }];
    await sequences.change(sender.caller, id, SequenceChanges.parse({ goals }));
    let ended = 0;
    await crashAtSomeSteps(async (crash) => {
      const [ann = 0] = await createContacts(sender, 1);
      await enrollments.enroll(sender.caller, id, { contactIds: [ann] });
      await runFor(minutes(2));
      const change = () => contacts.change(sender.caller, ann, { customFields: { plan: "pro" } });
      await crash(change);
      const { customFields } = await contacts.find(sender.caller, ann);
      if (customFields.plan === undefined) await change();
      await runFor(minutes(3));
      expect((await expectBalanced(sender, id, steps)).finished.length).toBe(++ended);
    });
    await sender.provider.stop();
  });

  test("of rules is met when the contact moves on", async () => {
    const sender = await createSequenceSender();
    const rules = {
      match: "all",
      conditions: [{ field: "customFields.plan", operator: "equals", value: "pro" }],
    };
    const { id, steps } = await createSequence(sender, [60, "Upgrade"]);
    await sequences.change(sender.caller, id, SequenceChanges.parse({ goals: [{ rules }] }));
    const [ann = 0] = await createContacts(sender, 1);
    await enrollments.enroll(sender.caller, id, { contactIds: [ann] });
    await runFor(minutes(2));
    await contacts.change(sender.caller, ann, { customFields: { plan: "pro" } });
    await runFor(minutes(70));
    expect(await listSubjectsTo(sender, ann)).toEqual([]);
    expect((await expectBalanced(sender, id, steps)).finished).toMatchObject([{ reason: "goal" }]);
    await sender.provider.stop();
  });
});
