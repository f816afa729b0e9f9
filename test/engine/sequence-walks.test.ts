// A walk shows what a real enrollment of the same contact does: the same steps, times and decisions.
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { get, queryAll } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as contactFields from "../../shared/domain/audience/contacts/contact-fields.ts";
import * as contactListing from "../../shared/domain/audience/contacts/contact-listing.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { membershipShardOf } from "../../shared/domain/audience/groups/membership-writes.ts";
import * as customEvents from "../../shared/domain/audience/tracking/custom-events.ts";
import * as recordCustomEvents from "../../shared/domain/audience/tracking/record-custom-events.ts";
import { advanceEnrollments } from "../../shared/domain/automation/advance.ts";
import * as enrollmentListing from "../../shared/domain/automation/enrollment-listing.ts";
import type {
  EnrollmentItem,
  FinishedEnrollmentItem,
} from "../../shared/domain/automation/enrollment-schema.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import type { SequenceChanges } from "../../shared/domain/automation/sequence-schema.ts";
import { walk } from "../../shared/domain/automation/walk.ts";
import { WalkRequest } from "../../shared/domain/automation/walk-schema.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { Problem } from "../../shared/errors.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { createContact } from "../support/contacts.ts";
import { measureUnits } from "../support/request-units.ts";
import {
  createContacts,
  createSequence,
  createSequenceSender,
  listSubjectsTo,
  runFor,
  type SequenceSender,
  useVirtualQueues,
} from "../support/sequences.ts";

beforeAll(useVirtualQueues);
/** The clock stands still, so that times can be compared. */
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.now() }));
afterEach(() => void vi.useRealTimers());

const walkOf = (sender: SequenceSender, id: number, request: object) =>
  walk(sender.caller, id, WalkRequest.parse(request));

type Arrival = { stepId: number; minutes: number; eventName: string; properties: object };

/** Runs the enrollment at the moments at which it is due, and returns where it waited. */
async function runEnrollment(
  sender: SequenceSender,
  { sequenceId, contactId }: { sequenceId: number; contactId: number },
  arrivals: Arrival[] = [],
) {
  const { orgId } = sender;
  const contact = await contacts.findItem(sender.caller, contactId);
  const key = keys.enrollment(orgId, sequenceId, { shard: membershipShardOf(contact), contactId });
  const waits: { stepId: number; at: string; until: string }[] = [];
  const noteWait = async () => {
    const item = await get<EnrollmentItem>(key, { consistent: true });
    const { stepId = 0, lastProgressAt: at = "", at: until = "" } = item ?? {};
    if (item && until > at && waits.at(-1)?.stepId !== stepId) waits.push({ stepId, at, until });
  };
  const pending = [...arrivals];
  for (;;) {
    const item = await get<EnrollmentItem>(key, { consistent: true });
    if (!item) break;
    const arrival = pending.find(({ stepId }) => item.waiting && stepId === item.stepId);
    const comesAt = arrival && Date.parse(item.lastProgressAt) + arrival.minutes * 60_000;
    if (arrival && comesAt! < Date.parse(item.at)) {
      pending.splice(pending.indexOf(arrival), 1);
      moveClockTo(comesAt!);
      const { eventName, properties } = arrival;
      const event = { contactId, eventName, properties };
      await recordCustomEvents.create(sender.caller, customEvents.NewCustomEvent.parse(event));
    } else moveClockTo(Date.parse(item.at));
    await advanceEnrollments([key]);
    await noteWait();
    await runFor(0);
    await noteWait();
  }
  const finished = await queryAll<FinishedEnrollmentItem>(
    ranges.finishedEnrollments(orgId, sequenceId, membershipShardOf(contact)),
  );
  const end = finished.find((one) => one.contactId === contactId)!;
  return { waits, end, subjects: await listSubjectsTo(sender, contactId) };
}

