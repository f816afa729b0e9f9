// Users, logins and passwords. An unknown email and a wrong password get the same response after
// the same time.

import * as z from "zod";
import { equals, exists } from "../../adapters/dynamodb/conditions.ts";
import {
  checkCondition,
  get,
  put,
  query,
  remove,
  transact,
  update,
  type Write,
  write,
} from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import { addSeconds, epochSeconds, now } from "../../clock.ts";
import { conflict, invalid, unauthenticated } from "../../errors.ts";
import { randomBase62 } from "../../ids.ts";
import { singleLineText } from "../../kernel/email-fields.ts";
import { CreatedAt, RecordId, UpdatedAt } from "../../kernel/record-fields.ts";
import { queueSystemMail } from "../../kernel/system-mail-queue.ts";
import { keys, ranges, sha256 } from "../../keys.ts";
import * as attempts from "./attempt-limits.ts";
import * as challenges from "./mfa/login-challenges.ts";
import * as organizations from "./organizations.ts";
import * as passwords from "./passwords.ts";
import type { UserKey } from "./sessions.ts";
import * as sessions from "./sessions.ts";

export const UserName = singleLineText(200).trim().min(1).nullable();
export const User = z
  .object({
    id: RecordId.describe("Id of the user."),
    email: z.string().describe("Email address that the user logs in with."),
    name: UserName.describe("Name of the user, or `null`."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .describe("The user who is logged in, or who made the API key.")
  .meta({ id: "User" });
export type User = z.output<typeof User>;

/** The item with the password hash. Its key is the email address. */
export interface LoginRecord {
  orgId: number;
  userId: number;
  name: string | null;
  password: string;
  passwordChangedAt: string;
}

export const AccountProfile = z
  .object({ user: User, organization: organizations.Organization })
  .meta({ id: "Profile" });
export type AccountProfile = z.output<typeof AccountProfile>;
/** `token` must only go into the session cookie. */
export type OpenedSession = AccountProfile & { token: string };

export async function getProfile({ orgId, userId }: UserKey): Promise<AccountProfile> {
  const [user, organization] = await Promise.all([
    get<User>(keys.member(orgId, userId)),
    organizations.find(orgId),
  ]);
  if (!user) throw unauthenticated();
  return { user, organization };
}

/** The organization's first user. */
export async function getOwner(orgId: number): Promise<User | undefined> {
  return (await query<User>(ranges.users(orgId), { limit: 1 })).items[0];
}

/**
 * Opens a session, or issues a challenge if the user has a second factor. Throws 401 for an unknown
 * email and a wrong password, 429 after too many failures.
 */
export async function logIn(
  { email, password }: { email: string; password: string },
  clientAddress: string,
): Promise<OpenedSession | challenges.IssuedChallenge> {
  const limits = [attempts.clientLimit(clientAddress), attempts.accountLimit(email)];
  const result = await attempts.withAttemptLimits(limits, async () => {
    const login = await get<LoginRecord>(keys.user(email));
    if (!(await passwords.verifyPassword(password, login?.password)) || !login) return undefined;
    return (await challenges.createChallenge(login, email)) ?? openSession(email, login);
  });
  if (!result) throw unauthenticated();
  return result;
}

// The password must still be the one that was verified, so a login during a password reset opens no
// session.
async function openSession(email: string, login: LoginRecord): Promise<OpenedSession | undefined> {
  const profile = await getProfile(login);
  const { token, writes } = sessions.prepareSession(login);
  const committed = await transact(
    checkCondition(keys.user(email), equals("password", login.password)),
    ...writes,
  );
  return committed ? { ...profile, token } : undefined;
}

export const logOut = (caller: Caller): Promise<void> =>
  sessions.endSession(caller, caller.sessionHash!);

/**
 * Ends the user's other sessions. Throws 400 `wrong_password`; a wrong password counts as a failed
 * login.
 */
export async function changePassword(
  caller: Caller,
  input: { currentPassword: string; newPassword: string },
): Promise<void> {
  const { user } = await getProfile(caller);
  const login = await attempts.withAttemptLimits([attempts.accountLimit(user.email)], async () => {
    const stored = await get<LoginRecord>(keys.user(user.email));
    return (await passwords.verifyPassword(input.currentPassword, stored?.password))
      ? stored
      : undefined;
  });
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
  if (await attempts.tryCountMail("reset mail", email))
    await queueSystemMail({ mail: "password_reset", email });
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

export const isResetTokenValid = async (token: string): Promise<boolean> =>
  (await findReset(token)) !== undefined;

/** Undefined for a token that was used, has expired or never existed. */
async function findReset(
  token: string,
): Promise<{ reset: PasswordReset; login: LoginRecord } | undefined> {
  const reset = await get<PasswordReset>(keys.resetToken(sha256(token)));
  if (!reset || reset.expires <= epochSeconds()) return undefined;
  const login = await get<LoginRecord>(keys.user(reset.email));
  return login?.passwordChangedAt === reset.passwordChangedAt ? { reset, login } : undefined;
}

/** Sets a new password and ends every session of the user. Throws 400 `invalid_token`. */
export async function resetPassword(token: string, password: string): Promise<void> {
  const found = await findReset(token);
  if (!found) throw invalidResetToken();
  const { reset, login } = found;
  const useTokenWrite = remove(keys.resetToken(sha256(token)), {
    if: exists,
    orThrow: invalidResetToken(),
  });
  await setPassword({ email: reset.email, login, password, extraWrites: [useTokenWrite] });
  await attempts.clearFailures(reset.email);
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
  extraWrites?: Write[];
}

// Ends the sessions before and after the change, so that no old session survives a crash in
// between.
async function setPassword(input: PasswordUpdate): Promise<void> {
  const { email, login, password, keepSession, extraWrites = [] } = input;
  const changes = {
    password: await passwords.hashPassword(password),
    passwordChangedAt: now().toISOString(),
  };
  await sessions.endAllSessions(login, keepSession);
  await write(
    ...extraWrites,
    update(
      keys.user(email),
      { set: changes },
      {
        if: equals("password", login.password),
        orThrow: conflict(
          "The password was changed by another request at the same time: try again",
        ),
      },
    ),
  );
  await sessions.endAllSessions(login, keepSession);
}
