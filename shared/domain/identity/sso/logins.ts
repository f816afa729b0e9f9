// Logins with single sign-on. The provider of an organization opens sessions of that organization
// only, for members and, if the organization wants it, for new users.
import { equals } from "../../../adapters/dynamodb/conditions.ts";
import {
  checkCondition,
  transact,
  update,
  type Write,
  write,
} from "../../../adapters/dynamodb/table.ts";
import {
  createLoginUrl,
  exchangeCode,
  type LoginSecrets,
  ProviderError,
} from "../../../adapters/oidc/provider.ts";
import { addSeconds, epochSeconds, now } from "../../../clock.ts";
import { config } from "../../../config.ts";
import { missing, Problem } from "../../../errors.ts";
import { randomBase62 } from "../../../ids.ts";
import { reportAccountEvent } from "../../../kernel/account-events.ts";
import { domainOf } from "../../../kernel/email-fields.ts";
import { createSealer, openToken } from "../../../kernel/sealed-tokens.ts";
import { queueNotice } from "../../../kernel/security-notices.ts";
import { keys } from "../../../keys.ts";
import { getProfile, type OpenedSession } from "../accounts.ts";
import { getDomainHolder } from "../domain-holders.ts";
import * as sessions from "../sessions.ts";
import { listOrganizations } from "../user-organizations.ts";
import { failed, findLinked, linkUser, startAgain, type VerifiedLogin } from "./linked-users.ts";
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

function throwFailed(error: unknown): never {
  throw error instanceof ProviderError ? failed(error.message) : error;
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
  if (user.joins) await queueNotice("member_joined", { orgId, recordId: userId });
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
