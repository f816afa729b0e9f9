import { randomUUID } from "node:crypto";
import http from "node:http";
import { expect, inject, test } from "vitest";
import { expectStatus, request, signedUp, type TestCallOptions } from "../support/api-client.ts";

const json = { "content-type": "application/json" };

test.each([
  ["no JSON at all", "name=Shop"],
  ["half of it", '{"name": "Shop"'],
  ["a trailing comma", '{"name": "Shop",}'],
])("a body that is %s is invalid_json", async (_, raw) => {
  const { call } = await signedUp();
  expect(await call("POST", "/sites", undefined, { raw, headers: json })).toMatchObject({
    status: 400,
    body: { code: "invalid_json" },
  });
});

test.each([["text/plain"], ["application/x-www-form-urlencoded"], ["multipart/form-data"]])(
  "a body of type %s is 415",
  async (type) => {
    const { call } = await signedUp();
    const answer = await call("POST", "/sites", undefined, {
      raw: '{"name":"Shop"}',
      headers: { "content-type": type },
    });
    expect(answer).toMatchObject({
      status: 415,
      body: { code: "unsupported_media_type", requestId: expect.any(String) },
    });
  },
);

test("accepts JSON with any spelling of its charset", async () => {
  const { call } = await signedUp();
  const headers = { "content-type": "application/json; charset=UTF-8" };
  expect(
    (
      await call<{ name: string }>("POST", "/sites", undefined, {
        raw: '{"name":"Grüße ✉"}',
        headers,
      })
    ).body.data.name,
  ).toBe("Grüße ✉");
});

test.each([
  ["a list", []],
  ["a text", "Shop"],
  ["a number", 7],
])("refuses %s as a body", async (_, body) => {
  const { call } = await signedUp();
  expect(await call("POST", "/sites", body)).toMatchObject({
    status: 400,
    body: { code: "validation_failed" },
  });
});

test("names every invalid field in details, and the first in the message", async () => {
  const { call } = await signedUp();
  const { status, body } = await call("POST", "/sites", {
    name: 7,
    domain: [],
    sendFrequencyCapDays: "3",
  });
  expect(status).toBe(400);
  expect(body.details?.map(({ path }) => path)).toEqual(["name", "domain", "sendFrequencyCapDays"]);
  expect(body.error).toContain("name");
});

test("names an unknown field in a warning and processes the rest", async () => {
  const { call } = await signedUp();
  const answer = await call("POST", "/sites", { name: "Shop", colour: "red", nested: { a: 1 } });
  expect(answer.status).toBe(201);
  expect(answer.body.warnings).toEqual([expect.stringMatching(/colour.*nested/)]);
  expect((await call("POST", "/sites", { name: "Shop" })).body).not.toHaveProperty("warnings");
});

test("names an unknown field also if the request is refused", async () => {
  const { call } = await signedUp();
  const { status, body } = await call("POST", "/send", {
    to: "ada@example.com",
    colour: "red",
    html: "<p>Hi</p>",
  });
  expect(status).toBe(400);
  expect(body.error).toMatch(/^subject .*\(not known here: colour\)$/);
  expect(body.details?.map(({ path }) => path)).toContain("colour");
  const mistaken = await call("POST", "/send", { from: "us@shop.example", to: "ada@example.com" });
  expect(mistaken.body.error).toBe("from is unknown: use fromEmail");
  const abroad = await call("POST", "/send", {
    to: "søren@shop.example",
    fromEmail: "us@shop.example",
    subject: "Hi",
    html: "<p>Hi</p>",
  });
  expect(abroad.body.error).toMatch(/^to: must be one valid email address in ASCII characters/);
});

