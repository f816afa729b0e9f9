import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { expectStatus, request, signedUp } from "../support/api-client.ts";

interface Answer {
  accepted: boolean;
}
const origin = "https://shop.example";

async function shop() {
  const client = await signedUp();
  const contact = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/contacts", { email: "ann@example.com" }),
  ).body.data;
  const visitorId = randomUUID();
  const post = (path: "event" | "identify", body: object, headers: Record<string, string> = {}) =>
    request<Answer>(
      "POST",
      `/tracking/${path}`,
      { siteId: client.siteId, visitorId, ...body },
      { headers: { origin, ...headers } },
    );
  const score = async () =>
    expectStatus(200, await client.call<{ score: number }>("GET", `/contacts/${contact.id}/score`))
      .body.data.score;
  expectStatus(
    201,
    await client.call("POST", "/scoring/rules", { name: "Saw", trigger: "page_view", points: 3 }),
  );
  return { ...client, contact, visitorId, post, score };
}
const view = { type: "page_view", url: "https://shop.example/pricing" };

test("events of a visitor that types an address are logged for the contact and give no points", async () => {
  const { post, score, call, contact } = await shop();
  expect(await post("event", view)).toMatchObject({
    status: 202,
    body: { data: { accepted: true } },
  });
  expect(await score()).toBe(0);
  expect(await post("identify", { email: "Ann@example.com" })).toMatchObject({
    status: 202,
    body: { data: { accepted: true } },
  });
  expectStatus(
    202,
    await post("event", {
      type: "custom",
      name: "tried",
      url: view.url,
      properties: { plan: "pro" },
    }),
  );
  expect(await score()).toBe(0);
  const listed = expectStatus(
    200,
    await call<{ events: object[] }>("GET", `/events/custom?contactId=${contact.id}`),
  ).body.data.events;
  expect(listed).toMatchObject([
    { eventName: "tried", url: view.url, source: "tracking", properties: { plan: "pro" } },
  ]);
});

test("pages of any origin can send JSON or a beacon's plain text and read the response", async () => {
  const { post, siteId, visitorId, call } = await shop();
  const types = ["text/plain;charset=UTF-8", "application/json", "text/plain"];
  for (const type of types) {
    const { status, headers } = await post(
      "event",
      { type: "custom", name: "tried" },
      { "content-type": type },
    );
    expect([
      status,
      headers.get("access-control-allow-origin"),
      headers.get("access-control-allow-credentials"),
    ]).toEqual([202, "*", null]);
  }
  expectStatus(
    202,
    await post("identify", { email: "ann@example.com" }, { "content-type": "text/plain" }),
  );
  expect(
    expectStatus(200, await call<{ events: object[] }>("GET", "/events/custom")).body.data.events,
  ).toHaveLength(3);
  const raw = JSON.stringify({ siteId, visitorId, ...view });
  expect(
    (
      await request("POST", "/tracking/event", undefined, {
        raw,
        headers: { "content-type": "application/x-www-form-urlencoded" },
      })
    ).status,
  ).toBe(415);
  expect(
    (
      await request("POST", "/tracking/event", undefined, {
        raw: "{",
        headers: { "content-type": "text/plain" },
      })
    ).body.code,
  ).toBe("invalid_json");
  const preflight = await request("OPTIONS", "/tracking/event", undefined, {
    headers: { origin, "access-control-request-method": "POST" },
  });
  expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([
    204,
    "*",
  ]);
});

test("the response does not reveal whether an address is known", async () => {
  const { post } = await shop();
  const answers = await Promise.all(
    ["ann@example.com", "nobody@example.com"].map((email) => post("identify", { email })),
  );
  const made = await post("identify", { contactToken: "made-up" });
  expect(new Set([...answers, made].map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
});

test("an unknown site is a 404 at every tracking endpoint", async () => {
  const { post } = await shop();
  const siteId = 9_007_199_254_740_991;
  const answers = [
    await post("event", { ...view, siteId }),
    await post("identify", { email: "ann@example.com", siteId }),
    await request("GET", `/tracking/script?siteId=${siteId}`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
});

test.each<[string, "event" | "identify", object]>([
  ["visitorId", "event", { ...view, visitorId: "short" }],
  ["visitorId", "event", { ...view, visitorId: "x".repeat(65) }],
  ["visitorId", "identify", { email: "ann@example.com", visitorId: "with spaces" }],
  ["type", "event", { ...view, type: "click" }],
  ["url", "event", { type: "page_view" }],
  ["url", "event", { ...view, url: "javascript:alert(1)" }],
  ["url", "event", { ...view, url: `https://shop.example/${"x".repeat(2000)}` }],
  ["name", "event", { type: "custom" }],
  ["name", "event", { type: "custom", name: "x".repeat(101) }],
  ["properties", "event", { ...view, properties: { text: "x".repeat(8000) } }],
  ["email", "identify", {}],
  ["email", "identify", { email: "ann@example.com", contactToken: "x" }],
  ["email", "identify", { email: "ann" }],
  ["contactToken", "identify", { contactToken: "x".repeat(1001) }],
])("a bad %s is refused: %s %o", async (path, where, body) => {
  const { post } = await shop();
  expect(await post(where, body)).toMatchObject({ status: 400, body: { details: [{ path }] } });
});

test("a body of more than 16 kB is rejected", async () => {
  const { post } = await shop();
  expect(await post("event", { ...view, more: "x".repeat(17_000) })).toMatchObject({
    status: 413,
    body: { code: "payload_too_large" },
  });
});

test("the script is small JavaScript for its site and can be cached for an hour", async () => {
  const { siteId } = await signedUp();
  const { status, headers, text } = await request("GET", `/tracking/script?siteId=${siteId}`);
  expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([
    200,
    "application/javascript; charset=utf-8",
    "public, max-age=3600",
  ]);
  expect(text).toContain(`siteId=${siteId};`);
  expect(Buffer.byteLength(text)).toBeLessThan(2000);
  expect((await request("GET", "/tracking/script")).status).toBe(400);
});
