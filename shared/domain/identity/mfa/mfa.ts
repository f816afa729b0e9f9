// Second factors: users set them up in a session and complete logins with them.

import * as z from "zod";
import {
  absent,
  all,
  any,
  type Condition,
  equals,
  present,
} from "../../../adapters/dynamodb/conditions.ts";
import { update, type Write, write } from "../../../adapters/dynamodb/table.ts";
import { type Caller, requirePasswordLogin } from "../../../caller.ts";
import { now } from "../../../clock.ts";
import { conflict, forbidden } from "../../../errors.ts";
import { Count, Timestamp } from "../../../kernel/record-fields.ts";
import { queueNotice } from "../../../kernel/security-notices.ts";
import { queueSystemMail } from "../../../kernel/system-mail-queue.ts";
import { keys } from "../../../keys.ts";
import * as accounts from "../accounts.ts";
import * as attemptLimits from "../attempt-limits.ts";
import { userKeyOf } from "../members.ts";
import * as passwords from "../passwords.ts";
import type { UserKey } from "../sessions.ts";
import * as sessions from "../sessions.ts";
import {
  MfaCode,
  type MfaProof,
  requireProof,
  sixDigits,
  stripSeparators,
  wrongProof,
} from "./mfa-proof.ts";
import * as recoveryCodes from "./recovery-codes.ts";
import type { SecondFactors } from "./second-factors.ts";
import * as secondFactors from "./second-factors.ts";
import * as totp from "./totp.ts";

const Factor = z
  .object({
    enabled: z.boolean().describe("Whether logins ask for it."),
    enabledAt: Timestamp.nullable().describe("When it was turned on. `null`: it is off."),
  })
  .meta({ id: "SecondFactor" });
export const MfaStatus = z.object({
  totp: Factor.describe("Authenticator app."),
  emailOtp: Factor.describe("Login codes by email."),
  recoveryCodesLeft: Count.describe("Number of unused recovery codes."),
});

export async function getStatus(caller: Caller): Promise<z.output<typeof MfaStatus>> {
  const owner = userKeyOf(caller);
  const factors = await secondFactors.getSecondFactors(owner);
  const toFactor = (enabledAt: string | undefined) => ({
    enabled: enabledAt !== undefined,
    enabledAt: enabledAt ?? null,
  });
  return {
    totp: toFactor(factors?.totpSince),
    emailOtp: toFactor(factors?.emailOtpSince),
    recoveryCodesLeft: factors?.recoveryCodes?.size ?? 0,
  };
}

const factorsKey = ({ orgId, userId }: UserKey) => keys.secondFactors(orgId, userId);
const updateFactorsWrite = (
  user: UserKey,
  changes: Parameters<typeof update>[1],
  condition: Condition,
): Write => update(factorsKey(user), changes, { if: condition, orThrow: factorsChanged() });
const factorsChanged = () =>
  conflict("The second factors were changed by another request: read them again, then retry");

/**
 * Creates a secret, which takes effect with `enableTotp`. A repeated call replaces it. Throws 409
 * if an app is already enabled.
 */
export async function setUpTotp(
  caller: Caller,
): Promise<{ secret: string; otpauthUrl: string; qrCode: string }> {
  requirePasswordLogin(caller);
  const owner = userKeyOf(caller);
  const { user } = await accounts.getProfile(owner);
  const { secret, otpauthUrl } = totp.generateSecret(user.email);
  const sealed = await totp.sealSecret(owner, secret);
  const inUse = conflict("An authenticator app is already enabled: disable it first", {
    code: "already_enabled",
  });
  await write(
    update(
      factorsKey(owner),
      { set: { pendingTotp: sealed } },
      { if: absent("totp"), orThrow: inUse },
    ),
  );
  const { renderSVG } = await import("uqr");
  const svg = renderSVG(otpauthUrl, { ecc: "M", border: 4, pixelSize: 4 });
  return {
    secret,
    otpauthUrl,
    qrCode: `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`,
  };
}

const PasswordOfSetup = passwords.PasswordInput.optional().describe(
  "Password of the user. Required if the login is more than 10 minutes ago, so that a stolen " +
    "session cannot lock the user out.",
);

export const TotpSetup = z
  .object({
    code: MfaCode.describe("Current six-digit code of the app."),
    password: PasswordOfSetup,
  })
  .meta({ examples: [{ code: "123456" }] });
export type TotpSetup = z.output<typeof TotpSetup>;

const freshLoginSeconds = 600;

/**
 * Logins need a code from now on. Returns ten new recovery codes, which replace older ones. Throws
 * 400 `wrong_code` or `wrong_password`, and 403 `password_required` without a password if the login
 * is not fresh.
 */
export async function enableTotp(
  caller: Caller,
  { code, password }: TotpSetup,
): Promise<{ enabled: true; recoveryCodes: string[] }> {
  requirePasswordLogin(caller);
  const owner = userKeyOf(caller);
  const { user } = await accounts.getProfile(owner);
  const pending = (await secondFactors.getSecondFactors(owner))?.pendingTotp;
  if (!pending)
    throw conflict("No authenticator app is being set up: start with POST /mfa/totp/setup", {
      code: "setup_needed",
    });
  await requireFreshLogin(caller, user.email, password);
  const step = await attemptLimits.withAttemptLimits(
    [attemptLimits.codeLimit(user.email)],
    async () =>
      sixDigits.test(stripSeparators(code))
        ? totp.findTimeStep(owner, pending, stripSeparators(code))
        : undefined,
  );
  if (!step) throw wrongProof("code");
  const { codes, hashes } = await recoveryCodes.generateCodes(owner);
  const set = {
    totp: pending,
    totpSince: now().toISOString(),
    usedStep: step,
    recoveryCodes: hashes,
  };
  await write(
    updateFactorsWrite(owner, { set, remove: ["pendingTotp"] }, equals("pendingTotp", pending)),
  );
  await tellFactorIsOn(owner);
  return { enabled: true, recoveryCodes: codes };
}

