// Segment's API, as its official library for Node.js and other clients call it.
import { Analytics } from "@segment/analytics-node";
import { expect, inject, test } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";

interface Contact {
  id: number;
  email: string;
  externalId: string | null;
  locale: string | null;
}
interface Answer {
  applied: number;
  ignored: number;
  failed: number;
  results: { index: number; outcome: string; reason: string | null }[];
}

async function shop() {
  const client = await signedUp();
  const key = await client.newKey({ siteId: client.siteId, scopes: ["segment:write"] });
  const authorization = `Basic ${Buffer.from(`${key}:`).toString("base64")}`;
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    client.call<Answer>("POST", `/segment/v1/${path}`, body, {
      as: "anonymous",
      headers: { authorization, ...headers },
    });
  return { ...client, key, post };
}

const contactsOf = async ({ call }: TestClient, query = "") =>
  expectStatus(200, await call<{ contacts: Contact[] }>("GET", `/contacts${query}`)).body.data
    .contacts;
const eventsOf = async ({ call }: TestClient) =>
  expectStatus(
    200,
    await call<{ events: { eventName: string; properties: object; contactId: number }[] }>(
      "GET",
      "/events/custom",
    ),
  ).body.data.events;

test("the official library reports contacts and events", async () => {
  const client = await shop();
  const analytics = new Analytics({
    writeKey: client.key,
    host: inject("baseUrl"),
    path: "/api/v1/segment/v1/batch",
  });
  const failures: unknown[] = [];
  analytics.on("error", (error) => failures.push(error));
  analytics.identify({
    userId: "u1",
    traits: {
      email: "ada@example.com",
      name: "Ada King Lovelace",
      phone: 44,
      company: { name: "Engines" },
      timezone: "Europe/London",
      plan: "pro",
      seats: 3,
      address: { city: "London" },
    },
  });
  analytics.track({ userId: "u1", event: "Order Completed", properties: { total: 49.9 } });
  analytics.page({ userId: "u1", name: "Pricing", properties: { url: "https://x.example/" } });
  analytics.screen({ userId: "u1", name: "Home" });
  analytics.group({ userId: "u1", groupId: "g1", traits: { name: "Analytical Engines" } });
  analytics.track({ anonymousId: "browser", event: "Looked" });
  analytics.alias({ previousId: "u1", userId: "u2" });
  await analytics.closeAndFlush();
  expect(failures).toEqual([]);
  const [ada] = await contactsOf(client, "?externalId=u2");
  expect(ada).toMatchObject({
    email: "ada@example.com",
    firstName: "Ada King",
    lastName: "Lovelace",
    phone: "44",
    company: "Analytical Engines",
    timezone: "Europe/London",
    customFields: { plan: "pro", seats: 3, address: '{"city":"London"}' },
    status: "pending",
    source: "segment",
  });
  const events = await eventsOf(client);
  expect(events.map(({ eventName }) => eventName).toSorted()).toEqual([
    "Order Completed",
    "page",
    "screen",
  ]);
  expect(events.find(({ eventName }) => eventName === "page")).toMatchObject({
    contactId: ada!.id,
    properties: { name: "Pricing", url: "https://x.example/" },
  });
});

test("a repeated call counts once by its messageId; timestamp is when it happened", async () => {
  const client = await shop();
  await client.post("identify", { userId: "u1", traits: { email: "ada@example.com" } });
  const timestamp = new Date(Date.now() - 86_400_000).toISOString();
  const call = { type: "track", userId: "u1", event: "Ordered", messageId: "m1", timestamp };
  for (const path of ["track", "track"]) expectStatus(200, await client.post(path, call));
  expectStatus(200, await client.post("import", { batch: [call, call] }));
  expect(await eventsOf(client)).toMatchObject([{ eventName: "Ordered", occurredAt: timestamp }]);
});

