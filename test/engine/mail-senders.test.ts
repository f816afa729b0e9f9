// From and Reply-To of mail: what a campaign, sequence or holiday sets, else its site, else its
// sending config. And the headers that all marketing mail carries.
import { beforeAll, expect, test } from "vitest";
import { put, update, write } from "../../shared/adapters/dynamodb/table.ts";
import { addSeconds } from "../../shared/clock.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import * as state from "../../shared/domain/campaigns/campaign-actions.ts";
import { preview } from "../../shared/domain/campaigns/campaign-preview.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import { NewHoliday } from "../../shared/domain/campaigns/holiday-schema.ts";
import * as holidays from "../../shared/domain/campaigns/holidays.ts";
import { sendProofs } from "../../shared/domain/campaigns/proofs.ts";
import * as resends from "../../shared/domain/campaigns/resends.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import * as batches from "../../shared/domain/sending/accept/accept-batch.ts";
import { BatchMessage } from "../../shared/domain/sending/accept/batch-message.ts";
import { loadIntake } from "../../shared/domain/sending/accept/intake.ts";
import { findSentContent } from "../../shared/domain/sending/sent-content.ts";
import { keys } from "../../shared/keys.ts";
import * as campaignTest from "../support/campaigns.ts";
import * as mailTest from "../support/sending.ts";
import * as sequenceTest from "../support/sequences.ts";

beforeAll(campaignTest.useVirtualQueues);

const anHour = { forSeconds: 3600 };
type Owner = Pick<mailTest.TestSender, "caller" | "siteId" | "configId">;
const setReplyTos = async ({ caller, siteId, configId }: Owner, replyTos: ReplyTos) => {
  await sites.change(caller, siteId, { replyTo: replyTos.site });
  await sendingConfigs.update(caller, configId, { replyTo: replyTos.config });
};

const all = { site: "site@shop.example", config: "config@shop.example" };
type ReplyTos = Record<keyof typeof all, string | null>;
const levels: [string, string | null, ReplyTos, string | undefined][] = [
  ["its own", "own@shop.example", all, "own@shop.example"],
  ["that of the site", null, all, "site@shop.example"],
  ["that of the sending config", null, { ...all, site: null }, "config@shop.example"],
  ["none", null, { site: null, config: null }, undefined],
];

test.each(levels)("the Reply-To of a campaign is %s", async (_, replyTo, others, expected) => {
  const from = await campaignTest.createCampaignSender("sparkpost");
  await setReplyTos(from, others);
  await campaignTest.insertListMembers(from, 2);
  const { id } = await campaignTest.createDraft(from, { replyTo });
  const { samples } = await preview(from.caller, id);
  expect(samples[0]).toMatchObject({
    fromEmail: "shop@example.com",
    fromName: "Shop",
    replyTo: expected ?? null,
  });
  await state.sendNow(from.caller, id);
  await campaignTest.runWorkers(anHour);
  const mails = campaignTest.expectNoDuplicates(from);
  expect(mails.map((mail) => mail.replyTo)).toEqual([expected, expected]);
  await from.provider.stop();
});

test("mail of a campaign has its sender and the headers of marketing mail", async () => {
  const from = await campaignTest.createCampaignSender("sparkpost");
  await verifyDomain(from, "news.example");
  await campaignTest.insertListMembers(from, 3);
  const own = { fromEmail: "ann@news.example", fromName: "Ann", replyTo: "ask@shop.example" };
  const { id } = await campaignTest.createDraft(from, own);
  expect(await campaignTest.readCampaign(from, id)).toMatchObject({
    ...own,
    sendingConfigLabel: "Ann <ann@news.example>",
  });
  await state.sendNow(from.caller, id);
  // A retry sends the same.
  let calls = 0;
  from.provider.faultFor = () => (++calls === 1 ? { status: 429 } : undefined);
  await campaignTest.runWorkers(anHour);
  const { caller, siteId } = from;
  const mails = campaignTest.expectNoDuplicates(from);
  expect(mails).toHaveLength(3);
  for (const { from: sender, replyTo, headers, sendId } of mails) {
    expect([sender, replyTo]).toEqual(["Ann <ann@news.example>", "ask@shop.example"]);
    expect(headers).toMatchObject({
      "Feedback-ID": `campaign-${id}:site-${siteId}:org-${caller.orgId}:pennymail`,
      Precedence: "bulk",
      "X-Auto-Response-Suppress": "OOF, AutoReply",
    });
    expect(await findSentContent(caller, sendId)).toMatchObject({
      from: { email: "ann@news.example", name: "Ann" },
      replyTo: ["ask@shop.example"],
    });
  }
  const again = await resends.resend(caller, id, { to: "unopened", draft: true });
  expect(again).toMatchObject(own);
  await from.provider.stop();
});

