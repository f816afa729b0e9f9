// Where domains of different owners begin: the Public Suffix List (publicsuffix.org). Loaded late: it is large.
import { getDomain, getPublicSuffix } from "tldts";

/** What its owner registered: shop.co.uk of mail.shop.co.uk. Undefined for a suffix itself and for what is no domain. */
export const registeredDomain = (domain: string): string | undefined => getDomain(domain) ?? undefined;

/**
 * The organizational domain of RFC 7489: also below suffixes that companies have, such as github.io. A suffix is its own. Undefined for
 * what is no domain.
 */
export const organizationalDomain = (domain: string): string | undefined =>
  getDomain(domain, { allowPrivateDomains: true }) ?? getPublicSuffix(domain, { allowPrivateDomains: true }) ?? undefined;
