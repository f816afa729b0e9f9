import { setTimeout as pause } from "node:timers/promises";
import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { SQSEvent } from "aws-lambda";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Engines, startEngines } from "../../infra/local/engines.ts";
import { openFolder } from "../../infra/local/folder.ts";
import { type Poller, poll, type Worker } from "../../infra/local/poll.ts";
import { credentials, region } from "../../infra/local/queues.ts";
import { pass, settle, type Works } from "../../infra/local/settle.ts";
import { type Tick, ticking } from "../../infra/local/ticks.ts";
import { openTime } from "../../infra/local/time.ts";
import * as clock from "../../shared/clock.ts";

const names = ["one", "wide", "retried", "failing", "throwing", "paced", "passing", "later", "due", "outside"];
const patience = { waitSeconds: 60, maxWaitedSeconds: 3600, limitSeconds: 10 };

let engines: Engines;
let client: SQSClient;
beforeAll(async () => {
  engines = await startEngines({ folder: openFolder(":memory:"), queues: names.map((name) => ({ name, attempts: 3, timeoutSeconds: 5 })) });
  client = new SQSClient({ endpoint: engines.queues.endpoint, region, credentials });
});
afterAll(async () => {
  client.destroy();
  await engines.stop();
});

const running: Poller[] = [];
afterEach(async () => {
  for (const poller of running.splice(0)) await poller.stop();
});

const say = (name: string, MessageBody: string, DelaySeconds = 0) =>
  client.send(new SendMessageCommand({ QueueUrl: engines.queues.url(name), MessageBody, DelaySeconds }));
const sayMany = (name: string, bodies: string[]) =>
  client.send(
    new SendMessageBatchCommand({
      QueueUrl: engines.queues.url(name),
      Entries: bodies.map((MessageBody, i) => ({ Id: String(i), MessageBody })),
    }),
  );

const reported: unknown[] = [];
function work(name: string, handler: Worker["handler"], { batch = 10, windowSeconds = 0, concurrency = 2 } = {}): Poller {
  const source = { client, url: engines.queues.url(name), report: (error: unknown) => void reported.push(error) };
  const poller = poll({ queue: { name, batch, windowSeconds, concurrency }, handler }, source);
  running.push(poller);
  return poller;
}
const bodies = ({ Records }: SQSEvent) => Records.map(({ body }) => body);
const none = { batchItemFailures: [] };

const works = (pollers: Poller[], ticks: Tick[] = [], outside = async () => false): Works => ({
  queues: engines.queues,
  pollers,
  ticks: ticking(ticks, (error) => void reported.push(error)),
  time: openTime(undefined),
  due: engines.due,
  outside,
});

test("messages are handed over once and are gone when they went well", async () => {
  const seen: string[] = [];
  const poller = work("one", async (event) => {
    seen.push(...bodies(event));
    return none;
  });
  await sayMany("one", ["a", "b", "c"]);
  expect(await settle(works([poller]), patience)).toMatchObject({ rounds: 1, messages: 3, waitedSeconds: 0, dry: true, dead: 0 });
  expect(seen.sort()).toEqual(["a", "b", "c"]);
});

