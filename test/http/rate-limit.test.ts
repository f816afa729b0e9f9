// On a service of its own, whose organizations are on the free plan: 100 requests a minute, 20 of them sends' own.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Service, startService } from "../../infra/local/service.ts";
import { type Answer, ask, type Client, must, signedUp } from "../support/client.ts";

const addressLimit = 6;
let service: Service;
beforeAll(async () => {
  service = await startService({
    DATA_DIR: ":memory:",
    PORT: "0",
    SANDBOX: "off",
    SIGNUP: "open",
    DEFAULT_PLAN: "free",
    ADDRESS_LIMIT_PER_MINUTE: String(addressLimit),
    LOG_LEVEL: "SILENT",
  });
});
afterAll(() => service.stop());

// A window begins with each minute of the service's clock: every test gets a whole one.
beforeEach(nextMinute);
async function nextMinute() {
  const clock = `${service.url}/_local/clock`;
  const { data } = (await (await fetch(clock)).json()) as { data: { now: string } };
  const advanceSeconds = 60 - (Date.parse(data.now) % 60_000) / 1000;
  await fetch(clock, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ advanceSeconds }) });
}

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
const usage = async ({ call }: Client) => must(200, await call<RateLimit>("GET", "/rate-limit")).body.data;
const header = ({ headers }: Answer<unknown>, name: string) => Number(headers.get(`x-ratelimit-${name}`));

test("looking at the rate limit does not count against it", async () => {
  const one = await client();
  const first = await usage(one);
  expect(first).toMatchObject({ plan: "free", windowSeconds: 60, general: { limit: 100 }, send: { limit: 20, used: 0, remaining: 20 } });
  expect(first.general.used + first.general.remaining).toBe(100);
  expect(first.general.resetAt % 60).toBe(0);
  for (let i = 0; i < 5; i++) expect(await usage(one)).toEqual(first);
  must(200, await one.call("GET", "/sites"));
  expect((await usage(one)).general.used).toBe(first.general.used + 1);
});

test("every authenticated answer tells how much is left, whatever became of the request", async () => {
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
  for (const answer of answers) expect([header(answer, "limit"), header(answer, "reset") % 60]).toEqual([100, 0]);
});

test("the 101st request of a minute is refused, for this organization and this minute only", async () => {
  const [one, other] = [await client(), await client()];
  const { remaining } = (await usage(one)).general;
  const answers = await Promise.all(Array.from({ length: remaining + 10 }, () => one.call("GET", "/sites")));
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(remaining);
  expect(refused).toHaveLength(10);
  for (const answer of refused) {
    expect(answer.body).toMatchObject({ error: expect.any(String), code: "rate_limited", limit: 100, resetAt: header(answer, "reset") });
    expect(answer.headers.get("retry-after")).toBe(String(answer.body.retryAfter));
    expect(answer.body.retryAfter).toBeGreaterThan(0);
    expect(answer.body.retryAfter).toBeLessThanOrEqual(60);
    expect(header(answer, "remaining")).toBe(0);
  }
  expect((await usage(one)).general).toMatchObject({ used: 100, remaining: 0 });
  expect((await other.call("GET", "/sites")).status).toBe(200);
  await nextMinute();
  expect((await one.call("GET", "/sites")).status).toBe(200);
});

test("sends have a limit of their own, and the rest goes on when it is used up", async () => {
  const one = await client();
  const before = (await usage(one)).general.used;
  const answers = await Promise.all(Array.from({ length: 25 }, () => one.call("POST", "/send", {})));
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(5);
  for (const answer of answers) expect(header(answer, "limit")).toBe(20);
  const after = await usage(one);
  expect(after).toMatchObject({ general: { used: before }, send: { used: 20, remaining: 0 } });
  expect((await one.call("GET", "/sites")).status).toBe(200);
});

test("who has no good credential is told nothing of limits, and uses up nobody's", async () => {
  const one = await client();
  const before = (await usage(one)).general.used;
  const answer = await one.call("GET", "/sites", undefined, { as: { key: `${one.apiKey}x` } });
  expect([answer.status, answer.headers.get("x-ratelimit-limit")]).toEqual([401, null]);
  expect((await usage(one)).general.used).toBe(before);
});

test("one client address gets so many public requests a minute and route", async () => {
  const forgot = () => ask("POST", "/auth/forgot-password", { email: "nobody@example.com" }, { service: service.url });
  const answers = [];
  for (let i = 0; i <= addressLimit; i++) answers.push(await forgot());
  expect(answers.map(({ status }) => status)).toEqual([...Array(addressLimit).fill(200), 429]);
  expect(answers.at(-1)).toMatchObject({ body: { code: "rate_limited", limit: addressLimit, retryAfter: expect.any(Number) } });
  const login = { email: "nobody@example.com", password: "not the password" };
  expect((await ask("POST", "/auth/login", login, { service: service.url })).status).toBe(401);
  await nextMinute();
  expect((await forgot()).status).toBe(200);
});
