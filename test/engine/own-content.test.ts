// The own content of a campaign: a template that only this campaign has.
import { beforeAll, expect, test } from "vitest";
import { get, queryAll } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as steps from "../../shared/domain/automation/steps.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import {
  type Campaign,
  CampaignChanges,
  CampaignSchedule,
} from "../../shared/domain/campaigns/campaign-schema.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import * as resends from "../../shared/domain/campaigns/resends.ts";
import * as series from "../../shared/domain/campaigns/series/series.ts";
import { NewSeries } from "../../shared/domain/campaigns/series/series-schema.ts";
import { VariantChanges } from "../../shared/domain/campaigns/variant-schema.ts";
import * as variants from "../../shared/domain/campaigns/variants.ts";
import { findChosenTemplate, OwnContent } from "../../shared/domain/content/own-content.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import { count } from "../../shared/kernel/records.ts";
import { keys, ranges } from "../../shared/keys.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  createVariant,
  insertListMembers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { newContact } from "../support/contacts.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";

beforeAll(useVirtualQueues);

const design = { blocks: [{ kind: "text" }] };
const own = (fields: object) => OwnContent.parse(fields);
const update = ({ caller }: CampaignSender, id: number, fields: object): Promise<Campaign> =>
  campaigns.updateCampaign(caller, id, CampaignChanges.parse(fields));
const namesOf = async ({ caller }: CampaignSender) =>
  (await templates.list(caller, { page: 1, limit: 10 })).items.map(({ name }) => name);
const counts = async ({ caller, siteId }: CampaignSender) => [
  await count(caller.orgId, "TEMPLATE"),
  (await templates.list(caller, { page: 1, limit: 1, siteId })).pagination.total,
];
const mailed = async (from: CampaignSender, id: number): Promise<(string | undefined)[]> => {
  from.provider.mails.length = 0;
  await actions.sendNow(from.caller, id);
  await runWorkers({ forSeconds: 600 });
  return from.provider.mails.map(({ html }) => /<p>([^<]*)</.exec(html ?? "")?.[1]);
};

test("the own content has the name of its campaign, also after that is renamed", async () => {
  const from = await createCampaignSender();
  const { id } = await createDraft(from, { content: own({ copyOf: from.templateId }) });
  const nameOf = async () => {
    const { ownTemplateId } = await campaigns.findCampaignDetail(from.caller, id);
    return (await templates.find(from.caller, ownTemplateId!)).name;
  };
  await update(from, id, { name: "Autumn" });
  expect(await nameOf()).toBe("Autumn");
  await update(from, id, { name: "Winter", content: own({ subject: "Snow", text: "Snow" }) });
  expect(await nameOf()).toBe("Winter");
  const { ownTemplateId } = await campaigns.findCampaignDetail(from.caller, id);
  await templates.remove(from.caller, ownTemplateId!);
  await update(from, id, { name: "Spring" });
  await update(from, id, { name: "Summer", content: own({ subject: "Sun", text: "Sun" }) });
  expect(await nameOf()).toBe("Summer");
  await from.provider.stop();
});

test("a copy changes neither the template nor another campaign, and is sent", async () => {
  const from = await createCampaignSender();
  await insertListMembers(from, 1);
  const first = await createDraft(from, { content: own({ copyOf: from.templateId }) });
  const { templateId, ownTemplateId } = first;
  expect(templateId).toBe(ownTemplateId);
  expect(templateId).not.toBe(from.templateId);
  const second = await createDraft(from, {
    content: own({ copyOf: templateId!, html: "<p>Second {{ firstName }}</p>" }),
  });
  await templates.change(from.caller, templateId!, { html: "<p>First</p>", designJson: design });
  expect(await templates.find(from.caller, templateId!)).toMatchObject({
    campaignId: first.id,
    subject: "News, {{ firstName }}",
    version: 2,
  });
  expect(await templates.find(from.caller, from.templateId)).toMatchObject({
    campaignId: null,
    html: "<p>Hello {{ firstName }}</p>",
    version: 1,
  });
  expect(await mailed(from, second.id)).toEqual(["Second P0"]);
  expect(await mailed(from, first.id)).toEqual(["First"]);
  await from.provider.stop();
});