export const EmailOtpSetup = z
  .object({ password: PasswordOfSetup })
  .meta({ examples: [{ password: "a long pass phrase" }] });
export type EmailOtpSetup = z.output<typeof EmailOtpSetup>;

/**
 * For every change that turns a second factor on. Throws 403 `password_required` without a
 * password if the login is not fresh, and 400 `wrong_password`.
 */
async function requireFreshLogin(
  caller: Caller,
  email: string,
  password: string | undefined,
): Promise<void> {
  if (password !== undefined) return requireProof(userKeyOf(caller), email, { password });
  if (!(await sessions.isLoginWithin(caller.sessionHash!, freshLoginSeconds)))
    throw passwordRequired();
}

const tellFactorIsOn = ({ orgId, userId }: UserKey): Promise<void> =>
  queueNotice("second_factor_on", { orgId, userId });

const passwordRequired = () =>
  forbidden("The login is more than 10 minutes ago: give the password too", {
    code: "password_required",
  });

/**
 * Logins need a code from now on. Returns recovery codes if it is the first second factor.
 * Idempotent. Throws 400 `wrong_password`, and 403 `password_required` without a password if the
 * login is not fresh.
 */
export async function enableEmailOtp(
  caller: Caller,
  { password }: EmailOtpSetup = {},
): Promise<{ enabled: true; recoveryCodes?: string[] }> {
  requirePasswordLogin(caller);
  const owner = userKeyOf(caller);
  const factors = await secondFactors.getSecondFactors(owner);
  if (factors?.emailOtpSince) return { enabled: true };
  const { user } = await accounts.getProfile(owner);
  await requireFreshLogin(caller, user.email, password);
  const set = { emailOtpSince: now().toISOString() };
  if (factors?.totp) {
    await write(updateFactorsWrite(owner, { set }, present("totp")));
    await tellFactorIsOn(owner);
    return { enabled: true };
  }
  const { codes, hashes } = await recoveryCodes.generateCodes(owner);
  await write(
    updateFactorsWrite(
      owner,
      { set: { ...set, recoveryCodes: hashes } },
      all(absent("totp"), absent("emailOtpSince")),
    ),
  );
  await tellFactorIsOn(owner);
  return { enabled: true, recoveryCodes: codes };
}

export const disableTotp = (caller: Caller, proof: MfaProof) =>
  disable(caller, proof, {
    attributes: ["totp", "totpSince", "pendingTotp"],
    otherFactor: "emailOtpSince",
  });
export const disableEmailOtp = (caller: Caller, proof: MfaProof) =>
  disable(caller, proof, { attributes: ["emailOtpSince"], otherFactor: "totp" });

/**
 * Throws 400 `wrong_code` or `wrong_password`, which count as failed logins. Mails the user when
 * the last factor is gone. Idempotent.
 */
async function disable(
  caller: Caller,
  proof: MfaProof,
  { attributes, otherFactor }: { attributes: string[]; otherFactor: keyof SecondFactors },
): Promise<{ enabled: false }> {
  requirePasswordLogin(caller);
  const owner = userKeyOf(caller);
  const { user } = await accounts.getProfile(owner);
  await requireProof(owner, user.email, proof);
  const factors = await secondFactors.getSecondFactors(owner);
  if (!factors || secondFactors.enabledMethods(factors).length === 0) return { enabled: false };
  const isLastFactor = factors[otherFactor] === undefined;
  const remove = [...attributes, ...(isLastFactor ? ["recoveryCodes"] : [])];
  const otherUnchanged = isLastFactor ? absent(otherFactor) : present(otherFactor);
  await write(updateFactorsWrite(owner, { remove }, otherUnchanged));
  const { orgId, userId } = owner;
  if (isLastFactor) await queueSystemMail({ mail: "mfa_off", orgId, userId });
  return { enabled: false };
}

/**
 * Returns ten new recovery codes; the earlier ones stop working. Throws 409 `second_factor_off` if
 * the user has no second factor, and 400 `wrong_code` or `wrong_password`.
 */
export async function replaceRecoveryCodes(
  caller: Caller,
  proof: MfaProof,
): Promise<{ recoveryCodes: string[] }> {
  requirePasswordLogin(caller);
  const owner = userKeyOf(caller);
  const factors = await secondFactors.getSecondFactors(owner);
  if (!factors || secondFactors.enabledMethods(factors).length === 0) throw secondFactorOff();
  const { user } = await accounts.getProfile(owner);
  await requireProof(owner, user.email, proof);
  const { codes, hashes } = await recoveryCodes.generateCodes(owner);
  await write(
    updateFactorsWrite(
      owner,
      { set: { recoveryCodes: hashes } },
      any(present("totp"), present("emailOtpSince")),
    ),
  );
  return { recoveryCodes: codes };
}

const secondFactorOff = () =>
  conflict("No second factor is turned on: recovery codes come with the first one", {
    code: "second_factor_off",
  });
