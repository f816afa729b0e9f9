// Audits of campaigns: each candidate has exactly one outcome, and the hash can be recomputed from
// the exported rows. The provider's own list of mails judges the rows.
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { put, query, remove, update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as exports from "../../shared/domain/analytics/exports/exports.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as contactTopics from "../../shared/domain/audience/topics/contact-topics.ts";
import { NewTopic } from "../../shared/domain/audience/topics/topic-schema.ts";
import * as topics from "../../shared/domain/audience/topics/topics.ts";
import * as audits from "../../shared/domain/campaigns/audit/campaign-audit.ts";
import { runAudit } from "../../shared/domain/campaigns/audit/run-audit.ts";
import * as actions from "../../shared/domain/campaigns/campaign-actions.ts";
import {
  CampaignAudience,
  CampaignSchedule,
  type NewCampaign,
} from "../../shared/domain/campaigns/campaign-schema.ts";
import * as fanOut from "../../shared/domain/campaigns/engine/fan-out.ts";
import * as log from "../../shared/domain/campaigns/engine/fan-out-log.ts";
import * as resends from "../../shared/domain/campaigns/resends.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { erase } from "../../shared/domain/privacy/erasure.ts";
import { compress } from "../../shared/kernel/compressed-values.ts";
import { blockOf, emailShards, keys, ranges } from "../../shared/keys.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  createVariant,
  expectNoDuplicates,
  insertListMembers,
  readConsistentNumbers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { newContact } from "../support/contacts.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";
import { runLane } from "../support/sending.ts";

beforeAll(useVirtualQueues);

const anHour = { forSeconds: 3600 };

interface Row {
  page: string;
  contactId: number;
  sendId: number | null;
  outcome: string;
  error: string | null;
}

async function exportRows({ caller, siteId }: CampaignSender, campaignId: number): Promise<Row[]> {
  const { id } = await exports.start(caller, {
    type: "campaign-audit",
    format: "json",
    filter: { siteId, campaignId },
  });
  await runWorkers();
  const { downloadUrl, rows } = await exports.find(caller, id);
  const text = await (await fetch(downloadUrl!)).text();
  const file = JSON.parse(text) as { data: { rows: Row[] } };
  expect(file.data.rows).toHaveLength(rows!);
  return file.data.rows.toSorted((a, b) => a.page.localeCompare(b.page));
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Written after the description in the API reference. */
function recomputeHash(rows: Row[]): string {
  const pages = Map.groupBy(rows, ({ page }) => page);
  let hash = sha256("");
  for (const name of [...pages.keys()].sort()) {
    const ofPage = pages.get(name)!;
    const text = ofPage.map((row) => `${row.contactId},${row.sendId ?? ""},${row.outcome}\n`);
    hash = sha256(`${hash}\n${name},${ofPage.length},${sha256(text.join(""))}\n`);
  }
  return hash;
}

const countOutcomes = (rows: Row[]): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(rows, ({ outcome }) => outcome)].map(([outcome, some]) => [
      outcome,
      some.length,
    ]),
  );

/** Checks the audit against its rows, the counters and the provider. Returns the rows. */
async function expectAudited(from: CampaignSender, id: number): Promise<Row[]> {
  const audit = await audits.getAudit(from.caller, id);
  expect(audit).toMatchObject({ status: "complete", problems: [] });
  const rows = await exportRows(from, id);
  const totals = await readConsistentNumbers(from, id);
  expect(audit.candidates).toBe(totals.candidates);
  expect(rows).toHaveLength(totals.candidates);
  expect(new Set(rows.map(({ contactId }) => contactId)).size).toBe(rows.length);
  const counts = Object.fromEntries(audit.outcomes.map(({ outcome, count }) => [outcome, count]));
  expect(counts).toEqual(countOutcomes(rows));
  expect(audit.outcomes.reduce((sum, { count }) => sum + count, 0)).toBe(audit.candidates);
  expect(audit.hash).toBe(recomputeHash(rows));
  expect(audit.pages).toBe(new Set(rows.map(({ page }) => page)).size);
  const handedOver = expectNoDuplicates(from).map(({ sendId }) => sendId);
  const certain = rows.filter(({ outcome }) => outcome === "mailed");
  const uncertain = rows.filter(({ outcome }) => outcome === "uncertain");
  const mailed = new Set(handedOver);
  for (const { sendId } of certain) expect(mailed.delete(sendId!)).toBe(true);
  const possible = new Set(uncertain.map(({ sendId }) => sendId));
  for (const sendId of mailed) expect(possible.has(sendId)).toBe(true);
  return rows;
}

