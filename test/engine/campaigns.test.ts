// Campaigns over time: recipients, schedules, concurrent changes and counters.

import { beforeAll, describe, expect, test } from "vitest";
import { worker as drainWorker } from "../../functions/queue/drain.ts";
import { worker as fanOutWorker } from "../../functions/queue/fan-out.ts";
import {
  queryAll,
  remove,
  transact,
  update,
  write,
  writeMany,
} from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { getAttention } from "../../shared/domain/analytics/attention.ts";
import { NewContact } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as groups from "../../shared/domain/audience/groups/groups.ts";
import * as segments from "../../shared/domain/audience/segments/segments.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as allowance from "../../shared/domain/billing/quota.ts";
import * as state from "../../shared/domain/campaigns/campaign-actions.ts";
import { getReach } from "../../shared/domain/campaigns/campaign-audience.ts";
import * as previews from "../../shared/domain/campaigns/campaign-preview.ts";
import {
  CampaignAudience,
  CampaignSchedule,
  NewCampaign,
} from "../../shared/domain/campaigns/campaign-schema.ts";
import { listWarnings } from "../../shared/domain/campaigns/campaign-warnings.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import * as fanOut from "../../shared/domain/campaigns/engine/fan-out.ts";
import * as cursors from "../../shared/domain/campaigns/engine/fan-out-cursors.ts";
import { pollBroadcast } from "../../shared/domain/campaigns/engine/poll-broadcast.ts";
import * as proofs from "../../shared/domain/campaigns/proofs.ts";
import * as variants from "../../shared/domain/campaigns/variants.ts";
import { NewTemplate } from "../../shared/domain/content/template-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { minParallelCalls } from "../../shared/domain/sending/bulk/parallel-calls.ts";
import * as held from "../../shared/domain/sending/bulk/suspended-chunks.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { release } from "../../shared/kernel/leases.ts";
import { blockOf, emailShardOf, emailShards, type Key, keys, ranges } from "../../shared/keys.ts";
import { mailPriceInMillicents, plans } from "../../shared/plans.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  createVariant,
  expectNoDuplicates,
  insertListMembers,
  readCampaign,
  readConsistentNumbers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";
import { everything } from "../support/extent.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
import * as mailTest from "../support/sending.ts";

beforeAll(useVirtualQueues);

const keyOf = ({ caller: { orgId } }: CampaignSender, id: number) => ({
  orgId,
  kind: "campaign" as const,
  id,
});
const anHour = { forSeconds: 3600 };

async function contact(from: CampaignSender, email: string, more: object = {}) {
  const given = NewContact.parse({ siteId: from.siteId, email, lists: [from.listId], ...more });
  return contacts.create(from.caller, given);
}

