// GET /system/health: who may read it, and what it says.
import { afterEach, describe, expect, test, vi } from "vitest";
import { put, remove, update, write } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import * as clock from "../../shared/clock.ts";
import { getSystemHealth, readHealth } from "../../shared/domain/analytics/system-health.ts";
import { isOperator } from "../../shared/domain/identity/operators.ts";
import { recordRun } from "../../shared/kernel/schedule-runs.ts";
import { dueShardOf, indexAttributes, indexes, keys } from "../../shared/keys.ts";
import { queues } from "../../shared/queues.ts";
import { createAccount } from "../support/accounts.ts";

afterEach(() => void vi.unstubAllEnvs());

/** A new user with the address of an operator. */
async function createOperator() {
  const account = await createAccount();
  vi.stubEnv("OPERATORS", ` other@shop.example, ${account.email.toUpperCase()}`);
  vi.stubEnv("EMAIL_VERIFICATION", "on");
  return account;
}

describe("an operator", () => {
  test("is a user whom the setting names", async () => {
    const { caller } = await createOperator();
    const { caller: other } = await createAccount();
    expect([await isOperator(caller), await isOperator(other)]).toEqual([true, false]);
  });

  test("has a session with a password, no API key and no single sign-on", async () => {
    const { caller } = await createOperator();
    const others: Caller[] = [
      { ...caller, kind: "api_key", keyId: 1 },
      { ...caller, viaSso: true },
    ];
    for (const other of others) expect(await isOperator(other)).toBe(false);
  });

  test("has a verified address", async () => {
    const { caller, email } = await createOperator();
    await write(update(keys.user(email), { set: { unverified: true } }));
    expect(await isOperator(caller)).toBe(false);
  });

  test("cannot exist by the setting where anybody can sign up with any address", async () => {
    const { caller } = await createOperator();
    vi.stubEnv("EMAIL_VERIFICATION", "off");
    expect(await isOperator(caller)).toBe(false);
    vi.stubEnv("SIGNUP", "first");
    expect(await isOperator(caller)).toBe(true);
  });

  test("logs in again after turning on a second factor", async () => {
    const { caller } = await createOperator();
    const at = clock.addSeconds(60).toISOString();
    const factors = keys.secondFactors(caller.orgId, caller.userId);
    await write(put(factors, { emailOtpSince: at }));
    expect(await isOperator(caller)).toBe(false);
    const session = keys.session(caller.sessionHash!);
    await write(update(session, { set: { createdAt: clock.addSeconds(120).toISOString() } }));
    expect(await isOperator(caller)).toBe(true);
  });

  test("is, without the setting, an owner of the first organization", async () => {
    const { caller } = await createAccount();
    vi.stubEnv("SIGNUP", "first");
    await write(put(keys.firstSignup(), { createdAt: "2026-01-01", orgId: caller.orgId }));
    expect(await isOperator(caller)).toBe(true);
    expect(await isOperator({ ...caller, role: "admin" })).toBe(false);
    expect(await isOperator({ ...caller, orgId: caller.orgId + 1 })).toBe(false);
    vi.stubEnv("SIGNUP", "open");
    expect(await isOperator(caller)).toBe(false);
  });
});

test("others do not find the health of the installation", async () => {
  const { caller } = await createAccount();
  await expect(getSystemHealth(caller)).rejects.toMatchObject({ kind: "missing" });
});

test("names each queue, and stored work that is late", async () => {
  const id = 1_000_001;
  const at = clock.addSeconds(-1200);
  const position = indexAttributes(indexes.due("DOMAIN", dueShardOf(id)), at.toISOString());
  const key = keys.record(999_999, "DOMAIN", id);
  await write(put(key, { id, orgId: 999_999, ...position }));
  const health = await readHealth();
  await write(remove(key));
  expect(health.messageQueues.map(({ name }) => name).sort()).toEqual(
    Object.values(queues)
      .map(({ name }) => name)
      .sort(),
  );
  expect(health.dueWork.find(({ kind }) => kind === "domain")?.lateSeconds).toBeGreaterThan(1100);
  expect(health.status).toBe("attention");
  expect(health.problems).toContainEqual({
    code: "late_work",
    message: expect.stringContaining("Work of the kind domain has been due for"),
  });
});

test("names the time of the oldest enrollment without the hash of its sort key", async () => {
  const key = keys.enrollment(999_997, 1, { shard: "0", contactId: 1 });
  const at = "2001-02-03T04:05:00.000Z";
  const position = indexAttributes(indexes.dueEnrollments(0), `${at}#0123456789abcdef`);
  await write(put(key, { orgId: 999_997, ...position }));
  const { dueWork } = await readHealth();
  await write(remove(key));
  const enrollments = dueWork.find(({ kind }) => kind === "enrollment");
  expect(enrollments?.oldestDueAt).toBe(at);
  expect(enrollments?.lateSeconds).toBeGreaterThan(0);
});

test("shows lanes with waiting email and an open circuit breaker", async () => {
  const [orgId, configId] = [999_998, 7_000_001];
  const until = clock.addSeconds(60);
  const since = clock.addSeconds(-900).toISOString();
  const at = clock.addSeconds(-1000).toISOString();
  const chunk = keys.queuedChunk(orgId, configId, `5${at}#1#0`);
  await write(
    put(keys.lane(orgId, configId), {
      ...{ orgId, configId, arrivals: 1, faults: 6, heldSince: since },
      notBefore: until.getTime(),
      ...indexAttributes(indexes.due("LANE", dueShardOf(configId)), until.toISOString()),
    }),
    put(chunk, { n: 400, at }),
  );
  const { lanes, problems } = await readHealth();
  await write(remove(keys.lane(orgId, configId)), remove(chunk));
  expect(lanes).toContainEqual({
    organizationId: orgId,
    sendingConfigId: configId,
    state: "failing",
    chunks: 1,
    emails: 400,
    hasMore: false,
    oldestAt: at,
    failingSince: since,
    resumesAt: until.toISOString(),
  });
  expect(problems.map(({ code }) => code)).toContain("provider_failing");
});

test("a schedule that stopped is a problem", async () => {
  const minute = 60 - new Date(clock.now()).getUTCMinutes();
  clock.advanceClock(minute * 60);
  await recordRun("some-schedule");
  const read = async () =>
    (await readHealth()).problems.filter(({ message }) => message.includes("some-schedule"));
  expect(await read()).toEqual([]);
  clock.advanceClock(1000);
  expect(await read()).toMatchObject([{ code: "schedule_stopped" }]);
  await write(remove(keys.scheduleRun("some-schedule")));
});
