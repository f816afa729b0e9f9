// Restarts, parallel workers, and providers that fail in the middle of a campaign.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { worker as drain } from "../../../functions/queue/drain.ts";
import { worker as fanOut } from "../../../functions/queue/fan-out.ts";
import * as clock from "../../../shared/clock.ts";
import * as listing from "../../../shared/domain/audience/contacts/contact-listing.ts";
import * as contacts from "../../../shared/domain/audience/contacts/contacts.ts";
import * as actions from "../../../shared/domain/campaigns/campaign-actions.ts";
import { CampaignSchedule } from "../../../shared/domain/campaigns/campaign-schema.ts";
import * as resends from "../../../shared/domain/campaigns/resends.ts";
import { NewTemplate } from "../../../shared/domain/content/template-schema.ts";
import * as templates from "../../../shared/domain/content/templates.ts";
import { findDetail } from "../../../shared/domain/delivery-events/send-history.ts";
import * as sendingConfigs from "../../../shared/domain/senders/sending-configs.ts";
import { leaseSeconds } from "../../../shared/domain/sending/bulk/lanes.ts";
import { listSends } from "../../../shared/domain/sending/list-sends.ts";
import {
  createCampaignSender,
  createDraft,
  insertListMembers,
  readCampaign,
  readConsistentNumbers,
  runWorkers,
} from "../../support/campaigns.ts";
import { newContact } from "../../support/contacts.ts";
import { runUntilCrash } from "../../support/crash-injection.ts";
import * as mailTest from "../../support/sending.ts";
import { pendingMessages } from "../../support/virtual-queues.ts";
import {
  atCall,
  expectAllMailedOnce,
  hours,
  readStatus,
  type Story,
  startCampaign,
  startDraft,
} from "./story.ts";

/** Stages all emails of the campaigns, and hands none over. */
const runFanOut = () => runWorkers({}, [fanOut, drain]);

/** The provider says that it did not accept the emails. */
const isBusy = { status: 503, headers: { "retry-after": "600" } };

async function restarts(): Promise<void> {
  const campaign = await startCampaign(120, "resend");
  const { caller, configId, provider } = campaign.sender;
  let fanOutCrashes = 0;
  const crashHook = (work: () => Promise<unknown>) =>
    fanOutCrashes > 8 ? work() : runUntilCrash(4 + 3 * fanOutCrashes++, "after", work);
  await runWorkers({ ...hours(3), crashHook }, [fanOut, drain]);
  let interruptedCalls = 0;
  const work = () => mailTest.runLane(caller.orgId, configId);
  for (let step = 6; step <= 60; step++)
    for (const when of ["after", "before"] as const) {
      const { crashed, steps } = await runUntilCrash(step, when, work);
      if (crashed && steps.slice(0, step).includes("request")) interruptedCalls++;
      clock.advanceClock(leaseSeconds + 1);
    }
  expect(interruptedCalls).toBeGreaterThan(0);
  expect(provider.mails.length).toBeGreaterThan(0);
  await runWorkers(hours(1));
  await expectAllMailedOnce(campaign, 120);
  await provider.stop();
}

async function pauseAndResume(): Promise<void> {
  const campaign = await startCampaign(120);
  const { sender, id } = campaign;
  for (const call of [2, 3]) {
    const pausing = atCall(call, () => actions.pause(sender.caller, id));
    sender.provider.faultFor = pausing.fault;
    await runWorkers(hours(1));
    await pausing.done();
    expect(await readStatus(campaign)).toBe("paused");
    expect(sender.provider.mails.length).toBeLessThan(120);
    sender.provider.faultFor = () => undefined;
    await actions.resume(sender.caller, id);
  }
  await runWorkers(hours(1));
  await expectAllMailedOnce(campaign, 120);
  await sender.provider.stop();
}