const outcomesOf = (rows: Row[]): Map<number, string> =>
  new Map(rows.map(({ contactId, outcome }) => [contactId, outcome]));

const createMember = (
  { caller, siteId, listId }: CampaignSender,
  fields: Parameters<typeof newContact>[1] = {},
) =>
  contacts.create(
    caller,
    newContact(`${crypto.randomUUID()}@example.com`, { siteId, lists: [listId], ...fields }),
  );

async function sendToAll(from: CampaignSender, fields: Partial<NewCampaign> = {}): Promise<number> {
  const { id } = await createDraft(from, fields);
  await actions.sendNow(from.caller, id);
  await runWorkers(anHour);
  return id;
}

test("each candidate has its reason, and excluded contacts are no candidates", async () => {
  const from = await createCampaignSender();
  const { caller, siteId, listId } = from;
  const { orgId } = caller;
  const { id: topicId } = await topics.create(caller, NewTopic.parse({ siteId, name: "News" }));
  await sites.change(caller, siteId, { sendFrequencyCapDays: 3 });
  const people = {
    mailed: await createMember(from),
    suppressed: await createMember(from),
    unsubscribed: await createMember(from, { status: "unsubscribed" }),
    pending: await createMember(from, { status: "pending" }),
    notInTopic: await createMember(from),
    capped: await createMember(from),
    failed: await createMember(from),
    leaving: await createMember(from),
  };
  const excluded = await createMember(from, { tags: ["no news"] });
  const { email } = people.suppressed;
  await suppressions.suppress(orgId, { email, reason: "bounce", source: "test" });
  await contactTopics.change(caller, people.notInTopic.id, {
    choices: [{ id: topicId, subscribed: false }],
    consent: { source: "api" },
  });
  await write(
    update(keys.contact(orgId, siteId, people.capped.email), {
      set: { lastMarketingAt: clock.now().toISOString() },
    }),
  );
  from.provider.isRefused = (to) => to === people.failed.email;
  const { id } = await createDraft(from, {
    listId: null,
    topicId,
    audience: CampaignAudience.parse({
      lists: [listId],
      exclude: { tags: excluded.tags.map((tag) => tag.id) },
    }),
  });
  expect(await audits.getAudit(caller, id)).toMatchObject({ status: "notSent", candidates: 0 });
  await actions.sendNow(caller, id);
  for (const shard of emailShards) await fanOut.runFanOut({ orgId, kind: "campaign", id }, shard);
  await contacts.change(caller, people.leaving.id, { status: "unsubscribed" });
  const underway = await audits.getAudit(caller, id);
  expect(underway).toMatchObject({ status: "underway", candidates: 8, hash: null });
  expect(underway.outcomes).toContainEqual(
    expect.objectContaining({ outcome: "waiting", count: 3 }),
  );
  await expect(audits.auditAgain(caller, id)).rejects.toMatchObject({ code: "campaign_status" });
  await runWorkers(anHour);
  const rows = await expectAudited(from, id);
  const outcomes = outcomesOf(rows);
  for (const [name, { id: contactId }] of Object.entries(people)) {
    const isGone = name === "pending" || name === "leaving";
    expect([name, outcomes.get(contactId)]).toEqual([name, isGone ? "unsubscribed" : name]);
  }
  expect(outcomes.has(excluded.id)).toBe(false);
  const failed = rows.find(({ outcome }) => outcome === "failed")!;
  expect(failed.error).toEqual(expect.stringMatching(/./));
  await from.provider.stop();
});

