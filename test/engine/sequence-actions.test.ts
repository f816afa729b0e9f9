// Actions of sequences: each changes the contact once per enrollment, as a request would.
import { beforeAll, describe, expect, test } from "vitest";
import * as contactFields from "../../shared/domain/audience/contacts/contact-fields.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { applyTag } from "../../shared/domain/audience/groups/tags.ts";
import * as leadScores from "../../shared/domain/audience/scoring/lead-scores.ts";
import * as segments from "../../shared/domain/audience/segments/segments.ts";
import * as contactTopics from "../../shared/domain/audience/topics/contact-topics.ts";
import { NewTopic } from "../../shared/domain/audience/topics/topic-schema.ts";
import * as topics from "../../shared/domain/audience/topics/topics.ts";
import { advanceEnrollments } from "../../shared/domain/automation/advance.ts";
import * as enrollmentListing from "../../shared/domain/automation/enrollment-listing.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import { getDetail } from "../../shared/domain/automation/sequence-detail.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import { AddStepsRequest } from "../../shared/domain/automation/step-schema.ts";
import * as stepsOf from "../../shared/domain/automation/steps.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
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

const action = (actionConfig: Record<string, unknown>) => ({ type: "action", actionConfig });

async function createWorld() {
  const sender = await createSequenceSender();
  const { caller, siteId } = sender;
  const list = await groups.create("LIST", caller, { siteId, name: "Buyers" });
  const newTopic = { siteId, name: "Tips", defaultSubscription: "unsubscribed" };
  const topic = await topics.create(caller, NewTopic.parse(newTopic));
  const declare = (name: string, type: "number" | "list" | "date") =>
    contactFields.declare(
      { ...caller, kind: "session" } as Parameters<typeof contactFields.declare>[0],
      name,
      { siteId, label: name, type },
    );
  await declare("orders", "number");
  await declare("sizes", "list");
  await declare("renewal", "date");
  const other = await createSequence(sender, [days(1) / 60, "Other"]);
  return { sender, list, topic, other };
}
type World = Awaited<ReturnType<typeof createWorld>>;

/** One action of each kind that leaves the contact subscribed. */
const allActions = ({ list, topic, other }: World) => [
  action({ action: "add_tag", tagName: "customer" }),
  action({ action: "add_to_list", listId: list.id }),
  action({ action: "join_topic", topicId: topic.id }),
  action({ action: "set_field", field: "company", value: "Acme" }),
  action({ action: "set_field", field: "customFields.renewal", value: "20.11.2026" }),
  action({ action: "add_to_field", field: "customFields.orders", value: 1 }),
  action({ action: "add_to_field", field: "customFields.sizes", value: ["M"] }),
  action({ action: "adjust_score", delta: 5 }),
  action({ action: "enroll", sequenceId: other.id }),
];

const undoActions = ({ list, topic, other }: World, tagId: number) => [
  action({ action: "remove_tag", tagId }),
  action({ action: "remove_from_list", listId: list.id }),
  action({ action: "leave_topic", topicId: topic.id }),
  action({ action: "clear_field", field: "company" }),
  action({ action: "clear_field", field: "customFields.renewal" }),
  action({ action: "add_to_field", field: "customFields.orders", value: -1.5 }),
  action({ action: "adjust_score", delta: -7 }),
  action({ action: "leave_sequence", sequenceId: other.id }),
  action({ action: "unsubscribe" }),
  "After",
];

const enrollOne = async (sender: SequenceSender, sequenceId: number) => {
  const [ann = 0] = await createContacts(sender, 1);
  await enrollments.enroll(sender.caller, sequenceId, { contactIds: [ann] });
  return ann;
};

async function expectActed({ sender, list, topic, other }: World, contactId: number) {
  const contact = await contacts.find(sender.caller, contactId);
  expect(contact).toMatchObject({
    company: "Acme",
    customFields: { renewal: "2026-11-20", orders: 1, sizes: ["M"] },
    score: 5,
    tags: [{ name: "customer" }],
    lists: [{ id: list.id }],
    topics: [{ id: topic.id, subscribed: true }],
  });
  const { log } = await leadScores.listLog(sender.caller, contactId, { limit: 10 });
  expect(log.map(({ delta }) => delta)).toEqual([5]);
  const choices = await contactTopics.find(sender.caller, contactId, { limit: 10 });
  expect(choices.log).toMatchObject([{ source: "sequence" }]);
  const { active } = await expectBalanced(sender, other.id, other.steps);
  expect(active.filter((one) => one.contactId === contactId)).toMatchObject([{ depth: 1 }]);
}

