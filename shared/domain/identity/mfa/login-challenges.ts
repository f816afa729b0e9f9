// Login challenges: logins with the right password that wait for a second factor. The client has
// the token, the table its hash.

import { all, exists, greaterThan, lessThan } from "../../../adapters/dynamodb/conditions.ts";
import { get, put, update, updateReturning, write } from "../../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds } from "../../../clock.ts";
import { conflict, Problem } from "../../../errors.ts";
import { randomBase62 } from "../../../ids.ts";
import { reportAccountEvent } from "../../../kernel/account-events.ts";
import { keyedHash } from "../../../kernel/installation-secrets.ts";
import { queueSystemMail } from "../../../kernel/system-mail-queue.ts";
import { keys, sha256 } from "../../../keys.ts";
import * as attemptLimits from "../attempt-limits.ts";
import type { UserKey } from "../sessions.ts";
import * as secondFactors from "./second-factors.ts";

const challengeTtlSeconds = 600;
export const maxTries = 5;
const codeTtlSeconds = 600;

export interface LoginChallenge extends UserKey {
  email: string;
  /** A later password change invalidates the token. */
  passwordChangedAt: string;
  tries: number;
  /** Number of codes mailed. Only the last one is valid. */
  codes: number;
  codeExpires?: number;
  /** SHA-256 of the token of an invitation that the login accepts. */
  invitation?: string | undefined;
  expires: number;
}
export interface IssuedChallenge {
  mfaRequired: true;
  mfaToken: string;
  methods: secondFactors.MfaMethod[];
}

/** Undefined if the user has no second factor. `invitation`: see LoginChallenge. */
export async function createChallenge(
  user: UserKey & { passwordChangedAt: string },
  email: string,
  invitation?: string,
): Promise<IssuedChallenge | undefined> {
  const methods = secondFactors.enabledMethods(await secondFactors.getSecondFactors(user));
  if (!methods.length) return undefined;
  const { orgId, userId, passwordChangedAt } = user;
  const mfaToken = randomBase62(43);
  const expires = epochSeconds(addSeconds(challengeTtlSeconds));
  const challenge: LoginChallenge = {
    orgId,
    userId,
    email,
    passwordChangedAt,
    tries: 0,
    codes: 0,
    ...(invitation !== undefined && { invitation }),
    expires,
  };
  await write(put(keys.mfaToken(sha256(mfaToken)), challenge));
  return { mfaRequired: true, mfaToken, methods };
}

/** Undefined if the challenge has expired or has no tries left. */
export async function getChallenge(hash: string): Promise<LoginChallenge | undefined> {
  const challenge = await get<LoginChallenge>(keys.mfaToken(hash));
  return challenge && challenge.expires > epochSeconds() && challenge.tries < maxTries
    ? challenge
    : undefined;
}

/** Uses one try. Undefined if none is left. */
export const countTry = (hash: string): Promise<LoginChallenge | undefined> =>
  updateReturning<LoginChallenge>(
    update(
      keys.mfaToken(hash),
      { add: { tries: 1 } },
      { if: all(exists, greaterThan("expires", epochSeconds()), lessThan("tries", maxTries)) },
    ),
  );

/** Mails a code, which invalidates earlier ones. */
export async function mailCode(mfaToken: string): Promise<void> {
  const hash = sha256(mfaToken);
  const challenge = await getChallenge(hash);
  if (!challenge) throw invalidToken();
  const methods = secondFactors.enabledMethods(await secondFactors.getSecondFactors(challenge));
  if (!methods.includes("email_otp"))
    throw conflict(
      "Email codes are not enabled for this user: use a code from the authenticator app",
      {
        code: "method_unavailable",
      },
    );
  await attemptLimits.countMail("login code", challenge.email);
  const updated = await updateReturning<LoginChallenge>(
    update(
      keys.mfaToken(hash),
      { add: { codes: 1 }, set: { codeExpires: epochSeconds(addSeconds(codeTtlSeconds)) } },
      { if: all(exists, greaterThan("expires", epochSeconds()), lessThan("tries", maxTries)) },
    ),
  );
  if (!updated) throw invalidToken();
  const { orgId, userId } = challenge;
  reportAccountEvent({ action: "sendMfaCode", orgId, userId, outcome: "done" });
  await queueSystemMail({ mail: "login_code", challenge: hash, code: updated.codes });
}

/**
 * The code to mail, or undefined if a newer one was requested. A repeated queue message mails the
 * same code.
 */
export async function getMailedCode(
  hash: string,
  number: number,
): Promise<(LoginChallenge & { code: string }) | undefined> {
  const challenge = await getChallenge(hash);
  return challenge?.codes === number
    ? { ...challenge, code: await deriveCode(hash, number) }
    : undefined;
}

/**
 * Undefined if no code was mailed or the last one has expired. Codes are derived from the challenge
 * and never stored.
 */
export async function getCurrentCode(
  hash: string,
  { codes, codeExpires = 0 }: LoginChallenge,
): Promise<string | undefined> {
  return codes && codeExpires > epochSeconds() ? deriveCode(hash, codes) : undefined;
}

// The remainder of 48 bits is practically uniform.
async function deriveCode(hash: string, number: number): Promise<string> {
  const digest = await keyedHash("email code", hash, number);
  return String(digest.readUIntBE(0, 6) % 1_000_000).padStart(6, "0");
}

/**
 * The same message for every bad credential. `code` tells a page whether to ask for another
 * code or for the password.
 */
export const invalidToken = () =>
  new Problem("unauthenticated", "Unauthorized", { code: "invalid_token" });
export const wrongCode = () =>
  new Problem("unauthenticated", "Unauthorized", { code: "wrong_code" });
