import { randomUUID } from "node:crypto";
import type { Caller } from "../../shared/caller.ts";
import type { OpenedSession } from "../../shared/domain/identity/accounts.ts";
import * as accounts from "../../shared/domain/identity/accounts.ts";
import * as signups from "../../shared/domain/identity/signup.ts";
import { sha256 } from "../../shared/keys.ts";

export const uniqueEmail = (): string => `user-${randomUUID()}@example.com`;
export const password = "a horse of one's own";

export interface TestAccount {
  email: string;
  password: string;
  /** The value of the session cookie. */
  token: string;
  caller: Caller;
  opened: OpenedSession;
}

/** Signs up without HTTP: a new organization and user with a session, and no site yet. */
export async function createAccount(): Promise<TestAccount> {
  const email = uniqueEmail();
  const opened = await signups.signUp({ email, password, name: "Ada" });
  return { email, password, token: opened.token, caller: ownerOf(opened), opened };
}

/** The caller of the session that a sign-up opened. */
export const ownerOf = ({ user, organization, token }: OpenedSession): Caller => ({
  orgId: organization.id,
  plan: organization.plan,
  kind: "session",
  userId: user.id,
  role: "owner",
  scopes: ["*"],
  sessionHash: sha256(token),
});

/** Logs in a user without a second factor. */
export async function login(
  given: { email: string; password: string },
  address: string,
): Promise<OpenedSession> {
  const opened = await accounts.logIn(given, { address });
  if ("mfaRequired" in opened) throw new Error("The login waits for a second factor");
  return opened;
}
