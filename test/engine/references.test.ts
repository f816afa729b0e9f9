// References to lists, tags, segments and templates: rules store ids, and the error of a deletion
// names what uses the record.
import { describe, expect, test } from "vitest";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import { NewImport } from "../../shared/domain/audience/imports/import-record.ts";
import * as imports from "../../shared/domain/audience/imports/imports.ts";
import * as rules from "../../shared/domain/audience/scoring/scoring-rules.ts";
import * as segments from "../../shared/domain/audience/segments/segments.ts";
import { NewTopic } from "../../shared/domain/audience/topics/topic-schema.ts";
import * as topics from "../../shared/domain/audience/topics/topics.ts";
import { NewSequence } from "../../shared/domain/automation/sequence-schema.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import { AddStepsRequest } from "../../shared/domain/automation/step-schema.ts";
import * as steps from "../../shared/domain/automation/steps.ts";
import { CampaignAudience, NewCampaign } from "../../shared/domain/campaigns/campaign-schema.ts";
import type { UsedKind } from "../../shared/domain/campaigns/campaign-uses.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import { NewHoliday } from "../../shared/domain/campaigns/holiday-schema.ts";
import * as holidays from "../../shared/domain/campaigns/holidays.ts";
import { NewVariant } from "../../shared/domain/campaigns/variant-schema.ts";
import * as variants from "../../shared/domain/campaigns/variants.ts";
import { NewTemplate } from "../../shared/domain/content/template-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import { NewForm } from "../../shared/domain/forms/form-schema.ts";
import * as forms from "../../shared/domain/forms/forms.ts";
import type { Problem } from "../../shared/errors.ts";
import { createContact, createTestSite, type TestSite } from "../support/contacts.ts";
import { deleteIfUnused } from "../support/delete-if-unused.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";

useDynamoDbEngine();

type Value = string | number | (string | number)[];
const asking = (field: "tag" | "list", value: Value) =>
  segments.NewSegment.shape.rules.parse({
    match: "all",
    conditions: [
      { field: "email", operator: "exists" },
      {
        match: "any",
        conditions: [{ field, operator: Array.isArray(value) ? "in" : "equals", value }],
      },
    ],
  });
const everyone = segments.NewSegment.shape.rules.parse({ match: "all", conditions: [] });
const newSegment = ({ caller, siteId }: TestSite, given: ReturnType<typeof asking>) =>
  segments.create(caller, segments.NewSegment.parse({ siteId, name: "Segment", rules: given }));
const newGroup = (kind: "LIST" | "TAG", { caller, siteId }: TestSite, name: string) =>
  groups.create(kind, caller, { siteId, name });
const newTemplate = ({ caller, siteId }: TestSite) =>
  templates.create(
    caller,
    NewTemplate.parse({ siteId, name: "Template", subject: "Hi", html: "<p>Hi</p>" }),
  );
const newSequence = ({ caller, siteId }: TestSite, more: object = {}) =>
  sequences.create(caller, NewSequence.parse({ siteId, name: "Sequence", ...more }));
const newCampaign = ({ caller, siteId }: TestSite, more: object) =>
  campaigns.create(caller, NewCampaign.parse({ siteId, name: "Campaign", ...more }));

