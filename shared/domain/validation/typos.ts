// Slips of the finger in the domains that most people have their mailbox at.
import { distance } from "./distance.ts";
import { known, knownSenders } from "./known-senders.ts";

const mailboxDomains = knownSenders.filter(({ kind }) => kind === "mailbox").flatMap(({ domains }) => domains);

/** Endings that are no top-level domain, or hardly ever meant. */
const endings: [wrong: RegExp, right: string][] = [
  [/\.(con|cmo|ocm|vom|xom|cpm|comm|coom|cim|c0m|om)$/, ".com"],
  [/\.(nett|ner|ent|met)$/, ".net"],
  [/\.(ogr|orgg|orh)$/, ".org"],
];
const twoParts = /^[^.]+\.[^.]+$/;

/** The domain that was probably meant; undefined when nothing speaks for another. */
export function meant(domain: string): string | undefined {
  if (known(domain)) return undefined;
  const ended = endings.reduce((name, [wrong, right]) => (twoParts.test(name) ? name.replace(wrong, right) : name), domain);
  return nearest(ended) ?? (ended === domain ? undefined : ended);
}

function nearest(domain: string): string | undefined {
  if (mailboxDomains.includes(domain)) return domain;
  return mailboxDomains
    .filter((one) => one.length >= 7)
    .map((one) => ({ one, off: distance(domain, one, mostOff(one)) }))
    .filter(({ one, off }) => off <= mostOff(one) && (one.split(".")[0]!.length >= 4 || domain.startsWith(`${one.split(".")[0]}.`)))
    .sort((a, b) => a.off - b.off)[0]?.one;
}

const mostOff = (domain: string): number => (domain.length >= 11 ? 2 : 1);
