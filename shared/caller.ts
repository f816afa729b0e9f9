import { forbidden, invalid } from "./errors.ts";
import type { PlanKey } from "./plans.ts";
import type { RoleName } from "./rights.ts";

/** The authenticated user or API key of a request. */
export interface Caller {
  orgId: number;
  plan: PlanKey;
  kind: "session" | "api_key";
  /** The user of the session, or the user who created the API key. */
  userId: number;
  /** The id of the API key. */
  keyId?: number | undefined;
  /**
   * The organization in which the user of the session signed up. The user's own records are stored
   * under it. Undefined: `orgId`.
   */
  homeOrgId?: number | undefined;
  /** The role of the user of the session. */
  role?: RoleName | undefined;
  /** The only sites that the caller may access. Undefined: all sites. */
  siteIds?: readonly number[] | undefined;
  /** The address of the organization's sign-up must be verified before it can send. */
  unverified?: boolean;
  /** The rights of the caller: see rights.ts. */
  scopes: readonly string[];
  /** SHA-256 of the session token. */
  sessionHash?: string | undefined;
  /** The single sign-on of the organization opened the session, so it is limited to it. */
  viaSso?: boolean;
}

/** The data that a caller may access: one organization, or some of its sites. */
export type CallerScope = Pick<Caller, "orgId" | "siteIds">;

/** One site of an organization. */
export interface SiteRef {
  orgId: number;
  siteId: number;
}

/** The words of the contract. Members who are limited to sites get them too. */
const siteForbidden = () =>
  forbidden("API key has no access to this site", { code: "site_forbidden" });

const organizationForbidden = () =>
  forbidden(
    "This API key or member is limited to sites and cannot access data of the whole organization",
    { code: "site_forbidden" },
  );

/**
 * Throws 403 if the caller is limited to other sites. Every domain function that reads or changes
 * records of a site calls it.
 */
export function requireSiteAccess({ siteIds }: Pick<Caller, "siteIds">, siteId: number): void {
  if (siteIds && !siteIds.includes(siteId)) throw siteForbidden();
}

/**
 * Throws 403 if the caller is limited to sites, and not to all of these. `null` stands for all
 * sites of the organization.
 */
export function requireSitesAccess(
  { siteIds }: Pick<Caller, "siteIds">,
  needed: readonly number[] | null,
): void {
  if (siteIds && !needed) throw organizationForbidden();
  if (siteIds && !needed?.every((id) => siteIds.includes(id))) throw siteForbidden();
}

/** Throws 403 if the caller is limited to sites. */
export function requireOrganizationAccess({ siteIds }: Pick<Caller, "siteIds">): void {
  if (siteIds) throw organizationForbidden();
}

/**
 * Throws 403 `sso_session` for a session of single sign-on. The provider of one organization must
 * not open another, and must not change how the user logs in elsewhere.
 */
export function requirePasswordLogin({ viaSso }: Pick<Caller, "viaSso">): void {
  if (viaSso)
    throw forbidden(
      "This session was opened by single sign-on and is limited to its organization: log in with " +
        "your password",
      { code: "sso_session" },
    );
}

/** The only organization of the user that the caller may see. Undefined: all. */
export const onlyOrgIdOf = ({ orgId, viaSso }: Caller): number | undefined =>
  viaSso ? orgId : undefined;

/** The site of a caller that may access only one. */
export const onlySiteIdOf = ({ siteIds }: Pick<Caller, "siteIds">): number | undefined =>
  siteIds?.length === 1 ? siteIds[0] : undefined;

export const siteIdRequired = () =>
  invalid("siteId is required unless you can access exactly one site", {
    details: [{ path: "siteId", message: "siteId is required" }],
  });
