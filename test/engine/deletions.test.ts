// Deleting a list, tag, segment, template or sending config that something uses.
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { CallerScope } from "../../shared/caller.ts";
import { now } from "../../shared/clock.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import * as scoring from "../../shared/domain/audience/scoring/scoring-rules.ts";
import * as segments from "../../shared/domain/audience/segments/segments.ts";
import * as topics from "../../shared/domain/audience/topics/topics.ts";
import { getDetail } from "../../shared/domain/automation/sequence-detail.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import type { UsedKind } from "../../shared/domain/campaigns/campaign-uses.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import { NewHoliday } from "../../shared/domain/campaigns/holiday-schema.ts";
import * as holidays from "../../shared/domain/campaigns/holidays.ts";
import { removeWithUses } from "../../shared/domain/campaigns/usages.ts";
import { NewTemplate } from "../../shared/domain/content/template-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import { NewForm } from "../../shared/domain/forms/form-schema.ts";
import * as forms from "../../shared/domain/forms/forms.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  insertListMembers,
  readCampaign,
  readConsistentNumbers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import * as sequenceTest from "../support/sequences.ts";

let sender: CampaignSender;
beforeAll(useVirtualQueues);
beforeEach(async () => {
  sender = await createCampaignSender();
});
afterEach(() => sender.provider.stop());

const removers = {
  LIST: (caller: CallerScope, id: number) => groups.removeGroup("LIST", caller, id),
  TAG: (caller: CallerScope, id: number) => groups.removeGroup("TAG", caller, id),
  SEGMENT: segments.remove,
  TEMPLATE: templates.remove,
  CONFIG: sendingConfigs.remove,
  TOPIC: topics.remove,
} satisfies Record<UsedKind, (caller: CallerScope, id: number) => Promise<void>>;

const deleteRecord = (
  kind: UsedKind,
  id: number,
  { caller }: Pick<CampaignSender, "caller"> = sender,
) =>
  removeWithUses(caller, {
    kind,
    id,
    ifUnused: false,
    remove: () => removers[kind](caller, id),
  });

const newGroup = (kind: "LIST" | "TAG", name: string) =>
  groups.create(kind, sender.caller, { siteId: sender.siteId, name });
const newTemplate = (name = "Letter") =>
  templates.create(
    sender.caller,
    NewTemplate.parse({ siteId: sender.siteId, name, subject: "Hi", html: "<p>Hi</p>" }),
  );
const newSegment = (field: string, operator: string, value: number) =>
  segments.create(
    sender.caller,
    segments.NewSegment.parse({
      siteId: sender.siteId,
      name: "Segment",
      rules: { match: "all", conditions: [{ field, operator, value }] },
    }),
  );
const inHours = (hours: number): string =>
  new Date(now().getTime() + hours * 3_600_000).toISOString();
const schedule = (id: number) =>
  actions.schedule(sender.caller, id, { scheduledAt: inHours(2), sendLate: false });

