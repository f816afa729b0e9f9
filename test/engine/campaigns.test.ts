// Campaigns over time: whom they reach, when they go, what people do meanwhile, and what is counted.
import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { worker as drainWorker } from "../../functions/queue/drain.ts";
import { worker as fanOutWorker } from "../../functions/queue/fan-out.ts";
import * as clock from "../../shared/clock.ts";
import * as allowance from "../../shared/domain/allowance.ts";
import * as cursors from "../../shared/domain/broadcasts/cursors.ts";
import * as fanOut from "../../shared/domain/broadcasts/fan-out.ts";
import { step } from "../../shared/domain/broadcasts/step.ts";
import { Schedule } from "../../shared/domain/campaigns/campaign.ts";
import * as previews from "../../shared/domain/campaigns/preview.ts";
import * as proofs from "../../shared/domain/campaigns/proofs.ts";
import * as state from "../../shared/domain/campaigns/state.ts";
import * as variants from "../../shared/domain/campaigns/variants.ts";
import * as campaigns from "../../shared/domain/campaigns.ts";
import { NewContact } from "../../shared/domain/contacts/contact.ts";
import * as groups from "../../shared/domain/contacts/groups.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import * as segments from "../../shared/domain/segments.ts";
import * as held from "../../shared/domain/sending/held.ts";
import * as sends from "../../shared/domain/sends.ts";
import * as sites from "../../shared/domain/sites.ts";
import * as suppressions from "../../shared/domain/suppressions.ts";
import * as templates from "../../shared/domain/templates.ts";
import { claim, queryAll, remove, update, write, writeMany } from "../../shared/doors/table.ts";
import { type Address, blockOf, emailShard, keys, ranges, shards } from "../../shared/keys.ts";
import { plans, priceOfMail } from "../../shared/plans.ts";
import { draft, look, numbers, onceEach, opened, people, type Shop, settle, shop, variant } from "../support/campaigners.ts";
import { heldUp, letGo } from "../support/held-up.ts";
import * as mailroom from "../support/mailroom.ts";
import { eventOf, message, work } from "../support/sent-mail.ts";

vi.setConfig({ testTimeout: 120_000 });
beforeAll(opened);

const keyOf = ({ caller: { orgId } }: Shop, id: number) => ({ orgId, kind: "campaign" as const, id });
const anHour = { forSeconds: 3600 };

async function contact(from: Shop, email: string, more: object = {}) {
  const given = NewContact.parse({ siteId: from.siteId, email, lists: [from.listId], ...more });
  return contacts.create(from.caller, given);
}