test("lists refuse unknown query parameters, other routes warn about them", async () => {
  const { call } = await signedUp();
  const refused = {
    status: 400,
    body: { code: "validation_failed", details: [{ path: "colour" }] },
  };
  for (const path of ["/sites", "/contacts", "/sends", "/events", "/webhooks"])
    expect(await call("GET", `${path}?limit=5&colour=red`)).toMatchObject(refused);
  expect((await call("GET", "/sites?limit=5&page=1")).body).not.toHaveProperty("warnings");
  for (const path of ["/roles", "/providers", "/dashboard/overview", "/contacts/export"])
    expect(await call("GET", `${path}?colour=red`), path).toMatchObject(refused);
  expect((await call("GET", "/plans/current?colour=red")).body.warnings).toEqual([
    "Ignored query parameters: colour",
  ]);
});

test.each([
  [
    "/contacts",
    { email: "ada@example.com", customFields: { plan: "pro", constructor: "x" } },
    "customFields.constructor",
  ],
  [
    "/contacts",
    '{"email":"ada@example.com","customFields":{"__proto__":"x"}}',
    "customFields.__proto__",
  ],
  [
    "/contacts/bulk",
    { contacts: [{ email: "ada@example.com", customFields: { toString: "x" } }] },
    "contacts.0.customFields.toString",
  ],
  [
    "/send",
    { to: "ada@example.com", variables: { order: { valueOf: 1 } } },
    "variables.order.valueOf",
  ],
  ["/send", { to: "ada@example.com", metadata: { hasOwnProperty: 1 } }, "metadata.hasOwnProperty"],
  [
    "/events/custom",
    { email: "ada@example.com", eventName: "x", properties: { constructor: "x" } },
    "properties.constructor",
  ],
])(
  "a field with a reserved name is refused by %s, and the error contains the name",
  async (path, body, field) => {
    const { call } = await signedUp();
    await call("POST", "/sites", { name: "Shop" });
    const raw = typeof body === "string" ? body : JSON.stringify(body);
    const answer = await call("POST", path, undefined, { raw, headers: json });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: "validation_failed", details: [{ path: field }] },
    });
    expect(answer.body.error).toContain(field);
  },
);

test.each(["abc", "0", "-1", "1.5", "1e3", "01", "9007199254740993", "%20", "%E0%A4"])(
  "the id %s is a 404",
  async (id) => {
    const { call } = await signedUp();
    for (const path of [`/sites/${id}`, `/api-keys/${id}`]) {
      const answer = await call("DELETE", path, undefined, { as: "session" });
      expect(answer).toMatchObject({
        status: 404,
        body: { code: "not_found", error: expect.any(String), requestId: expect.any(String) },
      });
    }
  },
);

test.each(["/nowhere", "/sites/1/pages", "/sites/", "/auth", "/../secret"])(
  "the path %s is a 404",
  async (path) => {
    expect(await request("GET", path)).toMatchObject({
      status: 404,
      body: { code: "not_found", requestId: expect.any(String) },
    });
  },
);

test.each([
  ["DELETE", "/sites", ["GET", "POST"]],
  ["PATCH", "/sites/1", ["GET", "PUT", "DELETE"]],
  ["GET", "/auth/login", ["POST"]],
  ["POST", "/rate-limit", ["GET"]],
])("%s %s is 405 and names the supported methods", async (method, path, possible) => {
  const answer = await request(method, path);
  const error = `This path does not support ${method}, only ${possible.join(", ")}`;
  expect(answer).toMatchObject({
    status: 405,
    body: { error, code: "method_not_allowed", requestId: expect.any(String) },
  });
  const head = possible.includes("GET") ? ["HEAD"] : [];
  expect(answer.headers.get("allow")?.split(", ").sort()).toEqual(
    [...possible, ...head, "OPTIONS"].sort(),
  );
});

