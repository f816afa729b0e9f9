// The preference page: a pause of marketing mail, and the reason for leaving.
import { beforeAll, expect, test } from "vitest";
import { insertMany } from "../../shared/adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../shared/clock.ts";
import { getLeaveReasons } from "../../shared/domain/analytics/leave-reasons.ts";
import {
  ContactChanges,
  type ContactItem,
} from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { createTokenMaker } from "../../shared/domain/audience/contacts/link-tokens.ts";
import * as contactTopics from "../../shared/domain/audience/topics/contact-topics.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import { getReach } from "../../shared/domain/campaigns/campaign-audience.ts";
import { preview } from "../../shared/domain/campaigns/campaign-preview.ts";
import { runFanOut } from "../../shared/domain/campaigns/engine/fan-out.ts";
import * as preferences from "../../shared/domain/delivery-events/preferences.ts";
import * as unsubscribes from "../../shared/domain/delivery-events/unsubscribes.ts";
import { answerWhy } from "../../shared/domain/delivery-events/why.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { mergeContacts } from "../../shared/domain/privacy/merge-contacts.ts";
import { emailShards, keys } from "../../shared/keys.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  expectNoDuplicates,
  readCampaign,
  readConsistentNumbers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { newContact } from "../support/contacts.ts";
import { crashAtSomeSteps, interceptClients } from "../support/crash-injection.ts";
import { createSentMails } from "../support/delivery-events.ts";

interceptClients();
beforeAll(useVirtualQueues);

const use = { source: "preference_page" as const, ipAddress: "192.0.2.7" };

async function createMember(
  { caller, siteId, listId }: CampaignSender,
  name: string,
): Promise<ContactItem> {
  const fields = newContact(`${name}-${siteId}@example.com`, { lists: [listId] });
  const { id } = await contacts.create(caller, { siteId, ...fields });
  return contacts.findItem(caller, id);
}

async function tokenOf({ orgId, siteId, id, email }: ContactItem, sendId?: number) {
  const seal = await createTokenMaker("unsubscribe");
  return seal({ orgId, siteId, contactId: id, email, sendId });
}

test("a contact that pauses gets no campaign, also not one that is being sent, until it ends", async () => {
  const sender = await createCampaignSender();
  const { caller, orgId, siteId } = { ...sender, orgId: sender.caller.orgId };
  const ann = await createMember(sender, "ann");
  const late = await createMember(sender, "late");
  await createMember(sender, "bob");
  await preferences.pauseMail(await tokenOf(ann), use, 60);
  const { snoozedUntil } = await contacts.find(caller, ann.id);
  expect(Date.parse(snoozedUntil!) - now().getTime()).toBeCloseTo(60 * 24 * 3600_000, -5);
  const why = await answerWhy(caller, { email: ann.email, siteId });
  expect(why).toMatchObject({
    reason: "snoozed",
    contact: { status: "subscribed", snoozedUntil },
  });
  const { id } = await createDraft(sender);
  expect(await preview(caller, id)).toMatchObject({ wouldReceive: 2, snoozed: 1 });
  expect((await getReach(caller, id)).notMailed).toMatchObject([{ reason: "snoozed", count: 1 }]);
  await actions.sendNow(caller, id);
  const key = { orgId, kind: "campaign" as const, id };
  for (const shard of emailShards) await runFanOut(key, shard);
  expect(await readConsistentNumbers(sender, id)).toMatchObject({ accepted: 2, snoozed: 1 });
  await preferences.pauseMail(await tokenOf(late), use, 30);
  await runWorkers({ forSeconds: 600 });
  expect(expectNoDuplicates(sender).map(({ to }) => to)).toEqual([`bob-${siteId}@example.com`]);
  const counts = await readConsistentNumbers(sender, id);
  expect(counts).toMatchObject({ candidates: 3, snoozed: 2, accepted: 1 });
  expect((await readCampaign(sender, id)).status).toBe("sent");

  await preferences.endPause(await tokenOf(ann), use);
  await preferences.endPause(await tokenOf(ann), use);
  expect((await contacts.find(caller, ann.id)).snoozedUntil).toBeNull();
  const { log } = await contactTopics.find({ orgId }, ann.id, { limit: 10 });
  expect(log).toMatchObject([
    { source: "preference_page", snoozedUntil: expect.any(String) },
    { source: "preference_page", ipAddress: "192.0.2.7", snoozedUntil },
  ]);
  expect(log[0]!.snoozedUntil! <= log[0]!.createdAt).toBe(true);

  await mergeContacts(caller, late.id, ann.id);
  expect((await contacts.find(caller, ann.id)).snoozedUntil).not.toBeNull();
  await sites.change(caller, siteId, {
    preferencePage: { fields: [], snooze: false, leaveReason: false },
  });
  await expect(preferences.pauseMail(await tokenOf(ann), use, 30)).rejects.toMatchObject({
    kind: "invalid",
  });
  await sender.provider.stop();
});