describe("whom it reaches", () => {
  test("everybody on the list, by hundreds, once", async () => {
    const from = await shop();
    await people(from, 1200);
    const { id } = await draft(from);
    expect(await state.send(from.caller, id)).toMatchObject({ status: "sending", startedAt: expect.any(String) });
    await settle({ forSeconds: 600 });
    expect(await numbers(from, id)).toMatchObject({ candidates: 1200, accepted: 1200, sent: 1200 });
    expect(onceEach(from)).toHaveLength(1200);
    const told = await look(from, id);
    expect(told).toMatchObject({ status: "sent", finishedAt: expect.any(String), stats: { recipients: 1200, sent: 1200 } });
    expect(told.sendingConfigLabel).toBe("Shop <shop@example.com>");
    const { sends: listed } = await sends.list(from.caller, { limit: 10 }, { campaignId: id });
    expect(listed.map(({ campaignId, status }) => [campaignId, status])).toEqual(Array(10).fill([id, "sent"]));
    await from.provider.stop();
  });

  test("those of a tag, those of a segment, and nobody else", async () => {
    const from = await shop();
    await contact(from, "a@example.com", { tags: ["vip"], company: "Acme" });
    await contact(from, "b@example.com", { tags: ["vip"] });
    await contact(from, "c@example.com", { company: "Acme" });
    const tagId = (await groups.tagsNamed(from.caller, from.siteId, ["vip"])).get("vip")!;
    const rules = { match: "all", conditions: [{ field: "company", operator: "endsWith", value: "CME" }] };
    const segment = await segments.create(from.caller, segments.NewSegment.parse({ siteId: from.siteId, name: "Acme", rules }));
    for (const [target, expected] of [
      [{ tagId }, ["a", "b"]],
      [{ segmentId: segment.id }, ["a", "c"]],
    ] as const) {
      const { id } = await draft(from, { listId: null, ...target });
      from.provider.mails.length = 0;
      await state.send(from.caller, id);
      // What was decided at the start stands.
      if ("segmentId" in target) await segments.remove(from.caller, segment.id);
      await settle(anHour);
      expect(
        from.provider.mails
          .map(({ to }) => to)
          .sort()
          .map(([letter]) => letter),
      ).toEqual(expected);
    }
    await from.provider.stop();
  });

  test("who is suppressed, unsubscribed, not confirmed or had mail lately is left out and counted", async () => {
    const from = await shop();
    await sites.change(from.caller, from.siteId, { sendFrequencyCapDays: 3 });
    await contact(from, "good@example.com");
    await contact(from, "left@example.com", { status: "unsubscribed" });
    await contact(from, "pending@example.com", { status: "pending" });
    await contact(from, "bad@example.com");
    await contact(from, "away@example.com");
    await people(from, 1, () => ({ lastMarketingAt: clock.after(-2 * 24 * 3600).toISOString() }));
    await people(from, 1, () => ({ lastMarketingAt: clock.after(-4 * 24 * 3600).toISOString() }));
    const { orgId } = from.caller;
    await suppressions.suppress(orgId, { email: "bad@example.com", reason: "manual", source: "test" });
    await suppressions.suppress(orgId, { email: "away@example.com", reason: "unsubscribe", source: "test" });
    const { id } = await draft(from);
    const dry = await previews.preview(from.caller, id);
    await state.send(from.caller, id);
    await settle(anHour);
    const expected = { candidates: 7, suppressed: 2, unsubscribed: 2, capped: 1 };
    expect(await numbers(from, id)).toMatchObject({ ...expected, accepted: 2, sent: 2 });
    expect(dry).toMatchObject({ ...expected, wouldReceive: 2, exact: true });
    await from.provider.stop();
  });

  test("who takes another address meanwhile gets it once, wherever the readers are", async () => {
    for (const readBefore of [true, false])
      for (const towards of ["read", "unread"]) {
        const from = await shop();
        const [first, second] = addresses(readBefore, towards === "read");
        const { id: contactId } = await contact(from, first);
        await people(from, 30);
        const { id } = await draft(from);
        await state.send(from.caller, id);
        const [early, lateOnes] = [shards.slice(0, 8), shards.slice(8)];
        for (const shard of early) await fanOut.run(keyOf(from, id), shard);
        await contacts.change(from.caller, contactId, { email: second });
        for (const shard of lateOnes) await fanOut.run(keyOf(from, id), shard);
        await settle(anHour);
        expect(await numbers(from, id)).toMatchObject({ candidates: 31, accepted: 31, sent: 31 });
        const theirs = from.provider.mails.filter(({ to }) => to === first || to === second);
        expect(theirs).toHaveLength(1);
        expect(onceEach(from)).toHaveLength(31);
        await from.provider.stop();
      }
  });

  test("who takes another address while it is paused for months gets it once", async () => {
    const from = await shop();
    const [first, second] = addresses(true, false);
    const { id: contactId } = await contact(from, first);
    await people(from, 10);
    const { id } = await draft(from);
    await state.send(from.caller, id);
    for (const shard of shards.slice(0, 8)) await fanOut.run(keyOf(from, id), shard);
    await mailroom.runLane(from.caller.orgId, from.configId);
    const { sends: gone } = await sends.list(from.caller, { limit: 100 }, {});
    await expired(from, new Set(gone.map((send) => blockOf(send.id))));
    await contacts.change(from.caller, contactId, { email: second });
    await settle(anHour);
    expect(await numbers(from, id)).toMatchObject({ candidates: 11, accepted: 11, sent: 11 });
    expect(onceEach(from)).toHaveLength(11);
    expect((await look(from, id)).status).toBe("sent");
    await from.provider.stop();
  });
});

/** What lies in these blocks and is not kept for ever. */
async function expired({ caller: { orgId } }: Shop, blocks: Set<number>): Promise<void> {
  const items = await Promise.all([...blocks].map((block) => queryAll<Address>(ranges.block(orgId, block), { consistent: true })));
  await writeMany(items.flat().map((one) => remove(one)));
}