const moveClockTo = (time: number): void =>
  clock.advanceClock((time - clock.now().getTime()) / 1000);

type Steps = Parameters<typeof createSequence>[1];

interface Comparison {
  steps: Steps;
  fields?: SequenceChanges;
  contact?: object;
  capDays?: number;
  arrivals?: Record<number, { minutes: number; eventName: string; properties?: object }>;
}

/** Compares the walk with the enrollment of the same contact, which begins at the same moment. */
async function compare({ steps, fields = {}, contact = {}, capDays, arrivals = {} }: Comparison) {
  const sender = await createSequenceSender();
  await groups.getOrCreateTags(sender.caller, sender.siteId, ["walked"]);
  const { id, steps: added } = await createSequence(sender, steps, fields);
  const [ann = 0] = await createContacts(sender, 1);
  await contacts.change(sender.caller, ann, contact);
  if (capDays) await sites.change(sender.caller, sender.siteId, { sendFrequencyCapDays: capDays });
  const idOf = (order: number) => added[order - 1]!.id;
  const outcomes = Object.entries(arrivals).map(([order, { minutes, properties }]) => ({
    stepId: idOf(Number(order)),
    event: { afterMinutes: minutes, properties },
  }));
  const startsAt = clock.now().toISOString();
  const walked = await walkOf(sender, id, { contactId: ann, startsAt, outcomes });
  await enrollments.enroll(sender.caller, id, { contactIds: [ann] });
  const real = await runEnrollment(
    sender,
    { sequenceId: id, contactId: ann },
    Object.entries(arrivals).map(([order, arrival]) => ({
      ...{ properties: {}, ...arrival },
      stepId: idOf(Number(order)),
    })),
  );
  const { steps: counts } = await enrollmentListing.getCounts(sender.orgId, id);
  const reached = added.filter((step) => counts.get(step.id)?.reached === 1);
  expect(walked.steps.map(({ stepId }) => stepId)).toEqual(reached.map((step) => step.id));
  const waits = walked.steps.filter(({ until, result }) => until !== null && result !== "passed");
  expect(waits.map(({ stepId, at, until }) => ({ stepId, at, until }))).toEqual(real.waits);
  const sent = walked.steps.filter(({ result }) => result === "sent");
  expect(sent.map(({ mail }) => mail?.subject)).toEqual(real.subjects);
  for (const { stepId, way } of walked.steps)
    if (way !== null) expect(counts.get(stepId)?.ways[way]?.reached).toBe(1);
  const { status, finishedAt, reason = null } = real.end;
  expect(walked.end).toMatchObject({ status, at: finishedAt, reason });
  return walked;
}

const resultsOf = ({ steps }: Awaited<ReturnType<typeof walk>>) =>
  steps.map(({ type, result }) => `${type} ${result}`);

const isPro = {
  match: "all",
  conditions: [{ field: "customFields.plan", operator: "equals", value: "pro" }],
};
const overFifty = {
  match: "all",
  conditions: [{ field: "properties.total", operator: "greaterThan", value: 50 }],
};
const dayMinutes = 1440;

