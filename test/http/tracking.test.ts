import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { ask, must, signedUp } from "../support/client.ts";

interface Answer {
  accepted: boolean;
}
const origin = "https://shop.example";

async function shop() {
  const client = await signedUp();
  const contact = must(201, await client.call<{ id: number }>("POST", "/contacts", { email: "ann@example.com" })).body.data;
  const visitorId = randomUUID();
  const post = (path: "event" | "identify", body: object, headers: Record<string, string> = {}) =>
    ask<Answer>("POST", `/tracking/${path}`, { siteId: client.siteId, visitorId, ...body }, { headers: { origin, ...headers } });
  const score = async () => must(200, await client.call<{ score: number }>("GET", `/contacts/${contact.id}/score`)).body.data.score;
  must(201, await client.call("POST", "/scoring/rules", { name: "Saw", trigger: "page_view", points: 3 }));
  return { ...client, contact, visitorId, post, score };
}
const view = { type: "page_view", url: "https://shop.example/pricing" };

test("a page is viewed by a visitor who says later who it is, and scored then", async () => {
  const { post, score, call, contact } = await shop();
  expect(await post("event", view)).toMatchObject({ status: 202, body: { data: { accepted: true } } });
  expect(await score()).toBe(0);
  expect(await post("identify", { email: "Ann@example.com" })).toMatchObject({ status: 202, body: { data: { accepted: true } } });
  expect(await score()).toBe(3);
  must(202, await post("event", { type: "custom", name: "tried", url: view.url, properties: { plan: "pro" } }));
  const listed = must(200, await call<{ events: object[] }>("GET", `/events/custom?contactId=${contact.id}`)).body.data.events;
  expect(listed).toMatchObject([{ eventName: "tried", url: view.url, source: "tracking", properties: { plan: "pro" } }]);
});

test("any page may send, as JSON or as the plain text of a beacon, and read the answer; nothing else is read", async () => {
  const { post, siteId, visitorId, score } = await shop();
  const types = ["text/plain;charset=UTF-8", "application/json", "text/plain"];
  for (const type of types) {
    const { status, headers } = await post("event", view, { "content-type": type });
    expect([status, headers.get("access-control-allow-origin"), headers.get("access-control-allow-credentials")]).toEqual([202, "*", null]);
  }
  must(202, await post("identify", { email: "ann@example.com" }, { "content-type": "text/plain" }));
  expect(await score()).toBe(9);
  const raw = JSON.stringify({ siteId, visitorId, ...view });
  expect(
    (await ask("POST", "/tracking/event", undefined, { raw, headers: { "content-type": "application/x-www-form-urlencoded" } })).status,
  ).toBe(415);
  expect((await ask("POST", "/tracking/event", undefined, { raw: "{", headers: { "content-type": "text/plain" } })).body.code).toBe(
    "invalid_json",
  );
  const preflight = await ask("OPTIONS", "/tracking/event", undefined, { headers: { origin, "access-control-request-method": "POST" } });
  expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
});

test("whether an address is known is not told", async () => {
  const { post } = await shop();
  const answers = await Promise.all(["ann@example.com", "nobody@example.com"].map((email) => post("identify", { email })));
  const made = await post("identify", { contactToken: "made-up" });
  expect(new Set([...answers, made].map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
});

test("an unknown site is a 404, everywhere", async () => {
  const { post } = await shop();
  const siteId = 9_007_199_254_740_991;
  const answers = [
    await post("event", { ...view, siteId }),
    await post("identify", { email: "ann@example.com", siteId }),
    await ask("GET", `/tracking/script?siteId=${siteId}`),
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

test("a body of more than 16 kB is refused", async () => {
  const { post } = await shop();
  expect(await post("event", { ...view, more: "x".repeat(17_000) })).toMatchObject({ status: 413, body: { code: "payload_too_large" } });
});

test("the script is JavaScript for its site, small, and may be kept for an hour", async () => {
  const { siteId } = await signedUp();
  const { status, headers, text } = await ask("GET", `/tracking/script?siteId=${siteId}`);
  expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([
    200,
    "application/javascript; charset=utf-8",
    "public, max-age=3600",
  ]);
  expect(text).toContain(`siteId=${siteId};`);
  expect(Buffer.byteLength(text)).toBeLessThan(2000);
  expect((await ask("GET", "/tracking/script")).status).toBe(400);
});
