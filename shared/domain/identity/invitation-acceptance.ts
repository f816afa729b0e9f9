// Accepts an invitation: the invited user becomes a member, with a new account if the address has
// none.
import * as z from "zod";
import { any, equals, exists, isNew, present } from "../../adapters/dynamodb/conditions.ts";
import { get, put, remove, update, type Write, write } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import { conflict, invalid, unauthenticated } from "../../errors.ts";
import { type AccountEvent, reportAccountEvent } from "../../kernel/account-events.ts";
import * as records from "../../kernel/records.ts";
import { queueNotice } from "../../kernel/security-notices.ts";
import { keys, sha256 } from "../../keys.ts";
import { type LoginRecord, type OpenedSession, prepareUser, type User } from "./accounts.ts";
import * as attemptLimits from "./attempt-limits.ts";
import { findOpen, invalidToken, type OpenInvitation } from "./invitation-links.ts";
import { alreadyMember } from "./invitations.ts";
import * as members from "./members.ts";
import * as loginChallenges from "./mfa/login-challenges.ts";
import * as organizations from "./organizations.ts";
import * as passwords from "./passwords.ts";
import * as sessions from "./sessions.ts";
import { requiresSso, ssoRequired } from "./sso/enforcement.ts";
import { listOrganizations, maxOrganizationsOfUser } from "./user-organizations.ts";

export const Acceptance = z
  .object({
    token: z.string().min(1).max(200).describe("Token of the mailed link."),
    password: passwords.PasswordInput.describe(
      "If the address has an account, its password. Otherwise the password of the new account: " +
        passwords.newPasswordRule,
    ),
    name: members.NameOfUser.optional().describe("Name of a new user."),
  })
  .meta({
    examples: [{ token: "V2hhdCB0aGUgbWFpbCBsaW5rcyB0bw", password: "a long pass phrase" }],
  });
export type Acceptance = z.output<typeof Acceptance>;

/**
 * Makes the invited user a member and opens a session in the organization. An address without an
 * account gets one. A user with a second factor gets a challenge, and POST /mfa/verify accepts the
 * invitation. Throws 400 `invalid_token`, and 401 for a wrong password, which counts as a failed
 * login.
 */
export async function accept(
  { token, password, name = null }: Acceptance,
  client: sessions.SessionClient,
): Promise<OpenedSession | loginChallenges.IssuedChallenge> {
  const tokenHash = sha256(token);
  const limits = [attemptLimits.clientLimit(client.address)];
  const accepted = await attemptLimits.withAttemptLimits(limits, async () => {
    const open = await findOpen(tokenHash);
    if (!open) throw invalidToken();
    const { email } = open.stored;
    if (!(await get<LoginRecord>(keys.user(email))))
      return acceptAsNewUser(open, { password, name, client });
    return attemptLimits.withAttemptLimits([attemptLimits.accountLimit(email)], async () => {
      const login = await get<LoginRecord>(keys.user(email));
      const event = {
        action: "acceptInvitation",
        orgId: open.orgId,
        userId: login?.userId ?? null,
      };
      reportAccountEvent({ ...event, outcome: "failed" });
      if (!login || !(await passwords.verifyPassword(password, login.password))) return undefined;
      const challenge = await loginChallenges.createChallenge(login, email, tokenHash);
      if (challenge) reportAccountEvent({ ...event, outcome: "second_factor_required" });
      if (challenge) return challenge;
      const { opened, writes, acceptance } = await prepareAcceptance(tokenHash, login, client);
      await write(...writes);
      reportAccountEvent({ ...acceptance, action: "acceptInvitation" });
      return opened;
    });
  });
  if (!accepted) throw unauthenticated();
  if ("organization" in accepted) {
    const { organization, user } = accepted;
    await queueNotice("member_joined", { orgId: organization.id, recordId: user.id });
  }
  return accepted;
}

interface NewUser {
  password: string;
  name: string | null;
  client: sessions.SessionClient;
}

