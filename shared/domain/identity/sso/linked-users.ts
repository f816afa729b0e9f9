// Finds, links or creates the user of a login with single sign-on. An owner may control the
// provider and forge every claim, so a claimed address counts only within the domains that the
// organization holds, and never reaches an account outside of the organization.
import { absent, all, equals, exists } from "../../../adapters/dynamodb/conditions.ts";
import { get, put, remove, update, type Write, write } from "../../../adapters/dynamodb/table.ts";
import type { ProviderClaims } from "../../../adapters/oidc/provider.ts";
import type { Caller } from "../../../caller.ts";
import { conflict, forbidden, missing } from "../../../errors.ts";
import { randomBase62 } from "../../../ids.ts";
import { domainOf, EmailAddress } from "../../../kernel/email-fields.ts";
import { keys, sha256 } from "../../../keys.ts";
import { type LoginRecord, prepareUser } from "../accounts.ts";
import { getDomainHolder } from "../domain-holders.ts";
import * as invitationAcceptance from "../invitation-acceptance.ts";
import * as invitationLinks from "../invitation-links.ts";
import * as members from "../members.ts";
import * as organizations from "../organizations.ts";
import { hashPassword } from "../passwords.ts";
import * as sessions from "../sessions.ts";
import type { SsoItem } from "./settings.ts";

export const failed = (reason: string, cause?: unknown) =>
  forbidden(reason, { code: "sso_failed", cause });
export const startAgain = () =>
  failed("The login was started in another browser or took longer than 10 minutes: start again");

/** A login whose claims are verified, and the browser that makes it. */
export interface VerifiedLogin {
  orgId: number;
  settings: SsoItem;
  claims: ProviderClaims;
  client: sessions.SessionClient;
}

/** The user of the login, and the writes that link the user. */
interface LinkedUser {
  key: sessions.UserKey;
  writes: Write[];
  /** The writes add the user to the organization. */
  joins?: true;
  /** The invitation that the writes accept. */
  invitationId?: number | undefined;
}

interface LinkItem {
  userId: number;
}

/** The account at the provider: its issuer, as the id of the set-up, and the hash of `sub`. */
const identityOf = ({ settings, claims }: VerifiedLogin): string =>
  `${settings.providerId}#${sha256(claims.subject)}`;

/** The member to whom the provider's account is linked, whatever its address is now. */
export async function findLinked(login: VerifiedLogin): Promise<LinkedUser | undefined> {
  const { orgId } = login;
  const identity = identityOf(login);
  const link = await get<LinkItem>(keys.ssoIdentity(orgId, identity));
  const member = link && (await members.getMember(orgId, link.userId));
  return member?.ssoIdentity === identity
    ? { key: userKeyOfMember(orgId, member), writes: [] }
    : undefined;
}

const userKeyOfMember = (orgId: number, { id, homeOrgId }: members.MemberItem) =>
  members.userKeyOf({ orgId, homeOrgId, userId: id });

/** Links the provider's account to the member with its address, or to a new user. */
export async function linkUser(login: VerifiedLogin): Promise<LinkedUser> {
  const { orgId } = login;
  const email = await provenAddress(login);
  const account = await get<LoginRecord>(keys.user(email));
  const user = account
    ? await linkMember(login, { email, userId: account.userId })
    : await createUser(login, email);
  const link: LinkItem = { userId: user.key.userId };
  return {
    ...user,
    writes: [...user.writes, put(keys.ssoIdentity(orgId, identityOf(login)), link)],
  };
}

/** Throws 403 `sso_failed` unless the claims prove an address in the organization's domains. */
async function provenAddress({ orgId, settings, claims }: VerifiedLogin): Promise<string> {
  const { success, data: email } = EmailAddress.safeParse(claims.email);
  if (!success) throw failed("The provider names no email address: let it send the claim `email`");
  // Some providers send texts instead of booleans.
  const verified = claims.emailVerified === undefined ? undefined : `${claims.emailVerified}`;
  if (verified !== "true" && (verified !== undefined || settings.requireVerifiedEmail))
    throw failed(`The provider has not verified ${email} (\`email_verified\` is not true)`);
  const domain = domainOf(email);
  if (!settings.domains.includes(domain))
    throw failed(`${email} is outside of the domains ${settings.domains.join(", ")}`);
  requireWorkspace({ settings, claims });
  if ((await getDomainHolder(domain)) !== orgId)
    throw failed(`${domain} is no longer a verified domain of the organization`);
  return email;
}