test("actions change the contact in their order, and are counted", async () => {
  const world = await createWorld();
  const { sender } = world;
  const { id, steps } = await createSequence(sender, [...allActions(world), "Done"]);
  const ann = await enrollOne(sender, id);
  await runFor(minutes(2));
  await expectActed(world, ann);
  expect(await listSubjectsTo(sender, ann)).toEqual(["Done"]);
  expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({ completed: 1 });
  const detail = await getDetail(sender.caller, id);
  expect(detail.steps.map(({ stats }) => stats.acted)).toEqual([
    ...allActions(world).map(() => 1),
    0,
  ]);
  const [{ id: tagId = 0 } = {}] = (await contacts.find(sender.caller, ann)).tags;
  const undo = await createSequence(sender, undoActions(world, tagId));
  await enrollments.enroll(sender.caller, undo.id, { contactIds: [ann] });
  await runFor(minutes(2));
  expect(await contacts.find(sender.caller, ann)).toMatchObject({
    company: null,
    customFields: { orders: -0.5, sizes: ["M"] },
    score: -2,
    tags: [],
    lists: [],
    topics: [{ subscribed: false }],
    status: "unsubscribed",
  });
  expect((await expectBalanced(sender, world.other.id, world.other.steps)).finished).toMatchObject([
    { contactId: ann, status: "cancelled" },
  ]);
  const { finished } = await expectBalanced(sender, undo.id, undo.steps);
  expect(finished).toMatchObject([{ status: "cancelled", reason: "unsubscribed" }]);
  expect(await groups.count("LIST", sender.orgId, world.list.id)).toBe(0);
  await sender.provider.stop();
});

/** What a contact with the tag "old" is after an action. */
function results(
  { actionConfig: { action: name, field, value } }: ReturnType<typeof action>,
  { list, topic }: World,
) {
  const old = { name: "old" };
  const fields: Record<string, object> = {
    add_tag: { tags: expect.arrayContaining([expect.objectContaining({ name: "customer" })]) },
    remove_tag: { tags: [] },
    add_to_list: { lists: [{ id: list.id }] },
    join_topic: { topics: [{ id: topic.id, subscribed: true }] },
    adjust_score: { score: 5 },
    unsubscribe: { status: "unsubscribed" },
    set_field:
      field === "company" ? { company: value } : { customFields: { renewal: "2026-11-20" } },
    add_to_field: {
      customFields: field === "customFields.sizes" ? { sizes: ["M"] } : { orders: 1 },
    },
  };
  return fields[String(name)] ?? { tags: [old] };
}

// https://github.com/mautic/mautic/issues/13394: actions repeated after a restart.
test("each action happens once after a crash at any step", async () => {
  const world = await createWorld();
  const { sender, topic, other } = world;
  const { caller } = sender;
  const { id: tagId } = await groups.create("TAG", caller, { siteId: sender.siteId, name: "old" });
  const others = [
    action({ action: "remove_tag", tagId }),
    action({ action: "leave_topic", topicId: topic.id }),
    action({ action: "leave_sequence", sequenceId: other.id }),
    action({ action: "unsubscribe" }),
  ];
  for (const step of [...allActions(world), ...others]) {
    const { id, steps } = await createSequence(sender, [step]);
    await crashAtSomeSteps(async (crash) => {
      const [ann = 0] = await createContacts(sender, 1);
      await applyTag(caller, ann, { id: tagId, name: "old" });
      if (step.actionConfig.action === "leave_sequence")
        await enrollments.enroll(caller, other.id, { contactIds: [ann] });
      await enrollments.enroll(caller, id, { contactIds: [ann] });
      await crash(async () => advanceEnrollments((await expectBalanced(sender, id, steps)).active));
      await runFor(minutes(2));
      await expectBalanced(sender, id, steps);
      await expectBalanced(sender, other.id, other.steps);
      expect(await contacts.find(caller, ann)).toMatchObject(results(step, world));
    });
    const { stats } = (await getDetail(caller, id)).steps[0]!;
    expect([step, stats.acted]).toEqual([step, stats.reached]);
  }
  await sender.provider.stop();
});

