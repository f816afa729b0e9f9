// Assistants: further runners that hand over chunks of the same lane.
import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import {
  get,
  put,
  queryAll,
  remove,
  update,
  write,
  writeMany,
} from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import type { ChunkHandOver } from "../../shared/domain/sending/bulk/hand-over.ts";
import * as laneRunner from "../../shared/domain/sending/bulk/lane-runner.ts";
import * as lanes from "../../shared/domain/sending/bulk/lanes.ts";
import { keys, ranges } from "../../shared/keys.ts";
import * as mailTest from "../support/sending.ts";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(mailTest.useOwnTableAndQueues);
beforeEach(() => void mailTest.pendingMessages.splice(0));

/** Adds entries of chunks to the lane. The chunks themselves are not needed. */
async function enqueueChunks(from: mailTest.TestSender, n: number): Promise<void> {
  const { orgId } = from.caller;
  const chunks = Array.from({ length: n }, (_, i) => ({
    block: i + 1,
    chunk: 0,
    n: 1,
    siteId: from.siteId,
    at: clock.addSeconds(-60).toISOString(),
    source: { kind: "campaign" as const, id: 1 },
    configId: from.configId,
  }));
  await writeMany(
    chunks.map((chunk) => put(lanes.queuedChunkKey(orgId, from.configId, chunk), chunk)),
  );
  await lanes.announceArrival(orgId, from.configId);
  mailTest.pendingMessages.splice(0);
}

/** Removes the chunk, as if the provider had accepted it. Records its block. */
const createHandOver =
  (blocks: number[], gate?: () => Promise<unknown> | undefined) =>
  async ({ queued: { pk, sk, block }, runner }: ChunkHandOver): Promise<lanes.LaneRunResult> => {
    blocks.push(block);
    runner.calls.widen();
    await gate?.();
    await write(remove({ pk, sk }));
    return { done: true, hasProgress: true };
  };

const lane = ({ caller, configId }: mailTest.TestSender) =>
  get<lanes.LaneState>(keys.lane(caller.orgId, configId));
const findAssists = () => mailTest.pendingMessages.find(({ body }) => body.assists)?.body.assists;

test("while many chunks wait, there is an assistant, and each chunk has one runner", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  await enqueueChunks(from, 150);
  const [ofRunner, ofAssistant]: [number[], number[]] = [[], []];
  const assistantIsDone = Promise.withResolvers<void>();
  // Once an assistant is woken, the runner keeps its chunks until the assistant has the others.
  const gate = () => (findAssists() ? assistantIsDone.promise : undefined);
  const running = laneRunner.runLane(orgId, from.configId, createHandOver(ofRunner, gate));
  while (!findAssists()) await clock.sleep(5);
  const assists = findAssists()!;
  expect(assists).toEqual({ owner: (await lane(from))!.owner, place: 1 });
  await laneRunner.assistLane(orgId, from.configId, {
    ...assists,
    handOver: createHandOver(ofAssistant),
  });
  assistantIsDone.resolve();
  await running;
  expect(ofAssistant.length).toBeGreaterThan(32);
  expect([...ofRunner, ...ofAssistant].sort((a, b) => a - b)).toEqual(
    Array.from({ length: 150 }, (_, i) => i + 1),
  );
  expect(await lane(from)).not.toHaveProperty("assistant1");
  await from.provider.stop();
});

test("a chunk that is done while its runner reads the queue is not handed over again", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  await enqueueChunks(from, 3);
  const blocks: number[] = [];
  const answer = Promise.withResolvers<void>();
  await mailTest.whenLaneIsRead(
    (items) => items.length === 3 && blocks.length === 3,
    async () => {
      answer.resolve();
      const chunks = ranges.queuedChunks(orgId, from.configId);
      while ((await queryAll(chunks, { consistent: true })).length) await clock.sleep(5);
      await clock.sleep(20);
    },
    () =>
      laneRunner.runLane(
        orgId,
        from.configId,
        createHandOver(blocks, () => answer.promise),
      ),
  );
  expect(blocks).toEqual([1, 2, 3]);
  await from.provider.stop();
});

