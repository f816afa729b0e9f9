import { expect, test } from "vitest";
import { account as accountGroup } from "../../functions/http/account.ts";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { get, queryAll, remove, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as accounts from "../../shared/domain/identity/accounts.ts";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import * as attempts from "../../shared/domain/identity/attempt-limits.ts";
import * as passwordChanges from "../../shared/domain/identity/password-changes.ts";
import * as sessions from "../../shared/domain/identity/sessions.ts";
import { authenticate, sessionCookieName } from "../../shared/http/authenticate.ts";
import * as limits from "../../shared/http/rate-limit.ts";
import { keys, ranges, sha256 } from "../../shared/keys.ts";
import { plans } from "../../shared/plans.ts";
import { createAccount, login, password, uniqueEmail } from "../support/accounts.ts";
import { invokeRoute } from "../support/lambda-requests.ts";

const address = "192.0.2.20";
const alive = async (token: string) => (await get(keys.session(sha256(token)))) !== undefined;
const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: { code?: string }) => error.code ?? String(error),
  );
const tally = (outcomes: string[]) =>
  Object.fromEntries(
    [...new Set(outcomes)].map((one) => [one, outcomes.filter((each) => each === one).length]),
  );

test("after ten wrong passwords, the right password is rejected too until the lock ends", async () => {
  const { email } = await createAccount();
  const guesses = Array.from({ length: 25 }, (_, i) =>
    outcomeOf(accounts.logIn({ email, password: `guess number ${i}` }, { address })),
  );
  expect(tally(await Promise.all(guesses))).toEqual({ unauthorized: 10, rate_limited: 15 });
  await expect(
    accounts.logIn({ email: email.toUpperCase(), password }, { address }),
  ).rejects.toMatchObject({
    kind: "limited",
    bodyFields: { limit: 10, retryAfter: expect.any(Number), resetAt: expect.any(Number) },
  });
  clock.advanceClock(15 * 60);
  expect(await outcomeOf(accounts.logIn({ email, password }, { address }))).toBe("done");
});

test("requests beyond the limit cost no table requests until the minute is over", async () => {
  const { caller } = await createAccount();
  clock.advanceClock(60 - (clock.epochSeconds() % 60));
  const request = async () => {
    const { result, usage } = await measureUnits(() => limits.countRequest(caller.orgId, "send"));
    return { result, paid: usage.readUnits + usage.writeUnits };
  };
  expect(await request()).toEqual({ result: 1, paid: 1 });
  const { sendPerMinute } = plans.free;
  expect(() =>
    limits.enforce({ orgId: caller.orgId, plan: "free" }, "send", sendPerMinute),
  ).not.toThrow();
  expect(() =>
    limits.enforce({ orgId: caller.orgId, plan: "free" }, "send", sendPerMinute + 1),
  ).toThrow("The rate limit");
  expect(await request()).toEqual({ result: sendPerMinute + 1, paid: 0 });
  // A larger plan lets requests through in the same minute, and they are counted again.
  expect(() =>
    limits.enforce({ orgId: caller.orgId, plan: "starter" }, "send", sendPerMinute + 1),
  ).not.toThrow();
  expect(await request()).toEqual({ result: 2, paid: 1 });
  expect(() =>
    limits.enforce({ orgId: caller.orgId, plan: "free" }, "send", sendPerMinute + 1),
  ).toThrow("The rate limit");
  clock.advanceClock(60);
  expect(await request()).toEqual({ result: 1, paid: 1 });
});

test("an unknown email is locked out like a known one", async () => {
  const email = uniqueEmail();
  const guesses = Array.from({ length: 12 }, () =>
    outcomeOf(accounts.logIn({ email, password }, { address: "192.0.2.21" })),
  );
  expect(tally(await Promise.all(guesses))).toEqual({ unauthorized: 10, rate_limited: 2 });
});

