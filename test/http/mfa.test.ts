import { setTimeout as sleep } from "node:timers/promises";
import { Secret, TOTP } from "otpauth";
import { expect, test } from "vitest";
import { type Answer, ask, type Client, cookieOf, mailTo, must, password, signedUp } from "../support/client.ts";

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
  ask<{ mfaRequired: true; mfaToken: string; methods: string[] }>("POST", "/auth/login", { email, password: given });
const verify = (mfaToken: string, code: string, headers = {}) => ask("POST", "/mfa/verify", { mfaToken, code }, { headers });
const begun = async (email: string): Promise<string> => must(200, await login(email)).body.data.mfaToken;
const me = async (cookie: string) => (await ask("GET", "/auth/me", undefined, { headers: { cookie } })).status;
const statusOf = async ({ call }: Client) => must(200, await call("GET", "/mfa/status", undefined, session)).body.data;

/** `steps` of 30 seconds from now: the service takes the one before and the one after too. */
const codeOf = (secret: string, steps = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });

/** The code of the step before has been used, so that this one and the next are left. */
async function withApp(): Promise<Client & Setup & Enabled> {
  // A step that ends in the middle of a test would end the codes of the one before it.
  const left = 30_000 - (Date.now() % 30_000);
  if (left < 3000) await sleep(left);
  const client = await signedUp();
  const setup = must(200, await client.call<Setup>("POST", "/mfa/totp/setup", undefined, session)).body.data;
  const enabled = must(200, await client.call<Enabled>("POST", "/mfa/totp/verify-setup", { code: codeOf(setup.secret, -1) }, session));
  return { ...client, ...setup, ...enabled.body.data };
}

const unauthorized = (code: string) => ({ status: 401, cookies: [], body: { error: "Unauthorized", code } });

test("an app is set up by a secret, a URL and an image of it, and counts after its first code", async () => {
  const client = await signedUp();
  const off = { enabled: false, enabledAt: null };
  expect(await statusOf(client)).toEqual({ totp: off, emailOtp: off, recoveryCodesLeft: 0 });
  const { secret, otpauthUrl, qrCode } = must(200, await client.call<Setup>("POST", "/mfa/totp/setup", undefined, session)).body.data;
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  const url = new URL(otpauthUrl);
  expect([url.protocol, url.host, url.searchParams.get("secret"), url.searchParams.get("issuer")]).toEqual([
    "otpauth:",
    "totp",
    secret,
    "Pennymail",
  ]);
  expect(decodeURIComponent(url.pathname)).toContain(client.email);
  expect(Buffer.from(qrCode.replace(/^data:image\/svg\+xml;base64,/, ""), "base64").toString()).toMatch(/^<svg .*<\/svg>$/s);
  expect(cookieOf(await login(client.email))).not.toBe("");
  const wrong = await client.call("POST", "/mfa/totp/verify-setup", { code: "000000" }, session);
  expect(wrong).toMatchObject({ status: 400, body: { code: "wrong_code", details: [{ path: "code" }] } });
  const right = await client.call<Enabled>("POST", "/mfa/totp/verify-setup", { code: codeOf(secret) }, session);
  expect(right).toMatchObject({ status: 200, body: { data: { enabled: true } } });
  expect(new Set(right.body.data.recoveryCodes).size).toBe(10);
  expect(await statusOf(client)).toMatchObject({ totp: { enabled: true, enabledAt: expect.any(String) }, recoveryCodesLeft: 10 });
  expect(await client.call("POST", "/mfa/totp/setup", undefined, session)).toMatchObject({
    status: 409,
    body: { code: "already_enabled" },
  });
});

test("a code that set the app up logs nobody in", async () => {
  const client = await signedUp();
  const { secret } = must(200, await client.call<Setup>("POST", "/mfa/totp/setup", undefined, session)).body.data;
  const code = codeOf(secret);
  must(200, await client.call("POST", "/mfa/totp/verify-setup", { code }, session));
  expect(await verify(await begun(client.email), code)).toMatchObject(unauthorized("wrong_code"));
});

test("nothing can be verified that was not set up", async () => {
  const { call } = await signedUp();
  const answer = await call("POST", "/mfa/totp/verify-setup", { code: "123456" }, session);
  expect(answer).toMatchObject({ status: 409, body: { code: "setup_needed" } });
});

