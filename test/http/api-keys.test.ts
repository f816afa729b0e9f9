import { expect, inject, test } from "vitest";
import { expectStatus, signedUp } from "../support/api-client.ts";

interface ApiKey {
  id: number;
  prefix: string;
  lastUsedAt: string | null;
  createdAt: string;
}
type Listed = { apiKeys: ApiKey[]; pagination: { total: number; nextCursor: string | null } };

test("a key is shown in full once, works at once, and is listed without its secret", async () => {
  const { call } = await signedUp();
  const created = await call<ApiKey & { key: string }>(
    "POST",
    "/api-keys",
    { name: "CI" },
    { as: "session" },
  );
  expect(created).toMatchObject({
    status: 201,
    body: {
      data: {
        id: expect.any(Number),
        name: "CI",
        siteId: null,
        scopes: ["*"],
        lastUsedAt: null,
        createdAt: expect.any(String),
      },
    },
  });
  const { key, id, prefix } = created.body.data;
  expect(key).toMatch(/^pm_live_[0-9A-Za-z]{40,}$/);
  expect(prefix).toBe(key.slice(0, "pm_live_".length + 8));
  expect((await call("GET", "/sites", undefined, { as: { key } })).status).toBe(200);

  const { body, text } = await call<Listed>("GET", "/api-keys");
  expect(body.data.apiKeys[0]).toMatchObject({ id, prefix, name: "CI" });
  expect(text).not.toContain(key);
  expect(text).not.toContain("hash");
  expect(text).not.toContain('"key"');
});

test("keys are listed newest first, by page and by cursor", async () => {
  const { call, newKey } = await signedUp();
  for (let i = 0; i < 4; i++) await newKey();
  const all = (await call<Listed>("GET", "/api-keys")).body.data;
  const ids = all.apiKeys.map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted((a, b) => b - a));
  expect(all.pagination).toEqual({ page: 1, limit: 50, total: 5, totalPages: 1, nextCursor: null });

  const first = (await call<Listed>("GET", "/api-keys?limit=2")).body.data;
  expect(first.pagination).toMatchObject({
    total: 5,
    totalPages: 3,
    nextCursor: expect.any(String),
  });
  const second = (
    await call<Listed>("GET", `/api-keys?limit=2&cursor=${first.pagination.nextCursor}`)
  ).body.data;
  const third = (await call<Listed>("GET", "/api-keys?limit=2&page=3")).body.data;
  expect([first, second, third].flatMap(({ apiKeys }) => apiKeys.map(({ id }) => id))).toEqual(ids);
  expect(third.pagination.nextCursor).toBeNull();
});

test("the time of the last use of a key is stored", async () => {
  const { call, newKey } = await signedUp();
  const key = await newKey();
  const newest = async () => (await call<Listed>("GET", "/api-keys")).body.data.apiKeys[0]!;
  expect((await newest()).lastUsedAt).toBeNull();
  expectStatus(200, await call("GET", "/sites", undefined, { as: { key } }));
  const { lastUsedAt, createdAt } = await newest();
  expect(lastUsedAt).toMatch(/^\d{4}-.*\.\d{3}Z$/);
  // Compares two times of the service, because other tests move its clock.
  expect(lastUsedAt! > createdAt).toBe(true);
});

test("a revoked key is rejected, and can be revoked once", async () => {
  const { call, newKey } = await signedUp();
  const key = await newKey();
  const [{ id } = { id: 0 }] = (await call<Listed>("GET", "/api-keys")).body.data.apiKeys;
  expect(await call("DELETE", `/api-keys/${id}`, undefined, { as: "session" })).toMatchObject({
    status: 200,
    body: { data: { id, deleted: true } },
  });
  expect((await call("GET", "/sites", undefined, { as: { key } })).status).toBe(401);
  expect((await call("DELETE", `/api-keys/${id}`, undefined, { as: "session" })).status).toBe(404);
  expect((await call<Listed>("GET", "/api-keys")).body.data.pagination.total).toBe(1);
});

