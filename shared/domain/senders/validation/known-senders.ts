// Well-known senders that are often imitated. A small list of our own; other senders are unknown.
import data from "./known-senders.json" with { type: "json" };

export interface KnownSender {
  name: string;
  /** `mailbox`: anyone can get an address there, so the domain does not identify the sender. */
  kind: "company" | "mailbox";
  domains: string[];
}

export const knownSenders = data as KnownSender[];

const byDomain = new Map(
  knownSenders.flatMap((sender) => sender.domains.map((domain) => [domain, sender] as const)),
);

/**
 * Finds the owner of a domain or of its parent domain. A mailbox provider owns only the domain
 * itself.
 */
export function knownSenderOf(domain: string): KnownSender | undefined {
  const labels = domain.split(".");
  for (const [i] of labels.entries()) {
    const sender = byDomain.get(labels.slice(i).join("."));
    if (sender && (i === 0 || sender.kind === "company")) return sender;
  }
  return undefined;
}