test("with an app a login gives no session before the code, and a new one with it", async () => {
  const { email, secret, cookie } = await withApp();
  const asked = await login(email);
  expect(asked).toMatchObject({ status: 200, cookies: [], body: { data: { mfaRequired: true, methods: ["totp"] } } });
  expect(Object.keys(asked.body.data).sort()).toEqual(["methods", "mfaRequired", "mfaToken"]);
  expect(await me(`__Host-session=${asked.body.data.mfaToken}`)).toBe(401);
  const brought = "__Host-session=chosenByAnAttacker00000000000000000";
  const done = await verify(asked.body.data.mfaToken, codeOf(secret), { cookie: brought });
  expect(done).toMatchObject({ status: 200, body: { data: { user: { email } } } });
  expect(done.cookies).toEqual([
    expect.stringMatching(/^__Host-session=[0-9A-Za-z]{32,}; HttpOnly; Secure; SameSite=Lax; Path=\/; Max-Age=604800$/),
  ]);
  expect([brought, cookie, `__Host-session=${asked.body.data.mfaToken}`]).not.toContain(cookieOf(done));
  expect(await me(cookieOf(done))).toBe(200);
});

test("codes one step early or late are taken, further ones are not, and each works once", async () => {
  const { email, secret } = await withApp();
  for (const steps of [-3, 3]) expect(await verify(await begun(email), codeOf(secret, steps))).toMatchObject(unauthorized("wrong_code"));
  const next = codeOf(secret, 1);
  expect((await verify(await begun(email), `${next.slice(0, 3)} ${next.slice(3)}`)).status).toBe(200);
  for (const spent of [next, codeOf(secret)]) expect(await verify(await begun(email), spent)).toMatchObject(unauthorized("wrong_code"));
});

