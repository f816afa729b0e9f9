// Whoever dies over a campaign, at whatever step: everybody gets one mail, nobody is lost, and the
// numbers add up at every moment.
import { beforeAll, describe, expect, test, vi } from "vitest";
import { worker as fanOutWorker } from "../../functions/queue/fan-out.ts";
import { worker as laneWorker } from "../../functions/queue/lane.ts";
import { write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as reader from "../../shared/domain/audience/contacts/contact-reader.ts";
import * as state from "../../shared/domain/campaigns/campaign-actions.ts";
import * as fanOut from "../../shared/domain/campaigns/engine/fan-out.ts";
import { pollBroadcast } from "../../shared/domain/campaigns/engine/poll-broadcast.ts";
import * as sources from "../../shared/domain/sending/mail-sources.ts";
import { emailShards } from "../../shared/keys.ts";
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
import { crashAtSomeSteps, pausedAtSomeSteps } from "../support/crash-injection.ts";
import { sampleOf } from "../support/seeded-random.ts";
import { runLane } from "../support/sending.ts";

// Hundreds of workers live and die here, perhaps beside other tests.
vi.setConfig({ testTimeout: 600_000 });
beforeAll(useVirtualQueues);

const keyOf = ({ caller: { orgId } }: CampaignSender, id: number) => ({
  orgId,
  kind: "campaign" as const,
  id,
});
const anHour = { forSeconds: 3600 };

async function ends(from: CampaignSender, id: number, n: number): Promise<void> {
  await runWorkers(anHour);
  const told = await readConsistentNumbers(from, id);
  expect(told).toMatchObject({ candidates: n, accepted: n, queued: 0, sending: 0 });
  expect(told.sent + told.uncertain).toBe(n);
  expect((await readCampaign(from, id)).status).toBe("sent");
}

test("over its start: who asks again learns that it is sending, and it is", async () => {
  const from = await createCampaignSender();
  const ids = await insertListMembers(from, 3);
  const steps = await crashAtSomeSteps(async (kill) => {
    const { id } = await createDraft(from);
    await kill(() => state.sendNow(from.caller, id));
    await readConsistentNumbers(from, id);
    await state
      .sendNow(from.caller, id)
      .catch((error) => expect(error).toMatchObject({ code: "campaign_status" }));
    from.provider.mails.length = 0;
    await ends(from, id, ids.length);
    expect(expectNoDuplicates(from)).toHaveLength(ids.length);
  });
  expect(steps.length).toBeGreaterThan(15);
  await from.provider.stop();
});

/** A collection in which there are contacts. */
async function somewhere({ caller: { orgId }, siteId }: CampaignSender): Promise<string> {
  for (const shard of emailShards)
    for await (const { items } of reader.readShard({ orgId, siteId }, shard))
      if (items.length > 1) return shard;
  throw new Error("There is nobody");
}

const kinds = ["one mail", "variants and a rest"];
test.each(sampleOf(1, kinds, "fan-out"))("over reaching a collection: %s", async (kind) => {
  const from = await createCampaignSender();
  const ids = await insertListMembers(from, 16);
  const shard = await somewhere(from);
  const steps = await crashAtSomeSteps(async (kill) => {
    const { id } = await createDraft(
      from,
      kind === "one mail"
        ? {}
        : { abTest: { testPercent: 50, metric: "open_rate", durationMinutes: 10 } },
    );
    if (kind !== "one mail")
      for (const subject of ["A", "B"]) await createVariant(from, id, { subject });
    await state.sendNow(from.caller, id);
    await kill(() => fanOut.runFanOut(keyOf(from, id), shard));
    await readConsistentNumbers(from, id);
    from.provider.mails.length = 0;
    await ends(from, id, ids.length);
    expect(expectNoDuplicates(from)).toHaveLength(ids.length);
  });
  expect(steps.length).toBeGreaterThan(20);
  await from.provider.stop();
});

/** All that was let in is handed over, or waits for the machine. */
const reached = (options = {}) => runWorkers(options, [fanOutWorker, laneWorker]);

describe("over looking after it", () => {
  test("at its end", async () => {
    const from = await createCampaignSender();
    const ids = await insertListMembers(from, 3);
    const steps = await crashAtSomeSteps(async (kill) => {
      const { id } = await createDraft(from);
      await state.sendNow(from.caller, id);
      await reached();
      from.provider.mails.length = 0;
      await kill(() => pollBroadcast(keyOf(from, id)));
      await readConsistentNumbers(from, id);
      await ends(from, id, ids.length);
    });
    expect(steps.length).toBeGreaterThan(10);
    await from.provider.stop();
  });

  test("when the winner is picked, and the rest gets it", async () => {
    const from = await createCampaignSender();
    const ids = await insertListMembers(from, 5);
    const steps = await crashAtSomeSteps(async (kill) => {
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
      await kill(() => pollBroadcast(keyOf(from, id)));
      await readConsistentNumbers(from, id);
      await ends(from, id, ids.length);
      // So few may all have been in the test: then nobody waits for a winner.
      const results = expect.arrayContaining([
        expect.objectContaining({ variantId: second.id, rate: 0 }),
      ]);
      const winner = before.queued
        ? { variantId: second.id, reason: "no_data", decidedAt: expect.any(String), results }
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

/** Some have their mail, some wait in the lane, some have not been reached. */
async function halfway(from: CampaignSender): Promise<number> {
  const { id } = await createDraft(from);
  await state.sendNow(from.caller, id);
  from.provider.mails.length = 0;
  for (const shard of emailShards.slice(0, 6)) await fanOut.runFanOut(keyOf(from, id), shard);
  await runWorkers({}, [laneWorker]);
  for (const shard of emailShards.slice(6, 12)) await fanOut.runFanOut(keyOf(from, id), shard);
  return id;
}

test.each(sampleOf(1, ["cancel", "look"], "cancellation"))(
  "over cancelling it: nothing more goes, and all is accounted for (%s)",
  async (moment) => {
    const from = await createCampaignSender();
    await insertListMembers(from, 24);
    const steps = await crashAtSomeSteps(async (kill) => {
      const id = await halfway(from);
      if (moment === "cancel") await kill(() => state.cancel(from.caller, id));
      expect(await state.cancel(from.caller, id)).toMatchObject({ status: "cancelled" });
      const gone = from.provider.mails.length;
      if (moment === "look") await kill(() => pollBroadcast(keyOf(from, id)));
      await readConsistentNumbers(from, id);
      await runWorkers(anHour);
      const told = await readConsistentNumbers(from, id);
      expect(told).toMatchObject({
        sent: gone,
        queued: 0,
        sending: 0,
        cancelled: told.accepted - gone,
      });
      expect(expectNoDuplicates(from)).toHaveLength(gone);
      expect(await readCampaign(from, id)).toMatchObject({
        status: "cancelled",
        finishedAt: expect.any(String),
      });
    });
    expect(steps.length).toBeGreaterThan(3);
    await from.provider.stop();
  },
);

/** The dead request may have changed the state before it died. */
const ifAlready = (status: string) => (error: unknown) =>
  expect(error).toMatchObject({
    kind: "conflict",
    message: expect.stringContaining(`The campaign is ${status}:`),
  });
const [ifPausedAlready, ifGoingAlready] = [ifAlready("paused"), ifAlready("sending")];

test.each(sampleOf(1, ["pause", "resume"], "pause"))(
  "over a pause: nothing goes while it lasts, and everybody has it in the end (%s)",
  async (moment) => {
    const from = await createCampaignSender();
    const ids = await insertListMembers(from, 24);
    const steps = await crashAtSomeSteps(async (kill) => {
      const id = await halfway(from);
      if (moment === "pause") await kill(() => state.pause(from.caller, id));
      await state.pause(from.caller, id).catch(ifPausedAlready);
      expect(await readCampaign(from, id)).toMatchObject({ status: "paused" });
      const gone = from.provider.mails.length;
      await runWorkers(anHour);
      expect((await readConsistentNumbers(from, id)).sent).toBe(gone);
      expect(from.provider.mails).toHaveLength(gone);
      if (moment === "resume") await kill(() => state.resume(from.caller, id));
      await state.resume(from.caller, id).catch(ifGoingAlready);
      await ends(from, id, ids.length);
      expect(expectNoDuplicates(from)).toHaveLength(ids.length);
    });
    expect(steps.length).toBeGreaterThan(3);
    await from.provider.stop();
  },
);

// As a process that is stopped and continued: its leases end, others finish the campaign, and then
// it goes on where it was.
describe("a worker that stands still past its lease and then goes on", () => {
  const meanwhile = () => runWorkers({ forSeconds: 3600 });

  test.each(sampleOf(1, ["postmark", "resend"] as const, "lane"))(
    "in its lane at %s mails nobody twice, and the campaign ends",
    async (provider) => {
      const from = await createCampaignSender(provider);
      const ids = await insertListMembers(from, 6);
      const steps = await pausedAtSomeSteps(meanwhile, async (pause) => {
        const { id } = await createDraft(from);
        await state.sendNow(from.caller, id);
        from.provider.mails.length = 0;
        for (const one of emailShards) await fanOut.runFanOut(keyOf(from, id), one);
        await pause(() => runLane(from.caller.orgId, from.configId));
        await ends(from, id, ids.length);
        // Without idempotency keys a call that was claimed may not be made again: its mails are
        // uncertain.
        const { sent, uncertain } = await readConsistentNumbers(from, id);
        if (provider === "resend") expect(uncertain).toBe(0);
        expect(expectNoDuplicates(from).length).toBeGreaterThanOrEqual(sent);
      });
      expect(steps.length).toBeGreaterThan(20);
      await from.provider.stop();
    },
  );

  test.each(sampleOf(1, kinds, "paused fan-out"))(
    "while it reaches a collection mails nobody twice, and the campaign ends: %s",
    async (kind) => {
      const from = await createCampaignSender();
      const ids = await insertListMembers(from, 16);
      const shard = await somewhere(from);
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
        await ends(from, id, ids.length);
        expect(expectNoDuplicates(from)).toHaveLength(ids.length);
      });
      await from.provider.stop();
    },
  );

  test("while it lets in what was held back mails nobody twice, though it was handed over and held back again", async () => {
    const from = await createCampaignSender("resend");
    const ids = await insertListMembers(from, 16);
    let id = 0;
    const again = async () => {
      await pollBroadcast(keyOf(from, id));
      from.provider.faultFor = ({ n }) =>
        n % 2 ? { status: 429, headers: { "retry-after": "30" } } : undefined;
      await runWorkers({ forSeconds: 5 }, [laneWorker]);
      from.provider.faultFor = () => undefined;
      await state.pause(from.caller, id).catch(() => {});
      await runWorkers({ forSeconds: 60 });
      await state.resume(from.caller, id).catch(() => {});
    };
    await pausedAtSomeSteps(again, async (pause) => {
      id = await halfway(from);
      await state.pause(from.caller, id);
      await runWorkers({ forSeconds: 3 });
      await state.resume(from.caller, id);
      await pause(() => pollBroadcast(keyOf(from, id)));
      await ends(from, id, ids.length);
      expect(expectNoDuplicates(from)).toHaveLength(ids.length);
    });
    await from.provider.stop();
  });
});

test("counters that are negative, as an earlier version left them, are counted anew, and the campaign ends", async () => {
  const from = await createCampaignSender();
  const { orgId } = from.caller;
  const ids = await insertListMembers(from, 8);
  const { id } = await createDraft(from);
  await state.sendNow(from.caller, id);
  await reached();
  const source = { kind: "campaign" as const, id };
  await write(
    ...sources.addSourceCountWrites(orgId, 3, [{ source, counts: { sent: 3, sending: -1 } }]),
  );
  expect((await sources.getSourceTotals(orgId, source)).all).toMatchObject({
    queued: -2,
    sending: -1,
  });
  await ends(from, id, ids.length);
  expect(expectNoDuplicates(from)).toHaveLength(ids.length);
  await from.provider.stop();
});
