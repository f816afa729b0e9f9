// Frequent single sends have no entries on the due index: a share of the account watches over them.
// A worker crashes or is paused at any step: no mail is lost, and none goes out twice.

import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { DynamoDbClient } from "../../shared/adapters/dynamodb/client.ts";
import { get, queryAll } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { installDirectHandOver } from "../../shared/domain/sending/intake/direct-hand-over.ts";
import { listCommittedRuns } from "../../shared/domain/sending/outcome-runs.ts";
import type { SingleSendItem } from "../../shared/domain/sending/single-send-item.ts";
import * as singles from "../../shared/domain/sending/single-sends.ts";
import { sweepSends } from "../../shared/domain/sending/sweep-sends.ts";
import { counterShards, keys, ranges } from "../../shared/keys.ts";
import { crashAtSomeSteps, pausedAtSomeSteps } from "../support/crash-injection.ts";
import { readDueIndex } from "../support/due-index.ts";
import * as mailTest from "../support/sending.ts";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(mailTest.useOwnTableAndQueues);

const sendOne = async (from: mailTest.TestSender): Promise<number> =>
  (await mailTest.send(from, { to: mailTest.uniqueRecipients(1)[0]!.to })).id;

/** Accepts a send shortly after another one, so that a share watches over it. */
async function sendWatched(from: mailTest.TestSender): Promise<number> {
  await sendOne(from);
  return sendOne(from);
}

const readSend = ({ caller }: mailTest.TestSender, id: number) =>
  get<SingleSendItem>(keys.send(caller.orgId, id));
const dueKeys = async ({ caller }: mailTest.TestSender) =>
  (await readDueIndex()).filter(({ pk }) => pk.startsWith(`${caller.orgId}#`)).map(({ sk }) => sk);
const isSweepDone = async (from: mailTest.TestSender) =>
  (await dueKeys(from)).every((sk) => !sk.startsWith("SHARE#"));

test("only the first send in a while has an entry on the due index", async () => {
  const from = await mailTest.createSender("postmark");
  const first = await sendOne(from);
  const second = await sendOne(from);
  expect((await readSend(from, first))!.duesk).toBeDefined();
  expect((await readSend(from, second))!.duesk).toBeUndefined();
  expect((await dueKeys(from)).filter((sk) => sk.startsWith("SHARE#"))).toHaveLength(1);
  await mailTest.runWorkers();
  expect(await dueKeys(from)).toEqual(
    expect.not.arrayContaining([expect.stringMatching("SHARE#")]),
  );
  clock.advanceClock(60);
  expect((await readSend(from, await sendOne(from)))!.duesk).toBeDefined();
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, [first, second])).toEqual({ sent: 3 });
  await from.provider.stop();
});

test("sends whose queue messages are lost are sent when the share is swept", async () => {
  const from = await mailTest.createSender("postmark");
  const ids: number[] = [];
  for (let i = 0; i < 5; i++) ids.push(await sendOne(from));
  ids.push(...(await Promise.all(counterShards.map(() => sendOne(from)))));
  mailTest.pendingMessages.length = 0;
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: ids.length });
  expect(await isSweepDone(from)).toBe(true);
  await from.provider.stop();
});

test("the watch continues while there are new sends", async () => {
  const from = await mailTest.createSender("postmark");
  const ids = [await sendWatched(from)];
  for (let i = 0; i < 4; i++) {
    clock.advanceClock(10);
    ids.push(await sendOne(from));
    clock.advanceClock(110);
    ids.push(await sendOne(from));
    mailTest.pendingMessages.length = 0;
    await mailTest.runWorkers({ forSeconds: 1 });
  }
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, ids)).toMatchObject({ sent: 10 });
  expect(await isSweepDone(from)).toBe(true);
  await from.provider.stop();
});

test("an acceptance that is paused while its share is swept loses no send", async () => {
  const from = await mailTest.createSender("postmark");
  const steps = await pausedAtSomeSteps(
    async () => {
      await sendWatched(from);
      const [shard] = await watchingShards(from);
      await sweepSends(from.caller.orgId, shard!);
    },
    async (pause) => {
      await sendWatched(from);
      let id = 0;
      await pause(async () => {
        id = await sendOne(from);
      });
      // The process dies before it enqueues the send.
      mailTest.pendingMessages.length = 0;
      await mailTest.runWorkers();
      await mailTest.expectBalanced(from, [id]);
    },
  );
  expect(steps.length).toBeGreaterThan(4);
  await from.provider.stop();
});

test("after a crash of the sweep, the next one finds the sends", async () => {
  const from = await mailTest.createSender("postmark");
  const steps = await crashAtSomeSteps(async (crash) => {
    const id = await sendWatched(from);
    mailTest.pendingMessages.length = 0;
    clock.advanceClock(300);
    const [shard] = await watchingShards(from);
    await crash(() => sweepSends(from.caller.orgId, shard!));
    await mailTest.runWorkers();
    await mailTest.expectBalanced(from, [id]);
  });
  expect(steps.length).toBeGreaterThan(4);
  await from.provider.stop();
});

test("a sweep that is paused while sends are accepted and swept loses none", async () => {
  const from = await mailTest.createSender("postmark");
  const accepted: number[] = [];
  await pausedAtSomeSteps(
    async () => {
      accepted.push(await sendWatched(from));
      mailTest.pendingMessages.length = 0;
    },
    async (pause) => {
      accepted.push(await sendWatched(from));
      mailTest.pendingMessages.length = 0;
      clock.advanceClock(300);
      const [shard] = await watchingShards(from);
      await pause(() => sweepSends(from.caller.orgId, shard!));
      await mailTest.runWorkers();
      await mailTest.expectBalanced(from, accepted);
      expect(await isSweepDone(from)).toBe(true);
    },
  );
  await from.provider.stop();
});

