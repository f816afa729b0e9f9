import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";

interface Event {
  id: number;
  eventName: string;
}
type Listed = { events: Event[]; pagination: { nextCursor: string | null } };

async function shop(): Promise<
  TestClient & {
    contactId: number;
    record(body: object, headers?: Record<string, string>): ReturnType<typeof send>;
  }
> {
  const client = await signedUp();
  const { id } = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/contacts", { email: "ann@example.com" }),
  ).body.data;
  const record = (body: object, headers = {}) => send(client, body, headers);
  return { ...client, contactId: id, record };
}
const send = ({ call }: TestClient, body: object, headers: Record<string, string>) =>
  call<Event>("POST", "/events/custom", { eventName: "order_placed", ...body }, { headers });

test("an event is recorded for a contact by id or address, and listed", async () => {
  const { call, record, contactId, siteId } = await shop();
  const properties = { total: 49.9, items: [{ sku: "a", deep: { er: [1e15, null] } }], "": "odd" };
  const first = await record({ contactId, properties });
  const made = {
    id: expect.any(Number),
    siteId,
    contactId,
    eventName: "order_placed",
    properties,
    url: null,
    source: "api",
    occurredAt: expect.any(String),
    createdAt: expect.any(String),
  };
  expect(first).toMatchObject({ status: 201 });
  expect(first.body.data).toEqual(made);
  const second = expectStatus(
    201,
    await record({ email: "ANN@example.com", siteId, eventName: "tried" }),
  );
  const { events, pagination } = expectStatus(200, await call<Listed>("GET", "/events/custom")).body
    .data;
  expect(events).toEqual([second.body.data, first.body.data]);
  expect(pagination.nextCursor).toBeNull();
  const only = async (query: string) =>
    expectStatus(200, await call<Listed>("GET", `/events/custom?${query}`)).body.data.events.map(
      ({ eventName }) => eventName,
    );
  expect(await only("eventName=tried")).toEqual(["tried"]);
  expect(await only(`contactId=${contactId}&eventName=order_placed`)).toEqual(["order_placed"]);
  expect((await call("GET", "/events/custom/names")).body.data).toMatchObject({
    names: ["order_placed", "tried"],
    uses: [{ name: "order_placed", lastUsedAt: expect.any(String) }, { name: "tried" }],
  });
  const named = `/events/custom/names/${encodeURIComponent("order_placed")}`;
  expect((await call("DELETE", named)).body.data).toEqual({ id: "order_placed", deleted: true });
  expect((await call("DELETE", named)).status).toBe(404);
  const longest = `/events/custom/names/${"x".repeat(2000)}`;
  expect((await call("DELETE", longest)).status).toBe(404);
});

test("requests with the same Idempotency-Key record one event", async () => {
  const { call, record, contactId } = await shop();
  const headers = { "idempotency-key": randomUUID() };
  const [first, again] = [
    await record({ contactId }, headers),
    await record({ contactId }, headers),
  ];
  expect(again.body).toEqual(first.body);
  expect(
    expectStatus(200, await call<Listed>("GET", "/events/custom")).body.data.events,
  ).toHaveLength(1);
});

test.each([
  ["contactId", {}],
  ["contactId", { contactId: 1, email: "ann@example.com" }],
  ["email", { email: "ann" }],
  ["eventName", { eventName: " " }],
  ["eventName", { eventName: "x".repeat(101) }],
  ["eventName", { eventName: "two\nlines" }],
  ["properties", { properties: { text: "x".repeat(8000) } }],
  ["properties", { properties: [] }],
  ["properties", { properties: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [i, 1])) }],
  ["occurredAt", { occurredAt: "2026-11-20 09:12:44" }],
  ["occurredAt", { occurredAt: new Date(Date.now() - 31 * 86_400_000).toISOString() }],
  ["occurredAt", { occurredAt: new Date(Date.now() + 3_600_000).toISOString() }],
  ["id", { id: "" }],
  ["id", { id: "x".repeat(201) }],
  ["status", { status: "subscribed" }],
  ["status", { createContact: true, status: "suppressed" }],
])("an event with a bad %s is refused", async (path, badValue) => {
  const { call } = await signedUp();
  const body = {
    eventName: "x",
    ...(path === "contactId" ? {} : { email: "ann@example.com" }),
    ...badValue,
  };
  expect(await call("POST", "/events/custom", body)).toMatchObject({
    status: 400,
    body: { details: [{ path }] },
  });
});

