// An upgrade in place: the items and queued messages that the code of a version has written
// (test/fixtures/upgrade) are processed by the workers and endpoints of this code. Renaming a
// queue, a message field or a stored attribute without a migration fails here.
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { workers } from "../../functions/queue-workers.ts";
import { groups } from "../../functions/route-groups.ts";
import { startKmsAndSecrets } from "../../infra/local/engines/kms-and-secrets.ts";
import * as blobs from "../../shared/adapters/s3/objects.ts";
import * as clock from "../../shared/clock.ts";
import { findCampaignDetail } from "../../shared/domain/campaigns/campaigns.ts";
import { findDetail } from "../../shared/domain/delivery-events/send-history.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { queues } from "../../shared/queues.ts";
import { type FakeProvider, startFakeProvider } from "./fake-provider.ts";
import { invokeRoute } from "./lambda-requests.ts";
import { currentMemoryTable, useMemoryTables } from "./memory-dynamodb.ts";
import {
  createUpgradeFixture,
  customerPort,
  runSchedules,
  type UpgradeFixture,
} from "./upgrade-world.ts";
import { deadLetters, pendingMessages, runWorkers, useVirtualQueues } from "./virtual-queues.ts";

const root = new URL("../../", import.meta.url);
const folder = new URL("test/fixtures/upgrade/", root);
const { version: currentVersion } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));

export function testUpgradeFrom(version: string): void {
  const file = new URL(`${version}.json`, folder);
  const writesFixture = process.env.WRITE_FIXTURE !== undefined && version === currentVersion;
  let stopKms: () => Promise<void>;
  if (!currentMemoryTable()) useMemoryTables();

  beforeAll(async () => {
    const kms = await startKmsAndSecrets({
      keyFile: fileURLToPath(new URL("kms-key", folder)),
      secrets: {},
      credentials: {
        accessKeyId: process.env.AWS_ACCESS_KEY_ID!,
        secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY!,
      },
    });
    stopKms = kms.stop;
    vi.stubEnv("AWS_ENDPOINT_URL_KMS", kms.endpoint);
    vi.stubEnv("ALLOW_LOOPBACK_WEBHOOKS", "on");
    await useVirtualQueues();
  });
  afterAll(() => stopKms());

  if (writesFixture)
    test("writes the fixture", async () => {
      writeFileSync(file, toText(await createUpgradeFixture()));
    });
  else testFixture(JSON.parse(readFileSync(file, "utf8")));
}

/** JSON with a line for each message and item. */
function toText({ messages, items, ...rest }: UpgradeFixture): string {
  const linesOf = (values: object[]) => values.map((value) => JSON.stringify(value)).join(",\n");
  const head = JSON.stringify(rest).slice(0, -1);
  return `${head},\n"messages":[\n${linesOf(messages)}\n],\n"items":[\n${linesOf(items)}\n]}\n`;
}

function testFixture(fixture: UpgradeFixture): void {
  const { messages, callers, apiKey } = fixture;
  const [shop] = callers;
  let providers: FakeProvider[];
  const received: string[] = [];
  const customer = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    received.push(text);
    response.end();
  });

  beforeAll(async () => {
    // The leases, schedules and expiry times of the fixture are of the day on which it was written.
    clock.advanceClock((Date.parse(fixture.until) - clock.now().getTime()) / 1000);
    providers = await Promise.all([startFakeProvider("postmark"), startFakeProvider("ses")]);
    await new Promise<void>((resolve, reject) =>
      customer.once("error", reject).listen(customerPort, "127.0.0.1", resolve),
    );
    const table = currentMemoryTable()!;
    for (const Item of fixture.items)
      table.call("PutItem", { TableName: process.env.TABLE_NAME, Item });
    for (const [key, base64] of Object.entries(fixture.objects))
      await blobs.put(key, Buffer.from(base64, "base64"), "application/octet-stream");
    for (const message of messages)
      pendingMessages.push({ ...message, id: randomUUID(), receives: 0 });
  });
  afterAll(async () => {
    customer.close();
    await Promise.all(providers.map((provider) => provider.stop()));
  });

  test("the queues accept every queued message", () => {
    for (const { queue, body } of messages) {
      const known = Object.values(queues).find(({ name }) => name === queue);
      expect(known, queue).toBeDefined();
      expect(known!.message.safeParse(JSON.parse(body)), `${queue} ${body}`).toMatchObject({
        success: true,
      });
    }
  });

  test("waiting mail is sent once, sequences and campaigns end, and every list responds", async () => {
    await runWorkers(workers, { forSeconds: 2 * 3600, runSchedules });
    expect(deadLetters).toEqual([]);

    const mails = providers.flatMap((provider) => provider.mails);
    const sendIds = [...fixture.mails, ...mails].map(({ sendId }) => sendId);
    expect(sendIds.length).toBe(new Set(sendIds).size);
    for (const caller of callers)
      for (const { status } of (await listSends(caller, { limit: 100 }, {})).sends)
        expect(["sent", "delivered", "opened"]).toContain(status);
    for (const [name, id] of Object.entries(fixture.sends))
      expect((await findDetail(shop, id)).status, name).toBe("sent");
    for (const [name, id] of Object.entries(fixture.campaigns))
      expect((await findCampaignDetail(shop, id)).status, name).toBe("sent");
    const count = (pattern: RegExp) =>
      [...fixture.mails, ...mails].filter(({ to, subject }) => pattern.test(`${to} ${subject}`))
        .length;
    expect({
      batch: count(/^batch-/),
      waiting: count(/^waiting-/),
      welcome: count(/ Welcome$/),
      later: count(/ Later$/),
      news: count(/ News, /),
    }).toEqual({ batch: 5, waiting: 5, welcome: 2, later: 2, news: 9 });
    expect(received.map((text) => JSON.parse(text).event)).toEqual(
      expect.arrayContaining(["delivered", "open"]),
    );
    await expectLists(apiKey);
  });
}

/** Every list of the API responds, and the import has added its contact. */
async function expectLists(apiKey: string): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}` };
  let lists = 0;
  for (const group of groups)
    for (const { method, path, auth } of group.routes) {
      // Stock photos need an API key of Pexels.
      const isList = method === "GET" && !path.includes("{") && auth !== "public";
      if (!isList || group.name === "stock-photos") continue;
      const route = `GET /${path.replace("/api/v1/", "")}` as const;
      const { status, body } = await invokeRoute(group, route, { headers });
      // Some routes need query parameters or a session. An internal error would be a 5xx.
      expect([200, 400, 403], `${path} ${JSON.stringify(body)}`).toContain(status);
      if (status === 200) lists++;
    }
  expect(lists).toBeGreaterThan(30);
  const contacts = groups.find(({ name }) => name === "contacts")!;
  const { body } = await invokeRoute<{ pagination: { total: number } }>(contacts, "GET /contacts", {
    headers,
  });
  expect(body.data.pagination.total).toBe(4);
}
