import { Secret, TOTP } from "otpauth";
import { beforeEach, expect, inject, test } from "vitest";
import {
  expectStatus,
  nextMinute,
  password,
  request,
  sessionCookie,
  signedUp,
  type TestClient,
  type TestResponse,
  waitForMail,
} from "../support/api-client.ts";
import { readClockLead } from "../support/service-clock.ts";
import { waitFor } from "../support/wait-for.ts";

interface Setup {
  secret: string;
  otpauthUrl: string;
  qrCode: string;
}
interface Enabled {
  enabled: true;
  recoveryCodes: string[];
}
const session = { as: "session" } as const;
const login = (email: string, given = password) =>
  request<{ mfaRequired: true; mfaToken: string; methods: string[] }>("POST", "/auth/login", {
    email,
    password: given,
  });
const verify = (mfaToken: string, code: string, headers = {}) =>
  request("POST", "/mfa/verify", { mfaToken, code }, { headers });
const startLogin = async (email: string): Promise<string> =>
  expectStatus(200, await login(email)).body.data.mfaToken;
const me = async (cookie: string) =>
  (await request("GET", "/auth/me", undefined, { headers: { cookie } })).status;
const statusOf = async ({ call }: TestClient) =>
  expectStatus(200, await call("GET", "/mfa/status", undefined, session)).body.data;

/** How far tests have moved the clock of the service. */
let aheadMs = 0;
beforeEach(async () => {
  aheadMs = await readClockLead();
});
const serviceTime = (): number => Date.now() + aheadMs;

/** The code `steps` of 30 seconds from now. The service also accepts the previous and next code. */
const codeOf = (secret: string, steps = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: serviceTime() + steps * 30_000,
  });

/**
 * Signs up and enables an app. At the start of the next minute, the current and the next code are
 * unused, and the next step is 30 seconds away.
 */
async function withApp(): Promise<TestClient & Setup & Enabled> {
  const client = await signedUp();
  const setup = expectStatus(
    200,
    await client.call<Setup>("POST", "/mfa/totp/setup", undefined, session),
  ).body.data;
  const enabled = expectStatus(
    200,
    await client.call<Enabled>(
      "POST",
      "/mfa/totp/verify-setup",
      { code: codeOf(setup.secret) },
      session,
    ),
  );
  await nextMinute(inject("baseUrl"));
  aheadMs = await readClockLead();
  return { ...client, ...setup, ...enabled.body.data };
}

const unauthorized = (code: string) => ({
  status: 401,
  cookies: [],
  body: { error: "Unauthorized", code },
});

test("an app is set up with a secret, a URL and a QR code, and is enabled by its first code", async () => {
  const client = await signedUp();
  const off = { enabled: false, enabledAt: null };
  expect(await statusOf(client)).toEqual({ totp: off, emailOtp: off, recoveryCodesLeft: 0 });
  const { secret, otpauthUrl, qrCode } = expectStatus(
    200,
    await client.call<Setup>("POST", "/mfa/totp/setup", undefined, session),
  ).body.data;
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  const url = new URL(otpauthUrl);
  expect([
    url.protocol,
    url.host,
    url.searchParams.get("secret"),
    url.searchParams.get("issuer"),
  ]).toEqual(["otpauth:", "totp", secret, "Pennymail"]);
  expect(decodeURIComponent(url.pathname)).toContain(client.email);
  expect(
    Buffer.from(qrCode.replace(/^data:image\/svg\+xml;base64,/, ""), "base64").toString(),
  ).toMatch(/^<svg .*<\/svg>$/s);
  expect(sessionCookie(await login(client.email))).not.toBe("");
  const fullWidth = await client.call(
    "POST",
    "/mfa/totp/verify-setup",
    { code: "１２３４５６" },
    session,
  );
  expect([fullWidth.status, fullWidth.body.code]).toEqual([400, "wrong_code"]);
  const wrong = await client.call("POST", "/mfa/totp/verify-setup", { code: "000000" }, session);
  expect(wrong).toMatchObject({
    status: 400,
    body: { code: "wrong_code", details: [{ path: "code" }] },
  });
  const right = await client.call<Enabled>(
    "POST",
    "/mfa/totp/verify-setup",
    { code: codeOf(secret) },
    session,
  );
  expect(right).toMatchObject({ status: 200, body: { data: { enabled: true } } });
  expect(new Set(right.body.data.recoveryCodes).size).toBe(10);
  expect(await statusOf(client)).toMatchObject({
    totp: { enabled: true, enabledAt: expect.any(String) },
    recoveryCodesLeft: 10,
  });
  expect(await client.call("POST", "/mfa/totp/setup", undefined, session)).toMatchObject({
    status: 409,
    body: { code: "already_enabled" },
  });
});

