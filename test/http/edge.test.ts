import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { ask, type CallOptions, must, signedUp } from "../support/client.ts";

const json = { "content-type": "application/json" };

test.each([
  ["no JSON at all", "name=Shop"],
  ["half of it", '{"name": "Shop"'],
  ["a trailing comma", '{"name": "Shop",}'],
])("a body that is %s is invalid_json", async (_, raw) => {
  const { call } = await signedUp();
  expect(await call("POST", "/sites", undefined, { raw, headers: json })).toMatchObject({ status: 400, body: { code: "invalid_json" } });
});

test.each([["text/plain"], ["application/x-www-form-urlencoded"], ["multipart/form-data"]])("a body of type %s is 415", async (type) => {
  const { call } = await signedUp();
  const answer = await call("POST", "/sites", undefined, { raw: '{"name":"Shop"}', headers: { "content-type": type } });
  expect(answer).toMatchObject({ status: 415, body: { code: "unsupported_media_type", requestId: expect.any(String) } });
});

test("JSON is JSON in whatever charset spelling", async () => {
  const { call } = await signedUp();
  const headers = { "content-type": "application/json; charset=UTF-8" };
  expect((await call<{ name: string }>("POST", "/sites", undefined, { raw: '{"name":"Grüße ✉"}', headers })).body.data.name).toBe(
    "Grüße ✉",
  );
});

test.each([
  ["a list", []],
  ["a text", "Shop"],
  ["a number", 7],
])("%s is no body", async (_, body) => {
  const { call } = await signedUp();
  expect(await call("POST", "/sites", body)).toMatchObject({ status: 400, body: { code: "validation_failed" } });
});

test("every wrong field is named in details, and the first in the sentence", async () => {
  const { call } = await signedUp();
  const { status, body } = await call("POST", "/sites", { name: 7, domain: [], sendFrequencyCapDays: "3" });
  expect(status).toBe(400);
  expect(body.details?.map(({ path }) => path)).toEqual(["name", "domain", "sendFrequencyCapDays"]);
  expect(body.error).toContain("name");
});

test("a field that nobody reads is named in a warning, and the rest is done", async () => {
  const { call } = await signedUp();
  const answer = await call("POST", "/sites", { name: "Shop", colour: "red", nested: { a: 1 } });
  expect(answer.status).toBe(201);
  expect(answer.body.warnings).toEqual([expect.stringMatching(/colour.*nested/)]);
  expect((await call("POST", "/sites", { name: "Shop" })).body).not.toHaveProperty("warnings");
});

test("a field that nobody reads is named where the rest is refused, too", async () => {
  const { call } = await signedUp();
  const { status, body } = await call("POST", "/send", {
    to: ["ada@example.com"],
    from: "us@shop.example",
    subject: "Hi",
    html: "<p>Hi</p>",
  });
  expect(status).toBe(400);
  expect(body.error).toBe("to: must be one address: several get theirs with POST /send/batch (not known here: from)");
  expect(body.details?.map(({ path }) => path)).toContain("from");
  const abroad = await call("POST", "/send", { to: "søren@shop.example", fromEmail: "us@shop.example", subject: "Hi", html: "<p>Hi</p>" });
  expect(abroad.body.error).toMatch(/^to: must be one valid email address, of ASCII letters/);
});

test("a query parameter that nobody reads is named in a warning too", async () => {
  const { call } = await signedUp();
  const answer = await call("GET", "/sites?limit=5&colour=red");
  expect([answer.status, answer.body.warnings]).toEqual([200, ["Ignored query parameters: colour"]]);
  expect((await call("GET", "/sites?limit=5&page=1")).body).not.toHaveProperty("warnings");
  expect((await call("GET", "/plans?colour=red")).body.warnings).toEqual(["Ignored query parameters: colour"]);
});

