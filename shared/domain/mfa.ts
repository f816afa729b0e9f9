// Second factors: a user sets them up in a session, and completes logins with them.
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { now } from "../clock.ts";
import { absent, all, type Condition, equals, exists, present } from "../conditions.ts";
import { enqueue } from "../doors/queue.ts";
import { check, claim, get, remove, update, type Write, write } from "../doors/table.ts";
import { conflict, invalid } from "../errors.ts";
import { keys, sha256 } from "../keys.ts";
import { queues } from "../queues.ts";
import * as accounts from "./accounts.ts";
import * as attempts from "./login-attempts.ts";
import * as challenges from "./mfa/challenges.ts";
import { same } from "./mfa/keyed-hashes.ts";
import * as recoveryCodes from "./mfa/recovery-codes.ts";
import type { Member, SecondFactors } from "./mfa/second-factors.ts";
import * as secondFactors from "./mfa/second-factors.ts";
import * as totp from "./mfa/totp.ts";
import * as passwords from "./passwords.ts";
import * as sessions from "./sessions.ts";

/** As people type it: six digits of an app or mail, or a recovery code, with or without blanks and hyphens. */
export const Code = z.string().min(1).max(30);

const Factor = z.object({ enabled: z.boolean(), enabledAt: z.string().nullable() });
export const Status = z.object({
  totp: Factor.describe("Codes of an authenticator app"),
  emailOtp: Factor.describe("Codes by mail"),
  recoveryCodesLeft: z.int(),
});

export async function status(caller: Caller): Promise<z.output<typeof Status>> {
  const factors = await secondFactors.find(caller);
  const factor = (since: string | undefined) => ({ enabled: since !== undefined, enabledAt: since ?? null });
  return {
    totp: factor(factors?.totpSince),
    emailOtp: factor(factors?.emailOtpSince),
    recoveryCodesLeft: factors?.recoveryCodes?.size ?? 0,
  };
}

const addressOf = ({ orgId, userId }: Member) => keys.secondFactors(orgId, userId);
const changing = (member: Member, changes: Parameters<typeof update>[1], rule?: Condition): Write =>
  update(addressOf(member), changes, { ...(rule && { if: rule }), otherwise: changedMeanwhile() });
const changedMeanwhile = () => conflict("The second factors were changed meanwhile: read them and try again");

/** A new secret for an app; it counts from `enableTotp` on, and until then another may take its place. 409 when one is in use. */
export async function setUpTotp(caller: Caller): Promise<{ secret: string; otpauthUrl: string; qrCode: string }> {
  const { user } = await accounts.profile(caller);
  const { secret, otpauthUrl } = totp.fresh(user.email);
  const sealed = await totp.seal(caller, secret);
  const inUse = conflict("An authenticator app is in use already: disable it first", { code: "already_enabled" });
  await write(update(addressOf(caller), { set: { pendingTotp: sealed } }, { if: absent("totp"), otherwise: inUse }));
  const { renderSVG } = await import("uqr");
  const svg = renderSVG(otpauthUrl, { ecc: "M", border: 4, pixelSize: 4 });
  return { secret, otpauthUrl, qrCode: `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}` };
}

/** From now on a login needs a code. Answers ten new recovery codes; older ones are worth nothing any more. 400 `wrong_code`. */
export async function enableTotp(caller: Caller, code: string): Promise<{ enabled: true; recoveryCodes: string[] }> {
  const { user } = await accounts.profile(caller);
  const pending = (await secondFactors.find(caller))?.pendingTotp;
  if (!pending) throw conflict("No authenticator app waits for a code: set one up first", { code: "setup_needed" });
  const step = await attempts.guarded([attempts.onCodes(user.email)], () => totp.stepOf(caller, pending, digitsOf(code)));
  if (!step) throw wrong("code");
  const { codes, hashes } = await recoveryCodes.fresh(caller);
  const set = { totp: pending, totpSince: now().toISOString(), usedStep: step, recoveryCodes: hashes };
  await write(changing(caller, { set, remove: ["pendingTotp"] }, equals("pendingTotp", pending)));
  return { enabled: true, recoveryCodes: codes };
}

/** From now on a login needs a code. Answers recovery codes when it is the first second factor. Safe to repeat. */
export async function enableEmailOtp(caller: Caller): Promise<{ enabled: true; recoveryCodes?: string[] }> {
  const factors = await secondFactors.find(caller);
  if (factors?.emailOtpSince) return { enabled: true };
  const set = { emailOtpSince: now().toISOString() };
  if (factors?.totp) {
    await write(changing(caller, { set }, present("totp")));
    return { enabled: true };
  }
  const { codes, hashes } = await recoveryCodes.fresh(caller);
  await write(changing(caller, { set: { ...set, recoveryCodes: hashes } }, all(absent("totp"), absent("emailOtpSince"))));
  return { enabled: true, recoveryCodes: codes };
}

