// A single send that goes out now has no entry on the due index. The window in which it was accepted
// has one, and its sweep finds what the queue has lost. A worker crashes or is paused at any step: no
// mail is lost, and none goes out twice.

import { randomBytes } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { get, queryAll } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import { handOverSingle } from "../../shared/domain/sending/single/hand-over.ts";
import type { SingleSendItem } from "../../shared/domain/sending/single/single-send-item.ts";
import { sweepWindow } from "../../shared/domain/sending/single/sweep-sends.ts";
import type { SweptWindow } from "../../shared/domain/sending/single/sweep-windows.ts";
import { type Key, keys } from "../../shared/keys.ts";
import { crashAtSomeSteps, pausedAtSomeSteps } from "../support/crash-injection.ts";
import { readDueIndex } from "../support/due-index.ts";
import { pauseCall } from "../support/pause-dynamodb-call.ts";
import * as mailTest from "../support/sending.ts";

beforeAll(mailTest.useOwnTableAndQueues);

const sendOne = async (from: mailTest.TestSender, more: object = {}): Promise<number> =>
  (await mailTest.send(from, { to: mailTest.uniqueRecipients(1)[0]!.to, ...more })).id;

const readSend = ({ caller }: mailTest.TestSender, id: number) =>
  get<SingleSendItem>(keys.send(caller.orgId, id));

const listWindows = ({ caller, siteId }: mailTest.TestSender) =>
  queryAll<SweptWindow & Key & { duesk: string }>(
    { pk: keys.sweptWindow(caller.orgId, siteId, "").pk },
    { consistent: true },
  );

/** The queue loses all messages. Then the latest window is swept. */
async function sweepLatest(from: mailTest.TestSender): Promise<void> {
  mailTest.pendingMessages.length = 0;
  const window = (await listWindows(from)).at(-1);
  if (window) await sweepWindow(window);
}

/** Checks that the sends need no more work, also after a later sweep of their windows. */
async function expectQuiet(from: mailTest.TestSender): Promise<void> {
  for (const window of await listWindows(from)) await sweepWindow(window);
  const left = (await readDueIndex()).filter(
    ({ pk, duepk }) => pk.startsWith(`${from.caller.orgId}#`) && /^DUE#(SEND|SWEEP)#/.test(duepk),
  );
  expect(left).toEqual([]);
}

test("only mail that waits, and mail to members, has an entry on the due index", async () => {
  const from = await mailTest.createSender("postmark");
  const now = await sendOne(from);
  const scheduled = await sendOne(from, { scheduledAt: clock.addSeconds(120).toISOString() });
  const system = await sendOne(from, { system: true });
  expect((await readSend(from, now))!.duesk).toBeUndefined();
  expect((await readSend(from, scheduled))!.duesk).toBeDefined();
  expect((await readSend(from, system))!.duesk).toBeDefined();
  expect((await listWindows(from)).length).toBeGreaterThan(0);
  await mailTest.runWorkers();
  await expectQuiet(from);
  const mailed = from.provider.mails.map(({ sendId }) => sendId);
  expect(mailed.toSorted()).toEqual([now, scheduled, system].toSorted());
  await from.provider.stop();
});

test("sends whose queue messages are lost are sent when their windows are swept", async () => {
  const from = await mailTest.createSender("postmark");
  const ids: number[] = [];
  for (let i = 0; i < 12; i++) {
    ids.push(await sendOne(from));
    clock.advanceClock(50);
  }
  mailTest.pendingMessages.length = 0;
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: ids.length });
  await expectQuiet(from);
  await from.provider.stop();
});

test("an acceptance that is paused while its window is swept loses no send", async () => {
  const from = await mailTest.createSender("postmark");
  const steps = await pausedAtSomeSteps(
    () => sweepLatest(from),
    async (pause) => {
      let id: number | undefined;
      await pause(async () => {
        id = await sendOne(from);
      });
      await mailTest.runWorkers();
      await mailTest.expectBalanced(from, id === undefined ? [] : [id]);
    },
  );
  expect(steps.length).toBeGreaterThan(4);
  await from.provider.stop();
});

test("a send that is stored after its window was swept has an entry on the due index", async () => {
  const from = await mailTest.createSender("postmark");
  const storing = pauseCall("BatchExecuteStatement");
  const accepting = sendOne(from, { html: `<p>${randomBytes(1000).toString("hex")}</p>` });
  await storing.reached;
  clock.advanceClock(700);
  await sweepLatest(from);
  storing.release();
  const id = await accepting;
  // The queue loses the message too.
  mailTest.pendingMessages.length = 0;
  expect((await readSend(from, id))!.duesk).toBeDefined();
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, [id])).toEqual({ sent: 1 });
  await from.provider.stop();
});

test("after a crash of the sweep, the next one finds the sends", async () => {
  const from = await mailTest.createSender("postmark");
  const steps = await crashAtSomeSteps(async (crash) => {
    const ids = [await sendOne(from), await sendOne(from)];
    clock.advanceClock(600);
    await crash(() => sweepLatest(from));
    await mailTest.runWorkers();
    await mailTest.expectBalanced(from, ids);
    await expectQuiet(from);
  });
  expect(steps.length).toBeGreaterThan(3);
  await from.provider.stop();
});

test("a sweep that is paused while sends are accepted and swept loses none", async () => {
  const from = await mailTest.createSender("postmark");
  const accepted: number[] = [];
  await pausedAtSomeSteps(
    async () => {
      accepted.push(await sendOne(from));
      mailTest.pendingMessages.length = 0;
    },
    async (pause) => {
      accepted.push(await sendOne(from));
      clock.advanceClock(600);
      await pause(() => sweepLatest(from));
      // A send that was accepted after the last read is for the next sweep.
      clock.advanceClock(600);
      await mailTest.runWorkers();
      await mailTest.expectBalanced(from, accepted);
      await expectQuiet(from);
    },
  );
  await from.provider.stop();
});

test.each(["resend", "postmark"] as const)(
  "a crash during acceptance or hand-over at %s loses and repeats no mail, without the queue",
  async (key) => {
    const from = await mailTest.createSender(key);
    await crashAtSomeSteps(async (crash) => {
      let id: number | undefined;
      await crash(async () => {
        id = await sendOne(from);
        await handOverSingle(from.caller.orgId, id);
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
