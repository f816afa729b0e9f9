// DynamoDB like on AWS under load: transaction conflicts, throttling and lost responses.
import { afterAll, beforeAll, expect, test } from "vitest";
import { update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as credits from "../../shared/domain/billing/credits.ts";
import * as allowance from "../../shared/domain/billing/quota.ts";
import { keys } from "../../shared/keys.ts";
import { mailPriceInMillicents, plans } from "../../shared/plans.ts";
import { type ConflictProxy, openConflictProxy } from "../support/conflict-proxy.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";
import * as mailTest from "../support/sending.ts";

useDynamoDbEngine();

const seed = 14;
let proxy: ConflictProxy;

beforeAll(async () => {
  proxy = await openConflictProxy({
    endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB!,
    secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY!,
    seed,
  });
  process.env.AWS_ENDPOINT_URL_DYNAMODB = proxy.url;
  await mailTest.useOwnTableAndQueues();
});
afterAll(() => proxy.close());

const sendAtOnce = (from: mailTest.TestSender, n: number) =>
  Promise.all(
    Array.from({ length: n }, (_, i) => mailTest.send(from, { to: `r${i}@example.com` })),
  );

test("accepts 100 concurrent single sends of one organization and counts them exactly", async () => {
  const from = await mailTest.createSender("resend");
  const accepted = await sendAtOnce(from, 100);
  expect((await allowance.getQuota(from.caller.orgId)).used.mails).toBe(100);
  await mailTest.runWorkers();
  expect(
    await mailTest.expectBalanced(
      from,
      accepted.map(({ id }) => id),
    ),
  ).toEqual({ sent: 100 });
  await from.provider.stop();
});

test("accepts 60 concurrent sends paid by credits and counts them exactly", async () => {
  const from = await mailTest.createSender("resend");
  const { orgId } = from.caller;
  const each = mailPriceInMillicents(false);
  const { period } = await allowance.getQuota(orgId);
  await write(
    update(keys.accountShard(orgId, 0), {
      set: { period: period.start, mails: plans.free.mailsPerMonth, charged: 0 },
    }),
  );
  await credits.grant(orgId, { what: "purchase", reference: "p", amount: 10_000 * each });
  await sendAtOnce(from, 60);
  const { account, used } = await allowance.getQuota(orgId);
  expect(used).toEqual({ mails: plans.free.mailsPerMonth + 60, charged: 60 * each });
  expect(account.balance).toBe(9_940 * each);
  await mailTest.runWorkers();
  await from.provider.stop();
});

test(`accepts and counts each send once, despite throttling and lost responses (SEED=${seed})`, async () => {
  const from = await mailTest.createSender("resend");
  proxy.set({ throttled: 0.02, lost: 0.03 });
  const [singles, batches] = await Promise.all([
    sendAtOnce(from, 40),
    Promise.all(
      Array.from({ length: 4 }, () => mailTest.sendBatch(from, mailTest.uniqueRecipients(25))),
    ),
  ]);
  // About 3 responses are lost by then. The calls race, so it can be none.
  while (!proxy.countLost()) singles.push(...(await sendAtOnce(from, 1)));
  await mailTest.runWorkers();
  proxy.set({ throttled: 0, lost: 0 });
  const ids = [
    ...singles.map(({ id }) => id),
    ...batches.flatMap(({ results }) => results.map(({ id }) => id!)),
  ];
  await mailTest.expectBalanced(from, ids);
  expect((await allowance.getQuota(from.caller.orgId)).used.mails).toBe(ids.length);
  await from.provider.stop();
});