test("of many logins with one code one succeeds", async () => {
  const { email, secret } = await withApp();
  const tokens = await Promise.all(Array.from({ length: 4 }, () => begun(email)));
  const code = codeOf(secret);
  const answers = await Promise.all(tokens.map((token) => verify(token, code)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
});

test("a recovery code logs in once, however it is written", async () => {
  const client = await withApp();
  const [first = "", second = ""] = client.recoveryCodes;
  expect((await verify(await begun(client.email), first.toUpperCase().replace("-", " "))).status).toBe(200);
  expect(await verify(await begun(client.email), first)).toMatchObject(unauthorized("wrong_code"));
  const tokens = [await begun(client.email), await begun(client.email)];
  const answers = await Promise.all(tokens.map((token) => verify(token, second)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  expect(await statusOf(client)).toMatchObject({ recoveryCodesLeft: 8 });
});

test("five wrong codes burn the token, and the right one comes too late", async () => {
  const { email, secret } = await withApp();
  const mfaToken = await begun(email);
  const codes: (string | undefined)[] = [];
  for (let i = 0; i < 5; i++) codes.push((await verify(mfaToken, "not it")).body.code);
  expect(codes).toEqual([...Array(4).fill("wrong_code"), "invalid_token"]);
  expect(await verify(mfaToken, codeOf(secret))).toMatchObject(unauthorized("invalid_token"));
  expect((await verify(await begun(email), codeOf(secret))).status).toBe(200);
});

test("wrong codes count as failed logins: after ten the account waits, for the password too", async () => {
  const { email } = await withApp();
  for (const token of [await begun(email), await begun(email)]) for (let i = 0; i < 5; i++) await verify(token, `wrong ${i}`);
  const refused = await login(email);
  expect(refused).toMatchObject({ status: 429, body: { code: "rate_limited", limit: 10 } });
  expect(refused.body.retryAfter).toBeGreaterThan(0);
});

test("a token that has been used, or made up, completes nothing", async () => {
  const { email, secret, recoveryCodes } = await withApp();
  const mfaToken = await begun(email);
  must(200, await verify(mfaToken, codeOf(secret)));
  expect(await verify(mfaToken, recoveryCodes[0]!)).toMatchObject(unauthorized("invalid_token"));
  expect(await verify("made up", codeOf(secret, 1))).toMatchObject(unauthorized("invalid_token"));
  expect(await ask("POST", "/mfa/challenge", { mfaToken })).toMatchObject(unauthorized("invalid_token"));
});

test("a new password makes waiting logins worthless, opens no session, and the code is still asked for", async () => {
  const { email, secret } = await withApp();
  const waiting = await begun(email);
  must(200, await ask("POST", "/auth/forgot-password", { email }));
  const [, token = ""] = /token=([0-9A-Za-z]{32,})/.exec((await mailTo(email)).text ?? "") ?? [];
  const reset = must(200, await ask("POST", "/auth/reset-password", { token, password: "quite a new password" }));
  expect(reset.cookies).toEqual([]);
  expect(await verify(waiting, codeOf(secret))).toMatchObject(unauthorized("wrong_code"));
  const again = await login(email, "quite a new password");
  expect(again).toMatchObject({ status: 200, cookies: [], body: { data: { mfaRequired: true } } });
  expect((await verify(again.body.data.mfaToken, codeOf(secret))).status).toBe(200);
});

const mailedCode = async (email: string, not = ""): Promise<string> => {
  for (let i = 0; i < 100; i++) {
    const [, code = ""] = /^Code: (\d{6})$/m.exec((await mailTo(email)).text ?? "") ?? [];
    if (code && code !== not) return code;
    await sleep(50);
  }
  throw new Error("No code came");
};

test("a mailed code completes a login; only the newest counts, and once", async () => {
  const client = await signedUp();
  const { email } = client;
  const enabled = must(200, await client.call<Enabled>("POST", "/mfa/email-otp/enable", undefined, session)).body.data;
  expect(enabled.recoveryCodes).toHaveLength(10);
  const again = must(200, await client.call<Enabled>("POST", "/mfa/email-otp/enable", undefined, session)).body.data;
  expect(again).toEqual({ enabled: true });
  const asked = must(200, await login(email)).body.data;
  expect(asked.methods).toEqual(["email_otp"]);
  expect(await verify(asked.mfaToken, "000000")).toMatchObject(unauthorized("wrong_code"));
  expect(await ask("POST", "/mfa/challenge", { mfaToken: asked.mfaToken })).toMatchObject({ status: 200, body: { data: { sent: true } } });
  const first = await mailedCode(email);
  must(200, await ask("POST", "/mfa/challenge", { mfaToken: asked.mfaToken }));
  const second = await mailedCode(email, first);
  const other = await begun(email);
  expect(await verify(other, second)).toMatchObject(unauthorized("wrong_code"));
  expect(await verify(asked.mfaToken, first)).toMatchObject(unauthorized("wrong_code"));
  expect((await verify(asked.mfaToken, second)).status).toBe(200);
  expect(await verify(asked.mfaToken, second)).toMatchObject(unauthorized("invalid_token"));
});

test("codes are mailed to those who want them only, and five in a quarter of an hour", async () => {
  const app = await withApp();
  const refused = await ask("POST", "/mfa/challenge", { mfaToken: await begun(app.email) });
  expect(refused).toMatchObject({ status: 409, body: { code: "method_unavailable" } });
  must(200, await app.call("POST", "/mfa/email-otp/enable", undefined, session));
  const asked = must(200, await login(app.email)).body.data;
  expect(asked.methods).toEqual(["totp", "email_otp"]);
  const answers: Answer<unknown>[] = [];
  for (let i = 0; i < 6; i++) answers.push(await ask("POST", "/mfa/challenge", { mfaToken: asked.mfaToken }));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
});

test("disabling needs a code or the password, and without any second factor the password is enough again", async () => {
  const client = await withApp();
  const { call, email, secret, recoveryCodes } = client;
  const disable = (body: object) => call("POST", "/mfa/totp/disable", body, session);
  for (const body of [{}, { code: "123456", password }])
    expect(await disable(body)).toMatchObject({ status: 400, body: { code: "validation_failed", details: [{ path: "code" }] } });
  expect(await disable({ code: "000000" })).toMatchObject({ status: 400, body: { code: "wrong_code" } });
  expect(await disable({ password: "not it" })).toMatchObject({ status: 400, body: { code: "wrong_password" } });
  expect((await login(email)).body.data.mfaRequired).toBe(true);
  must(200, await call("POST", "/mfa/email-otp/enable", undefined, session));
  expect(await call("POST", "/mfa/email-otp/disable", { code: recoveryCodes[0] }, session)).toMatchObject({ status: 200 });
  expect(await call("POST", "/mfa/email-otp/disable", { code: recoveryCodes[0] }, session)).toMatchObject({ status: 400 });
  expect(await statusOf(client)).toMatchObject({ totp: { enabled: true }, emailOtp: { enabled: false }, recoveryCodesLeft: 9 });
  expect(await disable({ code: codeOf(secret) })).toMatchObject({ status: 200, body: { data: { enabled: false } } });
  expect(await statusOf(client)).toMatchObject({ totp: { enabled: false }, recoveryCodesLeft: 0 });
  expect(cookieOf(await login(email))).not.toBe("");
  expect((await mailTo(email)).subject).toContain("no second factor");
  expect(await disable({ password })).toMatchObject({ status: 200, body: { data: { enabled: false } } });
});

test("an API key sets up and disables nothing", async () => {
  const { call } = await signedUp();
  expect(await call("GET", "/mfa/status")).toMatchObject({ status: 403, body: { code: "session_required" } });
  for (const path of ["totp/setup", "totp/verify-setup", "totp/disable", "email-otp/enable", "email-otp/disable"])
    expect(await call("POST", `/mfa/${path}`, { code: "1", password })).toMatchObject({ status: 403, body: { code: "session_required" } });
});
