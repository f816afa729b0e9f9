// Users, logins and passwords. An unknown email and a wrong password get the same response after
// the same time.

import * as z from "zod";
import { absent, all, equals, exists } from "../../adapters/dynamodb/conditions.ts";
import {
  checkCondition,
  get,
  put,
  queryAll,
  remove,
  transact,
  update,
  type Write,
  write,
} from "../../adapters/dynamodb/table.ts";
import { type Caller, requirePasswordLogin } from "../../caller.ts";
import { now } from "../../clock.ts";
import { conflict, forbidden, missing, unauthenticated } from "../../errors.ts";
import * as ids from "../../ids.ts";
import { type AccountEvent, reportAccountEvent } from "../../kernel/account-events.ts";
import { CreatedAt, RecordId, UpdatedAt } from "../../kernel/record-fields.ts";
import { keys, ranges } from "../../keys.ts";
import * as attemptLimits from "./attempt-limits.ts";
import { accessChanges, type MemberAccess, NameOfUser, userKeyOf } from "./members.ts";
import * as loginChallenges from "./mfa/login-challenges.ts";
import * as organizations from "./organizations.ts";
import * as passwords from "./passwords.ts";
import type { UserKey } from "./sessions.ts";
import * as sessions from "./sessions.ts";
import { ssoRequired } from "./sso/enforcement.ts";
import { listOrganizations, type UserOrganization } from "./user-organizations.ts";

