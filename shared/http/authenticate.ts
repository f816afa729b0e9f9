import { exists } from "../adapters/dynamodb/conditions.ts";
import { get, getTogether, transact, update } from "../adapters/dynamodb/table.ts";
import { type Caller, requireOrganizationAccess } from "../caller.ts";
import { epochSeconds, now } from "../clock.ts";
import { config } from "../config.ts";
import { getMember, toApi } from "../domain/identity/members.ts";
import type { Organization } from "../domain/identity/organizations.ts";
import { recordUse, type SessionItem } from "../domain/identity/sessions.ts";
import { requiresSso, type SsoMark, ssoRequired } from "../domain/identity/sso/enforcement.ts";
import { forbidden, Problem, unauthenticated } from "../errors.ts";
import { findApiKey } from "../kernel/api-key-cache.ts";
import { keys, sha256 } from "../keys.ts";
import { permits, roles } from "../rights.ts";
import { type ApiRequest, asksForExport, type Identity, type Route } from "./route.ts";

export const sessionCookieName = "__Host-session";

/** The headers that hold a credential. */
export type Credentials = Pick<ApiRequest, "headers" | "cookies">;

/** Cookies by name. */
export const cookiesOf = (cookies: string[]): Record<string, string> =>
  Object.fromEntries(
    cookies
      .map((cookie) => cookie.trim().split(/=(.*)/s))
      .map(([name = "", value = ""]) => [name, value]),
  );

/**
 * Whether the credential is valid. Also true if that is unknown because of an outage, so that the
 * route returns the error.
 */
export const isKnown = (request: Credentials, method: string): Promise<boolean> =>
  authenticate(withBearer(request), method).then(
    () => true,
    (error: unknown) =>
      !(error instanceof Problem && /^(unauthenticated|forbidden)$/.test(error.kind)),
  );

/**
 * The caller, from the API key or the session cookie. Throws 401 without a valid credential, and
 * for a user who is no longer a member; 403 `sso_required` for a password session where single
 * sign-on is enforced. Takes three reads for a session, and one for an API key, or
 * none if this process read the key in the last 5 seconds.
 */
export async function authenticate(request: Credentials, method: string): Promise<Identity> {
  const { authorization } = request.headers;
  if (authorization !== undefined) return authenticateApiKey(authorization);
  const token = request.cookies[sessionCookieName];
  if (!token) throw unauthenticated();
  return authenticateSession(token, request, method);
}

/** The user name of Basic authentication (RFC 7617) as a bearer token. The password is not read. */
export function withBearer({ headers, cookies }: Credentials): Credentials {
  const [, encoded] = /^Basic ([\w+/=-]{1,500})$/i.exec(headers.authorization ?? "") ?? [];
  if (!encoded) return { headers, cookies };
  const [userName = ""] = Buffer.from(encoded, "base64").toString("utf8").split(":");
  return { headers: { ...headers, authorization: `Bearer ${userName}` }, cookies };
}

/** The API key in the header of another service as a bearer token. */
export function withKeyHeader({ headers, cookies }: Credentials, name: string): Credentials {
  const key = headers[name];
  if (key === undefined) return { headers, cookies };
  return { headers: { ...headers, authorization: `Bearer ${key}` }, cookies };
}

async function authenticateApiKey(authorization: string): Promise<Identity> {
  const [, key] = /^Bearer (pm_live_[0-9A-Za-z]{40,})$/i.exec(authorization) ?? [];
  const item = key && (await findApiKey(sha256(key)));
  if (!item) throw unauthenticated();
  return {
    orgId: item.orgId,
    kind: "api_key",
    userId: item.userId,
    keyId: item.keyId,
    ...(item.siteId !== undefined && { siteIds: [item.siteId] }),
    scopes: item.scopes,
  };
}

// `lastUsedAt` is accurate to the minute. Each process writes it at most once a minute per key, so
// it costs almost nothing.
const lastRecordedAt = new Map<number, number>();

export async function recordKeyUse({ orgId, keyId }: Identity): Promise<void> {
  if (keyId === undefined) return;
  if (epochSeconds() - (lastRecordedAt.get(keyId) ?? 0) < 60) return;
  if (lastRecordedAt.size > 10_000) lastRecordedAt.clear();
  lastRecordedAt.set(keyId, epochSeconds());
  await transact(
    update(
      keys.record(orgId, "APIKEY", keyId),
      { set: { lastUsedAt: now().toISOString() } },
      { if: exists },
    ),
  );
}

