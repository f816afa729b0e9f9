import { expect, test } from "vitest";
import { account as accountGroup } from "../../functions/http/account.ts";
import * as clock from "../../shared/clock.ts";
import * as accounts from "../../shared/domain/accounts.ts";
import * as attempts from "../../shared/domain/login-attempts.ts";
import * as sessions from "../../shared/domain/sessions.ts";
import { metered } from "../../shared/doors/meter.ts";
import { get, queryAll, write } from "../../shared/doors/table.ts";
import { sessionCookie } from "../../shared/http/authenticate.ts";
import * as limits from "../../shared/http/rate-limit.ts";
import { keys, ranges, sha256 } from "../../shared/keys.ts";
import { plans } from "../../shared/plans.ts";
import { account, freshEmail, loggedIn, password } from "../support/callers.ts";
import { ask } from "../support/events.ts";

const address = "192.0.2.20";
const alive = async (token: string) => (await get(keys.session(sha256(token)))) !== undefined;
const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: { code?: string }) => error.code ?? String(error),
  );
const tally = (outcomes: string[]) =>
  Object.fromEntries([...new Set(outcomes)].map((one) => [one, outcomes.filter((each) => each === one).length]));

test("a burst of guesses gets ten tries, and then the right password must wait too", async () => {
  const { email } = await account();
  const guesses = Array.from({ length: 25 }, (_, i) => outcomeOf(accounts.login({ email, password: `guess number ${i}` }, address)));
  expect(tally(await Promise.all(guesses))).toEqual({ unauthorized: 10, rate_limited: 15 });
  await expect(accounts.login({ email: email.toUpperCase(), password }, address)).rejects.toMatchObject({
    kind: "limited",
    facts: { limit: 10, retryAfter: expect.any(Number), resetAt: expect.any(Number) },
  });
  clock.advance(15 * 60);
  expect(await outcomeOf(accounts.login({ email, password }, address))).toBe("done");
});

test("requests past the limit cost the table nothing until their minute is over", async () => {
  const { caller } = await account();
  clock.advance(60 - (clock.epochSeconds() % 60));
  const request = async () => {
    const { result, usage } = await metered(() => limits.count(caller.orgId, "send"));
    return { result, paid: usage.readUnits + usage.writeUnits };
  };
  expect(await request()).toEqual({ result: 1, paid: 1 });
  const { sendPerMinute } = plans.free;
  expect(() => limits.enforce(caller.orgId, "free", "send", sendPerMinute)).not.toThrow();
  expect(() => limits.enforce(caller.orgId, "free", "send", sendPerMinute + 1)).toThrow("Rate limit");
  expect(await request()).toEqual({ result: Number.POSITIVE_INFINITY, paid: 0 });
  clock.advance(60);
  expect(await request()).toEqual({ result: 1, paid: 1 });
});

test("an unknown email is locked out like a known one", async () => {
  const email = freshEmail();
  const guesses = Array.from({ length: 12 }, () => outcomeOf(accounts.login({ email, password }, "192.0.2.21")));
  expect(tally(await Promise.all(guesses))).toEqual({ unauthorized: 10, rate_limited: 2 });
});

test("fifty failures from one address stop that address only", async () => {
  const failing = () => outcomeOf(attempts.guarded([attempts.fromClient("192.0.2.22")], async () => undefined));
  const outcomes = [];
  for (let i = 0; i < 52; i++) outcomes.push(await failing());
  expect(tally(outcomes)).toEqual({ done: 50, rate_limited: 2 });
  expect(await outcomeOf(attempts.guarded([attempts.fromClient("192.0.2.23")], async () => undefined))).toBe("done");
});

test("logins that succeed, or break on our side, are no failures", async () => {
  const guard = [attempts.onAccount(freshEmail())];
  for (let i = 0; i < 12; i++) expect(await attempts.guarded(guard, async () => "in")).toBe("in");
  const broken = async () => {
    throw new Error("the table is away");
  };
  for (let i = 0; i < 12; i++) await expect(attempts.guarded(guard, broken)).rejects.toThrow("the table is away");
});

test("a session lives for seven days", async () => {
  const { token } = await account();
  const me = async () => (await ask(accountGroup, "GET /auth/me", { cookies: [`${sessionCookie}=${token}`] })).status;
  clock.advance(7 * 24 * 3600 - 60);
  expect(await me()).toBe(200);
  clock.advance(61);
  expect(await me()).toBe(401);
});

