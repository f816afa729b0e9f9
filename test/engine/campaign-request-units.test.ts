// DynamoDB request units of campaigns. They are the same on any machine, so a change that raises
// the cost fails here.
import { beforeAll, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import * as listing from "../../shared/domain/audience/contacts/contact-listing.ts";
import { foldMailLog } from "../../shared/domain/audience/mail-counts/fold-mail-log.ts";
import { readMailLog } from "../../shared/domain/audience/mail-counts/mail-log.ts";
import { grantPlan } from "../../shared/domain/billing/operator-grants.ts";
import { auditAgain, getAudit } from "../../shared/domain/campaigns/audit/campaign-audit.ts";
import { runAudit } from "../../shared/domain/campaigns/audit/run-audit.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import { CampaignSchedule } from "../../shared/domain/campaigns/campaign-schema.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { splitIntoBatches } from "../../shared/kernel/parallel.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  insertListMembers,
  readCampaign,
  runWorkers,
  sendingWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";
import { measureUnits } from "../support/request-units.ts";

beforeAll(useVirtualQueues);

const people = 6000;

async function createSenderWithMembers() {
  const from = await createCampaignSender();
  await grantPlan({ organizationId: from.caller.orgId, plan: "enterprise", credits: 0 });
  await insertListMembers(from, people);
  return from;
}

async function measureCampaign(from: Awaited<ReturnType<typeof createCampaignSender>>) {
  const { id } = await createDraft(from);
  const sending = await measureUnits(async () => {
    await actions.sendNow(from.caller, id);
    await runWorkers({ forSeconds: 60 }, sendingWorkers);
  });
  expect((await readCampaign(from, id)).stats.sent).toBe(people);
  return sending;
}

test("a campaign costs at most 0.3 write and 0.5 read units a mail, with its counts", async () => {
  const from = await createSenderWithMembers();
  const { caller, siteId } = from;
  const sending = await measureCampaign(from);
  const site = { orgId: caller.orgId, siteId };
  expect((await readMailLog(site)).entries.length).toBeGreaterThan(people / 100);
  const page = () => measureUnits(() => listing.list(caller, { limit: 50 }, { siteId }));
  const whileLogged = await page();
  const folding = await measureUnits(() => foldMailLog(site));
  expect((await readMailLog(site)).entries).toEqual([]);
  const afterFold = await page();
  const [writes, reads] = (["writeUnits", "readUnits"] as const).map(
    (units) => (sending.usage[units] + folding.usage[units]) / people,
  );
  console.info(`campaign: ${writes} W, ${reads} R per mail`);
  console.info(`50 contacts: ${whileLogged.usage.readUnits}, ${afterFold.usage.readUnits} R`);
  expect(writes).toBeLessThanOrEqual(0.3);
  expect(reads).toBeLessThanOrEqual(0.5);
  expect(whileLogged.result.items.map(({ sendCount }) => sendCount)).toEqual(Array(50).fill(1));
  expect(afterFold.result.items.map(({ sendCount }) => sendCount)).toEqual(Array(50).fill(1));
  expect(whileLogged.usage.readUnits).toBeLessThanOrEqual(40);
  expect(afterFold.usage.readUnits).toBeLessThanOrEqual(40);
  await from.provider.stop();
});

// Each time of a shard is a chunk of its own, so the cost of a mail depends on the size of the
// chunks. Half of these contacts are in one zone.
test("a campaign at local time costs no more, in three time zones", async () => {
  const from = await createCampaignSender();
  const { caller } = from;
  await grantPlan({ organizationId: caller.orgId, plan: "enterprise", credits: 0 });
  const n = 16_000;
  const zones = ["Europe/Berlin", "Europe/Berlin", "America/New_York", "Asia/Kolkata"];
  await insertListMembers(from, n, (i) => ({ timezone: zones[i % zones.length]! }));
  const { id } = await createDraft(from);
  const localTime = clock
    .addSeconds(20 * 3600)
    .toISOString()
    .slice(0, 16);
  await actions.schedule(caller, id, CampaignSchedule.parse({ localTime }));
  const sending = await measureUnits(() => runWorkers({ forSeconds: 40 * 3600 }));
  expect(await readCampaign(from, id)).toMatchObject({ status: "sent", stats: { sent: n } });
  const [writes, reads] = (["writeUnits", "readUnits"] as const).map(
    (units) => sending.usage[units] / n,
  );
  console.info(`campaign at local time: ${writes} W, ${reads} R per mail`);
  expect(writes).toBeLessThanOrEqual(0.3);
  expect(reads).toBeLessThanOrEqual(0.5);
  await from.provider.stop();
});

test("a campaign of a site with a frequency cap costs at most 0.75 read units a mail", async () => {
  const from = await createSenderWithMembers();
  await sites.change(from.caller, from.siteId, { sendFrequencyCapDays: 2 });
  const { usage } = await measureCampaign(from);
  const [writes, reads] = [usage.writeUnits / people, usage.readUnits / people];
  console.info(`campaign with a frequency cap: ${writes} W, ${reads} R per mail`);
  expect(reads).toBeLessThanOrEqual(0.75);
  await from.provider.stop();
});

/** Lists 50 sends, newest and older, with each filter that all sends match. */
async function expectCheapPages(
  { caller, siteId, provider }: CampaignSender,
  filter: { campaignId: number; status: "sent" | "delivered" },
): Promise<void> {
  const { campaignId, status } = filter;
  const [to, from] = [clock.addSeconds(60).toISOString(), clock.addSeconds(-3600).toISOString()];
  const email = provider.mails[0]!.to;
  const filters = [
    {},
    { siteId },
    { campaignId },
    { status },
    filter,
    { from, to },
    { subject: "News" },
  ];
  let most = 0;
  for (const own of filters) {
    let cursor: string | undefined;
    for (let page = 1; page <= 2; page++) {
      const request = { limit: 50, cursor };
      const { result, usage } = await measureUnits(() => listSends(caller, request, own));
      most = Math.max(most, usage.readUnits);
      expect(result.sends).toHaveLength(50);
      expect(result.sends.every((send) => send.status === status)).toBe(true);
      expect(usage.readUnits).toBeLessThanOrEqual(40);
      cursor = result.pagination.nextCursor ?? undefined;
    }
  }
  const byAddress = await measureUnits(() => listSends(caller, { limit: 50 }, { email, status }));
  expect(byAddress.result.sends).toHaveLength(1);
  expect(byAddress.usage.readUnits).toBeLessThanOrEqual(40);
  // A page without a match ends after 2,000 sends.
  const scan = await measureUnits(() => listSends(caller, { limit: 50 }, { status: "failed" }));
  expect(scan.usage.readUnits).toBeLessThanOrEqual(450);
  console.info(`50 sends: at most ${most} R; 2,000 without a match: ${scan.usage.readUnits} R`);
}

test("audits, events and pages of sends cost few units", async () => {
  const from = await createSenderWithMembers();
  const { orgId } = from.caller;
  const { id } = await createDraft(from);
  await actions.sendNow(from.caller, id);
  await runWorkers({ forSeconds: 60 }, sendingWorkers);
  const measureAudit = async () => {
    const started = performance.now();
    const { usage } = await measureUnits(() => runAudit(orgId, id));
    const audit = await getAudit(from.caller, id);
    expect(audit).toMatchObject({ status: "complete", candidates: people });
    const ms = Math.round(performance.now() - started);
    console.info(`audit of ${people}: ${usage.writeUnits} W, ${usage.readUnits} R, ${ms} ms`);
    return { usage, hash: audit.hash };
  };
  const first = await measureAudit();
  expect(first.usage.readUnits / people).toBeLessThanOrEqual(0.03);
  expect(first.usage.writeUnits).toBeLessThanOrEqual(20);
  const sendIds = from.provider.mails.map(({ sendId }) => sendId);
  await expectCheapPages(from, { campaignId: id, status: "sent" });
  const recording = await measureUnits(async () => {
    for (const some of splitIntoBatches(sendIds, 500)) {
      const events = some.map((sendId) => createEvent(sendId, "delivered", 5));
      await applyMessages(await createEventMessage(orgId, events));
    }
  });
  const writesPerEvent = recording.usage.writeUnits / people;
  console.info(`events by 500: ${writesPerEvent} W, ${recording.usage.readUnits / people} R`);
  expect(writesPerEvent).toBeLessThanOrEqual(1.2);
  await expectCheapPages(from, { campaignId: id, status: "delivered" });
  await auditAgain(from.caller, id);
  const second = await measureAudit();
  expect(second.hash).toBe(first.hash);
  expect(second.usage.readUnits / people).toBeLessThanOrEqual(0.2);
  const poll = await measureUnits(() => getAudit(from.caller, id));
  expect(poll.usage.readUnits).toBeLessThanOrEqual(12);
  await from.provider.stop();
});