async function acceptAsNewUser(
  open: OpenInvitation,
  { password, name, client }: NewUser,
): Promise<OpenedSession> {
  const checked = passwords.NewPassword.safeParse(password);
  if (!checked.success) {
    const { message } = checked.error.issues[0]!;
    throw invalid(`password: ${message}`, { details: [{ path: "password", message }] });
  }
  const { orgId, stored } = open;
  const organization = await organizations.find(orgId);
  if (requiresSso(organization, stored)) throw ssoRequired(orgId);
  passwords.requireStrongPassword(password, { known: [stored.email, name, organization.name] });
  const hash = await passwords.hashPassword(password);
  const { user, login, writes } = await prepareUser({
    orgId,
    email: stored.email,
    name,
    password: hash,
    access: stored,
  });
  const session = sessions.prepareSession(login, { client });
  await write(...writes, ...joinWrites(open), ...session.writes);
  reportAccountEvent({
    ...{ action: "acceptInvitation", orgId, userId: user.id },
    ...{ outcome: "done", invitationId: stored.id },
  });
  const { token } = session;
  const own = { id: orgId, name: organization.name, role: stored.role, requiresSso: false };
  return { user, organization, token, organizations: [own] };
}

/** Ends the invitation. It already counts as a member, so only the count of owners changes. */
export const joinWrites = ({ orgId, stored, tokenHash }: OpenInvitation): Write[] => [
  ...records.removeWrites(
    "INVITATION",
    { orgId },
    { id: stored.id, condition: { if: exists, orThrow: invalidToken() } },
  ),
  remove(keys.invitedAddress(orgId, stored.email)),
  ...(tokenHash === undefined
    ? []
    : [remove(keys.invitationToken(tokenHash), { if: exists, orThrow: invalidToken() })]),
  ...members.countTeamWrites(orgId, { owners: Number(stored.role === "owner") }),
];

/**
 * The session and the writes that accept an invitation for a user who has proven the password, and
 * the event to report after them.
 * Throws 400 `invalid_token`, 409 for a member.
 */
export async function prepareAcceptance(
  tokenHash: string,
  login: LoginRecord,
  client: sessions.SessionClient,
): Promise<{ opened: OpenedSession; writes: Write[]; acceptance: Omit<AccountEvent, "action"> }> {
  const open = await findOpen(tokenHash);
  if (!open) throw invalidToken();
  const { orgId, stored } = open;
  const { email } = stored;
  const [profile, organization, others] = await Promise.all([
    get<User>(keys.member(login.orgId, login.userId)),
    organizations.find(orgId),
    listOrganizations(login),
  ]);
  if (!profile) throw unauthenticated();
  if (others.length >= maxOrganizationsOfUser)
    throw conflict(`A user can be a member of at most ${maxOrganizationsOfUser} organizations`, {
      code: "too_many",
    });
  const at = now().toISOString();
  const user: User = { ...profile, email, createdAt: at, updatedAt: at };
  const isHome = orgId === login.orgId;
  const { set, remove: removed } = members.accessChanges(stored);
  const { id, name } = user;
  const { token, writes } = sessions.prepareSession(login, { orgId, client });
  const item = { id, email, name, createdAt: at, updatedAt: at, ...set };
  const { role } = stored;
  const requires = requiresSso(organization, stored);
  const joined = { id: orgId, name: organization.name, role, requiresSso: requires };
  return {
    opened: { user, organization, token, organizations: [...others, joined] },
    acceptance: { orgId, userId: id, outcome: "done", invitationId: stored.id },
    writes: [
      update(
        keys.member(orgId, id),
        {
          set: { ...item, ...(!isHome && { homeOrgId: login.orgId }) },
          remove: [...removed, "leftAt", "ssoIdentity"],
        },
        { if: any(isNew, present("leftAt")), orThrow: alreadyMember() },
      ),
      ...(isHome ? [] : [put(keys.userOrganization(login.orgId, id, orgId), {})]),
      update(
        keys.user(email),
        { set: { lastOrgId: orgId }, remove: ["unverified"] },
        { if: equals("password", login.password), orThrow: unauthenticated() },
      ),
      ...(login.unverified ? [organizations.verifiedWrite(login.orgId)] : []),
      ...joinWrites(open),
      ...writes,
    ],
  };
}
