// The public archive of a site: emails of campaigns without a recipient.
import { beforeAll, expect, test } from "vitest";
import { findPublic, listPublic } from "../../shared/domain/campaigns/archive/archive.ts";
import { setArchive } from "../../shared/domain/campaigns/archive/publish-campaign.ts";
import * as state from "../../shared/domain/campaigns/campaign-actions.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import { pollBroadcast } from "../../shared/domain/campaigns/engine/poll-broadcast.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { renderArchivePage, renderArchiveRss } from "../../shared/pages/archive-pages.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  createVariant,
  insertListMembers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { interruptedAtSomeSteps, interruptions } from "../support/crash-injection.ts";

beforeAll(useVirtualQueues);

const html =
  '<html lang="de"><body><p>Hallo {{ firstName | default: "du" }}, {{ email }}{{ name }}.</p>' +
  '<a href="{{ browserUrl }}">Im Browser</a><a href="{{ unsubscribeUrl }}">Abmelden</a>' +
  '<a href="https://shop.example/?v={{ contactToken }}">Laden</a></body></html>';

async function createSender(): Promise<CampaignSender> {
  const from = await createCampaignSender();
  await templates.change(from.caller, from.templateId, { html, subject: "Neues {{ firstName }}" });
  await insertListMembers(from, 2);
  await sites.change(from.caller, from.siteId, { archive: true });
  return from;
}
async function send(from: CampaignSender, fields: object = { archive: true }): Promise<number> {
  const { id } = await createDraft(from, fields);
  await state.sendNow(from.caller, id);
  await runWorkers({ forSeconds: 3600 });
  return id;
}
const listed = async (from: CampaignSender) =>
  (await listPublic(from.siteId)).mails.map(({ id }) => id);

test("shows the email of a campaign without anything of a person", async () => {
  const from = await createSender();
  const id = await send(from, { archive: true, previewText: "Kurz & gut" });
  await send(from, {});
  expect(await listed(from)).toEqual([id]);
  const page = await listPublic(from.siteId);
  expect(page).toMatchObject({ language: "de", next: undefined });
  const mail = await findPublic(from.siteId, id);
  expect(mail.subject).toBe("Neues ");
  const { archiveUrl } = await campaigns.findCampaignDetail(from.caller, id);
  expect(archiveUrl).toMatch(new RegExp(`/archive/${from.siteId}/${id}$`));
  expect(mail.html).toContain("<p>Hallo du, .</p>");
  expect(mail.html).toContain(`<a href="${archiveUrl}">Im Browser</a><a href="#">Abmelden</a>`);
  for (const { to } of from.provider.mails) expect(mail.html).not.toContain(to);
  expect(`${mail.html}${mail.text}`).not.toMatch(/unsubscribe\/|preferences|token/i);
  expect(renderArchivePage(page, { isFirst: true })).toContain("Kurz &amp; gut");
  expect(renderArchiveRss(page)).toContain("<description>Kurz &amp; gut</description>");
  await from.provider.stop();
});

test("stays when the template is deleted, and goes with the campaign or the switch", async () => {
  const from = await createSender();
  const id = await send(from);
  await templates.remove(from.caller, from.templateId);
  expect((await findPublic(from.siteId, id)).html).toContain("Hallo du");
  await sites.change(from.caller, from.siteId, { archive: false });
  await expect(findPublic(from.siteId, id)).rejects.toMatchObject({ kind: "missing" });
  await expect(listPublic(from.siteId)).rejects.toMatchObject({ kind: "missing" });
  await sites.change(from.caller, from.siteId, { archive: true });
  await campaigns.remove(from.caller, id);
  expect(await listed(from)).toEqual([]);
  await expect(findPublic(from.siteId, id)).rejects.toMatchObject({ kind: "missing" });
  await from.provider.stop();
});

test("a campaign can be shown and hidden after it was sent", async () => {
  const from = await createSender();
  const id = await send(from, {});
  expect(await setArchive(from.caller, id, true)).toMatchObject({ archive: true });
  expect(await setArchive(from.caller, id, true)).toMatchObject({ archive: true });
  expect(await listed(from)).toEqual([id]);
  expect(await setArchive(from.caller, id, false)).toMatchObject({
    archive: false,
    archiveUrl: null,
  });
  expect(await listed(from)).toEqual([]);
  await from.provider.stop();
});

test("an A/B test shows its winner", async () => {
  const from = await createSender();
  await insertListMembers(from, 20);
  const abTest = { testPercent: 50, metric: "open_rate" as const, durationMinutes: 60 };
  const { id } = await createDraft(from, { archive: true, abTest });
  await createVariant(from, id, { name: "A", subject: "A", weight: 1 });
  await createVariant(from, id, { name: "B", subject: "B", weight: 9 });
  await state.sendNow(from.caller, id);
  await runWorkers({ forSeconds: 600 });
  expect(await listed(from)).toEqual([]);
  await runWorkers({ forSeconds: 7200 });
  expect((await listPublic(from.siteId)).mails[0]!.subject).toBe("B");
  await from.provider.stop();
});

test("has pages of 20, and none of another site", async () => {
  const from = await createSender();
  for (let i = 0; i < 21; i++) {
    const { id } = await createDraft(from, { archive: true });
    await state.sendNow(from.caller, id);
  }
  await runWorkers({ forSeconds: 3600 });
  const first = await listPublic(from.siteId);
  expect(first.mails).toHaveLength(20);
  const second = await listPublic(from.siteId, first.next);
  expect(second.mails).toHaveLength(1);
  expect(second.next).toBeUndefined();
  const other = await createSender();
  await expect(findPublic(other.siteId, first.mails[0]!.id)).rejects.toMatchObject({
    kind: "missing",
  });
  await other.provider.stop();
  await from.provider.stop();
});

test.each(interruptions)("shows an email once when the worker %s", async (how) => {
  const from = await createSender();
  let sent = 0;
  await interruptedAtSomeSteps(how, async (interrupt) => {
    const { id } = await createDraft(from, { archive: true });
    await state.sendNow(from.caller, id);
    sent++;
    await interrupt(
      () => pollBroadcast({ orgId: from.caller.orgId, kind: "campaign", id }),
      () => runWorkers({ forSeconds: 3600 }),
    );
    const { mails } = await listPublic(from.siteId);
    expect(mails.filter((mail) => mail.id === id)).toHaveLength(1);
    expect(from.provider.mails).toHaveLength(2 * sent);
  });
  await from.provider.stop();
});
