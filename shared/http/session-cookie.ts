import { type SessionClient, sessionTtlSeconds } from "../domain/identity/sessions.ts";
import { sessionCookieName } from "./authenticate.ts";
import type { ApiRequest } from "./route.ts";

// The prefix `__Host-` limits the cookie to this host and requires these attributes (RFC 6265bis).
const attributes = "HttpOnly; Secure; SameSite=Lax; Path=/";

export const createSessionCookie = (token: string): string =>
  `${sessionCookieName}=${token}; ${attributes}; Max-Age=${sessionTtlSeconds}`;
export const expiredSessionCookie = `${sessionCookieName}=; ${attributes}; Max-Age=0`;

/** The browser or program that opens a session. */
export const sessionClientOf = ({ clientIp, headers }: ApiRequest): SessionClient => ({
  address: clientIp,
  userAgent: headers["user-agent"],
});
