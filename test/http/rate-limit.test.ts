// Rate limits on a separate service whose organizations are on the free plan: 100 requests and 20
// sends per minute.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  expectStatus,
  nextMinute,
  request,
  signedUp,
  type TestClient,
  type TestResponse,
} from "../support/api-client.ts";
import {
  type RunningTestService,
  startServiceProcess,
  stillClock,
} from "../support/service-process.ts";

const addressLimit = 6;
let service: RunningTestService;
beforeAll(async () => {
  service = await startServiceProcess({
    ...stillClock,
    SIGNUP: "open",
    DEFAULT_PLAN: "free",
    ADDRESS_LIMIT_PER_MINUTE: String(addressLimit),
    LOG_LEVEL: "SILENT",
  });
});
afterAll(() => service.stop());

// A window is a minute of the service's clock. Each test starts at the beginning of a window.
beforeEach(() => nextMinute(service.url));

interface Window {
  limit: number;
  used: number;
  remaining: number;
  resetAt: number;
}
interface RateLimit {
  plan: string;
  general: Window;
  send: Window;
  windowSeconds: number;
}

const client = () => signedUp({ service: service.url });
const usage = async ({ call }: TestClient) =>
  expectStatus(200, await call<RateLimit>("GET", "/rate-limit")).body.data;
const header = ({ headers }: TestResponse<unknown>, name: string) =>
  Number(headers.get(`x-ratelimit-${name}`));

test("reading the rate limit does not count against it", async () => {
  const one = await client();
  const first = await usage(one);
  expect(first).toMatchObject({
    plan: "free",
    windowSeconds: 60,
    general: { limit: 100 },
    send: { limit: 20, used: 0, remaining: 20 },
  });
  expect(first.general.used + first.general.remaining).toBe(100);
  expect(first.general.resetAt % 60).toBe(0);
  for (let i = 0; i < 5; i++) expect(await usage(one)).toEqual(first);
  expectStatus(200, await one.call("GET", "/sites"));
  expect((await usage(one)).general.used).toBe(first.general.used + 1);
});

test("every authenticated response has the remaining count, whatever its status", async () => {
  const { call, newKey } = await client();
  const as = { key: await newKey({ scopes: ["sites:read"] }) };
  const answers = [
    await call("GET", "/sites"),
    await call("POST", "/sites", {}),
    await call("GET", "/sites/999999999"),
    await call("POST", "/sites", { name: "Shop" }, { as }),
    await call("GET", "/auth/me", undefined, { as: "session" }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 400, 404, 403, 200]);
  const left = answers.map((answer) => header(answer, "remaining"));
  expect(left).toEqual(left.map((_, i) => left[0]! - i));
  for (const answer of answers)
    expect([header(answer, "limit"), header(answer, "reset") % 60]).toEqual([100, 0]);
});

test("requests that are refused early count if their credential is valid", async () => {
  const one = await client();
  const { used } = (await usage(one)).general;
  const json = { "content-type": "application/json" };
  const answers = [
    await one.call("GET", "/nowhere"),
    await one.call("PATCH", "/sites"),
    await one.call("GET", "/contacts/bulk"),
    await one.call("POST", "/sites", undefined, { raw: "{", headers: json }),
    await one.call("POST", "/sites", undefined, {
      raw: "x",
      headers: { "content-type": "text/plain" },
    }),
    await one.call("POST", "/sites", undefined, {
      raw: `{"name":"${"x".repeat(37 * 1024 * 1024)}"}`,
      headers: json,
    }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 405, 405, 400, 415, 413]);
  expect(answers.map((answer) => header(answer, "remaining"))).toEqual(
    answers.map((_, i) => 100 - used - 1 - i),
  );
  expect((await usage(one)).general.used).toBe(used + answers.length);
  const { remaining } = (await usage(one)).general;
  await Promise.all(Array.from({ length: remaining }, () => one.call("GET", "/nowhere")));
  expect((await one.call("GET", "/nowhere")).status).toBe(429);
  expect((await one.call("POST", "/sites", undefined, { raw: "{", headers: json })).status).toBe(
    429,
  );
});

test("refuses the 101st request of a minute, only for this organization and minute", async () => {
  const [one, other] = [await client(), await client()];
  const { remaining } = (await usage(one)).general;
  const answers = await Promise.all(
    Array.from({ length: remaining + 10 }, () => one.call("GET", "/sites")),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(remaining);
  expect(refused).toHaveLength(10);
  for (const answer of refused) {
    expect(answer.body).toMatchObject({
      error: expect.any(String),
      code: "rate_limited",
      limit: 100,
      resetAt: header(answer, "reset"),
    });
    expect(answer.headers.get("retry-after")).toBe(String(answer.body.retryAfter));
    expect(answer.body.retryAfter).toBeGreaterThan(0);
    expect(answer.body.retryAfter).toBeLessThanOrEqual(60);
    expect(header(answer, "remaining")).toBe(0);
  }
  expect((await usage(one)).general).toMatchObject({ used: 100, remaining: 0 });
  expect((await other.call("GET", "/sites")).status).toBe(200);
  await nextMinute(service.url);
  expect((await one.call("GET", "/sites")).status).toBe(200);
});

test("sends have their own limit, and other requests continue when it is used up", async () => {
  const one = await client();
  const before = (await usage(one)).general.used;
  const answers = await Promise.all(
    Array.from({ length: 25 }, () => one.call("POST", "/send", {})),
  );
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(5);
  for (const answer of answers) expect(header(answer, "limit")).toBe(20);
  const after = await usage(one);
  expect(after).toMatchObject({ general: { used: before }, send: { used: 20, remaining: 0 } });
  expect((await one.call("GET", "/sites")).status).toBe(200);
});

test("requests without a valid credential see no limits and do not count", async () => {
  const one = await client();
  const before = (await usage(one)).general.used;
  const answer = await one.call("GET", "/sites", undefined, { as: { key: `${one.apiKey}x` } });
  expect([answer.status, answer.headers.get("x-ratelimit-limit")]).toEqual([401, null]);
  expect((await usage(one)).general.used).toBe(before);
});

test("limits public requests per minute for each client address and route", async () => {
  const forgot = () =>
    request(
      "POST",
      "/auth/forgot-password",
      { email: "nobody@example.com" },
      { service: service.url },
    );
  const answers = [];
  for (let i = 0; i <= addressLimit; i++) answers.push(await forgot());
  expect(answers.map(({ status }) => status)).toEqual([...Array(addressLimit).fill(200), 429]);
  expect(answers.at(-1)).toMatchObject({
    body: { code: "rate_limited", limit: addressLimit, retryAfter: expect.any(Number) },
  });
  const login = { email: "nobody@example.com", password: "not the password" };
  expect((await request("POST", "/auth/login", login, { service: service.url })).status).toBe(401);
  await nextMinute(service.url);
  expect((await forgot()).status).toBe(200);
});
