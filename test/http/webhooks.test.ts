import { afterAll, beforeAll, expect, test } from "vitest";
import {
  expectStatus,
  signedUp,
  type TestClient,
  type TestResponse,
  waitForMail,
} from "../support/api-client.ts";
import {
  type CustomerEndpoint,
  hasStandardSignature,
  hasValidSignature,
  startCustomerEndpoint,
  toWhsec,
} from "../support/customer-endpoint.ts";
import { type RunningTestService, startServiceProcess } from "../support/service-process.ts";

interface Webhook {
  id: number;
  url: string;
  events: string[];
  active: boolean;
  description: string | null;
  secret: string;
  previousSecretUntil: string | null;
  updatedAt: string;
}
interface Delivery {
  id: number;
  eventId: number;
  event: string;
  sendId: number;
  status: string;
  attempts: number;
  responseStatus: number | null;
  latencyMs: number | null;
  nextAttemptAt: string | null;
}
interface Listed {
  deliveries: Delivery[];
  pagination: { total: number | null; nextCursor: string | null };
}
interface Tested {
  event: string;
  delivered: boolean;
  requestBody: string;
  responseStatus: number | null;
  responseBody: string | null;
  latencyMs: number;
  error: string | null;
}

const types = [
  "delivered",
  "open",
  "click",
  "bounce",
  "spam_report",
  "unsubscribe",
  "dropped",
  "deferred",
];
const url = "https://shop.example/hooks/mail";

const add = ({ call }: TestClient, fields: object = {}) =>
  call<Webhook>("POST", "/webhooks", { url, events: ["bounce"], ...fields });
const added = async (client: TestClient, fields: object = {}) =>
  expectStatus(201, await add(client, fields)).body.data;
const change = ({ call }: TestClient, id: number, changes: object) =>
  call<Webhook>("PUT", `/webhooks/${id}`, changes);
const refusedFor = ({ status, body }: TestResponse<unknown>) => [status, body.details?.[0]?.path];

/** The organization of all refused requests. */
let refused: TestClient;
beforeAll(async () => {
  refused = await signedUp();
});

test("an endpoint is created, listed, changed and deleted; only creation returns the secret", async () => {
  const client = await signedUp();
  const { secret, ...created } = await added(client, {
    events: ["bounce", "open"],
    description: "CRM",
  });
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(created).toEqual({
    id: expect.any(Number),
    url,
    events: ["bounce", "open"],
    active: true,
    description: "CRM",
    inactiveReason: null,
    failingSince: null,
    previousSecretUntil: null,
    createdAt: expect.stringMatching(/\.\d{3}Z$/),
    updatedAt: expect.stringMatching(/\.\d{3}Z$/),
  });
  expect((await client.call("GET", `/webhooks/${created.id}`)).body.data).toEqual(created);
  const second = await added(client, { url: `${url}/second` });
  const { webhooks, pagination } = expectStatus(
    200,
    await client.call<{ webhooks: Webhook[]; pagination: object }>("GET", "/webhooks"),
  ).body.data;
  expect(webhooks.map(({ id }) => id)).toEqual([second.id, created.id]);
  expect(webhooks[1]).toEqual(created);
  expect(pagination).toEqual({ page: 1, limit: 50, total: 2, totalPages: 1, nextCursor: null });

  const changed = expectStatus(
    200,
    await change(client, created.id, { events: ["click"], active: false, description: null }),
  ).body.data;
  expect(changed).toEqual({
    ...created,
    events: ["click"],
    active: false,
    description: null,
    updatedAt: changed.updatedAt,
  });
  expect((await client.call("DELETE", `/webhooks/${created.id}`)).body.data).toEqual({
    id: created.id,
    deleted: true,
  });
  expect((await client.call("GET", `/webhooks/${created.id}`)).status).toBe(404);
  expect((await client.call("DELETE", `/webhooks/${created.id}`)).status).toBe(404);
});

test.each([
  ["url", "http://shop.example/hooks"],
  ["url", "ftp://shop.example/"],
  ["url", "shop.example"],
  ["url", ""],
  ["url", 7],
  ["url", "https://user:pass@shop.example/"],
  ["url", "https://10.0.0.1/"],
  ["url", "https://3232235521/"],
  ["url", "https://[::ffff:10.0.0.1]/"],
  ["url", "https://169.254.169.254/latest/meta-data/"],
  ["url", "https://intranet/"],
  ["url", "https://shop.example./"],
  ["url", `https://shop.example/${"x".repeat(2028)}`],
  ["events", []],
  ["events", "bounce"],
  ["events", Array(51).fill("bounce")],
  ["description", "x".repeat(501)],
  ["description", "two\nlines"],
])("%s %.40j is refused, and the error names the field", async (field, value) => {
  expect(refusedFor(await add(refused, { [field]: value }))).toEqual([400, field]);
  expect(
    (await refused.call<{ webhooks: Webhook[] }>("GET", "/webhooks")).body.data.webhooks,
  ).toEqual([]);
});

