import { randomUUID } from "node:crypto";
import type { Caller } from "../../shared/caller.ts";
import type { Opened } from "../../shared/domain/accounts.ts";
import * as accounts from "../../shared/domain/accounts.ts";
import * as signups from "../../shared/domain/signups.ts";
import { sha256 } from "../../shared/keys.ts";

export const freshEmail = (): string => `user-${randomUUID()}@example.com`;
export const password = "a horse of one's own";

export interface Account {
  email: string;
  password: string;
  /** Of the session cookie. */
  token: string;
  caller: Caller;
  opened: Opened;
}

/** An organization of its own, straight from the domain: a user with a session and no site yet. */
export async function account(): Promise<Account> {
  const email = freshEmail();
  const opened = await signups.signup({ email, password, name: "Ada" });
  const { user, organization, token } = opened;
  const caller: Caller = {
    orgId: organization.id,
    plan: organization.plan,
    kind: "session",
    userId: user.id,
    scopes: ["*"],
    sessionHash: sha256(token),
  };
  return { email, password, token, caller, opened };
}

/** A login of a user who has no second factor. */
export async function loggedIn(given: { email: string; password: string }, address: string): Promise<Opened> {
  const opened = await accounts.login(given, address);
  if ("mfaRequired" in opened) throw new Error("The login waits for a second factor");
  return opened;
}
