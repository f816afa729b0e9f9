// Second factors: expiry, stored items and races.
import { Secret, TOTP } from "otpauth";
import { expect, test } from "vitest";
import { get } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import * as clock from "../../shared/clock.ts";
import * as accounts from "../../shared/domain/identity/accounts.ts";
import * as attempts from "../../shared/domain/identity/attempt-limits.ts";
import * as challenges from "../../shared/domain/identity/mfa/login-challenges.ts";
import * as mfa from "../../shared/domain/identity/mfa/mfa.ts";
import * as mfaLogin from "../../shared/domain/identity/mfa/mfa-login.ts";
import type * as mfaProof from "../../shared/domain/identity/mfa/mfa-proof.ts";
import { keys, sha256 } from "../../shared/keys.ts";
import { createAccount, password } from "../support/accounts.ts";

const address = "192.0.2.30";
const codeOf = (secret: string, steps = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: clock.now().getTime() + steps * 30_000,
  });
const codeWord = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: { code?: string }) => error.code ?? String(error),
  );

async function withApp() {
  const { email, caller } = await createAccount();
  const { secret } = await mfa.setUpTotp(caller);
  const { recoveryCodes } = await mfa.enableTotp(caller, { code: codeOf(secret, -1) });
  return { email, caller, secret, recoveryCodes };
}
async function startLogin(email: string): Promise<string> {
  const challenge = await accounts.logIn({ email, password }, { address });
  if (!("mfaRequired" in challenge)) throw new Error("No second factor was asked for");
  return challenge.mfaToken;
}
const readStored = ({ orgId, userId }: Caller) =>
  get<Record<string, unknown>>(keys.secondFactors(orgId, userId));

test("a login challenge expires after ten minutes", async () => {
  const { email, secret } = await withApp();
  const [early, late] = [await startLogin(email), await startLogin(email)];
  clock.advanceClock(540);
  expect(
    await codeWord(mfaLogin.verifyLogin({ mfaToken: early, code: codeOf(secret) }, { address })),
  ).toBe("done");
  clock.advanceClock(61);
  expect(
    await codeWord(mfaLogin.verifyLogin({ mfaToken: late, code: codeOf(secret, 1) }, { address })),
  ).toBe("invalid_token");
  expect(await codeWord(mfaLogin.requestCode(late))).toBe("invalid_token");
});

test("the table has no secrets, codes or tokens in plain text", async () => {
  const { email, caller, secret, recoveryCodes } = await withApp();
  await mfa.enableEmailOtp(caller);
  const mfaToken = await startLogin(email);
  await mfaLogin.requestCode(mfaToken);
  const hash = sha256(mfaToken);
  const mailed = await challenges.getMailedCode(hash, 1);
  const factors = await readStored(caller);
  const all = JSON.stringify([
    factors,
    [...(factors!.recoveryCodes as Set<string>)],
    await get(keys.mfaToken(hash)),
  ]);
  for (const one of [
    secret,
    mfaToken,
    mailed!.code,
    ...recoveryCodes,
    ...recoveryCodes.map((code) => code.replace("-", "")),
  ])
    expect(all).not.toContain(one);
});

test("a repeated queue message mails the same code, and an outdated one mails none", async () => {
  const { email, caller } = await withApp();
  await mfa.enableEmailOtp(caller);
  const mfaToken = await startLogin(email);
  const hash = sha256(mfaToken);
  await mfaLogin.requestCode(mfaToken);
  const [once, twice] = [
    await challenges.getMailedCode(hash, 1),
    await challenges.getMailedCode(hash, 1),
  ];
  expect(once!.code).toMatch(/^\d{6}$/);
  expect(twice!.code).toBe(once!.code);
  await mfaLogin.requestCode(mfaToken);
  expect(await challenges.getMailedCode(hash, 1)).toBeUndefined();
  expect(await challenges.getMailedCode(hash, 3)).toBeUndefined();
});

test("a mailed code is rejected after email codes are disabled", async () => {
  const { email, caller } = await withApp();
  await mfa.enableEmailOtp(caller);
  const mfaToken = await startLogin(email);
  await mfaLogin.requestCode(mfaToken);
  const { code } = (await challenges.getMailedCode(sha256(mfaToken), 1))!;
  await mfa.disableEmailOtp(caller, { password });
  expect(await codeWord(mfaLogin.verifyLogin({ mfaToken, code }, { address }))).toBe("wrong_code");
});

test("only five of many concurrent guesses at one token are checked", async () => {
  const { email, secret } = await withApp();
  const mfaToken = await startLogin(email);
  const guesses = Array.from({ length: 9 }, (_, i) =>
    codeWord(mfaLogin.verifyLogin({ mfaToken, code: `guess ${i}` }, { address })),
  );
  const results = await Promise.all(guesses);
  expect(results.filter((code) => code === "wrong_code")).toHaveLength(4);
  expect(
    await codeWord(mfaLogin.verifyLogin({ mfaToken, code: codeOf(secret) }, { address })),
  ).toBe("invalid_token");
});