test.each([
  ["/contacts", { email: "ada@example.com", customFields: { plan: "pro", constructor: "x" } }, "customFields.constructor"],
  ["/contacts", '{"email":"ada@example.com","customFields":{"__proto__":"x"}}', "customFields.__proto__"],
  ["/contacts/bulk", { contacts: [{ email: "ada@example.com", customFields: { toString: "x" } }] }, "contacts.0.customFields.toString"],
  ["/send", { to: "ada@example.com", variables: { order: { valueOf: 1 } } }, "variables.order.valueOf"],
  ["/send", { to: "ada@example.com", metadata: { hasOwnProperty: 1 } }, "metadata.hasOwnProperty"],
  ["/events/custom", { email: "ada@example.com", eventName: "x", properties: { constructor: "x" } }, "properties.constructor"],
])("a field of a name that no field can have is refused by %s, which names it", async (path, body, field) => {
  const { call } = await signedUp();
  await call("POST", "/sites", { name: "Shop" });
  const raw = typeof body === "string" ? body : JSON.stringify(body);
  const answer = await call("POST", path, undefined, { raw, headers: json });
  expect(answer).toMatchObject({ status: 400, body: { code: "validation_failed", details: [{ path: field }] } });
  expect(answer.body.error).toContain(field);
});

test.each(["abc", "0", "-1", "1.5", "1e3", "01", "9007199254740993", "%20", "%E0%A4"])("there is nothing at the id %s", async (id) => {
  const { call } = await signedUp();
  for (const path of [`/sites/${id}`, `/api-keys/${id}`]) {
    const answer = await call("DELETE", path, undefined, { as: "session" });
    expect(answer).toMatchObject({ status: 404, body: { code: "not_found", error: expect.any(String), requestId: expect.any(String) } });
  }
});

test.each(["/nowhere", "/sites/1/pages", "/sites/", "/auth", "/../secret"])("there is no such path as %s", async (path) => {
  expect(await ask("GET", path)).toMatchObject({ status: 404, body: { code: "not_found", requestId: expect.any(String) } });
});

test.each([
  ["DELETE", "/sites", ["GET", "POST"]],
  ["PATCH", "/sites/1", ["GET", "PUT", "DELETE"]],
  ["GET", "/auth/login", ["POST"]],
  ["POST", "/rate-limit", ["GET"]],
])("%s %s is 405 and says what is possible", async (method, path, possible) => {
  const answer = await ask(method, path);
  const error = `${method} is not possible here, only ${possible.join(", ")}`;
  expect(answer).toMatchObject({ status: 405, body: { error, code: "method_not_allowed", requestId: expect.any(String) } });
  expect(answer.headers.get("allow")?.split(", ").sort()).toEqual([...possible, "OPTIONS"].sort());
});

test("HEAD and OPTIONS are answered like everything else, without a body", async () => {
  const head = await ask("HEAD", "/sites");
  expect([head.status, head.text]).toEqual([405, ""]);
  const options = await ask("OPTIONS", "/sites", undefined, { headers: { origin: "https://evil.example" } });
  expect([options.status, options.text]).toEqual([204, ""]);
  expect(options.headers.get("allow")).toContain("POST");
  for (const answer of [head, options]) expect(answer.headers.get("x-request-id")).toBeTruthy();
  expect((await ask("OPTIONS", "/nowhere")).status).toBe(404);
});

test("a foreign page may read nothing that is not made for it", async () => {
  const { call } = await signedUp();
  const headers = { origin: "https://evil.example" };
  const preflight = await ask("OPTIONS", "/sites", undefined, { headers: { ...headers, "access-control-request-method": "POST" } });
  const answer = await call("GET", "/sites", undefined, { headers });
  for (const one of [preflight, answer]) {
    expect(one.headers.get("access-control-allow-origin")).toBeNull();
    expect(one.headers.get("access-control-allow-credentials")).toBeNull();
  }
});

test("every answer has a request id of its own, and an error repeats it", async () => {
  const { call } = await signedUp();
  const answers = await Promise.all([
    call("GET", "/sites"),
    call("POST", "/sites", {}),
    call("POST", "/sites", undefined, { raw: "{", headers: json }),
    call("GET", "/sites", undefined, { as: "nobody" }),
    call("POST", "/api-keys", { name: "x" }),
    call("GET", "/sites/999999999"),
    call("PUT", "/sites"),
    ask("GET", "/nowhere"),
    ask("OPTIONS", "/sites"),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 400, 400, 401, 403, 404, 405, 404, 204]);
  const ids = answers.map(({ headers }) => headers.get("x-request-id"));
  expect(ids).not.toContain(null);
  expect(new Set(ids).size).toBe(answers.length);
  for (const { status, body, headers } of answers) if (status >= 400) expect(body.requestId).toBe(headers.get("x-request-id"));
});

test("no answer may be kept by a cache or guessed at by a browser", async () => {
  const { call } = await signedUp();
  const { headers } = await call("GET", "/sites");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
});