describe("the audience", () => {
  test("all contacts of a list get the mail once", async () => {
    const n = everything ? 1200 : 450;
    const from = await createCampaignSender();
    await insertListMembers(from, n);
    const { id } = await createDraft(from);
    expect(await state.sendNow(from.caller, id)).toMatchObject({
      status: "sending",
      startedAt: expect.any(String),
    });
    await runWorkers({ forSeconds: 600 });
    expect(await readConsistentNumbers(from, id)).toMatchObject({
      candidates: n,
      accepted: n,
      sent: n,
    });
    expect(expectNoDuplicates(from)).toHaveLength(n);
    const finished = await readCampaign(from, id);
    expect(finished).toMatchObject({
      status: "sent",
      finishedAt: expect.any(String),
      stats: { recipients: n, sent: n },
    });
    expect(finished.sendingConfigLabel).toBe("Shop <shop@example.com>");
    const { sends: listed } = await listSends(from.caller, { limit: 10 }, { campaignId: id });
    expect(listed.map(({ campaignId, status }) => [campaignId, status])).toEqual(
      Array(10).fill([id, "sent"]),
    );
    await from.provider.stop();
  });

  test("only the contacts of a tag or a segment get the mail", async () => {
    const from = await createCampaignSender();
    await contact(from, "a@example.com", { tags: ["vip"], company: "Acme" });
    await contact(from, "b@example.com", { tags: ["vip"] });
    await contact(from, "c@example.com", { company: "Acme" });
    const tagId = (await groups.getOrCreateTags(from.caller, from.siteId, ["vip"])).get("vip")!;
    const rules = {
      match: "all",
      conditions: [{ field: "company", operator: "endsWith", value: "CME" }],
    };
    const segment = await segments.create(
      from.caller,
      segments.NewSegment.parse({ siteId: from.siteId, name: "Acme", rules }),
    );
    for (const [target, expected] of [
      [{ tagId }, ["a", "b"]],
      [{ segmentId: segment.id }, ["a", "c"]],
    ] as const) {
      const { id } = await createDraft(from, { listId: null, ...target });
      from.provider.mails.length = 0;
      await state.sendNow(from.caller, id);
      // The campaign keeps the rules that the segment had at the start.
      if ("segmentId" in target) await segments.remove(from.caller, segment.id);
      await runWorkers(anHour);
      expect(
        from.provider.mails
          .map(({ to }) => to)
          .sort()
          .map(([letter]) => letter),
      ).toEqual(expected);
    }
    await from.provider.stop();
  });

  test("contacts of several lists, tags and segments minus others get the mail once", async () => {
    const from = await createCampaignSender();
    const { caller, siteId } = from;
    const [a, b, out] = await Promise.all(
      ["A", "B", "Out"].map((name) => groups.create("LIST", caller, { siteId, name })),
    );
    const create = (name: string, conditions: object[]) =>
      segments.create(
        caller,
        segments.NewSegment.parse({ siteId, name, rules: { match: "all", conditions } }),
      );
    const vienna = await create("Vienna", [
      { field: "customFields.city", operator: "equals", value: "Vienna" },
    ]);
    // DynamoDB cannot evaluate this rule, because it ignores letter case.
    const interns = await create("Interns", [
      { field: "company", operator: "startsWith", value: "INTERN" },
    ]);
    const tag = await groups.create("TAG", caller, { siteId, name: "vip" });
    const make = (name: string, fields: object) =>
      contact(from, `${name}@example.com`, { lists: [], ...fields });
    const inBoth = { lists: [a!.id, b!.id], tags: ["vip"], customFields: { city: "Vienna" } };
    await make("both", inBoth);
    await make("tagged", { tags: ["vip"] });
    await make("city", { customFields: { city: "Vienna" } });
    await make("other", { lists: [from.listId] });
    await make("out", { ...inBoth, lists: [a!.id, out!.id] });
    await make("intern", { ...inBoth, company: "intern" });
    const mailed = async (audience: object) => {
      from.provider.mails.length = 0;
      const fields = { listId: null, audience: CampaignAudience.parse(audience) };
      const { id } = await createDraft(from, fields);
      const preview = await previews.preview(caller, id);
      await state.sendNow(caller, id);
      await runWorkers(anHour);
      const names = expectNoDuplicates(from).map(({ to }) => to.split("@")[0]!);
      expect(preview).toMatchObject({ candidates: names.length, wouldReceive: names.length });
      expect(await readConsistentNumbers(from, id)).toMatchObject({ candidates: names.length });
      return names.toSorted();
    };
    const exclude = { lists: [out!.id], segments: [interns.id] };
    const any = { lists: [a!.id, b!.id], tags: [tag.id], segments: [vienna.id], exclude };
    expect(await mailed(any)).toEqual(["both", "city", "tagged"]);
    expect(await mailed({ ...any, match: "all" })).toEqual(["both"]);
    expect(await mailed({ tags: [tag.id] })).toEqual(["both", "intern", "out", "tagged"]);
    const everyone = await create("Everyone", []);
    expect(await mailed({ segments: [everyone.id], exclude: { tags: [tag.id] } })).toEqual([
      "city",
      "other",
    ]);
    expect(await mailed({ tags: [tag.id], exclude: { segments: [everyone.id] } })).toEqual([]);
    const allOfSite = ["both", "city", "intern", "other", "out", "tagged"];
    expect(await mailed({ all: true, match: "any" })).toEqual(allOfSite);
    expect(await mailed({ all: true, match: "any", exclude: { tags: [tag.id] } })).toEqual([
      ...["city", "other"],
    ]);
    for (const wrong of [{}, { all: true, lists: [1] }])
      expect(CampaignAudience.safeParse(wrong).success).toBe(false);
    const draft = await createDraft(from, { audience: CampaignAudience.parse(any) });
    await expect(state.sendNow(caller, draft.id)).rejects.toMatchObject({ kind: "invalid" });
    await from.provider.stop();
  });

  test("suppressed, unsubscribed, pending and recently mailed contacts are skipped and counted", async () => {
    const from = await createCampaignSender();
    await sites.change(from.caller, from.siteId, { sendFrequencyCapDays: 3 });
    await contact(from, "good@example.com");
    await contact(from, "left@example.com", { status: "unsubscribed" });
    await contact(from, "pending@example.com", { status: "pending" });
    await contact(from, "bad@example.com");
    await contact(from, "away@example.com");
    await insertListMembers(from, 1, () => ({
      lastMarketingAt: clock.addSeconds(-2 * 24 * 3600).toISOString(),
    }));
    await insertListMembers(from, 1, () => ({
      lastMarketingAt: clock.addSeconds(-4 * 24 * 3600).toISOString(),
    }));
    const { orgId } = from.caller;
    await suppressions.suppress(orgId, {
      email: "bad@example.com",
      reason: "manual",
      source: "test",
    });
    await suppressions.suppress(orgId, {
      email: "away@example.com",
      reason: "unsubscribe",
      source: "test",
    });
    const { id } = await createDraft(from);
    const dry = await previews.preview(from.caller, id);
    await state.sendNow(from.caller, id);
    await runWorkers(anHour);
    const expected = { candidates: 7, suppressed: 2, unsubscribed: 2, capped: 1 };
    expect(await readConsistentNumbers(from, id)).toMatchObject({
      ...expected,
      accepted: 2,
      sent: 2,
    });
    expect(dry).toMatchObject({ ...expected, wouldReceive: 2, exact: true });
    await from.provider.stop();
  });

  test("a contact that changes its address during the fan-out gets the mail once", async () => {
    for (const readBefore of [true, false])
      for (const towards of ["read", "unread"]) {
        const from = await createCampaignSender();
        const [first, second] = addresses(readBefore, towards === "read");
        const { id: contactId } = await contact(from, first);
        await insertListMembers(from, 30);
        const { id } = await createDraft(from);
        await state.sendNow(from.caller, id);
        const [early, lateOnes] = [emailShards.slice(0, 8), emailShards.slice(8)];
        for (const shard of early) await fanOut.runFanOut(keyOf(from, id), shard);
        await contacts.change(from.caller, contactId, { email: second });
        for (const shard of lateOnes) await fanOut.runFanOut(keyOf(from, id), shard);
        await runWorkers(anHour);
        expect(await readConsistentNumbers(from, id)).toMatchObject({
          candidates: 31,
          accepted: 31,
          sent: 31,
        });
        const mailsToBoth = from.provider.mails.filter(({ to }) => to === first || to === second);
        expect(mailsToBoth).toHaveLength(1);
        expect(expectNoDuplicates(from)).toHaveLength(31);
        await from.provider.stop();
      }
  });

  test("a contact that changes its address during a pause of months gets the mail once", async () => {
    const from = await createCampaignSender();
    const [first, second] = addresses(true, false);
    const { id: contactId } = await contact(from, first);
    await insertListMembers(from, 10);
    const { id } = await createDraft(from);
    await state.sendNow(from.caller, id);
    for (const shard of emailShards.slice(0, 8)) await fanOut.runFanOut(keyOf(from, id), shard);
    await mailTest.runLane(from.caller.orgId, from.configId);
    const { sends: firstSends } = await listSends(from.caller, { limit: 100 }, {});
    await expired(from, new Set(firstSends.map((send) => blockOf(send.id))));
    await contacts.change(from.caller, contactId, { email: second });
    await runWorkers(anHour);
    expect(await readConsistentNumbers(from, id)).toMatchObject({
      candidates: 11,
      accepted: 11,
      sent: 11,
    });
    expect(expectNoDuplicates(from)).toHaveLength(11);
    expect((await readCampaign(from, id)).status).toBe("sent");
    await from.provider.stop();
  });
});