interface WorkspaceLogin {
  settings: Pick<SsoItem, "issuer" | "domains">;
  claims: Pick<ProviderClaims, "hostedDomain">;
}

/**
 * Anybody can open a Google account with an address elsewhere, and keep it after leaving. Only
 * accounts of Google Workspace have the claim `hd`.
 */
export function requireWorkspace({ settings, claims }: WorkspaceLogin): void {
  if (settings.issuer !== googleIssuer) return;
  const domain = typeof claims.hostedDomain === "string" ? claims.hostedDomain.toLowerCase() : "";
  if (!settings.domains.includes(domain))
    throw failed(
      `The Google account belongs to ${domain || "no Google Workspace"}, not to one of the ` +
        "domains of the single sign-on",
    );
}
const googleIssuer = "https://accounts.google.com";

async function linkMember(
  login: VerifiedLogin,
  { email, userId }: { email: string; userId: number },
): Promise<LinkedUser> {
  const { orgId, settings } = login;
  const member = await members.getMember(orgId, userId);
  // Somebody else may have made the account, so an invitation and its password must prove it.
  if (!member)
    throw failed(
      `${email} has an account that is not a member of the organization: ask for an invitation, ` +
        "and accept it with the password of the account",
    );
  const { ssoIdentity } = member;
  // The provider may have given the address to another person.
  if (ssoIdentity?.startsWith(`${settings.providerId}#`))
    throw failed(
      `${email} is linked to another account of the provider: an owner can remove the link with ` +
        `DELETE /sso/links/${member.id}`,
    );
  const isUnchanged =
    ssoIdentity === undefined ? absent("ssoIdentity") : equals("ssoIdentity", ssoIdentity);
  return {
    key: userKeyOfMember(orgId, member),
    writes: [
      update(
        keys.member(orgId, userId),
        { set: { ssoIdentity: identityOf(login) } },
        { if: all(exists, absent("leftAt"), isUnchanged), orThrow: startAgain() },
      ),
    ],
  };
}

/**
 * Removes the link of a member to an account at the provider, and the member's sessions of single
 * sign-on. The next login with the address links another account. Throws 404.
 */
export async function unlink({ orgId }: Pick<Caller, "orgId">, memberId: number): Promise<void> {
  const member = await members.getMember(orgId, memberId);
  if (member?.ssoIdentity === undefined) throw missing("The member has no link to a provider");
  // Ends the sessions before and after, so that none survives a crash in between.
  const user = userKeyOfMember(orgId, member);
  await sessions.endSsoSessions(user, orgId);
  await write(
    update(
      keys.member(orgId, memberId),
      { remove: ["ssoIdentity"] },
      {
        if: equals("ssoIdentity", member.ssoIdentity),
        orThrow: conflict("The link was changed by another request: try again"),
      },
    ),
    remove(keys.ssoIdentity(orgId, member.ssoIdentity)),
  );
  await sessions.endSsoSessions(user, orgId);
}

/** Accepts the open invitation of the address, or adds a user with the default role. */
async function createUser(login: VerifiedLogin, email: string): Promise<LinkedUser> {
  const { orgId, settings, claims } = login;
  const invitation = await invitationLinks.findOpenByAddress(orgId, email);
  const access = invitation?.stored ?? defaultAccess(settings);
  await requireVerified(orgId);
  if (!access) throw failed(`${email} is not a member of the organization: ask for an invitation`);
  const { login: record, writes } = await prepareUser({
    orgId,
    email,
    name: members.NameOfUser.safeParse(claims.name).data ?? null,
    // The user does not know this password, and can set another one with a mailed link.
    password: await hashPassword(randomBase62(43)),
    access,
    ssoIdentity: identityOf(login),
  });
  const joinWrites = invitation
    ? invitationAcceptance.joinWrites(invitation)
    : members.countTeamWrites(orgId, { members: 1 });
  const invitationId = invitation?.stored.id;
  return { key: record, writes: [...writes, ...joinWrites], joins: true, invitationId };
}

/** An organization whose owner is not proven gets no members. */
async function requireVerified(orgId: number): Promise<void> {
  const { unverified } = await organizations.find(orgId);
  if (unverified) throw failed("The owner of the organization has not verified the email address");
}

const defaultAccess = ({ defaultRole }: SsoItem): members.MemberAccess | undefined =>
  defaultRole === null ? undefined : { role: defaultRole, siteIds: null };