test("campaigns with pages of several shards, variants or local times are audited", async () => {
  const from = await createCampaignSender();
  await insertListMembers(from, 60, (i) => ({
    timezone: i % 2 ? "Asia/Kolkata" : "America/Phoenix",
    ...(i % 10 === 0 && { status: "unsubscribed" }),
  }));
  const plain = await sendToAll(from);
  expect(countOutcomes(await expectAudited(from, plain))).toEqual({ mailed: 54, unsubscribed: 6 });

  from.provider.mails.length = 0;
  const { id: tested } = await createDraft(from, {
    abTest: { testPercent: 50, metric: "open_rate", durationMinutes: 10 },
  });
  for (const subject of ["A", "B"]) await createVariant(from, tested, { subject });
  await actions.sendNow(from.caller, tested);
  await runWorkers({ forSeconds: 3600 });
  expect(countOutcomes(await expectAudited(from, tested))).toEqual({ mailed: 54, unsubscribed: 6 });

  from.provider.mails.length = 0;
  const { id: local } = await createDraft(from);
  const localTime = clock
    .addSeconds(20 * 3600)
    .toISOString()
    .slice(0, 16);
  await actions.schedule(from.caller, local, CampaignSchedule.parse({ localTime }));
  await runWorkers({ forSeconds: 18 * 3600 });
  expect(await audits.getAudit(from.caller, local)).toMatchObject({ status: "underway" });
  await runWorkers({ forSeconds: 30 * 3600 });
  expect(countOutcomes(await expectAudited(from, local))).toEqual({ mailed: 54, unsubscribed: 6 });
  await from.provider.stop();
});

test("a campaign that is paused, resumed and cancelled in the middle is audited", async () => {
  const from = await createCampaignSender();
  const { caller } = from;
  const { orgId } = caller;
  await insertListMembers(from, 48, (i) => (i % 8 ? {} : { status: "unsubscribed" }));
  const { id } = await createDraft(from);
  const key = { orgId, kind: "campaign" as const, id };
  await actions.sendNow(caller, id);
  for (const shard of emailShards.slice(0, 6)) await fanOut.runFanOut(key, shard);
  await runLane(orgId, from.configId);
  await actions.pause(caller, id);
  await runWorkers(anHour);
  const paused = await audits.getAudit(caller, id);
  expect(paused.status).toBe("underway");
  await actions.resume(caller, id);
  for (const shard of emailShards.slice(6, 12)) await fanOut.runFanOut(key, shard);
  await actions.cancel(caller, id);
  await runWorkers(anHour);
  const counts = countOutcomes(await expectAudited(from, id));
  expect(counts.cancelled).toBeGreaterThan(0);
  expect(counts.mailed).toBe(from.provider.mails.length);
  await from.provider.stop();
});

test("a resend has an audit of its own", async () => {
  const from = await createCampaignSender();
  const [first, second] = [await createMember(from), await createMember(from)];
  const id = await sendToAll(from);
  const hash = (await audits.getAudit(from.caller, id)).hash;
  await contacts.change(from.caller, second.id, { status: "unsubscribed" });
  from.provider.mails.length = 0;
  const request = resends.ResendRequest.parse({ to: "unopened" });
  const { id: again } = await resends.resend(from.caller, id, request);
  await runWorkers(anHour);
  const outcomes = outcomesOf(await expectAudited(from, again));
  expect([outcomes.get(first.id), outcomes.get(second.id)]).toEqual(["mailed", "unsubscribed"]);
  await auditNow(from, id);
  expect((await audits.getAudit(from.caller, id)).hash).toBe(hash);
  await from.provider.stop();
});

test("a contact is a candidate once, also if its address changes after it was left out", async () => {
  const from = await createCampaignSender();
  const { caller } = from;
  const member = await createMember(from);
  await suppressions.suppress(caller.orgId, {
    ...{ email: member.email, reason: "manual", source: "test" },
  });
  const { id } = await createDraft(from);
  await actions.sendNow(caller, id);
  const key = { orgId: caller.orgId, kind: "campaign" as const, id };
  for (const shard of emailShards) await fanOut.runFanOut(key, shard);
  await contacts.change(caller, member.id, { email: `${crypto.randomUUID()}@example.net` });
  await runWorkers(anHour);
  expect(countOutcomes(await expectAudited(from, id))).toEqual({ suppressed: 1 });
  await from.provider.stop();
});

