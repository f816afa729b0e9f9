// Hostile input against a service that logs at the level DEBUG.
import http from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  request as askAt,
  expectStatus,
  password,
  sessionCookie,
  signedUp,
  type TestClient,
} from "../support/api-client.ts";
import { randomOfTest, sampleOf } from "../support/seeded-random.ts";
import { type RunningTestService, startServiceProcess } from "../support/service-process.ts";

let service: RunningTestService;
let client: TestClient;
beforeAll(async () => {
  service = await startServiceProcess({
    DEFAULT_PLAN: "enterprise",
    ADDRESS_LIMIT_PER_MINUTE: "100000",
    LOG_LEVEL: "DEBUG",
  });
});
beforeEach(async () => {
  client = await signedUp({ service: service.url });
});
afterAll(() => service.stop());

const ask = <T>(method: string, path: string, body?: unknown, options = {}) =>
  askAt<T>(method, path, body, { ...options, service: service.url });

interface Account {
  credentials: object;
  webhookSecret: string;
}
/** Creates a sending config with credentials of the sandbox. */
async function sendingConfig(more: object = {}): Promise<{ id: number; account: Account }> {
  const sandbox = (await (await fetch(`${service.url}/_local/sandbox`)).json()) as {
    data: { providers: Record<string, Account> };
  };
  const account = sandbox.data.providers.postmark!;
  const fields = {
    provider: "postmark",
    fromEmail: "hello@shop.example",
    credentials: account.credentials,
    ...more,
  };
  return {
    id: expectStatus(201, await client.call<{ id: number }>("POST", "/sending-configs", fields))
      .body.data.id,
    account,
  };
}

const mail = (sendingConfigId: number, more: object = {}) => ({
  to: "ada@example.com",
  sendingConfigId,
  subject: "Hi",
  html: "Hello",
  ...more,
});

interface Schema {
  $ref?: string;
  properties?: object;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}
interface Operation {
  requestBody?: { content: Record<string, { schema: Schema; example?: object }> };
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const half = "a\ud83d";
const values: unknown[] = [
  half,
  { [half]: half },
  "\u0000",
  "a.".repeat(20_000),
  { toString: "a", valueOf: "b" },
  [[{}], null],
  Number.MAX_VALUE,
  "1e400",
];

test("no field of any request causes a 500", async () => {
  const { body: document } = await ask("GET", "/openapi.json");
  const { paths, components } = document as unknown as Document;
  const fieldsOf = (schema: Schema): string[] => {
    if (schema.$ref) return fieldsOf(components.schemas[schema.$ref.split("/").at(-1)!]!);
    const { properties = {}, anyOf = [], oneOf = [], allOf = [] } = schema;
    const fields = [...anyOf, ...oneOf, ...allOf].flatMap(fieldsOf);
    return [...new Set([...Object.keys(properties), ...fields])];
  };
  const made = async (path: string, body: object) =>
    expectStatus(201, await client.call<{ id: number }>("POST", path, body)).body.data.id;
  const ids: Record<string, number> = {
    sites: client.siteId,
    "sending-configs": (await sendingConfig()).id,
    templates: await made("/templates", { name: "Welcome", subject: "Hi", html: "Hello" }),
    "template-folders": await made("/template-folders", { name: "Letters" }),
    webhooks: await made("/webhooks", { url: "https://example.com/hook", events: ["open"] }),
  };
  const requests = Object.entries(paths).flatMap(([full, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody }]) => {
      const { schema, example } = requestBody?.content["application/json"] ?? {};
      const path = full
        .replace("/api/v1", "")
        .replace("{id}", String(ids[full.split("/")[3]!] ?? 1));
      const as =
        path.startsWith("/api-keys") || path === "/settings/password"
          ? ("session" as const)
          : ("key" as const);
      return (schema ? fieldsOf(schema) : []).flatMap((field) =>
        sampleOf(2, values, `${full} ${field}`).map((value) => ({
          method: method.toUpperCase(),
          path,
          as,
          field,
          body: { ...example, [field]: value },
        })),
      );
    }),
  );
  expect(requests.length).toBeGreaterThan(300);
  const broken: string[] = [];
  for (let i = 0; i < requests.length; i += 20)
    await Promise.all(
      requests.slice(i, i + 20).map(async ({ method, path, as, field, body }) => {
        const { status } = await client.call(method, path, body, { as });
        if (status >= 500)
          broken.push(`${method} ${path} ${field}: ${JSON.stringify(body).slice(0, 100)}`);
      }),
    );
  expect(broken).toEqual([]);
});

