// Whoever dies over a campaign, at whatever step: everybody gets one mail, nobody is lost, and the numbers add up at every moment.
import { beforeAll, describe, expect, test, vi } from "vitest";
import { worker as fanOutWorker } from "../../functions/queue/fan-out.ts";
import { worker as laneWorker } from "../../functions/queue/lane.ts";
import * as clock from "../../shared/clock.ts";
import * as fanOut from "../../shared/domain/broadcasts/fan-out.ts";
import { step } from "../../shared/domain/broadcasts/step.ts";
import * as state from "../../shared/domain/campaigns/state.ts";
import * as reader from "../../shared/domain/contacts/reader.ts";
import { shards } from "../../shared/keys.ts";
import { draft, look, numbers, onceEach, opened, people, type Shop, settle, shop, variant } from "../support/campaigners.ts";
import { atSomeSteps } from "../support/killer.ts";

// Hundreds of workers live and die here, perhaps beside other tests.
vi.setConfig({ testTimeout: 600_000 });
beforeAll(opened);

const keyOf = ({ caller: { orgId } }: Shop, id: number) => ({ orgId, kind: "campaign" as const, id });
const anHour = { forSeconds: 3600 };

async function ends(from: Shop, id: number, n: number): Promise<void> {
  await settle(anHour);
  const told = await numbers(from, id);
  expect(told).toMatchObject({ candidates: n, accepted: n, queued: 0, sending: 0 });
  expect(told.sent + told.uncertain).toBe(n);
  expect((await look(from, id)).status).toBe("sent");
}

test("over its start: who asks again learns that it is sending, and it is", async () => {
  const from = await shop();
  const ids = await people(from, 3);
  const steps = await atSomeSteps(6, async (kill) => {
    const { id } = await draft(from);
    await kill(() => state.send(from.caller, id));
    await numbers(from, id);
    await state.send(from.caller, id).catch((error) => expect(error).toMatchObject({ code: "campaign_status" }));
    from.provider.mails.length = 0;
    await ends(from, id, ids.length);
    expect(onceEach(from)).toHaveLength(ids.length);
  });
  expect(steps.length).toBeGreaterThan(15);
  await from.provider.stop();
});

/** A collection in which there are contacts. */
async function somewhere({ caller: { orgId }, siteId }: Shop): Promise<string> {
  for (const shard of shards) for await (const { items } of reader.scan(orgId, siteId, shard)) if (items.length > 1) return shard;
  throw new Error("There is nobody");
}

test.each(["one mail", "variants and a rest"])("over reaching a collection: %s", async (kind) => {
  const from = await shop();
  const ids = await people(from, 16);
  const shard = await somewhere(from);
  const steps = await atSomeSteps(6, async (kill) => {
    const { id } = await draft(from, kind === "one mail" ? {} : { abTest: { testPercent: 50, metric: "open_rate", durationMinutes: 10 } });
    if (kind !== "one mail") for (const subject of ["A", "B"]) await variant(from, id, { subject });
    await state.send(from.caller, id);
    await kill(() => fanOut.run(keyOf(from, id), shard));
    await numbers(from, id);
    from.provider.mails.length = 0;
    await ends(from, id, ids.length);
    expect(onceEach(from)).toHaveLength(ids.length);
  });
  expect(steps.length).toBeGreaterThan(20);
  await from.provider.stop();
});

/** All that was let in is handed over, or waits for the machine. */
const reached = (options = {}) => settle(options, [fanOutWorker, laneWorker]);