test("the code that enabled the app cannot be used to log in", async () => {
  const client = await signedUp();
  const { secret } = expectStatus(
    200,
    await client.call<Setup>("POST", "/mfa/totp/setup", undefined, session),
  ).body.data;
  const code = codeOf(secret);
  expectStatus(200, await client.call("POST", "/mfa/totp/verify-setup", { code }, session));
  expect(await verify(await startLogin(client.email), code)).toMatchObject(
    unauthorized("wrong_code"),
  );
});

test("the app is turned on with the password too", async () => {
  const client = await signedUp();
  const { secret } = expectStatus(
    200,
    await client.call<Setup>("POST", "/mfa/totp/setup", undefined, session),
  ).body.data;
  const enable = (password: string) =>
    client.call("POST", "/mfa/totp/verify-setup", { code: codeOf(secret), password }, session);
  expect((await enable("another phrase")).body.code).toBe("wrong_password");
  expectStatus(200, await enable(client.password));
});

test("verifying without a setup is rejected", async () => {
  const { call } = await signedUp();
  const answer = await call("POST", "/mfa/totp/verify-setup", { code: "123456" }, session);
  expect(answer).toMatchObject({ status: 409, body: { code: "setup_needed" } });
});

test("with an app, a login opens a session only after the code", async () => {
  const { email, secret, cookie } = await withApp();
  const challenge = await login(email);
  expect(challenge).toMatchObject({
    status: 200,
    cookies: [],
    body: { data: { mfaRequired: true, methods: ["totp"] } },
  });
  expect(Object.keys(challenge.body.data).sort()).toEqual(["methods", "mfaRequired", "mfaToken"]);
  expect(await me(`__Host-session=${challenge.body.data.mfaToken}`)).toBe(401);
  const forgedCookie = "__Host-session=chosenByAnAttacker00000000000000000";
  const done = await verify(challenge.body.data.mfaToken, codeOf(secret), { cookie: forgedCookie });
  expect(done).toMatchObject({ status: 200, body: { data: { user: { email } } } });
  expect(done.cookies).toEqual([
    expect.stringMatching(
      /^__Host-session=[0-9A-Za-z]{32,}; HttpOnly; Secure; SameSite=Lax; Path=\/; Max-Age=604800$/,
    ),
  ]);
  expect([forgedCookie, cookie, `__Host-session=${challenge.body.data.mfaToken}`]).not.toContain(
    sessionCookie(done),
  );
  expect(await me(sessionCookie(done))).toBe(200);
});

test("codes one time step early or late are accepted, others are not, and each works once", async () => {
  const { email, secret } = await withApp();
  for (const steps of [-3, 3])
    expect(await verify(await startLogin(email), codeOf(secret, steps))).toMatchObject(
      unauthorized("wrong_code"),
    );
  const next = codeOf(secret, 1);
  expect(
    (await verify(await startLogin(email), `${next.slice(0, 3)} ${next.slice(3)}`)).status,
  ).toBe(200);
  for (const spent of [next, codeOf(secret)])
    expect(await verify(await startLogin(email), spent)).toMatchObject(unauthorized("wrong_code"));
});