test("a body of 40 MB is 413", async () => {
  const { call } = await signedUp();
  const raw = `{"name":"${"x".repeat(40 * 1024 * 1024)}"}`;
  const answer = await call("POST", "/sites", undefined, { raw, headers: json });
  expect(answer).toMatchObject({ status: 413, body: { code: "payload_too_large", requestId: expect.any(String) } });
});

test.each([
  ["page=0", "page"],
  ["page=abc", "page"],
  ["limit=101", "limit"],
  ["limit=0", "limit"],
  ["page=201&limit=50", "page"],
  ["cursor=nonsense!", "cursor"],
])("a list refuses %s", async (query, path) => {
  const { call } = await signedUp();
  expect(await call("GET", `/api-keys?${query}`)).toMatchObject({ status: 400, body: { details: [{ path }] } });
});

const once = (key: string, options: CallOptions = {}): CallOptions => ({ ...options, headers: { "idempotency-key": key } });

test("a repeated request with an Idempotency-Key is done once and answered twice", async () => {
  const { call } = await signedUp();
  const key = randomUUID();
  const first = await call<{ id: number }>("POST", "/sites", { name: "Shop" }, once(key));
  const again = await call<{ id: number }>("POST", "/sites", { name: "Shop" }, once(key));
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(again.body).toEqual(first.body);
  expect([first, again].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true"]);
  expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
  expect((await call<{ pagination: { total: number } }>("GET", "/sites")).body.data.pagination.total).toBe(2);
});

test("an Idempotency-Key with another body or path is a mistake, and nothing is done", async () => {
  const { call } = await signedUp();
  const key = randomUUID();
  must(201, await call("POST", "/sites", { name: "Shop" }, once(key)));
  const mismatch = { status: 409, body: { code: "idempotency_mismatch" } };
  expect(await call("POST", "/sites", { name: "Blog" }, once(key))).toMatchObject(mismatch);
  expect(await call("POST", "/api-keys", { name: "Shop" }, once(key, { as: "session" }))).toMatchObject(mismatch);
  expect((await call<{ pagination: { total: number } }>("GET", "/sites")).body.data.pagination.total).toBe(2);
});

test("of requests with one Idempotency-Key at the same time one is done; the others wait or get its answer", async () => {
  const { call } = await signedUp();
  const key = randomUUID();
  const answers = await Promise.all(Array.from({ length: 8 }, () => call("POST", "/sites", { name: "Shop" }, once(key))));
  const fresh = answers.filter(({ status, headers }) => status === 201 && !headers.get("idempotent-replayed"));
  expect(fresh).toHaveLength(1);
  for (const { status, headers, body } of answers)
    if (!headers.get("idempotent-replayed") && status !== 201) expect([status, body.code]).toEqual([409, "idempotency_in_progress"]);
  expect((await call<{ pagination: { total: number } }>("GET", "/sites")).body.data.pagination.total).toBe(2);
});

test("an Idempotency-Key has 1 to 255 characters", async () => {
  const { call } = await signedUp();
  expect((await call("POST", "/sites", { name: "Shop" }, once("x".repeat(255)))).status).toBe(201);
  for (const key of ["x".repeat(256), ""])
    expect(await call("POST", "/sites", { name: "Shop" }, once(key))).toMatchObject({ status: 400, body: { code: "validation_failed" } });
});

test("a secret that is shown once is not in the repeated answer", async () => {
  const { call } = await signedUp();
  const key = randomUUID();
  const first = await call<{ key: string }>("POST", "/api-keys", { name: "CI" }, once(key, { as: "session" }));
  const again = await call<{ key: string }>("POST", "/api-keys", { name: "CI" }, once(key, { as: "session" }));
  const { key: secret, ...rest } = first.body.data;
  expect(secret).toMatch(/^pm_live_/);
  expect(again.body.data).toEqual(rest);
  expect(again.text).not.toContain(secret);
});

test("a refusal is repeated too, and an Idempotency-Key of another organization is another key", async () => {
  const [one, other] = await Promise.all([signedUp(), signedUp()]);
  const key = randomUUID();
  const ask = (client: typeof one) => client.call("POST", "/api-keys", { name: "CI", siteId: other.siteId }, once(key, { as: "session" }));
  expect((await ask(one)).status).toBe(404);
  const again = await ask(one);
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([404, "true"]);
  const theirs = await ask(other);
  expect([theirs.status, theirs.headers.get("idempotent-replayed")]).toEqual([201, null]);
});
