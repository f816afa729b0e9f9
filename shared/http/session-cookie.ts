import { lifetimeSeconds } from "../domain/sessions.ts";
import { sessionCookie } from "./authenticate.ts";

// `__Host-` binds the cookie to this host alone, and asks for just these attributes (RFC 6265bis).
const attributes = "HttpOnly; Secure; SameSite=Lax; Path=/";

export const begun = (token: string): string => `${sessionCookie}=${token}; ${attributes}; Max-Age=${lifetimeSeconds}`;
export const ended = `${sessionCookie}=; ${attributes}; Max-Age=0`;