async function changedRate(): Promise<void> {
  const campaign = await startCampaign(120);
  const { sender, id } = campaign;
  const pausing = atCall(2, () => actions.pause(sender.caller, id));
  sender.provider.faultFor = pausing.fault;
  await runWorkers(hours(1));
  await pausing.done();
  await sendingConfigs.update(sender.caller, sender.configId, { ratePerSecond: 500 });
  await actions.resume(sender.caller, id);
  await runWorkers(hours(1));
  await expectAllMailedOnce(campaign, 120);
  await sender.provider.stop();
}

async function cutConnections(): Promise<void> {
  const campaign = await startCampaign(120, "resend");
  const { provider } = campaign.sender;
  provider.faultFor = ({ n }) => {
    if (n % 3 === 0) return "lost";
    return n % 5 === 0 ? "reset" : undefined;
  };
  await runWorkers(hours(12));
  expect(provider.calls.length).toBeGreaterThan(20);
  await expectAllMailedOnce(campaign, 120);
  await provider.stop();
}

async function providerErrors(): Promise<void> {
  const campaign = await startCampaign(120);
  const { sender, id } = campaign;
  let refusals = 0;
  sender.provider.faultFor = ({ n }) => {
    if (n % 3 || refusals >= 6) return undefined;
    refusals++;
    return isBusy;
  };
  while ((await readStatus(campaign)) !== "sent") {
    await runWorkers({ forSeconds: 300 });
    const { sent } = await readConsistentNumbers(sender, id);
    expect(sent).toBe(sender.provider.mails.length);
  }
  expect(refusals).toBe(6);
  await expectAllMailedOnce(campaign, 120);
  await sender.provider.stop();
}

async function spentQuota(): Promise<void> {
  const campaign = await startCampaign(68);
  const { provider } = campaign.sender;
  const newDay = clock.addSeconds(2 * 3600);
  provider.faultFor = () =>
    provider.mails.length >= 45 && clock.now() < newDay
      ? { status: 429, headers: { "retry-after": "3600" } }
      : undefined;
  await runWorkers(hours(1));
  expect(provider.mails.length).toBeGreaterThanOrEqual(45);
  expect(provider.mails.length).toBeLessThan(68);
  expect(await readStatus(campaign)).toBe("sending");
  expect((await readCampaign(campaign.sender, campaign.id)).finishedAt).toBeNull();
  await runWorkers(hours(2));
  await expectAllMailedOnce(campaign, 68);
  await provider.stop();
}

async function spentQuotaOfSingles(): Promise<void> {
  const sender = await createCampaignSender();
  const { provider, caller } = sender;
  const newDay = clock.addSeconds(20 * 3600);
  provider.faultFor = () =>
    provider.mails.length >= 3 && clock.now() < newDay
      ? { status: 429, headers: { "retry-after": "3600" } }
      : undefined;
  const single = async () =>
    (await mailTest.send(sender, { to: `${randomUUID()}@example.com` })).id;
  const before = [await single(), await single(), await single()];
  await runWorkers(hours(0.1));
  const held = await single();
  await single();
  await mailTest.sendBatch(sender, mailTest.uniqueRecipients(40));
  await runWorkers(hours(1));
  expect(provider.mails.map(({ sendId }) => sendId).toSorted()).toEqual(before.toSorted());
  expect((await findDetail(caller, held)).status).toBe("queued");
  await runWorkers(hours(20));
  const listed = await mailTest.listAllSends(sender);
  expect(listed.map(({ status }) => status)).toEqual(Array(45).fill("sent"));
  expect(new Set(provider.mails.map(({ sendId }) => sendId)).size).toBe(45);
  expect(provider.mails).toHaveLength(45);
  await provider.stop();
}

async function busyServer(): Promise<void> {
  const campaign = await startCampaign(5);
  const { sender } = campaign;
  const recovery = clock.addSeconds(1.5 * 3600);
  sender.provider.faultFor = () => (clock.now() < recovery ? isBusy : undefined);
  await runWorkers(hours(1));
  expect(sender.provider.calls.length).toBeGreaterThan(3);
  const filter = { siteId: sender.siteId, status: "suppressed" as const };
  expect((await listing.list(sender.caller, { limit: 50 }, filter)).items).toEqual([]);
  await runWorkers(hours(1));
  await expectAllMailedOnce(campaign, 5);
  await sender.provider.stop();
}

