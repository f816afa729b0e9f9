// The Public Suffix List (publicsuffix.org) tells below which suffixes domains have different
// owners.
import { getDomain, getPublicSuffix } from "tldts";

/**
 * Returns the registered domain, such as shop.co.uk of mail.shop.co.uk. Undefined for a suffix or
 * an invalid domain.
 */
export const registeredDomain = (domain: string): string | undefined =>
  getDomain(domain) ?? undefined;

/**
 * Returns the organizational domain of RFC 7489. Also knows suffixes of companies, such as
 * github.io. A suffix is its own organizational domain. Undefined for an invalid domain.
 */
export const organizationalDomain = (domain: string): string | undefined =>
  getDomain(domain, { allowPrivateDomains: true }) ??
  getPublicSuffix(domain, { allowPrivateDomains: true }) ??
  undefined;