describe("an active sequence", () => {
  test("pauses with a reason, shows what is missing and starts again only without it", async () => {
    const own = await sequenceTest.createSequenceSender();
    const { caller, siteId } = own;
    const list = await groups.create("LIST", caller, { siteId, name: "News" });
    const { id } = await sequenceTest.createSequence(own, ["One"], {
      triggerType: "list_join",
      triggerConfig: { listId: list.id },
    });
    expect(await deleteRecord("LIST", list.id, own)).toEqual([
      expect.stringContaining(`The deleted list was in use: sequence ${id} `),
    ]);
    expect(await sequences.find(caller, id)).toMatchObject({
      status: "paused",
      statusReason: `The list ${list.id} "News" was deleted`,
    });
    const message = `list ${list.id} no longer exists`;
    expect((await getDetail(caller, id)).missing).toEqual([
      { path: "triggerConfig.listId", message },
    ]);
    await expect(sequences.change(caller, id, { status: "active" })).rejects.toMatchObject({
      kind: "invalid",
      message: `The sequence cannot be active: ${message}`,
      details: [{ path: "triggerConfig.listId" }],
    });
    const changed = await sequences.change(caller, id, { triggerType: "manual", status: "active" });
    expect(changed).toMatchObject({ status: "active", statusReason: null });
    await own.provider.stop();
  });

  test("pauses for a tag of its trigger, its template and its sending config", async () => {
    const own = await sequenceTest.createSequenceSender();
    const { caller, siteId } = own;
    const tag = await groups.create("TAG", caller, { siteId, name: "vip" });
    const config = await sendingConfigs.find(caller, own.configId);
    const make = (more: object) => sequenceTest.createSequence(own, ["One"], more);
    const byTag = await make({ triggerType: "tag_add", triggerConfig: { tagName: "VIP" } });
    const bySender = await make({ sendingConfigId: config.id });
    const byTemplate = await make({});
    const { steps } = await sequences.listSteps(caller, byTemplate.id);
    await deleteRecord("TAG", tag.id, own);
    await deleteRecord("TEMPLATE", steps[0]!.templateId!, own);
    await deleteRecord("CONFIG", config.id, own);
    for (const [sequence, reason] of [
      [byTag, `The tag ${tag.id} "vip" was deleted`],
      [byTemplate, expect.stringMatching(/^The template \d+ ".+" was deleted$/)],
      [bySender, `The sending config ${config.id} was deleted`],
    ] as const)
      expect(await sequences.find(caller, sequence.id)).toMatchObject({
        status: "paused",
        statusReason: reason,
      });
    await own.provider.stop();
  });
});

describe("a campaign", () => {
  test("that is scheduled becomes a draft again, with a reason until it is changed", async () => {
    const template = await newTemplate();
    const { id } = await createDraft(sender, { templateId: template.id });
    await schedule(id);
    await deleteRecord("TEMPLATE", template.id);
    expect(await readCampaign(sender, id)).toMatchObject({
      status: "draft",
      statusReason: `The template ${template.id} "Letter" was deleted`,
      scheduledAt: null,
      missing: [{ path: "templateId", message: `template ${template.id} no longer exists` }],
    });
    await runWorkers({ forSeconds: 3 * 3600 });
    await expect(schedule(id)).rejects.toMatchObject({ details: [{ path: "templateId" }] });
    await campaigns.updateCampaign(sender.caller, id, { templateId: sender.templateId });
    expect(await readCampaign(sender, id)).toMatchObject({ statusReason: null, missing: [] });
    expect(await schedule(id)).toMatchObject({ status: "scheduled" });
    await actions.cancel(sender.caller, id);
  });

  test("goes back for its list, segment and sending config too, and a draft shows the loss", async () => {
    const list = await newGroup("LIST", "Short");
    const segment = await newSegment("list", "equals", list.id);
    const byList = await createDraft(sender, { listId: list.id });
    const bySegment = await createDraft(sender, { listId: null, segmentId: segment.id });
    const draft = await createDraft(sender, {
      listId: null,
      audience: {
        ...{ all: false, lists: [sender.listId], tags: [], segments: [], match: "any" },
        exclude: { lists: [list.id], tags: [], segments: [] },
      },
    });
    await schedule(byList.id);
    await schedule(bySegment.id);
    await deleteRecord("SEGMENT", segment.id);
    await deleteRecord("LIST", list.id);
    for (const { id } of [byList, bySegment])
      expect(await readCampaign(sender, id)).toMatchObject({ status: "draft" });
    expect((await readCampaign(sender, draft.id)).missing).toEqual([
      { path: "audience.exclude.lists.0", message: `list ${list.id} no longer exists` },
    ]);
  });

  test("is not scheduled while its segment asks for a deleted list", async () => {
    const list = await newGroup("LIST", "Left out");
    const segment = await newSegment("list", "notEquals", list.id);
    const { id } = await createDraft(sender, { listId: null, segmentId: segment.id });
    await deleteRecord("LIST", list.id);
    const message = `list ${list.id} no longer exists`;
    expect(await segments.listMissing(sender.caller, segment)).toEqual([
      { path: "rules.conditions.0.value", message },
    ]);
    await expect(schedule(id)).rejects.toMatchObject({
      message: `The audience names a deleted record: ${message}`,
      details: [{ path: "segmentId" }],
    });
  });

  test("that is still reading the list fails with words; others go on", async () => {
    const list = await newGroup("LIST", "Large");
    await insertListMembers({ ...sender, listId: list.id }, 3);
    const reading = await createDraft(sender, { listId: list.id });
    await actions.sendNow(sender.caller, reading.id);
    await deleteRecord("LIST", list.id);
    await runWorkers({ forSeconds: 600 });
    expect(await readCampaign(sender, reading.id)).toMatchObject({
      status: "failed",
      statusReason: `The list ${list.id} "Large" was deleted`,
    });

    const other = await newGroup("LIST", "Other");
    await insertListMembers({ ...sender, listId: other.id }, 3);
    const sent = await createDraft(sender, { listId: other.id });
    await actions.sendNow(sender.caller, sent.id);
    await runWorkers({ forSeconds: 600 });
    await deleteRecord("LIST", other.id);
    expect(await readCampaign(sender, sent.id)).toMatchObject({ status: "sent" });
  });

  test("that is being sent with a deleted sending config fails, and its email is not sent", async () => {
    const own = await createCampaignSender();
    await insertListMembers(own, 5);
    const { id } = await createDraft(own);
    await actions.sendNow(own.caller, id);
    expect(await deleteRecord("CONFIG", own.configId, own)).toEqual([
      expect.stringContaining(`campaign ${id} "News" (sending) uses it`),
    ]);
    await runWorkers({ forSeconds: 600 });
    expect(await readCampaign(own, id)).toMatchObject({
      status: "failed",
      statusReason: `The sending config ${own.configId} was deleted`,
    });
    expect(own.provider.mails).toEqual([]);
    expect(await readConsistentNumbers(own, id)).toMatchObject({ sent: 0, queued: 0 });
    await own.provider.stop();
  });
});

