// Invitations to an organization. The mailed link has a token, and the table its hash. An open
// invitation is one record, which acceptance and revocation delete, so it works once.
import * as z from "zod";
import { any, equals, exists, isNew, present } from "../../adapters/dynamodb/conditions.ts";
import {
  get,
  put,
  remove,
  update,
  updateReturning,
  type Write,
  write,
} from "../../adapters/dynamodb/table.ts";
import { type Caller, requireSitesAccess } from "../../caller.ts";
import { addSeconds, epochSeconds, now } from "../../clock.ts";
import { config } from "../../config.ts";
import { conflict, invalid, unauthenticated, unavailable } from "../../errors.ts";
import { randomBase62 } from "../../ids.ts";
import { type AccountEvent, reportAccountEvent } from "../../kernel/account-events.ts";
import { domainOf, EmailAddress } from "../../kernel/email-fields.ts";
import type { PageRequest, Pagination } from "../../kernel/paging.ts";
import { CreatedAt, RecordId, Timestamp, UpdatedAt } from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import { queueSystemMail } from "../../kernel/system-mail-queue.ts";
import { keys, sha256 } from "../../keys.ts";
import { type LoginRecord, type OpenedSession, prepareUser, type User } from "./accounts.ts";
import * as attempts from "./attempt-limits.ts";
import * as members from "./members.ts";
import * as challenges from "./mfa/login-challenges.ts";
import * as organizations from "./organizations.ts";
import * as passwords from "./passwords.ts";
import * as sessions from "./sessions.ts";
import { loginUrlOf, requiresSso, ssoRequired } from "./sso/enforcement.ts";
import { getSettings } from "./sso/settings.ts";
import { listOrganizations, maxOrganizationsOfUser } from "./user-organizations.ts";

export const Invitation = z
  .object({
    id: RecordId.describe("Id of the invitation."),
    email: z.string().describe("Address that the invitation was mailed to."),
    role: members.RoleOfMember,
    siteIds: members.SitesOfMember,
    status: z
      .enum(["open", "expired"])
      .describe("`expired`: the link is older than 7 days. Resend the invitation or revoke it."),
    expiresAt: Timestamp.describe("When the link of the last mail expires."),
    invitedBy: members.NamedUser.describe("The member who created the invitation."),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "Invitation" });
export type Invitation = z.output<typeof Invitation>;

export const NewInvitation = z
  .object({
    email: EmailAddress.describe("Address to invite."),
    role: members.RoleOfMember,
    siteIds: members.SitesOfMember.default(null).describe(
      "Ids of the only sites that the member can access. `null`: all sites that you can access. " +
        "Owners always access all sites.",
    ),
  })
  .meta({ examples: [{ email: "bob@shop.example", role: "marketer" }] });
export type NewInvitation = z.output<typeof NewInvitation>;

type StoredInvitation = Omit<Invitation, "status">;

const toApi = (stored: StoredInvitation): Invitation => ({
  ...stored,
  status: isExpired(stored) ? "expired" : "open",
});
const isExpired = ({ expiresAt }: StoredInvitation): boolean => expiresAt <= now().toISOString();

const ttlSeconds = 7 * 24 * 3600;
const expiryOf = () => addSeconds(ttlSeconds).toISOString();

/**
 * Stores the invitation and mails it. Throws 403 for a role with rights that the caller does not
 * have, 409 for a member or an invited address, 429 after five mails to the address in 15 minutes
 * or 100 of the organization in an hour.
 */
export async function create(caller: Caller, input: NewInvitation): Promise<Invitation> {
  const { email, role } = input;
  const { orgId, userId } = caller;
  const siteIds = input.siteIds ?? (caller.siteIds ? [...caller.siteIds] : null);
  members.requireGrantable(caller, role);
  requireSitesAccess(caller, siteIds);
  requireSystemSender();
  const [inviter, login] = await Promise.all([
    members.getMember(orgId, userId),
    get<LoginRecord>(keys.user(email)),
  ]);
  if (!inviter) throw unauthenticated();
  if (login && (await members.getMember(orgId, login.userId))) throw alreadyMember();
  await attempts.countInvitation(orgId, email);
  const record: StoredInvitation = {
    ...(await records.newRecordFields("INVITATION")),
    email,
    role,
    siteIds: siteIds && [...new Set(siteIds)],
    expiresAt: expiryOf(),
    invitedBy: { id: inviter.id, email: inviter.email },
  };
  const alreadyInvited = conflict("The address is already invited: resend the invitation", {
    code: "invitation_exists",
    details: [{ path: "email", message: "is already invited" }],
  });
  const stored = await records.insert("INVITATION", caller, {
    record,
    extraWrites: [
      put(keys.invitedAddress(orgId, email), { id: record.id }, { ifAbsent: alreadyInvited }),
      ...members.countTeamWrites(orgId, { members: 1 }),
      ...members.siteChecks(orgId, { role, siteIds }),
    ],
  });
  await queueSystemMail({ mail: "invitation", orgId, invitationId: stored.id });
  return toApi(stored);
}