async function refusedSender(): Promise<void> {
  const sender = await createCampaignSender();
  const { id: contactId } = await contacts.create(
    sender.caller,
    newContact("ann@example.com", { siteId: sender.siteId }),
  );
  sender.provider.faultFor = () => ({ status: 401 });
  const { id } = await mailTest.send(sender, { to: "ann@example.com" });
  await runWorkers(hours(48));
  expect(sender.provider.mails).toEqual([]);
  expect(await findDetail(sender.caller, id)).toMatchObject({
    status: "failed",
    sentAt: null,
    error: expect.stringContaining(`sending config ${sender.configId}`),
  });
  expect((await contacts.find(sender.caller, contactId)).status).toBe("subscribed");
  await sender.provider.stop();
}

async function brokenRecipient(): Promise<void> {
  const sender = await createCampaignSender();
  const template = await templates.create(
    sender.caller,
    NewTemplate.parse({
      siteId: sender.siteId,
      name: "Long",
      subject: "News",
      html: "<p>{% for i in (1..customFields.n) %}.{% endfor %}</p>",
    }),
  );
  for (let i = 0; i < 12; i++)
    await contacts.create(
      sender.caller,
      newContact(`reader${i}@example.com`, {
        siteId: sender.siteId,
        lists: [sender.listId],
        customFields: { n: i === 3 ? 1_000_000 : 2 },
      }),
    );
  const campaign = await startDraft(sender, { templateId: template.id });
  await runWorkers(hours(1));
  expect(await readStatus(campaign)).toBe("sent");
  expect(await readConsistentNumbers(sender, campaign.id)).toMatchObject({ sent: 11, failed: 1 });
  const { sends: failed } = await listSends(
    sender.caller,
    { limit: 10 },
    { campaignId: campaign.id, status: "failed" },
  );
  expect(failed).toMatchObject([
    { toEmail: "reader3@example.com", error: expect.stringContaining("cannot be rendered") },
  ]);
  expect(new Set(sender.provider.mails.map(({ to }) => to)).size).toBe(11);
  expect(sender.provider.mails).toHaveLength(11);
  await sender.provider.stop();
}

async function rejectedRecipients(): Promise<void> {
  const sender = await createCampaignSender();
  const { caller, siteId, listId, provider } = sender;
  for (let i = 0; i < 20; i++)
    await contacts.create(
      caller,
      newContact(`reader${i}@example.com`, { siteId, lists: [listId] }),
    );
  provider.isRefused = (to) => to.startsWith("reader7@");
  const { id } = await startDraft(sender);
  await runWorkers(hours(3));
  expect(await readConsistentNumbers(sender, id)).toMatchObject({ sent: 19, failed: 1 });
  expect(provider.mails).toHaveLength(19);
  provider.isRefused = () => false;
  const resend = await resends.resend(caller, id, resends.ResendRequest.parse({ to: "failed" }));
  await runWorkers(hours(1));
  expect(provider.mails.slice(19)).toMatchObject([{ to: "reader7@example.com" }]);
  expect(await readStatus({ sender, id: resend.id })).toBe("sent");
  await provider.stop();
}

async function parallelWorkers(): Promise<void> {
  const campaign = await startCampaign(120);
  const { caller, configId } = campaign.sender;
  const deliverAgain = () =>
    pendingMessages.push(...pendingMessages.map((message) => ({ ...message, id: randomUUID() })));
  deliverAgain();
  await runFanOut();
  deliverAgain();
  await Promise.all(Array.from({ length: 8 }, () => mailTest.runLane(caller.orgId, configId)));
  deliverAgain();
  await runWorkers(hours(1));
  await expectAllMailedOnce(campaign, 120);
  await campaign.sender.provider.stop();
}