test("proofs of a campaign have its sender", async () => {
  const from = await campaignTest.createCampaignSender();
  await sendingConfigs.update(from.caller, from.configId, { fromName: null });
  await setReplyTos(from, all);
  const { id } = await campaignTest.createDraft(from);
  await sendProofs(from.caller, id, { emails: ["boss@example.com"] });
  await campaigns.updateCampaign(from.caller, id, { fromName: "Ann", replyTo: "a@shop.example" });
  await sendProofs(from.caller, id, { emails: ["boss@example.com"] });
  await campaignTest.runWorkers(anHour);
  expect(from.provider.mails.map(({ from: sender, replyTo }) => [sender, replyTo])).toEqual([
    ["shop@example.com", "site@shop.example"],
    [expect.stringMatching(/^"?Ann"? <shop@example.com>$/), "a@shop.example"],
  ]);
  await from.provider.stop();
});

const refused = { kind: "invalid", details: [{ path: "fromEmail" }] };
const setVerified = async ({ caller, configId }: Owner, verified: boolean) =>
  sendingConfigs.setVerified(caller, await sendingConfigs.find(caller, configId), verified);
const verifyDomain = ({ caller }: Owner, domain: string) =>
  write(put(keys.domainName(caller.orgId, domain), { domainId: 1, verified: true }));

test("a campaign takes the addresses that its sending config may send from", async () => {
  const from = await campaignTest.createCampaignSender();
  const { caller } = from;
  const { id } = await campaignTest.createDraft(from, { fromEmail: "SHOP@example.com" });
  const change = (fromEmail: string | null) => campaigns.updateCampaign(caller, id, { fromEmail });
  await expect(change("ann@example.com")).rejects.toMatchObject(refused);
  await expect(change("ann@news.example")).rejects.toMatchObject(refused);
  await expect(
    campaignTest.createDraft(from, { fromEmail: "ann@news.example" }),
  ).rejects.toMatchObject(refused);
  expect(await campaignTest.readCampaign(from, id)).toMatchObject({
    fromEmail: "SHOP@example.com",
  });
  await setVerified(from, true);
  await change("ann@example.com");
  await expect(change("ann@sub.example.com")).rejects.toMatchObject(refused);
  await verifyDomain(from, "news.example");
  await change("ann@news.example");
  // The start checks again.
  await campaignTest.insertListMembers(from, 1);
  await write(update(keys.domainName(caller.orgId, "news.example"), { set: { verified: false } }));
  await expect(state.sendNow(caller, id)).rejects.toMatchObject(refused);
  // Without a sending config, there is no rule yet; with the config, there is.
  await campaigns.updateCampaign(caller, id, { sendingConfigId: null, fromEmail: "a@b.example" });
  await expect(
    campaigns.updateCampaign(caller, id, { sendingConfigId: from.configId }),
  ).rejects.toMatchObject(refused);
  await from.provider.stop();
});

test("a campaign of an earlier version has no sender of its own", async () => {
  const from = await campaignTest.createCampaignSender();
  await campaignTest.insertListMembers(from, 1);
  const { id } = await campaignTest.createDraft(from);
  const remove = ["fromEmail", "fromName", "replyTo"];
  await write(update(keys.record(from.caller.orgId, "CAMPAIGN", id), { remove }));
  await write(update(keys.record(from.caller.orgId, "SITE", from.siteId), { remove: ["replyTo"] }));
  await write(
    update(keys.record(from.caller.orgId, "CONFIG", from.configId), { remove: ["replyTo"] }),
  );
  expect(await campaignTest.readCampaign(from, id)).toMatchObject({
    fromEmail: null,
    fromName: null,
    replyTo: null,
  });
  await state.sendNow(from.caller, id);
  await campaignTest.runWorkers(anHour);
  expect(from.provider.mails).toMatchObject([{ replyTo: undefined }]);
  await from.provider.stop();
});

