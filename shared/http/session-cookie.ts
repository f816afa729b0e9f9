import { type SessionClient, sessionTtlSeconds } from "../domain/identity/sessions.ts";
import { sessionCookieName } from "./authenticate.ts";
import type { ApiRequest } from "./route.ts";

// The prefix `__Host-` limits the cookie to this host and requires these attributes (RFC 6265bis).
const attributes = "HttpOnly; Secure; SameSite=Lax; Path=/";

export const createSessionCookie = (token: string, maxAgeSeconds = sessionTtlSeconds): string =>
  `${sessionCookieName}=${token}; ${attributes}; Max-Age=${maxAgeSeconds}`;
export const expiredSessionCookie = `${sessionCookieName}=; ${attributes}; Max-Age=0`;

/** The token of the session that a response opens. */
export function sessionTokenIn(cookies: string[]): string | undefined {
  const start = `${sessionCookieName}=`;
  const cookie = cookies.find((text) => text.startsWith(start));
  return cookie?.slice(start.length).split(";")[0] || undefined;
}

/** The browser or program that opens a session. */
export const sessionClientOf = ({ clientIp, headers }: ApiRequest): SessionClient => ({
  address: clientIp,
  userAgent: headers["user-agent"],
});

/** A login with single sign-on that waits for the provider. */
export const loginCookieName = "__Host-login";
export const createLoginCookie = (pending: string, maxAgeSeconds: number): string =>
  `${loginCookieName}=${pending}; ${attributes}; Max-Age=${maxAgeSeconds}`;
export const expiredLoginCookie = `${loginCookieName}=; ${attributes}; Max-Age=0`;
