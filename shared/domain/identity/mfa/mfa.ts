// Second factors: users set them up in a session and complete logins with them.

import * as z from "zod";
import {
  absent,
  all,
  any,
  type Condition,
  equals,
  exists,
  present,
} from "../../../adapters/dynamodb/conditions.ts";
import {
  checkCondition,
  get,
  remove,
  transact,
  update,
  type Write,
  write,
} from "../../../adapters/dynamodb/table.ts";
import { type Caller, requirePasswordLogin } from "../../../caller.ts";
import { now } from "../../../clock.ts";
import { conflict, forbidden, invalid } from "../../../errors.ts";
import { type AccountEvent, reportAccountEvent } from "../../../kernel/account-events.ts";
import { exactlyOneOf } from "../../../kernel/either-or.ts";
import { constantTimeEquals } from "../../../kernel/installation-secrets.ts";
import { Count, Timestamp } from "../../../kernel/record-fields.ts";
import { queueSystemMail } from "../../../kernel/system-mail-queue.ts";
import { keys, sha256 } from "../../../keys.ts";
import * as accounts from "../accounts.ts";
import * as attempts from "../attempt-limits.ts";
import * as invitations from "../invitations.ts";
import { userKeyOf } from "../members.ts";
import * as passwords from "../passwords.ts";
import type { UserKey } from "../sessions.ts";
import * as sessions from "../sessions.ts";
import * as challenges from "./login-challenges.ts";
import * as recoveryCodes from "./recovery-codes.ts";
import type { SecondFactors } from "./second-factors.ts";
import * as secondFactors from "./second-factors.ts";
import * as totp from "./totp.ts";

/** Six digits from the app or a mail, or a recovery code. Spaces and hyphens are ignored. */
export const MfaCode = z.string().min(1).max(30);

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