describe("segment rules", () => {
  test("that name a list or tag keep it when it is renamed", async () => {
    const shop = await createTestSite();
    const list = await newGroup("LIST", shop, "News");
    const tag = await newGroup("TAG", shop, "Customer");
    await createContact(shop, "ann@x.com", { tags: ["customer"], lists: [list.id] });
    const byList = await newSegment(shop, asking("list", "news"));
    const byTag = await newSegment(shop, asking("tag", ["CUSTOMER", tag.id]));
    await groups.change("LIST", shop.caller, { id: list.id, name: "Newsletter" });
    expect(await segments.count(shop.caller, byList.id)).toBe(1);
    expect(await segments.count(shop.caller, byTag.id)).toBe(1);
    expect(byList.rules).toEqual(asking("list", list.id));
    expect(byTag.rules).toEqual(asking("tag", [tag.id]));
  });

  test("that name a missing list or tag are refused, in segments, counts and steps", async () => {
    const shop = await createTestSite();
    const { caller, siteId } = shop;
    const path = "rules.conditions.1.conditions.0.value";
    const missing = (message: string) => ({
      kind: "invalid",
      details: [{ path, message: `${path}: ${message}` }],
    });
    const noTag = missing('there is no tag called "nope" in this site');
    const noList = missing("there is no list 999999999 in this site");
    await expect(newSegment(shop, asking("tag", "nope"))).rejects.toMatchObject(noTag);
    await expect(newSegment(shop, asking("list", 999_999_999))).rejects.toMatchObject(noList);
    await expect(
      segments.countPreview(caller, { siteId, rules: asking("tag", "nope") }),
    ).rejects.toMatchObject(noTag);
    const { id } = await newSegment(shop, everyone);
    await expect(
      segments.change(caller, id, { rules: asking("tag", "nope") }),
    ).rejects.toMatchObject(noTag);
    await expect(segments.count(caller, id, asking("tag", "nope"))).rejects.toMatchObject(noTag);
    const sequence = await newSequence(shop);
    const step = {
      type: "condition",
      conditionConfig: {
        match: "all",
        conditions: [{ field: "tag", operator: "equals", value: "nope" }],
      },
    };
    await expect(
      steps.add(caller, sequence.id, AddStepsRequest.parse({ steps: [step] })),
    ).rejects.toMatchObject({
      details: [{ path: "steps.0.conditionConfig.conditions.0.value" }],
    });
  });
});

