// Detects typos in the domains of large mailbox providers.
import { editDistance } from "../../../kernel/edit-distance.ts";
import { knownSenderOf, knownSenders } from "./known-senders.ts";

const mailboxDomains = knownSenders
  .filter(({ kind }) => kind === "mailbox")
  .flatMap(({ domains }) => domains);

/** Endings that are not a top-level domain, or are almost always a typo. */
const suffixTypos: [wrong: RegExp, right: string][] = [
  [/\.(con|cmo|ocm|vom|xom|cpm|comm|coom|cim|c0m|om)$/, ".com"],
  [/\.(nett|ner|ent|met)$/, ".net"],
  [/\.(ogr|orgg|orh)$/, ".org"],
];
const twoParts = /^[^.]+\.[^.]+$/;

/** Returns the domain that was probably meant, or undefined. */
export function suggestDomain(domain: string): string | undefined {
  if (knownSenderOf(domain)) return undefined;
  const corrected = suffixTypos.reduce(
    (name, [wrong, right]) => (twoParts.test(name) ? name.replace(wrong, right) : name),
    domain,
  );
  return nearestMailboxDomain(corrected) ?? (corrected === domain ? undefined : corrected);
}

function nearestMailboxDomain(domain: string): string | undefined {
  if (mailboxDomains.includes(domain)) return domain;
  return mailboxDomains
    .filter((one) => one.length >= 7)
    .map((one) => ({ one, off: editDistance(domain, one, maxDistance(one)) }))
    .filter(
      ({ one, off: distance }) =>
        distance <= maxDistance(one) &&
        (one.split(".")[0]!.length >= 4 || domain.startsWith(`${one.split(".")[0]}.`)),
    )
    .sort((a, b) => a.off - b.off)[0]?.one;
}

const maxDistance = (domain: string): number => (domain.length >= 11 ? 2 : 1);