function requireSystemSender(): void {
  if (!config.systemSender)
    throw unavailable("The setting SYSTEM_SENDER is missing, so the invitation cannot be mailed");
}

const alreadyMember = () =>
  conflict("The user is already a member of the organization", { code: "already_member" });

/**
 * Newest first. A caller who is limited to sites sees the invitations to one of these, but not
 * those to all sites.
 */
export async function list(
  caller: Caller,
  request: PageRequest,
): Promise<{ items: Invitation[]; pagination: Pagination }> {
  const isOfOwnSite = caller.siteIds && any(...caller.siteIds.map(members.includesSite));
  const { items, pagination } = await records.list<StoredInvitation>("INVITATION", caller, {
    ...request,
    filter: isOfOwnSite,
  });
  return { items: items.map(toApi), pagination };
}

export const find = async (caller: Caller, id: number): Promise<Invitation> =>
  toApi(await findStored(caller, id));

/** Throws 404, or 403 for an invitation to further sites than those of the caller. */
async function findStored(caller: Caller, id: number): Promise<StoredInvitation> {
  const stored = await records.find<StoredInvitation>("INVITATION", caller, id);
  requireSitesAccess(caller, stored.siteIds);
  return stored;
}

/** Mails a new link that works for 7 days. Earlier links work until they expire. */
export async function resend(caller: Caller, id: number): Promise<Invitation> {
  const stored = await findStored(caller, id);
  members.requireGrantable(caller, stored.role);
  requireSystemSender();
  await attempts.countInvitation(caller.orgId, stored.email);
  const resent = await updateReturning<StoredInvitation>(
    records.updateWrite("INVITATION", caller, { id, set: { expiresAt: expiryOf() } }),
  );
  await queueSystemMail({ mail: "invitation", orgId: caller.orgId, invitationId: id });
  return toApi(resent ?? stored);
}

/** Deletes the invitation. Its link no longer works. */
export async function revoke(caller: Caller, id: number): Promise<void> {
  const stored = await findStored(caller, id);
  members.requireGrantable(caller, stored.role);
  await write(
    ...endWrites(caller.orgId, stored),
    ...members.countTeamWrites(caller.orgId, { members: -1 }),
  );
}

/** Deletes the record, whichever of its links was used. */
const endWrites = (orgId: number, { id, email }: StoredInvitation): Write[] => [
  ...records.removeWrites("INVITATION", { orgId }, { id }),
  remove(keys.invitedAddress(orgId, email)),
];

interface InvitationToken {
  orgId: number;
  id: number;
  expires: number;
}

/** What the mail of an invitation shows. */
export interface InvitationView {
  email: string;
  organizationName: string;
  invitedBy: string;
}

/**
 * Creates a token for the link of a mail. Undefined if the invitation was revoked, accepted or has
 * expired.
 */
export async function createToken(
  orgId: number,
  id: number,
): Promise<(InvitationView & { token: string }) | undefined> {
  const stored = await get<StoredInvitation>(keys.record(orgId, "INVITATION", id));
  if (!stored || isExpired(stored)) return undefined;
  const token = randomBase62(43);
  const expires = epochSeconds(new Date(stored.expiresAt));
  const item: InvitationToken = { orgId, id, expires };
  await write(put(keys.invitationToken(sha256(token)), item));
  return { ...(await toView(orgId, stored)), token };
}

async function toView(orgId: number, stored: StoredInvitation): Promise<InvitationView> {
  const { name } = await organizations.find(orgId);
  return { email: stored.email, organizationName: name, invitedBy: stored.invitedBy.email };
}

export interface OpenInvitation {
  orgId: number;
  stored: StoredInvitation;
  /** Undefined: accepted without the mailed link. */
  tokenHash?: string;
}

