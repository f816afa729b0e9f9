import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { type Client, must, signedUp } from "../support/client.ts";

interface Event {
  id: number;
  eventName: string;
}
type Listed = { events: Event[]; pagination: { nextCursor: string | null } };

async function shop(): Promise<
  Client & { contactId: number; record(body: object, headers?: Record<string, string>): ReturnType<typeof send> }
> {
  const client = await signedUp();
  const { id } = must(201, await client.call<{ id: number }>("POST", "/contacts", { email: "ann@example.com" })).body.data;
  const record = (body: object, headers = {}) => send(client, body, headers);
  return { ...client, contactId: id, record };
}
const send = ({ call }: Client, body: object, headers: Record<string, string>) =>
  call<Event>("POST", "/events/custom", { eventName: "order_placed", ...body }, { headers });

test("an event is recorded for a contact by id or address, and listed", async () => {
  const { call, record, contactId, siteId } = await shop();
  const properties = { total: 49.9, items: [{ sku: "a", deep: { er: [1e300, null] } }], "": "odd" };
  const first = await record({ contactId, properties });
  const made = {
    id: expect.any(Number),
    siteId,
    contactId,
    eventName: "order_placed",
    properties,
    url: null,
    source: "api",
    createdAt: expect.any(String),
  };
  expect(first).toMatchObject({ status: 201 });
  expect(first.body.data).toEqual(made);
  const second = must(201, await record({ email: "ANN@example.com", siteId, eventName: "tried" }));
  const { events, pagination } = must(200, await call<Listed>("GET", "/events/custom")).body.data;
  expect(events).toEqual([second.body.data, first.body.data]);
  expect(pagination.nextCursor).toBeNull();
  const only = async (query: string) =>
    must(200, await call<Listed>("GET", `/events/custom?${query}`)).body.data.events.map(({ eventName }) => eventName);
  expect(await only("eventName=tried")).toEqual(["tried"]);
  expect(await only(`contactId=${contactId}&eventName=order_placed`)).toEqual(["order_placed"]);
  expect((await call("GET", "/events/custom/names")).body.data).toEqual({ names: ["order_placed", "tried"] });
});

test("a request made twice under one Idempotency-Key is one event", async () => {
  const { call, record, contactId } = await shop();
  const headers = { "idempotency-key": randomUUID() };
  const [first, again] = [await record({ contactId }, headers), await record({ contactId }, headers)];
  expect(again.body).toEqual(first.body);
  expect(must(200, await call<Listed>("GET", "/events/custom")).body.data.events).toHaveLength(1);
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
])("an event with a bad %s is refused", async (path, bad) => {
  const { call } = await signedUp();
  const body = { eventName: "x", ...(path === "contactId" ? {} : { email: "ann@example.com" }), ...bad };
  expect(await call("POST", "/events/custom", body)).toMatchObject({ status: 400, body: { details: [{ path }] } });
});

test("the largest event is taken", async () => {
  const { record, contactId } = await shop();
  must(201, await record({ contactId, eventName: "x".repeat(100), properties: { text: "x".repeat(8000 - '{"text":""}'.length) } }));
});

test("an event for a contact that is not there is a 404", async () => {
  const { record } = await shop();
  expect([(await record({ contactId: 1 })).status, (await record({ email: "bob@example.com" })).status]).toEqual([404, 404]);
});

test("a key bound to a site records and sees what is of its site", async () => {
  const client = await shop();
  const blog = must(201, await client.call<{ id: number }>("POST", "/sites", { name: "Blog" })).body.data.id;
  must(201, await client.record({ contactId: client.contactId }));
  const as = { key: await client.newKey({ siteId: blog }) };
  expect((await client.call("POST", "/events/custom", { eventName: "x", contactId: client.contactId }, { as })).status).toBe(403);
  expect(must(200, await client.call<Listed>("GET", "/events/custom", undefined, { as })).body.data.events).toEqual([]);
  expect((await client.call("GET", "/events/custom/names", undefined, { as })).body.data).toEqual({ names: [] });
});
