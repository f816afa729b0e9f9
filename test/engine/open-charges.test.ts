// A frequent single send is paid by a plain write to a share and stored by another. A process dies
// or is paused in between: totals never count a send that is not stored, and no charge remains.
import { beforeAll, describe, expect, test, vi } from "vitest";
import { DynamoDbClient } from "../../shared/adapters/dynamodb/client.ts";
import {
  get,
  joinCallsOfRequests,
  put,
  queryAll,
  write,
} from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as allowance from "../../shared/domain/billing/quota.ts";
import { settleOpenCharges } from "../../shared/domain/billing/settle-charges.ts";
import { shardOf } from "../../shared/domain/billing/watched-shares.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import { listOpenCharges } from "../../shared/domain/identity/open-charges.ts";
import { countSends } from "../../shared/domain/identity/site-send-counts.ts";
import { installDirectHandOver } from "../../shared/domain/sending/intake/direct-hand-over.ts";
import * as singles from "../../shared/domain/sending/single-sends.ts";
import { sweepSends } from "../../shared/domain/sending/sweep-sends.ts";
import { withReservedIds } from "../../shared/ids.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { crashAtEveryStep } from "../support/crash-injection.ts";
import * as mailTest from "../support/sending.ts";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(mailTest.useOwnTableAndQueues);

const sendOne = async (from: mailTest.TestSender): Promise<number> =>
  (await mailTest.send(from, { to: mailTest.uniqueRecipients(1)[0]!.to })).id;

const readShares = ({ caller }: mailTest.TestSender) =>
  queryAll<{ sk: string; left: number; sweptTo?: string }>(ranges.accountShares(caller.orgId), {
    consistent: true,
  });
const readOpenCharges = async (from: mailTest.TestSender) =>
  (await readShares(from)).flatMap(listOpenCharges);

/** The accepted sends by three readers. They must agree at any time. */
async function countAccepted(from: mailTest.TestSender): Promise<number> {
  const { caller, siteId } = from;
  const listed = (await mailTest.listAllSends(from)).length;
  expect(await countSends(caller.orgId, [siteId])).toBe(listed);
  expect((await allowance.getQuota(caller.orgId)).account.mails).toBe(listed);
  return listed;
}

interface PutInput {
  Item?: { toEmail?: string };
}
type WriteInput = PutInput & {
  TransactItems?: { Put?: PutInput }[];
  Statements?: { Statement: string }[];
};

const storesSend = (input: WriteInput): boolean =>
  [{ Put: input }, ...(input.TransactItems ?? [])].some(({ Put }) => Put?.Item?.toEmail) ||
  (input.Statements ?? []).some(({ Statement }) => /^INSERT.*'toEmail'/.test(Statement));

/** Runs `work` once, when a send is about to be stored. The send is stored unless it throws. */
async function beforeSendIsStored<T>(work: () => Promise<unknown>, run: () => Promise<T>) {
  const { prototype } = DynamoDbClient;
  const { send } = prototype;
  let isDone = false;
  prototype.send = async function (this: unknown, ...args: never[]) {
    const [{ input }] = args as unknown as [{ input: WriteInput }];
    if (!isDone && storesSend(input)) {
      isDone = true;
      await work();
    }
    return Reflect.apply(send, this, args);
  } as typeof send;
  try {
    return await run();
  } finally {
    prototype.send = send;
    expect(isDone).toBe(true);
  }
}

const die = () => Promise.reject(new Error("The process died"));

/** Charges a send that is never stored. */
async function chargeWithoutSend(from: mailTest.TestSender): Promise<void> {
  await sendOne(from);
  await expect(beforeSendIsStored(die, () => sendOne(from))).rejects.toThrow("died");
}