test("events, bounces and the erasure of people change neither counts nor hash", async () => {
  const from = await createCampaignSender();
  const { caller } = from;
  const [bounced, erased, opened, leaving, failed] = await Promise.all(
    Array.from({ length: 5 }, () => createMember(from)),
  );
  from.provider.isRefused = (to) => to === failed!.email;
  const { id } = await createDraft(from);
  const key = { orgId: caller.orgId, kind: "campaign" as const, id };
  await actions.sendNow(caller, id);
  for (const shard of emailShards) await fanOut.runFanOut(key, shard);
  await contacts.change(caller, leaving!.id, { status: "unsubscribed" });
  await runWorkers(anHour);
  const before = await expectAudited(from, id);
  const sendIdOf = (contactId: number) =>
    before.find((row) => row.contactId === contactId)!.sendId!;
  await apply(from, [
    createEvent(sendIdOf(bounced!.id), "bounce", 5, { data: { bounceType: "hard" } }),
    createEvent(sendIdOf(opened!.id), "delivered", 5),
    createEvent(sendIdOf(opened!.id), "open", 60),
  ]);
  for (const { id: contactId } of [erased!, bounced!, leaving!, failed!])
    await erase(caller, contactId);
  await auditNow(from, id);
  const after = await expectAudited(from, id);
  expect(after.map(({ error: _, ...row }) => row)).toEqual(
    before.map(({ error: _, ...row }) => row),
  );
  const text = JSON.stringify(after);
  for (const { email } of [erased!, bounced!, leaving!, failed!]) expect(text).not.toContain(email);
  await from.provider.stop();
});

test("uncertain mail that is settled later makes the audit outdated, not inconsistent", async () => {
  const from = await createCampaignSender();
  await insertListMembers(from, 3);
  from.provider.faultFor = () => "lost";
  const id = await sendToAll(from);
  const rows = await expectAudited(from, id);
  expect(countOutcomes(rows)).toEqual({ uncertain: 3 });
  const { hash } = await audits.getAudit(from.caller, id);
  await apply(from, [createEvent(rows[0]!.sendId!, "delivered", 5)]);
  expect(await audits.getAudit(from.caller, id)).toMatchObject({ status: "outdated", hash });
  await auditNow(from, id);
  expect(countOutcomes(await expectAudited(from, id))).toEqual({ uncertain: 2, mailed: 1 });
  await from.provider.stop();
});

/** Starts the audit again and waits for it. */
async function auditNow(from: CampaignSender, id: number): Promise<audits.CampaignAudit> {
  expect(await audits.auditAgain(from.caller, id)).toMatchObject({ status: "auditing" });
  await runWorkers(anHour);
  return audits.getAudit(from.caller, id);
}

test("an audit waits for late counters, and other messages do not wake it", async () => {
  const from = await createCampaignSender();
  await insertListMembers(from, 3);
  const id = await sendToAll(from);
  const { hash } = await audits.getAudit(from.caller, id);
  const { orgId } = from.caller;
  const { items } = await log.listLogEntries({ orgId, kind: "campaign", id });
  const entry = items.find(({ blocks }) => blocks.length > 0)!;
  await write(remove({ pk: entry.pk, sk: entry.sk }));
  await audits.auditAgain(from.caller, id);
  for (let minute = 0; minute < 45; minute++) {
    await runAudit(orgId, id);
    await runWorkers({ forSeconds: 60 });
    expect((await audits.getAudit(from.caller, id)).status).toBe("auditing");
  }
  await write(put({ pk: entry.pk, sk: entry.sk }, entry));
  await runWorkers({ forSeconds: 900 });
  expect(await audits.getAudit(from.caller, id)).toMatchObject({ status: "complete", hash });
  await from.provider.stop();
});

const apply = async (
  { caller }: CampaignSender,
  events: ReturnType<typeof createEvent>[],
): Promise<void> => applyMessages(await createEventMessage(caller.orgId, events));

