// A provider that hangs delays only the mail of its own sending config.
import { beforeAll, expect, test } from "vitest";
import { handOverSingle } from "../../shared/domain/sending/single/hand-over.ts";
import { inParallel } from "../../shared/kernel/parallel.ts";
import * as mailTest from "../support/sending.ts";

beforeAll(mailTest.useOwnTableAndQueues);

const queued = async (from: mailTest.TestSender, n: number): Promise<number[]> => {
  const sent = await inParallel(10, mailTest.uniqueRecipients(n), (recipient) =>
    mailTest.send(from, recipient),
  );
  mailTest.pendingMessages.length = 0;
  return sent.map(({ id }) => id);
};
const deliverAll = ({ caller: { orgId } }: mailTest.TestSender, ids: number[]) =>
  ids.map((id) => handOverSingle(orgId, id));

test("while a provider hangs, few calls wait for it and other tenants' mail is sent", async () => {
  const [hanging, other] = [
    await mailTest.createSender("postmark"),
    await mailTest.createSender("resend"),
  ];
  const [hangingIds, otherIds] = [await queued(hanging, 130), await queued(other, 40)];
  hanging.provider.latencyMs = 6000;
  const stuck = deliverAll(hanging, hangingIds);
  await Promise.all(deliverAll(other, otherIds));
  expect(other.provider.mails).toHaveLength(40);
  expect(hanging.provider.mails).toHaveLength(0);
  await expect.poll(() => mailTest.pendingMessages.length).toBeGreaterThanOrEqual(130 - 25);
  expect(hanging.provider.maxConcurrentCalls).toBeLessThanOrEqual(25);
  await Promise.all(stuck);
  hanging.provider.latencyMs = 0;
  await mailTest.runWorkers();
  expect(await mailTest.expectBalanced(hanging, hangingIds)).toEqual({ sent: 130 });
  expect(await mailTest.expectBalanced(other, otherIds)).toEqual({ sent: 40 });
  await Promise.all([hanging.provider.stop(), other.provider.stop()]);
});

test("calls that end let waiting calls pass without going back to the queue", async () => {
  const from = await mailTest.createSender("postmark");
  const ids = await queued(from, 90);
  from.provider.latencyMs = 50;
  await Promise.all(deliverAll(from, ids));
  expect(mailTest.pendingMessages).toEqual([]);
  expect(from.provider.maxConcurrentCalls).toBeLessThanOrEqual(25);
  expect(await mailTest.expectBalanced(from, ids)).toEqual({ sent: 90 });
  await from.provider.stop();
});