describe("a walk is like an enrollment of the same contact", () => {
  const branches: Steps = [
    "Hello",
    2 * dayMinutes,
    { type: "condition", conditionConfig: isPro, trueBranchStepOrder: 4, falseBranchStepOrder: 6 },
    "For pros",
    { type: "exit" },
    {
      type: "split",
      splitConfig: {
        branches: [
          { weight: 1, nextStepOrder: 7 },
          { weight: 1, nextStepOrder: 8 },
        ],
      },
    },
    45,
    30,
    "Bye",
  ];

  test("over a condition that holds, to an exit", async () => {
    const walked = await compare({ steps: branches, contact: { customFields: { plan: "pro" } } });
    expect(resultsOf(walked)).toEqual([
      "email sent",
      "delay waited",
      "condition met",
      "email sent",
      "exit ended",
    ]);
    expect(walked.end.reason).toBe("exit_step");
  });

  test("over a condition that does not hold, and the way that a split draws", async () => {
    const walked = await compare({ steps: branches });
    expect(resultsOf(walked).slice(2, 4)).toEqual(["condition not_met", "split drawn"]);
    expect(walked.end).toMatchObject({ status: "completed", reason: null });
  });

  test("in a send window, in the time zone of the contact", async () => {
    const walked = await compare({
      steps: ["One", dayMinutes, "Two"],
      fields: {
        sendWindow: { days: [1, 3, 5], from: "09:00", until: "09:30", timezone: "Asia/Tokyo" },
      },
      contact: { timezone: "America/Denver" },
    });
    expect(walked.steps.map(({ timezone }) => timezone)).toContain("America/Denver");
  });

  const waits: Steps = [
    {
      type: "wait_until",
      waitConfig: { eventName: "ordered", filter: overFifty, timeoutMinutes: 3 * dayMinutes },
      nextStepOrder: 2,
      timeoutStepOrder: 4,
    },
    "Bought {{ event.total }}",
    { type: "exit" },
    "Missed",
  ];

  test("while it waits for an event that comes", async () => {
    const arrivals = { 1: { minutes: 90, eventName: "ordered", properties: { total: 60 } } };
    const walked = await compare({ steps: waits, arrivals });
    expect(resultsOf(walked)).toEqual(["wait_until event", "email sent", "exit ended"]);
    expect(walked.steps[1]!.mail!.subject).toBe("Bought 60");
  });

  test("while it waits for an event that does not come, or does not match the filter", async () => {
    const missed = ["wait_until timeout", "email sent"];
    expect(resultsOf(await compare({ steps: waits }))).toEqual(missed);
    const arrivals = { 1: { minutes: 90, eventName: "ordered", properties: { total: 5 } } };
    expect(resultsOf(await compare({ steps: waits, arrivals }))).toEqual(missed);
  });

  test("while it waits for dates and for an hour of a weekday", async () => {
    const field = "customFields.renewal";
    const steps: Steps = [
      { type: "wait_until", waitConfig: { field, offsetDays: -3, hour: 8 } },
      "Soon",
      { type: "wait_until", waitConfig: { field, offsetDays: -5 } },
      { type: "wait_until", waitConfig: { field: "customFields.none" } },
      { type: "wait_until", waitConfig: { weekdays: [2], hour: 14 } },
      "Tuesday",
    ];
    const renewal = new Date(clock.now().getTime() + 30 * 86_400_000).toISOString().slice(0, 10);
    const walked = await compare({
      steps,
      contact: { customFields: { renewal }, timezone: "Europe/Berlin" },
    });
    expect(resultsOf(walked)).toEqual([
      "wait_until waited",
      "email sent",
      "wait_until passed",
      "wait_until no_date",
      "wait_until waited",
      "email sent",
    ]);
  });

  test("when it meets a goal while it waits", async () => {
    const arrivals = { 1: { minutes: 10, eventName: "ordered", properties: { total: 80 } } };
    const goals = [{ eventName: "ordered", filter: overFifty, valueProperty: "total" }];
    const walked = await compare({
      steps: waits,
      arrivals,
      fields: { goals } as SequenceChanges,
    });
    expect(resultsOf(walked)).toEqual(["wait_until left"]);
    expect(walked.end).toMatchObject({ reason: "goal", value: 80 });
  });

  test("when the frequency cap skips a mail", async () => {
    const steps = ["One", dayMinutes, "Two", 3 * dayMinutes, "Three"];
    const results = resultsOf(await compare({ steps, capDays: 2 }));
    expect(results.filter((result) => result.startsWith("email"))).toEqual([
      "email sent",
      "email capped",
      "email sent",
    ]);
  });

  test("with actions, whose changes later steps see", async () => {
    const has = (field: string, value: unknown) => ({
      match: "all",
      conditions: [{ field, operator: "equals", value }],
    });
    const test = (rules: object) => ({
      ...{ type: "condition", conditionConfig: rules, falseBranchStepOrder: null },
    });
    const act = (actionConfig: object) => ({ type: "action", actionConfig });
    const walked = await compare({
      steps: [
        act({ action: "add_tag", tagName: "walked" }),
        test(has("tag", "walked")),
        act({ action: "set_field", field: "customFields.plan", value: "pro" }),
        act({ action: "add_to_field", field: "customFields.seats", value: 2 }),
        test(has("customFields.plan", "pro")),
        test(has("customFields.seats", 5)),
        act({ action: "adjust_score", delta: 7 }),
        test(has("score", 7)),
        act({ action: "add_to_field", field: "customFields.plan", value: 1 }),
        "Seats: {{ seats }}",
        60,
        act({ action: "unsubscribe" }),
        "Nobody gets this",
      ],
      contact: { customFields: { seats: 3 } },
    });
    expect(walked.steps.filter(({ type }) => type === "condition")).toHaveLength(4);
    expect(walked.steps.flatMap(({ actionProblem }) => actionProblem ?? [])).toEqual([
      "customFields.plan of the contact is not a number to add to",
    ]);
    expect(walked.end).toMatchObject({ status: "cancelled", reason: "unsubscribed" });
  });

  test("when the contact has unsubscribed", async () => {
    const sender = await createSequenceSender();
    const { id } = await createSequence(sender, ["Hello"]);
    const contact = { email: "eve@example.com", status: "unsubscribed" };
    const { steps, end } = await walkOf(sender, id, { contact });
    expect(steps).toEqual([]);
    expect(end).toMatchObject({ status: "cancelled", reason: "unsubscribed" });
  });
});

