import { expect, inject, test } from "vitest";
import {
  expectStatus,
  password,
  request,
  sessionCookie,
  signedUp,
  uniqueEmail,
  waitForMail,
} from "../support/api-client.ts";

const cookiePattern =
  /^__Host-session=[0-9A-Za-z]{32,}; HttpOnly; Secure; SameSite=Lax; Path=\/; Max-Age=604800$/;
const login = (email: string, given = password, headers = {}) =>
  request("POST", "/auth/login", { email, password: given }, { headers });
const me = (cookie: string) => request("GET", "/auth/me", undefined, { headers: { cookie } });

test("a sign-up creates a user and an organization and opens a session", async () => {
  const email = uniqueEmail();
  const answer = await request("POST", "/auth/signup", {
    email,
    password,
    name: "Ada",
    organizationName: "Engines Ltd",
  });
  expect(answer).toMatchObject({
    status: 201,
    cookies: [expect.stringMatching(cookiePattern)],
    body: {
      data: {
        user: {
          id: expect.any(Number),
          email,
          name: "Ada",
          createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
        },
        organization: {
          id: expect.any(Number),
          name: "Engines Ltd",
          plan: expect.any(String),
          timezone: "UTC",
        },
      },
    },
  });
  expect(answer.text).not.toContain("scrypt");
  const { body } = await me(sessionCookie(answer));
  expect(body).toEqual({
    data: {
      ...(answer.body.data as object),
      auth: {
        kind: "session",
        viaSso: false,
        role: "owner",
        siteId: null,
        siteIds: null,
        scopes: ["*"],
        isOperator: false,
        isVerified: true,
      },
    },
  });
});

test("an email can sign up once, in any case", async () => {
  const email = uniqueEmail();
  expectStatus(201, await request("POST", "/auth/signup", { email, password }));
  const again = await request("POST", "/auth/signup", { email: email.toUpperCase(), password });
  expect(again).toMatchObject({
    status: 409,
    cookies: [],
    body: { code: "email_taken", details: [{ path: "email" }] },
  });
});

test.each([
  ["password", { email: "ada@example.com", password: "short" }],
  ["password", { email: "ada@example.com", password: "x".repeat(201) }],
  ["password", { email: "ada@example.com", password: "Password1234" }],
  ["password", { email: "ada@example.com", password: "ada@example.com" }],
  ["password", { email: "ada@example.com" }],
  ["email", { email: "not an address", password }],
  ["email", { email: `${"a".repeat(250)}@example.com`, password }],
  ["name", { email: "ada@example.com", password, name: 7 }],
  ["organizationName", { email: "ada@example.com", password, organizationName: "" }],
])("a sign-up with a bad %s is refused, and the error names the field", async (path, body) => {
  const answer = await request("POST", "/auth/signup", body);
  expect(answer).toMatchObject({
    status: 400,
    cookies: [],
    body: { code: "validation_failed", details: [{ path }] },
  });
  expect(answer.body.error).toContain(path);
});

test("every login opens a new session, whatever cookie the request has", async () => {
  const { email, cookie } = await signedUp();
  const forgedCookie = "__Host-session=chosenByAnAttacker00000000000000000";
  const [first, second] = [
    await login(email, password, { cookie: forgedCookie }),
    await login(email, password, { cookie }),
  ];
  const cookies = [first, second].map(sessionCookie);
  expect(new Set([cookie, forgedCookie, ...cookies]).size).toBe(4);
  expect(first).toMatchObject({
    status: 200,
    cookies: [expect.stringMatching(cookiePattern)],
    body: { data: { user: { email } } },
  });
  for (const one of [cookie, ...cookies]) expect((await me(one)).status).toBe(200);
  expect((await me(forgedCookie)).status).toBe(401);
});

test("a login accepts the email in any case", async () => {
  const { email } = await signedUp();
  expect((await login(email.toUpperCase())).status).toBe(200);
});

test("an unknown email and a wrong password get the same response", async () => {
  const { email } = await signedUp();
  const [wrong, unknown] = [
    await login(email, "not the password"),
    await login(uniqueEmail(), "not the password"),
  ];
  for (const answer of [wrong, unknown]) {
    const { requestId, docs, ...rest } = answer.body;
    expect(rest).toEqual({ error: "Unauthorized", code: "unauthorized" });
    expect(answer).toMatchObject({ status: 401, cookies: [] });
  }
});

