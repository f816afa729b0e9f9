import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { GetCommand } from "@aws-sdk/lib-dynamodb";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { openDataFolder } from "../../infra/local/data-folder.ts";
import { type LocalEngines, startEngines } from "../../infra/local/engines/engines.ts";
import { localRegion } from "../../infra/local/engines/sqs-and-s3.ts";
import { openMovableClock } from "../../infra/local/movable-clock.ts";
import {
  type PolledWorker,
  type QueuePoller,
  startPolling,
} from "../../infra/local/queue-poller.ts";
import { advanceClock, type LocalRuntime, runUntilIdle } from "../../infra/local/run-until-idle.ts";
import { type LocalSchedule, startScheduler } from "../../infra/local/scheduler.ts";
import { createDocumentClient } from "../../shared/adapters/dynamodb/client.ts";
import * as clock from "../../shared/clock.ts";
import { handleBatch, handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";

useDynamoDbEngine();

const queueNames = [
  "one",
  "wide",
  "retried",
  "failing",
  "throwing",
  "paced",
  "passing",
  "later",
  "due",
  "outside",
  "away",
  "away-batch",
];
const idleOptions = { waitSeconds: 60, maxWaitedSeconds: 3600, limitSeconds: 10 };

let engines: LocalEngines;
let client: SQSClient;
beforeAll(async () => {
  engines = await startEngines({
    folder: openDataFolder(":memory:"),
    queues: queueNames.map((name) => ({ name, attempts: 3, timeoutSeconds: 5 })),
  });
  client = new SQSClient({
    endpoint: engines.queues.endpoint,
    region: localRegion,
    credentials: engines.credentials,
  });
});
afterAll(async () => {
  client.destroy();
  await engines.stop();
});

const running: QueuePoller[] = [];
afterEach(async () => {
  for (const poller of running.splice(0)) await poller.stop();
});

const enqueue = (name: string, MessageBody: string, DelaySeconds = 0) =>
  client.send(
    new SendMessageCommand({ QueueUrl: engines.queues.url(name), MessageBody, DelaySeconds }),
  );
const enqueueMany = (name: string, bodies: string[]) =>
  client.send(
    new SendMessageBatchCommand({
      QueueUrl: engines.queues.url(name),
      Entries: bodies.map((MessageBody, i) => ({ Id: String(i), MessageBody })),
    }),
  );

const reported: unknown[] = [];
function startPoller(
  name: string,
  handler: (event: SQSEvent) => Promise<SQSBatchResponse>,
  { batch = 10, windowSeconds = 0, concurrency = 2 } = {},
): QueuePoller {
  const source = {
    client,
    url: engines.queues.url(name),
    reportError: (error: unknown) => void reported.push(error),
  };
  const run: PolledWorker["run"] = async (event) => {
    const { batchItemFailures } = await handler(event);
    return event.Records.filter(({ messageId }) =>
      batchItemFailures.some(({ itemIdentifier }) => itemIdentifier === messageId),
    ).map(({ messageId, receiptHandle }) => ({
      messageId,
      receiptHandle,
      seconds: 30,
      isOutage: false,
    }));
  };
  const queue = { name, batch, windowSeconds, concurrency };
  const poller = startPolling({ queue, run }, source);
  running.push(poller);
  return poller;
}
const bodies = ({ Records }: SQSEvent) => Records.map(({ body }) => body);
const noFailures = { batchItemFailures: [] };

const createRuntime = (
  pollers: QueuePoller[],
  schedules: LocalSchedule[] = [],
  flushExternal = async () => false,
): LocalRuntime => ({
  queues: engines.queues,
  pollers,
  scheduler: startScheduler(schedules, (error) => void reported.push(error)),
  time: openMovableClock(undefined),
  dueItems: engines.countDue,
  flushExternal,
});

test("each message is handled once, and deleted after a success", async () => {
  const handled: string[] = [];
  const poller = startPoller("one", async (event) => {
    handled.push(...bodies(event));
    return noFailures;
  });
  await enqueueMany("one", ["a", "b", "c"]);
  expect(await runUntilIdle(createRuntime([poller]), idleOptions)).toMatchObject({
    rounds: 1,
    messages: 3,
    waitedSeconds: 0,
    idle: true,
    deadLetters: 0,
  });
  expect(handled.sort()).toEqual(["a", "b", "c"]);
});

test("a poller keeps the limits of concurrent batches and of messages per batch", async () => {
  let [most, now] = [0, 0];
  const sizes: number[] = [];
  const poller = startPoller(
    "wide",
    async ({ Records }) => {
      most = Math.max(most, ++now);
      sizes.push(Records.length);
      await pause(20);
      now--;
      return noFailures;
    },
    { batch: 4, windowSeconds: 1, concurrency: 2 },
  );
  await enqueueMany("wide", ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
  await runUntilIdle(createRuntime([poller]), idleOptions);
  expect(most).toBeLessThanOrEqual(2);
  expect(Math.max(...sizes)).toBe(4);
  expect(sizes.reduce((a, b) => a + b)).toBe(10);
});

test("only the failed messages of a batch are retried, at their visibility timeout", async () => {
  const handled: string[] = [];
  const poller = startPoller("retried", async ({ Records }) => {
    handled.push(
      ...Records.map(({ body, attributes }) => body + attributes.ApproximateReceiveCount),
    );
    const failed = Records.filter(
      ({ body, attributes }) => body === "bad" && attributes.ApproximateReceiveCount === "1",
    );
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  });
  await enqueueMany("retried", ["good", "bad"]);
  const before = clock.now();
  expect(await runUntilIdle(createRuntime([poller]), idleOptions)).toMatchObject({
    idle: true,
    deadLetters: 0,
  });
  expect(handled.sort()).toEqual(["bad1", "bad2", "good1"]);
  expect(clock.now().getTime() - before.getTime()).toBeGreaterThanOrEqual(29_000);
});

test("a batch whose worker throws is retried until its message is a dead letter", async () => {
  let times = 0;
  const poller = startPoller("throwing", async () => {
    times++;
    throw new Error("no");
  });
  await enqueue("throwing", "x");
  expect(await runUntilIdle(createRuntime([poller]), idleOptions)).toMatchObject({
    messages: 3,
    idle: true,
    deadLetters: 1,
  });
  expect(times).toBe(3);
  expect(reported).toContainEqual(new Error("no"));
});

/** A table that refuses connections until it is started. */
async function createTableThatIsAway() {
  const server = createServer((_, response) => response.end("{}"));
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await listening;
  const { port } = server.address() as AddressInfo;
  await promisify(server.close.bind(server))();
  const table = createDocumentClient(`http://127.0.0.1:${port}`);
  return {
    read: () => table.send(new GetCommand({ TableName: "t", Key: { pk: "p", sk: "s" } })),
    start: () => void server.listen(port, "127.0.0.1"),
    stop: promisify(server.close.bind(server)),
  };
}

test.each([
  ["each message alone", true],
  ["a batch", false],
])("work waits while the table is away, and uses no attempts: %s", async (_, isSeparate) => {
  const name = isSeparate ? "away" : "away-batch";
  const table = await createTableThatIsAway();
  const definition = {
    ...queues.report,
    ...{ name, batch: 10, concurrency: 2, attempts: 3 },
    message: z.object({ n: z.int() }),
  };
  const handled: number[] = [];
  let failedCalls = 0;
  const handle = async ({ n }: { n: number }) => {
    await table.read().catch((cause: unknown) => {
      failedCalls++;
      // More failures than the queue has attempts.
      if (failedCalls === 40) table.start();
      throw new Error("The record cannot be read", { cause });
    });
    handled.push(n);
  };
  const worker = isSeparate
    ? handleEach(definition, handle)
    : handleBatch(definition, async (messages) => {
        const results = await Promise.allSettled(messages.map(({ body }) => handle(body)));
        return results.map((result) => (result.status === "rejected" ? result.reason : undefined));
      });
  await enqueueMany(
    name,
    Array.from({ length: 10 }, (_, n) => JSON.stringify({ n })),
  );
  const source = {
    client,
    url: engines.queues.url(name),
    reportError: (error: unknown) => void reported.push(error),
  };
  const poller = startPolling(worker, source, 10);
  running.push(poller);
  const report = await runUntilIdle(createRuntime([poller]), { ...idleOptions, limitSeconds: 60 });
  expect(report).toMatchObject({ idle: true, deadLetters: 0, waitedSeconds: 0, messages: 10 });
  expect(handled.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await table.stop();
});

test("runUntilIdle moves the clock for a short delay and does not wait for a long one", async () => {
  const handled: string[] = [];
  const poller = startPoller("paced", async (event) => {
    for (const body of bodies(event)) {
      handled.push(body);
      if (body === "first") await enqueue("paced", "second", 30);
    }
    return noFailures;
  });
  await enqueueMany("paced", ["first"]);
  await enqueue("paced", "late", 600);
  const before = clock.now();
  expect(await runUntilIdle(createRuntime([poller]), idleOptions)).toMatchObject({
    messages: 2,
    waitedSeconds: 30,
    idle: true,
    delayed: 1,
  });
  expect(handled).toEqual(["first", "second"]);
  expect(clock.now().getTime() - before.getTime()).toBeGreaterThanOrEqual(29_000);
  await advanceClock(createRuntime([poller]), 600);
  expect(await runUntilIdle(createRuntime([poller]), idleOptions)).toMatchObject({
    messages: 1,
    idle: true,
    delayed: 0,
  });
});

test("advanceClock handles delayed messages at their times, and stops at the requested time", async () => {
  const handled: number[] = [];
  const start = clock.now().getTime();
  const poller = startPoller("passing", async ({ Records }) => {
    handled.push(Math.round(clock.now().getTime() - start) / 1000);
    for (const { body } of Records)
      if (body !== "last") await enqueue("passing", body === "first" ? "second" : "last", 20);
    return noFailures;
  });
  await enqueue("passing", "first", 10);
  const all = createRuntime([poller]);
  await advanceClock(all, 35);
  expect(all.time.offsetSeconds()).toBe(35);
  expect(handled).toHaveLength(2);
  await advanceClock(all, 3600);
  expect(all.time.offsetSeconds()).toBe(3635);
  expect(handled).toHaveLength(3);
  // The clock of the computer moves as well, so that a busy machine handles them later.
  for (const [i, seconds] of [10, 30, 50].entries())
    expect(handled[i]).toBeGreaterThanOrEqual(seconds - 1);
});

test("runUntilIdle stops at its time limit if work never ends, and returns idle false", async () => {
  const poller = startPoller("later", async () => {
    await enqueue("later", "again", 50);
    return noFailures;
  });
  await enqueue("later", "go");
  expect(await runUntilIdle(createRuntime([poller]), idleOptions)).toMatchObject({ idle: false });
});

test("schedules run until nothing is due; due items without a schedule are returned as a count", async () => {
  const dynamo = new DynamoDBClient({
    endpoint: engines.env.AWS_ENDPOINT_URL_DYNAMODB!,
    region: localRegion,
    credentials: engines.credentials,
  });
  const key = { pk: { S: "job" }, sk: { S: "#" } };
  await dynamo.send(
    new PutItemCommand({
      TableName: "pennymail",
      Item: { ...key, duepk: { S: "DUE" }, duesk: { S: "2020-01-01" } },
    }),
  );
  const withoutSchedule = await runUntilIdle(createRuntime([]), idleOptions);
  expect(withoutSchedule).toMatchObject({ idle: false, due: 1 });

  const poller = startPoller("due", async () => {
    await dynamo.send(
      new UpdateItemCommand({
        TableName: "pennymail",
        Key: key,
        UpdateExpression: "REMOVE duepk, duesk",
      }),
    );
    return noFailures;
  });
  const schedule = {
    name: "t",
    minutes: 1,
    handler: async () => void (await enqueue("due", "drain")),
  };
  const runtime = createRuntime([poller], [schedule]);
  expect(await runUntilIdle(runtime, idleOptions)).toMatchObject({
    rounds: 1,
    messages: 1,
    idle: true,
    due: 0,
  });
  await runtime.scheduler.stop();
});

test("runUntilIdle also handles messages that external systems cause", async () => {
  let webhooks = 2;
  const outside = async () => {
    if (!webhooks) return false;
    webhooks--;
    await enqueue("outside", "event");
    return true;
  };
  const poller = startPoller("outside", async () => noFailures);
  expect(await runUntilIdle(createRuntime([poller], [], outside), idleOptions)).toMatchObject({
    messages: 2,
    idle: true,
  });
});

test("a schedule that throws is reported and runs again", async () => {
  let times = 0;
  const schedule = {
    name: "t",
    minutes: 1,
    handler: async () => {
      times++;
      throw new Error("scheduled run");
    },
  };
  const scheduler = startScheduler([schedule], (error) => void reported.push(error));
  await scheduler.runAll();
  await scheduler.runAll();
  await scheduler.stop();
  expect(times).toBe(2);
  expect(reported).toContainEqual(new Error("scheduled run"));
});

test("a poller that stops finishes its current batch", async () => {
  const started = Promise.withResolvers<void>();
  let finished = false;
  const poller = startPoller("failing", async () => {
    started.resolve();
    await pause(100);
    finished = true;
    return noFailures;
  });
  await enqueue("failing", "x");
  await started.promise;
  await poller.stop();
  expect(finished).toBe(true);
  expect(engines.queues.readState("failing")).toEqual({ ready: 0, delayedMs: [], received: [] });
});
