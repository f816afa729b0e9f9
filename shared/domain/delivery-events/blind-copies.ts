import { domainToASCII } from "node:url";
import { domainOf, normalizeEmail } from "../../kernel/email-fields.ts";
import type { QueuedEvent } from "../../queues.ts";
import type { SendItem } from "../sending/sends.ts";

/**
 * Whether an event is about the blind copy of a mail and not about its recipient. Such an event
 * says nothing about the send. A provider that reports only the recipient's address may still quote
 * a mail server that names the address of the blind copy.
 */
export function isAboutBlindCopy(
  { email, data }: Pick<QueuedEvent, "email" | "data">,
  { toEmail, bcc }: Pick<SendItem, "toEmail" | "bcc">,
): boolean {
  if (bcc === undefined || isSameAddress(bcc, toEmail)) return false;
  const isQuoted = (address: string) =>
    data.reason?.toLowerCase().includes(normalizeEmail(address)) ?? false;
  return isSameAddress(email, bcc) || (isQuoted(bcc) && !isQuoted(toEmail));
}

const isSameAddress = (a: string, b: string): boolean =>
  normalizeForComparison(a) === normalizeForComparison(b);

/** Some providers report an international domain in its ASCII form. */
function normalizeForComparison(email: string): string {
  const domain = domainOf(email);
  return `${normalizeEmail(email).slice(0, -domain.length)}${domainToASCII(domain) || domain}`;
}
