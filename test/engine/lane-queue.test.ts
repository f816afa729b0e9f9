// The chunks that a runner takes from its lane.
import { beforeAll, beforeEach, expect, test } from "vitest";
import {
  get,
  put,
  queryAll,
  remove,
  write,
  writeMany,
} from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import type { ChunkHandOver } from "../../shared/domain/sending/bulk/hand-over.ts";
import * as laneRunner from "../../shared/domain/sending/bulk/lane-runner.ts";
import * as lanes from "../../shared/domain/sending/bulk/lanes.ts";
import { queuedChunkKey } from "../../shared/domain/sending/bulk/queued-chunk.ts";
import type { HandOverResult } from "../../shared/domain/sending/bulk/runner.ts";
import { keys, ranges } from "../../shared/keys.ts";
import * as mailTest from "../support/sending.ts";

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
  await writeMany(chunks.map((chunk) => put(queuedChunkKey(orgId, from.configId, chunk), chunk)));
  await lanes.announceArrival(orgId, from.configId);
  mailTest.pendingMessages.splice(0);
}

/** Removes the chunk, as if the provider had accepted it. Records its block. */
const createHandOver =
  (blocks: number[], gate?: () => Promise<unknown>) =>
  async ({ queued: { pk, sk, block }, runner }: ChunkHandOver): Promise<HandOverResult> => {
    blocks.push(block);
    runner.calls.widen();
    await gate?.();
    await write(remove({ pk, sk }));
    return { done: true, hasProgress: true };
  };

const lane = ({ caller, configId }: mailTest.TestSender) =>
  get<lanes.LaneState>(keys.lane(caller.orgId, configId));

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

test("a failure ends the run; the next run tries one chunk first", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  await enqueueChunks(from, 40);
  const failing: number[] = [];
  await laneRunner.runLane(orgId, from.configId, async ({ queued: { block } }) => {
    failing.push(block);
    const delay = { reason: "fault" as const, seconds: 1, isNamed: false };
    return { done: false, hasProgress: false, delay };
  });
  expect([1, 2, 3, 4]).toContain(failing.length);
  expect(await lane(from)).toMatchObject({ faults: 1, heldSince: expect.any(String) });
  // The message for the end of the pause.
  expect(mailTest.pendingMessages).toHaveLength(1);
  clock.advanceClock(3);
  const first: number[] = [];
  let others = 0;
  await laneRunner.runLane(orgId, from.configId, async (chunk) => {
    if (!first.length) {
      first.push(chunk.queued.block);
      await clock.sleep(30);
      expect(others).toBe(0);
    } else others++;
    return createHandOver([])(chunk);
  });
  expect(others).toBe(39);
  await from.provider.stop();
});
