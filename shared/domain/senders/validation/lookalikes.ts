// Detects domains that imitate the domain of a known sender.
import { domainToUnicode } from "node:url";
import { editDistance } from "../../../kernel/edit-distance.ts";
import { registeredDomain } from "../public-suffixes.ts";
import { type Check, fail, pass, warn } from "./check.ts";
import { mixesScripts, skeleton } from "./confusables.ts";
import { knownSenderOf, knownSenders } from "./known-senders.ts";

interface Brand {
  name: string;
  domain: string;
  /** The part before the public suffix. */
  label: string;
  skeleton: string;
}

let brandCache: Brand[] | undefined;
const brands = (): Brand[] => {
  brandCache ??= knownSenders.flatMap(({ name, domains }) =>
    domains.map((domain) => ({
      name,
      domain,
      label: domain.split(".")[0]!,
      skeleton: skeleton(domain.split(".")[0]!),
    })),
  );
  return brandCache;
};

export interface LookalikeCheck {
  check: Check;
  /** The imitated domain. */
  resembles: string | null;
}

/** `domain` is in ASCII. */
export function checkLookalike(domain: string): LookalikeCheck {
  if (knownSenderOf(domain))
    return { check: pass("The domain belongs to a known sender"), resembles: null };
  const registered = registeredDomain(domain) ?? domain;
  const label = domainToUnicode(registered).split(".")[0] || registered.split(".")[0]!;
  for (const rule of lookalikeRules) {
    const found = rule({ domain, registered, label });
    if (found) return found;
  }
  return { check: pass("The domain does not resemble a known one"), resembles: null };
}

interface NameParts {
  domain: string;
  registered: string;
  label: string;
}
type LookalikeRule = (name: NameParts) => LookalikeCheck | undefined;

// Many honest names are close to a short name.
const [minLabelLength, strongLabelLength, longLabelLength] = [4, 8, 10];

const homoglyph: LookalikeRule = ({ label, registered }) => {
  const labelSkeleton = skeleton(label);
  const imitated = brands().find(
    (brand) =>
      brand.label.length >= minLabelLength &&
      brand.skeleton === labelSkeleton &&
      brand.label !== label,
  );
  return (
    imitated && {
      check: fail(`${registered} imitates ${imitated.domain} with similar-looking characters`),
      resembles: imitated.domain,
    }
  );
};

const misspelt: LookalikeRule = ({ label, registered }) => {
  const nearest = brands()
    .filter((brand) => brand.label.length >= 6)
    .map((brand) => {
      const maxDistance = brand.label.length >= longLabelLength ? 2 : 1;
      return { brand, maxDistance, distance: editDistance(label, brand.label, maxDistance) };
    })
    .filter(({ distance, maxDistance }) => distance > 0 && distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance)[0];
  if (!nearest) return undefined;
  const { brand, distance } = nearest;
  const letters = distance === 1 ? "one letter" : "two letters";
  const message = `${registered} differs from ${brand.domain} by ${letters}`;
  return {
    check:
      distance === 1 && brand.label.length >= strongLabelLength ? fail(message) : warn(message),
    resembles: brand.domain,
  };
};

/** Example: paypal.com.evil.example. */
const asSubdomain: LookalikeRule = ({ domain, registered }) => {
  const subdomain = domain.slice(0, -registered.length);
  const imitated = brands().find((brand) => `.${subdomain}`.includes(`.${brand.domain}.`));
  return (
    imitated && {
      check: fail(`${domain} begins like ${imitated.domain} but belongs to ${registered}`),
      resembles: imitated.domain,
    }
  );
};

/** Examples: paypal-security.example, and paypal under another suffix. */
const borrowedName: LookalikeRule = ({ label, registered }) => {
  const words = label.split("-").map(skeleton);
  const imitated = brands().find(
    (brand) =>
      brand.label.length >= 5 && !commonWords.has(brand.label) && words.includes(brand.skeleton),
  );
  return (
    imitated && {
      check: warn(
        `${registered} contains the name of ${imitated.name}, whose domain is ${imitated.domain}`,
      ),
      resembles: imitated.domain,
    }
  );
};

/** Names that are also common words. */
const commonWords = new Set([
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

const mixedScripts: LookalikeRule = ({ label, registered }) =>
  mixesScripts(label)
    ? { check: warn(`${registered} mixes characters of several alphabets`), resembles: null }
    : undefined;

const lookalikeRules: LookalikeRule[] = [
  asSubdomain,
  homoglyph,
  misspelt,
  borrowedName,
  mixedScripts,
];