async function slowWorker(): Promise<void> {
  const campaign = await startCampaign(60, "resend");
  const { caller, configId, provider } = campaign.sender;
  await runFanOut();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  provider.gate = gate;
  const slow = mailTest.runLane(caller.orgId, configId);
  while (!provider.calls.length) await clock.sleep(5);
  clock.advanceClock(leaseSeconds + 60);
  provider.gate = undefined;
  await runWorkers(hours(1));
  expect(provider.mails).toHaveLength(60);
  open();
  await slow;
  await runWorkers(hours(1));
  await expectAllMailedOnce(campaign, 60);
  await provider.stop();
}

async function sentTwiceByHand(): Promise<void> {
  const sender = await createCampaignSender();
  await insertListMembers(sender, 30);
  const { id } = await createDraft(sender);
  const press = () =>
    actions.sendNow(sender.caller, id).then(
      () => "started",
      ({ code }: { code: string }) => code,
    );
  const answers = await Promise.all([press(), press(), press()]);
  expect(answers.toSorted()).toEqual(["campaign_status", "campaign_status", "started"]);
  const pressing = atCall(2, press);
  sender.provider.faultFor = pressing.fault;
  await runWorkers(hours(1));
  await pressing.done();
  await expectAllMailedOnce({ sender, id }, 30);
  await sender.provider.stop();
}

async function lateStart(): Promise<void> {
  const sender = await createCampaignSender();
  await insertListMembers(sender, 3);
  const { id } = await createDraft(sender);
  const scheduledAt = clock.addSeconds(3600).toISOString();
  await actions.schedule(sender.caller, id, CampaignSchedule.parse({ scheduledAt }));
  clock.advanceClock(6 * 3600);
  await runWorkers(hours(1));
  expect(sender.provider.mails).toEqual([]);
  expect(await readCampaign(sender, id)).toMatchObject({
    status: "held",
    statusReason: expect.stringContaining("more than an hour ago"),
  });
  await sender.provider.stop();
}

async function massMailing(): Promise<void> {
  const big = await startCampaign(300);
  const small = await createCampaignSender("resend");
  await runFanOut();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { provider } = big.sender;
  provider.gate = gate;
  const massMail = mailTest.runLane(big.sender.caller.orgId, big.sender.configId);
  while (!provider.calls.length) await clock.sleep(5);
  // How far the test moves the clock. A busy machine does not count.
  const readLead = () => clock.now().getTime() - Date.now();
  const before = readLead();
  await mailTest.send(small, { to: "reset@example.com" });
  await runWorkers();
  expect(small.provider.mails).toMatchObject([{ to: "reset@example.com" }]);
  expect(readLead() - before).toBeLessThan(30_000);
  expect(provider.mails).toEqual([]);
  open();
  await massMail;
  await runWorkers(hours(1));
  await expectAllMailedOnce(big, 300);
  await Promise.all([provider.stop(), small.provider.stop()]);
}

export const interruptions: Record<string, Story> = {
  "a campaign that restarts interrupt reaches everybody once": restarts,
  "a campaign that is paused and resumed mails nobody again": pauseAndResume,
  "a campaign whose rate is changed during a pause still reaches everybody": changedRate,
  "a provider that cuts connections gets each email once": cutConnections,
  "the count of sent emails never exceeds the emails that were accepted": providerErrors,
  "a spent quota of the provider delays the rest of a campaign and loses nobody": spentQuota,
  "a spent quota of the provider delays single emails and batches, and keeps none queued":
    spentQuotaOfSingles,
  "a busy provider makes no contact unreachable": busyServer,
  "an email that the provider rejects is failed, not sent, and the contact stays": refusedSender,
  "a contact whose email cannot be rendered fails alone": brokenRecipient,
  "rejected recipients are listed and can be mailed again, without the others": rejectedRecipients,
  "parallel workers and repeated messages send each email once": parallelWorkers,
  "a worker slower than its lease sends nothing twice": slowWorker,
  "a campaign that is sent several times by hand goes once": sentTwiceByHand,
  "a campaign that missed its time by hours waits for a person": lateStart,
  "the mass mailing of one organization does not delay the email of another": massMailing,
};