test("a made-up person is walked through a draft, with the outcomes of the request", async () => {
  const sender = await createSequenceSender();
  const { id, steps } = await createSequence(
    sender,
    [
      "Hi {{ firstName }} of {{ customFields.town }}, {{ event.total }} of {{ email }}",
      5,
      {
        type: "condition",
        conditionConfig: {
          match: "all",
          conditions: [{ field: "step.1.clicked", operator: "equals", value: true }],
        },
        trueBranchStepOrder: 4,
        falseBranchStepOrder: null,
      },
      {
        type: "split",
        splitConfig: { branches: [{ weight: 9 }, { weight: 1, nextStepOrder: 6 }] },
      },
      60,
      { type: "email", templateId: null },
    ],
    {
      status: "draft",
      triggerType: "custom_event",
      triggerConfig: { eventName: "ordered", filter: overFifty },
    } as SequenceChanges,
  );
  const request = {
    contact: { email: "eve@example.com", firstName: "Eve", customFields: { town: "Ulm" } },
    startsAt: "2027-01-10T10:00:00+01:00",
    event: { properties: { total: 70 } },
    outcomes: [
      { stepId: steps[0]!.id, clicked: true },
      { stepId: steps[3]!.id, way: 1 },
    ],
  };
  const { result: walked, usage } = await measureUnits(() => walkOf(sender, id, request));
  expect(usage.writeUnits).toBe(0);
  expect(walked).toMatchObject({ startsAt: "2027-01-10T09:00:00.000Z", matchesFilter: true });
  expect(resultsOf(walked)).toEqual([
    "email sent",
    "delay waited",
    "condition met",
    "split drawn",
    "email sent",
  ]);
  expect(walked.steps[0]!.mail!.subject).toBe("Hi Eve of Ulm, 70 of eve@example.com");
  expect(walked.steps[4]!.mail!.problem).toBe("The step has no template");
  const small = await walkOf(sender, id, { ...request, event: { properties: { total: 7 } } });
  expect(small.matchesFilter).toBe(false);
  expect(await listContactEmails(sender)).not.toContain("eve@example.com");
});

