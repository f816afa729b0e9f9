import { forbidden, invalid } from "./errors.ts";
import type { PlanKey } from "./plans.ts";

/** Who is asking: a user with a session, or an API key, perhaps bound to one site. */
export interface Caller {
  orgId: number;
  plan: PlanKey;
  kind: "session" | "api_key";
  /** The user of the session, or the one who made the key. */
  userId: number;
  siteId?: number | undefined;
  scopes: string[];
  /** SHA-256 of the session's token. */
  sessionHash?: string | undefined;
}

const siteForbidden = () => forbidden("API key has no access to this site", { code: "site_forbidden" });

/** Every domain function that touches a site's records starts here. */
export function permit(caller: Pick<Caller, "siteId">, siteId: number): void {
  if (caller.siteId !== undefined && caller.siteId !== siteId) throw siteForbidden();
}

/** A site-bound key asks for something that belongs to the whole organization. */
export function permitOrganization(caller: Pick<Caller, "siteId">): void {
  if (caller.siteId !== undefined) throw siteForbidden();
}

export const siteNeeded = () =>
  invalid("siteId is needed: the organization has more than one site, or none", {
    details: [{ path: "siteId", message: "siteId is needed" }],
  });