describe("a change is detected", () => {
  test("of any exported row", async () => {
    const from = await createCampaignSender();
    await insertListMembers(from, 20);
    const id = await sendToAll(from);
    const rows = await expectAudited(from, id);
    const { hash } = await audits.getAudit(from.caller, id);
    const [row, ...others] = rows;
    const changes: Row[][] = [
      [{ ...row!, outcome: "failed" }, ...others],
      [{ ...row!, contactId: row!.contactId + 1 }, ...others],
      [{ ...row!, sendId: row!.sendId! + 1 }, ...others],
      [{ ...row!, page: "late-000000" }, ...others],
      others,
      [row!, ...rows],
    ];
    for (const changed of changes) expect(recomputeHash(changed)).not.toBe(hash);
    await from.provider.stop();
  });

  test("of stored items, behind the back of the service", async () => {
    const from = await createCampaignSender();
    const { orgId } = from.caller;
    const people = await Promise.all(Array.from({ length: 8 }, () => createMember(from)));
    from.provider.isRefused = (to) => to === people[0]!.email;
    const id = await sendToAll(from);
    const rows = await expectAudited(from, id);
    const { hash } = await audits.getAudit(from.caller, id);
    const expectProblem = async (problem: RegExp) => {
      const audit = await auditNow(from, id);
      expect(audit).toMatchObject({ status: "inconsistent" });
      expect(audit.problems.join()).toMatch(problem);
    };
    const expectRepaired = async () =>
      expect(await auditNow(from, id)).toMatchObject({ status: "complete", hash });

    const failed = keys.send(orgId, rows.find(({ outcome }) => outcome === "failed")!.sendId!);
    await write(update(failed, { set: { status: "delivered" } }));
    await expectProblem(/have changed since the audit of .*hash was [0-9a-f]{64}/);
    await write(update(failed, { set: { status: "failed" } }));
    await expectRepaired();

    const ref = { orgId, kind: "campaign" as const, id };
    const { items } = await log.listLogEntries(ref);
    const entry = items.find(({ blocks }) => blocks.length > 0)!;
    const decisions = (await log.readDecisions(entry))!;
    const [[, ...others] = []] = decisions.mailed;
    const forged = { ...decisions, mailed: [[people.at(-1)!.id + 100, ...others]] };
    const { gz } = entry;
    await write(
      update({ pk: entry.pk, sk: entry.sk }, { set: { ...(await compress(entry, forged)) } }),
    );
    await expectProblem(/contradictory: 1 in the rows/);
    await write(update({ pk: entry.pk, sk: entry.sk }, { set: { gz } }));
    await expectRepaired();

    await write(remove({ pk: entry.pk, sk: entry.sk }));
    await expectProblem(/candidates: \d in the rows, 8 by the counters/);
    await from.provider.stop();
  });

  test("of the result of a call, which is deleted", async () => {
    const from = await createCampaignSender();
    await insertListMembers(from, 320);
    const id = await sendToAll(from);
    const rows = await expectAudited(from, id);
    const block = blockOf(rows.find(({ sendId }) => sendId)!.sendId!);
    const results = await query<{ pk: string; sk: string }>(
      ranges.chunkResults(from.caller.orgId, block, 0),
      { limit: 1 },
    );
    await write(remove(results.items[0]!));
    const audit = await auditNow(from, id);
    expect(audit.status).toBe("inconsistent");
    expect(audit.problems.join()).toMatch(/waiting: \d+ in the rows, 0 by the counters/);
    await from.provider.stop();
  });
});

test("after a crash of the audit at any step, the next worker finds the same result", async () => {
  const from = await createCampaignSender();
  const { orgId } = from.caller;
  await insertListMembers(from, 12);
  const id = await sendToAll(from);
  const { hash } = await audits.getAudit(from.caller, id);
  const steps = await crashAtSomeSteps(async (crash) => {
    await audits.auditAgain(from.caller, id);
    await crash(() => runAudit(orgId, id));
    await runWorkers({ forSeconds: 3600 });
    expect(await audits.getAudit(from.caller, id)).toMatchObject({ status: "complete", hash });
  });
  expect(steps.length).toBeGreaterThan(20);
  await from.provider.stop();
});

test("after a crash of the fan-out at any step, each candidate is in one row", async () => {
  const from = await createCampaignSender();
  const { orgId } = from.caller;
  await insertListMembers(from, 16, (i) => (i % 2 ? {} : { status: "unsubscribed" }));
  const steps = await crashAtSomeSteps(async (crash) => {
    const { id } = await createDraft(from);
    await actions.sendNow(from.caller, id);
    await crash(() => fanOut.runFanOut({ orgId, kind: "campaign", id }, "a"));
    from.provider.mails.length = 0;
    await runWorkers({ forSeconds: 3600 });
    expect(countOutcomes(await expectAudited(from, id))).toEqual({ mailed: 8, unsubscribed: 8 });
  });
  expect(steps.length).toBeGreaterThan(5);
  await from.provider.stop();
});
