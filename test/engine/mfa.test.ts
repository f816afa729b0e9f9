// What time and the table have to do with second factors.
import { Secret, TOTP } from "otpauth";
import { expect, test } from "vitest";
import type { Caller } from "../../shared/caller.ts";
import * as clock from "../../shared/clock.ts";
import * as accounts from "../../shared/domain/accounts.ts";
import * as attempts from "../../shared/domain/login-attempts.ts";
import * as challenges from "../../shared/domain/mfa/challenges.ts";
import * as mfa from "../../shared/domain/mfa.ts";
import { get } from "../../shared/doors/table.ts";
import { keys, sha256 } from "../../shared/keys.ts";
import { account, password } from "../support/callers.ts";

const address = "192.0.2.30";
const codeOf = (secret: string, steps = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: clock.now().getTime() + steps * 30_000 });
const codeWord = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: { code?: string }) => error.code ?? String(error),
  );

async function withApp() {
  const { email, caller } = await account();
  const { secret } = await mfa.setUpTotp(caller);
  const { recoveryCodes } = await mfa.enableTotp(caller, codeOf(secret, -1));
  return { email, caller, secret, recoveryCodes };
}
async function begun(email: string): Promise<string> {
  const asked = await accounts.login({ email, password }, address);
  if (!("mfaRequired" in asked)) throw new Error("No second factor was asked for");
  return asked.mfaToken;
}
const stored = ({ orgId, userId }: Caller) => get<Record<string, unknown>>(keys.secondFactors(orgId, userId));

test("a waiting login lives for ten minutes", async () => {
  const { email, secret } = await withApp();
  const [early, late] = [await begun(email), await begun(email)];
  clock.advance(540);
  expect(await codeWord(mfa.verify({ mfaToken: early, code: codeOf(secret) }, address))).toBe("done");
  clock.advance(61);
  expect(await codeWord(mfa.verify({ mfaToken: late, code: codeOf(secret, 1) }, address))).toBe("invalid_token");
  expect(await codeWord(mfa.requestCode(late))).toBe("invalid_token");
});

test("neither secrets nor codes nor tokens lie readable in the table", async () => {
  const { email, caller, secret, recoveryCodes } = await withApp();
  await mfa.enableEmailOtp(caller);
  const mfaToken = await begun(email);
  await mfa.requestCode(mfaToken);
  const hash = sha256(mfaToken);
  const mailed = await challenges.mailedCode(hash, 1);
  const factors = await stored(caller);
  const all = JSON.stringify([factors, [...(factors!.recoveryCodes as Set<string>)], await get(keys.mfaToken(hash))]);
  for (const one of [secret, mfaToken, mailed!.code, ...recoveryCodes, ...recoveryCodes.map((code) => code.replace("-", ""))])
    expect(all).not.toContain(one);
});

test("a message that comes twice mails the same code, and one that was overtaken mails none", async () => {
  const { email, caller } = await withApp();
  await mfa.enableEmailOtp(caller);
  const mfaToken = await begun(email);
  const hash = sha256(mfaToken);
  await mfa.requestCode(mfaToken);
  const [once, twice] = [await challenges.mailedCode(hash, 1), await challenges.mailedCode(hash, 1)];
  expect(once!.code).toMatch(/^\d{6}$/);
  expect(twice!.code).toBe(once!.code);
  await mfa.requestCode(mfaToken);
  expect(await challenges.mailedCode(hash, 1)).toBeUndefined();
  expect(await challenges.mailedCode(hash, 3)).toBeUndefined();
});

test("a login code by mail is not taken any more once mailed codes are disabled", async () => {
  const { email, caller } = await withApp();
  await mfa.enableEmailOtp(caller);
  const mfaToken = await begun(email);
  await mfa.requestCode(mfaToken);
  const { code } = (await challenges.mailedCode(sha256(mfaToken), 1))!;
  await mfa.disableEmailOtp(caller, { password });
  expect(await codeWord(mfa.verify({ mfaToken, code }, address))).toBe("wrong_code");
});

test("of racing guesses at one token five are looked at", async () => {
  const { email, secret } = await withApp();
  const mfaToken = await begun(email);
  const guesses = Array.from({ length: 9 }, (_, i) => codeWord(mfa.verify({ mfaToken, code: `guess ${i}` }, address)));
  const told = await Promise.all(guesses);
  expect(told.filter((code) => code === "wrong_code")).toHaveLength(4);
  expect(await codeWord(mfa.verify({ mfaToken, code: codeOf(secret) }, address))).toBe("invalid_token");
});

test("who may reset the password may not guess codes on for that", async () => {
  const { email, secret } = await withApp();
  for (const mfaToken of [await begun(email), await begun(email)])
    for (let i = 0; i < 5; i++) await codeWord(mfa.verify({ mfaToken, code: `guess ${i}` }, address));
  await attempts.forgive(email);
  const mfaToken = await begun(email);
  expect(await codeWord(mfa.verify({ mfaToken, code: codeOf(secret) }, address))).toBe("rate_limited");
  clock.advance(15 * 60);
  expect(await codeWord(mfa.verify({ mfaToken: await begun(email), code: codeOf(secret) }, address))).toBe("done");
});

test("two codes that set up one secret at the same time enable it once", async () => {
  const { caller } = await account();
  const { secret } = await mfa.setUpTotp(caller);
  const outcomes = await Promise.all([0, 1].map((steps) => codeWord(mfa.enableTotp(caller, codeOf(secret, steps)))));
  expect(outcomes.sort()).toEqual(["conflict", "done"]);
});

test("guessing at what proves the user ends at ten", async () => {
  const { caller } = await withApp();
  const guesses = Array.from({ length: 12 }, (_, i) => codeWord(mfa.disableTotp(caller, { code: `guess ${i}` })));
  const told = await Promise.all(guesses);
  expect(told.filter((code) => code === "wrong_code")).toHaveLength(10);
  expect(told.filter((code) => code === "rate_limited")).toHaveLength(2);
});