test("fifty failures from one client address lock that address only", async () => {
  const failing = () =>
    outcomeOf(
      attempts.withAttemptLimits([attempts.clientLimit("192.0.2.22")], async () => undefined),
    );
  const outcomes = [];
  for (let i = 0; i < 52; i++) outcomes.push(await failing());
  expect(tally(outcomes)).toEqual({ done: 50, rate_limited: 2 });
  expect(
    await outcomeOf(
      attempts.withAttemptLimits([attempts.clientLimit("192.0.2.23")], async () => undefined),
    ),
  ).toBe("done");
});

test("successful logins and our own errors do not count as failures", async () => {
  const guard = [attempts.accountLimit(uniqueEmail())];
  for (let i = 0; i < 12; i++)
    expect(await attempts.withAttemptLimits(guard, async () => "in")).toBe("in");
  const broken = async () => {
    throw new Error("the table is away");
  };
  for (let i = 0; i < 12; i++)
    await expect(attempts.withAttemptLimits(guard, broken)).rejects.toThrow("the table is away");
});

test("a session expires after seven days", async () => {
  const { token } = await createAccount();
  const me = async () =>
    (
      await invokeRoute(accountGroup, "GET /auth/me", {
        cookies: [`${sessionCookieName}=${token}`],
      })
    ).status;
  clock.advanceClock(7 * 24 * 3600 - 60);
  expect(await me()).toBe(200);
  clock.advanceClock(61);
  expect(await me()).toBe(401);
});

test("a change of password ends the user's other sessions and keeps this one", async () => {
  const { email, token, caller } = await createAccount();
  const other = await login({ email, password }, address);
  await passwordChanges.changePassword(caller, {
    currentPassword: password,
    newPassword: "another horse altogether",
  });
  expect([await alive(token), await alive(other.token)]).toEqual([true, false]);
  expect(await outcomeOf(accounts.logIn({ email, password }, { address }))).toBe("unauthorized");
  expect(
    await outcomeOf(accounts.logIn({ email, password: "another horse altogether" }, { address })),
  ).toBe("done");
});

test("a stolen session can guess the current password at most ten times", async () => {
  const { caller } = await createAccount();
  const guess = () =>
    outcomeOf(
      passwordChanges.changePassword(caller, {
        currentPassword: "a wild guess",
        newPassword: "mine from now on",
      }),
    );
  const outcomes = await Promise.all(Array.from({ length: 12 }, guess));
  expect(tally(outcomes)).toEqual({ wrong_password: 10, rate_limited: 2 });
});

test("a reset ends every session, opens no new one, and unlocks the login", async () => {
  const { email, token, caller } = await createAccount();
  const other = await login({ email, password }, address);
  for (let i = 0; i < 10; i++)
    await attempts.withAttemptLimits([attempts.accountLimit(email)], async () => undefined);
  const started = await passwordChanges.createResetToken(email);
  await passwordChanges.resetPassword(started!.token, "quite a new password");
  expect([await alive(token), await alive(other.token)]).toEqual([false, false]);
  expect(
    await queryAll(ranges.userSessions(caller.orgId, caller.userId), { consistent: true }),
  ).toEqual([]);
  expect(
    await outcomeOf(accounts.logIn({ email, password: "quite a new password" }, { address })),
  ).toBe("done");
});

test("a reset token works once, even when it is used twice at the same time", async () => {
  const { email } = await createAccount();
  const { token } = (await passwordChanges.createResetToken(email))!;
  const outcomes = await Promise.all(
    ["the first new one", "the second new one"].map((next) =>
      outcomeOf(passwordChanges.resetPassword(token, next)),
    ),
  );
  expect(outcomes.sort()).toEqual(["done", "invalid_token"]);
  expect(await outcomeOf(passwordChanges.resetPassword(token, "a third new one"))).toBe(
    "invalid_token",
  );
});

