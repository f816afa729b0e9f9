// Which members must use the single sign-on of an organization. The mark on the organization's item
// answers that, because every request of a session reads this item.
import { config } from "../../../config.ts";
import { forbidden, type Problem } from "../../../errors.ts";
import { domainOf } from "../../../kernel/email-fields.ts";
import type { RoleName } from "../../../rights.ts";

/** An attribute of the organization's item. */
export interface SsoMark {
  sso?: {
    /** Sessions that another provider opened are void. */
    providerId: string;
    /** Members with an address in these domains cannot use a password. Owners can. */
    enforcedDomains: string[];
  };
}

interface MemberOfDomain {
  email: string;
  role: RoleName;
}

/** Owners are exempt, so that a provider that fails locks nobody out for good. */
export const requiresSso = ({ sso }: SsoMark, { email, role }: MemberOfDomain): boolean =>
  role !== "owner" && sso !== undefined && sso.enforcedDomains.includes(domainOf(email));

/** The URL that starts a login. It redirects a browser to the provider. */
export const loginUrlOf = (orgId: number): string =>
  `${config.publicUrl}/api/v1/auth/sso/start?organizationId=${orgId}`;

/** The URL to register at the provider. Each organization has its own, against mix-up attacks. */
export const redirectUriOf = (orgId: number): string =>
  `${config.publicUrl}/api/v1/auth/sso/callback/${orgId}`;

/** 403 with the URL to log in at. */
export function ssoRequired(orgId: number): Problem {
  const ssoUrl = loginUrlOf(orgId);
  return forbidden(`The organization requires single sign-on: log in at ${ssoUrl}`, {
    code: "sso_required",
    bodyFields: { ssoUrl },
  });
}
