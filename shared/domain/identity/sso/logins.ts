// Logins with single sign-on. The provider of an organization opens sessions of that organization
// only, for members and, if the organization wants it, for new users. An owner may control the
// provider and forge every claim, so a claimed address counts only within the domains that the
// organization holds, and never reaches an account outside of the organization.
import { absent, all, equals, exists } from "../../../adapters/dynamodb/conditions.ts";
import {
  checkCondition,
  get,
  put,
  remove,
  transact,
  update,
  type Write,
  write,
} from "../../../adapters/dynamodb/table.ts";
import {
  createLoginUrl,
  exchangeCode,
  type LoginSecrets,
  type ProviderClaims,
  ProviderError,
} from "../../../adapters/oidc/provider.ts";
import type { Caller } from "../../../caller.ts";
import { addSeconds, epochSeconds, now } from "../../../clock.ts";
import { config } from "../../../config.ts";
import { conflict, forbidden, missing, Problem } from "../../../errors.ts";
import { randomBase62 } from "../../../ids.ts";
import { reportAccountEvent } from "../../../kernel/account-events.ts";
import { domainOf, EmailAddress } from "../../../kernel/email-fields.ts";
import { createSealer, openToken } from "../../../kernel/sealed-tokens.ts";
import { keys, sha256 } from "../../../keys.ts";
import { getProfile, type LoginRecord, type OpenedSession, prepareUser } from "../accounts.ts";
import { getDomainHolder } from "../domain-holders.ts";
import * as invitations from "../invitations.ts";
import * as members from "../members.ts";
import * as organizations from "../organizations.ts";
import { hashPassword } from "../passwords.ts";
import * as sessions from "../sessions.ts";
import { listOrganizations } from "../user-organizations.ts";
import { getSettings, providerClientOf, requireSettings, type SsoItem } from "./settings.ts";

export const loginTtlSeconds = 600;
/** A user who is removed at the provider loses access after this time. */
export const ssoSessionSeconds = 24 * 3600;

export interface StartedLogin {
  /** Where the browser goes. */
  url: string;
  /** For a cookie of the browser: the login only ends in the browser in which it started. */
  pending: string;
}

interface LoginStart {
  orgId: number;
  /** The provider may fill in this address. */
  email?: string | undefined;
  /** Path on this service to go to after the login. */
  returnTo: string;
}

/** The organization whose single sign-on serves the address. Throws 404. */
export async function findOrganizationOf(email: string): Promise<number> {
  const domain = domainOf(email);
  const holder = await getDomainHolder(domain);
  const settings = holder === undefined ? undefined : await getSettings(holder);
  if (holder === undefined || !settings?.domains.includes(domain))
    throw missing(`No organization has single sign-on for addresses at ${domain}`);
  return holder;
}

/** Throws 404 if the organization has no single sign-on, 403 `sso_failed` if its provider fails. */
export async function startLogin({ orgId, email, returnTo }: LoginStart): Promise<StartedLogin> {
  const settings = await requireSettings(orgId);
  const secrets: LoginSecrets = {
    state: randomBase62(32),
    nonce: randomBase62(32),
    codeVerifier: randomBase62(64),
  };
  const client = await providerClientOf(orgId, settings);
  const url = await createLoginUrl(client, secrets, email).catch(throwFailed);
  const seal = await createSealer("sso");
  const { state, nonce, codeVerifier } = secrets;
  const expires = epochSeconds(addSeconds(loginTtlSeconds));
  const goal = sameOriginUrl(returnTo);
  const content = [orgId, settings.providerId, state, nonce, codeVerifier, goal, expires];
  return { url, pending: seal(content) };
}

const maxGoalLength = 300;

/** The URL of a path on this service. The console for everything that could lead elsewhere. */
function sameOriginUrl(path: string): string {
  const { origin } = new URL(config.publicUrl);
  const url = path.startsWith("/") ? URL.parse(path, origin) : null;
  return url?.origin === origin && url.href.length <= maxGoalLength ? url.href : `${origin}/app`;
}

interface LoginResponse {
  /** The organization in the path of the redirect URI. */
  orgId: number;
  /** The value of the cookie. */
  pending: string | undefined;
  /** The query of the provider's redirect. */
  query: string;
}

/**
 * Ends a login: exchanges the code, finds or creates the user, and opens a session that is limited
 * to the organization. Throws 403 `sso_failed` with the reason in words.
 */