test.each([
  ["GET", "/contacts/bulk", "POST"],
  ["DELETE", "/contacts/export", "GET"],
  ["PUT", "/segments/preview-count", "POST"],
  ["GET", "/imports/upload", "POST"],
  ["DELETE", "/suppressions/import", "POST"],
  ["DELETE", "/sequences/playbooks", "GET"],
  ["GET", "/webhooks/sendgrid", "POST"],
])("%s %s is 405 although an id could be in its place", async (method, path, possible) => {
  const { call } = await signedUp();
  const answer = await call(method, path);
  expect(answer).toMatchObject({ status: 405, body: { code: "method_not_allowed" } });
  expect(answer.headers.get("allow")?.split(", ")).toContain(possible);
  expect(answer.headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
  expect((await request(method, path)).status).toBe(405);
});

test("HEAD responds like GET without a body", async () => {
  const { call, siteId } = await signedUp();
  for (const path of [
    "/sites",
    `/sites/${siteId}`,
    "/sites/999999999",
    "/docs",
    "/tracking/script?siteId=1",
  ]) {
    const [head, get] = [await call("HEAD", path), await call("GET", path)];
    expect([path, head.status, head.text]).toEqual([path, get.status, ""]);
    expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
  }
  expect([
    (await request("HEAD", "/sites")).status,
    (await request("HEAD", "/auth/login")).status,
  ]).toEqual([401, 405]);
});

test("GET ignores a body of any type", async () => {
  const { call } = await signedUp();
  const { hostname, port, pathname } = new URL(`${inject("baseUrl")}/api/v1/sites`);
  const { apiKey } = await signedUp();
  // fetch sends no body with GET.
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      "content-type": "text/plain",
      "content-length": "4",
    };
    const sent = http.request(
      { hostname, port, path: pathname, method: "GET", headers },
      (response) => resolve(response.resume().statusCode),
    );
    sent.on("error", reject).end("null");
  });
  expect(status).toBe(200);
  expect(
    (await call("GET", "/sites", undefined, { headers: { "content-type": "text/plain" } })).status,
  ).toBe(200);
});

test("refuses JSON null as a body", async () => {
  const { call, siteId } = await signedUp();
  const paths = [
    `/sites/${siteId}`,
    "/compliance",
    "/settings/org",
    "/contacts/1",
    "/lists/1",
    "/templates/1",
    "/webhooks/1",
  ];
  for (const path of paths) {
    const answer = await call("PUT", path, undefined, {
      raw: "null",
      headers: json,
      as: "session",
    });
    expect([path, answer.status, answer.body.code]).toEqual([path, 400, "validation_failed"]);
  }
});

