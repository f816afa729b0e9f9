import { domainToASCII } from "node:url";
import { domainOf, normalizeEmail } from "../../kernel/email-fields.ts";
import { sha256 } from "../../keys.ts";

/**
 * The hash of an address that gets a copy of a send. The send keeps hashes and not addresses,
 * because the erasure of a contact finds only the sends to the contact.
 */
export const hashCopyAddress = (email: string): string =>
  sha256(toComparableAddress(email)).slice(0, 16);

/** Some providers report an international domain in its ASCII form. */
export function toComparableAddress(email: string): string {
  const domain = domainOf(email);
  return `${normalizeEmail(email).slice(0, -domain.length)}${domainToASCII(domain) || domain}`;
}
