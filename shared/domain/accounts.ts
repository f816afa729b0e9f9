// Users and how they prove who they are. An unknown email and a wrong password look alike, in answer and in time.
import * as z from "zod";
import type { Caller } from "../caller.ts";
import { after, epochSeconds, now } from "../clock.ts";
import { equals, exists } from "../conditions.ts";
import { enqueue } from "../doors/queue.ts";
import { check, claim, get, put, query, remove, update, type Write, write } from "../doors/table.ts";
import { oneLine } from "../email.ts";
import { conflict, invalid, unauthenticated } from "../errors.ts";
import { randomText } from "../ids.ts";
import { keys, ranges, sha256 } from "../keys.ts";
import { queues } from "../queues.ts";
import * as attempts from "./login-attempts.ts";
import * as challenges from "./mfa/challenges.ts";
import * as organizations from "./organizations.ts";
import * as passwords from "./passwords.ts";
import * as sessions from "./sessions.ts";

export const UserName = oneLine(200).trim().min(1).nullable();
export const User = z
  .object({
    id: z.int(),
    email: z.string(),
    name: UserName,
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "User" });
export type User = z.output<typeof User>;

/** The item that is found by email. */
export interface Login {
  orgId: number;
  userId: number;
  name: string | null;
  password: string;
  passwordChangedAt: string;
}

export interface Profile {
  user: User;
  organization: organizations.Organization;
}
/** `token` goes into the session cookie and nowhere else. */
export type Opened = Profile & { token: string };

interface Member {
  orgId: number;
  userId: number;
}

export async function profile({ orgId, userId }: Member): Promise<Profile> {
  const [user, organization] = await Promise.all([get<User>(keys.member(orgId, userId)), organizations.find(orgId)]);
  if (!user) throw unauthenticated();
  return { user, organization };
}

/** Whoever has been in the organization longest. */
export async function owner(orgId: number): Promise<User | undefined> {
  return (await query<User>(ranges.users(orgId), { limit: 1 })).items[0];
}

/** A session, or the way to one for who has a second factor. 401 for an unknown email as for a wrong password; 429 after too many failures. */
export async function login(
  { email, password }: { email: string; password: string },
  clientAddress: string,
): Promise<Opened | challenges.Challenged> {
  const guards = [attempts.fromClient(clientAddress), attempts.onAccount(email)];
  const opened = await attempts.guarded(guards, async () => {
    const login = await get<Login>(keys.user(email));
    if (!(await passwords.matches(password, login?.password)) || !login) return undefined;
    return (await challenges.begin(login, email)) ?? open(email, login);
  });
  if (!opened) throw unauthenticated();
  return opened;
}

// Held to the password that was checked: a session cannot slip in behind a reset that is going on.
async function open(email: string, login: Login): Promise<Opened | undefined> {
  const known = await profile(login);
  const { token, writes } = sessions.opening(login);
  const held = await claim(check(keys.user(email), equals("password", login.password)), ...writes);
  return held ? { ...known, token } : undefined;
}

export const logout = (caller: Caller): Promise<void> => sessions.end(caller, caller.sessionHash!);

/** Ends the user's other sessions. 400 `wrong_password`; guesses count as failed logins. */
export async function changePassword(caller: Caller, given: { currentPassword: string; newPassword: string }): Promise<void> {
  const { user } = await profile(caller);
  const login = await attempts.guarded([attempts.onAccount(user.email)], async () => {
    const stored = await get<Login>(keys.user(user.email));
    return (await passwords.matches(given.currentPassword, stored?.password)) ? stored : undefined;
  });
  if (!login)
    throw invalid("The current password is wrong", {
      code: "wrong_password",
      details: [{ path: "currentPassword", message: "wrong password" }],
    });
  await setPassword(user.email, login, given.newPassword, { except: caller.sessionHash });
}

/** Mails a reset link, if there is such a user: found out by the worker, so that nobody can tell from here. */
export async function requestReset(email: string): Promise<void> {
  if (await attempts.mayMail("reset mail", email)) await enqueue(queues.systemMail, [{ mail: "password_reset", email }]);
}

interface Reset extends Member {
  email: string;
  /** A later change of password makes the token worthless. */
  passwordChangedAt: string;
  expires: number;
}
export const resetSeconds = 3600;

/** A token to mail to this user, good for one reset within an hour; undefined when there is no such user. */
export async function startReset(email: string): Promise<{ token: string; name: string | null } | undefined> {
  const login = await get<Login>(keys.user(email));
  if (!login) return undefined;
  const { orgId, userId, name, passwordChangedAt } = login;
  const token = randomText(43);
  const reset: Reset = { orgId, userId, email, passwordChangedAt, expires: epochSeconds(after(resetSeconds)) };
  await write(put(keys.resetToken(sha256(token)), reset));
  return { token, name };
}

/** Whether the token would still reset a password, without using it. */
export const isResetOpen = async (token: string): Promise<boolean> => (await resetBy(token)) !== undefined;

/** What a token starts; undefined for one that is used, old or made up. */
async function resetBy(token: string): Promise<{ started: Reset; login: Login } | undefined> {
  const started = await get<Reset>(keys.resetToken(sha256(token)));
  if (!started || started.expires <= epochSeconds()) return undefined;
  const login = await get<Login>(keys.user(started.email));
  return login?.passwordChangedAt === started.passwordChangedAt ? { started, login } : undefined;
}

/** Sets a new password and ends every session of the user; 400 `invalid_token` for one that is used, old or made up. */
export async function reset(token: string, password: string): Promise<void> {
  const open = await resetBy(token);
  if (!open) throw invalidToken();
  const { started, login } = open;
  const using = remove(keys.resetToken(sha256(token)), { if: exists, otherwise: invalidToken() });
  await setPassword(started.email, login, password, { further: [using] });
  await attempts.forgive(started.email);
}

const invalidToken = () =>
  invalid("This reset link has been used or is too old: ask for a new one", {
    code: "invalid_token",
    details: [{ path: "token", message: "not valid any more" }],
  });

// Sessions are ended on both sides of the change: if we die in between, none of those that an intruder had lives on.
async function setPassword(
  email: string,
  login: Login,
  password: string,
  { except, further = [] }: { except?: string | undefined; further?: Write[] },
): Promise<void> {
  const changes = { password: await passwords.hash(password), passwordChangedAt: now().toISOString() };
  await sessions.endAll(login, except);
  await write(
    ...further,
    update(
      keys.user(email),
      { set: changes },
      { if: equals("password", login.password), otherwise: conflict("The password was just changed") },
    ),
  );
  await sessions.endAll(login, except);
}