test("actions happen once when two workers run", async () => {
  const world = await createWorld();
  const { sender } = world;
  const { id, steps } = await createSequence(sender, allActions(world));
  const ann = await enrollOne(sender, id);
  for (let round = 0; round <= steps.length; round++) {
    const { active } = await expectBalanced(sender, id, steps);
    await Promise.all([advanceEnrollments(active), advanceEnrollments(active)]);
  }
  await expectActed(world, ann);
  expect((await expectBalanced(sender, id, steps)).counts).toMatchObject({ completed: 1 });
  const detail = await getDetail(sender.caller, id);
  expect(detail.steps.map(({ stats }) => stats.acted)).toEqual(steps.map(() => 1));
  await sender.provider.stop();
});

describe("an action that is not possible", () => {
  test("is skipped with a reason, and the contact goes on", async () => {
    const world = await createWorld();
    const { sender, list, topic, other } = world;
    const { caller } = sender;
    const { id, steps } = await createSequence(sender, [
      action({ action: "add_to_list", listId: list.id }),
      action({ action: "join_topic", topicId: topic.id }),
      action({ action: "enroll", sequenceId: other.id }),
      action({ action: "add_to_field", field: "customFields.note", value: 1 }),
      "Done",
    ]);
    await groups.removeGroup("LIST", caller, list.id);
    await topics.remove(caller, topic.id);
    await sequences.change(caller, other.id, { status: "archived" });
    const [ann = 0] = await createContacts(sender, 1);
    await contacts.change(caller, ann, { customFields: { note: "many" } });
    await enrollments.enroll(caller, id, { contactIds: [ann] });
    await runFor(minutes(2));
    expect(await listSubjectsTo(sender, ann)).toEqual(["Done"]);
    await expectBalanced(sender, id, steps);
    const { items } = await enrollmentListing.list(caller, { limit: 10 }, { sequenceId: id });
    expect(items[0]!.actionProblems.map(({ stepId, message }) => [stepId, message])).toEqual([
      [steps[0]!.id, "The list does not exist"],
      [steps[1]!.id, "The topic does not exist"],
      [steps[2]!.id, "The sequence is archived"],
      [steps[3]!.id, "customFields.note of the contact is not a number to add to"],
    ]);
    const detail = await getDetail(caller, id);
    expect(detail.steps.map(({ stats }) => stats.acted)).toEqual([0, 0, 0, 0, 0]);
    await sender.provider.stop();
  });
});

describe("sequences that start each other", () => {
  /** A sequence that removes and applies the tag again, and is started by it. */
  const createCircle = async (sender: SequenceSender) => {
    const { id: tagId } = await groups.create("TAG", sender.caller, {
      siteId: sender.siteId,
      name: "circle",
    });
    const triggerConfig = { tagId };
    const again = [action({ action: "remove_tag", tagId }), action({ action: "add_tag", tagId })];
    const fields = { triggerType: "tag_add", triggerConfig } as const;
    const circle = [
      await createSequence(sender, again, fields),
      await createSequence(sender, again, fields),
    ];
    return { tagId, circle };
  };

  test("end after 10 in a row, by tags, with a reason", async () => {
    const sender = await createSequenceSender();
    const { circle } = await createCircle(sender);
    const ann = await enrollOne(sender, circle[0]!.id);
    await runFor(minutes(5));
    const all = await Promise.all(circle.map(({ id, steps }) => expectBalanced(sender, id, steps)));
    expect(all.flatMap(({ active }) => active)).toEqual([]);
    const ended = all.flatMap(({ finished }) => finished);
    expect(ended.every(({ contactId }) => contactId === ann)).toBe(true);
    expect(ended).toHaveLength(11);
    const problems = ended.flatMap(({ actionProblems = [] }) => actionProblems);
    expect(problems).toMatchObject([
      { message: expect.stringContaining("more than 10 sequences in a row") },
    ]);
    await sender.provider.stop();
  });

  test.each([
    ["changes of fields", "field_changed"],
    ["segments", "segment_enter"],
  ] as const)("end after 10 in a row, by %s", async (_, triggerType) => {
    const sender = await createSequenceSender();
    const { caller, siteId } = sender;
    const field = "customFields.turn";
    const inTurn = async (turn: string) =>
      (
        await segments.create(
          caller,
          segments.NewSegment.parse({
            siteId,
            name: turn,
            rules: { match: "all", conditions: [{ field, operator: "equals", value: turn }] },
          }),
        )
      ).id;
    const createTurn = async (from: string, to: string) =>
      createSequence(sender, [action({ action: "set_field", field, value: to })], {
        triggerType,
        triggerConfig:
          triggerType === "field_changed" ? { field, to: from } : { segmentId: await inTurn(from) },
      });
    const circle = [await createTurn("a", "b"), await createTurn("b", "a")];
    const [ann = 0] = await createContacts(sender, 1);
    await runFor(minutes(10));
    await contacts.change(caller, ann, { customFields: { turn: "a" } });
    await runFor(minutes(30));
    const all = await Promise.all(circle.map(({ id, steps }) => expectBalanced(sender, id, steps)));
    expect(all.flatMap(({ active }) => active)).toEqual([]);
    expect(all.flatMap(({ finished }) => finished)).toHaveLength(11);
    await sender.provider.stop();
  });
});

