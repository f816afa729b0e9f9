// Changes a password: with the current one, or with a mailed link.
import { equals, exists } from "../../adapters/dynamodb/conditions.ts";
import { get, put, remove, update, type Write, write } from "../../adapters/dynamodb/table.ts";
import { type Caller, requirePasswordLogin } from "../../caller.ts";
import { addSeconds, epochSeconds, now } from "../../clock.ts";
import { conflict, invalid, undefinedIfMissing } from "../../errors.ts";
import { randomBase62 } from "../../ids.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { queueNotice } from "../../kernel/security-notices.ts";
import { queueSystemMail } from "../../kernel/system-mail-queue.ts";
import { keys, sha256 } from "../../keys.ts";
import { getProfile, type LoginRecord, reportLogin, type User } from "./accounts.ts";
import * as apiKeys from "./api-keys.ts";
import * as attemptLimits from "./attempt-limits.ts";
import * as organizations from "./organizations.ts";
import * as passwords from "./passwords.ts";
import type { UserKey } from "./sessions.ts";
import * as sessions from "./sessions.ts";

/**
 * Ends the user's other sessions. Throws 400 `wrong_password`; a wrong password counts as a failed
 * login.
 */
export async function changePassword(
  caller: Caller,
  input: { currentPassword: string; newPassword: string },
): Promise<void> {
  requirePasswordLogin(caller);
  const { user } = await getProfile(caller);
  passwords.requireStrongPassword(input.newPassword, {
    path: "newPassword",
    known: [user.email, user.name],
  });
  const login = await attemptLimits.withAttemptLimits(
    [attemptLimits.accountLimit(user.email)],
    async () => {
      const stored = await get<LoginRecord>(keys.user(user.email));
      return (await passwords.verifyPassword(input.currentPassword, stored?.password))
        ? stored
        : undefined;
    },
  );
  if (!login)
    throw invalid("The current password is wrong", {
      code: "wrong_password",
      details: [{ path: "currentPassword", message: "is wrong" }],
    });
  await setPassword({
    email: user.email,
    login,
    password: input.newPassword,
    keepSession: caller.sessionHash,
  });
}

/**
 * Mails a reset link if the user exists. The worker looks the user up, so the response time does
 * not reveal it.
 */
export async function requestPasswordReset(email: string): Promise<void> {
  if (!(await attemptLimits.tryCountMail("reset mail", email))) return;
  const [login] = await Promise.all([
    get<LoginRecord>(keys.user(email)),
    queueSystemMail({ mail: "password_reset", email }),
  ]);
  reportLogin("requestPasswordReset", login, { outcome: "done", proven: false });
}

interface PasswordReset extends UserKey {
  email: string;
  /** A later password change invalidates the token. */
  passwordChangedAt: string;
  expires: number;
}
export const resetTtlSeconds = 3600;

/**
 * Creates a token for one password reset within an hour; undefined for an unknown user. Mail it to
 * the returned address, which is the stored one: the input may be another address with the same
 * canonical form.
 */
export async function createResetToken(
  input: string,
): Promise<{ token: string; email: string; name: string | null } | undefined> {
  const login = await get<LoginRecord>(keys.user(input));
  const user = login && (await get<User>(keys.member(login.orgId, login.userId)));
  if (!user) return undefined;
  const { orgId, userId, name, passwordChangedAt } = login;
  const { email } = user;
  const token = randomBase62(43);
  const reset: PasswordReset = {
    orgId,
    userId,
    email,
    passwordChangedAt,
    expires: epochSeconds(addSeconds(resetTtlSeconds)),
  };
  await write(put(keys.resetToken(sha256(token)), reset));
  return { token, email, name };
}

/**
 * The API keys that the user of the token created, and may want to revoke with the password.
 * Undefined for a token that was used, has expired or never existed.
 */
export async function listKeysOfReset(token: string): Promise<apiKeys.CreatedApiKey[] | undefined> {
  const found = await findReset(token);
  return found && apiKeys.listCreatedBy(found.login);
}

/** Undefined for a token that was used, has expired or never existed. */
async function findReset(
  token: string,
): Promise<{ reset: PasswordReset; login: LoginRecord } | undefined> {
  const reset = await get<PasswordReset>(keys.resetToken(sha256(token)));
  if (!reset || reset.expires <= epochSeconds()) return undefined;
  const login = await get<LoginRecord>(keys.user(reset.email));
  return login?.passwordChangedAt === reset.passwordChangedAt ? { reset, login } : undefined;
}

/**
 * Sets a new password and ends every session of the user. Returns the API keys that the user
 * created and that still work. `revokeApiKeys` revokes them before the token is used up, so that a
 * request that failed can be repeated. Of an account whose address was not verified, keys,
 * second factors and single sign-on are always revoked. Throws 400 `invalid_token`, and
 * for a password that is easy to guess, after which the token still works.
 */
export async function resetPassword(
  token: string,
  password: string,
  { revokeApiKeys = false }: { revokeApiKeys?: boolean } = {},
): Promise<apiKeys.CreatedApiKey[]> {
  const found = await findReset(token);
  if (!found) throw invalidResetToken();
  const { reset, login } = found;
  passwords.requireStrongPassword(password, { known: [reset.email, login.name] });
  // Somebody else may have signed up with the address. The mailed link verifies it.
  const { unverified = false } = login;
  if (revokeApiKeys || unverified) await revokeCreatedKeys(login);
  const takeOverWrites = unverified
    ? [
        remove(keys.secondFactors(login.orgId, login.userId)),
        ...organizations.takeOverWrites(login.orgId),
      ]
    : [];
  const useTokenWrite = remove(keys.resetToken(sha256(token)), {
    if: exists,
    orThrow: invalidResetToken(),
  });
  await setPassword({
    email: reset.email,
    login,
    password,
    provesAddress: true,
    extraWrites: [useTokenWrite, ...takeOverWrites],
  });
  reportLogin("resetPassword", login, { outcome: "done" });
  await attemptLimits.clearFailures(reset.email);
  return apiKeys.listCreatedBy(login);
}

async function revokeCreatedKeys(user: UserKey): Promise<void> {
  await inParallel(4, await apiKeys.listCreatedBy(user), ({ id, organizationId }) =>
    apiKeys.remove({ orgId: organizationId }, id).catch(undefinedIfMissing),
  );
}

const invalidResetToken = () =>
  invalid("The reset link was already used or has expired: request a new one", {
    code: "invalid_token",
    details: [{ path: "token", message: "is no longer valid" }],
  });

interface PasswordUpdate {
  email: string;
  login: LoginRecord;
  password: string;
  /** Hash of the one session that does not end. */
  keepSession?: string | undefined;
  /** The change was made with a mailed link. */
  provesAddress?: boolean;
  extraWrites?: Write[];
}

// Ends the sessions before and after the change, so that no old session survives a crash in
// between.
async function setPassword(input: PasswordUpdate): Promise<void> {
  const { email, login, password, keepSession, provesAddress = false, extraWrites = [] } = input;
  const changes = {
    password: await passwords.hashPassword(password),
    passwordChangedAt: now().toISOString(),
  };
  await sessions.endAllSessions(login, keepSession);
  await write(
    ...extraWrites,
    update(
      keys.user(email),
      { set: changes, remove: provesAddress ? ["unverified"] : [] },
      {
        if: equals("password", login.password),
        orThrow: conflict(
          "The password was changed by another request at the same time: try again",
        ),
      },
    ),
  );
  await sessions.endAllSessions(login, keepSession);
  const { orgId, userId } = login;
  await queueNotice("password_changed", { orgId, userId });
}