/** Removes the items of these blocks that have an expiry. */
async function expired({ caller: { orgId } }: CampaignSender, blocks: Set<number>): Promise<void> {
  const items = await Promise.all(
    [...blocks].map((block) =>
      queryAll<Key & { expires?: number }>(ranges.blockItems(orgId, block), { consistent: true }),
    ),
  );
  const expiring = items.flat().filter(({ expires }) => expires !== undefined);
  await writeMany(expiring.map((one) => remove(one)));
}

/** Returns two addresses whose shards are read before (true) or after (false) the change. */
function addresses(...read: boolean[]): [string, string] {
  const of = (early: boolean, word: string) => {
    for (let i = 0; ; i++)
      if (emailShards.indexOf(emailShardOf(`${word}${i}@example.net`)) < 8 === early)
        return `${word}${i}@example.net`;
  };
  return [of(read[0]!, "first"), of(read[1]!, "second")];
}

describe("scheduling", () => {
  const inSeconds = (seconds: number, sendLate = false) =>
    CampaignSchedule.parse({ scheduledAt: clock.addSeconds(seconds).toISOString(), sendLate });

  test("a campaign is sent at its time, in a minute or in a month", async () => {
    const from = await createCampaignSender();
    await insertListMembers(from, 3);
    for (const seconds of [60, 30 * 24 * 3600]) {
      const { id } = await createDraft(from);
      expect(await state.schedule(from.caller, id, inSeconds(seconds))).toMatchObject({
        status: "scheduled",
      });
      await runWorkers({ forSeconds: seconds - 10 });
      expect((await readCampaign(from, id)).status).toBe("scheduled");
      await runWorkers({ forSeconds: 130 });
      expect(await readCampaign(from, id)).toMatchObject({ status: "sent", stats: { sent: 3 } });
    }
    await from.provider.stop();
  });

  test("a rescheduled campaign is sent at the new time; a cancelled one is never sent", async () => {
    const from = await createCampaignSender();
    await insertListMembers(from, 2);
    const [one, other] = [await createDraft(from), await createDraft(from)];
    for (const { id } of [one, other]) await state.schedule(from.caller, id, inSeconds(600));
    await state.schedule(from.caller, one.id, inSeconds(7200));
    await state.cancel(from.caller, other.id);
    await runWorkers(anHour);
    expect([
      (await readCampaign(from, one.id)).status,
      (await readCampaign(from, other.id)).status,
    ]).toEqual(["scheduled", "cancelled"]);
    expect((await readCampaign(from, other.id)).finishedAt).not.toBeNull();
    await runWorkers({ forSeconds: 3800 });
    expect((await readCampaign(from, one.id)).status).toBe("sent");
    expect(from.provider.mails).toHaveLength(2);
    await from.provider.stop();
  });

  test("a campaign more than an hour late is held until a user sends it, unless sendLate is set", async () => {
    const from = await createCampaignSender();
    await insertListMembers(from, 2);
    const [held, late, little] = [
      await createDraft(from),
      await createDraft(from),
      await createDraft(from),
    ];
    await state.schedule(from.caller, held.id, inSeconds(3600));
    await state.schedule(from.caller, late.id, inSeconds(3600, true));
    await state.schedule(from.caller, little.id, inSeconds(3600 * 1.5));
    // No worker runs for two hours.
    clock.advanceClock(2.05 * 3600);
    await runWorkers(anHour);
    const finished = await readCampaign(from, held.id);
    expect(finished).toMatchObject({
      status: "held",
      statusReason: expect.stringContaining("more than an hour ago"),
    });
    expect([
      (await readCampaign(from, late.id)).status,
      (await readCampaign(from, little.id)).status,
    ]).toEqual(["sent", "sent"]);
    await state.sendNow(from.caller, held.id);
    await runWorkers(anHour);
    expect(await readCampaign(from, held.id)).toMatchObject({ status: "sent", statusReason: null });
    await from.provider.stop();
  });

  test("a scheduled campaign with a missing part fails with the reason", async () => {
    const from = await createCampaignSender();
    const { id } = await createDraft(from);
    await state.schedule(from.caller, id, inSeconds(600));
    await templates.remove(from.caller, from.templateId);
    await runWorkers(anHour);
    const reason = "templateId refers to something that no longer exists";
    expect(await readCampaign(from, id)).toMatchObject({ status: "failed", statusReason: reason });
    for (const [lack, path] of [
      [{ sendingConfigId: null }, "sendingConfigId"],
      [{ listId: null }, "listId"],
      [{ templateId: null }, "templateId"],
    ] as const) {
      const fields = { ...fieldsOf(from), templateId: null, ...lack };
      const { id: other } = await campaigns.create(from.caller, NewCampaign.parse(fields));
      const refused = { kind: "invalid", details: [{ path }] };
      await expect(state.sendNow(from.caller, other)).rejects.toMatchObject(refused);
      await expect(state.schedule(from.caller, other, inSeconds(60))).rejects.toMatchObject(
        refused,
      );
    }
    await from.provider.stop();
  });
});