test("names of charges whose sends are stored are removed by the next charge", async () => {
  const from = await mailTest.createSender("postmark");
  for (let i = 0; i < 8; i++) await sendOne(from);
  const open = await readOpenCharges(from);
  expect(open.length).toBeGreaterThan(0);
  // Two shares, if the ids of this process crossed from one block to the next.
  expect(open.length).toBeLessThanOrEqual(2);
  expect(await countAccepted(from)).toBe(8);
  await mailTest.runWorkers();
  expect(await readOpenCharges(from)).toEqual([]);
  expect(await countAccepted(from)).toBe(8);
  await from.provider.stop();
});

test("a charge without a send counts nowhere, and the sweep takes it back", async () => {
  const from = await mailTest.createSender("postmark");
  await chargeWithoutSend(from);
  expect(await readOpenCharges(from)).toHaveLength(1);
  expect(await countAccepted(from)).toBe(1);
  await mailTest.runWorkers();
  expect(await readOpenCharges(from)).toEqual([]);
  expect(await countAccepted(from)).toBe(1);
  const account = await get<{ mails: number }>(keys.quotaAndCredits(from.caller.orgId));
  const setAside = (await readShares(from)).reduce((sum, { left }) => sum + left, 0);
  expect(account!.mails - setAside).toBe(1);
  await from.provider.stop();
});

test("totals agree with the list after a crash at any step of the acceptance", async () => {
  const from = await mailTest.createSender("postmark");
  await crashAtEveryStep(async (crash) => {
    await sendOne(from);
    await crash(() => sendOne(from));
    await countAccepted(from);
  });
  await mailTest.runWorkers();
  await mailTest.expectBalanced(from, []);
  await countAccepted(from);
  await from.provider.stop();
});

test("a sweep that crashes at any step takes each charge back once", async () => {
  const from = await mailTest.createSender("postmark");
  await crashAtEveryStep(async (crash) => {
    await chargeWithoutSend(from);
    clock.advanceClock(300);
    const [share] = (await readShares(from)).filter(({ sweptTo }) => sweptTo);
    await crash(() => sweepSends(from.caller.orgId, shardOf(share!)));
    await countAccepted(from);
    await mailTest.runWorkers();
    expect(await readOpenCharges(from)).toEqual([]);
    await countAccepted(from);
  });
  await from.provider.stop();
});

test("a send whose charge was taken back during a pause is charged again", async () => {
  const from = await mailTest.createSender("postmark");
  await sendOne(from);
  const id = await beforeSendIsStored(
    () => mailTest.runWorkers(),
    () => sendOne(from),
  );
  expect(await countAccepted(from)).toBe(2);
  mailTest.pendingMessages.length = 0;
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(from, [id])).toEqual({ sent: 2 });
  expect(await countAccepted(from)).toBe(2);
  await from.provider.stop();
});

test("a send that is charged again after a pause goes to the queue if its claim is old", async () => {
  const from = await mailTest.createSender("postmark");
  installDirectHandOver(singles.claimDirectly);
  try {
    await sendOne(from);
    await singles.finishDirectHandOvers();
    const id = await beforeSendIsStored(
      async () => {
        clock.advanceClock(300);
        await mailTest.runWorkers();
      },
      () => sendOne(from),
    );
    await singles.finishDirectHandOvers();
    expect(await readStatus(from, id)).toBe("queued");
    await mailTest.runWorkers();
    expect(await mailTest.expectBalanced(from, [id])).toEqual({ sent: 2 });
  } finally {
    installDirectHandOver(undefined);
  }
  await from.provider.stop();
});

const readStatus = async ({ caller }: mailTest.TestSender, id: number) =>
  (await get<{ status: string }>(keys.send(caller.orgId, id)))!.status;

test("a sweep and a share's next charge settle the same charge once", async () => {
  const from = await mailTest.createSender("postmark");
  await sendOne(from);
  await sendOne(from);
  const shares = await readShares(from);
  await sendOne(from);
  const closedTo = clock.now().toISOString();
  for (const share of shares) {
    const charged = { ...share, shard: shardOf(share) };
    await settleOpenCharges(from.caller.orgId, charged, closedTo);
    await settleOpenCharges(from.caller.orgId, charged, closedTo);
  }
  expect(await countAccepted(from)).toBe(3);
  await mailTest.runWorkers();
  expect(await countAccepted(from)).toBe(3);
  await from.provider.stop();
});