test("forms, scoring rules and holidays show what they lost, and a form drops the tag", async () => {
  const { caller, siteId } = sender;
  const [list, tag] = [await newGroup("LIST", "Joined"), await newGroup("TAG", "Lead")];
  const template = await newTemplate();
  const form = await forms.create(
    caller,
    NewForm.parse({ siteId, name: "Form", listId: list.id, tags: ["lead", "web"] }),
  );
  const rule = await scoring.create(
    caller,
    scoring.NewScoringRule.parse({
      ...{ siteId, name: "Rule", trigger: "tag_add", points: 1 },
      match: { tagId: tag.id },
    }),
  );
  const tomorrow = inHours(24).slice(0, 10);
  const holiday = await holidays.create(
    caller,
    NewHoliday.parse({
      ...{ siteId, name: "Day", date: tomorrow },
      ...{ templateId: template.id, sendingConfigId: sender.configId },
    }),
  );
  await deleteRecord("LIST", list.id);
  await deleteRecord("TAG", tag.id);
  await deleteRecord("TEMPLATE", template.id);
  expect(await forms.find(caller, form.id)).toMatchObject({
    tags: ["web"],
    missing: [{ path: "listId", message: `list ${list.id} no longer exists` }],
  });
  expect(await scoring.show(caller, rule.id)).toMatchObject({
    missing: [{ path: "match.tagId" }],
  });
  expect(await holidays.findHolidayDetail(caller, holiday.id)).toMatchObject({
    status: "scheduled",
    missing: [{ path: "templateId" }],
  });
  await runWorkers({ forSeconds: 48 * 3600 });
  expect(await holidays.findHolidayDetail(caller, holiday.id)).toMatchObject({
    status: "cancelled",
    statusReason: "The template does not exist",
  });
});
