import { beforeAll, expect, test } from "vitest";
import { update, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as deliveries from "../../shared/domain/webhooks/deliveries.ts";
import * as log from "../../shared/domain/webhooks/delivery-log.ts";
import * as rows from "../../shared/domain/webhooks/delivery-row.ts";
import * as hostPace from "../../shared/domain/webhooks/host-pace.ts";
import * as webhooks from "../../shared/domain/webhooks/webhooks.ts";
import * as ids from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import { createAccount } from "../support/accounts.ts";
import { hasValidSignature } from "../support/customer-endpoint.ts";
import { createEvents, createListener, enqueueAndDeliver } from "../support/outgoing-webhooks.ts";
import { useVirtualQueues } from "../support/virtual-queues.ts";

beforeAll(async () => {
  process.env.ALLOW_LOOPBACK_WEBHOOKS = "on";
  await useVirtualQueues();
});

const webhookFields = webhooks.NewWebhook.parse({
  url: "https://shop.example/hooks",
  events: ["bounce"],
});

test("an organization can have 100 endpoints, and another one after one is deleted", async () => {
  const { caller } = await createAccount();
  const { id } = await webhooks.create(caller, webhookFields);
  for (let made = 1; made < webhooks.maxEndpoints; made++)
    await webhooks.create(caller, { ...webhookFields, url: `${webhookFields.url}/${made}` });
  await expect(
    webhooks.create(caller, { ...webhookFields, url: `${webhookFields.url}/more` }),
  ).rejects.toMatchObject({
    kind: "invalid",
    code: "limit_exceeded",
  });
  await webhooks.remove(caller, id);
  await webhooks.create(caller, webhookFields);
  expect((await webhooks.list(caller, { limit: 100 })).pagination.total).toBe(100);
});

test("a URL has one endpoint per organization, also with simultaneous requests", async () => {
  const { caller } = await createAccount();
  const outcomes = await Promise.allSettled(
    ["", "#part"].map((end) =>
      webhooks.create(caller, { ...webhookFields, url: `${webhookFields.url}${end}` }),
    ),
  );
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const urlTaken = { kind: "conflict", code: "url_taken" };
  await expect(webhooks.create(caller, webhookFields)).rejects.toMatchObject(urlTaken);
  const other = await webhooks.create(caller, {
    ...webhookFields,
    url: "https://shop.example/other",
  });
  await expect(webhooks.change(caller, other.id, { url: webhookFields.url })).rejects.toMatchObject(
    urlTaken,
  );
  expect((await webhooks.change(caller, other.id, { url: "https://shop.example/third" })).url).toBe(
    "https://shop.example/third",
  );
  const second = await webhooks.create(caller, {
    ...webhookFields,
    url: "https://shop.example/other",
  });
  await webhooks.remove(caller, second.id);
  await webhooks.create(caller, { ...webhookFields, url: "https://shop.example/other" });
  const { caller: stranger } = await createAccount();
  await webhooks.create(stranger, webhookFields);
});

test("a host gets a limited number of calls per window for all its endpoints; later calls wait", async () => {
  const { caller, endpoint } = await createListener();
  for (let n = 1; n < 6; n++)
    await webhooks.create(
      caller,
      webhooks.NewWebhook.parse({ url: `${endpoint.url}?n=${n}`, events: ["open"] }),
    );
  // The clock is at the start of a window.
  clock.advanceClock(
    hostPace.windowSeconds - ((clock.now().getTime() / 1000) % hostPace.windowSeconds) + 0.01,
  );
  const shares = await Promise.all(
    Array.from({ length: 45 }, (_, n) => hostPace.take(1, `${endpoint.url}?n=${n}`, 100)),
  );
  expect(shares.reduce((sum, { calls }) => sum + calls, 0)).toBe(hostPace.maxCallsPerWindow);
  expect(new Set(shares.map(({ waitUntil }) => waitUntil?.getTime())).size).toBe(3);
  expect(await hostPace.take(1, "https://other.example/", 100)).toEqual({ calls: 100 });
  await enqueueAndDeliver(caller, createEvents(450, "open"), 60);
  expect(endpoint.deliveries).toHaveLength(2700);
});

test("a retried creation makes one endpoint, and the returned secret is the one that signs", async () => {
  const { caller, endpoint } = await createListener();
  const address = keys.idempotency(caller.orgId, "a key");
  await write(update(address, { set: { taken: {} } }));
  const memory = { key: address, taken: {} };
  const create = () =>
    webhooks.create(caller, { ...webhookFields, url: `${endpoint.url}?second`, events: ["open"] });
  const [first, second] = [
    await ids.withReservedIds(memory, create),
    await ids.withReservedIds(memory, create),
  ];
  expect([second.id, second.createdAt]).toEqual([first.id, first.createdAt]);
  expect((await webhooks.list(caller, { limit: 100 })).pagination.total).toBe(2);
  await enqueueAndDeliver(caller, createEvents(1, "open"));
  const own = endpoint.deliveries.filter((delivery) => hasValidSignature(delivery, second.secret));
  expect([endpoint.deliveries.length, own.length]).toEqual([2, 1]);
});

test("two simultaneous updates of a batch keep each other's changes", async () => {
  const batch = {
    orgId: 1,
    webhookId: await ids.nextId("WEBHOOK"),
    number: 7,
    v: 0,
    rows: createEvents(2).map(rows.newRow),
  };
  const read = await log.updateBatch(batch, (all) => all);
  const ending = (n: number) =>
    log.updateBatch(read, (all) =>
      all.map((row, i) => (i === n ? rows.markDead(row, `by ${n}`) : row)),
    );
  await Promise.all([ending(0), ending(1)]);
  expect((await log.getBatch(1, batch.webhookId, 7))!.rows.map(({ error }) => error)).toEqual([
    "by 0",
    "by 1",
  ]);
});

test("the next page of deliveries continues after the last one, even if new ones arrived", async () => {
  const { caller, id } = await createListener();
  const [old, young] = [createEvents(130), createEvents(30)];
  await enqueueAndDeliver(caller, old);
  const first = await deliveries.list(caller, { limit: 100 }, { webhookId: id });
  await enqueueAndDeliver(caller, young);
  const second = await deliveries.list(
    caller,
    {
      limit: 100,
      cursor: first.pagination.nextCursor!,
    },
    { webhookId: id },
  );
  expect([...first.deliveries, ...second.deliveries].map(({ eventId }) => eventId)).toEqual(
    old.map((event) => event.id).toReversed(),
  );
  expect(second.pagination).toEqual({
    page: 1,
    limit: 100,
    total: null,
    totalPages: null,
    nextCursor: null,
  });
  const deep = await deliveries.list(caller, { limit: 50, page: 4 }, { webhookId: id });
  expect(deep.deliveries).toHaveLength(10);
  await expect(
    deliveries.list(caller, { limit: 100, page: 101 }, { webhookId: id }),
  ).rejects.toMatchObject({
    kind: "invalid",
  });
});