/** Of two collections that are read before or after the change. */
function addresses(...read: boolean[]): [string, string] {
  const of = (early: boolean, word: string) => {
    for (let i = 0; ; i++) if (shards.indexOf(emailShard(`${word}${i}@example.net`)) < 8 === early) return `${word}${i}@example.net`;
  };
  return [of(read[0]!, "first"), of(read[1]!, "second")];
}

describe("when it goes", () => {
  const inSeconds = (seconds: number, sendLate = false) => Schedule.parse({ scheduledAt: clock.after(seconds).toISOString(), sendLate });

  test("in a minute or in a month, at its time and not before", async () => {
    const from = await shop();
    await people(from, 3);
    for (const seconds of [60, 30 * 24 * 3600]) {
      const { id } = await draft(from);
      expect(await state.schedule(from.caller, id, inSeconds(seconds))).toMatchObject({ status: "scheduled" });
      await settle({ forSeconds: seconds - 10 });
      expect((await look(from, id)).status).toBe("scheduled");
      await settle({ forSeconds: 130 });
      expect(await look(from, id)).toMatchObject({ status: "sent", stats: { sent: 3 } });
    }
    await from.provider.stop();
  });

  test("scheduled anew it goes at the new time; what is cancelled before never goes", async () => {
    const from = await shop();
    await people(from, 2);
    const [one, other] = [await draft(from), await draft(from)];
    for (const { id } of [one, other]) await state.schedule(from.caller, id, inSeconds(600));
    await state.schedule(from.caller, one.id, inSeconds(7200));
    await state.cancel(from.caller, other.id);
    await settle(anHour);
    expect([(await look(from, one.id)).status, (await look(from, other.id)).status]).toEqual(["scheduled", "cancelled"]);
    expect((await look(from, other.id)).finishedAt).not.toBeNull();
    await settle({ forSeconds: 3800 });
    expect((await look(from, one.id)).status).toBe("sent");
    expect(from.provider.mails).toHaveLength(2);
    await from.provider.stop();
  });

  test("more than an hour late it is held, unless it says otherwise; a person sends it", async () => {
    const from = await shop();
    await people(from, 2);
    const [held, late, little] = [await draft(from), await draft(from), await draft(from)];
    await state.schedule(from.caller, held.id, inSeconds(3600));
    await state.schedule(from.caller, late.id, inSeconds(3600, true));
    await state.schedule(from.caller, little.id, inSeconds(3600 * 1.5));
    // Nobody works for two hours.
    clock.advance(2.05 * 3600);
    await settle(anHour);
    const told = await look(from, held.id);
    expect(told).toMatchObject({ status: "held", statusReason: expect.stringContaining("more than an hour ago") });
    expect([(await look(from, late.id)).status, (await look(from, little.id)).status]).toEqual(["sent", "sent"]);
    await state.send(from.caller, held.id);
    await settle(anHour);
    expect(await look(from, held.id)).toMatchObject({ status: "sent", statusReason: null });
    await from.provider.stop();
  });

  test("what it needs has gone by its time: it fails and says what; a draft is told at once", async () => {
    const from = await shop();
    const { id } = await draft(from);
    await state.schedule(from.caller, id, inSeconds(600));
    await templates.remove(from.caller, from.templateId);
    await settle(anHour);
    const reason = "What templateId names is not there any more";
    expect(await look(from, id)).toMatchObject({ status: "failed", statusReason: reason });
    for (const [lack, path] of [
      [{ sendingConfigId: null }, "sendingConfigId"],
      [{ listId: null }, "listId"],
      [{ templateId: null }, "templateId"],
    ] as const) {
      const { id: other } = await campaigns.create(from.caller, { ...fieldsOf(from), templateId: null, ...lack });
      const refused = { kind: "invalid", details: [{ path }] };
      await expect(state.send(from.caller, other)).rejects.toMatchObject(refused);
      await expect(state.schedule(from.caller, other, inSeconds(60))).rejects.toMatchObject(refused);
    }
    await from.provider.stop();
  });
});