test("a reset token expires after an hour, or when the password changes", async () => {
  const { email, caller } = await createAccount();
  const [old, older] = [
    (await passwordChanges.createResetToken(email))!,
    (await passwordChanges.createResetToken(email))!,
  ];
  await passwordChanges.changePassword(caller, {
    currentPassword: password,
    newPassword: "changed by hand",
  });
  expect(await outcomeOf(passwordChanges.resetPassword(old.token, "quite a new password"))).toBe(
    "invalid_token",
  );
  expect(await outcomeOf(passwordChanges.resetPassword(older.token, "quite a new password"))).toBe(
    "invalid_token",
  );
  const late = (await passwordChanges.createResetToken(email))!;
  clock.advanceClock(passwordChanges.resetTtlSeconds);
  expect(await outcomeOf(passwordChanges.resetPassword(late.token, "quite a new password"))).toBe(
    "invalid_token",
  );
});

test("only an existing user can start a reset, and the token is stored as a hash only", async () => {
  expect(await passwordChanges.createResetToken(uniqueEmail())).toBeUndefined();
  const { email } = await createAccount();
  const { token, name } = (await passwordChanges.createResetToken(email))!;
  expect(name).toBe("Ada");
  expect(JSON.stringify(await get(keys.resetToken(sha256(token))))).not.toContain(token);
});

test("a login with the old password that is concurrent with a reset opens no session", async () => {
  const { email, caller } = await createAccount();
  const { token } = (await passwordChanges.createResetToken(email))!;
  const logins = Array.from({ length: 6 }, () =>
    login({ email, password }, address).catch(() => undefined),
  );
  await passwordChanges.resetPassword(token, "quite a new password");
  const opened = await Promise.all(logins);
  const openSessions = await Promise.all(opened.flatMap((one) => (one ? [alive(one.token)] : [])));
  expect(openSessions).not.toContain(true);
  expect(
    await queryAll(ranges.userSessions(caller.orgId, caller.userId), { consistent: true }),
  ).toEqual([]);
});

test("a reset ends more sessions than one call can delete", async () => {
  const { caller } = await createAccount();
  const opened = Array.from({ length: 60 }, () => sessions.prepareSession(caller));
  await Promise.all(opened.map(({ writes }) => write(...writes)));
  await sessions.endAllSessions(caller, caller.sessionHash);
  expect(
    await queryAll<{ sk: string }>(ranges.userSessions(caller.orgId, caller.userId), {
      consistent: true,
    }),
  ).toMatchObject([{ sk: caller.sessionHash }]);
  expect((await Promise.all(opened.map(({ token }) => alive(token)))).filter(Boolean)).toEqual([]);
});

test("parallel requests of an organization are each counted once", async () => {
  const { caller } = await createAccount();
  clock.advanceClock(60 - (clock.epochSeconds() % 60));
  const requests = Array.from({ length: 100 }, () => limits.countRequest(caller.orgId, "send"));
  const numbers = (await Promise.all(requests)).toSorted((a, b) => a - b);
  expect(numbers).toEqual(numbers.map((_, i) => i + 1));
  expect(await limits.readCount(caller.orgId, "send")).toBe(100);
});

test("a revoked API key stops within five seconds in a process that did not revoke it", async () => {
  const { caller } = await createAccount();
  const { key } = await apiKeys.create(caller, apiKeys.NewApiKey.parse({ name: "Shop" }));
  const credentials = { headers: { authorization: `Bearer ${key}` }, cookies: {} };
  const { result, usage } = await measureUnits(async () => {
    await authenticate(credentials, "POST");
    return authenticate(credentials, "POST");
  });
  expect(result).toMatchObject({ orgId: caller.orgId, scopes: ["*"] });
  expect(usage).toMatchObject({ readUnits: 1, calls: 1 });
  await write(remove(keys.apiKey(sha256(key))));
  clock.advanceClock(5);
  await expect(authenticate(credentials, "POST")).rejects.toMatchObject({
    kind: "unauthenticated",
  });
});
