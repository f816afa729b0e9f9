// Members of test organizations.

import type { Caller } from "../../shared/caller.ts";
import type { OpenedSession } from "../../shared/domain/identity/accounts.ts";
import * as invitationAcceptance from "../../shared/domain/identity/invitation-acceptance.ts";
import * as invitationLinks from "../../shared/domain/identity/invitation-links.ts";
import * as invitations from "../../shared/domain/identity/invitations.ts";
import { authenticate, sessionCookieName } from "../../shared/http/authenticate.ts";
import type { RoleName } from "../../shared/rights.ts";
import { password, uniqueEmail } from "./accounts.ts";

export const client = { address: "192.0.2.77", userAgent: "Test/1.0" };

interface InvitedMember {
  role: RoleName;
  siteIds?: number[] | null;
  /** Default: a new address. */
  email?: string;
}

/** Invites somebody. Returns the token of the mailed link. */
export async function invite(
  caller: Caller,
  { role, siteIds = null, email = uniqueEmail() }: InvitedMember,
): Promise<{ id: number; email: string; token: string }> {
  const { id } = await invitations.create(caller, { email, role, siteIds });
  const { token } = (await invitationLinks.createToken(caller.orgId, id))!;
  return { id, email, token };
}

/** Accepts an invitation without a second factor. */
export async function accept(token: string, secret = password): Promise<OpenedSession> {
  const accepted = await invitationAcceptance.accept({ token, password: secret }, client);
  if ("mfaRequired" in accepted) throw new Error("The acceptance waits for a second factor");
  return accepted;
}

export interface TestMember {
  email: string;
  userId: number;
  /** The value of the session cookie. */
  token: string;
  caller: Caller;
}

/** Adds a member through an invitation. */
export async function addMember(owner: Caller, member: InvitedMember): Promise<TestMember> {
  const { email, token } = await invite(owner, member);
  const opened = await accept(token);
  return { email, userId: opened.user.id, token: opened.token, caller: await callerOf(opened) };
}

/** The caller that the edge makes of a session. */
export async function callerOf({
  token,
  organization,
}: Pick<OpenedSession, "token" | "organization">): Promise<Caller> {
  const request = { headers: {}, cookies: { [sessionCookieName]: token } };
  return { ...(await authenticate(request, "GET")), plan: organization.plan };
}
