// GET /why: one answer for an address, whatever prevented or delayed its email.
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { put, update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as contactTopics from "../../shared/domain/audience/topics/contact-topics.ts";
import { NewTopic } from "../../shared/domain/audience/topics/topic-schema.ts";
import * as topics from "../../shared/domain/audience/topics/topics.ts";
import { answerWhyOf } from "../../shared/domain/campaigns/audit/why-of-campaign.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import { runFanOut } from "../../shared/domain/campaigns/engine/fan-out.ts";
import { explainDelivery } from "../../shared/domain/delivery-events/delivery-answers.ts";
import { answerWhy } from "../../shared/domain/delivery-events/why.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { emailShards, keys } from "../../shared/keys.ts";
import {
  createCampaignSender,
  createDraft,
  insertListMembers,
  runWorkers,
  sendingWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { createContact } from "../support/contacts.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";
import { measureUnits } from "../support/request-units.ts";
import {
  createSender,
  send,
  sendBatch,
  type TestSender,
  uniqueRecipients,
} from "../support/sending.ts";

beforeAll(useVirtualQueues);

const uniqueAddress = () => uniqueRecipients(1)[0]!.to;
const routes = readFileSync(
  new URL("../fixtures/roles-and-routes.csv", import.meta.url),
  "utf8",
).split("\n");

/** Every next step is in words for people, and every next request is one of the API. */
async function ask({ caller, siteId }: TestSender, email: string) {
  const why = await answerWhy(caller, { email, siteId });
  expect(why.nextStep).not.toMatch(/[A-Z]{3,} \/|[a-z][A-Z]/);
  if (why.nextRequest !== null)
    expect(routes.some((line) => line.startsWith(`${why.nextRequest},`))).toBe(true);
  return why;
}

const siteOf = ({ caller, siteId }: TestSender) => ({ caller, orgId: caller.orgId, siteId });

async function report(
  { caller: { orgId } }: TestSender,
  ...events: Parameters<typeof createEvent>[]
): Promise<void> {
  await applyMessages(
    await createEventMessage(
      orgId,
      events.map((event) => createEvent(...event)),
    ),
  );
}

test("an address without sends has a reason: unknown, unsubscribed or suppressed", async () => {
  const from = await createSender("postmark");
  const bob = uniqueAddress();
  expect(await ask(from, bob)).toMatchObject({
    email: bob,
    reason: "unknown_address",
    suppression: null,
    contact: null,
    hold: null,
    sends: [],
  });
  const { id } = await createContact(siteOf(from), bob);
  expect(await ask(from, bob)).toMatchObject({
    reason: "not_sent",
    contact: { id, status: "subscribed", snoozedUntil: null, cappedUntil: null },
  });
  await contacts.change(from.caller, id, { status: "unsubscribed" });
  expect(await ask(from, bob)).toMatchObject({ reason: "unsubscribed" });
  const pending = uniqueAddress();
  await createContact(siteOf(from), pending, { status: "pending" });
  expect(await ask(from, pending)).toMatchObject({ reason: "unconfirmed" });
  const detail = "asked by phone";
  const blocked = { email: bob, reason: "manual" as const, detail, source: "api" };
  await suppressions.suppress(from.caller.orgId, blocked);
  const answer = await ask(from, bob.toUpperCase());
  expect(answer).toMatchObject({
    reason: "suppressed",
    nextRequest: "DELETE /suppressions/:email",
    suppression: { email: bob, detail },
  });
  expect(answer.answer).toContain(detail);
  await from.provider.stop();
});

test("a single send: queued, sent, deferred, delivered, opened, bounced", async () => {
  const from = await createSender("postmark");
  const bob = uniqueAddress();
  const { id } = await send(from, { to: bob });
  const queued = await ask(from, bob);
  expect(queued).toMatchObject({ reason: "queued", sends: [{ id, status: "queued", events: [] }] });
  expect(queued.answer).toContain("“Hello”");
  await runWorkers({ forSeconds: 5 });
  expect((await ask(from, bob)).reason).toBe("sent");
  await report(from, [id, "deferred", 5, { email: bob, data: { reason: "450 try later" } }]);
  const deferred = await ask(from, bob);
  expect(deferred).toMatchObject({
    reason: "deferred",
    sends: [{ events: [{ type: "deferred" }] }],
  });
  expect(deferred.answer).toContain("450 try later");
  await report(from, [id, "delivered", 10, { email: bob }]);
  expect((await ask(from, bob)).reason).toBe("delivered");
  await report(from, [id, "open", 20, { email: bob }]);
  expect((await ask(from, bob)).reason).toBe("opened");
  const eve = uniqueAddress();
  const other = await send(from, { to: eve });
  await runWorkers({ forSeconds: 5 });
  const data = { bounceType: "hard" as const, reason: "550 5.1.1 no such user" };
  await report(from, [other.id, "bounce", 5, { email: eve, data }]);
  const bounced = await ask(from, eve);
  expect(bounced).toMatchObject({ reason: "suppressed", sends: [{ id: other.id }] });
  expect(bounced.answer).toContain(data.reason);
  await suppressions.remove(from.caller.orgId, eve);
  const removed = await ask(from, eve);
  expect(removed.reason).toBe("bounced");
  expect(removed.answer).toContain(data.reason);
  await from.provider.stop();
});

test("an unsubscribed contact: the answer is about the receipt that came later", async () => {
  const from = await createSender("postmark");
  const bob = uniqueAddress();
  await createContact(siteOf(from), bob, { status: "unsubscribed" });
  await send(from, { to: bob });
  await runWorkers({ forSeconds: 5 });
  expect(await ask(from, bob)).toMatchObject({ reason: "sent", alsoApplies: ["unsubscribed"] });
  await from.provider.stop();
});

test("about a campaign: mailed, left out by its cap, not subscribed, or not in its audience", async () => {
  const from = await createCampaignSender();
  const { caller, siteId, listId } = from;
  await sites.change(caller, siteId, { sendFrequencyCapDays: 7 });
  const [bob, eve, mia, stranger] = uniqueRecipients(4).map(({ to }) => to) as [
    string,
    string,
    string,
    string,
  ];
  const { id: bobId } = await createContact(siteOf(from), bob, { lists: [listId] });
  await createContact(siteOf(from), eve, { lists: [listId], status: "unsubscribed" });
  const first = await createDraft(from);
  const about = (email: string, campaignId: number) => answerWhyOf(caller, { email, campaignId });
  expect(await about(bob, first.id)).toMatchObject({
    reason: "not_sent",
    nextRequest: "POST /campaigns/:id/send",
  });
  await actions.sendNow(caller, first.id);
  await runWorkers({ forSeconds: 600 });
  const second = await createDraft(from);
  await actions.sendNow(caller, second.id);
  await runWorkers({ forSeconds: 600 });
  await createContact(siteOf(from), mia, { lists: [listId] });
  // The latest email arrived, and says nothing about the campaign that left the contact out.
  expect((await ask(from, bob)).reason).toBe("sent");
  const capped = await about(bob, second.id);
  expect(capped).toMatchObject({
    reason: "capped",
    alsoApplies: [],
    campaign: { id: second.id, sendId: null },
  });
  expect(capped.answer).toContain(`left ${bob} out`);
  const mailed = await about(bob, first.id);
  expect(mailed).toMatchObject({ reason: "sent", campaign: { sendId: mailed.sends[0]!.id } });
  expect(mailed.answer).toContain("The email of the campaign");
  expect(await about(eve, second.id)).toMatchObject({ reason: "unsubscribed" });
  expect(await about(mia, second.id)).toMatchObject({ reason: "not_in_audience" });
  const unknown = await about(stranger, second.id);
  expect(unknown).toMatchObject({ reason: "not_in_audience", contact: null });
  expect(unknown.answer).toContain("no contact of the site has this address");
  // After a change of the address, the log of the earlier one is read.
  const moved = uniqueAddress();
  await contacts.change(caller, bobId, { email: moved });
  expect(await about(moved, second.id)).toMatchObject({ reason: "capped" });
  const question = { email: bob, siteId: siteId + 1, campaignId: first.id };
  await expect(answerWhyOf(caller, question)).rejects.toThrow("campaignId is of another site");
  await expect(about(bob, first.id + 1_000_000)).rejects.toMatchObject({ kind: "missing" });
  await from.provider.stop();
});

test("queued email is held by a failing provider, its pause, or a domain", async () => {
  const from = await createSender("postmark");
  const { orgId } = from.caller;
  const bob = uniqueAddress();
  await sendBatch(from, [{ to: bob }]);
  const until = clock.now().getTime() + 60_000;
  const lane = keys.lane(orgId, from.configId);
  const hold = { until: new Date(until).toISOString() };
  await write(update(lane, { set: { notBefore: until, faults: 5 } }));
  expect(await ask(from, bob)).toMatchObject({
    reason: "held_by_provider",
    hold: { kind: "provider_failing", ...hold },
  });
  await write(update(lane, { set: { notBefore: until, faults: 0 } }));
  expect(await ask(from, bob)).toMatchObject({
    reason: "held_by_provider",
    hold: { kind: "provider_limit", ...hold, providerMessage: null },
  });
  await write(update(lane, { set: { heldError: "Not allowed to send." } }));
  const quoted = await ask(from, bob);
  expect(quoted).toMatchObject({ hold: { providerMessage: "Not allowed to send." } });
  expect(quoted.answer).toMatch(/credits left\. The provider says: “Not allowed to send\.”$/);
  await write(update(lane, { set: { "slow.example.com": until }, remove: ["notBefore"] }));
  expect(await ask(from, bob)).toMatchObject({
    reason: "held_by_domain",
    hold: { kind: "domain", ...hold },
  });
  await from.provider.stop();
});

test("queued bulk email is held by the warm-up, a single send is not", async () => {
  const from = await createSender("postmark");
  await sendingConfigs.update(from.caller, from.configId, {
    warmUp: { firstDayMails: 4, lastDayMails: 16, days: 3 },
  });
  const [bob, eve] = [uniqueAddress(), uniqueAddress()];
  await sendBatch(from, [{ to: bob }]);
  expect((await ask(from, bob)).reason).toBe("queued");
  const today = clock.now().toISOString().slice(0, 10);
  await write(put(keys.warmUpDay(from.caller.orgId, from.configId, today), { mails: 4 }));
  expect(await ask(from, bob)).toMatchObject({
    reason: "held_by_warm_up",
    hold: { kind: "warm_up" },
  });
  await send(from, { to: eve });
  expect((await ask(from, eve)).reason).toBe("queued");
  await from.provider.stop();
});

test("a campaign: paused, then sent and capped, with few read units", async () => {
  const from = await createCampaignSender();
  const { caller, siteId, listId } = from;
  await sites.change(caller, siteId, { sendFrequencyCapDays: 7 });
  await insertListMembers(from, 30);
  const bob = uniqueAddress();
  await createContact(siteOf(from), bob, { lists: [listId] });
  const { id } = await createDraft(from);
  await actions.sendNow(caller, id);
  const allButLane = sendingWorkers.filter(({ queue }) => queue.name !== "lane");
  await runWorkers({ forSeconds: 60 }, allButLane);
  await actions.pause(caller, id);
  expect(await ask(from, bob)).toMatchObject({ reason: "paused", hold: { kind: "paused" } });
  await actions.resume(caller, id);
  await runWorkers({ forSeconds: 600 });
  const { result, usage } = await measureUnits(() => ask(from, bob));
  expect(result).toMatchObject({ reason: "sent", sends: [{ campaignId: id }] });
  expect(result.contact!.cappedUntil! > clock.now().toISOString()).toBe(true);
  expect(result.alsoApplies).toEqual(["capped"]);
  console.info(`why: ${usage.readUnits} R`);
  expect(usage.readUnits).toBeLessThan(30);
  await from.provider.stop();
});

test("a contact that is not in a topic: before any email, and after one was left out", async () => {
  const from = await createCampaignSender();
  const { caller, siteId, listId } = from;
  const topic = await topics.create(caller, NewTopic.parse({ siteId, name: "Offers" }));
  const bob = uniqueAddress();
  const contact = await createContact(siteOf(from), bob, { lists: [listId] });
  expect(await ask(from, bob)).toMatchObject({ reason: "not_sent", contact: { otherTopics: [] } });
  const { id } = await createDraft(from, { topicId: topic.id });
  await actions.sendNow(caller, id);
  const key = { orgId: caller.orgId, kind: "campaign" as const, id };
  for (const shard of emailShards) await runFanOut(key, shard);
  await contactTopics.change(caller, contact.id, {
    choices: [{ id: topic.id, subscribed: false }],
    consent: { source: "api" },
  });
  await runWorkers({ forSeconds: 600 }, sendingWorkers);
  const left = await ask(from, bob);
  expect(left).toMatchObject({
    reason: "not_in_topic",
    contact: { otherTopics: [{ id: topic.id, name: "Offers" }] },
  });
  expect(left.answer).toContain("not subscribed to its topic");
  const eve = uniqueAddress();
  const other = await createContact(siteOf(from), eve);
  await contactTopics.change(caller, other.id, {
    choices: [{ id: topic.id, subscribed: false }],
    consent: { source: "api" },
  });
  const never = await ask(from, eve);
  expect(never.reason).toBe("not_in_topic");
  expect(never.answer).toContain("“Offers”");
  await from.provider.stop();
});

test("a contact within the frequency cap that has no sends left is capped", () => {
  const facts = {
    email: "bob@example.com",
    suppression: undefined,
    contactStatus: "subscribed" as const,
    otherTopics: [],
    snoozedUntil: undefined,
    cappedUntil: "2026-12-01T09:00:00.000Z",
    latest: undefined,
    hold: undefined,
  };
  const { reason, answer } = explainDelivery(facts);
  expect(reason).toBe("capped");
  expect(answer).toContain("2026-12-01 09:00 UTC");
});