describe("in use", () => {
  const usersOf = async ({ caller }: TestSite, kind: UsedKind, id: number) => {
    const problem = await deleteIfUnused(caller, kind, id).then(
      () => undefined,
      (error: unknown) => error as Problem,
    );
    if (problem) expect(problem).toMatchObject({ kind: "conflict", code: "in_use" });
    return problem?.details?.map(({ path }) => path.split(".")[0]).toSorted();
  };

  test("is a tag of triggers, conditions, campaigns, forms, segments and scoring rules", async () => {
    const shop = await createTestSite();
    const { caller, siteId } = shop;
    const { id } = await newGroup("TAG", shop, "VIP");
    expect(await usersOf(shop, "TAG", id)).toBeUndefined();
    const started = await newSequence(shop, {
      name: "Welcome",
      triggerType: "tag_add",
      triggerConfig: { tagName: "vip" },
    });
    const asks = await newSequence(shop);
    const conditionConfig = {
      match: "all",
      conditions: [{ field: "tag", operator: "equals", value: "vip" }],
    };
    await steps.add(caller, asks.id, AddStepsRequest.parse({ type: "condition", conditionConfig }));
    await newCampaign(shop, { tagId: id });
    await forms.create(caller, NewForm.parse({ siteId, name: "Form", tags: ["Vip"] }));
    await newSegment(shop, asking("tag", "vip"));
    await rules.create(
      caller,
      rules.NewScoringRule.parse({
        siteId,
        name: "Rule",
        trigger: "tag_add",
        match: { tagName: "VIP" },
        points: 1,
      }),
    );
    await newSequence(shop, {
      triggerType: "tag_add",
      triggerConfig: { tagId: id },
      status: "archived",
    });
    expect(await usersOf(shop, "TAG", id)).toEqual([
      "campaigns",
      "forms",
      "scoringRules",
      "segments",
      "sequences",
      "sequences",
    ]);
    const problem = (await deleteIfUnused(caller, "TAG", id).catch(
      (error: unknown) => error,
    )) as Problem;
    expect(problem.details).toContainEqual({
      path: `sequences.${started.id}`,
      message: `sequence ${started.id} "Welcome" is started by it`,
    });
  });

  test("is a list of forms, campaigns, sequences, segments and running imports", async () => {
    const shop = await createTestSite();
    const { caller, siteId } = shop;
    const { id } = await newGroup("LIST", shop, "News");
    await newSequence(shop, { triggerType: "list_join", triggerConfig: { listId: id } });
    await newCampaign(shop, { listId: id });
    await forms.create(caller, NewForm.parse({ siteId, name: "Form", listId: id }));
    await newSegment(shop, asking("list", [id]));
    await imports.start(caller, NewImport.parse({ siteId, lists: [id] }), {
      bytes: Buffer.from("email\na@x.com\n"),
    });
    expect(await usersOf(shop, "LIST", id)).toEqual([
      "campaigns",
      "forms",
      "imports",
      "segments",
      "sequences",
    ]);
  });

  test("is a list, tag or topic of actions and goals of sequences", async () => {
    const shop = await createTestSite();
    const { caller, siteId } = shop;
    const [list, tag] = [await newGroup("LIST", shop, "News"), await newGroup("TAG", shop, "VIP")];
    const topic = await topics.create(caller, NewTopic.parse({ siteId, name: "Tips" }));
    const sequence = await newSequence(shop);
    const actions = [
      { action: "remove_from_list", listId: list.id },
      { action: "add_tag", tagId: tag.id },
      { action: "join_topic", topicId: topic.id },
    ];
    const actionSteps = actions.map((actionConfig) => ({ type: "action", actionConfig }));
    await steps.add(caller, sequence.id, AddStepsRequest.parse({ steps: actionSteps }));
    await newSequence(shop, { goals: [{ rules: asking("tag", tag.id) }] });
    expect(await usersOf(shop, "LIST", list.id)).toEqual(["sequences"]);
    expect(await usersOf(shop, "TAG", tag.id)).toEqual(["sequences", "sequences"]);
    expect(await usersOf(shop, "TOPIC", topic.id)).toEqual(["sequences"]);
  });

  test("is a segment of a campaign, and a template of steps, campaigns, variants and holidays", async () => {
    const shop = await createTestSite();
    const { caller, siteId } = shop;
    const segment = await newSegment(shop, everyone);
    const other = await newSegment(shop, everyone);
    await newCampaign(shop, { segmentId: segment.id });
    expect(await usersOf(shop, "SEGMENT", segment.id)).toEqual(["campaigns"]);
    await newCampaign(shop, {
      audience: CampaignAudience.parse({
        segments: [segment.id],
        exclude: { segments: [other.id] },
      }),
    });
    expect(await usersOf(shop, "SEGMENT", segment.id)).toEqual(["campaigns", "campaigns"]);
    expect(await usersOf(shop, "SEGMENT", other.id)).toEqual(["campaigns"]);
    const { id } = await newTemplate(shop);
    const sequence = await newSequence(shop);
    await steps.add(caller, sequence.id, AddStepsRequest.parse({ type: "email", templateId: id }));
    await newCampaign(shop, { templateId: id });
    const tested = await newCampaign(shop, {});
    await variants.create(caller, tested.id, NewVariant.parse({ templateId: id }));
    await holidays.create(
      caller,
      NewHoliday.parse({ siteId, name: "Holiday", date: "2099-01-01", templateId: id }),
    );
    expect(await usersOf(shop, "TEMPLATE", id)).toEqual([
      "campaigns",
      "campaigns",
      "holidays",
      "sequences",
    ]);
  });

  test("shows at most 20 users", async () => {
    const shop = await createTestSite();
    const { id } = await newGroup("LIST", shop, "News");
    for (let i = 0; i < 25; i++) await newCampaign(shop, { listId: id });
    expect(await usersOf(shop, "LIST", id)).toHaveLength(20);
  });

  test("does not include records of another organization", async () => {
    const [shop, other] = [await createTestSite(), await createTestSite()];
    const { id } = await newGroup("LIST", shop, "News");
    await expect(deleteIfUnused(other.caller, "LIST", id)).rejects.toMatchObject({
      kind: "missing",
    });
  });
});