test("mail of a sequence has its sender, and pauses it when it may no longer use it", async () => {
  const from = await sequenceTest.createSequenceSender();
  await setReplyTos(from, all);
  const own = { fromEmail: "ann@example.com", fromName: "Ann", replyTo: "ask@shop.example" };
  const { configId: sendingConfigId } = from;
  const first = await sequenceTest.createSequence(from, ["Own"], { ...own, sendingConfigId });
  const second = await sequenceTest.createSequence(from, ["Inherited"]);
  await expect(
    sequences.change(from.caller, first.id, { fromEmail: "ann@news.example" }),
  ).rejects.toMatchObject(refused);
  expect(await sequences.find(from.caller, first.id)).toMatchObject(own);
  const contactIds = await sequenceTest.createContacts(from, 1);
  for (const { id } of [first, second]) await enrollments.enroll(from.caller, id, { contactIds });
  await sequenceTest.runFor(sequenceTest.minutes(2));
  const shown = from.provider.mails.map(
    ({ subject, from: sender = "", replyTo }) =>
      `${subject}: ${sender.replaceAll('"', "")}, ${replyTo}`,
  );
  expect(shown.toSorted()).toEqual([
    "Inherited: Shop <shop@example.com>, site@shop.example",
    "Own: Ann <ann@example.com>, ask@shop.example",
  ]);
  expect(from.provider.mails[0]!.headers).toMatchObject({ Precedence: "bulk" });
  await setVerified(from, false);
  await enrollments.enroll(from.caller, first.id, {
    contactIds: await sequenceTest.createContacts(from, 1),
  });
  await sequenceTest.runFor(sequenceTest.minutes(2));
  expect(await sequences.find(from.caller, first.id)).toMatchObject({
    status: "paused",
    statusReason: expect.stringContaining("may not send from ann@example.com"),
  });
  await from.provider.stop();
});

test("a sequence without a sending config is judged by the one that it would use", async () => {
  const from = await sequenceTest.createSequenceSender();
  const fields = { sendingConfigId: null, fromEmail: "ann@news.example" };
  await expect(sequenceTest.createSequence(from, ["Hi"], fields)).rejects.toMatchObject(refused);
  await from.provider.stop();
});

test("mail of a holiday has its Reply-To, else that of the site", async () => {
  const from = await campaignTest.createCampaignSender();
  await setReplyTos(from, all);
  const { id: sequenceId } = await sequenceTest.createSequence(
    { ...from, orgId: from.caller.orgId },
    [sequenceTest.days(9)],
    { status: "draft" },
  );
  await write(
    update(keys.record(from.caller.orgId, "SEQUENCE", sequenceId), { set: { status: "active" } }),
  );
  await campaignTest.insertListMembers(from, 1, () => ({ sequences: new Set([sequenceId]) }));
  const tomorrow = addSeconds(sequenceTest.days(1)).toISOString().slice(0, 10);
  for (const replyTo of ["own@shop.example", null])
    await holidays.create(
      from.caller,
      NewHoliday.parse({
        siteId: from.siteId,
        name: "New year",
        date: tomorrow,
        templateId: from.templateId,
        sendingConfigId: from.configId,
        replyTo,
      }),
    );
  await campaignTest.runWorkers({ forSeconds: sequenceTest.days(2) });
  expect(from.provider.mails.map(({ replyTo }) => replyTo).toSorted()).toEqual([
    "own@shop.example",
    "site@shop.example",
  ]);
  await from.provider.stop();
});

test.each(levels)("the Reply-To of single sends is %s", async (_, replyTo, others, expected) => {
  const from = await mailTest.createSender("postmark");
  await setReplyTos(from, others);
  const own = replyTo === null ? {} : { replyTo };
  const single = await mailTest.send(from, { to: "ada@example.com", ...own });
  const given = BatchMessage.parse({
    sendingConfigId: from.configId,
    subject: "Hello",
    html: "<p>Hello</p>",
    recipients: [{ to: "ben@example.com" }],
    ...own,
  });
  await batches.acceptBatch(
    from.caller,
    { message: given, checked: batches.validateRecipients(given) },
    await loadIntake(from.caller, given, { emails: ["ben@example.com"] }),
  );
  await campaignTest.runWorkers(anHour);
  expect(from.provider.mails.map((mail) => mail.replyTo)).toEqual([expected, expected]);
  expect(from.provider.mails[0]!.headers).not.toHaveProperty("Precedence");
  expect(await findSentContent(from.caller, single.id)).toMatchObject({
    replyTo: expected ? [expected] : [],
  });
  await from.provider.stop();
});