export const User = z
  .object({
    id: RecordId.describe("Id of the user."),
    email: z.string().describe("Email address that the user logs in with."),
    name: NameOfUser.describe("Name of the user, or `null`."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .describe("The user who is logged in, or who made the API key.")
  .meta({ id: "User" });
export type User = z.output<typeof User>;

/** The item with the password hash. Its key is the email address. */
export interface LoginRecord extends UserKey {
  name: string | null;
  password: string;
  passwordChangedAt: string;
  /** The address was not verified yet. */
  unverified?: boolean;
  /** The organization that the user used last. Undefined: `orgId`. */
  lastOrgId?: number;
}

export const AccountProfile = z
  .object({ user: User, organization: organizations.Organization })
  .meta({ id: "Profile" });
export type AccountProfile = z.output<typeof AccountProfile>;
/** `token` must only go into the session cookie. `organizations` are all that the user has. */
export type OpenedSession = AccountProfile & {
  token: string;
  organizations: UserOrganization[];
};

export async function getProfile({ orgId, userId }: UserKey): Promise<AccountProfile> {
  const [user, organization] = await Promise.all([
    get<User>(keys.member(orgId, userId)),
    organizations.find(orgId),
  ]);
  if (!user) throw unauthenticated();
  return { user, organization };
}

export interface NewUser {
  orgId: number;
  email: string;
  name: string | null;
  /** Hash of the password. */
  password: string;
  access: MemberAccess;
  /** See MemberItem. */
  ssoIdentity?: string;
}

/**
 * A user whose first organization is `orgId`, and the writes that create the account and the
 * membership. They fail with 409 `email_taken` if the address has an account.
 */
export async function prepareUser({
  orgId,
  email,
  name,
  password,
  access,
  ssoIdentity,
}: NewUser): Promise<{ user: User; login: LoginRecord; writes: Write[] }> {
  const userId = await ids.nextId("USER");
  const at = now().toISOString();
  const user: User = { id: userId, email, name, createdAt: at, updatedAt: at };
  const login: LoginRecord = { orgId, userId, name, password, passwordChangedAt: at };
  const accountExists = conflict("An account with this email was just created: log in with it", {
    code: "email_taken",
  });
  return {
    user,
    login,
    writes: [
      put(keys.user(email), login, { ifAbsent: accountExists }),
      put(
        keys.member(orgId, userId),
        {
          ...user,
          ...accessChanges(access).set,
          ...(ssoIdentity !== undefined && { ssoIdentity }),
        },
        { ifAbsent: true },
      ),
    ],
  };
}

/** The owner who has been in the organization's list of members for longest. */
export const getOwner = async (orgId: number): Promise<User | undefined> =>
  (await listOwners(orgId))[0];

/** Those who have been in the list of members for longest come first. */
export function listOwners(orgId: number): Promise<User[]> {
  const filter = all(absent("leftAt"), equals("role", "owner"));
  return queryAll<User>(ranges.users(orgId), { filter });
}

/**
 * Opens a session in the organization that the user used last, or issues a challenge if the user
 * has a second factor. Throws 401 for an unknown email and a wrong password, 403 `no_organization`
 * for a user without an organization, 429 after too many failures.
 */
export async function logIn(
  { email, password }: { email: string; password: string },
  client: sessions.SessionClient,
): Promise<OpenedSession | loginChallenges.IssuedChallenge> {
  const limits = [attemptLimits.clientLimit(client.address), attemptLimits.accountLimit(email)];
  const result = await attemptLimits.withAttemptLimits(limits, async () => {
    const login = await get<LoginRecord>(keys.user(email));
    reportLogin("logIn", login, { outcome: "failed" });
    if (!(await passwords.verifyPassword(password, login?.password)) || !login) return undefined;
    const challenge = await loginChallenges.createChallenge(login, email);
    if (challenge) reportLogin("logIn", login, { outcome: "second_factor_required" });
    return challenge ?? openSession(login, client);
  });
  if (!result) throw unauthenticated();
  return result;
}

/**
 * Reports an event in the organization that the user used last. `login` is undefined if no user has
 * the address.
 */
export function reportLogin(
  action: string,
  login: Pick<LoginRecord, "orgId" | "lastOrgId" | "userId"> | undefined,
  result: Pick<AccountEvent, "outcome" | "proven">,
): void {
  const { orgId = 0, lastOrgId = orgId, userId = null } = login ?? {};
  reportAccountEvent({ action, orgId: lastOrgId, userId, ...result });
}

async function openSession(
  login: LoginRecord,
  client: sessions.SessionClient,
): Promise<OpenedSession | undefined> {
  const { opened, writes } = await prepareLogin(login, client);
  return (await transact(...writes)) ? opened : undefined;
}

/**
 * A session in the organization that the user used last, and the writes that open it. The password
 * must still be the one of `login`, so a login during a password reset opens no session. Throws 403
 * `no_organization`, and `sso_required` if no organization of the user takes a password.
 */
export async function prepareLogin(
  login: LoginRecord,
  client: sessions.SessionClient,
): Promise<{ opened: OpenedSession; writes: Write[] }> {
  const userOrganizations = await listOrganizations(login);
  const { userId, lastOrgId } = login;
  const current = chooseOrganization(userOrganizations, lastOrgId);
  const profile = await getProfile({ orgId: current.id, userId });
  const { token, writes } = sessions.prepareSession(login, { orgId: current.id, client });
  const samePassword = equals("password", login.password);
  return {
    opened: { ...profile, token, organizations: userOrganizations },
    writes: [checkCondition(keys.user(profile.user.email), samePassword), ...writes],
  };
}

/** That of the last login, or else the first, that the user can open with a password. */
function chooseOrganization(
  userOrganizations: UserOrganization[],
  lastOrgId: number | undefined,
): UserOrganization {
  const byPreference = userOrganizations.toSorted(
    (a, b) => Number(b.id === lastOrgId) - Number(a.id === lastOrgId),
  );
  const [preferred] = byPreference;
  if (!preferred) throw noOrganization();
  const current = byPreference.find(({ requiresSso }) => !requiresSso);
  if (!current) throw ssoRequired(preferred.id);
  return current;
}

const noOrganization = () =>
  forbidden("You are not a member of any organization: accept an invitation to one", {
    code: "no_organization",
  });

/**
 * Replaces the session by one for another organization of the user, in one transaction. The next
 * login goes there too. Throws 404 if the user is not a member of it, 403 if it requires single
 * sign-on or the session came from there.
 */
export async function switchOrganization(
  caller: Caller,
  orgId: number,
  client: sessions.SessionClient,
): Promise<OpenedSession> {
  requirePasswordLogin(caller);
  const user = userKeyOf(caller);
  const userOrganizations = await listOrganizations(user);
  const target = userOrganizations.find(({ id }) => id === orgId);
  if (!target) throw organizationNotFound();
  if (target.requiresSso) throw ssoRequired(orgId);
  const [profile, session] = await Promise.all([
    getProfile({ orgId, userId: caller.userId }),
    get<sessions.SessionItem>(keys.session(caller.sessionHash!)),
  ]);
  if (!session) throw unauthenticated();
  // The session does not live longer than the one that the login opened, and is as old.
  const { expires, createdAt } = session;
  const opened = { orgId, client, expires, createdAt, switchedAt: now().toISOString() };
  const { token, writes } = sessions.prepareSession(user, opened);
  await write(
    ...writes,
    remove(keys.session(caller.sessionHash!), { if: exists, orThrow: unauthenticated() }),
    remove(keys.userSession(user.orgId, user.userId, caller.sessionHash!)),
    update(keys.user(profile.user.email), { set: { lastOrgId: orgId } }, { if: exists }),
    checkCondition(
      keys.member(orgId, caller.userId),
      all(exists, absent("leftAt")),
      organizationNotFound(),
    ),
  );
  return { ...profile, token, organizations: userOrganizations };
}

const organizationNotFound = () => missing("The organization does not exist");

export const logOut = (caller: Caller): Promise<void> =>
  sessions.endSession(userKeyOf(caller), caller.sessionHash!);