/** One of the two shows that it is really the user who is at the keyboard. */
export const Proof = z
  .object({
    code: Code.optional().describe("Of the app, or a recovery code"),
    password: passwords.GivenPassword.optional(),
  })
  .refine(({ code, password }) => (code === undefined) !== (password === undefined), {
    path: ["code"],
    message: "give either code or password",
  });
export type Proof = z.output<typeof Proof>;

export const disableTotp = (caller: Caller, proof: Proof) => disable(caller, proof, ["totp", "totpSince", "pendingTotp"], "emailOtpSince");
export const disableEmailOtp = (caller: Caller, proof: Proof) => disable(caller, proof, ["emailOtpSince"], "totp");

/** 400 `wrong_code` or `wrong_password`; wrong ones count as failed logins. The user is told by mail. Safe to repeat. */
async function disable(caller: Caller, proof: Proof, drop: string[], other: keyof SecondFactors): Promise<{ enabled: false }> {
  const { user } = await accounts.profile(caller);
  const guards = [attempts.onAccount(user.email), attempts.onCodes(user.email)];
  const proven = await attempts.guarded(guards, async () => ((await proves(caller, user.email, proof)) ? true : undefined));
  if (!proven) throw wrong(proof.code === undefined ? "password" : "code");
  const factors = await secondFactors.find(caller);
  if (!factors || secondFactors.methodsOf(factors).length === 0) return { enabled: false };
  const last = factors[other] === undefined;
  const rule = last ? absent(other) : present(other);
  await write(changing(caller, { remove: [...drop, ...(last ? ["recoveryCodes"] : [])] }, rule));
  const { orgId, userId } = caller;
  if (last) await enqueue(queues.systemMail, [{ mail: "mfa_off", orgId, userId }]);
  return { enabled: false };
}

async function proves(caller: Caller, email: string, { code, password }: Proof): Promise<boolean> {
  if (code === undefined) return passwords.matches(password!, (await get<accounts.Login>(keys.user(email)))?.password);
  const factors = await secondFactors.find(caller);
  const using = factors && (await usingOwn(caller, factors, code));
  return using !== undefined && claim(using);
}

/** What uses up a code that the user holds, of the app or a recovery code; undefined when it is neither. */
const usingOwn = async (member: Member, factors: SecondFactors, code: string): Promise<Write | undefined> =>
  /^\d{6}$/.test(digitsOf(code)) ? totp.using(member, factors, digitsOf(code)) : recoveryCodes.using(member, factors, code);

const digitsOf = (code: string): string => code.replace(/[\s-]/g, "");

export const requestCode = challenges.requestCode;

/**
 * The session that the login began, for a right code of any kind. 401 `wrong_code`, or `invalid_token` when the token is used, older
 * than 10 minutes or has seen five wrong codes; failures count as failed logins.
 */
export async function verify(given: { mfaToken: string; code: string }, clientAddress: string): Promise<accounts.Opened> {
  const hash = sha256(given.mfaToken);
  let refusal = challenges.invalidToken();
  const opened = await attempts.guarded([attempts.fromClient(clientAddress)], async () => {
    const challenge = await challenges.find(hash);
    if (!challenge) return undefined;
    return attempts.guarded([attempts.onAccount(challenge.email), attempts.onCodes(challenge.email)], async () => {
      const tried = await challenges.takeTry(hash);
      if (tried && tried.tries < challenges.mostTries) refusal = challenges.wrongCode();
      return tried && complete(hash, tried, given.code);
    });
  });
  if (!opened) throw refusal;
  return opened;
}

// Code, token and session in one transaction: a code is used if and only if there is a session for it, and of two with one code one wins.
async function complete(hash: string, challenge: challenges.Challenge, code: string): Promise<accounts.Opened | undefined> {
  const [factors, profile] = await Promise.all([secondFactors.find(challenge), accounts.profile(challenge)]);
  const using = factors && (await usingAny(hash, challenge, factors, code));
  if (!using) return undefined;
  const { token, writes } = sessions.opening(challenge);
  const { email, passwordChangedAt, codes } = challenge;
  const held = await claim(
    remove(keys.mfaToken(hash), { if: all(exists, equals("codes", codes)) }),
    check(keys.user(email), equals("passwordChangedAt", passwordChangedAt)),
    ...using,
    ...writes,
  );
  return held ? { ...profile, token } : undefined;
}

async function usingAny(hash: string, challenge: challenges.Challenge, factors: SecondFactors, code: string): Promise<Write[] | undefined> {
  const own = await usingOwn(challenge, factors, code);
  if (own) return [own];
  const mailed = factors.emailOtpSince === undefined ? undefined : await challenges.currentCode(hash, challenge);
  // Its token goes with it: nothing else is to be used up.
  return mailed !== undefined && same(digitsOf(code), mailed) ? [check(addressOf(challenge), present("emailOtpSince"))] : undefined;
}

const wrong = (path: "code" | "password") =>
  invalid(`The ${path} is wrong`, { code: `wrong_${path}`, details: [{ path, message: `wrong ${path}` }] });
