// DynamoDB request units per mail. They are the same on any machine, so a change that raises the
// cost fails here.
import type { SQSEvent } from "aws-lambda";
import { beforeAll, expect, test } from "vitest";
import { send as sendGroup } from "../../functions/http/send.ts";
import { worker } from "../../functions/queue/send.ts";
import type { ConsumedUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { NewTemplate } from "../../shared/domain/content/template-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { handOverSingle } from "../../shared/domain/sending/single/hand-over.ts";
import { splitIntoBatches } from "../../shared/kernel/parallel.ts";
import { counterShards } from "../../shared/keys.ts";
import { queues } from "../../shared/queues.ts";
import { invokeRoute } from "../support/lambda-requests.ts";
import { measureUnits } from "../support/request-units.ts";
import * as mailTest from "../support/sending.ts";

beforeAll(mailTest.useOwnTableAndQueues);

const html = `<h1>Hello {{ name }}</h1>${"<p>Some words that everybody reads.</p>".repeat(200)}<p>{{ code }}</p>`;

// Consecutive ids are counted in different shards, so these sends create all shards.
const warmMails = counterShards.length;

async function setUp() {
  const from = await mailTest.createSender("postmark");
  const template = await templates.create(
    from.caller,
    NewTemplate.parse({ name: "Hello", subject: "Hello {{ name }}", html }),
  );
  const { key } = await apiKeys.create(from.caller, apiKeys.NewApiKey.parse({ name: "Shop" }));
  const post = <T>(path: "/send" | "/send/batch", body: object) =>
    invokeRoute<T>(sendGroup, `POST ${path}`, {
      body,
      headers: { authorization: `Bearer ${key}` },
    });
  const content = { sendingConfigId: from.configId, siteId: from.siteId, templateId: template.id };
  // Warm-up: reads that the process caches, and the creation of a day's counters, are not part of
  // the cost of a mail.
  for (let i = 0; i < warmMails; i++) {
    const warm = await post<{ id: number }>("/send", { ...content, to: `warm${i}@example.com` });
    await handOverSingle(from.caller.orgId, warm.body.data.id);
  }
  return { from, post, content };
}

const formatCost = (what: string, { readUnits, writeUnits, calls }: ConsumedUnits, mails: number) =>
  console.info(
    `${what}: ${writeUnits / mails} W, ${readUnits / mails} R, ${calls / mails} calls per mail`,
  );

test("a batch of 1,000 costs at most 0.15 write and 2.1 read units a mail, from request to provider", async () => {
  const { from, post, content } = await setUp();
  const recipients = mailTest
    .uniqueRecipients(1000)
    .map((one, i) => ({ ...one, toName: `Name ${i}`, variables: { code: crypto.randomUUID() } }));
  const accepting = await measureUnits(() =>
    post<{ accepted: number }>("/send/batch", { ...content, recipients }),
  );
  expect(accepting.result).toMatchObject({ status: 202, body: { data: { accepted: 1000 } } });
  const handingOver = await measureUnits(() => mailTest.runLane(from.caller.orgId, from.configId));
  formatCost("batch, accepted", accepting.usage, 1000);
  formatCost("batch, handed over", handingOver.usage, 1000);
  expect(from.provider.mails).toHaveLength(warmMails + 1000);
  expect((accepting.usage.writeUnits + handingOver.usage.writeUnits) / 1000).toBeLessThanOrEqual(
    0.15,
  );
  expect((accepting.usage.readUnits + handingOver.usage.readUnits) / 1000).toBeLessThanOrEqual(2.1);
  const listing = await measureUnits(() => listSends(from.caller, { limit: 50 }, {}));
  expect(listing.result.sends).toHaveLength(50);
  expect(listing.usage.readUnits).toBeLessThanOrEqual(40);
  await from.provider.stop();
});

// With the warm-up, the plan allows no more in a minute.
const singleSends = 12;
/** The number of messages that SQS delivers at once. */
const { batch } = queues.send;

/** Hands sends over as the queue does under load. */
async function handOverBatches(orgId: number, sendIds: number[]): Promise<void> {
  for (const ids of splitIntoBatches(sendIds, batch)) {
    const Records = ids.map((sendId) => ({
      messageId: String(sendId),
      body: JSON.stringify({ orgId, sendId }),
      attributes: { ApproximateReceiveCount: "1" },
    }));
    const outcome = await worker.handler({ Records } as SQSEvent);
    expect(outcome).toEqual({ batchItemFailures: [] });
  }
}

// Without the request itself, which is counted for the rate limit, it is one write unit less. The
// window that is swept is marked once in five minutes.
test("a send by template costs 12.1 write and 11 read units, and 3 calls to hand over", async () => {
  const { from, post, content } = await setUp();
  const sendIds: number[] = [];
  const accepting = await measureUnits(async () => {
    for (let i = 0; i < singleSends; i++) {
      const to = `reader${i}@example.com`;
      const response = await post<{ id: number }>("/send", { ...content, to });
      sendIds.push(response.body.data.id);
    }
  });
  const handingOver = await measureUnits(() => handOverBatches(from.caller.orgId, sendIds));
  formatCost("single, accepted", accepting.usage, singleSends);
  formatCost("single, handed over", handingOver.usage, singleSends);
  expect(from.provider.mails).toHaveLength(warmMails + singleSends);
  const total = (units: "writeUnits" | "readUnits") =>
    (accepting.usage[units] + handingOver.usage[units]) / singleSends;
  expect(total("writeUnits")).toBeLessThanOrEqual(12.1);
  expect(total("readUnits")).toBeLessThanOrEqual(11);
  expect(accepting.usage.calls / singleSends).toBeLessThan(7);
  expect(handingOver.usage.calls / singleSends).toBeLessThanOrEqual(3);
  await from.provider.stop();
});