test("a password reset does not reset the limit for codes", async () => {
  const { email, secret } = await withApp();
  for (const mfaToken of [await startLogin(email), await startLogin(email)])
    for (let i = 0; i < 5; i++)
      await codeWord(mfaLogin.verifyLogin({ mfaToken, code: `guess ${i}` }, { address }));
  await attempts.clearFailures(email);
  const mfaToken = await startLogin(email);
  expect(
    await codeWord(mfaLogin.verifyLogin({ mfaToken, code: codeOf(secret) }, { address })),
  ).toBe("rate_limited");
  clock.advanceClock(15 * 60);
  expect(
    await codeWord(
      mfaLogin.verifyLogin(
        { mfaToken: await startLogin(email), code: codeOf(secret) },
        { address },
      ),
    ),
  ).toBe("done");
});

test("ten minutes after the login, the app is only turned on with the password", async () => {
  const { caller } = await createAccount();
  const { secret } = await mfa.setUpTotp(caller);
  const enable = (more: { password?: string } = {}) =>
    codeWord(mfa.enableTotp(caller, { code: codeOf(secret), ...more }));
  clock.advanceClock(601);
  expect(await enable()).toBe("password_required");
  expect(await enable({ password: "another phrase" })).toBe("wrong_password");
  expect(await readStored(caller)).not.toHaveProperty("totp");
  expect(await enable({ password })).toBe("done");
});

test("ten minutes after the login, email codes are only turned on with the password", async () => {
  const { caller } = await createAccount();
  const enable = (more: { password?: string } = {}) => codeWord(mfa.enableEmailOtp(caller, more));
  clock.advanceClock(601);
  expect(await enable()).toBe("password_required");
  expect(await enable({ password: "another phrase" })).toBe("wrong_password");
  expect(await readStored(caller)).toBeUndefined();
  expect(await enable({ password })).toBe("done");
  expect(await enable()).toBe("done");
});

test("new recovery codes replace the old ones and need a code or the password", async () => {
  const { email, caller, secret, recoveryCodes: old } = await withApp();
  const refused = (proof: mfaProof.MfaProof) => codeWord(mfa.replaceRecoveryCodes(caller, proof));
  expect(await refused({ password: "another phrase" })).toBe("wrong_password");
  expect(await refused({ code: "aaaaa-aaaaa" })).toBe("wrong_code");
  const { recoveryCodes } = await mfa.replaceRecoveryCodes(caller, { code: codeOf(secret) });
  expect(recoveryCodes).toHaveLength(10);
  expect(recoveryCodes.filter((code) => old.includes(code))).toEqual([]);
  const logIn = async (code: string) =>
    codeWord(mfaLogin.verifyLogin({ mfaToken: await startLogin(email), code }, { address }));
  expect(await logIn(old[0]!)).toBe("wrong_code");
  expect(await logIn(recoveryCodes[0]!)).toBe("done");
  expect(await mfa.getStatus(caller)).toMatchObject({ recoveryCodesLeft: 9 });
  const again = await mfa.replaceRecoveryCodes(caller, { code: recoveryCodes[1]! });
  expect(await logIn(again.recoveryCodes[0]!)).toBe("done");
  await mfa.disableTotp(caller, { password });
  expect(await refused({ password })).toBe("second_factor_off");
});

test("a change of the organization does not make the login fresh", async () => {
  const { caller } = await createAccount();
  const { secret } = await mfa.setUpTotp(caller);
  clock.advanceClock(601);
  const { token } = await accounts.switchOrganization(caller, caller.orgId, { address });
  const switched = { ...caller, sessionHash: sha256(token) };
  expect(await codeWord(mfa.enableTotp(switched, { code: codeOf(secret) }))).toBe(
    "password_required",
  );
});

test("two concurrent setups with one secret enable it once", async () => {
  const { caller } = await createAccount();
  const { secret } = await mfa.setUpTotp(caller);
  const outcomes = await Promise.all(
    [0, 1].map((steps) => codeWord(mfa.enableTotp(caller, { code: codeOf(secret, steps) }))),
  );
  expect(outcomes.sort()).toEqual(["conflict", "done"]);
});

test("a proof can be guessed at most ten times", async () => {
  const { caller } = await withApp();
  const guesses = Array.from({ length: 12 }, (_, i) =>
    codeWord(mfa.disableTotp(caller, { code: `guess ${i}` })),
  );
  const results = await Promise.all(guesses);
  expect(results.filter((code) => code === "wrong_code")).toHaveLength(10);
  expect(results.filter((code) => code === "rate_limited")).toHaveLength(2);
});
