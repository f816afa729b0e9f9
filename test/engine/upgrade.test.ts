// An upgrade in place: items and queued messages that the code of a previous release wrote
// (test/fixtures/upgrade) are processed by the workers and endpoints of this release. Renaming a
// queue, a message field or a stored attribute without a migration fails here.

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { type AttributeValue, DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { workers } from "../../functions/queue-workers.ts";
import { groups } from "../../functions/route-groups.ts";
import { startKmsAndSecrets } from "../../infra/local/engines/kms-and-secrets.ts";
import * as clock from "../../shared/clock.ts";
import * as sequencesDue from "../../shared/domain/automation/due-enrollments.ts";
import { findCampaignDetail } from "../../shared/domain/campaigns/campaigns.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import * as due from "../../shared/domain/due-work.ts";
import * as sends from "../../shared/domain/sending/sends.ts";
import { queues } from "../../shared/queues.ts";
import { type FakeProvider, startFakeProvider } from "../support/fake-provider.ts";
import { invokeRoute } from "../support/lambda-requests.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";
import {
  deadLetters,
  pendingMessages,
  runWorkers,
  useVirtualQueues,
} from "../support/virtual-queues.ts";

useDynamoDbEngine();

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const folder = new URL("../fixtures/upgrade/", import.meta.url);
const read = (name: string) => JSON.parse(readFileSync(new URL(name, folder), "utf8"));
const world = read("world.json");
const messages: { queue: string; body: string; visibleAt: number; group?: string }[] =
  read("messages.json");

let provider: FakeProvider;
let received: string[];
let stop: () => Promise<unknown>;

beforeAll(async () => {
  // The leases, schedules and expiry times of the fixture are of the day on which it was written.
  clock.advanceClock((Date.parse(world.until) - clock.now().getTime()) / 1000);
  const kms = await startKmsAndSecrets({
    keyFile: fileURLToPath(new URL("kms-key", folder)),
    secrets: {},
  });
  vi.stubEnv("AWS_ENDPOINT_URL_KMS", kms.endpoint);
  vi.stubEnv("ALLOW_LOOPBACK_WEBHOOKS", "on");
  await useVirtualQueues();
  provider = await startFakeProvider("postmark");
  received = [];
  const customer = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    received.push(text);
    response.end();
  });
  await new Promise<void>((listening) => customer.listen(39_417, "127.0.0.1", listening));
  const table = new DynamoDBClient({});
  for (const item of read("items.json")) {
    const Item = revived(item) as Record<string, AttributeValue>;
    await table.send(new PutItemCommand({ TableName: process.env.TABLE_NAME, Item }));
  }
  const bucket = new S3Client({ forcePathStyle: true });
  for (const [Key, text] of Object.entries<string>(world.objects))
    await bucket.send(
      new PutObjectCommand({
        Bucket: process.env.BUCKET_NAME,
        Key,
        Body: Buffer.from(text, "base64"),
      }),
    );
  for (const { queue, body, group: groupId, visibleAt } of messages)
    pendingMessages.push({ id: randomUUID(), queue, groupId, body, visibleAt, receives: 0 });
  stop = async () => {
    customer.close();
    await Promise.all([kms.stop(), provider.stop()]);
  };
});
afterAll(() => stop?.());

/** Bytes are written as base64 in the fixture. */
function revived(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(revived);
  if ("$bytes" in value) return Buffer.from(String(value.$bytes), "base64");
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, revived(one)]));
}

test("the queues of this release accept every queued message of the previous release", () => {
  for (const { queue, body } of messages) {
    const known = Object.values(queues).find(({ name }) => name === queue);
    expect(known, queue).toBeDefined();
    expect(known!.message.safeParse(JSON.parse(body)), `${queue} ${body}`).toMatchObject({
      success: true,
    });
  }
});

test("waiting mail is sent once, sequences and campaigns end, and every list responds", async () => {
  const runSchedules = async () => {
    await Promise.all([due.drainAll(), sequencesDue.enqueueDueShards()]);
  };
  await runWorkers(workers, { forSeconds: 2 * 3600, runSchedules });
  expect(deadLetters).toEqual([]);

  const [shop, slow] = world.orgs;
  const before: { to: string; subject: string; sendId: number }[] = world.orgs.flatMap(
    ({ mails }: { mails: object[] }) => mails,
  );
  const sendIds = [...before, ...provider.mails].map(({ sendId }) => sendId);
  expect(sendIds.length).toBe(new Set(sendIds).size);
  const statuses = async (caller: never) =>
    (await sends.list(caller, { limit: 100 } as never, {})).sends.map(({ status }) => status);
  for (const { caller } of [shop, slow])
    for (const status of await statuses(caller as never))
      expect(["sent", "delivered", "opened"]).toContain(status);
  expect(
    provider.mails
      .filter(({ to }) => to.startsWith("batch-"))
      .map(({ to }) => to)
      .toSorted(),
  ).toEqual([3, 4, 5].map((i) => `batch-${i}@example.com`));
  for (const name of ["queued", "scheduled", "secure"])
    expect((await findDetail(shop.caller, world.sends[name])).status, name).toBe("sent");
  // Three contacts waited in the sequence and got its second mail. The campaign that was half sent
  // and the scheduled one reached all eight contacts.
  expect(provider.mails.filter(({ subject }) => subject === "Later")).toHaveLength(3);
  for (const name of ["done", "half", "planned"])
    expect((await findCampaignDetail(shop.caller, world.campaigns[name])).status, name).toBe(
      "sent",
    );
  expect(provider.mails.filter(({ subject }) => subject.startsWith("News, "))).toHaveLength(16);
  expect(received.map((text) => JSON.parse(text).event)).toEqual(
    expect.arrayContaining(["delivered", "open"]),
  );

  const headers = { authorization: `Bearer ${world.apiKey}` };
  let lists = 0;
  for (const group of groups)
    for (const { method, path, auth } of group.routes) {
      // Stock photos need an API key of Pexels.
      if (
        method !== "GET" ||
        path.includes("{") ||
        auth === "public" ||
        group.name === "stock-photos"
      )
        continue;
      const { status, body } = await invokeRoute(group, `GET /${path.replace("/api/v1/", "")}`, {
        headers,
      });
      // Some routes need query parameters or a session. An internal error would be a 5xx.
      expect([200, 400, 403], `${path} ${JSON.stringify(body)}`).toContain(status);
      if (status === 200) lists++;
    }
  expect(lists).toBeGreaterThan(30);
  const { body } = await invokeRoute<{ pagination: { total: number } }>(
    groups.find(({ name }) => name === "contacts")!,
    "GET /contacts",
    {
      headers,
    },
  );
  expect(body.data.pagination.total).toBe(10);
});