test("it is neither listed nor counted, and is deleted with the campaign", async () => {
  const from = await createCampaignSender();
  const before = await counts(from);
  const { id, templateId } = await createDraft(from, {
    content: own({ subject: "Spring", html: "<p>Spring</p>" }),
  });
  expect(await namesOf(from)).toEqual(["News"]);
  expect(await counts(from)).toEqual(before);
  await campaigns.remove(from.caller, id);
  await expect(templates.find(from.caller, templateId!)).rejects.toMatchObject({ kind: "missing" });
  const body = { id: templateId!, version: 1 };
  const stored = await get<{ expires?: number }>(
    keys.recordBody(from.caller.orgId, "TEMPLATE", body),
  );
  expect(stored?.expires).toBeGreaterThan(clock.epochSeconds());
  expect(await counts(from)).toEqual(before);
});

test("other content is a new version of the same template", async () => {
  const from = await createCampaignSender();
  const { id, templateId } = await createDraft(from);
  const given = { subject: "One", html: "<p>One</p>", previewText: "First", designJson: design };
  const { ownTemplateId } = await update(from, id, { content: given });
  expect(templateId).toBe(from.templateId);
  const changed = await update(from, id, { content: { copyOf: from.templateId, text: "Hello" } });
  expect(changed).toMatchObject({ templateId: ownTemplateId, ownTemplateId });
  expect(await templates.find(from.caller, ownTemplateId!)).toMatchObject({
    ...{ version: 2, subject: "News, {{ firstName }}", html: "<p>Hello {{ firstName }}</p>" },
    ...{ text: "Hello", designJson: null, previewText: null },
  });
  // The campaign can use a shared template again, and its content still goes with it.
  await update(from, id, { templateId: from.templateId });
  await campaigns.remove(from.caller, id);
  await expect(templates.find(from.caller, ownTemplateId!)).rejects.toMatchObject({
    kind: "missing",
  });
  expect(await templates.find(from.caller, from.templateId)).toMatchObject({ version: 1 });
});

test("content that was deleted is made again", async () => {
  const from = await createCampaignSender();
  const content = own({ subject: "Spring", html: "<p>Spring</p>" });
  const { id, ownTemplateId } = await createDraft(from, { content });
  await templates.remove(from.caller, ownTemplateId!);
  const changed = await update(from, id, { content });
  expect(changed.ownTemplateId).not.toBe(ownTemplateId);
  expect(await templates.find(from.caller, changed.templateId!)).toMatchObject({ campaignId: id });
  await templates.remove(from.caller, changed.ownTemplateId!);
  await campaigns.remove(from.caller, id);
});

test("nothing else can use it", async () => {
  const from = await createCampaignSender();
  const { caller, siteId } = from;
  const { id, templateId } = await createDraft(from, { content: own({ copyOf: from.templateId }) });
  const refused = { kind: "invalid", details: [{ path: "templateId" }] };
  const other = await createDraft(from);
  await expect(update(from, other.id, { templateId })).rejects.toMatchObject(refused);
  await expect(createDraft(from, { templateId })).rejects.toMatchObject(refused);
  await expect(createVariant(from, other.id, { templateId })).rejects.toMatchObject(refused);
  await expect(
    findChosenTemplate(caller, { id: templateId!, siteId, path: "templateId" }),
  ).rejects.toMatchObject(refused);
  await expect(
    series.create(caller, NewSeries.parse({ ...seriesOf(from), templateId })),
  ).rejects.toMatchObject(refused);
  const variant = await createVariant(from, id, { templateId });
  const path = { campaignId: id, variantId: variant.id };
  await variants.updateVariant(caller, path, VariantChanges.parse({ templateId }));
  expect((await steps.getTemplates(caller.orgId, [templateId!])).get(templateId!)).toMatchObject({
    campaignId: id,
  });
});

const seriesOf = (from: CampaignSender) => ({
  siteId: from.siteId,
  name: "Weekly",
  schedule: { frequency: "weekly", weekdays: ["monday"], time: "09:00" },
  ...{ listId: from.listId, sendingConfigId: from.configId, status: "paused" },
});