test("after ten failed logins the response is 429 with Retry-After", async () => {
  const email = uniqueEmail();
  const failures = await Promise.all(
    Array.from({ length: 10 }, () => login(email, "not the password")),
  );
  expect(failures.map(({ status }) => status)).toEqual(Array(10).fill(401));
  const refused = await login(email);
  expect(refused).toMatchObject({
    status: 429,
    body: { code: "rate_limited", limit: 10, resetAt: expect.any(Number) },
  });
  expect(refused.body.retryAfter).toBeGreaterThan(0);
  expect(refused.body.retryAfter).toBeLessThanOrEqual(900);
  expect(refused.headers.get("retry-after")).toBe(String(refused.body.retryAfter));
});

test("a logout ends its session, clears the cookie, and ends no other session", async () => {
  const { email, cookie } = await signedUp();
  const other = sessionCookie(await login(email));
  const answer = await request("POST", "/auth/logout", undefined, { headers: { cookie } });
  expect(answer.status).toBe(200);
  expect(answer.cookies).toEqual([expect.stringMatching(/^__Host-session=; .*Max-Age=0$/)]);
  expect((await me(cookie)).status).toBe(401);
  expect((await me(other)).status).toBe(200);
});

test("GET /auth/me returns the user, organization, site and scopes of an API key", async () => {
  const { call, newKey, siteId, orgId, email } = await signedUp();
  const key = await newKey({ siteId, scopes: ["auth:read", "sites:read"] });
  expect((await call("GET", "/auth/me", undefined, { as: { key } })).body).toMatchObject({
    data: {
      user: { email },
      organization: { id: orgId },
      auth: { kind: "api_key", siteId, scopes: ["auth:read", "sites:read"] },
    },
  });
});

test.each([
  ["no credential", {}],
  ["an empty cookie", { cookie: "__Host-session=" }],
  ["a made-up session", { cookie: `__Host-session=${"a".repeat(43)}` }],
  ["a made-up key", { authorization: `Bearer pm_live_${"a".repeat(48)}` }],
  ["another scheme", { authorization: "Basic YTpi" }],
  ["a bare prefix", { authorization: "Bearer pm_live_" }],
])("%s is a 401", async (_, headers) => {
  const answer = await request("GET", "/auth/me", undefined, { headers });
  expect(answer).toMatchObject({
    status: 401,
    body: { error: "Unauthorized", code: "unauthorized", requestId: expect.any(String) },
  });
});

test("a request with an invalid API key and a valid session is a 401", async () => {
  const { cookie } = await signedUp();
  expect(
    (
      await request("GET", "/auth/me", undefined, {
        headers: { cookie, authorization: "Bearer nonsense" },
      })
    ).status,
  ).toBe(401);
});

test("forgot-password responds the same to known and unknown emails", async () => {
  const { email } = await signedUp();
  const answers = await Promise.all(
    [email, uniqueEmail()].map((one) => request("POST", "/auth/forgot-password", { email: one })),
  );
  for (const answer of answers)
    expect(answer).toMatchObject({ status: 200, body: { data: { sent: true } } });
  expect(
    (await request("POST", "/auth/forgot-password", { email: "nobody" })).body.details,
  ).toMatchObject([{ path: "email" }]);
});

test("a mailed token sets a new password once and ends every session", async () => {
  const { email, cookie } = await signedUp();
  expectStatus(200, await request("POST", "/auth/forgot-password", { email: email.toUpperCase() }));
  const { text } = await waitForMail(email);
  const [, token = ""] = /token=([0-9A-Za-z]{32,})/.exec(text ?? "") ?? [];
  const reset = (next: string) =>
    request("POST", "/auth/reset-password", { token, password: next });
  const done = await reset("quite a new password");
  expect(done).toMatchObject({ status: 200, cookies: [], body: { data: { reset: true } } });
  expect((await me(cookie)).status).toBe(401);
  expect((await login(email)).status).toBe(401);
  expect((await login(email, "quite a new password")).status).toBe(200);
  expect(await reset("yet another password")).toMatchObject({
    status: 400,
    body: { code: "invalid_token" },
  });
});

test("an invalid reset token is refused", async () => {
  const answer = await request("POST", "/auth/reset-password", {
    token: "made-up",
    password: "quite a new password",
  });
  expect(answer).toMatchObject({
    status: 400,
    body: { code: "invalid_token", details: [{ path: "token" }] },
  });
  const weak = await request("POST", "/auth/reset-password", {
    token: "made-up",
    password: "12345678",
  });
  expect(weak).toMatchObject({
    status: 400,
    body: { code: "validation_failed", details: [{ path: "password" }] },
  });
});