test("only users create and revoke keys: a key cannot", async () => {
  const { call } = await signedUp();
  const [{ id } = { id: 0 }] = (await call<Listed>("GET", "/api-keys")).body.data.apiKeys;
  expect(await call("POST", "/api-keys", { name: "child" })).toMatchObject({
    status: 403,
    body: { code: "session_required" },
  });
  expect(await call("DELETE", `/api-keys/${id}`)).toMatchObject({
    status: 403,
    body: { code: "session_required" },
  });
  expect((await call("GET", "/auth/me")).status).toBe(200);
});

test("a key can do only what its scopes allow", async () => {
  const { call, newKey } = await signedUp();
  const reader = await newKey({ scopes: ["sites:read"] });
  const writer = await newKey({ scopes: ["sites:write"] });
  const statuses = async (key: string) => [
    (await call("GET", "/sites", undefined, { as: { key } })).status,
    (await call("POST", "/sites", { name: "New" }, { as: { key } })).status,
  ];
  expect(await statuses(reader)).toEqual([200, 403]);
  expect(await statuses(writer)).toEqual([403, 201]);
  const refused = await call("GET", "/api-keys", undefined, { as: { key: reader } });
  expect(refused.body).toMatchObject({
    code: "scope_missing",
    error: expect.stringContaining("api-keys:read"),
  });
});

test.each([
  ["name", {}],
  ["name", { name: "" }],
  ["name", { name: "x".repeat(201) }],
  ["scopes", { name: "CI", scopes: [] }],
  ["scopes", { name: "CI", scopes: "sites:read" }],
  ["scopes.1", { name: "CI", scopes: ["sites:read", "sites:admin"] }],
  ["scopes.0", { name: "CI", scopes: ["sites"] }],
  ["scopes.1", { name: "CI", scopes: ["sites:read", "colours:read"] }],
  ["siteId", { name: "CI", siteId: "1" }],
])("a key with a bad %s is refused", async (path, body) => {
  const { call } = await signedUp();
  expect(await call("POST", "/api-keys", body, { as: "session" })).toMatchObject({
    status: 400,
    body: { details: [{ path }] },
  });
});

test("a key cannot be bound to an unknown site or a site of another organization", async () => {
  const [{ call }, other] = await Promise.all([signedUp(), signedUp()]);
  for (const siteId of [other.siteId, 999_999_999])
    expect(
      await call("POST", "/api-keys", { name: "CI", siteId }, { as: "session" }),
    ).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
});

test("a bound key cannot access data of the whole organization", async () => {
  const { call, newKey, siteId } = await signedUp();
  const as = { key: await newKey({ siteId }) };
  const requests = [
    ["GET", "/api-keys"],
    ["GET", "/settings"],
    ["PUT", "/settings/org"],
    ["POST", "/sites"],
  ] as const;
  for (const [method, path] of requests) {
    const answer = await call(method, path, method === "GET" ? undefined : { name: "Mine now" }, {
      as,
    });
    expect(answer).toMatchObject({
      status: 403,
      body: {
        error:
          "This API key or member is limited to sites and cannot access data of the whole organization",
        code: "site_forbidden",
      },
    });
  }
});

test("the keys of another organization are a 404", async () => {
  const [one, other] = await Promise.all([signedUp(), signedUp()]);
  const [{ id } = { id: 0 }] = (await other.call<Listed>("GET", "/api-keys")).body.data.apiKeys;
  expect((await one.call("DELETE", `/api-keys/${id}`, undefined, { as: "session" })).status).toBe(
    404,
  );
  expect(
    (await one.call<Listed>("GET", "/api-keys")).body.data.apiKeys.map((key) => key.id),
  ).not.toContain(id);
  expect((await other.call("GET", "/auth/me")).status).toBe(200);
});

test("every owner is mailed about a new key", async () => {
  const owner = await signedUp();
  const inbox = async (to: string) => {
    const url = `${inject("baseUrl")}/_local/inbox?to=${encodeURIComponent(to)}`;
    const { data } = (await (await fetch(url)).json()) as {
      data: { mails: { subject: string }[] };
    };
    return data.mails.map(({ subject }) => subject);
  };
  await expect.poll(() => inbox(owner.email)).toContain("Security notice: An API key was created");
});