const watchingShards = async ({ caller }: mailTest.TestSender): Promise<number[]> =>
  (await queryAll<{ sk: string; sweptTo?: string }>(ranges.accountShares(caller.orgId))).flatMap(
    ({ sk, sweptTo }) => (sweptTo ? [Number(sk.split("#")[1])] : []),
  );

test.each(["resend", "postmark"] as const)(
  "a crash during acceptance or hand-over of a watched send at %s loses and repeats no mail",
  async (key) => {
    const from = await mailTest.createSender(key);
    await crashAtSomeSteps(async (crash) => {
      await sendOne(from);
      let id: number | undefined;
      await crash(async () => {
        id = await sendOne(from);
        await singles.handOverSingle(from.caller.orgId, id);
      });
      mailTest.pendingMessages.length = 0;
      await mailTest.runWorkers();
      const { sent, uncertain, ...others } = await mailTest.expectBalanced(
        from,
        id === undefined ? [] : [id],
      );
      expect(others).toEqual({});
      if (key === "resend") expect(uncertain).toBeUndefined();
    });
    await from.provider.stop();
  },
);

describe("a process that hands over the watched sends that it accepts", () => {
  beforeEach(() => installDirectHandOver(singles.claimDirectly));
  afterEach(() => installDirectHandOver(undefined));

  async function acceptAndHandOver(from: mailTest.TestSender) {
    const id = await sendOne(from);
    await singles.finishDirectHandOvers();
    return id;
  }

  test.each(["resend", "postmark"] as const)(
    "loses and repeats no mail at %s when it crashes",
    async (key) => {
      const from = await mailTest.createSender(key);
      const steps = await crashAtSomeSteps(async (crash) => {
        await sendOne(from);
        await singles.finishDirectHandOvers();
        let id: number | undefined;
        await crash(async () => {
          id = await acceptAndHandOver(from);
        });
        await mailTest.runWorkers();
        const { sent, uncertain, ...others } = await mailTest.expectBalanced(
          from,
          id === undefined ? [] : [id],
        );
        expect(others).toEqual({});
        if (key === "resend") expect(uncertain).toBeUndefined();
      });
      expect(steps.length).toBeGreaterThan(7);
      await from.provider.stop();
    },
  );

  test.each(["resend", "postmark"] as const)(
    "sends no mail twice at %s when it is paused past its lease",
    async (key) => {
      const from = await mailTest.createSender(key);
      await pausedAtSomeSteps(
        () => mailTest.runWorkers(),
        async (pause) => {
          await sendOne(from);
          await singles.finishDirectHandOvers();
          await pause(() => acceptAndHandOver(from));
          await mailTest.runWorkers();
          await mailTest.expectBalanced(from, []);
        },
      );
      await from.provider.stop();
    },
  );

  // The first outcome of an organization in a second is counted alone, the others in a run.
  const sendThree = async (from: mailTest.TestSender) => {
    const ids = await Promise.all([sendOne(from), sendOne(from), sendOne(from)]);
    await singles.finishDirectHandOvers();
    return ids;
  };

  test("counts outcomes that follow each other in one transaction", async () => {
    const from = await mailTest.createSender("postmark");
    await sendWatched(from);
    const ids = await sendThree(from);
    const runs = new Set<string>();
    for (const id of ids) {
      const { run } = (await readSend(from, id))!;
      if (run) runs.add(run);
    }
    expect(runs.size).toBe(1);
    expect(await listCommittedRuns(from.caller.orgId, [...runs, "none"])).toEqual(runs);
    expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: 5 });
    await mailTest.runWorkers();
    expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: 5 });
    await from.provider.stop();
  });

  test("outcomes of a run that fails are counted when the share is swept", async () => {
    const from = await mailTest.createSender("postmark");
    await sendWatched(from);
    await singles.finishDirectHandOvers();
    const { prototype } = DynamoDbClient;
    const { send } = prototype;
    let failures = 0;
    prototype.send = async function (this: unknown, ...args: never[]) {
      const [{ input }] = args as unknown as [{ input: object }];
      if (JSON.stringify(input).includes("#RUN#") && failures++ === 0)
        throw new Error("No run commits");
      return Reflect.apply(send, this, args);
    } as typeof send;
    const ids = await sendThree(from).finally(() => {
      prototype.send = send;
    });
    expect(failures).toBe(1);
    await mailTest.runWorkers();
    expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: 5 });
    await from.provider.stop();
  });

  test("counts each outcome of a run once when it crashes", async () => {
    const from = await mailTest.createSender("resend");
    const steps = await crashAtSomeSteps(async (crash) => {
      await sendWatched(from);
      await singles.finishDirectHandOvers();
      await crash(() => sendThree(from));
      await mailTest.runWorkers();
      const { sent, ...others } = await mailTest.expectBalanced(from, []);
      expect(others).toEqual({});
    });
    expect(steps.length).toBeGreaterThan(15);
    await from.provider.stop();
  });

  test("counts each outcome of a run once when it is paused", async () => {
    const from = await mailTest.createSender("resend");
    await pausedAtSomeSteps(
      () => mailTest.runWorkers(),
      async (pause) => {
        await sendWatched(from);
        await singles.finishDirectHandOvers();
        await pause(() => sendThree(from));
        await mailTest.runWorkers();
        const { sent, ...others } = await mailTest.expectBalanced(from, []);
        expect(others).toEqual({});
      },
    );
    await from.provider.stop();
  });
});
