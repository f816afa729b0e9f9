// A secret is returned once, to its owner. Afterwards it is in no response and in no log line, even
// if another service returns it in an error.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Secret, TOTP } from "otpauth";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  expectStatus,
  request,
  sessionCookie,
  type TestRequestOptions,
  waitForMail,
} from "../support/api-client.ts";
import { type RunningTestService, startServiceProcess } from "../support/service-process.ts";

const stripeKey = "sk_test_canary0stripe0key";
const stripeWebhookSecret = "whsec_canary0stripe0hook";
const pexelsKey = "canary0pexels0key";

/** Responds to every request with an error that repeats the request. */
function parrot(): Promise<Server> {
  const server = createServer(async (request, response) => {
    const leaks = JSON.stringify([request.url, request.headers, await text(request)]);
    const error = { type: "api_error", message: `Invalid key: ${leaks}` };
    response.writeHead(request.url?.includes("portal") ? 401 : 500, {
      "content-type": "application/json",
    });
    response.end(JSON.stringify({ error, Message: leaks, message: leaks, detail: leaks }));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

let [echo, service]: [Server?, RunningTestService?] = [];
let url = "";
beforeAll(async () => {
  echo = await parrot();
  const back = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
  service = await startServiceProcess({
    ...{ DEFAULT_PLAN: "enterprise", ADDRESS_LIMIT_PER_MINUTE: "100000", LOG_LEVEL: "DEBUG" },
    ...{
      STRIPE_SECRET_KEY: stripeKey,
      STRIPE_WEBHOOK_SECRET: stripeWebhookSecret,
      STRIPE_URL: back,
    },
    ...{ PEXELS_API_KEY: pexelsKey, PEXELS_URL: back, PROVIDER_URL_SENDGRID: back },
    ...{ CAPTCHA_URL: back },
  });
  url = service.url;
});
afterAll(async () => {
  await service?.stop();
  echo?.close();
});

interface RecordedResponse {
  request: string;
  text: string;
}

const nowhere = /^$/;

test("returns every secret only once and logs none", async () => {
  const responses: RecordedResponse[] = [];
  const secrets = new Map<string, { value: string; returnedBy: RegExp }>();
  /** `returnedBy` matches the requests whose responses may contain the secret. */
  const secret = (name: string, value: string, returnedBy = nowhere) => {
    expect([name, value.length > 5]).toEqual([name, true]);
    secrets.set(name, { value, returnedBy });
    return value;
  };
  const call = async <T>(
    method: string,
    path: string,
    body?: unknown,
    options: TestRequestOptions = {},
  ) => {
    const answer = await request<T>(method, path, body, { service: url, ...options });
    responses.push({
      request: `${method} ${path.split("?")[0]}`,
      text: answer.text + JSON.stringify([...answer.headers]),
    });
    return answer;
  };
  const visit = async (path: string, form?: Record<string, string>) => {
    const response = await fetch(
      `${url}${path}`,
      form && { method: "POST", body: new URLSearchParams(form) },
    );
    const pageText = await response.text();
    responses.push({
      request: `${form ? "POST" : "GET"} ${path.split("?")[0]}`,
      text: pageText + JSON.stringify([...response.headers]),
    });
    return pageText;
  };
  const settle = () => fetch(`${url}/_local/settle`, { method: "POST" });

  // Passwords and sessions.
  const email = "canaries@example.com";
  const password = secret("password", "canary0password one");
  const signup = expectStatus(201, await call("POST", "/auth/signup", { email, password }));
  const sessionOf = (name: string, cookie: string) =>
    secret(name, cookie.split("=")[1]!, /^POST \/(auth\/signup|auth\/login|mfa\/verify)$/);
  const cookie = sessionCookie(signup);
  sessionOf("session", cookie);
  const ownSession = { headers: { cookie } };
  await call("POST", "/auth/signup", { email, password });
  await call("POST", "/auth/login", {
    email,
    password: secret("is wrong", "canary0password wrong"),
  });
  await call("POST", "/auth/login", { email, password: { is: password } });
  await call("POST", "/auth/login", undefined, {
    raw: `{"email":"${email}","password":"${password}"`,
    headers: { "content-type": "application/json" },
  });
  await call(
    "PUT",
    "/settings/password",
    { currentPassword: "canary0password wrong", newPassword: password },
    ownSession,
  );
  const next = secret("next password", "canary0password two");
  expectStatus(
    200,
    await call(
      "PUT",
      "/settings/password",
      { currentPassword: password, newPassword: next },
      ownSession,
    ),
  );
  await call("GET", "/auth/me", undefined, ownSession);
  await call("GET", "/settings", undefined, ownSession);

  // Keys.
  const key = secret(
    "API key",
    expectStatus(201, await call<{ key: string }>("POST", "/api-keys", { name: "CI" }, ownSession))
      .body.data.key,
    /^POST \/api-keys$/,
  );
  const byKey = { headers: { authorization: `Bearer ${key}` } };
  const once = { headers: { ...ownSession.headers, "idempotency-key": "canary" } };
  const second = expectStatus(
    201,
    await call<{ key: string }>("POST", "/api-keys", { name: "CI" }, once),
  ).body.data.key;
  secret("second API key", second);
  responses.pop();
  expectStatus(201, await call("POST", "/api-keys", { name: "CI" }, once));
  await call("GET", "/api-keys", undefined, ownSession);
  await call("GET", "/sites", undefined, { headers: { authorization: `Bearer ${key}x` } });
  await call("GET", `/sites?key=${key}`);
  await call("POST", "/sites", { name: "Shop" }, byKey);

  // Second factors.
  const setup = expectStatus(
    200,
    await call<{ secret: string }>("POST", "/mfa/totp/setup", undefined, ownSession),
  ).body.data;
  secret("TOTP secret", setup.secret, /^POST \/mfa\/totp\/setup$/);
  const codeAt = (steps: number) =>
    new TOTP({ secret: Secret.fromBase32(setup.secret) }).generate({
      timestamp: Date.now() + steps * 30_000,
    });
  await call("POST", "/mfa/totp/verify-setup", { code: "000000" }, ownSession);
  const on = expectStatus(
    200,
    await call<{ recoveryCodes: string[] }>(
      "POST",
      "/mfa/totp/verify-setup",
      { code: codeAt(0) },
      ownSession,
    ),
  ).body.data;
  for (const [i, code] of on.recoveryCodes.entries())
    secret(`recovery code ${i}`, code, /^POST \/mfa\/totp\/verify-setup$/);
  await call("POST", "/mfa/email-otp/enable", undefined, ownSession);
  await call("GET", "/mfa/status", undefined, ownSession);
  const { mfaToken } = expectStatus(
    200,
    await call<{ mfaToken: string }>("POST", "/auth/login", { email, password: next }),
  ).body.data;
  secret("MFA token", mfaToken, /^POST \/auth\/login$/);
  await call("POST", "/mfa/verify", { mfaToken, code: "000000" });
  await call("POST", "/mfa/verify", { mfaToken: `${mfaToken}x`, code: on.recoveryCodes[0] });
  await call("POST", "/mfa/challenge", { mfaToken });
  await settle();
  // The mailed code is not checked, because six digits can occur by chance.
  const mailed = / (\d{6})\b/.exec(`${(await waitForMail(email, url)).text}`)![1]!;
  await call("POST", "/mfa/verify", { mfaToken, code: "111111" });
  const through = expectStatus(200, await call("POST", "/mfa/verify", { mfaToken, code: mailed }));
  sessionOf("session after MFA", sessionCookie(through));

  // Password reset.
  await call("POST", "/auth/forgot-password", { email });
  await settle();
  const [, token = ""] = /token=([\w-]+)/.exec((await waitForMail(email, url)).text!)!;
  secret("reset token", token, /^GET \/reset-password$/);
  await visit(`/reset-password?token=${token}`);
  await call("POST", "/auth/reset-password", { token, password: "short" });
  await call("POST", "/auth/reset-password", { token: `${token}x`, password });
  const third = secret("third password", "canary0password three");
  await visit("/reset-password", { token: `${token}x`, password: third });
  await call("POST", "/auth/reset-password", { token, password: third });
  await call("POST", "/auth/reset-password", { token, password: third });

  // The CAPTCHA of a form.
  const captcha = {
    provider: "turnstile",
    siteKey: "site-key",
    secret: secret("CAPTCHA secret", "canary0captcha0secret"),
  };
  const form = await call<{ id: number }>("POST", "/forms", { name: "News", captcha }, byKey);
  const { id: formId } = expectStatus(201, form).body.data;
  await call("GET", `/forms/${formId}`, undefined, byKey);
  await call("PUT", `/forms/${formId}`, { captcha: { ...captcha, siteKey: "a b" } }, byKey);
  const filled = { email: "ada@example.com", "cf-turnstile-response": "token" };
  expectStatus(503, await call("POST", `/forms/${formId}/submit`, filled));

  // Credentials of providers.
  const sandbox = (await (await fetch(`${url}/_local/sandbox`)).json()) as {
    data: { providers: Record<string, { credentials: object }> };
  };
  const credential = secret("credential", "canary0credential");
  const hookSecret = secret("webhookSecret", "canary0hook0secret");
  const configs: number[] = [];
  for (const [provider, credentials] of [
    ["postmark", sandbox.data.providers.postmark!.credentials],
    ["sendgrid", { apiKey: credential }],
    ["sendgrid", { wrong: credential }],
    ["mailgun", { apiKey: credential, domain: "not a domain" }],
    ["nobody", { apiKey: credential }],
  ] as const) {
    const fields = {
      provider,
      fromEmail: "from@example.com",
      credentials,
      webhookSecret: hookSecret,
    };
    const made = await call<{ id: number }>("POST", "/sending-configs", fields, byKey);
    if (made.status === 201) configs.push(made.body.data.id);
  }
  const [config] = configs;
  for (const id of configs) {
    await call("POST", `/sending-configs/${id}/verify`, { to: "to@example.com" }, byKey);
    await call("GET", `/sending-configs/${id}`, undefined, byKey);
    await call("PUT", `/sending-configs/${id}`, { webhookSecret: `${hookSecret} ` }, byKey);
    await call(
      "POST",
      "/send",
      { to: "to@example.com", sendingConfigId: id, subject: "Hi", html: "Hi" },
      byKey,
    );
    await call("POST", `/webhooks/sendgrid?config_id=${id}&secret=${hookSecret}x`, [
      { event: "open" },
    ]);
    await call("POST", `/webhooks/postmark?config_id=${id}&secret=${hookSecret}`, {
      RecordType: "Open",
    });
  }
  await settle();
  await call("GET", "/sends", undefined, byKey);
  await call("GET", "/sending-configs", undefined, byKey);

  // Outgoing webhooks, and the URL that starts sequences.
  const hook = expectStatus(
    201,
    await call<{ id: number; secret: string }>(
      "POST",
      "/webhooks",
      { url: "http://127.0.0.1:9/", events: ["open"] },
      byKey,
    ),
  );
  const { id: hookId } = hook.body.data;
  secret("endpoint secret", hook.body.data.secret, /^POST \/webhooks$/);
  const rotated = expectStatus(
    200,
    await call<{ secret: string }>("POST", `/webhooks/${hookId}/rotate-secret`, {}, byKey),
  ).body.data.secret;
  secret("rotated secret", rotated, /rotate-secret$/);
  await call("POST", `/webhooks/${hookId}/test`, {}, byKey);
  for (const path of [`/webhooks/${hookId}`, "/webhooks", `/webhooks/${hookId}/deliveries`])
    await call("GET", path, undefined, byKey);
  const { webhookUrl, callSecret } = expectStatus(
    201,
    await call<{ webhookUrl: string; callSecret: string }>(
      "POST",
      "/sequences",
      { name: "Hook" },
      byKey,
    ),
  ).body.data;
  secret("call secret", callSecret, /^(GET|POST) \/sequences/);
  const sequenceSecret = secret(
    "sequence secret",
    webhookUrl.split("/").at(-1)!,
    /^(GET|POST) \/sequences/,
  );
  await call("POST", `/wh/sq/${sequenceSecret}`, { email: "ann@example.com" });
  await call("POST", `/wh/sq/${sequenceSecret}`, { email: "nobody" });
  await call("POST", `/wh/sq/${sequenceSecret}x`, { email: "ann@example.com" });

  // Secure messages.
  const passphrase = secret("passphrase", "canary0passphrase");
  const words = secret("secure words", "canary0secure0words");
  const sealed = {
    to: "reader@example.com",
    sendingConfigId: config,
    subject: "Papers",
    html: words,
    secure: true,
    securePassphrase: passphrase,
  };
  expectStatus(202, await call("POST", "/send", sealed, byKey));
  await call("POST", "/send", { ...sealed, secure: false }, byKey);
  await call("POST", "/send", { ...sealed, html: `${words} {{ x` }, byKey);
  await settle();
  const [, secureToken = ""] = /\/secure\/([\w-]+)/.exec(
    (await waitForMail("reader@example.com", url)).text!,
  )!;
  secret("secure token", secureToken);
  await visit(`/secure/${secureToken}`);
  await visit(`/secure/${secureToken}`, { passphrase: "wrong" });
  await visit(`/secure/${secureToken}x`);
  expect(await visit(`/secure/${secureToken}`, { passphrase })).toContain(words);
  responses.pop();
  await call("GET", "/secure-messages", undefined, byKey);

  // Secrets of the operator, with services that repeat them in their errors.
  for (const [name, value] of Object.entries({ stripeKey, stripeWebhookSecret, pexelsKey }))
    secret(name, value);
  const login = { headers: { cookie: sessionCookie(through) } };
  for (const options of [ownSession, login]) {
    await call("POST", "/billing/checkout", { plan: "starter" }, options);
    await call("POST", "/billing/portal", {}, options);
    await call("GET", "/billing/subscription", undefined, options);
  }
  await call(
    "POST",
    "/billing/webhooks",
    { type: "invoice.paid" },
    { headers: { "stripe-signature": "t=1,v1=00" } },
  );
  expect((await call("GET", "/stock-photos?q=cat", undefined, byKey)).status).toBe(502);
  await call("POST", "/stock-photos/save", { id: 1 }, byKey);

  const log = service!.output();
  expect(log).toContain('"message":"request"');
  const leaks = [...secrets].flatMap(([name, { value, returnedBy }]) => [
    ...responses
      .filter(
        ({ request, text: pageText }) => !returnedBy.test(request) && pageText.includes(value),
      )
      .map(({ request }) => `${name} in ${request}`),
    ...(log.includes(value)
      ? [
          `${name} in the log: ${log
            .split("\n")
            .find((line) => line.includes(value))
            ?.slice(0, 300)}`,
        ]
      : []),
  ]);
  expect(leaks).toEqual([]);
  // The expected responses contain their secrets. Otherwise the check above would prove nothing.
  for (const [name, { value, returnedBy }] of secrets)
    if (returnedBy.source !== nowhere.source)
      expect([
        name,
        responses.some(
          ({ request, text: pageText }) => returnedBy.test(request) && pageText.includes(value),
        ),
      ]).toEqual([name, true]);
});