test("an event of the maximum size is accepted", async () => {
  const { record, contactId } = await shop();
  expectStatus(
    201,
    await record({
      contactId,
      eventName: "x".repeat(100),
      properties: { text: "x".repeat(8000 - '{"text":""}'.length) },
    }),
  );
});

test("an event for an unknown contact is a 404", async () => {
  const { record } = await shop();
  expect([
    (await record({ contactId: 1 })).status,
    (await record({ email: "bob@example.com" })).status,
  ]).toEqual([404, 404]);
});

test("a key of one site records and lists events of its site only", async () => {
  const client = await shop();
  const blog = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/sites", { name: "Blog" }),
  ).body.data.id;
  expectStatus(201, await client.record({ contactId: client.contactId }));
  const as = { key: await client.newKey({ siteId: blog }) };
  expect(
    (
      await client.call(
        "POST",
        "/events/custom",
        { eventName: "x", contactId: client.contactId },
        { as },
      )
    ).status,
  ).toBe(403);
  expect(
    expectStatus(200, await client.call<Listed>("GET", "/events/custom", undefined, { as })).body
      .data.events,
  ).toEqual([]);
  expect((await client.call("GET", "/events/custom/names", undefined, { as })).body.data).toEqual({
    names: [],
    uses: [],
  });
});

test("an event with an id is safe to repeat, and createContact makes its address a contact", async () => {
  const { call, record } = await shop();
  const event = { email: "new@example.com", createContact: true, id: "order-1" };
  const occurredAt = new Date(Date.now() - 86_400_000).toISOString().replace("Z", "+02:00");
  const first = await record({ ...event, occurredAt });
  expect(await record(event)).toMatchObject({ status: 201, body: { data: first.body.data } });
  const { contactId } = first.body.data as unknown as { contactId: number };
  expect((await call("GET", `/contacts/${contactId}`)).body.data).toMatchObject({
    status: "pending",
    source: "event: order_placed",
  });
});

test("many events have a result each; more than 100 are refused", async () => {
  const { call, contactId } = await shop();
  const many = (events: unknown[]) => call("POST", "/events/custom", { events });
  expect(await many([{ contactId, eventName: "a" }, { eventName: "a" }])).toMatchObject({
    status: 201,
    body: {
      data: {
        created: 1,
        failed: 1,
        results: [
          { index: 0, event: { contactId, eventName: "a" }, error: null },
          {
            index: 1,
            event: null,
            error: "contactId: exactly one of contactId, email, and externalId is required",
          },
        ],
      },
    },
  });
  expect(await many([])).toMatchObject({ status: 400, body: { details: [{ path: "events" }] } });
  expect(await many(Array.from({ length: 101 }, () => ({})))).toMatchObject({
    status: 400,
    body: { code: "limit_exceeded", details: [{ path: "events" }] },
  });
});

test("a key that may only write events creates no contacts", async () => {
  const client = await shop();
  const as = { key: await client.newKey({ scopes: ["events:write"] }) };
  const record = (given: object) =>
    client.call("POST", "/events/custom", { eventName: "x", ...given }, { as });
  expect(await record({ email: "ann@example.com" })).toMatchObject({ status: 201 });
  const event = { email: "new@example.com", eventName: "x", createContact: true };
  for (const body of [event, { events: [event] }])
    expect(await record(body)).toMatchObject({ status: 403, body: { code: "scope_missing" } });
});