export async function completeLogin(
  { orgId, pending, query }: LoginResponse,
  client: sessions.SessionClient,
): Promise<{ opened: OpenedSession; returnTo: string }> {
  const login = await openPending(orgId, pending, query);
  const settings = await getSettings(orgId);
  if (settings?.providerId !== login.providerId) throw startAgain();
  try {
    const provider = await providerClientOf(orgId, settings);
    const claims = await exchangeCode(provider, login.secrets, query).catch(throwFailed);
    const opened = await openSession({ orgId, settings, claims, client });
    return { opened, returnTo: login.returnTo };
  } catch (error) {
    reportAccountEvent({ action: "receiveSsoLogin", orgId, userId: null, outcome: "failed" });
    if (error instanceof Problem) await recordFailure(orgId, settings, error.message);
    throw error;
  }
}

interface PendingLogin {
  providerId: string;
  secrets: LoginSecrets;
  returnTo: string;
}

/** Throws 403 unless this browser started the login less than 10 minutes ago. */
async function openPending(
  orgId: number,
  pending: string | undefined,
  query: string,
): Promise<PendingLogin> {
  const content = pending === undefined ? undefined : await openToken("sso", pending);
  if (!content) throw startAgain();
  const [startedAt, providerId, state, nonce, codeVerifier, returnTo, expires] = content;
  const isValid =
    startedAt === orgId &&
    Number(expires) > epochSeconds() &&
    new URLSearchParams(query).get("state") === state;
  if (!isValid) throw startAgain();
  return {
    providerId: String(providerId),
    secrets: { state: String(state), nonce: String(nonce), codeVerifier: String(codeVerifier) },
    returnTo: String(returnTo),
  };
}

const failed = (reason: string, cause?: unknown) =>
  forbidden(reason, { code: "sso_failed", cause });
const startAgain = () =>
  failed("The login was started in another browser or took longer than 10 minutes: start again");

function throwFailed(error: unknown): never {
  throw error instanceof ProviderError ? failed(error.message) : error;
}

/** A login whose claims are verified, and the browser that makes it. */
interface VerifiedLogin {
  orgId: number;
  settings: SsoItem;
  claims: ProviderClaims;
  client: sessions.SessionClient;
}

async function openSession(login: VerifiedLogin): Promise<OpenedSession> {
  const { orgId, settings, client } = login;
  const { providerId } = settings;
  const user = (await findLinked(login)) ?? (await linkUser(login));
  const { token, writes } = sessions.prepareSession(user.key, {
    orgId,
    client,
    expires: epochSeconds(addSeconds(ssoSessionSeconds)),
    providerId,
  });
  await write(...writes, ...user.writes, providerWrite(orgId, settings));
  const { invitationId } = user;
  const { userId } = user.key;
  const event = { action: "receiveSsoLogin", orgId, userId, outcome: "done" as const };
  reportAccountEvent({ ...event, invitationId });
  const [profile, organizations] = await Promise.all([
    getProfile({ orgId, userId }),
    listOrganizations(user.key, orgId),
  ]);
  return { ...profile, token, organizations };
}

/** Fails if the provider changed meanwhile. Its first login verifies the settings. */
function providerWrite(orgId: number, { providerId, verifiedAt }: SsoItem): Write {
  const unchanged = equals("providerId", providerId);
  if (verifiedAt !== null) return checkCondition(keys.sso(orgId), unchanged, startAgain());
  const changes = { set: { verifiedAt: now().toISOString() }, add: { v: 1 } };
  return update(keys.sso(orgId), changes, { if: unchanged, orThrow: startAgain() });
}

/** The user of the login, and the writes that link the user. */
interface LinkedUser {
  key: sessions.UserKey;
  writes: Write[];
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
async function findLinked(login: VerifiedLogin): Promise<LinkedUser | undefined> {
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
async function linkUser(login: VerifiedLogin): Promise<LinkedUser> {
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
  const invitation = await invitations.findOpenByAddress(orgId, email);
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
    ? invitations.joinWrites(invitation)
    : members.countTeamWrites(orgId, { members: 1 });
  const invitationId = invitation?.stored.id;
  return { key: record, writes: [...writes, ...joinWrites], invitationId };
}

/** An organization whose owner is not proven gets no members. */
async function requireVerified(orgId: number): Promise<void> {
  const { unverified } = await organizations.find(orgId);
  if (unverified) throw failed("The owner of the organization has not verified the email address");
}

const defaultAccess = ({ defaultRole }: SsoItem): members.MemberAccess | undefined =>
  defaultRole === null ? undefined : { role: defaultRole, siteIds: null };

/** The owner reads the reason in the settings. */
async function recordFailure(
  orgId: number,
  { providerId }: SsoItem,
  reason: string,
): Promise<void> {
  const lastFailure = { at: now().toISOString(), reason };
  await transact(
    update(
      keys.sso(orgId),
      { set: { lastFailure }, add: { v: 1 } },
      { if: equals("providerId", providerId) },
    ),
  );
}