const fieldsOf = ({ siteId, listId, configId }: CampaignSender) => ({
  siteId,
  name: "News",
  subject: null,
  templateId: null,
  listId,
  tagId: null,
  segmentId: null,
  sendingConfigId: configId,
  abTest: null,
});

describe("concurrent requests", () => {
  test("only one of many concurrent requests sends the campaign", async () => {
    const from = await createCampaignSender();
    await insertListMembers(from, 20);
    const { id } = await createDraft(from);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 6 }, () => state.sendNow(from.caller, id)),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason.code).toBe("campaign_status");
    await runWorkers(anHour);
    expect(expectNoDuplicates(from)).toHaveLength(20);
    await from.provider.stop();
  });

  test("a change during the start is sent or refused", async () => {
    const from = await createCampaignSender();
    await insertListMembers(from, 2);
    const { id } = await createDraft(from);
    const holding = pauseCall("TransactWriteItems");
    const sending = state.sendNow(from.caller, id).then(
      () => true,
      () => false,
    );
    await holding.reached;
    await campaigns.updateCampaign(from.caller, id, { subject: "Changed" });
    holding.release();
    removePauses();
    const isSent = await sending;
    await runWorkers(anHour);
    expect(expectNoDuplicates(from).map(({ subject }) => subject)).toEqual(
      isSent ? ["Changed", "Changed"] : [],
    );
    await from.provider.stop();
  });

  test("many workers and pauses in between send one mail to each contact", async () => {
    const from = await createCampaignSender();
    await insertListMembers(from, 200);
    const { id } = await createDraft(from);
    await state.sendNow(from.caller, id);
    const key = keyOf(from, id);
    const readers = emailShards
      .flatMap((shard) => [shard, shard, shard])
      .map((shard) => fanOut.runFanOut(key, shard));
    const lookers = Array.from({ length: 4 }, () => pollBroadcast(key));
    const waverers = [state.pause(from.caller, id).then(() => state.resume(from.caller, id))];
    const runners = Array.from({ length: 3 }, () =>
      mailTest.runLane(from.caller.orgId, from.configId),
    );
    await Promise.all([...readers, ...lookers, ...waverers, ...runners]);
    await readConsistentNumbers(from, id);
    await runWorkers(anHour);
    expect(await readConsistentNumbers(from, id)).toMatchObject({ candidates: 200, sent: 200 });
    expect(expectNoDuplicates(from)).toHaveLength(200);
    expect((await readCampaign(from, id)).status).toBe("sent");
    await from.provider.stop();
  });

  test("two workers have one cursor: the first to move it continues, the other changes nothing", async () => {
    const key = { orgId: 1, kind: "campaign" as const, id: Date.now() };
    await write(...cursors.createCursorWrites(key));
    const { lease, item: late } = (await cursors.acquireCursor(key, "0"))!;
    expect(await cursors.acquireCursor(key, "0")).toBeUndefined();
    clock.advanceClock(3600);
    const { item: other } = (await cursors.acquireCursor(key, "0"))!;
    expect(await transact(cursors.advanceCursorWrite(key, other, "m"))).toBe(true);
    expect([
      await transact(cursors.advanceCursorWrite(key, late, "m")),
      await release(lease),
    ]).toEqual([false, false]);
    const further = cursors.toAdvancedCursor(other, "m");
    expect(await transact(cursors.advanceCursorWrite(key, further, undefined))).toBe(true);
    clock.advanceClock(3600);
    expect([
      await cursors.acquireCursor(key, "0"),
      await transact(cursors.advanceCursorWrite(key, further, "n")),
    ]).toEqual([undefined, false]);
  });

  test("cancelling while sending stops all mail after the response, and the counters add up", async () => {
    const from = await createCampaignSender();
    await insertListMembers(from, 300);
    const { id } = await createDraft(from);
    await state.sendNow(from.caller, id);
    const key = keyOf(from, id);
    const gate = Promise.withResolvers<void>();
    from.provider.gate = gate.promise;
    await Promise.all(emailShards.map((shard) => fanOut.runFanOut(key, shard)));
    const running = mailTest.runLane(from.caller.orgId, from.configId);
    while (from.provider.calls.length < minParallelCalls) await clock.sleep(5);
    await state.cancel(from.caller, id);
    // Calls in flight cannot be undone.
    const underWay = from.provider.calls.reduce((sum, { recipients }) => sum + recipients, 0);
    gate.resolve();
    await running;
    await runWorkers(anHour);
    expect(from.provider.mails).toHaveLength(underWay);
    expect(underWay).toBeLessThan(300);
    const totals = await readConsistentNumbers(from, id);
    expect(totals).toMatchObject({ queued: 0, sending: 0, sent: underWay });
    expectNoDuplicates(from);
    expect((await readCampaign(from, id)).finishedAt).not.toBeNull();
    await from.provider.stop();
  });

  test("suspended chunks that several workers queue while the lane runs are sent once", async () => {
    const from = await createCampaignSender();
    const { orgId } = from.caller;
    await insertListMembers(from, 60);
    const { id } = await createDraft(from);
    await state.sendNow(from.caller, id);
    await runWorkers({}, [fanOutWorker, drainWorker]);
    await state.pause(from.caller, id);
    await expect(state.pause(from.caller, id)).rejects.toMatchObject({
      kind: "conflict",
      code: "campaign_status",
    });
    await mailTest.runLane(orgId, from.configId);
    await state.resume(from.caller, id);
    await expect(state.resume(from.caller, id)).rejects.toMatchObject({
      kind: "conflict",
      code: "campaign_status",
    });
    const letGo = () =>
      held.releaseChunks(orgId, { source: { kind: "campaign", id }, configId: from.configId });
    await Promise.all([
      letGo(),
      letGo(),
      letGo(),
      ...Array.from({ length: 3 }, () => mailTest.runLane(orgId, from.configId)),
    ]);
    await runWorkers(anHour);
    expect(expectNoDuplicates(from)).toHaveLength(60);
    expect((await readConsistentNumbers(from, id)).sent).toBe(60);
    await from.provider.stop();
  });

  test("the response of a change equals the stored campaign", async () => {
    const from = await createCampaignSender();
    const { id } = await createDraft(from);
    for (let i = 0; i < 30; i++) {
      const { updatedAt } = await campaigns.updateCampaign(from.caller, id, { name: `News ${i}` });
      expect((await campaigns.findStored(from.caller, id)).updatedAt).toBe(updatedAt);
    }
    await from.provider.stop();
  });

  test("a campaign that is sending cannot be changed or deleted", async () => {
    const from = await createCampaignSender();
    await insertListMembers(from, 2);
    const { id } = await createDraft(from);
    await state.sendNow(from.caller, id);
    await expect(
      campaigns.updateCampaign(from.caller, id, { name: "Other" }),
    ).rejects.toMatchObject({ code: "campaign_status" });
    await expect(campaigns.remove(from.caller, id)).rejects.toMatchObject({
      code: "campaign_running",
    });
    await expect(createVariant(from, id, {})).rejects.toMatchObject({ code: "campaign_status" });
    await runWorkers(anHour);
    await campaigns.remove(from.caller, id);
    await runWorkers(anHour);
    await expect(readCampaign(from, id)).rejects.toMatchObject({ kind: "missing" });
    // Deleting a campaign does not delete its sends.
    expect((await listSends(from.caller, { limit: 10 }, {})).sends).toHaveLength(2);
    await from.provider.stop();
  });
});

