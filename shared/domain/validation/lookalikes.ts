// Whether a domain poses as one that people know.
import { domainToUnicode } from "node:url";
import { registeredDomain } from "../../public-suffixes.ts";
import { type Check, fail, pass, warn } from "./check.ts";
import { mixesAlphabets, skeleton } from "./confusables.ts";
import { distance } from "./distance.ts";
import { known, knownSenders } from "./known-senders.ts";

interface Brand {
  name: string;
  domain: string;
  /** What stands before the public suffix. */
  label: string;
  skeleton: string;
}

let kept: Brand[] | undefined;
const brands = (): Brand[] => {
  kept ??= knownSenders.flatMap(({ name, domains }) =>
    domains.map((domain) => ({ name, domain, label: domain.split(".")[0]!, skeleton: skeleton(domain.split(".")[0]!) })),
  );
  return kept;
};

export interface Likeness {
  check: Check;
  /** The domain that it looks like. */
  resembles: string | null;
}

/** `domain` in ASCII, as DNS has it. */
export function likeness(domain: string): Likeness {
  if (known(domain)) return { check: pass("It is the domain that it looks like"), resembles: null };
  const registered = registeredDomain(domain) ?? domain;
  const label = domainToUnicode(registered).split(".")[0] || registered.split(".")[0]!;
  for (const look of looks) {
    const found = look({ domain, registered, label });
    if (found) return found;
  }
  return { check: pass("It looks like no domain that we know"), resembles: null };
}

interface Looked {
  domain: string;
  registered: string;
  label: string;
}
type Look = (looked: Looked) => Likeness | undefined;

/** Shorter names have too many honest neighbours. */
const [shortest, telling, long] = [4, 8, 10];

const homoglyph: Look = ({ label, registered }) => {
  const drawn = skeleton(label);
  const brand = brands().find((one) => one.label.length >= shortest && one.skeleton === drawn && one.label !== label);
  return brand && { check: fail(`${registered} is written like ${brand.domain} with other letters`), resembles: brand.domain };
};

const misspelt: Look = ({ label, registered }) => {
  const near = brands()
    .filter((one) => one.label.length >= 6)
    .map((brand) => ({ brand, off: distance(label, brand.label, brand.label.length >= long ? 2 : 1) }))
    .filter(({ brand, off }) => off > 0 && off <= (brand.label.length >= long ? 2 : 1))
    .sort((a, b) => a.off - b.off)[0];
  if (!near) return undefined;
  const { brand, off } = near;
  const message = `${registered} is ${off === 1 ? "one letter" : "two letters"} away from ${brand.domain}`;
  return { check: off === 1 && brand.label.length >= telling ? fail(message) : warn(message), resembles: brand.domain };
};

/** paypal.com.evil.example */
const asSubdomain: Look = ({ domain, registered }) => {
  const above = domain.slice(0, -registered.length);
  const brand = brands().find((one) => `.${above}`.includes(`.${one.domain}.`));
  return brand && { check: fail(`${domain} begins like ${brand.domain}, and belongs to ${registered}`), resembles: brand.domain };
};

/** paypal-security.example, and paypal under another suffix. */
const borrowed: Look = ({ label, registered }) => {
  const words = label.split("-").map(skeleton);
  const brand = brands().find((one) => one.label.length >= 5 && !common.has(one.label) && words.includes(one.skeleton));
  return brand && { check: warn(`${registered} uses the name of ${brand.name}, whose domain is ${brand.domain}`), resembles: brand.domain };
};

/** Names that are words of their own. */
const common = new Set([
  "target",
  "orange",
  "chase",
  "delta",
  "apple",
  "outlook",
  "notion",
  "slack",
  "email",
  "office",
  "stripe",
  "inbox",
  "norton",
  "oracle",
  "kraken",
]);

const mixed: Look = ({ label, registered }) =>
  mixesAlphabets(label) ? { check: warn(`${registered} mixes letters of several alphabets`), resembles: null } : undefined;

const looks: Look[] = [asSubdomain, homoglyph, misspelt, borrowed, mixed];