test("settings return user and organization; name and time zone can be changed separately", async () => {
  const { call, email, orgId } = await signedUp();
  const renamed = await call("PUT", "/settings/org", { name: "Engines Ltd" });
  expect(renamed).toMatchObject({
    status: 200,
    body: { data: { id: orgId, name: "Engines Ltd", timezone: "UTC" } },
  });
  expectStatus(200, await call("PUT", "/settings/org", { timezone: "Europe/Berlin" }));
  expect(await call("GET", "/settings")).toMatchObject({
    status: 200,
    body: {
      data: {
        user: { email },
        organization: { id: orgId, name: "Engines Ltd", timezone: "Europe/Berlin" },
      },
    },
  });
});

test.each([
  ["timezone", { timezone: "Mars/Olympus" }],
  ["timezone", { timezone: "+02:00" }],
  ["name", { name: "  " }],
  ["name", { name: "two\nlines" }],
])("organization settings with a bad %s are refused", async (path, body) => {
  const { call } = await signedUp();
  expect(await call("PUT", "/settings/org", body)).toMatchObject({
    status: 400,
    body: { details: [{ path }] },
  });
});

test("changing the password needs the current one and ends the other sessions", async () => {
  const { email, cookie, call } = await signedUp();
  const weak = { currentPassword: password, newPassword: `${email.split("@")[0]}` };
  expect(await call("PUT", "/settings/password", weak, { as: "session" })).toMatchObject({
    status: 400,
    body: { code: "validation_failed", details: [{ path: "newPassword" }] },
  });
  const other = sessionCookie(await login(email));
  const change = (currentPassword: string) =>
    call(
      "PUT",
      "/settings/password",
      { currentPassword, newPassword: "another horse altogether" },
      { as: "session" },
    );
  expect(await change("not the password")).toMatchObject({
    status: 400,
    body: { code: "wrong_password", details: [{ path: "currentPassword" }] },
  });
  expect((await me(other)).status).toBe(200);
  expect((await change(password)).status).toBe(200);
  expect([(await me(cookie)).status, (await me(other)).status]).toEqual([200, 401]);
  expect((await login(email)).status).toBe(401);
  expect((await login(email, "another horse altogether")).status).toBe(200);
});

test("an API key cannot change the password or log out", async () => {
  const { call } = await signedUp();
  for (const [method, path] of [
    ["PUT", "/settings/password"],
    ["POST", "/auth/logout"],
  ] as const)
    expect(
      await call(method, path, {
        currentPassword: password,
        newPassword: "another horse altogether",
      }),
    ).toMatchObject({
      status: 403,
      body: { code: "session_required" },
    });
});

test("a page of another origin cannot write with its visitor's session", async () => {
  const { call } = await signedUp();
  for (const origin of ["https://evil.example", "null"])
    expect(
      await call("POST", "/sites", { name: "Trap" }, { as: "session", headers: { origin } }),
    ).toMatchObject({
      status: 403,
      body: { code: "origin_forbidden" },
    });
  expect(
    (
      await call("GET", "/sites", undefined, {
        as: "session",
        headers: { origin: "https://evil.example" },
      })
    ).status,
  ).toBe(200);
  expect(
    (
      await call(
        "POST",
        "/sites",
        { name: "By key" },
        { headers: { origin: "https://evil.example" } },
      )
    ).status,
  ).toBe(201);
  const own = { origin: new URL(inject("baseUrl")).origin };
  expect(
    (await call("POST", "/sites", { name: "Ours" }, { as: "session", headers: own })).status,
  ).toBe(201);
});

test("sessions are listed and revoked", async () => {
  const user = await signedUp();
  const { email, call } = user;
  const other = await request("POST", "/auth/login", { email, password });
  type Listed = { sessions: { id: string; current: boolean; organizationId: number }[] };
  const list = async () =>
    (await call<Listed>("GET", "/auth/sessions", undefined, { as: "session" })).body.data.sessions;
  const listed = await list();
  expect(listed).toHaveLength(2);
  expect(listed.every(({ organizationId }) => organizationId === user.orgId)).toBe(true);
  const { id } = listed.find(({ current }) => !current)!;
  const stranger = await signedUp();
  const revoke = (by: typeof user) =>
    by.call("DELETE", `/auth/sessions/${id}`, undefined, { as: "session" });
  expect((await revoke(stranger)).status).toBe(404);
  expect((await revoke(user)).status).toBe(200);
  expect((await me(sessionCookie(other))).status).toBe(401);
  expect((await list()).map(({ current }) => current)).toEqual([true]);
});