test("a series makes it a template of its own, which outlives the draft", async () => {
  const from = await createCampaignSender();
  const { id, templateId } = await createDraft(from, {
    content: own({ subject: "Weekly", html: "<p>Weekly</p>", designJson: design }),
  });
  const given = { ...seriesOf(from), campaignId: id };
  const { templateId: copied } = await series.create(from.caller, NewSeries.parse(given));
  expect(copied).not.toBe(templateId);
  await campaigns.remove(from.caller, id);
  expect(await templates.find(from.caller, copied!)).toMatchObject({
    ...{ name: "Weekly", campaignId: null, html: "<p>Weekly</p>", designJson: design },
  });
  expect(await namesOf(from)).toEqual(["Weekly", "News"]);
});

test("a resend has a copy", async () => {
  const from = await createCampaignSender();
  const { siteId, listId } = from;
  await contacts.create(from.caller, newContact("ann@example.com", { siteId, lists: [listId] }));
  const content = own({ subject: "Spring", html: "<p>Spring</p>" });
  const { id, templateId } = await createDraft(from, { content });
  await mailed(from, id);
  const request = { to: "unopened" as const, draft: true };
  const again = await resends.resend(from.caller, id, resends.ResendRequest.parse(request));
  expect(again.templateId).toBe(again.ownTemplateId);
  expect(again.templateId).not.toBe(templateId);
  await templates.change(from.caller, again.templateId!, { html: "<p>Last chance</p>" });
  expect(await mailed(from, again.id)).toEqual(["Last chance"]);

  const tested = await createDraft(from, { content });
  for (const subject of ["A", "B"])
    await createVariant(from, tested.id, { subject, templateId: tested.templateId });
  await mailed(from, tested.id);
  const both = await resends.resend(from.caller, tested.id, resends.ResendRequest.parse(request));
  const { variants: copies } = await campaigns.findCampaignDetail(from.caller, both.id);
  const copied = both.ownTemplateId;
  expect(copied).not.toBe(tested.templateId);
  expect(copies.map((variant) => variant.templateId)).toEqual([copied, copied]);
  await from.provider.stop();
});

test("only a draft gets other content, and wrong content changes nothing", async () => {
  const from = await createCampaignSender();
  const { id, templateId } = await createDraft(from);
  const foreign = await createCampaignSender();
  for (const [content, path] of [
    [{}, "content.subject"],
    [{ subject: "Without a body" }, "content.html"],
    [{ subject: "S", html: "<p>{{ name </p>" }, "content.html"],
  ] as const)
    await expect(update(from, id, { content })).rejects.toMatchObject({
      ...{ kind: "invalid", details: [{ path }] },
    });
  const copyOf = foreign.templateId;
  await expect(update(from, id, { content: { copyOf } })).rejects.toMatchObject({
    kind: "missing",
  });
  const scheduledAt = clock.addSeconds(3600).toISOString();
  await actions.schedule(from.caller, id, CampaignSchedule.parse({ scheduledAt }));
  const late = { content: { copyOf: from.templateId } };
  await expect(update(from, id, late)).rejects.toMatchObject({ code: "campaign_status" });
  expect(await campaigns.findCampaignDetail(from.caller, id)).toMatchObject({
    ...{ templateId, ownTemplateId: null },
  });
  await actions.cancel(from.caller, id);
});

test("after a crash at any point, a repeated request leaves one template", async () => {
  await crashAtSomeSteps(async (crash) => {
    const from = await createCampaignSender();
    const { id } = await createDraft(from);
    const change = () => update(from, id, { content: { copyOf: from.templateId } });
    await crash(change);
    const { templateId, ownTemplateId } = await change();
    expect(templateId).toBe(ownTemplateId);
    const stored = await queryAll<{ id: number; campaignId?: number }>(
      ranges.records(from.caller.orgId, "TEMPLATE"),
    );
    expect(stored.map((one) => [one.id, one.campaignId])).toEqual([
      [from.templateId, undefined],
      [ownTemplateId, id],
    ]);
    await from.provider.stop();
  });
});