test("identify finds the contact by userId, then by address, and clears fields by null", async () => {
  const client = await shop();
  const { call, post } = client;
  expectStatus(201, await call("POST", "/contacts", { email: "ada@example.com" }));
  const identify = async (userId: string, traits: object) =>
    expectStatus(200, await post("identify", { userId, traits })).body.data.results[0];
  await identify("u1", { email: "ADA@example.com", first_name: "Ada", plan: "pro" });
  await identify("u1", { email: "lovelace@example.com", plan: null, bio: "x".repeat(3000) });
  expect(await contactsOf(client)).toMatchObject([
    {
      email: "lovelace@example.com",
      externalId: "u1",
      firstName: "Ada",
      status: "subscribed",
      customFields: {},
    },
  ]);
  expect(await identify("u1", { bio: "x".repeat(3000), email: "no address" })).toMatchObject({
    outcome: "applied",
    reason: "Left out traits: bio, email",
  });
  await identify("u2", { email: "bob@example.com", subscribed: true });
  expect(await contactsOf(client, "?externalId=u2")).toMatchObject([{ status: "subscribed" }]);
  expect(
    await post("identify", { userId: "u2", traits: { email: "lovelace@example.com" } }),
  ).toMatchObject({ status: 400, body: { code: "validation_failed" } });
});

test("identify takes the language of the traits, else of the browser while none is known", async () => {
  const client = await shop();
  const localeAfter = async (traits: object, context: object = {}) => {
    const call = { userId: "u1", traits: { email: "ada@example.com", ...traits }, context };
    expectStatus(200, await client.post("identify", call));
    return (await contactsOf(client, "?externalId=u1"))[0]!.locale;
  };
  expect(await localeAfter({}, { locale: "not a tag" })).toBeNull();
  expect(await localeAfter({}, { locale: "de-AT" })).toBe("de-AT");
  expect(await localeAfter({}, { locale: "en-US" })).toBe("de-AT");
  expect(await localeAfter({ locale: "pt_br" }, { locale: "en-US" })).toBe("pt-BR");
});

test("calls about nobody known are ignored, and bad calls of a batch fail alone", async () => {
  const client = await shop();
  const { data } = expectStatus(
    200,
    await client.post("batch", {
      batch: [
        { type: "track", anonymousId: "a", event: "Looked" },
        { type: "track", userId: "u9", event: "Looked" },
        { type: "identify", userId: "u1", traits: { email: "ada@example.com" } },
        { type: "track", userId: "u1", event: "" },
        { type: "track", userId: "u1", event: "Late", timestamp: "2001-01-01T00:00:00Z" },
        { type: "track", userId: "u1", event: "Odd", timestamp: "yesterday" },
        { type: "track", userId: "u1", event: "Large", properties: { text: "x".repeat(33_000) } },
        { type: "unknown" },
        "call",
        { type: "track", event: "Known", context: { traits: { email: "ada@example.com" } } },
      ],
    }),
  ).body;
  expect(data).toMatchObject({ success: true, applied: 2, ignored: 2, failed: 6 });
  expect(data.results.map(({ outcome, reason }) => reason ?? outcome)).toEqual([
    "No contact has this userId or email address",
    "No contact has this userId or email address",
    "applied",
    "eventName: must not be empty",
    "timestamp: must be at most 30 days ago",
    "timestamp: must be a time with a zone, such as 2026-12-01T09:15:40Z",
    "The call is larger than 32 KB",
    expect.stringMatching(/^type: must be one of/),
    "must be an object",
    "applied",
  ]);
  expect((await eventsOf(client)).map(({ eventName }) => eventName)).toEqual(["Known"]);
});

test("the key is the user name of Basic authentication; bodies have the limits of Segment", async () => {
  const client = await shop();
  const call = { userId: "u1", traits: { email: "ada@example.com" } };
  expect(await client.post("identify", call)).toMatchObject({ status: 200 });
  const other = `Basic ${Buffer.from("pm_live_wrong:").toString("base64")}`;
  expect(await client.post("identify", call, { authorization: other })).toMatchObject({
    status: 401,
  });
  expect(await client.call("POST", "/segment/v1/identify", call)).toMatchObject({ status: 200 });
  const basic = `Basic ${Buffer.from(`${client.apiKey}:`).toString("base64")}`;
  const elsewhere = await client.call("GET", "/contacts", undefined, {
    as: "anonymous",
    headers: { authorization: basic },
  });
  expect(elsewhere.status).toBe(401);
  const large = { ...call, traits: { ...call.traits, text: "x".repeat(33_000) } };
  expect(await client.post("identify", large)).toMatchObject({ status: 413 });
  const batch = Array.from({ length: 20 }, () => ({ ...large, type: "identify" }));
  const refused = await client.post("batch", { batch });
  expect(refused.body.error).toBe("The body is larger than 500 KB");
  expect(refused.status).toBe(413);
});