test("a split of a draft that has no ways yet draws none, and leads to the next step", async () => {
  const sender = await createSequenceSender();
  const draft = { status: "draft" } as SequenceChanges;
  const { id } = await createSequence(sender, [{ type: "split" }, "Hello"], draft);
  const { steps } = await walkOf(sender, id, { contact: { email: "eve@example.com" } });
  expect(steps).toMatchObject([
    { type: "split", way: null },
    { type: "email", result: "sent" },
  ]);
});

test("an email whose subject cannot be rendered says why", async () => {
  const sender = await createSequenceSender();
  const { id } = await createSequence(sender, [
    "{% for i in (1..9999) %}{% for j in (1..9999) %}{{ j }}{% endfor %}{% endfor %}",
  ]);
  const { steps } = await walkOf(sender, id, { contact: { email: "eve@example.com" } });
  expect(steps[0]!.mail).toMatchObject({ subject: null });
  expect(steps[0]!.mail!.problem).toContain("subject cannot be rendered");
});

describe("a request that does not fit the sequence names the field", () => {
  const contact = { email: "eve@example.com" };
  const cases: [path: string, request: object][] = [
    ["contactId", {}],
    ["contactId", { contact, contactId: 1 }],
    ["contact.email", { contact: { email: "eve" } }],
    ["contact.tags.0", { contact: { ...contact, tags: ["unheard of"] } }],
    ["contact.customFields.seats", { contact: { ...contact, customFields: { seats: "many" } } }],
    ["contact.topics.0.id", { contact: { ...contact, topics: [{ id: 9, subscribed: true }] } }],
    ["startsAt", { contact, startsAt: "2026-12-01" }],
    ["startsAt", { contact, startsAt: "2126-12-01T09:00:00Z" }],
    ["event", { contact, event: { name: "ordered" } }],
    ["outcomes.0.stepId", { contact, outcomes: [{ stepId: 999_999 }] }],
    ["outcomes.0.way", { contact, outcomes: [{ stepId: 0, way: 1 }] }],
    ["outcomes.0.event", { contact, outcomes: [{ stepId: 0, event: {} }] }],
    ["outcomes.1.stepId", { contact, outcomes: [{ stepId: 0 }, { stepId: 0 }] }],
  ];
  test.for(cases)("%s in %j", async ([path, given]) => {
    const sender = await createSequenceSender();
    await contactFields.declare(sender.caller, "seats", {
      ...{ siteId: sender.siteId, label: "Seats", type: "number" },
    });
    const { id, steps } = await createSequence(sender, ["Hello"]);
    const request = JSON.parse(
      JSON.stringify(given).replaceAll(`"stepId":0`, `"stepId":${steps[0]!.id}`),
    );
    expect(await findRefusedPath(sender, id, request)).toBe(path);
  });
});

async function findRefusedPath(
  sender: SequenceSender,
  id: number,
  request: object,
): Promise<string | undefined> {
  const parsed = WalkRequest.safeParse(request);
  if (!parsed.success) return parsed.error.issues[0]?.path.join(".");
  const error: unknown = await walk(sender.caller, id, parsed.data).catch((thrown) => thrown);
  return error instanceof Problem ? error.details?.[0]?.path : undefined;
}

test("a contact of another site is not found", async () => {
  const sender = await createSequenceSender();
  const { id } = await createSequence(sender, ["Hello"]);
  const other = await sites.create(sender.caller, { name: "Other" } as never);
  const { id: contactId } = await createContact({ ...sender, siteId: other.id }, "eve@example.com");
  await expect(walkOf(sender, id, { contactId })).rejects.toMatchObject({ kind: "missing" });
});

const listContactEmails = async (sender: SequenceSender) =>
  (await contactListing.list(sender.caller, { limit: 100 }, { siteId: sender.siteId })).items.map(
    ({ email }) => email,
  );