/** Undefined if the token was used, was revoked, has expired or never existed. */
async function findOpen(tokenHash: string): Promise<OpenInvitation | undefined> {
  const item = await get<InvitationToken>(keys.invitationToken(tokenHash));
  if (!item || item.expires <= epochSeconds()) return undefined;
  const { orgId, id } = item;
  const stored = await get<StoredInvitation>(keys.record(orgId, "INVITATION", id));
  return stored && { orgId, stored, tokenHash };
}

/** The open invitation of an address. The caller must have proven the address. */
export async function findOpenByAddress(
  orgId: number,
  email: string,
): Promise<OpenInvitation | undefined> {
  const pointer = await get<{ id: number }>(keys.invitedAddress(orgId, email));
  const stored =
    pointer && (await get<StoredInvitation>(keys.record(orgId, "INVITATION", pointer.id)));
  return stored && !isExpired(stored) ? { orgId, stored } : undefined;
}

export const InvitationPreview = z
  .object({
    organizationName: z.string().describe("Name of the organization."),
    email: Invitation.shape.email,
    invitedBy: z.string().describe("Email address of the member who created the invitation."),
    role: members.RoleOfMember,
    hasAccount: z
      .boolean()
      .describe("Whether the address has an account. Then its password accepts the invitation."),
    requiresSso: z
      .boolean()
      .describe(
        "Whether the organization requires single sign-on of the address. A user without an " +
          "account then accepts the invitation by logging in at `ssoUrl`.",
      ),
    ssoUrl: z
      .string()
      .nullable()
      .describe(
        "URL at which the address can use single sign-on. Open it in a browser. `null`: none.",
      ),
    expiresAt: Invitation.shape.expiresAt,
  })
  .meta({ id: "InvitationPreview" });
export type InvitationPreview = z.output<typeof InvitationPreview>;

/** What the holder of a token may see. Does not use up the token. Undefined for an invalid one. */
export async function findByToken(token: string): Promise<InvitationPreview | undefined> {
  const open = await findOpen(sha256(token));
  if (!open) return undefined;
  const { orgId, stored } = open;
  const { email, role, invitedBy, expiresAt } = stored;
  const [organization, login, sso] = await Promise.all([
    organizations.find(orgId),
    get<LoginRecord>(keys.user(email)),
    getSettings(orgId),
  ]);
  return {
    organizationName: organization.name,
    email,
    invitedBy: invitedBy.email,
    role,
    hasAccount: login !== undefined,
    requiresSso: requiresSso(organization, stored),
    ssoUrl: sso?.domains.includes(domainOf(email)) ? loginUrlOf(orgId) : null,
    expiresAt,
  };
}

/** Like `findByToken`. Throws 400 `invalid_token`. */
export async function preview(token: string): Promise<InvitationPreview> {
  const found = await findByToken(token);
  if (!found) throw invalidToken();
  return found;
}

export const Acceptance = z
  .object({
    token: z.string().min(1).max(200).describe("Token of the mailed link."),
    password: passwords.PasswordInput.describe(
      "If the address has an account, its password. Otherwise the password of the new account: 8 " +
        "to 200 characters, none of the most common passwords.",
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
): Promise<OpenedSession | challenges.IssuedChallenge> {
  const tokenHash = sha256(token);
  const limits = [attempts.clientLimit(client.address)];
  const accepted = await attempts.withAttemptLimits(limits, async () => {
    const open = await findOpen(tokenHash);
    if (!open) throw invalidToken();
    const { email } = open.stored;
    if (!(await get<LoginRecord>(keys.user(email))))
      return acceptAsNewUser(open, { password, name, client });
    return attempts.withAttemptLimits([attempts.accountLimit(email)], async () => {
      const login = await get<LoginRecord>(keys.user(email));
      const event = {
        action: "acceptInvitation",
        orgId: open.orgId,
        userId: login?.userId ?? null,
      };
      reportAccountEvent({ ...event, outcome: "failed" });
      if (!login || !(await passwords.verifyPassword(password, login.password))) return undefined;
      const challenge = await challenges.createChallenge(login, email, tokenHash);
      if (challenge) reportAccountEvent({ ...event, outcome: "second_factor_required" });
      if (challenge) return challenge;
      const { opened, writes, acceptance } = await prepareAcceptance(tokenHash, login, client);
      await write(...writes);
      reportAccountEvent({ ...acceptance, action: "acceptInvitation" });
      return opened;
    });
  });
  if (!accepted) throw unauthenticated();
  return accepted;
}

const invalidToken = () =>
  invalid("The invitation was accepted, revoked or has expired: ask for a new one", {
    code: "invalid_token",
    details: [{ path: "token", message: "is no longer valid" }],
  });

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