test("a request ends a pause, which the log of the contact names, and begins none", async () => {
  const sender = await createCampaignSender();
  const { caller, siteId } = sender;
  const ann = await createMember(sender, "ann");
  await preferences.pauseMail(await tokenOf(ann), use, 60);
  const ended = await contacts.change(caller, ann.id, { firstName: "Ann", snoozedUntil: null });
  expect(ended).toMatchObject({ firstName: "Ann", snoozedUntil: null, status: "subscribed" });
  const log = async () => (await contactTopics.find(caller, ann.id, { limit: 10 })).log;
  const [entry] = await log();
  expect(entry).toMatchObject({ source: "api", snoozedUntil: expect.any(String), status: null });
  expect(entry!.snoozedUntil! <= entry!.createdAt).toBe(true);
  // A pause that is over is not ended again.
  await contacts.change(caller, ann.id, { snoozedUntil: null });
  expect(await log()).toHaveLength(2);
  const begins = { snoozedUntil: "2030-01-01T00:00:00.000Z" };
  expect(ContactChanges.safeParse(begins).success).toBe(false);
  expect(await answerWhy(caller, { email: ann.email, siteId })).not.toMatchObject({
    reason: "snoozed",
  });
  await sender.provider.stop();
});

/** A contact that unsubscribed by the link of a mail of a campaign. */
async function createLeaver() {
  const mail = await createSentMails(0);
  const { caller, orgId, siteId } = mail;
  const { id } = await contacts.create(caller, { siteId, ...newContact(`a${orgId}@example.com`) });
  const contact = await contacts.findItem(caller, id);
  const sendId = orgId * 100_000;
  const campaignId = orgId;
  const at = addSeconds(-3600, now()).toISOString();
  const item = { ...mail.item(sendId), toEmail: contact.email, contactId: id, campaignId };
  const campaign = { id: campaignId, siteId, name: "News", status: "completed", createdAt: at };
  await insertMany([
    { key: keys.send(orgId, sendId), item },
    { key: keys.record(orgId, "CAMPAIGN", campaignId), item: campaign },
  ]);
  const token = await tokenOf(contact, sendId);
  await unsubscribes.unsubscribe(token);
  const answers = async () => {
    const query = { period: "30d" as const, siteId };
    const [ofSite, ofCampaign] = [
      await getLeaveReasons(caller, query),
      await getLeaveReasons(caller, { ...query, campaignId }),
    ];
    return [ofSite, ofCampaign].map(({ answers: n, reasons }) => [n, reasons[0]]);
  };
  const log = async () => (await contactTopics.find(caller, id, { limit: 10 })).log;
  return { token, contact, caller, answers, log };
}

const once = [
  [1, { reason: "too_many", count: 1 }],
  [1, { reason: "too_many", count: 1 }],
];

test("after a crash at any step and a repeat, a reason is stored and counted once", async () => {
  await crashAtSomeSteps(async (crash) => {
    const { token, answers, log } = await createLeaver();
    const answer = { reason: "too_many" as const, comment: "Every day!" };
    expect((await unsubscribes.findStatus(token)).asksLeaveReason).toBe(true);
    await crash(() => preferences.giveReason(token, use, answer));
    await preferences.giveReason(token, use, answer);
    await preferences.giveReason(token, use, { reason: "other", comment: null });
    expect(await answers()).toEqual(once);
    expect((await log()).filter(({ leaving }) => leaving)).toMatchObject([{ leaving: answer }]);
    expect((await unsubscribes.findStatus(token)).asksLeaveReason).toBe(false);
  });
});

test("ten answers at once are one, and a contact that is subscribed is not asked", async () => {
  const { token, answers } = await createLeaver();
  const answer = { reason: "too_many" as const, comment: null };
  await Promise.all(Array.from({ length: 10 }, () => preferences.giveReason(token, use, answer)));
  expect(await answers()).toEqual(once);
  const other = await createLeaver();
  await unsubscribes.resubscribe(other.token);
  await expect(preferences.giveReason(other.token, use, answer)).rejects.toMatchObject({
    kind: "invalid",
  });
  expect((await other.answers())[0]).toMatchObject([0, {}]);
});
