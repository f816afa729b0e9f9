// Events about the copies of a mail: the addresses of its cc, bcc and further `to`, and the blind
// copy of its site. They do not change the send.
import { normalizeEmail } from "../../kernel/email-fields.ts";
import type { ProviderEventsMessage, QueuedEvent } from "../../queues.ts";
import { hashCopyAddress } from "../sending/copy-hashes.ts";
import type { SendItem } from "../sending/send-schema.ts";

type EventAddress = Pick<QueuedEvent, "email" | "data">;

/**
 * Whether an event is about the blind copy of a mail and not about its recipient. Such an event
 * says nothing about the send. A provider that reports only the recipient's address may still quote
 * a mail server that names the address of the blind copy.
 */
export function isAboutBlindCopy(
  { email, data }: EventAddress,
  { toEmail, bcc }: Pick<SendItem, "toEmail" | "bcc">,
): boolean {
  if (bcc === undefined || isSameAddress(bcc, toEmail)) return false;
  const isQuoted = (address: string) =>
    data.reason?.toLowerCase().includes(normalizeEmail(address)) ?? false;
  return isSameAddress(email, bcc) || (isQuoted(bcc) && !isQuoted(toEmail));
}

/**
 * The address of the cc, bcc or further `to` that an event is about, if it is about one. Resend
 * reports the first address of a mail for all, so the address that a mail server quotes counts. At
 * the other providers it does not: a recipient's mail server could name others, to suppress them.
 */
export function findAddresseeOfCopy(
  { email, data, provider }: EventAddress & Pick<ProviderEventsMessage, "provider">,
  { toEmail, copies }: Pick<SendItem, "toEmail" | "copies">,
): string | undefined {
  if (!copies?.length) return undefined;
  const isCopy = (address: string) => copies.includes(hashCopyAddress(address));
  if (isCopy(email)) return email;
  if (provider !== "resend") return undefined;
  const words = data.reason?.toLowerCase().split(/[\s<>()[\]:;,"']/) ?? [];
  const quoted = words.flatMap((word) => /^[^@]{1,64}@[\w.-]{1,255}/.exec(word) ?? []);
  return quoted.some((address) => isSameAddress(address, toEmail))
    ? undefined
    : quoted.find(isCopy);
}

const isSameAddress = (a: string, b: string): boolean => normalizeEmail(a) === normalizeEmail(b);