describe("over looking after it", () => {
  test("at its end", async () => {
    const from = await shop();
    const ids = await people(from, 3);
    const steps = await atSomeSteps(6, async (kill) => {
      const { id } = await draft(from);
      await state.send(from.caller, id);
      await reached();
      from.provider.mails.length = 0;
      await kill(() => step(keyOf(from, id)));
      await numbers(from, id);
      await ends(from, id, ids.length);
    });
    expect(steps.length).toBeGreaterThan(10);
    await from.provider.stop();
  });

  test("when the winner is picked, and the rest gets it", async () => {
    const from = await shop();
    const ids = await people(from, 5);
    const steps = await atSomeSteps(6, async (kill) => {
      const { id } = await draft(from, { abTest: { testPercent: 50, metric: "click_rate", durationMinutes: 30 } });
      const [, second] = [await variant(from, id, { subject: "A" }), await variant(from, id, { subject: "B", weight: 60 })];
      await state.send(from.caller, id);
      from.provider.mails.length = 0;
      await settle({ forSeconds: 600 });
      const before = await numbers(from, id);
      expect(before.candidates).toBe(ids.length);
      expect(before.queued).toBe(ids.length - before.sent);
      clock.advance(1900);
      await kill(() => step(keyOf(from, id)));
      await numbers(from, id);
      await ends(from, id, ids.length);
      // So few may all have been in the test: then nobody waits for a winner.
      const results = expect.arrayContaining([expect.objectContaining({ variantId: second.id, rate: 0 })]);
      const winner = before.queued ? { variantId: second.id, reason: "no_data", decidedAt: expect.any(String), results } : null;
      expect((await look(from, id)).winner).toEqual(winner);
      const mails = onceEach(from);
      expect(mails).toHaveLength(ids.length);
      expect(mails.filter(({ subject }) => subject === "B").length).toBeGreaterThanOrEqual(before.queued);
    });
    expect(steps.length).toBeGreaterThan(30);
    await from.provider.stop();
  });
});

/** Some have their mail, some wait in the lane, some have not been reached. */
async function halfway(from: Shop): Promise<number> {
  const { id } = await draft(from);
  await state.send(from.caller, id);
  from.provider.mails.length = 0;
  for (const shard of shards.slice(0, 6)) await fanOut.run(keyOf(from, id), shard);
  await settle({}, [laneWorker]);
  for (const shard of shards.slice(6, 12)) await fanOut.run(keyOf(from, id), shard);
  return id;
}

test.each(["cancel", "look"])("over cancelling it: nothing more goes, and all is accounted for (%s)", async (moment) => {
  const from = await shop();
  await people(from, 24);
  const steps = await atSomeSteps(6, async (kill) => {
    const id = await halfway(from);
    if (moment === "cancel") await kill(() => state.cancel(from.caller, id));
    expect(await state.cancel(from.caller, id)).toMatchObject({ status: "cancelled" });
    const gone = from.provider.mails.length;
    if (moment === "look") await kill(() => step(keyOf(from, id)));
    await numbers(from, id);
    await settle(anHour);
    const told = await numbers(from, id);
    expect(told).toMatchObject({ sent: gone, queued: 0, sending: 0, cancelled: told.accepted - gone });
    expect(onceEach(from)).toHaveLength(gone);
    expect(await look(from, id)).toMatchObject({ status: "cancelled", finishedAt: expect.any(String) });
  });
  expect(steps.length).toBeGreaterThan(3);
  await from.provider.stop();
});

test.each(["pause", "resume"])("over a pause: nothing goes while it lasts, and everybody has it in the end (%s)", async (moment) => {
  const from = await shop();
  const ids = await people(from, 24);
  const steps = await atSomeSteps(6, async (kill) => {
    const id = await halfway(from);
    if (moment === "pause") await kill(() => state.pause(from.caller, id));
    expect(await state.pause(from.caller, id)).toMatchObject({ status: "paused" });
    const gone = from.provider.mails.length;
    await settle(anHour);
    expect((await numbers(from, id)).sent).toBe(gone);
    expect(from.provider.mails).toHaveLength(gone);
    if (moment === "resume") await kill(() => state.resume(from.caller, id));
    await state.resume(from.caller, id);
    await ends(from, id, ids.length);
    expect(onceEach(from)).toHaveLength(ids.length);
  });
  expect(steps.length).toBeGreaterThan(3);
  await from.provider.stop();
});
