import { permitOrganization } from "../caller.ts";
import { epochSeconds, now } from "../clock.ts";
import { exists } from "../conditions.ts";
import { config } from "../config.ts";
import { claim, get, update } from "../doors/table.ts";
import { forbidden, unauthenticated } from "../errors.ts";
import { keys, sha256 } from "../keys.ts";
import type { Identity, Request, Route } from "./route.ts";

export const sessionCookie = "__Host-session";

interface ApiKeyItem {
  orgId: number;
  keyId: number;
  userId: number;
  siteId?: number;
  scopes: string[];
}
interface SessionItem {
  orgId: number;
  userId: number;
  expires: number;
}

/** Who is asking, by API key or session cookie; throws 401 without a good credential. One read. */
export async function authenticate(request: Request, method: string): Promise<Identity> {
  const { authorization } = request.headers;
  if (authorization !== undefined) return byKey(authorization);
  const token = request.cookies[sessionCookie];
  if (!token) throw unauthenticated();
  return bySession(token, request, method);
}

async function byKey(authorization: string): Promise<Identity> {
  const [, key] = /^Bearer (pm_live_[0-9A-Za-z]{40,})$/i.exec(authorization) ?? [];
  const item = key && (await get<ApiKeyItem>(keys.apiKey(sha256(key))));
  if (!item) throw unauthenticated();
  await used(item);
  return { orgId: item.orgId, kind: "api_key", userId: item.userId, siteId: item.siteId, scopes: item.scopes };
}

// lastUsedAt is right to the minute: once a minute and process is often enough, and costs nothing beside the requests.
const lastNoted = new Map<number, number>();

async function used({ orgId, keyId }: ApiKeyItem) {
  if (epochSeconds() - (lastNoted.get(keyId) ?? 0) < 60) return;
  if (lastNoted.size > 10_000) lastNoted.clear();
  lastNoted.set(keyId, epochSeconds());
  await claim(update(keys.record(orgId, "APIKEY", keyId), { set: { lastUsedAt: now().toISOString() } }, { if: exists }));
}

async function bySession(token: string, request: Request, method: string): Promise<Identity> {
  const hash = sha256(token);
  const session = await get<SessionItem>(keys.session(hash));
  if (!session || session.expires <= epochSeconds()) throw unauthenticated();
  if (method !== "GET") sameOrigin(request);
  return { orgId: session.orgId, kind: "session", userId: session.userId, scopes: ["*"], sessionHash: hash };
}

// A browser sends the cookie with other sites' requests too (RFC 6454 names the sender in Origin, Fetch Metadata its kind in Sec-Fetch-Site).
function sameOrigin({ headers: { origin, "sec-fetch-site": site } }: Request) {
  const foreign =
    origin === undefined
      ? site === "cross-site" || site === "same-site"
      : origin !== new URL(config.publicUrl).origin && !config.allowedOrigins.includes(origin);
  if (foreign) throw forbidden("Requests with a session must come from our own pages", { code: "origin_forbidden" });
}

/** What this identity may not do throws 403. */
export function authorize(identity: Identity, route: Route): void {
  if (route.auth === "session" && identity.kind !== "session")
    throw forbidden("This needs a session: log in with email and password", { code: "session_required" });
  if (!identity.scopes.includes("*") && !identity.scopes.includes(route.scope))
    throw forbidden(`The API key lacks the scope ${route.scope}`, { code: "scope_missing" });
  if (route.level === "organization") permitOrganization(identity);
}