test("a share with many open charges takes no further one", async () => {
  const from = await mailTest.createSender("postmark");
  for (let i = 0; i < 9; i++) await chargeWithoutSend(from);
  for (const share of await readShares(from))
    expect(listOpenCharges(share).length).toBeLessThanOrEqual(5);
  expect(await countAccepted(from)).toBe(9);
  await mailTest.runWorkers();
  expect(await countAccepted(from)).toBe(9);
  await from.provider.stop();
});

describe("the id of a send that was charged and never stored", () => {
  /** Fails to store a send. Returns a retry with the same reserved ids. */
  async function failToStore(from: mailTest.TestSender) {
    const reserved = { key: keys.idempotency(from.caller.orgId, "a request"), taken: {} };
    await write(put(reserved.key, { lease: 0 }));
    const run = () => withReservedIds(reserved, () => sendOne(from));
    await sendOne(from);
    await expect(beforeSendIsStored(die, run)).rejects.toThrow("died");
    const [charge] = await readOpenCharges(from);
    return { sendId: charge!.sendId, retry: run };
  }

  test("is not found", async () => {
    const from = await mailTest.createSender("postmark");
    const { sendId } = await failToStore(from);
    await mailTest.runWorkers();
    await expect(findDetail(from.caller, sendId)).rejects.toMatchObject({ kind: "missing" });
    await from.provider.stop();
  });

  test.each([true, false])("belongs to the retry (after a sweep: %s)", async (isSwept) => {
    const from = await mailTest.createSender("postmark");
    const { sendId, retry } = await failToStore(from);
    if (isSwept) await mailTest.runWorkers();
    expect(await retry()).toBe(sendId);
    expect(await countAccepted(from)).toBe(2);
    await mailTest.runWorkers();
    expect(await mailTest.expectBalanced(from, [sendId])).toEqual({ sent: 2 });
    expect(await countAccepted(from)).toBe(2);
    await from.provider.stop();
  });
});

describe("sends that are accepted at the same time on one machine", () => {
  beforeAll(() => joinCallsOfRequests({ makesAllWrites: false }));

  test("are charged to few shares, in joint writes, and each counts once", async () => {
    const from = await mailTest.createSender("postmark");
    await sendOne(from);
    for (let round = 0; round < 4; round++)
      await Promise.all(Array.from({ length: 12 }, () => sendOne(from)));
    expect(await readShares(from)).toHaveLength(3);
    expect(await countAccepted(from)).toBe(49);
    await mailTest.runWorkers();
    expect(await readOpenCharges(from)).toEqual([]);
    expect(await countAccepted(from)).toBe(49);
    await mailTest.expectBalanced(from, []);
    await from.provider.stop();
  });

  test("take the last mails of a share without a refusal", async () => {
    const from = await mailTest.createSender("postmark");
    await sendOne(from);
    const [share] = await readShares(from);
    const shareKey = keys.accountShare(from.caller.orgId, shardOf(share!));
    await write(put(shareKey, { ...share, left: 3 }));
    await Promise.all(Array.from({ length: 5 }, () => sendOne(from)));
    expect((await mailTest.listAllSends(from)).length).toBe(6);
    await mailTest.runWorkers();
    await mailTest.expectBalanced(from, []);
    await from.provider.stop();
  });

  test("agree with the list after a crash at any step", async () => {
    const from = await mailTest.createSender("postmark");
    await crashAtEveryStep(async (crash) => {
      await sendOne(from);
      await crash(async () => {
        await Promise.all(Array.from({ length: 3 }, () => sendOne(from)));
      });
      await countAccepted(from);
    });
    await mailTest.runWorkers();
    await mailTest.expectBalanced(from, []);
    await countAccepted(from);
    await from.provider.stop();
  });
});