describe("a request with an action", () => {
  test("is refused with the name of the field, and changes nothing", async () => {
    const { sender, list, other } = await createWorld();
    const stranger = await createWorld();
    const { id } = await createSequence(sender, [], { status: "draft" });
    const errorOf = async (config: Record<string, unknown>) => {
      const steps = [action({ action: "add_tag", tagName: "never" }), action(config)];
      const parsed = AddStepsRequest.safeParse({ steps });
      if (parsed.error) return parsed.error.issues[0]!.path.join(".");
      const error = await stepsOf.add(sender.caller, id, parsed.data).then(
        () => undefined,
        (problem) => problem,
      );
      expect(error).toMatchObject({ kind: "invalid" });
      return error.details[0].path;
    };
    const at = (name: string) => `steps.1.actionConfig.${name}`;
    const cases: [Record<string, unknown>, string][] = [
      [{ action: "add_tag" }, "tagId"],
      [{ action: "add_tag", tagId: list.id }, "tagId"],
      [{ action: "remove_tag", tagName: "x" }, "tagId"],
      [{ action: "add_to_list", listId: stranger.list.id }, "listId"],
      [{ action: "join_topic", topicId: stranger.topic.id }, "topicId"],
      [{ action: "enroll", sequenceId: stranger.other.id }, "sequenceId"],
      [{ action: "enroll", sequenceId: id }, "sequenceId"],
      [{ action: "leave_sequence", sequenceId: id }, "sequenceId"],
      [{ action: "unsubscribe", listId: list.id }, "listId"],
      [{ action: "set_field", field: "email", value: "x" }, "field"],
      [{ action: "set_field", field: "customFields.__proto__", value: "x" }, "field"],
      [{ action: "set_field", field: "timezone", value: "Nowhere" }, "value"],
      [{ action: "set_field", field: "customFields.orders", value: "many" }, "value"],
      [{ action: "set_field", field: "customFields.other", value: ["a"] }, "value"],
      [{ action: "set_field", field: "company" }, "value"],
      [{ action: "add_to_field", field: "company", value: 1 }, "field"],
      [{ action: "add_to_field", field: "customFields.renewal", value: 1 }, "field"],
      [{ action: "add_to_field", field: "customFields.orders", value: "1" }, "value"],
      [{ action: "adjust_score", delta: 0.5 }, "delta"],
      [{ action: "adjust_score", delta: 2_000_000 }, "delta"],
    ];
    for (const [config, name] of cases)
      expect([config, await errorOf(config)]).toEqual([config, at(name)]);
    expect(
      (await stepsOf.replace(sender.caller, id, { stepsVersion: 0, steps: [] })).steps,
    ).toEqual([]);
    expect(await groups.knownTags(sender.orgId, sender.siteId, ["never"])).toEqual(new Map());
    expect(other.id).toBeGreaterThan(0);
    await sender.provider.stop();
    await stranger.sender.provider.stop();
  });
});