async function authenticateSession(
  token: string,
  request: Credentials,
  method: string,
): Promise<Identity> {
  const hash = sha256(token);
  const session = await get<SessionItem>(keys.session(hash));
  if (!session || session.expires <= epochSeconds()) throw unauthenticated();
  if (method !== "GET") requireSameOrigin(request);
  const { orgId, homeOrgId, userId, createdAt, switchedAt = createdAt, providerId } = session;
  const [member, organization] = await Promise.all([
    getMember(orgId, userId),
    getTogether<Organization & SsoMark>(keys.organization(orgId)),
  ]);
  const idleMinutes = organization?.sessionIdleMinutes ?? null;
  // A user who left and was invited again has joined after the earlier sessions here.
  if (!member || switchedAt < member.createdAt) throw unauthenticated();
  if (providerId === undefined) {
    if (requiresSso(organization ?? {}, member)) throw ssoRequired(orgId);
  } else if (organization?.sso?.providerId !== providerId) throw unauthenticated();
  if (!(await recordUse(hash, session, idleMinutes))) throw unauthenticated();
  const { role, siteIds } = toApi(member);
  return {
    orgId,
    homeOrgId,
    kind: "session",
    userId,
    role,
    ...(siteIds && { siteIds }),
    scopes: roles[role].scopes,
    sessionHash: hash,
    ...(providerId !== undefined && { viaSso: true }),
  };
}

/**
 * Throws 403 for requests of other sites, with which a browser may send the cookie. The headers
 * Origin (RFC 6454) and Sec-Fetch-Site (Fetch Metadata) identify them.
 */
export function requireSameOrigin({ headers: { origin, "sec-fetch-site": site } }: Credentials) {
  if (isCrossOrigin(origin, site))
    throw forbidden(
      "Requests with a session cookie must come from PUBLIC_URL or one of ALLOWED_ORIGINS",
      {
        code: "origin_forbidden",
      },
    );
}

function isCrossOrigin(origin: string | undefined, site: string | undefined): boolean {
  if (origin === undefined) return site === "cross-site" || site === "same-site";
  // Forms of our own pages send no origin, because the pages have the policy `no-referrer`.
  if (origin === "null") return site !== "same-origin";
  return origin !== new URL(config.publicUrl).origin && !config.allowedOrigins.includes(origin);
}

/** Throws 403 if the request mails and the address of the sign-up is not verified. */
export function requireVerifiedEmail(
  { unverified }: Pick<Caller, "unverified">,
  { needsVerifiedEmail }: { needsVerifiedEmail?: boolean | undefined },
): void {
  if (unverified && needsVerifiedEmail)
    throw forbidden(
      "Verify your email address first: open the link in the email that the sign-up sent, or " +
        "request another with POST /auth/verify-email/resend",
      { code: "email_not_verified" },
    );
}

/** Throws 403 if the query asks for an export and the identity may not export. */
export function authorizeExport(identity: Identity, route: Route, query: unknown): void {
  if (!asksForExport(route, query)) return;
  const right = route.exportRight!;
  if (!permits(identity.scopes, { right, scope: "exports:write" }))
    throw forbidden(
      `${identity.role ? `The role ${identity.role}` : "The API key"} does not have the right ` +
        `${right}, which exports need: omit format for JSON`,
      { code: "scope_missing" },
    );
}

/** Throws 403 if the identity may not call the route. */
export function authorize(identity: Identity, route: Route): void {
  if (route.auth === "session" && identity.kind !== "session")
    throw forbidden("This endpoint requires a session: log in with email and password", {
      code: "session_required",
    });
  if (route.auth === "api_key" && identity.kind !== "api_key")
    throw forbidden("This endpoint requires an API key");
  if (route.auth !== "api_key" && !permits(identity.scopes, route))
    throw forbidden(
      identity.role
        ? `The role ${identity.role} does not have the right ${route.right}`
        : `The API key does not have the scope ${route.scope}`,
      { code: "scope_missing" },
    );
  const isForMembers = route.level === "site_members" && identity.kind === "session";
  if (route.level !== "site" && !isForMembers) requireOrganizationAccess(identity);
}