test("no more batches are in work at once than the queue allows, and none is larger", async () => {
  let [most, now] = [0, 0];
  const sizes: number[] = [];
  const poller = work(
    "wide",
    async ({ Records }) => {
      most = Math.max(most, ++now);
      sizes.push(Records.length);
      await pause(20);
      now--;
      return none;
    },
    { batch: 4, windowSeconds: 1, concurrency: 2 },
  );
  await sayMany("wide", ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
  await settle(works([poller]), patience);
  expect(most).toBeLessThanOrEqual(2);
  expect(Math.max(...sizes)).toBe(4);
  expect(sizes.reduce((a, b) => a + b)).toBe(10);
});

test("of a batch, what the worker names comes back and the rest does not; settling does not wait the time out", async () => {
  const seen: string[] = [];
  const poller = work("retried", async ({ Records }) => {
    seen.push(...Records.map(({ body, attributes }) => body + attributes.ApproximateReceiveCount));
    const failed = Records.filter(({ body, attributes }) => body === "bad" && attributes.ApproximateReceiveCount === "1");
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  });
  await sayMany("retried", ["good", "bad"]);
  const before = clock.now();
  expect(await settle(works([poller]), patience)).toMatchObject({ dry: true, dead: 0 });
  expect(seen.sort()).toEqual(["bad1", "bad2", "good1"]);
  expect(clock.now().getTime() - before.getTime()).toBeGreaterThanOrEqual(29_000);
});

test("a worker that throws gets the whole batch again, until the queue gives it up", async () => {
  let times = 0;
  const poller = work("throwing", async () => {
    times++;
    throw new Error("no");
  });
  await say("throwing", "x");
  expect(await settle(works([poller]), patience)).toMatchObject({ messages: 3, dry: true, dead: 1 });
  expect(times).toBe(3);
  expect(reported).toContainEqual(new Error("no"));
});

test("a message that is delayed a little is waited for by moving the clock; a long delay is left alone", async () => {
  const seen: string[] = [];
  const poller = work("paced", async (event) => {
    for (const body of bodies(event)) {
      seen.push(body);
      if (body === "first") await say("paced", "second", 30);
    }
    return none;
  });
  await sayMany("paced", ["first"]);
  await say("paced", "late", 600);
  const before = clock.now();
  expect(await settle(works([poller]), patience)).toMatchObject({ messages: 2, waitedSeconds: 30, dry: true, delayed: 1 });
  expect(seen).toEqual(["first", "second"]);
  expect(clock.now().getTime() - before.getTime()).toBeGreaterThanOrEqual(29_000);
  await pass(works([poller]), 600);
  expect(await settle(works([poller]), patience)).toMatchObject({ messages: 1, dry: true, delayed: 0 });
});

test("when time passes, what waits a little is done when its time has come, and no further than asked", async () => {
  const seen: number[] = [];
  const start = clock.now().getTime();
  const poller = work("passing", async ({ Records }) => {
    seen.push(Math.round((clock.now().getTime() - start) / 1000));
    for (const { body } of Records) if (body !== "last") await say("passing", body === "first" ? "second" : "last", 20);
    return none;
  });
  await say("passing", "first", 10);
  const all = works([poller]);
  await pass(all, 35);
  expect(all.time.offsetSeconds()).toBe(35);
  expect(seen).toEqual([10, 30]);
  await pass(all, 3600);
  expect(all.time.offsetSeconds()).toBe(3635);
  expect(seen).toEqual([10, 30, 50]);
});

test("work that never ends is given up after the limit, and settling says so", async () => {
  const poller = work("later", async () => {
    await say("later", "again", 50);
    return none;
  });
  await say("later", "go");
  expect(await settle(works([poller]), patience)).toMatchObject({ dry: false });
});

test("ticks run until nothing is due any more, and what no tick takes is told", async () => {
  const dynamo = new DynamoDBClient({ endpoint: engines.env.AWS_ENDPOINT_URL_DYNAMODB!, region, credentials });
  const key = { pk: { S: "job" }, sk: { S: "#" } };
  await dynamo.send(new PutItemCommand({ TableName: "pennymail", Item: { ...key, duepk: { S: "DUE" }, duesk: { S: "2020-01-01" } } }));
  const forsaken = await settle(works([]), patience);
  expect(forsaken).toMatchObject({ dry: false, due: 1 });

  const poller = work("due", async () => {
    await dynamo.send(new UpdateItemCommand({ TableName: "pennymail", Key: key, UpdateExpression: "REMOVE duepk, duesk" }));
    return none;
  });
  const tick = { name: "t", minutes: 1, handler: async () => void (await say("due", "drain")) };
  const live = works([poller], [tick]);
  expect(await settle(live, patience)).toMatchObject({ rounds: 1, messages: 1, dry: true, due: 0 });
  await live.ticks.stop();
});

test("what happens outside and comes back as a message is settled too", async () => {
  let webhooks = 2;
  const outside = async () => {
    if (!webhooks) return false;
    webhooks--;
    await say("outside", "event");
    return true;
  };
  const poller = work("outside", async () => none);
  expect(await settle(works([poller], [], outside), patience)).toMatchObject({ messages: 2, dry: true });
});

test("a tick that throws is reported and runs again", async () => {
  let times = 0;
  const tick = {
    name: "t",
    minutes: 1,
    handler: async () => {
      times++;
      throw new Error("tick");
    },
  };
  const ticks = ticking([tick], (error) => void reported.push(error));
  await ticks.run();
  await ticks.run();
  await ticks.stop();
  expect(times).toBe(2);
  expect(reported).toContainEqual(new Error("tick"));
});

test("a poller that stops finishes what it has in work", async () => {
  let finished = false;
  const poller = work("failing", async () => {
    await pause(100);
    finished = true;
    return none;
  });
  await say("failing", "x");
  await expect.poll(() => engines.queues.state("failing").received.length).toBe(1);
  await pause(20);
  await poller.stop();
  expect(finished).toBe(true);
  expect(engines.queues.state("failing")).toEqual({ ready: 0, delayedMs: [], received: [] });
});