export const TotpSetup = z
  .object({
    code: MfaCode.describe("Current six-digit code of the app."),
    password: passwords.PasswordInput.optional().describe(
      "Password of the user. Required if the login is more than 10 minutes ago, so that a stolen " +
        "session cannot lock the user out.",
    ),
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
  if (password !== undefined) await requireProof(owner, user.email, { password });
  else if (!(await sessions.isLoginWithin(caller.sessionHash!, freshLoginSeconds)))
    throw passwordRequired();
  const step = await attempts.withAttemptLimits([attempts.codeLimit(user.email)], async () =>
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
  return { enabled: true, recoveryCodes: codes };
}

const passwordRequired = () =>
  forbidden("The login is more than 10 minutes ago: give the password too", {
    code: "password_required",
  });

/**
 * Logins need a code from now on. Returns recovery codes if it is the first second factor.
 * Idempotent.
 */
export async function enableEmailOtp(
  caller: Caller,
): Promise<{ enabled: true; recoveryCodes?: string[] }> {
  requirePasswordLogin(caller);
  const owner = userKeyOf(caller);
  const factors = await secondFactors.getSecondFactors(owner);
  if (factors?.emailOtpSince) return { enabled: true };
  const set = { emailOtpSince: now().toISOString() };
  if (factors?.totp) {
    await write(updateFactorsWrite(owner, { set }, present("totp")));
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
  return { enabled: true, recoveryCodes: codes };
}

/** Proof that the user is present: a code or the password. */
export const MfaProof = exactlyOneOf(
  z.object({
    code: MfaCode.optional().describe(
      "Code of the authenticator app, or a recovery code. Give either this or `password`.",
    ),
    password: passwords.PasswordInput.optional().describe(
      "Password of the user. Give either this or `code`.",
    ),
  }),
  ["code", "password"],
).meta({ id: "MfaProof" });
export type MfaProof = z.output<typeof MfaProof>;

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

/** Throws 400 `wrong_code` or `wrong_password`, which count as failed logins. */
async function requireProof(owner: UserKey, email: string, proof: MfaProof): Promise<void> {
  const limits = [attempts.accountLimit(email), attempts.codeLimit(email)];
  const proven = await attempts.withAttemptLimits(limits, async () =>
    (await verifyProof(owner, email, proof)) ? true : undefined,
  );
  if (!proven) throw wrongProof(proof.code === undefined ? "password" : "code");
}

async function verifyProof(
  owner: UserKey,
  email: string,
  { code, password }: MfaProof,
): Promise<boolean> {
  if (code === undefined)
    return passwords.verifyPassword(
      password!,
      (await get<accounts.LoginRecord>(keys.user(email)))?.password,
    );
  const factors = await secondFactors.getSecondFactors(owner);
  const useCode = factors && (await useOwnCodeWrite(owner, factors, code));
  return useCode !== undefined && transact(useCode);
}

/** Uses up a code from the app or a recovery code. Undefined if the code is wrong. */
const useOwnCodeWrite = async (
  user: UserKey,
  factors: SecondFactors,
  code: string,
): Promise<Write | undefined> =>
  sixDigits.test(stripSeparators(code))
    ? totp.useCodeWrite(user, factors, stripSeparators(code))
    : recoveryCodes.useCodeWrite(user, factors, code);

const sixDigits = /^\d{6}$/;
const stripSeparators = (code: string): string => code.replace(/[\s-]/g, "");

export const requestCode = challenges.mailCode;

/**
 * Opens the session if the code is right. Throws 401 `wrong_code`, or `invalid_token` if the token
 * was used, is older than 10 minutes or has no tries left. Failures count as failed logins.
 */
export async function verifyLogin(
  { mfaToken, code }: { mfaToken: string; code: string },
  client: sessions.SessionClient,
): Promise<accounts.OpenedSession> {
  const hash = sha256(mfaToken);
  let refusal = challenges.invalidToken();
  const opened = await attempts.withAttemptLimits(
    [attempts.clientLimit(client.address)],
    async () => {
      const challenge = await challenges.getChallenge(hash);
      if (!challenge) return undefined;
      accounts.reportLogin("verifyMfaCode", challenge, { outcome: "failed" });
      return attempts.withAttemptLimits(
        [attempts.accountLimit(challenge.email), attempts.codeLimit(challenge.email)],
        async () => {
          const counted = await challenges.countTry(hash);
          if (counted && counted.tries < challenges.maxTries) refusal = challenges.wrongCode();
          return counted && completeLogin({ hash, challenge: counted, client }, code);
        },
      );
    },
  );
  if (!opened) throw refusal;
  return opened;
}

// Uses the code, deletes the challenge and opens the session in one transaction, so a code opens
// exactly one session.
async function completeLogin(
  { hash, challenge, client }: PendingLogin,
  code: string,
): Promise<accounts.OpenedSession | undefined> {
  const [factors, login] = await Promise.all([
    secondFactors.getSecondFactors(challenge),
    get<accounts.LoginRecord>(keys.user(challenge.email)),
  ]);
  const useCode = factors && (await useCodeWrites({ hash, challenge, factors }, code));
  if (!useCode || login?.passwordChangedAt !== challenge.passwordChangedAt) return undefined;
  const { opened, writes, event } = await prepareSession(challenge, login, client);
  const committed = await transact(
    remove(keys.mfaToken(hash), { if: all(exists, equals("codes", challenge.codes)) }),
    ...useCode,
    ...writes,
  );
  if (!committed) return undefined;
  reportAccountEvent(event);
  return opened;
}

interface PreparedSession {
  opened: accounts.OpenedSession;
  writes: Write[];
  /** To report after the writes. */
  event: AccountEvent;
}

async function prepareSession(
  { invitation }: challenges.LoginChallenge,
  login: accounts.LoginRecord,
  client: sessions.SessionClient,
): Promise<PreparedSession> {
  if (invitation !== undefined) {
    const prepared = await invitations.prepareAcceptance(invitation, login, client);
    return { ...prepared, event: { ...prepared.acceptance, action: "acceptInvitation" } };
  }
  const prepared = await accounts.prepareLogin(login, client);
  const { user, organization } = prepared.opened;
  const event = { orgId: organization.id, userId: user.id, outcome: "done" as const };
  return { ...prepared, event: { ...event, action: "verifyMfaCode" } };
}

interface PendingLogin {
  hash: string;
  challenge: challenges.LoginChallenge;
  client: sessions.SessionClient;
}

/** A login that waits for its second factor. */
interface OpenLogin {
  hash: string;
  challenge: challenges.LoginChallenge;
  factors: SecondFactors;
}

async function useCodeWrites(
  { hash, challenge, factors }: OpenLogin,
  code: string,
): Promise<Write[] | undefined> {
  const own = await useOwnCodeWrite(challenge, factors, code);
  if (own) return [own];
  const mailed =
    factors.emailOtpSince === undefined
      ? undefined
      : await challenges.getCurrentCode(hash, challenge);
  // The challenge is deleted in the same transaction, so the mailed code needs no write of its own.
  return mailed !== undefined && constantTimeEquals(stripSeparators(code), mailed)
    ? [checkCondition(factorsKey(challenge), present("emailOtpSince"))]
    : undefined;
}

const wrongProof = (path: "code" | "password") =>
  invalid(`The ${path} is wrong`, {
    code: `wrong_${path}`,
    details: [{ path, message: `the ${path} is wrong` }],
  });
