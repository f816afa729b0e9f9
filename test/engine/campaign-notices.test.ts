// Notices: campaigns that reach contacts who unsubscribed. Plunk 337 asks for email to everyone.
import { beforeAll, expect, test } from "vitest";
import { worker as campaignWorker } from "../../functions/queue/campaigns.ts";
import { worker as fanOut } from "../../functions/queue/fan-out.ts";
import { addSeconds, now } from "../../shared/clock.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import { NewTopic } from "../../shared/domain/audience/topics/topic-schema.ts";
import * as topics from "../../shared/domain/audience/topics/topics.ts";
import { answerWhyOf } from "../../shared/domain/campaigns/audit/why-of-campaign.ts";
import * as state from "../../shared/domain/campaigns/campaign-actions.ts";
import { getReach } from "../../shared/domain/campaigns/campaign-audience.ts";
import { preview } from "../../shared/domain/campaigns/campaign-preview.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import * as resends from "../../shared/domain/campaigns/resends.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import * as campaignTest from "../support/campaigns.ts";

beforeAll(campaignTest.useVirtualQueues);

const anHour = { forSeconds: 3600 };
const confirm = "New terms";
const suppress = (
  { caller }: campaignTest.CampaignSender,
  email: string,
  reason: suppressions.SuppressionReason,
) => suppressions.suppress(caller.orgId, { email, reason, detail: null, source: "test" });

const statuses = [
  "subscribed",
  "unsubscribed",
  "subscribed",
  "subscribed",
  "pending",
  "subscribed",
];

/** The last four are unsubscribed by a link, bounced, unconfirmed, and a complainer. */
async function createNoticeSender() {
  const from = await campaignTest.createCampaignSender("sparkpost");
  await sites.change(from.caller, from.siteId, { sendFrequencyCapDays: 7 });
  const lastMarketingAt = addSeconds(-60, now()).toISOString();
  const ids = await campaignTest.insertListMembers(from, statuses.length, (i) => ({
    lastMarketingAt,
    status: statuses[i],
  }));
  const emails = ids.map((_, i) => `member${ids[0]}-${i}@example.com`);
  await suppress(from, emails[2]!, "unsubscribe");
  await suppress(from, emails[3]!, "bounce");
  await suppress(from, emails[5]!, "spam_report");
  const topic = await topics.create(
    from.caller,
    NewTopic.parse({ siteId: from.siteId, name: "Offers", defaultSubscription: "unsubscribed" }),
  );
  return { from, emails, topicId: topic.id };
}

test("a notice reaches contacts who unsubscribed, and nobody who is suppressed", async () => {
  const { from, emails, topicId } = await createNoticeSender();
  const { id } = await campaignTest.createDraft(from, { name: confirm, topicId });
  expect(await preview(from.caller, id)).toMatchObject({ candidates: 6, wouldReceive: 0 });
  await campaigns.updateCampaign(from.caller, id, { purpose: "notice" });
  const shown = await preview(from.caller, id);
  const counts = { candidates: 6, wouldReceive: 3, suppressed: 2, unsubscribed: 1, capped: 0 };
  expect(shown).toMatchObject({ ...counts, notInTopic: 0 });
  expect(shown.samples).toHaveLength(3);
  expect(shown.warnings.join()).toContain("contacts who unsubscribed");
  expect(await getReach(from.caller, id)).toMatchObject({
    mailed: 3,
    notMailed: expect.arrayContaining([
      expect.objectContaining({ reason: "bounced", count: 1 }),
      expect.objectContaining({ reason: "complained", count: 1 }),
      expect.objectContaining({ reason: "pending", count: 1 }),
    ]),
  });
  await state.sendNow(from.caller, id, { confirm });
  await campaignTest.runWorkers(anHour);
  const mails = campaignTest.expectNoDuplicates(from);
  expect(mails.map(({ to }) => to).toSorted()).toEqual(emails.slice(0, 3).toSorted());
  for (const { headers, html, text } of mails) {
    expect(Object.keys(headers ?? {}).join()).not.toMatch(/unsubscribe/i);
    expect(headers).toMatchObject({ Precedence: "bulk" });
    expect(`${html}${text}`).not.toMatch(/unsubscribe/i);
  }
  expect(await campaignTest.readConsistentNumbers(from, id)).toMatchObject({
    candidates: 6,
    accepted: 3,
    suppressed: 2,
    unsubscribed: 1,
  });
  const why = (email: string) => answerWhyOf(from.caller, { email, campaignId: id });
  expect(await why(emails[1]!)).toMatchObject({ campaign: { sendId: expect.any(Number) } });
  expect(await why(emails[3]!)).toMatchObject({ reason: "suppressed" });
  expect(await why(emails[4]!)).toMatchObject({ reason: "unconfirmed" });
  const again = { to: "unopened" as const };
  await expect(resends.resend(from.caller, id, { ...again, draft: false })).rejects.toMatchObject({
    details: [{ path: "draft" }],
  });
  const draft = await resends.resend(from.caller, id, { ...again, draft: true });
  expect(draft).toMatchObject({ purpose: "notice", status: "draft" });
  await from.provider.stop();
});

