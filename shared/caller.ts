import { forbidden, invalid } from "./errors.ts";
import type { PlanKey } from "./plans.ts";

/** The authenticated user or API key of a request. */
export interface Caller {
  orgId: number;
  plan: PlanKey;
  kind: "session" | "api_key";
  /** The user of the session, or the user who created the API key. */
  userId: number;
  /** The id of the API key. */
  keyId?: number | undefined;
  /** The only site that the API key may access. */
  siteId?: number | undefined;
  scopes: string[];
  /** SHA-256 of the session token. */
  sessionHash?: string | undefined;
}

/** The data that a caller may access: one organization, or one of its sites. */
export type CallerScope = Pick<Caller, "orgId" | "siteId">;

/** One site of an organization. */
export interface SiteRef {
  orgId: number;
  siteId: number;
}

const siteForbidden = () =>
  forbidden("This API key is bound to one site and cannot access data of the whole organization", {
    code: "site_forbidden",
  });

/**
 * Throws 403 if an API key is bound to another site. Every domain function that reads or changes
 * records of a site calls it.
 */
export function requireSiteAccess(caller: Pick<Caller, "siteId">, siteId: number): void {
  if (caller.siteId !== undefined && caller.siteId !== siteId) throw siteForbidden();
}

/** Throws 403 if an API key is bound to a site. */
export function requireOrganizationAccess(caller: Pick<Caller, "siteId">): void {
  if (caller.siteId !== undefined) throw siteForbidden();
}

export const siteIdRequired = () =>
  invalid("siteId is required unless the organization has exactly one site", {
    details: [{ path: "siteId", message: "siteId is required" }],
  });