const fieldsOf = ({ siteId, listId, configId }: Shop) => ({
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

describe("what people do at once", () => {
  test("of many who send it one does", async () => {
    const from = await shop();
    await people(from, 20);
    const { id } = await draft(from);
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => state.send(from.caller, id)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes) if (outcome.status === "rejected") expect(outcome.reason.code).toBe("campaign_status");
    await settle(anHour);
    expect(onceEach(from)).toHaveLength(20);
    await from.provider.stop();
  });

  test("what is changed at the moment of its start is sent as changed, or not at all", async () => {
    const from = await shop();
    await people(from, 2);
    const { id } = await draft(from);
    const holding = heldUp(TransactWriteCommand);
    const sending = state.send(from.caller, id).then(
      () => true,
      () => false,
    );
    await holding.reached;
    await campaigns.change(from.caller, id, { subject: "Changed" });
    holding.release();
    letGo();
    const isSent = await sending;
    await settle(anHour);
    expect(onceEach(from).map(({ subject }) => subject)).toEqual(isSent ? ["Changed", "Changed"] : []);
    await from.provider.stop();
  });

  test("many workers at every collection, many who look after it, and pauses in between: one mail each", async () => {
    const from = await shop();
    await people(from, 200);
    const { id } = await draft(from);
    await state.send(from.caller, id);
    const key = keyOf(from, id);
    const readers = shards.flatMap((shard) => [shard, shard, shard]).map((shard) => fanOut.run(key, shard));
    const lookers = Array.from({ length: 4 }, () => step(key));
    const waverers = [state.pause(from.caller, id).then(() => state.resume(from.caller, id))];
    const runners = Array.from({ length: 3 }, () => mailroom.runLane(from.caller.orgId, from.configId));
    await Promise.all([...readers, ...lookers, ...waverers, ...runners]);
    await numbers(from, id);
    await settle(anHour);
    expect(await numbers(from, id)).toMatchObject({ candidates: 200, sent: 200 });
    expect(onceEach(from)).toHaveLength(200);
    expect((await look(from, id)).status).toBe("sent");
    await from.provider.stop();
  });

  test("of two at one collection, one of them past its time, who moves first goes on, and the other moves nothing", async () => {
    const key = { orgId: 1, kind: "campaign" as const, id: Date.now() };
    await write(...cursors.opening(key));
    const late = (await cursors.take(key, "0"))!;
    expect(await cursors.take(key, "0")).toBeUndefined();
    clock.advance(3600);
    const other = (await cursors.take(key, "0"))!;
    expect(await claim(cursors.moving(key, other, "m"))).toBe(true);
    expect([await claim(cursors.moving(key, late, "m")), await cursors.giveBack(key, late)]).toEqual([false, false]);
    const further = cursors.moved(other, "m");
    expect(await claim(cursors.moving(key, further, undefined))).toBe(true);
    clock.advance(3600);
    expect([await cursors.take(key, "0"), await claim(cursors.moving(key, further, "n"))]).toEqual([undefined, false]);
  });

  test("cancelled while it is sending, nothing goes after the answer, and all is accounted for", async () => {
    const from = await shop();
    await people(from, 300);
    const { id } = await draft(from);
    await state.send(from.caller, id);
    const key = keyOf(from, id);
    const readers = shards.map(async (shard) => {
      await fanOut.run(key, shard);
      await mailroom.runLane(from.caller.orgId, from.configId);
    });
    let gone = 0;
    const cancelling = (async () => {
      while (from.provider.mails.length < 20) await clock.sleep(5);
      await state.cancel(from.caller, id);
      gone = from.provider.mails.length;
    })();
    await Promise.all([...readers, cancelling]);
    await settle(anHour);
    const told = await numbers(from, id);
    expect(told).toMatchObject({ queued: 0, sending: 0, sent: from.provider.mails.length });
    // A call that was under way is not taken back.
    expect(from.provider.mails.length - gone).toBeLessThan(100);
    onceEach(from);
    expect((await look(from, id)).finishedAt).not.toBeNull();
    await from.provider.stop();
  });

  test("held chunks that several let go, while the lane hands them over, go once", async () => {
    const from = await shop();
    const { orgId } = from.caller;
    await people(from, 60);
    const { id } = await draft(from);
    await state.send(from.caller, id);
    await settle({}, [fanOutWorker, drainWorker]);
    await state.pause(from.caller, id);
    await mailroom.runLane(orgId, from.configId);
    await state.resume(from.caller, id);
    const letGo = () => held.release(orgId, { kind: "campaign", id }, from.configId);
    await Promise.all([letGo(), letGo(), letGo(), ...Array.from({ length: 3 }, () => mailroom.runLane(orgId, from.configId))]);
    await settle(anHour);
    expect(onceEach(from)).toHaveLength(60);
    expect((await numbers(from, id)).sent).toBe(60);
    await from.provider.stop();
  });

  test("what a change answers is what is stored, to the millisecond", async () => {
    const from = await shop();
    const { id } = await draft(from);
    for (let i = 0; i < 30; i++) {
      const { updatedAt } = await campaigns.change(from.caller, id, { name: `News ${i}` });
      expect((await campaigns.item(from.caller, id)).updatedAt).toBe(updatedAt);
    }
    await from.provider.stop();
  });

  test("it is not changed or deleted while it is on its way", async () => {
    const from = await shop();
    await people(from, 2);
    const { id } = await draft(from);
    await state.send(from.caller, id);
    await expect(campaigns.change(from.caller, id, { name: "Other" })).rejects.toMatchObject({ code: "campaign_status" });
    await expect(campaigns.remove(from.caller, id)).rejects.toMatchObject({ code: "campaign_running" });
    await expect(variant(from, id, {})).rejects.toMatchObject({ code: "campaign_status" });
    await settle(anHour);
    await campaigns.remove(from.caller, id);
    await settle(anHour);
    await expect(look(from, id)).rejects.toMatchObject({ kind: "missing" });
    // Its sends stay.
    expect((await sends.list(from.caller, { limit: 10 }, {})).sends).toHaveLength(2);
    await from.provider.stop();
  });
});

describe("an A/B test", () => {
  async function tested(fields: object[], opens: (variantId: number, i: number) => boolean | "by a machine") {
    const from = await shop();
    await people(from, 120);
    const { id } = await draft(from, { abTest: { testPercent: 50, metric: "open_rate", durationMinutes: 240 } });
    const made = [];
    for (const one of fields) made.push(await variant(from, id, one));
    await state.send(from.caller, id);
    await settle({ forSeconds: 600 });
    const before = await numbers(from, id);
    const { sends: out } = await sends.list(from.caller, { limit: 100 }, { campaignId: id, status: "sent" });
    const happened = out.flatMap((send, i) => {
      const opened = opens(send.variantId!, i);
      const more = opened === "by a machine" ? { automated: true as const } : {};
      return [eventOf(send.id, "delivered", 1), ...(opened ? [eventOf(send.id, "open", 60, more)] : [])];
    });
    await work(await message(from.caller.orgId, happened));
    await settle({ forSeconds: 3 * 3600 });
    expect((await look(from, id)).winner).toBeNull();
    expect((await numbers(from, id)).queued).toBe(before.queued);
    await settle({ forSeconds: 2 * 3600 });
    const told = await look(from, id);
    expect(told.status).toBe("sent");
    expect(onceEach(from)).toHaveLength(120);
    await numbers(from, id);
    await from.provider.stop();
    return { from, before, told, made };
  }

  test("gives the rest what more people opened; every mail says which variant it was", async () => {
    let better = 0;
    const { from, told, made, before } = await tested([{ subject: "Dull" }, { html: "<p>Great</p>", subject: "Great" }], (variantId, i) => {
      better ||= variantId;
      return variantId === better || i % 10 === 0;
    });
    expect(before.sent).toBeGreaterThan(30);
    expect(before.sent).toBeLessThan(90);
    expect(told.winner).toMatchObject({ variantId: better, reason: "best" });
    const winning = told.variants.find(({ id }) => id === better)!;
    expect(winning).toMatchObject({ isWinner: true, openRate: 1 });
    expect(told.variants.reduce((sum, { recipients }) => sum + recipients, 0)).toBe(120);
    expect(winning.recipients).toBeGreaterThan(before.queued);
    // What it was decided by stays, when the rest has opened it too.
    const result = told.winner!.results.find(({ variantId }) => variantId === better)!;
    expect(told.winner!.results.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(before.sent);
    expect(result).toEqual({ variantId: better, delivered: result.opened, opened: winning.opened, clicked: 0, rate: 1 });
    const subject = made.find(({ id }) => id === better)!.subject;
    expect(from.provider.mails.filter((mail) => mail.subject === subject)).toHaveLength(winning.recipients);
    const { sends: all } = await sends.list(from.caller, { limit: 100 }, { campaignId: told.id });
    for (const send of all) expect(made.find(({ id }) => id === send.variantId)?.subject).toBe(send.subject);
  });

  test("does not count machines: where nobody else opened, the greater weight wins", async () => {
    const fields = [
      { subject: "A", weight: 40 },
      { subject: "B", weight: 60 },
    ];
    const { told, made } = await tested(fields, () => "by a machine");
    expect(told.stats).toMatchObject({ opened: 0, openedTotal: expect.any(Number) });
    expect(told.stats.openedTotal).toBeGreaterThan(30);
    expect(told.winner).toMatchObject({ variantId: made[1]!.id, reason: "no_data" });
  });

  test("of equal rates the greater weight wins", async () => {
    const { told, made } = await tested(
      [
        { subject: "A", weight: 40 },
        { subject: "B", weight: 60 },
      ],
      () => true,
    );
    expect(told.winner).toMatchObject({ variantId: made[1]!.id, reason: "tie" });
  });

  test("without the test everybody gets a variant at once, by the weights", async () => {
    const from = await shop();
    await people(from, 400);
    const { id } = await draft(from);
    const [a, b] = [await variant(from, id, { subject: "A", weight: 300 }), await variant(from, id, { subject: "B", weight: 100 })];
    await state.send(from.caller, id);
    await settle(anHour);
    const told = await variants.list(from.caller, id);
    const [ofA, ofB] = [told.find((one) => one.id === a.id)!.recipients, told.find((one) => one.id === b.id)!.recipients];
    expect(ofA + ofB).toBe(400);
    expect(ofA).toBeGreaterThan(250);
    expect(ofB).toBeGreaterThan(60);
    expect(onceEach(from).filter(({ subject }) => subject === "A")).toHaveLength(ofA);
    await from.provider.stop();
  });

  /** A campaign to 60 people, of whom some have had its test. */
  async function pausedInItsTest() {
    const from = await shop();
    await people(from, 60);
    const { id } = await draft(from, { abTest: { testPercent: 20, metric: "open_rate", durationMinutes: 60 } });
    for (const subject of ["A", "B"]) await variant(from, id, { subject });
    await state.send(from.caller, id);
    await settle({ forSeconds: 600 });
    const { sent } = await numbers(from, id);
    await state.pause(from.caller, id);
    return { from, id, sent };
  }

  test("paused while it runs and cancelled before the winner: the rest never goes", async () => {
    const { from, id, sent } = await pausedInItsTest();
    await settle({ forSeconds: 7200 });
    expect((await numbers(from, id)).sent).toBe(sent);
    await state.cancel(from.caller, id);
    await settle(anHour);
    expect(await numbers(from, id)).toMatchObject({ sent, cancelled: 60 - sent, queued: 0 });
    await from.provider.stop();
  });

  test("paused for so long that the rest is not kept any more, it comes to its end without it", async () => {
    const { from, id, sent } = await pausedInItsTest();
    const waiting = await queryAll<held.Held>(ranges.held(from.caller.orgId, "campaign", id), { consistent: true });
    await expired(from, new Set(waiting.map(({ block }) => block)));
    await state.resume(from.caller, id);
    await settle({ forSeconds: 3 * 3600 });
    expect((await look(from, id)).status).toBe("sent");
    expect(await numbers(from, id)).toMatchObject({ sent, cancelled: 60 - sent, queued: 0 });
    await from.provider.stop();
  });
});

test("too many bounces after five hundred: it is paused with the reason, and resumed it is watched anew", async () => {
  const from = await shop();
  const { orgId } = from.caller;
  await people(from, 1500);
  const { id } = await draft(from);
  from.provider.trouble = () => (from.provider.mails.length < 700 ? undefined : { status: 429, headers: { "retry-after": "30" } });
  await state.send(from.caller, id);
  await settle({ forSeconds: 15 });
  const { sent } = await numbers(from, id);
  expect(sent).toBeGreaterThanOrEqual(700);
  expect(sent).toBeLessThan(1200);
  const bounced = from.provider.mails
    .slice(0, Math.ceil(sent / 15))
    .map(({ sendId }) => eventOf(sendId, "bounce", 5, { data: { bounceType: "hard" } }));
  await work(await message(orgId, bounced));
  await settle({ forSeconds: 600 });
  const told = await look(from, id);
  expect(told).toMatchObject({
    status: "paused",
    statusReason: expect.stringMatching(/^[56][.\d]* % of \d+ mails bounced, more than 5 %/),
  });
  expect((await numbers(from, id)).queued).toBeGreaterThan(0);
  from.provider.trouble = () => undefined;
  await state.resume(from.caller, id);
  await settle(anHour);
  expect(await look(from, id)).toMatchObject({ status: "sent", statusReason: null });
  expect(onceEach(from)).toHaveLength(1500);
  await from.provider.stop();
});

test("plan and credits used up on the way: it is paused with the reason, and goes on once there are more", async () => {
  const from = await shop();
  const { orgId } = from.caller;
  await people(from, 60);
  const { period } = await allowance.standing(orgId);
  const spent = { period: period.start, mails: plans.free.mailsPerMonth - 20, charged: 0 };
  await write(update(keys.account(orgId), { set: spent }));
  const { id } = await draft(from);
  await state.send(from.caller, id);
  await settle(anHour);
  expect(await look(from, id)).toMatchObject({
    status: "paused",
    statusReason: expect.stringMatching(/^Of the 3,000 mails a month .* are left until .*: buy credits/),
  });
  const { accepted } = await numbers(from, id);
  expect(accepted).toBeGreaterThan(10);
  expect(accepted).toBeLessThanOrEqual(20);
  await write(update(keys.account(orgId), { add: { balance: 1_000_000 } }));
  await state.resume(from.caller, id);
  await settle(anHour);
  expect(await numbers(from, id)).toMatchObject({ candidates: 60, sent: 60 });
  expect(onceEach(from)).toHaveLength(60);
  expect((await allowance.standing(orgId)).account.balance).toBe(1_000_000 - 40 * priceOfMail(false));
  const { sends: all } = await sends.list(from.caller, { limit: 100 }, { campaignId: id });
  expect(all.filter(({ cost }) => cost > 0)).toHaveLength(40);
  await from.provider.stop();
});

test("a preview tells what stays empty and that the address of the sender is not known", async () => {
  const from = await shop();
  await contact(from, "ann@example.com", { firstName: "Ann", customFields: { plan: "pro" } });
  await contact(from, "bob@example.com");
  const { id } = await draft(from, {
    subject: "{{ firstName }} {{ company | default: 'you' }} {{ plan }} {{ customFields.plan }} {{ unsubscribeUrl }}",
  });
  const { samples, warnings } = await previews.preview(from.caller, id);
  expect(samples.map(({ missingVariables }) => missingVariables)).toEqual([[], ["firstName", "plan", "customFields.plan"]]);
  expect(warnings).toEqual([
    "Variables without a value in 1 of 2 samples: firstName, plan, customFields.plan",
    expect.stringMatching(/^No postal address is known/),
  ]);
  await sites.change(from.caller, from.siteId, { physicalAddress: "1 High Street" });
  const { id: plain } = await draft(from, { subject: "News", templateId: (await bare(from)).id });
  expect((await previews.preview(from.caller, plain)).warnings).toEqual([]);
  await from.provider.stop();
});

const bare = ({ caller, siteId }: Shop) =>
  templates.create(caller, templates.NewTemplate.parse({ siteId, name: "Bare", subject: "News", html: "<p>News</p>" }));

test("a preview shows mails as they would read, and a proof is mailed and counted for nobody", async () => {
  const from = await shop();
  await contact(from, "ann@example.com", { firstName: "Ann <b>" });
  const { id } = await draft(from, { subject: "{{ firstName }}, look: {% raw %}{{ x }}{% endraw %}" });
  const { samples, wouldReceive } = await previews.preview(from.caller, id);
  expect(wouldReceive).toBe(1);
  expect(samples).toEqual([expect.objectContaining({ email: "ann@example.com", subject: "Ann <b>, look: {{ x }}", error: null })]);
  expect(samples[0]!.html).toContain("Hello Ann &lt;b&gt;");
  expect(samples[0]!.html).toMatch(/api\/v1\/unsubscribe\/preview"/);
  const { proofs: mailed } = await proofs.send(from.caller, id, { emails: ["boss@example.com", "BOSS@example.com"] });
  expect(mailed).toEqual([{ email: "BOSS@example.com", variantId: null, sendId: expect.any(Number), status: "queued" }]);
  await settle(anHour);
  expect(from.provider.mails).toHaveLength(1);
  expect(from.provider.mails[0]).toMatchObject({
    to: "BOSS@example.com",
    subject: "[Test] Ann <b>, look: {{ x }}",
    html: samples[0]!.html,
  });
  expect(await look(from, id)).toMatchObject({ status: "draft", stats: { recipients: 0, sent: 0 } });
  await from.provider.stop();
});