test("an unknown event type and a missing field are refused with their paths", async () => {
  const unknown = await add(refused, { events: ["bounce", "opened"] });
  expect(refusedFor(unknown)).toEqual([400, "events.1"]);
  expect(unknown.body.error).toContain(`events.1: must be one of: ${types.join(", ")}`);
  for (const field of ["url", "events"])
    expect(refusedFor(await add(refused, { [field]: undefined }))).toEqual([400, field]);
});

test("values up to their limits are accepted; a repeated event type is stored once", async () => {
  const client = await signedUp();
  const longest = `https://shop.example/${"x".repeat(2027)}`;
  const made = await added(client, {
    url: longest,
    events: [...types, ...types],
    description: "x".repeat(500),
  });
  expect(made).toMatchObject({ url: longest, events: types, description: "x".repeat(500) });
  expect(refusedFor(await change(client, made.id, { url: `${longest}x` }))).toEqual([400, "url"]);
  expect(refusedFor(await change(client, made.id, { events: [] }))).toEqual([400, "events"]);
  expect(refusedFor(await change(client, made.id, { active: "yes" }))).toEqual([400, "active"]);
  expect((await client.call("GET", `/webhooks/${made.id}`)).body.data).toMatchObject({
    url: longest,
    events: types,
    active: true,
  });
});

test("a repeated Idempotency-Key creates one endpoint, and returns the secret only once", async () => {
  const client = await signedUp();
  const once = () =>
    client.call<Webhook>(
      "POST",
      "/webhooks",
      { url, events: ["bounce"] },
      { headers: { "idempotency-key": "once" } },
    );
  const first = expectStatus(201, await once()).body.data;
  const again = expectStatus(201, await once());
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  const { secret: _, ...rest } = first;
  expect(again.body.data).toEqual(rest);
  expect(
    (await client.call<{ webhooks: Webhook[] }>("GET", "/webhooks")).body.data.webhooks,
  ).toHaveLength(1);
});

test("another organization cannot read, change, test or rotate an endpoint", async () => {
  const [owner, stranger] = await Promise.all([signedUp(), signedUp()]);
  const { id } = await added(owner);
  const requests: [string, string, object?][] = [
    ["GET", `/webhooks/${id}`],
    ["PUT", `/webhooks/${id}`, { active: false }],
    ["DELETE", `/webhooks/${id}`],
    ["GET", `/webhooks/${id}/deliveries`],
    ["POST", `/webhooks/${id}/deliveries/1/redeliver`],
    ["POST", `/webhooks/${id}/test`, {}],
    ["POST", `/webhooks/${id}/rotate-secret`],
  ];
  for (const [method, path, body] of requests)
    expect([path, (await stranger.call(method, path, body)).status]).toEqual([path, 404]);
  const bound = await owner.newKey({ siteId: owner.siteId });
  for (const [method, path, body] of requests) {
    const { status, body: answer } = await owner.call(method, path, body, { as: { key: bound } });
    expect([path, status, answer.code]).toEqual([path, 403, "site_forbidden"]);
  }
  const reading = await owner.newKey({ scopes: ["webhooks:read"] });
  expect(
    (await owner.call("GET", `/webhooks/${id}`, undefined, { as: { key: reading } })).status,
  ).toBe(200);
  expect(
    (await owner.call("POST", `/webhooks/${id}/rotate-secret`, undefined, { as: { key: reading } }))
      .body.code,
  ).toBe("scope_missing");
  expect((await owner.call("GET", `/webhooks/${id}`)).body.data).toMatchObject({
    active: true,
    previousSecretUntil: null,
  });
});

test("a new endpoint has no deliveries and none to redeliver", async () => {
  const client = await signedUp();
  const { id } = await added(client);
  expect((await client.call("GET", `/webhooks/${id}/deliveries?status=dead`)).body.data).toEqual({
    deliveries: [],
    pagination: { page: 1, limit: 50, total: null, totalPages: null, nextCursor: null },
  });
  expect((await client.call("POST", `/webhooks/${id}/deliveries/123/redeliver`)).status).toBe(404);
  expect((await client.call("POST", `/webhooks/${id}/deliveries/x/redeliver`)).status).toBe(404);
  expect(refusedFor(await client.call("GET", `/webhooks/${id}/deliveries?status=lost`))).toEqual([
    400,
    "status",
  ]);
  expect(refusedFor(await client.call("GET", `/webhooks/${id}/deliveries?limit=101`))).toEqual([
    400,
    "limit",
  ]);
  expect(refusedFor(await client.call("GET", `/webhooks/${id}/deliveries?cursor=abc!`))).toEqual([
    400,
    "cursor",
  ]);
});

