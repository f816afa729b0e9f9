import { normalizeEmail } from "../../kernel/email-fields.ts";
import { sha256 } from "../../keys.ts";

/**
 * The hash of an address that gets a copy of a send. The send keeps hashes and not addresses,
 * because the erasure of a contact finds only the sends to the contact.
 */
export const hashCopyAddress = (email: string): string =>
  sha256(normalizeEmail(email)).slice(0, 16);