test("refuses texts of any length without a 500", async () => {
  const [dots, dashes] = ["a.".repeat(5_000_000), "a-".repeat(5_000_000)];
  const answers = [
    await client.call("POST", "/sites", { name: "Shop", domain: dots }),
    await client.call("POST", "/send", { ...mail(1), to: `a@${dots}` }),
    await client.call("POST", "/api-keys", { name: "CI", scopes: [dashes] }, { as: "session" }),
    await client.call("POST", "/sending-configs", {
      provider: "mailgun",
      fromEmail: "a@b.co",
      credentials: { apiKey: "k", domain: dots },
    }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
});

test("refuses half of an emoji, and sends mails whose text is cut within one", async () => {
  const { id } = await sendingConfig();
  const refused = { status: 400, body: { code: "invalid_json" } };
  for (const text of [{ metadata: { note: half } }, { toName: half }])
    expect(await client.call("POST", "/send", mail(id, text))).toMatchObject(refused);
  expect(await client.call("PUT", `/sites/${client.siteId}`, { name: half })).toMatchObject(
    refused,
  );
  const long = { subject: `${"x".repeat(299)}😀` };
  const single = expectStatus(
    202,
    await client.call<{ id: number }>("POST", "/send", mail(id, long)),
  );
  const batch = { ...mail(id, long), recipients: [{ to: "ada@example.com" }] };
  const { body } = expectStatus(
    202,
    await client.call<{ results: { id: number }[] }>("POST", "/send/batch", batch),
  );
  await fetch(`${service.url}/_local/settle`, { method: "POST" });
  for (const sendId of [single.body.data.id, body.data.results[0]!.id])
    expect(
      (await client.call<{ status: string }>("GET", `/sends/${sendId}`)).body.data.status,
    ).toMatch(/sent|delivered/);
  const rows = `email,detail\nhalf@example.com,${"x".repeat(299)}😀`;
  const imported = await client.call("POST", "/suppressions/import", undefined, {
    raw: rows,
    headers: { "content-type": "text/csv" },
  });
  expect(imported.status).toBe(200);
});

const json = { "content-type": "application/json" };
const nested = (depth: number) =>
  `{"name":"Shop","more":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
const listed = (values: number) => `{"name":"Shop","more":[${"0,".repeat(values)}0]}`;

test("accepts a body with at most 200 levels and 500,000 values", async () => {
  const post = (raw: string) => client.call("POST", "/sites", undefined, { raw, headers: json });
  for (const raw of [nested(200), listed(499_900)]) expect((await post(raw)).status).toBe(201);
  for (const raw of [nested(201), nested(100_000), listed(500_000)])
    expect(await post(raw)).toMatchObject({
      status: 400,
      body: { code: "limit_exceeded", details: [{ path: "" }] },
    });
});

test("accepts 64 KB without a credential, and the 1 MB that Postmark sends", async () => {
  const login = (length: number) =>
    ask("POST", "/auth/login", { email: "a@example.com", password: "x".repeat(length) });
  expect((await login(65_000)).status).toBe(400);
  expect(await login(66_000)).toMatchObject({ status: 413, body: { code: "payload_too_large" } });
  const { id } = await sendingConfig();
  const post = (bytes: number) =>
    ask("POST", `/webhooks/postmark?config_id=${id}`, undefined, {
      raw: "x".repeat(bytes),
      headers: json,
    });
  expect((await post(2 ** 20)).status).toBe(401);
  expect((await post(2 ** 20 + 1)).status).toBe(413);
});

test("accepts an import of at most 10 MB", async () => {
  const post = (raw: string) =>
    client.call("POST", "/suppressions/import", undefined, {
      raw,
      headers: { "content-type": "text/csv" },
    });
  expect((await post(",".repeat(10 * 2 ** 20 + 1))).status).toBe(413);
});

test("keeps the response short for a field with a very long name", async () => {
  const name = "x".repeat(2_000_000);
  const ignored = await client.call("POST", "/sites", { name: "Shop", [name]: 1 });
  const refused = await client.call("POST", "/send", { ...mail(1), headers: { [name]: "x" } });
  expect([ignored.status, refused.status]).toEqual([201, 400]);
  for (const { text } of [ignored, refused]) expect(text.length).toBeLessThan(5000);
});

test("replays a large response for its Idempotency-Key", async () => {
  // Random text, which compression does not shorten.
  const random = randomOfTest("large response");
  const html = Array.from({ length: 40_000 }, () => random().toString(36).slice(2)).join("");
  const options = { headers: { "idempotency-key": "long" } };
  const post = () =>
    client.call<{ id: number; html: string }>(
      "POST",
      "/templates",
      { name: "Long", subject: "Hi", html },
      options,
    );
  const first = expectStatus(201, await post());
  const again = expectStatus(201, await post());
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(again.body.data).toEqual(first.body.data);
  expect(again.body.data.html).toBe(html);
});

test("replays a response after its record was deleted, but not to a key without permission", async () => {
  const { id } = await sendingConfig();
  const template = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/templates", {
      name: "Once",
      subject: "Hi",
      html: "Hello",
    }),
  );
  const headers = { "idempotency-key": "template" };
  const request = { to: "ada@example.com", sendingConfigId: id, templateId: template.body.data.id };
  const first = expectStatus(202, await client.call("POST", "/send", request, { headers }));
  expectStatus(200, await client.call("DELETE", `/templates/${template.body.data.id}`));
  const again = await client.call("POST", "/send", request, { headers });
  expect(again).toMatchObject({ status: 202, body: first.body });
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect((await client.call("POST", "/send", request)).status).toBe(404);
  const reader = { key: await client.newKey({ scopes: ["sends:read"] }) };
  expect(await client.call("POST", "/send", request, { headers, as: reader })).toMatchObject({
    status: 403,
    body: { code: "scope_missing" },
  });
});

test("refuses cross-site requests with a session cookie, with or without Origin", async () => {
  const post = (headers: Record<string, string>) =>
    client.call("POST", "/sites", { name: "Shop" }, { as: "session", headers });
  for (const headers of [
    { origin: "null" },
    { origin: "https://evil.example" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ])
    expect(await post(headers)).toMatchObject({ status: 403, body: { code: "origin_forbidden" } });
  for (const headers of [
    { origin: service.url },
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
    {},
  ])
    expect((await post(headers)).status).toBe(201);
});

/** Sends a request with another Host header, like a browser after DNS rebinding. */
const statusAs = (host: string, path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const request = http.get(`${service.url}${path}`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    request.on("error", reject);
  });

test("pages of other origins cannot read the inbox or move the clock", async () => {
  const { port } = new URL(service.url);
  expect(await statusAs(`127.0.0.1:${port}`, "/_local/inbox")).toBe(200);
  expect(await statusAs(`localhost:${port}`, "/_local/inbox")).toBe(200);
  expect(await statusAs(`evil.example:${port}`, "/_local/inbox")).toBe(403);
  const move = (origin: string) =>
    fetch(`${service.url}/_local/clock`, {
      method: "POST",
      headers: { origin },
      body: JSON.stringify({ advanceSeconds: 1 }),
    });
  expect((await move("https://evil.example")).status).toBe(403);
  expect((await move("null")).status).toBe(403);
  expect((await move(service.url)).status).toBe(200);
});

test("no log line or response contains a password, token, key, credential, address or mail content", async () => {
  const email = "canary.user@canary.example";
  const answers: string[] = [];
  const callAndRecord = async <T>(...request: Parameters<typeof ask>) => {
    const answer = await ask<T>(...request);
    answers.push(answer.text);
    return answer;
  };
  const signup = expectStatus(
    201,
    await callAndRecord("POST", "/auth/signup", {
      email,
      password: "yellow feather above",
      name: "Canary Name",
    }),
  );
  const headers = { cookie: sessionCookie(signup) };
  await callAndRecord("POST", "/auth/login", { email, password: "canary guess" });
  const { key } = expectStatus(
    201,
    await ask<{ key: string }>("POST", "/api-keys", { name: "CI" }, { headers }),
  ).body.data;
  const authorization = { headers: { authorization: `Bearer ${key}` } };
  await callAndRecord("POST", "/sites", { name: "Shop" }, authorization);
  const { account } = await sendingConfig();
  for (const credentials of [
    account.credentials,
    { apiKey: "canary-credential" },
    { wrong: "canary-credential" },
  ]) {
    const fields = {
      provider: "postmark",
      fromEmail: "from@canary.example",
      credentials,
      webhookSecret: "canary-hook-secret",
    };
    const made = await callAndRecord<{ id: number }>(
      "POST",
      "/sending-configs",
      fields,
      authorization,
    );
    if (made.status !== 201) continue;
    const { id } = made.body.data;
    await callAndRecord(
      "POST",
      `/sending-configs/${id}/verify`,
      { to: "to@canary.example" },
      authorization,
    );
    const words = {
      to: "to@canary.example",
      subject: "canary subject",
      html: "canary body {{ x }}",
      variables: { x: { toString: "canary value" } },
    };
    await callAndRecord("POST", "/send", mail(id, words), authorization);
    await callAndRecord(
      "POST",
      "/send/batch",
      { ...mail(id, words), recipients: [{ to: "to@canary.example" }, { to: "canary" }] },
      authorization,
    );
    await ask("POST", `/webhooks/postmark?config_id=${id}&secret=canary-hook-secret`, {
      RecordType: "Open",
      Recipient: "to@canary.example",
    });
  }
  await callAndRecord("GET", "/suppressions/check/to%40canary.example", undefined, authorization);
  await callAndRecord("POST", "/auth/forgot-password", { email });
  await fetch(`${service.url}/_local/settle`, { method: "POST" });
  const log = service.output();
  expect(log).toContain('"message":"request"');
  expect(log).toContain('"message":"system mail sent"');
  expect(log.match(/.*canary.*/gi)).toBeNull();
  const secrets = [
    "yellow feather above",
    "canary guess",
    "canary-credential",
    "canary-hook-secret",
    "scrypt",
    key,
    sessionCookie(signup).split("=")[1]!,
  ];
  for (const secret of [...secrets, password])
    expect([...answers, log].filter((text) => text.includes(secret))).toEqual([]);
});
