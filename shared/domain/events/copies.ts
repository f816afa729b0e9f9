import { domainToASCII } from "node:url";
import { canonical, domainOf } from "../../email.ts";
import type { InboundEvent } from "../../queues.ts";
import type { SendItem } from "../sends.ts";

/**
 * Whether an event tells of the blind copy of a mail: what becomes of that says nothing of the mail, nor of whom it is to. A provider
 * that names nobody but the recipient may still quote a mail server that names the copy's address.
 */
export function isOfCopy(
  { email, data }: Pick<InboundEvent, "email" | "data">,
  { toEmail, bcc }: Pick<SendItem, "toEmail" | "bcc">,
): boolean {
  if (bcc === undefined || same(bcc, toEmail)) return false;
  const quoted = (address: string) => data.reason?.toLowerCase().includes(canonical(address)) ?? false;
  return same(email, bcc) || (quoted(bcc) && !quoted(toEmail));
}

/** Some tell an international domain in its ASCII form. */
const same = (one: string, other: string): boolean => comparable(one) === comparable(other);

function comparable(email: string): string {
  const domain = domainOf(email);
  return `${canonical(email).slice(0, -domain.length)}${domainToASCII(domain) || domain}`;
}