test("accepts a byte order mark and refuses bytes that are not UTF-8", async () => {
  const { call } = await signedUp();
  const post = (raw: string | Uint8Array<ArrayBuffer>) =>
    call<{ name: string }>("POST", "/sites", undefined, { raw, headers: json });
  expect((await post('\ufeff{"name":"Grüße"}')).body.data.name).toBe("Grüße");
  for (const raw of [
    new Uint8Array([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')]),
    '{"name":"\\ud83d"}',
  ])
    expect(await post(raw)).toMatchObject({ status: 400, body: { code: "invalid_json" } });
});

test.each([
  { "content-type": "application/json; charset=iso-8859-1" },
  { "content-type": 'application/json; charset="utf-16"' },
  { ...json, "content-encoding": "gzip" },
  { ...json, "content-encoding": "br" },
])("a body sent as %o is 415", async (headers) => {
  const { call } = await signedUp();
  expect((await call("POST", "/sites", undefined, { raw: '{"name":"x"}', headers })).status).toBe(
    415,
  );
});

test("refuses a form in another charset or with bytes that are not UTF-8", async () => {
  const { call } = await signedUp();
  const form = expectStatus(
    201,
    await call<{ id: number }>("POST", "/forms", { name: "News", status: "active" }),
  );
  const submit = (raw: string, type: string) =>
    request("POST", `/forms/${form.body.data.id}/submit`, undefined, {
      raw,
      headers: { "content-type": type },
    });
  const plain = "application/x-www-form-urlencoded";
  expect((await submit("email=a%40example.com&firstName=J%FCrgen", plain)).status).toBe(400);
  expect(
    (await submit("email=a%40example.com&firstName=J%FCrgen", `${plain}; charset=iso-8859-1`))
      .status,
  ).toBe(415);
  expect(
    (await submit("email=a%40example.com&firstName=J%C3%BCrgen", `${plain}; charset=UTF-8`)).status,
  ).toBe(200);
});

test("checks the credential before the body", async () => {
  const raw = (bytes: number) => `{${"x".repeat(bytes - 1)}`;
  for (const headers of [json, { "content-type": "text/plain" }]) {
    const send = (bytes: number) =>
      request("POST", "/sites", undefined, { raw: raw(bytes), headers });
    expect((await send(64 * 1024)).status).toBe(401);
    expect(await send(64 * 1024 + 1)).toMatchObject({
      status: 413,
      body: { code: "payload_too_large", requestId: expect.any(String) },
    });
    expect((await send(35 * 1024 * 1024)).status).toBe(413);
  }
  const login = (bytes: number) =>
    request("POST", "/auth/login", undefined, { raw: raw(bytes), headers: json });
  expect([(await login(64 * 1024)).status, (await login(64 * 1024 + 1)).status]).toEqual([
    400, 413,
  ]);
});

test("OPTIONS responds on every path, without a body", async () => {
  const options = await request("OPTIONS", "/sites", undefined, {
    headers: { origin: "https://evil.example" },
  });
  expect([options.status, options.text]).toEqual([204, ""]);
  expect(options.headers.get("allow")).toContain("POST");
  expect(options.headers.get("x-request-id")).toBeTruthy();
  expect((await request("OPTIONS", "/nowhere")).status).toBe(404);
});

test("pages of other origins can only read routes with cors", async () => {
  const { call } = await signedUp();
  const headers = { origin: "https://evil.example" };
  const preflight = await request("OPTIONS", "/sites", undefined, {
    headers: { ...headers, "access-control-request-method": "POST" },
  });
  const answer = await call("GET", "/sites", undefined, { headers });
  for (const one of [preflight, answer]) {
    expect(one.headers.get("access-control-allow-origin")).toBeNull();
    expect(one.headers.get("access-control-allow-credentials")).toBeNull();
  }
});

test("every response has its own request id, and an error body repeats it", async () => {
  const { call } = await signedUp();
  const answers = await Promise.all([
    call("GET", "/sites"),
    call("POST", "/sites", {}),
    call("POST", "/sites", undefined, { raw: "{", headers: json }),
    call("GET", "/sites", undefined, { as: "anonymous" }),
    call("POST", "/api-keys", { name: "x" }),
    call("GET", "/sites/999999999"),
    call("PUT", "/sites"),
    request("GET", "/nowhere"),
    request("OPTIONS", "/sites"),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([
    200, 400, 400, 401, 403, 404, 405, 404, 204,
  ]);
  const ids = answers.map(({ headers }) => headers.get("x-request-id"));
  expect(ids).not.toContain(null);
  expect(new Set(ids).size).toBe(answers.length);
  for (const { status, body, headers } of answers)
    if (status >= 400) expect(body.requestId).toBe(headers.get("x-request-id"));
});

test("no response may be cached or sniffed", async () => {
  const { call } = await signedUp();
  const { headers } = await call("GET", "/sites");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
});

test("responds 413 to a body of 40 MB", async () => {
  const { call } = await signedUp();
  const raw = `{"name":"${"x".repeat(40 * 1024 * 1024)}"}`;
  const answer = await call("POST", "/sites", undefined, { raw, headers: json });
  expect(answer).toMatchObject({
    status: 413,
    body: { code: "payload_too_large", requestId: expect.any(String) },
  });
});

test.each([
  ["page=0", "page"],
  ["page=abc", "page"],
  ["limit=101", "limit"],
  ["limit=0", "limit"],
  ["page=201&limit=50", "page"],
  ["cursor=nonsense!", "cursor"],
  ["limit=1e1", "limit"],
  ["limit=0x10", "limit"],
  ["limit=%205", "limit"],
  ["limit=5.0", "limit"],
  ["limit=%EF%BC%95", "limit"],
  ["limit=", "limit"],
  ["page=1e0", "page"],
])("a list refuses %s", async (query, path) => {
  const { call } = await signedUp();
  expect(await call("GET", `/api-keys?${query}`)).toMatchObject({
    status: 400,
    body: { details: [{ path }] },
  });
});

const once = (key: string, options: TestCallOptions = {}): TestCallOptions => ({
  ...options,
  headers: { "idempotency-key": key },
});

test("processes a repeated request with an Idempotency-Key once and responds twice", async () => {
  const { call } = await signedUp();
  const key = randomUUID();
  const first = await call<{ id: number }>("POST", "/sites", { name: "Shop" }, once(key));
  const again = await call<{ id: number }>("POST", "/sites", { name: "Shop" }, once(key));
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(again.body).toEqual(first.body);
  expect([first, again].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([
    null,
    "true",
  ]);
  expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
  expect(
    (await call<{ pagination: { total: number } }>("GET", "/sites")).body.data.pagination.total,
  ).toBe(2);
});

test("refuses an Idempotency-Key with another body or path", async () => {
  const { call } = await signedUp();
  const key = randomUUID();
  expectStatus(201, await call("POST", "/sites", { name: "Shop" }, once(key)));
  const mismatch = { status: 409, body: { code: "idempotency_mismatch" } };
  expect(await call("POST", "/sites", { name: "Blog" }, once(key))).toMatchObject(mismatch);
  expect(
    await call("POST", "/api-keys", { name: "Shop" }, once(key, { as: "session" })),
  ).toMatchObject(mismatch);
  expect(
    (await call<{ pagination: { total: number } }>("GET", "/sites")).body.data.pagination.total,
  ).toBe(2);
});

test("processes one of several concurrent requests with the same Idempotency-Key", async () => {
  const { call } = await signedUp();
  const key = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => call("POST", "/sites", { name: "Shop" }, once(key))),
  );
  const fresh = answers.filter(
    ({ status, headers }) => status === 201 && !headers.get("idempotent-replayed"),
  );
  expect(fresh).toHaveLength(1);
  for (const { status, headers, body } of answers)
    if (!headers.get("idempotent-replayed") && status !== 201)
      expect([status, body.code]).toEqual([409, "idempotency_in_progress"]);
  expect(
    (await call<{ pagination: { total: number } }>("GET", "/sites")).body.data.pagination.total,
  ).toBe(2);
});

test("requires an Idempotency-Key of 1 to 255 characters", async () => {
  const { call } = await signedUp();
  expect((await call("POST", "/sites", { name: "Shop" }, once("x".repeat(255)))).status).toBe(201);
  for (const key of ["x".repeat(256), ""])
    expect(await call("POST", "/sites", { name: "Shop" }, once(key))).toMatchObject({
      status: 400,
      body: { code: "validation_failed" },
    });
});

test("leaves secrets out of a replayed response", async () => {
  const { call } = await signedUp();
  const key = randomUUID();
  const first = await call<{ key: string }>(
    "POST",
    "/api-keys",
    { name: "CI" },
    once(key, { as: "session" }),
  );
  const again = await call<{ key: string }>(
    "POST",
    "/api-keys",
    { name: "CI" },
    once(key, { as: "session" }),
  );
  const { key: secret, ...rest } = first.body.data;
  expect(secret).toMatch(/^pm_live_/);
  expect(again.body.data).toEqual(rest);
  expect(again.text).not.toContain(secret);
});

test("replays refusals too, and separates the keys of organizations", async () => {
  const [one, other] = await Promise.all([signedUp(), signedUp()]);
  const key = randomUUID();
  const ask = (client: typeof one) =>
    client.call(
      "POST",
      "/api-keys",
      { name: "CI", siteId: other.siteId },
      once(key, { as: "session" }),
    );
  expect((await ask(one)).status).toBe(404);
  const again = await ask(one);
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([404, "true"]);
  const otherResponse = await ask(other);
  expect([otherResponse.status, otherResponse.headers.get("idempotent-replayed")]).toEqual([
    201,
    null,
  ]);
});
