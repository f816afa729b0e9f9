import { beforeAll, expect, test } from "vitest";
import * as deliveries from "../../shared/domain/webhooks/deliveries.ts";
import * as pages from "../../shared/domain/webhooks/pages.ts";
import * as rows from "../../shared/domain/webhooks/rows.ts";
import * as webhooks from "../../shared/domain/webhooks.ts";
import { update, write } from "../../shared/doors/table.ts";
import * as ids from "../../shared/ids.ts";
import { keys } from "../../shared/keys.ts";
import { account } from "../support/callers.ts";
import { genuine } from "../support/endpoint.ts";
import { announced, happened, listener } from "../support/forwarding.ts";
import { opened } from "../support/virtual-queues.ts";

beforeAll(async () => {
  process.env.ALLOW_LOOPBACK_WEBHOOKS = "on";
  await opened();
});

const wanted = webhooks.NewWebhook.parse({ url: "https://shop.example/hooks", events: ["bounce"] });

test("an organization has at most 100 endpoints, and one more after one is removed", async () => {
  const { caller } = await account();
  const { id } = await webhooks.create(caller, wanted);
  for (let made = 1; made < webhooks.mostEndpoints; made++) await webhooks.create(caller, wanted);
  await expect(webhooks.create(caller, wanted)).rejects.toMatchObject({ kind: "invalid", code: "limit_exceeded" });
  await webhooks.remove(caller, id);
  await webhooks.create(caller, wanted);
  expect((await webhooks.list(caller, { limit: 100 })).pagination.total).toBe(100);
});

test("a creation that died and is made again makes one endpoint, and the secret that is told is the one that signs", async () => {
  const { caller, there } = await listener();
  const address = keys.idempotency(caller.orgId, "a key");
  await write(update(address, { set: { taken: {} } }));
  const memory = { address, taken: {} };
  const create = () => webhooks.create(caller, { ...wanted, url: there.url, events: ["open"] });
  const [first, second] = [await ids.remembering(memory, create), await ids.remembering(memory, create)];
  expect([second.id, second.createdAt]).toEqual([first.id, first.createdAt]);
  expect((await webhooks.list(caller, { limit: 100 })).pagination.total).toBe(2);
  await announced(caller, happened(1, "open"));
  const own = there.heard.filter((heard) => genuine(heard, second.secret));
  expect([there.heard.length, own.length]).toEqual([2, 1]);
});

test("of two who write down at once what became of one page, neither takes back what the other wrote", async () => {
  const page = { orgId: 1, webhookId: await ids.take("WEBHOOK"), number: 7, v: 0, rows: happened(2).map(rows.fresh) };
  const read = await pages.store(page, (all) => all);
  const ending = (n: number) => pages.store(read, (all) => all.map((row, i) => (i === n ? rows.ended(row, `by ${n}`) : row)));
  await Promise.all([ending(0), ending(1)]);
  expect((await pages.find(1, page.webhookId, 7))!.rows.map(({ error }) => error)).toEqual(["by 0", "by 1"]);
});

test("deliveries go on where a page ended, however many came in between; a foreign cursor finds nothing it should not", async () => {
  const { caller, id } = await listener();
  const [old, young] = [happened(130), happened(30)];
  await announced(caller, old);
  const first = await deliveries.list(caller, id, { limit: 100 });
  await announced(caller, young);
  const second = await deliveries.list(caller, id, { limit: 100, cursor: first.pagination.nextCursor! });
  expect([...first.deliveries, ...second.deliveries].map(({ eventId }) => eventId)).toEqual(old.map((event) => event.id).toReversed());
  expect(second.pagination).toEqual({ page: 1, limit: 100, total: null, totalPages: null, nextCursor: null });
  const deep = await deliveries.list(caller, id, { limit: 50, page: 4 });
  expect(deep.deliveries).toHaveLength(10);
  await expect(deliveries.list(caller, id, { limit: 100, page: 101 })).rejects.toMatchObject({ kind: "invalid" });
  const foreign = await deliveries.list(caller, id, { limit: 100, cursor: Buffer.from("x").toString("base64url") });
  expect(foreign.deliveries).toEqual([]);
});