test("no assistant is woken when the config has a rate or few chunks wait", async () => {
  const limited = await mailTest.createSender("postmark", { ratePerSecond: 1000 });
  await enqueueChunks(limited, 150);
  await laneRunner.runLane(limited.caller.orgId, limited.configId, createHandOver([]));
  const from = await mailTest.createSender("postmark");
  await enqueueChunks(from, 30);
  await laneRunner.runLane(from.caller.orgId, from.configId, createHandOver([]));
  expect(findAssists()).toBeUndefined();
  await limited.provider.stop();
  await from.provider.stop();
});

test("an assistant ends without its runner, or if the provider fails", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  await enqueueChunks(from, 3);
  const key = keys.lane(orgId, from.configId);
  const blocks: number[] = [];
  const assist = () =>
    laneRunner.assistLane(orgId, from.configId, {
      owner: "runner",
      place: 1,
      handOver: createHandOver(blocks),
    });
  await assist();
  await write(update(key, { set: { owner: "another runner" } }));
  await assist();
  const lease = clock.addSeconds(100).toISOString();
  await write(
    update(key, { set: { owner: "runner", assistant1: "elsewhere", assistantLease1: lease } }),
  );
  await assist();
  await write(
    update(key, {
      set: { heldSince: clock.now().toISOString() },
      remove: ["assistant1", "assistantLease1"],
    }),
  );
  await assist();
  expect(blocks).toEqual([]);
  expect(await lane(from)).not.toHaveProperty("assistant1");
  await write(update(key, { remove: ["heldSince"] }));
  await assist();
  expect(blocks).toEqual([1, 2, 3]);
  await from.provider.stop();
});

test("chunks of an assistant that died are handed over when its leases are over", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  await enqueueChunks(from, 3);
  const [, second] = await queryAll<lanes.QueuedChunk>(ranges.queuedChunks(orgId, from.configId));
  const died = { owner: "died", end: clock.addSeconds(lanes.leaseSeconds) };
  expect(await lanes.leaseChunk(second!, died)).toBe(true);
  expect(await lanes.leaseChunk(second!, { ...died, owner: "other" })).toBe(false);
  const blocks: number[] = [];
  await laneRunner.runLane(orgId, from.configId, createHandOver(blocks));
  expect(blocks).toEqual([1, 3]);
  clock.advanceClock(lanes.leaseSeconds + 1);
  await laneRunner.runLane(orgId, from.configId, createHandOver(blocks));
  expect(blocks).toEqual([1, 3, 2]);
  await from.provider.stop();
});

test("a failure of one runner stops the others; the next run tries one chunk", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  await enqueueChunks(from, 40);
  await write(update(keys.lane(orgId, from.configId), { set: { owner: "runner" } }));
  const failing: number[] = [];
  await laneRunner.assistLane(orgId, from.configId, {
    owner: "runner",
    place: 2,
    handOver: async ({ queued: { block } }) => {
      failing.push(block);
      return {
        done: false,
        hasProgress: false,
        delay: { reason: "fault", seconds: 1, isNamed: false },
      };
    },
  });
  expect(failing.length).toBeGreaterThanOrEqual(1);
  expect(await lane(from)).toMatchObject({ faults: 1, heldSince: expect.any(String) });
  expect(await lane(from)).not.toHaveProperty("assistant2");
  // The message for the end of the pause.
  expect(mailTest.pendingMessages).toHaveLength(1);
  await write(update(keys.lane(orgId, from.configId), { remove: ["owner"] }));
  clock.advanceClock(3);
  const first: number[] = [];
  let side = 0;
  await laneRunner.runLane(orgId, from.configId, async (chunk) => {
    if (!first.length) {
      first.push(chunk.queued.block);
      await clock.sleep(30);
      expect(side).toBe(0);
      return createHandOver([])(chunk);
    }
    side++;
    return createHandOver([])(chunk);
  });
  expect(side).toBe(39);
  await from.provider.stop();
});