describe("an A/B test", () => {
  async function runAbTest(
    fields: object[],
    opens: (variantId: number, i: number) => boolean | "by a machine",
  ) {
    const from = await createCampaignSender();
    await insertListMembers(from, 120);
    const { id } = await createDraft(from, {
      abTest: { testPercent: 50, metric: "open_rate", durationMinutes: 240 },
    });
    const made = [];
    for (const one of fields) made.push(await createVariant(from, id, one));
    await state.sendNow(from.caller, id);
    await runWorkers({ forSeconds: 600 });
    const before = await readConsistentNumbers(from, id);
    const { sends: out } = await listSends(
      from.caller,
      { limit: 100 },
      { campaignId: id, status: "sent" },
    );
    const happened = out.flatMap((send, i) => {
      const opened = opens(send.variantId!, i);
      const more = opened === "by a machine" ? { automated: true as const } : {};
      return [
        createEvent(send.id, "delivered", 1),
        ...(opened ? [createEvent(send.id, "open", 60, more)] : []),
      ];
    });
    await applyMessages(await createEventMessage(from.caller.orgId, happened));
    await runWorkers({ forSeconds: 3 * 3600 });
    expect((await readCampaign(from, id)).winner).toBeNull();
    expect((await readConsistentNumbers(from, id)).queued).toBe(before.queued);
    await runWorkers({ forSeconds: 2 * 3600 });
    const finished = await readCampaign(from, id);
    expect(finished.status).toBe("sent");
    expect(expectNoDuplicates(from)).toHaveLength(120);
    await readConsistentNumbers(from, id);
    await from.provider.stop();
    return { from, before, campaign: finished, made };
  }

  test("sends the variant with more opens to the rest, and stores the variant with each send", async () => {
    let better = 0;
    const { from, campaign, made, before } = await runAbTest(
      [{ subject: "Dull" }, { html: "<p>Great</p>", subject: "Great" }],
      (variantId, i) => {
        better ||= variantId;
        return variantId === better || i % 10 === 0;
      },
    );
    expect(before.sent).toBeGreaterThan(30);
    expect(before.sent).toBeLessThan(90);
    expect(campaign.winner).toMatchObject({ variantId: better, reason: "best" });
    const winning = campaign.variants.find(({ id }) => id === better)!;
    expect(winning).toMatchObject({ isWinner: true, openRate: 1 });
    expect(campaign.variants.reduce((sum, { recipients }) => sum + recipients, 0)).toBe(120);
    expect(winning.recipients).toBeGreaterThan(before.queued);
    // The figures of the decision do not change when the rest opens the mail too.
    const result = campaign.winner!.results.find(({ variantId }) => variantId === better)!;
    expect(campaign.winner!.results.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(
      before.sent,
    );
    expect(result).toEqual({
      variantId: better,
      delivered: result.opened,
      opened: winning.opened,
      clicked: 0,
      conversions: 0,
      rate: 1,
    });
    const subject = made.find(({ id }) => id === better)!.subject;
    expect(from.provider.mails.filter((mail) => mail.subject === subject)).toHaveLength(
      winning.recipients,
    );
    const { sends: all } = await listSends(
      from.caller,
      { limit: 100 },
      { campaignId: campaign.id },
    );
    for (const send of all)
      expect(made.find(({ id }) => id === send.variantId)?.subject).toBe(send.subject);
  });

  test("ignores automated opens, and without others the greater weight wins", async () => {
    const fields = [
      { subject: "A", weight: 40 },
      { subject: "B", weight: 60 },
    ];
    const { campaign, made } = await runAbTest(fields, () => "by a machine");
    expect(campaign.stats).toMatchObject({ opened: 0, openedTotal: expect.any(Number) });
    expect(campaign.stats.openedTotal).toBeGreaterThan(30);
    expect(campaign.winner).toMatchObject({ variantId: made[1]!.id, reason: "no_data" });
  });

  test("picks the greater weight if the rates are equal", async () => {
    const { campaign, made } = await runAbTest(
      [
        { subject: "A", weight: 40 },
        { subject: "B", weight: 60 },
      ],
      () => true,
    );
    expect(campaign.winner).toMatchObject({ variantId: made[1]!.id, reason: "tie" });
  });

  test("without a test phase sends variants by weight at once", async () => {
    const from = await createCampaignSender();
    await insertListMembers(from, 400);
    const { id } = await createDraft(from);
    const [a, b] = [
      await createVariant(from, id, { subject: "A", weight: 300 }),
      await createVariant(from, id, { subject: "B", weight: 100 }),
    ];
    await state.sendNow(from.caller, id);
    await runWorkers(anHour);
    const campaignVariants = await variants.list(from.caller, id);
    const [ofA, ofB] = [
      campaignVariants.find((one) => one.id === a.id)!.recipients,
      campaignVariants.find((one) => one.id === b.id)!.recipients,
    ];
    expect(ofA + ofB).toBe(400);
    expect(ofA).toBeGreaterThan(250);
    expect(ofB).toBeGreaterThan(60);
    expect(expectNoDuplicates(from).filter(({ subject }) => subject === "A")).toHaveLength(ofA);
    await from.provider.stop();
  });

  /** A paused campaign to 60 contacts, of whom some have got a variant of the test. */
  async function createPausedTest() {
    const from = await createCampaignSender();
    await insertListMembers(from, 60);
    const { id } = await createDraft(from, {
      abTest: { testPercent: 20, metric: "open_rate", durationMinutes: 60 },
    });
    for (const subject of ["A", "B"]) await createVariant(from, id, { subject });
    await state.sendNow(from.caller, id);
    await runWorkers({ forSeconds: 600 });
    const { sent } = await readConsistentNumbers(from, id);
    await state.pause(from.caller, id);
    return { from, id, sent };
  }

  test("paused and cancelled before the winner is picked never sends the rest", async () => {
    const { from, id, sent } = await createPausedTest();
    await runWorkers({ forSeconds: 7200 });
    expect((await readConsistentNumbers(from, id)).sent).toBe(sent);
    await state.cancel(from.caller, id);
    await runWorkers(anHour);
    expect(await readConsistentNumbers(from, id)).toMatchObject({
      sent,
      cancelled: 60 - sent,
      queued: 0,
    });
    await from.provider.stop();
  });

  test("paused until the rest has expired ends without it", async () => {
    const { from, id, sent } = await createPausedTest();
    const waiting = await queryAll<held.SuspendedChunk>(
      ranges.suspendedChunks(from.caller.orgId, { kind: "campaign", id }),
      { consistent: true },
    );
    await expired(from, new Set(waiting.map(({ block }) => block)));
    await state.resume(from.caller, id);
    await runWorkers({ forSeconds: 3 * 3600 });
    expect((await readCampaign(from, id)).status).toBe("sent");
    expect(await readConsistentNumbers(from, id)).toMatchObject({
      sent,
      cancelled: 60 - sent,
      queued: 0,
    });
    await from.provider.stop();
  });
});

test("too many bounces after 500 emails pause the campaign; counting restarts when it is resumed", async () => {
  const from = await createCampaignSender();
  const { orgId } = from.caller;
  await insertListMembers(from, 1500);
  const { id } = await createDraft(from);
  from.provider.faultFor = () =>
    from.provider.mails.length < 700
      ? undefined
      : { status: 429, headers: { "retry-after": "30" } };
  await state.sendNow(from.caller, id);
  await runWorkers({ forSeconds: 15 });
  const { sent } = await readConsistentNumbers(from, id);
  expect(sent).toBeGreaterThanOrEqual(700);
  expect(sent).toBeLessThan(1200);
  const bounced = from.provider.mails
    .slice(0, Math.ceil(sent / 15))
    .map(({ sendId }) => createEvent(sendId, "bounce", 5, { data: { bounceType: "hard" } }));
  await applyMessages(await createEventMessage(orgId, bounced));
  await runWorkers({ forSeconds: 600 });
  const finished = await readCampaign(from, id);
  expect(finished).toMatchObject({
    status: "paused",
    statusReason: expect.stringMatching(/^[56][.\d]* % of \d+ mails bounced, more than 5 %/),
  });
  // Calls that the provider put off still count as being sent.
  const { queued, sending } = await readConsistentNumbers(from, id);
  expect(queued + sending).toBeGreaterThan(0);
  from.provider.faultFor = () => undefined;
  await state.resume(from.caller, id);
  await runWorkers(anHour);
  expect(await readCampaign(from, id)).toMatchObject({ status: "sent", statusReason: null });
  expect(expectNoDuplicates(from)).toHaveLength(1500);
  await from.provider.stop();
});

test("a campaign without quota pauses with a reason, and continues with credits", async () => {
  const from = await createCampaignSender();
  const { orgId } = from.caller;
  await insertListMembers(from, 60);
  const { period } = await allowance.getQuota(orgId);
  const spent = { period: period.start, mails: plans.free.mailsPerMonth - 20, charged: 0 };
  await write(update(keys.account(orgId), { set: spent }));
  const { id } = await createDraft(from);
  await state.sendNow(from.caller, id);
  await runWorkers(anHour);
  expect(await readCampaign(from, id)).toMatchObject({
    status: "paused",
    statusReason: expect.stringMatching(
      /^Of the 3,000 mails a month .* are left until .*: buy credits/,
    ),
  });
  const { accepted } = await readConsistentNumbers(from, id);
  expect(accepted).toBeGreaterThan(10);
  expect(accepted).toBeLessThanOrEqual(20);
  await write(update(keys.account(orgId), { add: { balance: 1_000_000 } }));
  await state.resume(from.caller, id);
  await runWorkers(anHour);
  expect(await readConsistentNumbers(from, id)).toMatchObject({ candidates: 60, sent: 60 });
  expect(expectNoDuplicates(from)).toHaveLength(60);
  expect((await allowance.getQuota(orgId)).account.balance).toBe(
    1_000_000 - 40 * mailPriceInMillicents(false),
  );
  const { sends: all } = await listSends(from.caller, { limit: 100 }, { campaignId: id });
  expect(all.filter(({ cost }) => cost > 0)).toHaveLength(40);
  await from.provider.stop();
});

test("a campaign whose provider has no credits shows why it waits, in the provider's words", async () => {
  const from = await createCampaignSender("postmark");
  await insertListMembers(from, 3);
  const noCredits = "You are out of credits. Buy more to go on.";
  const body = { ErrorCode: 405, Message: noCredits };
  from.provider.faultFor = () => ({ status: 422, body });
  const { id } = await createDraft(from);
  const readDetail = () => campaigns.findCampaignDetail(from.caller, id);
  expect(await readDetail()).toMatchObject({ waitingReason: null });
  await state.sendNow(from.caller, id);
  await runWorkers({ forSeconds: 600 });
  const waiting = await readDetail();
  expect(waiting.status).toBe("sending");
  expect(waiting.waitingReason).toMatch(/^Email waits, because .* no emails or credits left\. /);
  expect(waiting.waitingReason).toContain(noCredits);
  const { problems } = await getAttention(from.caller);
  expect(problems.find(({ code }) => code === "sending_config_failing")?.message).toContain(
    noCredits,
  );
  from.provider.faultFor = () => undefined;
  await runWorkers({ forSeconds: 2 * 3600 });
  expect(await readDetail()).toMatchObject({ status: "sent", waitingReason: null });
  expect(from.provider.mails).toHaveLength(3);
  await from.provider.stop();
});

test("a preview reports missing variables and an unverified sender", async () => {
  const from = await createCampaignSender();
  await contact(from, "ann@example.com", { firstName: "Ann", customFields: { plan: "pro" } });
  await contact(from, "bob@example.com");
  const { id } = await createDraft(from, {
    subject:
      "{{ firstName }} {{ company | default: 'you' }} {{ plan }} {{ customFields.plan }} {{ unsubscribeUrl }}",
  });
  const { samples, warnings } = await previews.preview(from.caller, id);
  expect(samples.map(({ missingVariables }) => missingVariables)).toEqual([
    [],
    ["firstName", "plan", "customFields.plan"],
  ]);
  expect(warnings).toEqual([
    "These variables have no value in 1 of 2 samples: firstName, plan, customFields.plan",
    expect.stringMatching(/^Marketing mail must show a postal address/),
    expect.stringMatching(/^Sending config \d+ is not verified/),
  ]);
  await sites.change(from.caller, from.siteId, { physicalAddress: "1 High Street" });
  const { id: plain } = await createDraft(from, {
    subject: "News",
    templateId: (await bare(from)).id,
  });
  expect((await previews.preview(from.caller, plain)).warnings).toEqual([
    expect.stringMatching(/^Sending config \d+ is not verified/),
  ]);
  await from.provider.stop();
});

const bare = ({ caller, siteId }: CampaignSender) =>
  templates.create(
    caller,
    NewTemplate.parse({ siteId, name: "Bare", subject: "News", html: "<p>News</p>" }),
  );

test("the audience of a draft is counted by reason, as the campaign then goes out", async () => {
  const from = await createCampaignSender();
  const { caller, siteId } = from;
  await sites.change(caller, siteId, { sendFrequencyCapDays: 3 });
  const [, , bounced, complained, manual, capped] = await Promise.all(
    ["ann", "bob", "bounced", "complained", "manual", "capped"].map((name) =>
      contact(from, `${name}@example.com`),
    ),
  );
  await contact(from, "left@example.com", { status: "unsubscribed" });
  await contact(from, "pending@example.com", { status: "pending" });
  for (const [one, reason] of [
    [bounced, "bounce"],
    [complained, "spam_report"],
    [manual, "manual"],
  ] as const)
    await suppressions.suppress(from.caller.orgId, { email: one!.email, reason, source: "test" });
  await write(
    update(keys.contact(caller.orgId, siteId, capped!.email), {
      set: { lastMarketingAt: clock.now().toISOString() },
    }),
  );
  const { id } = await createDraft(from, { templateId: null, sendingConfigId: null });
  const one = (reason: string) => ({ reason, count: 1, message: expect.any(String) });
  const reach = await getReach(caller, id);
  expect({
    ...reach,
    notMailed: reach.notMailed.toSorted((a, b) => a.reason.localeCompare(b.reason)),
  }).toEqual({
    matched: 8,
    mailed: 2,
    notMailed: ["bounced", "capped", "complained", "pending", "suppressed", "unsubscribed"].map(
      one,
    ),
    message: "2 of 8 contacts would get the campaign.",
    exact: true,
  });
  const { id: complete } = await createDraft(from);
  const { candidates, wouldReceive, suppressed, unsubscribed } = await previews.preview(
    caller,
    complete,
  );
  expect([candidates, wouldReceive, suppressed, unsubscribed]).toEqual([8, 2, 3, 2]);
  await state.sendNow(caller, complete);
  await runWorkers(anHour);
  expect(expectNoDuplicates(from)).toHaveLength(2);
  await from.provider.stop();
});

test("a campaign without an audience says so", async () => {
  const from = await createCampaignSender();
  const { id } = await createDraft(from, { listId: null });
  expect(await getReach(from.caller, id)).toMatchObject({
    matched: 0,
    message: "The campaign has no audience yet.",
  });
  await from.provider.stop();
});

test("a preview renders the mails, and a proof is sent without changing the counters", async () => {
  const from = await createCampaignSender();
  await contact(from, "ann@example.com", { firstName: "Ann <b>" });
  const { id } = await createDraft(from, {
    subject: "{{ firstName }}, look: {% raw %}{{ x }}{% endraw %}",
  });
  const { samples, wouldReceive } = await previews.preview(from.caller, id);
  expect(wouldReceive).toBe(1);
  expect(samples).toEqual([
    expect.objectContaining({
      email: "ann@example.com",
      subject: "Ann <b>, look: {{ x }}",
      error: null,
    }),
  ]);
  expect(samples[0]!.html).toContain("Hello Ann &lt;b&gt;");
  expect(samples[0]!.html).toMatch(/api\/v1\/unsubscribe\/preview"/);
  const { proofs: mailed } = await proofs.sendProofs(from.caller, id, {
    emails: ["boss@example.com", "BOSS@example.com"],
  });
  expect(mailed).toEqual([
    { email: "BOSS@example.com", variantId: null, sendId: expect.any(Number), status: "queued" },
  ]);
  await runWorkers(anHour);
  expect(from.provider.mails).toHaveLength(1);
  expect(from.provider.mails[0]).toMatchObject({
    to: "BOSS@example.com",
    subject: "[Test] Ann <b>, look: {{ x }}",
    html: samples[0]!.html,
  });
  expect(await readCampaign(from, id)).toMatchObject({
    status: "draft",
    stats: { recipients: 0, sent: 0 },
  });
  await from.provider.stop();
});

test("UTM parameters and preview text are in the mails of a campaign, by variant", async () => {
  const from = await createCampaignSender();
  await insertListMembers(from, 6, (i) => ({ customFields: { code: `c${i}`, secret: "x" } }));
  const { id } = await createDraft(from, {
    name: "Spring sale",
    utm: { source: "news" },
    previewText: "For {{ firstName }} <only>",
  });
  const html =
    '<p>Hi</p><a href="https://shop.example/?c={{ code }}">Shop</a>' +
    '<a href="{{ unsubscribeUrl }}">Leave</a>';
  await createVariant(from, id, { subject: "A", html });
  await createVariant(from, id, { subject: "B", html, previewText: "Own words" });
  await state.sendNow(from.caller, id);
  await runWorkers(anHour);
  const mails = expectNoDuplicates(from);
  expect(mails).toHaveLength(6);
  for (const { subject, html: body = "", text, to } of mails) {
    const i = /-(\d)@/.exec(to)![1];
    const preview = subject === "A" ? `For P${i} &lt;only&gt;` : "Own words";
    expect(body).toMatch(/^<div class="pm-preview"/);
    expect(body).toContain(`>${preview}&#847;`);
    const campaign = "utm_source=news&amp;utm_medium=email&amp;utm_campaign=Spring%20sale";
    const query = `${campaign}&amp;utm_content=${subject}`;
    expect(body).toContain(`href="https://shop.example/?c=c${i}&amp;${query}"`);
    expect(body.match(/utm_source/g)).toHaveLength(1);
    expect(text).not.toContain(preview);
    expect(text).toContain("utm_campaign=Spring%20sale");
  }
  await from.provider.stop();
});

test("a strict campaign with a variable that no contact or not every sample has is not sent or scheduled", async () => {
  const from = await createCampaignSender();
  const { caller } = from;
  await contact(from, "ann@example.com", { customFields: { Plan: "pro" } });
  await contact(from, "bob@example.com");
  const known =
    "{{ firstName }} {{ PLAN }} {{ customFields.plan }} {{ x | default: 1 }} {{ unsubscribeUrl }}";
  const subject = `${known} {{ Colour }}`;
  const { id: templateId } = await bare(from);
  const { id } = await createDraft(from, { subject, templateId, strict: true });
  await createVariant(from, id, { html: "<p>{{ firstName }} {{ order.total }}</p>" });
  const inAnHour = CampaignSchedule.parse({ scheduledAt: clock.addSeconds(3600).toISOString() });
  const refused = {
    kind: "invalid",
    code: "variables_missing",
    details: [{ path: "Colour" }, { path: "order.total" }],
  };
  await expect(state.sendNow(caller, id)).rejects.toMatchObject(refused);
  await expect(state.schedule(caller, id, inAnHour)).rejects.toMatchObject(refused);
  expect(await listWarnings(caller, id)).toContain(
    "No contact of the site has a field for these variables: Colour, order.total",
  );
  await variants.remove(caller, id, (await readCampaign(from, id)).variants[0]!.id);
  await campaigns.updateCampaign(caller, id, { subject: known });
  const gaps =
    "These variables have no value in 2 of 2 samples: firstName, PLAN, customFields.plan";
  expect(await listWarnings(caller, id)).toContain(gaps);
  expect((await previews.preview(caller, id)).warnings).toContain(gaps);
  await expect(state.sendNow(caller, id)).rejects.toThrow(gaps);
  await expect(state.schedule(caller, id, inAnHour)).rejects.toThrow(gaps);
  await campaigns.updateCampaign(caller, id, { subject: "{{ email }} {{ x | default: 1 }}" });
  await state.sendNow(caller, id);
  await runWorkers(anHour);
  expect(expectNoDuplicates(from)).toHaveLength(2);
  expect(await listWarnings(caller, id)).toEqual([]);
  await from.provider.stop();
});