/** The local service, which may call endpoints on this machine. */
let service: RunningTestService;
const open: CustomerEndpoint[] = [];
beforeAll(async () => {
  service = await startServiceProcess();
});
afterAll(async () => {
  for (const one of open) one.close();
  await service.stop();
});

async function listening(answer: CustomerEndpoint["answer"] = 200, fields: object = {}) {
  const endpoint = await startCustomerEndpoint(answer);
  open.push(endpoint);
  const client = await signedUp({ service: service.url });
  return {
    endpoint,
    client,
    ...(await added(client, { url: endpoint.url, events: types, ...fields })),
  };
}

test("a test calls the endpoint like an event and returns its response", async () => {
  const { endpoint, client, id, secret } = await listening(204, { events: ["click", "bounce"] });
  const trying = async (body: object = {}) =>
    (await client.call<Tested>("POST", `/webhooks/${id}/test`, body)).body.data;
  expect(await trying()).toEqual({
    event: "click",
    requestBody: endpoint.deliveries[0]!.body,
    delivered: true,
    responseStatus: 204,
    responseBody: "",
    latencyMs: expect.any(Number),
    error: null,
  });
  expectStatus(200, await change(client, id, { active: false }));
  expect(await trying({ event: "spam_report" })).toMatchObject({
    event: "spam_report",
    delivered: true,
  });
  endpoint.answer = 503;
  expect(await trying()).toMatchObject({
    delivered: false,
    responseStatus: 503,
    error: "The endpoint responded with status 503",
  });
  endpoint.close();
  expect(await trying()).toMatchObject({
    delivered: false,
    responseStatus: null,
    error: expect.stringContaining("ECONNREFUSED"),
  });
  expect(endpoint.deliveries.map(({ event }) => event.event)).toEqual([
    "click",
    "spam_report",
    "click",
  ]);
  expect(new Set(endpoint.deliveries.map(({ headers }) => headers["webhook-id"])).size).toBe(3);
  for (const delivery of endpoint.deliveries) {
    expect(Object.keys(delivery.event).slice(0, 5)).toEqual([
      "event",
      "sendId",
      "contactId",
      "email",
      "timestamp",
    ]);
    expect(delivery.event).toHaveProperty("data");
    expect([
      hasValidSignature(delivery, secret),
      hasStandardSignature(delivery, toWhsec(secret)),
    ]).toEqual([true, true]);
  }
  expect(
    (await client.call<Listed>("GET", `/webhooks/${id}/deliveries`)).body.data.deliveries,
  ).toEqual([]);
  expect(refusedFor(await client.call("POST", `/webhooks/${id}/test`, { event: "sent" }))).toEqual([
    400,
    "event",
  ]);
});

test("after a rotation, both secrets verify a call", async () => {
  const { endpoint, client, id, secret: old } = await listening();
  const { secret, previousSecretUntil } = expectStatus(
    200,
    await client.call<Webhook>("POST", `/webhooks/${id}/rotate-secret`),
  ).body.data;
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(Date.parse(previousSecretUntil!) - Date.now()).toBeGreaterThan(23 * 3600_000);
  await client.call("POST", `/webhooks/${id}/test`, {});
  const [delivery] = endpoint.deliveries;
  expect([
    hasValidSignature(delivery!, secret),
    hasValidSignature(delivery!, old, "x-webhook-signature-previous"),
  ]).toEqual([true, true]);
  expect([
    hasStandardSignature(delivery!, toWhsec(secret)),
    hasStandardSignature(delivery!, toWhsec(old)),
  ]).toEqual([true, true]);
  expect((await client.call("GET", `/webhooks/${id}`)).text).not.toContain(secret);
});

/** Creates a sending config at the sandbox's Postmark, which posts events by itself. */
async function sending({ call }: TestClient): Promise<void> {
  const answer = await fetch(`${service.url}/_local/sandbox`, {
    headers: { accept: "application/json" },
  });
  const { data } = (await answer.json()) as { data: { providers: Record<string, object> } };
  expectStatus(
    201,
    await call("POST", "/sending-configs", {
      provider: "postmark",
      fromEmail: "me@pennymail.test",
      ...data.providers.postmark,
    }),
  );
}
const mailed = async ({ call }: TestClient, recipients: string[]) =>
  expectStatus(
    202,
    await call<{ results: { id: number }[] }>("POST", "/send/batch", {
      fromEmail: "me@pennymail.test",
      subject: "Hello",
      html: "<p>Hello</p>",
      recipients: recipients.map((name) => ({ to: `${name}@simulator.pennymail.test` })),
    }),
  ).body.data.results.map(({ id }) => id);