test("a change of password ends the user's other sessions and keeps this one", async () => {
  const { email, token, caller } = await account();
  const other = await loggedIn({ email, password }, address);
  await accounts.changePassword(caller, { currentPassword: password, newPassword: "another horse altogether" });
  expect([await alive(token), await alive(other.token)]).toEqual([true, false]);
  expect(await outcomeOf(accounts.login({ email, password }, address))).toBe("unauthorized");
  expect(await outcomeOf(accounts.login({ email, password: "another horse altogether" }, address))).toBe("done");
});

test("guessing the current password in a stolen session ends at ten", async () => {
  const { caller } = await account();
  const guess = () => outcomeOf(accounts.changePassword(caller, { currentPassword: "a wild guess", newPassword: "mine from now on" }));
  const outcomes = await Promise.all(Array.from({ length: 12 }, guess));
  expect(tally(outcomes)).toEqual({ wrong_password: 10, rate_limited: 2 });
});

test("a reset ends every session, opens no new one, and lets a locked-out owner in", async () => {
  const { email, token, caller } = await account();
  const other = await loggedIn({ email, password }, address);
  for (let i = 0; i < 10; i++) await attempts.guarded([attempts.onAccount(email)], async () => undefined);
  const started = await accounts.startReset(email);
  await accounts.reset(started!.token, "quite a new password");
  expect([await alive(token), await alive(other.token)]).toEqual([false, false]);
  expect(await queryAll(ranges.sessionsOf(caller.orgId, caller.userId), { consistent: true })).toEqual([]);
  expect(await outcomeOf(accounts.login({ email, password: "quite a new password" }, address))).toBe("done");
});

test("a reset token works once, even when it is used twice at the same time", async () => {
  const { email } = await account();
  const { token } = (await accounts.startReset(email))!;
  const outcomes = await Promise.all(["the first new one", "the second new one"].map((next) => outcomeOf(accounts.reset(token, next))));
  expect(outcomes.sort()).toEqual(["done", "invalid_token"]);
  expect(await outcomeOf(accounts.reset(token, "a third new one"))).toBe("invalid_token");
});

test("a reset token lives for an hour, and dies earlier with a change of password", async () => {
  const { email, caller } = await account();
  const [old, older] = [(await accounts.startReset(email))!, (await accounts.startReset(email))!];
  await accounts.changePassword(caller, { currentPassword: password, newPassword: "changed by hand" });
  expect(await outcomeOf(accounts.reset(old.token, "quite a new password"))).toBe("invalid_token");
  expect(await outcomeOf(accounts.reset(older.token, "quite a new password"))).toBe("invalid_token");
  const late = (await accounts.startReset(email))!;
  clock.advance(accounts.resetSeconds);
  expect(await outcomeOf(accounts.reset(late.token, "quite a new password"))).toBe("invalid_token");
});

test("nobody but a user can start a reset, and the token is stored as a hash only", async () => {
  expect(await accounts.startReset(freshEmail())).toBeUndefined();
  const { email } = await account();
  const { token, name } = (await accounts.startReset(email))!;
  expect(name).toBe("Ada");
  expect(JSON.stringify(await get(keys.resetToken(sha256(token))))).not.toContain(token);
});

test("a login with the old password cannot slip in behind a reset", async () => {
  const { email, caller } = await account();
  const { token } = (await accounts.startReset(email))!;
  const logins = Array.from({ length: 6 }, () => loggedIn({ email, password }, address).catch(() => undefined));
  await accounts.reset(token, "quite a new password");
  const opened = await Promise.all(logins);
  const left = await Promise.all(opened.flatMap((one) => (one ? [alive(one.token)] : [])));
  expect(left).not.toContain(true);
  expect(await queryAll(ranges.sessionsOf(caller.orgId, caller.userId), { consistent: true })).toEqual([]);
});

test("more sessions than one call can delete are ended together", async () => {
  const { caller } = await account();
  const opened = Array.from({ length: 60 }, () => sessions.opening(caller));
  await Promise.all(opened.map(({ writes }) => write(...writes)));
  await sessions.endAll(caller, caller.sessionHash);
  expect(await queryAll<{ sk: string }>(ranges.sessionsOf(caller.orgId, caller.userId), { consistent: true })).toMatchObject([
    { sk: caller.sessionHash },
  ]);
  expect((await Promise.all(opened.map(({ token }) => alive(token)))).filter(Boolean)).toEqual([]);
});
