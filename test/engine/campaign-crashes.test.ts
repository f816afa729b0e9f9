// A worker of a campaign crashes or is paused at any step: each contact still gets one mail, and
// the totals add up at every moment.
import { beforeAll, describe, expect, test } from "vitest";
import { worker as fanOutWorker } from "../../functions/queue/fan-out.ts";
import { worker as laneWorker } from "../../functions/queue/lane.ts";
import { write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { NewContact } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as state from "../../shared/domain/campaigns/campaign-actions.ts";
import * as fanOut from "../../shared/domain/campaigns/engine/fan-out.ts";
import { pollBroadcast } from "../../shared/domain/campaigns/engine/poll-broadcast.ts";
import * as organizations from "../../shared/domain/identity/organizations.ts";
import * as sources from "../../shared/domain/sending/mail-sources.ts";
import * as log from "../../shared/kernel/log.ts";
import { emailShards } from "../../shared/keys.ts";
import {
  type CampaignSender,
  createCampaignSender,
  createDraft,
  createVariant,
  expectNoDuplicates,
  findShardWithContacts,
  insertListMembers,
  readCampaign,
  readConsistentNumbers,
  runWorkers,
  useVirtualQueues,
} from "../support/campaigns.ts";
import { crashAtSomeSteps, pausedAtSomeSteps } from "../support/crash-injection.ts";
import { readDayCounters } from "../support/delivery-events.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
import { sampleOf } from "../support/seeded-random.ts";
import { runLane } from "../support/sending.ts";

beforeAll(useVirtualQueues);

const keyOf = ({ caller: { orgId } }: CampaignSender, id: number) => ({
  orgId,
  kind: "campaign" as const,
  id,
});
const anHour = { forSeconds: 3600 };

async function expectAllSent(from: CampaignSender, id: number, n: number): Promise<void> {
  await runWorkers(anHour);
  const totals = await readConsistentNumbers(from, id);
  expect(totals).toMatchObject({ candidates: n, accepted: n, queued: 0, sending: 0 });
  expect(totals.sent + totals.uncertain).toBe(n);
  expect((await readCampaign(from, id)).status).toBe("sent");
}

test("a second request after a crash starts the campaign, or finds it sending", async () => {
  const from = await createCampaignSender();
  const ids = await insertListMembers(from, 3);
  const steps = await crashAtSomeSteps(async (crash) => {
    const { id } = await createDraft(from);
    await crash(() => state.sendNow(from.caller, id));
    await readConsistentNumbers(from, id);
    await state
      .sendNow(from.caller, id)
      .catch((error) => expect(error).toMatchObject({ code: "campaign_status" }));
    from.provider.mails.length = 0;
    await expectAllSent(from, id, ids.length);
    expect(expectNoDuplicates(from)).toHaveLength(ids.length);
  });
  expect(steps.length).toBeGreaterThan(15);
  await from.provider.stop();
});

const kinds = ["one mail", "variants and a rest"];
test.each(sampleOf(1, kinds, "fan-out"))(
  "after a crash of the fan-out at any step, each contact gets one mail: %s",
  async (kind) => {
    const from = await createCampaignSender();
    const ids = await insertListMembers(from, 16);
    const shard = await findShardWithContacts(from);
    const steps = await crashAtSomeSteps(async (crash) => {
      const { id } = await createDraft(
        from,
        kind === "one mail"
          ? {}
          : { abTest: { testPercent: 50, metric: "open_rate", durationMinutes: 10 } },
      );
      if (kind !== "one mail")
        for (const subject of ["A", "B"]) await createVariant(from, id, { subject });
      await state.sendNow(from.caller, id);
      await crash(() => fanOut.runFanOut(keyOf(from, id), shard));
      await readConsistentNumbers(from, id);
      from.provider.mails.length = 0;
      await expectAllSent(from, id, ids.length);
      expect(expectNoDuplicates(from)).toHaveLength(ids.length);
    });
    expect(steps.length).toBeGreaterThan(20);
    await from.provider.stop();
  },
);

/** Runs the fan-out and the lanes until no message is left, without polling the campaign. */
const runFanOutAndLanes = (options = {}) => runWorkers(options, [fanOutWorker, laneWorker]);

describe("a crash of the poll", () => {
  test("at the end of the campaign leaves it to the next poll, which ends it", async () => {
    const from = await createCampaignSender();
    const ids = await insertListMembers(from, 3);
    const steps = await crashAtSomeSteps(async (crash) => {
      const { id } = await createDraft(from);
      await state.sendNow(from.caller, id);
      await runFanOutAndLanes();
      from.provider.mails.length = 0;
      await crash(() => pollBroadcast(keyOf(from, id)));
      await readConsistentNumbers(from, id);
      await expectAllSent(from, id, ids.length);
    });
    expect(steps.length).toBeGreaterThan(10);
    await from.provider.stop();
  });

  test("while the winner is picked still gives the rest the winning variant", async () => {
    const from = await createCampaignSender();
    const ids = await insertListMembers(from, 5);
    const steps = await crashAtSomeSteps(async (crash) => {
      const { id } = await createDraft(from, {
        abTest: { testPercent: 50, metric: "click_rate", durationMinutes: 30 },
      });
      const [, second] = [
        await createVariant(from, id, { subject: "A" }),
        await createVariant(from, id, { subject: "B", weight: 60 }),
      ];
      await state.sendNow(from.caller, id);
      from.provider.mails.length = 0;
      await runWorkers({ forSeconds: 600 });
      const before = await readConsistentNumbers(from, id);
      expect(before.candidates).toBe(ids.length);
      expect(before.queued).toBe(ids.length - before.sent);
      clock.advanceClock(1900);
      await crash(() => pollBroadcast(keyOf(from, id)));
      await readConsistentNumbers(from, id);
      await expectAllSent(from, id, ids.length);
      // With so few contacts, all of them may be in the test, and then no winner is needed.
      const results = expect.arrayContaining([
        expect.objectContaining({ variantId: second.id, rate: 0 }),
      ]);
      const decision = { decidedAt: expect.any(String), decidedEarly: false, certainty: 0 };
      const winner = before.queued
        ? { variantId: second.id, reason: "no_data", ...decision, results }
        : null;
      expect((await readCampaign(from, id)).winner).toEqual(winner);
      const mails = expectNoDuplicates(from);
      expect(mails).toHaveLength(ids.length);
      expect(mails.filter(({ subject }) => subject === "B").length).toBeGreaterThanOrEqual(
        before.queued,
      );
    });
    expect(steps.length).toBeGreaterThan(30);
    await from.provider.stop();
  });
});

/**
 * Starts a campaign and stops halfway: a part of the mail is sent, a part is queued, and the
 * fan-out has not read the last shards.
 */
async function startHalfway(from: CampaignSender): Promise<number> {
  const { id } = await createDraft(from);
  await state.sendNow(from.caller, id);
  from.provider.mails.length = 0;
  for (const shard of emailShards.slice(0, 6)) await fanOut.runFanOut(keyOf(from, id), shard);
  await runWorkers({}, [laneWorker]);
  for (const shard of emailShards.slice(6, 12)) await fanOut.runFanOut(keyOf(from, id), shard);
  return id;
}

test.each(sampleOf(1, ["cancel", "poll"], "cancellation"))(
  "after a crash while a campaign is cancelled, no more mail goes and all mail is counted (%s)",
  async (moment) => {
    const from = await createCampaignSender();
    await insertListMembers(from, 24);
    const steps = await crashAtSomeSteps(async (crash) => {
      const id = await startHalfway(from);
      if (moment === "cancel") await crash(() => state.cancel(from.caller, id));
      expect(await state.cancel(from.caller, id)).toMatchObject({ status: "cancelled" });
      const sentCount = from.provider.mails.length;
      if (moment === "poll") await crash(() => pollBroadcast(keyOf(from, id)));
      await readConsistentNumbers(from, id);
      await runWorkers(anHour);
      const totals = await readConsistentNumbers(from, id);
      expect(totals).toMatchObject({
        sent: sentCount,
        queued: 0,
        sending: 0,
        cancelled: totals.accepted - sentCount,
      });
      expect(expectNoDuplicates(from)).toHaveLength(sentCount);
      expect(await readCampaign(from, id)).toMatchObject({
        status: "cancelled",
        finishedAt: expect.any(String),
      });
    });
    expect(steps.length).toBeGreaterThan(3);
    await from.provider.stop();
  },
);

/** The crashed request may have changed the status before it crashed. */
const expectStatus = (status: string) => (error: unknown) =>
  expect(error).toMatchObject({
    kind: "conflict",
    message: expect.stringContaining(`The campaign is ${status}:`),
  });
const [expectPaused, expectSending] = [expectStatus("paused"), expectStatus("sending")];

test.each(sampleOf(1, ["pause", "resume"], "pause"))(
  "after a crash in pause or resume, a paused campaign sends nothing and later all get it (%s)",
  async (moment) => {
    const from = await createCampaignSender();
    const ids = await insertListMembers(from, 24);
    const steps = await crashAtSomeSteps(async (crash) => {
      const id = await startHalfway(from);
      if (moment === "pause") await crash(() => state.pause(from.caller, id));
      await state.pause(from.caller, id).catch(expectPaused);
      expect(await readCampaign(from, id)).toMatchObject({ status: "paused" });
      const sentCount = from.provider.mails.length;
      await runWorkers(anHour);
      expect((await readConsistentNumbers(from, id)).sent).toBe(sentCount);
      expect(from.provider.mails).toHaveLength(sentCount);
      if (moment === "resume") await crash(() => state.resume(from.caller, id));
      await state.resume(from.caller, id).catch(expectSending);
      await expectAllSent(from, id, ids.length);
      expect(expectNoDuplicates(from)).toHaveLength(ids.length);
    });
    expect(steps.length).toBeGreaterThan(3);
    await from.provider.stop();
  },
);

/** The mails of a day and, if it has ended since, of the next. */
async function readDaysSince(firstDay: string, { caller: { orgId }, siteId }: CampaignSender) {
  const dates = new Set([firstDay, await organizations.getToday(orgId)]);
  const days = await Promise.all([...dates].map((date) => readDayCounters(orgId, siteId, date)));
  const sum = (name: string) => days.reduce((n, { day }) => n + (day[name] ?? 0), 0);
  return { sent: sum("sent"), uncertain: sum("uncertain") };
}

test.each(["postmark", "resend"] as const)(
  "after a crash of its lane, a paused campaign and its days count every mail (%s)",
  async (provider) => {
    const steps = await crashAtSomeSteps(async (crash) => {
      const from = await createCampaignSender(provider);
      const ids = await insertListMembers(from, 6);
      const firstDay = await organizations.getToday(from.caller.orgId);
      const { id } = await createDraft(from);
      await state.sendNow(from.caller, id);
      for (const shard of emailShards) await fanOut.runFanOut(keyOf(from, id), shard);
      await crash(() => runLane(from.caller.orgId, from.configId));
      await state.pause(from.caller, id);
      await runWorkers({ forSeconds: 900 });
      const { sending, sent, uncertain } = await readConsistentNumbers(from, id);
      expect(sending).toBe(0);
      const days = await readDaysSince(firstDay, from);
      expect([days.sent, days.uncertain]).toEqual([sent, uncertain]);
      // A repeat with the same key completes the call, so no mail is uncertain.
      if (provider === "resend") expect(sent).toBe(from.provider.mails.length);
      await state.resume(from.caller, id);
      await expectAllSent(from, id, ids.length);
      expectNoDuplicates(from);
      await from.provider.stop();
    });
    expect(steps.length).toBeGreaterThan(10);
  },
);

// Like a process that is stopped and continued: its leases expire, other workers finish the
// campaign, and then the first worker continues.
describe("at a provider that can be asked", () => {
  /** A missing mail is looked up twice. */
  const twoHours = { forSeconds: 2 * 3600 };
  const createAskableSender = async () => {
    const from = await createCampaignSender("sparkpost");
    from.provider.searchDelaySeconds = 30;
    return from;
  };

  test("a campaign has no uncertain mail two hours after a crash of its lane, and none goes out twice", async () => {
    const from = await createAskableSender();
    const ids = await insertListMembers(from, 3);
    await crashAtSomeSteps(async (crash) => {
      const { id } = await createDraft(from);
      await state.sendNow(from.caller, id);
      from.provider.mails.length = 0;
      for (const shard of emailShards) await fanOut.runFanOut(keyOf(from, id), shard);
      await crash(() => runLane(from.caller.orgId, from.configId));
      await runWorkers(twoHours);
      const totals = await readConsistentNumbers(from, id);
      expect(totals).toMatchObject({ accepted: ids.length, sent: ids.length, uncertain: 0 });
      expect(expectNoDuplicates(from)).toHaveLength(ids.length);
      expect((await readCampaign(from, id)).status).toBe("sent");
    });
    await from.provider.stop();
  });

  test("a mail that the provider lacks does not go to a contact who has unsubscribed since", async () => {
    const from = await createAskableSender();
    const contact = await contacts.create(
      from.caller,
      NewContact.parse({ siteId: from.siteId, email: "ada@example.com", lists: [from.listId] }),
    );
    const { id } = await createDraft(from);
    from.provider.faultFor = () => "reset";
    await state.sendNow(from.caller, id);
    await runWorkers({ forSeconds: 60 });
    expect(await readConsistentNumbers(from, id)).toMatchObject({ accepted: 1, uncertain: 1 });
    from.provider.faultFor = () => undefined;
    await contacts.change(from.caller, contact.id, { status: "unsubscribed" });
    await runWorkers(twoHours);
    const totals = await readConsistentNumbers(from, id);
    expect(totals).toMatchObject({ candidates: 1, accepted: 0, uncertain: 0, unsubscribed: 1 });
    expect(from.provider.mails).toEqual([]);
    await from.provider.stop();
  });

  test("nor to a contact who unsubscribes while the mail is claimed", async () => {
    const from = await createAskableSender();
    const contact = await contacts.create(
      from.caller,
      NewContact.parse({ siteId: from.siteId, email: "ada@example.com", lists: [from.listId] }),
    );
    const { id } = await createDraft(from);
    from.provider.faultFor = () => "reset";
    await state.sendNow(from.caller, id);
    await runWorkers({ forSeconds: 60 });
    from.provider.faultFor = () => undefined;
    const claim = pauseCall("any", (input) => JSON.stringify(input).includes("firstClaimedAt"));
    const running = runWorkers(twoHours);
    await claim.reached;
    await contacts.change(from.caller, contact.id, { status: "unsubscribed" });
    claim.release();
    await running;
    removePauses();
    const totals = await readConsistentNumbers(from, id);
    expect(totals).toMatchObject({ candidates: 1, accepted: 0, uncertain: 0, unsubscribed: 1 });
    expect(from.provider.mails).toEqual([]);
    await from.provider.stop();
  });

  test.each([
    ["goes out once when it is resumed", "going", { sent: 1 }],
    ["is cancelled with it", "cancelled", { cancelled: 1 }],
  ] as const)(
    "a mail that the provider lacks waits while its campaign is paused for days, and %s",
    async (_, last, counted) => {
      const from = await createAskableSender();
      await insertListMembers(from, 1);
      const { id } = await createDraft(from);
      from.provider.faultFor = () => "reset";
      await state.sendNow(from.caller, id);
      await runWorkers({ forSeconds: 60 });
      from.provider.faultFor = () => undefined;
      const source = { kind: "campaign" as const, id };
      const setState = (to: sources.SourceState) =>
        write(sources.setSourceStateWrite(from.caller.orgId, source, to));
      await setState("paused");
      await runWorkers({ forSeconds: 80 * 3600 });
      expect(await readConsistentNumbers(from, id)).toMatchObject({ uncertain: 1 });
      expect(from.provider.searches.length).toBeLessThan(5);
      await setState(last);
      await runWorkers(twoHours);
      const totals = await readConsistentNumbers(from, id);
      expect(totals).toMatchObject({ accepted: 1, uncertain: 0, ...counted });
      expect(from.provider.mails).toHaveLength(last === "going" ? 1 : 0);
      await from.provider.stop();
    },
  );
});

describe("a worker that is paused past its lease", () => {
  const meanwhile = () => runWorkers({ forSeconds: 3600 });

  test.each(sampleOf(1, ["postmark", "resend"] as const, "lane"))(
    "in the lane at %s sends no mail twice, and the campaign ends",
    async (provider) => {
      const from = await createCampaignSender(provider);
      const ids = await insertListMembers(from, 6);
      const steps = await pausedAtSomeSteps(meanwhile, async (pause) => {
        const { id } = await createDraft(from);
        await state.sendNow(from.caller, id);
        from.provider.mails.length = 0;
        for (const shard of emailShards) await fanOut.runFanOut(keyOf(from, id), shard);
        await pause(() => runLane(from.caller.orgId, from.configId));
        await expectAllSent(from, id, ids.length);
        // Without idempotency keys, a claimed call must not be repeated: its mails are uncertain.
        const { sent, uncertain } = await readConsistentNumbers(from, id);
        if (provider === "resend") expect(uncertain).toBe(0);
        expect(expectNoDuplicates(from).length).toBeGreaterThanOrEqual(sent);
      });
      expect(steps.length).toBeGreaterThan(20);
      await from.provider.stop();
    },
  );

  test.each(sampleOf(1, kinds, "paused fan-out"))(
    "in the fan-out sends no mail twice, and the campaign ends: %s",
    async (kind) => {
      const from = await createCampaignSender();
      const ids = await insertListMembers(from, 16);
      const shard = await findShardWithContacts(from);
      await pausedAtSomeSteps(meanwhile, async (pause) => {
        const { id } = await createDraft(
          from,
          kind === "one mail"
            ? {}
            : { abTest: { testPercent: 50, metric: "open_rate", durationMinutes: 10 } },
        );
        if (kind !== "one mail")
          for (const subject of ["A", "B"]) await createVariant(from, id, { subject });
        await state.sendNow(from.caller, id);
        from.provider.mails.length = 0;
        await pause(() => fanOut.runFanOut(keyOf(from, id), shard));
        await expectAllSent(from, id, ids.length);
        expect(expectNoDuplicates(from)).toHaveLength(ids.length);
      });
      await from.provider.stop();
    },
  );

  test("while it queues suspended chunks sends no mail twice", async () => {
    const from = await createCampaignSender("resend");
    const ids = await insertListMembers(from, 16);
    let id = 0;
    const suspendAgain = async () => {
      await pollBroadcast(keyOf(from, id));
      from.provider.faultFor = ({ n }) =>
        n % 2 ? { status: 429, headers: { "retry-after": "30" } } : undefined;
      await runWorkers({ forSeconds: 5 }, [laneWorker]);
      from.provider.faultFor = () => undefined;
      await state.pause(from.caller, id).catch(() => {});
      await runWorkers({ forSeconds: 60 });
      await state.resume(from.caller, id).catch(() => {});
    };
    await pausedAtSomeSteps(suspendAgain, async (pause) => {
      id = await startHalfway(from);
      await state.pause(from.caller, id);
      await runWorkers({ forSeconds: 3 });
      await state.resume(from.caller, id);
      await pause(() => pollBroadcast(keyOf(from, id)));
      await expectAllSent(from, id, ids.length);
      expect(expectNoDuplicates(from)).toHaveLength(ids.length);
    });
    await from.provider.stop();
  });
});

test("negative counters raise an alarm with the figures, and are shown as 0", async () => {
  const from = await createCampaignSender();
  const { orgId } = from.caller;
  await insertListMembers(from, 8);
  const { id } = await createDraft(from);
  await state.sendNow(from.caller, id);
  await runFanOutAndLanes();
  const source = { kind: "campaign" as const, id };
  const countWrites = sources.addSourceCountWrites(orgId, 3, [
    { source, counts: { sent: 3, sending: -1 } },
  ]);
  await write(...countWrites);
  expect((await sources.getSourceTotals(orgId, source)).all).toMatchObject({
    queued: 0,
    sending: 0,
  });
  const entries: log.LogEntry[] = [];
  log.writeLogWith((entry) => entries.push(entry));
  await runWorkers({ forSeconds: 60 }).finally(() => log.writeLogWith(() => {}));
  expect(entries.find(({ level }) => level === "error")).toMatchObject({
    message: "negative counters",
    facts: { orgId, kind: "campaign", id, accepted: 8, queued: -2, sending: -1, sent: 11 },
  });
  await from.provider.stop();
});