test("who is suppressed before the hand-over gets no notice, also after an unsubscribe", async () => {
  const { from, emails } = await createNoticeSender();
  const { id } = await campaignTest.createDraft(from, { name: confirm, purpose: "notice" });
  await state.sendNow(from.caller, id, { confirm });
  await campaignTest.runWorkers({ forSeconds: 5 }, [campaignWorker, fanOut]);
  await suppress(from, emails[1]!, "bounce");
  await suppress(from, emails[0]!, "unsubscribe");
  await campaignTest.runWorkers(anHour);
  const mailed = campaignTest.expectNoDuplicates(from).map(({ to }) => to);
  expect(mailed.toSorted()).toEqual([emails[0]!, emails[2]!].toSorted());
  await from.provider.stop();
});

test("a notice needs its right and its name, and others cannot change a scheduled one", async () => {
  const { from } = await createNoticeSender();
  const { caller } = from;
  const marketer = { ...caller, scopes: ["marketing:read", "marketing:write"] };
  const { id } = await campaignTest.createDraft(from, { name: confirm, purpose: "notice" });
  const scheduledAt = addSeconds(3600, now()).toISOString();
  const schedule = { scheduledAt, sendLate: false };
  const lacksRight = { kind: "forbidden", code: "scope_missing" };
  const lacksName = { kind: "invalid", details: [{ path: "confirm" }] };
  await expect(state.sendNow(marketer, id, { confirm })).rejects.toMatchObject(lacksRight);
  await expect(state.schedule(marketer, id, { ...schedule, confirm })).rejects.toMatchObject(
    lacksRight,
  );
  await expect(state.sendNow(caller, id)).rejects.toMatchObject(lacksName);
  await expect(state.sendNow(caller, id, { confirm: "new terms" })).rejects.toMatchObject(
    lacksName,
  );
  await expect(state.schedule(caller, id, schedule)).rejects.toMatchObject(lacksName);
  expect(await campaignTest.readCampaign(from, id)).toMatchObject({ status: "draft" });
  const withRight = { ...marketer, scopes: [...marketer.scopes, "marketing:notice"] };
  await state.schedule(withRight, id, { ...schedule, confirm });
  const subject = campaigns.updateCampaign(marketer, id, { subject: "Buy now" });
  await expect(subject).rejects.toMatchObject(lacksRight);
  const purpose = campaigns.updateCampaign(caller, id, { purpose: "marketing" });
  await expect(purpose).rejects.toMatchObject({ code: "campaign_status" });
  const other = await campaignTest.createDraft(from);
  await state.schedule(marketer, other.id, schedule);
  const toNotice = campaigns.updateCampaign(withRight, other.id, { purpose: "notice" });
  await expect(toNotice).rejects.toMatchObject({ code: "campaign_status" });
  await campaignTest.runWorkers({ forSeconds: 2 * 3600 });
  expect(campaignTest.expectNoDuplicates(from)).toHaveLength(3);
  await from.provider.stop();
});