test("one of several concurrent logins with one code succeeds", async () => {
  const { email, secret } = await withApp();
  const tokens = await Promise.all(Array.from({ length: 4 }, () => startLogin(email)));
  const code = codeOf(secret);
  const answers = await Promise.all(tokens.map((token) => verify(token, code)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
});

test("a recovery code works once, in any spelling", async () => {
  const client = await withApp();
  const [first = "", second = ""] = client.recoveryCodes;
  expect(
    (await verify(await startLogin(client.email), first.toUpperCase().replace("-", " "))).status,
  ).toBe(200);
  expect(await verify(await startLogin(client.email), first)).toMatchObject(
    unauthorized("wrong_code"),
  );
  const tokens = [await startLogin(client.email), await startLogin(client.email)];
  const answers = await Promise.all(tokens.map((token) => verify(token, second)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  expect(await statusOf(client)).toMatchObject({ recoveryCodesLeft: 8 });
});

test("after five wrong codes, the token rejects the right one too", async () => {
  const { email, secret } = await withApp();
  const mfaToken = await startLogin(email);
  const codes: (string | undefined)[] = [];
  for (let i = 0; i < 5; i++) codes.push((await verify(mfaToken, "not it")).body.code);
  expect(codes).toEqual([...Array(4).fill("wrong_code"), "invalid_token"]);
  expect(await verify(mfaToken, codeOf(secret))).toMatchObject(unauthorized("invalid_token"));
  expect((await verify(await startLogin(email), codeOf(secret))).status).toBe(200);
});

test("wrong codes count as failed logins: after ten, the password is rejected too", async () => {
  const { email } = await withApp();
  for (const token of [await startLogin(email), await startLogin(email)])
    for (let i = 0; i < 5; i++) await verify(token, `wrong ${i}`);
  const refused = await login(email);
  expect(refused).toMatchObject({ status: 429, body: { code: "rate_limited", limit: 10 } });
  expect(refused.body.retryAfter).toBeGreaterThan(0);
});

test("a used or forged token is rejected", async () => {
  const { email, secret, recoveryCodes } = await withApp();
  const mfaToken = await startLogin(email);
  expectStatus(200, await verify(mfaToken, codeOf(secret)));
  expect(await verify(mfaToken, recoveryCodes[0]!)).toMatchObject(unauthorized("invalid_token"));
  expect(await verify("made up", codeOf(secret, 1))).toMatchObject(unauthorized("invalid_token"));
  expect(await request("POST", "/mfa/challenge", { mfaToken })).toMatchObject(
    unauthorized("invalid_token"),
  );
});

test("a new password invalidates started logins, opens no session, and a code is still required", async () => {
  const { email, secret } = await withApp();
  const waiting = await startLogin(email);
  expectStatus(200, await request("POST", "/auth/forgot-password", { email }));
  const [, token = ""] =
    /token=([0-9A-Za-z]{32,})/.exec((await waitForMail(email)).text ?? "") ?? [];
  const reset = expectStatus(
    200,
    await request("POST", "/auth/reset-password", { token, password: "quite a new password" }),
  );
  expect(reset.cookies).toEqual([]);
  expect(await verify(waiting, codeOf(secret))).toMatchObject(unauthorized("wrong_code"));
  const again = await login(email, "quite a new password");
  expect(again).toMatchObject({ status: 200, cookies: [], body: { data: { mfaRequired: true } } });
  expect((await verify(again.body.data.mfaToken, codeOf(secret))).status).toBe(200);
});

const mailedCode = async (email: string, not = ""): Promise<string> => {
  return waitFor(async () => {
    const [, code = ""] = /^Code: (\d{6})$/m.exec((await waitForMail(email)).text ?? "") ?? [];
    expect(["", not]).not.toContain(code);
    return code;
  });
};

test("a mailed code completes a login; only the newest one works, and once", async () => {
  const client = await signedUp();
  const { email } = client;
  const enabled = expectStatus(
    200,
    await client.call<Enabled>("POST", "/mfa/email-otp/enable", undefined, session),
  ).body.data;
  expect(enabled.recoveryCodes).toHaveLength(10);
  const again = expectStatus(
    200,
    await client.call<Enabled>("POST", "/mfa/email-otp/enable", undefined, session),
  ).body.data;
  expect(again).toEqual({ enabled: true });
  const challenge = expectStatus(200, await login(email)).body.data;
  expect(challenge.methods).toEqual(["email_otp"]);
  expect(await verify(challenge.mfaToken, "000000")).toMatchObject(unauthorized("wrong_code"));
  expect(await request("POST", "/mfa/challenge", { mfaToken: challenge.mfaToken })).toMatchObject({
    status: 200,
    body: { data: { sent: true } },
  });
  const first = await mailedCode(email);
  expectStatus(200, await request("POST", "/mfa/challenge", { mfaToken: challenge.mfaToken }));
  const second = await mailedCode(email, first);
  const other = await startLogin(email);
  expect(await verify(other, second)).toMatchObject(unauthorized("wrong_code"));
  expect(await verify(challenge.mfaToken, first)).toMatchObject(unauthorized("wrong_code"));
  expect((await verify(challenge.mfaToken, second)).status).toBe(200);
  expect(await verify(challenge.mfaToken, second)).toMatchObject(unauthorized("invalid_token"));
});

test("codes are mailed only if email codes are enabled, at most five in 15 minutes", async () => {
  const app = await withApp();
  const refused = await request("POST", "/mfa/challenge", {
    mfaToken: await startLogin(app.email),
  });
  expect(refused).toMatchObject({ status: 409, body: { code: "method_unavailable" } });
  expectStatus(200, await app.call("POST", "/mfa/email-otp/enable", undefined, session));
  const challenge = expectStatus(200, await login(app.email)).body.data;
  expect(challenge.methods).toEqual(["totp", "email_otp"]);
  const answers: TestResponse<unknown>[] = [];
  for (let i = 0; i < 6; i++)
    answers.push(await request("POST", "/mfa/challenge", { mfaToken: challenge.mfaToken }));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
});

test("disabling needs a code or the password; afterwards the password is enough", async () => {
  const client = await withApp();
  const { call, email, secret, recoveryCodes } = client;
  const disable = (body: object) => call("POST", "/mfa/totp/disable", body, session);
  for (const body of [{}, { code: "123456", password }])
    expect(await disable(body)).toMatchObject({
      status: 400,
      body: { code: "validation_failed", details: [{ path: "code" }] },
    });
  expect(await disable({ code: "000000" })).toMatchObject({
    status: 400,
    body: { code: "wrong_code" },
  });
  expect(await disable({ password: "not it" })).toMatchObject({
    status: 400,
    body: { code: "wrong_password" },
  });
  expect((await login(email)).body.data.mfaRequired).toBe(true);
  expectStatus(200, await call("POST", "/mfa/email-otp/enable", undefined, session));
  expect(
    await call("POST", "/mfa/email-otp/disable", { code: recoveryCodes[0] }, session),
  ).toMatchObject({ status: 200 });
  expect(
    await call("POST", "/mfa/email-otp/disable", { code: recoveryCodes[0] }, session),
  ).toMatchObject({ status: 400 });
  expect(await statusOf(client)).toMatchObject({
    totp: { enabled: true },
    emailOtp: { enabled: false },
    recoveryCodesLeft: 9,
  });
  expect(await disable({ code: codeOf(secret) })).toMatchObject({
    status: 200,
    body: { data: { enabled: false } },
  });
  expect(await statusOf(client)).toMatchObject({ totp: { enabled: false }, recoveryCodesLeft: 0 });
  expect(sessionCookie(await login(email))).not.toBe("");
  expect((await waitForMail(email)).subject).toContain("Two-factor login was turned off");
  expect(await disable({ password })).toMatchObject({
    status: 200,
    body: { data: { enabled: false } },
  });
});

test("an API key cannot set up or disable a second factor", async () => {
  const { call } = await signedUp();
  expect(await call("GET", "/mfa/status")).toMatchObject({
    status: 403,
    body: { code: "session_required" },
  });
  for (const path of [
    "totp/setup",
    "totp/verify-setup",
    "totp/disable",
    "email-otp/enable",
    "email-otp/disable",
  ])
    expect(await call("POST", `/mfa/${path}`, { code: "1", password })).toMatchObject({
      status: 403,
      body: { code: "session_required" },
    });
});