const settled = () => fetch(`${service.url}/_local/settle`, { method: "POST" });

test("events of a mail are delivered, listed in pages, and can be redelivered", async () => {
  const { endpoint, client, id, secret } = await listening(({ event }) =>
    event.event === "bounce" ? 500 : 200,
  );
  await sending(client);
  const sendIds = await mailed(client, [
    "delivered+1",
    "delivered+2",
    "delivered+3",
    "bounced+1",
    "bounced+2",
  ]);
  await expect.poll(() => endpoint.deliveries.length).toBeGreaterThanOrEqual(5);
  await settled();
  const delivered = endpoint.deliveries.filter(({ event }) => event.event === "delivered");
  expect(delivered.map(({ event }) => event.sendId).toSorted()).toEqual(sendIds.slice(0, 3));
  expect(delivered[0]!.event).toMatchObject({
    event: "delivered",
    sendId: expect.any(Number),
    contactId: null,
    email: expect.stringContaining("delivered+"),
    timestamp: expect.stringMatching(/\.\d{3}Z$/),
    batchId: expect.any(Number),
    data: {},
  });
  for (const delivery of endpoint.deliveries)
    expect(hasValidSignature(delivery, secret)).toBe(true);

  const list = async (query = "") =>
    expectStatus(200, await client.call<Listed>("GET", `/webhooks/${id}/deliveries?${query}`)).body
      .data;
  const all = (await list()).deliveries;
  expect(all).toHaveLength(5);
  expect(all.filter(({ event }) => event === "delivered")).toMatchObject(
    Array(3).fill({ status: "delivered", attempts: 1, responseStatus: 200 }),
  );
  const failing = all.filter(({ event }) => event === "bounce");
  expect(failing).toMatchObject(
    Array(2).fill({ status: "pending", responseStatus: 500, nextAttemptAt: expect.any(String) }),
  );
  expect((await list("status=pending")).deliveries).toEqual(failing);
  expect((await list("status=dead")).deliveries).toEqual([]);

  const paged: Delivery[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Listed = await list(`limit=2${cursor && `&cursor=${cursor}`}`);
    expect(page.deliveries.length).toBeLessThanOrEqual(2);
    paged.push(...page.deliveries);
    cursor = page.pagination.nextCursor;
  }
  expect(paged).toEqual(all);
  expect((await list("limit=2&page=2")).deliveries).toEqual(all.slice(2, 4));

  endpoint.answer = 200;
  const [one, other] = [failing[0]!, all.find(({ event }) => event === "delivered")!];
  for (const { id: deliveryId } of [one, other]) {
    const answer = await client.call<Delivery>(
      "POST",
      `/webhooks/${id}/deliveries/${deliveryId}/redeliver`,
    );
    expect([answer.status, answer.body.data.id, answer.body.data.status]).toEqual([
      202,
      deliveryId,
      "pending",
    ]);
  }
  const statusOf = async (deliveryId: number) =>
    (await list()).deliveries.find((delivery) => delivery.id === deliveryId)!.status;
  await expect.poll(() => statusOf(one.id)).toBe("delivered");
  await expect.poll(() => statusOf(other.id)).toBe("delivered");
  const idsOf = (sendId: number) =>
    new Set(
      endpoint.deliveries
        .filter(({ event }) => event.sendId === sendId)
        .map(({ headers }) => headers["webhook-id"]),
    );
  expect([idsOf(one.sendId).size, idsOf(other.sendId).size]).toEqual([1, 1]);
});

test("410 Gone sets an endpoint inactive, and its owner gets a mail with the reason", async () => {
  const { client, id } = await listening(410);
  await sending(client);
  await mailed(client, ["delivered+gone"]);
  const { subject, text } = await waitForMail(client.email, service.url);
  expect(subject).toBe("Your webhook endpoint was deactivated");
  expect(text).toContain("The endpoint responded with 410 Gone");
  expect((await client.call("GET", `/webhooks/${id}`)).body.data).toMatchObject({
    active: false,
    inactiveReason: "The endpoint responded with 410 Gone",
  });
  expect(
    (await client.call<Listed>("GET", `/webhooks/${id}/deliveries`)).body.data.deliveries,
  ).toMatchObject([{ status: "dead", attempts: 1 }]);
});
