// SPF (RFC 7208). Parses a policy, follows its includes and counts its DNS lookups. Checks whether
// the policy works and what it says about unlisted servers, not whether one server may send.
import { type DnsLookupOptions, lookUpRecords } from "../../../adapters/dns/records.ts";
import { type Check, fail, inconclusive, orIfLookupFails, pass, warn } from "./check.ts";

const maxLookups = 10;

type Qualifier = "+" | "-" | "~" | "?";
interface Mechanism {
  qualifier: Qualifier;
  name: string;
  /** The text after the colon, with the prefix length of a network. */
  value?: string;
}
export interface SpfPolicy {
  mechanisms: Mechanism[];
  redirect?: string;
}

// A DNS name has at most 253 characters.
const maxTermLength = 255;

export const isSpf = (text: string): boolean => /^v=spf1( |$)/i.test(text);

/** Returns the policy, or a sentence fragment that tells why it is invalid. */
export function parseSpf(text: string): SpfPolicy | string {
  const mechanisms: Mechanism[] = [];
  const modifiers = new Map<string, string>();
  for (const term of text.trim().split(/ +/).slice(1)) {
    if (term.length > maxTermLength)
      return `"${term.slice(0, 60)}…" has more than ${maxTermLength} characters`;
    const [, name = "", value = ""] = /^([a-z][\w.-]*)=(.*)$/i.exec(term) ?? [];
    const mechanism = mechanismOf(term);
    if (name) {
      if (modifiers.has(name.toLowerCase()) && /^(redirect|exp)$/i.test(name))
        return `${name} is given twice`;
      modifiers.set(name.toLowerCase(), value);
    } else if (mechanism) mechanisms.push(mechanism);
    else return `"${term.slice(0, 60)}" is not an SPF mechanism`;
  }
  const redirect = modifiers.get("redirect");
  return redirect === ""
    ? "redirect has no domain"
    : { mechanisms, ...(redirect !== undefined && { redirect }) };
}

const mechanismSyntax: Record<string, RegExp> = {
  all: /^$/,
  include: /^:[^/\s]+$/,
  exists: /^:[^/\s]+$/,
  a: /^(:[^/\s]+)?(\/\d{1,2})?(\/\/\d{1,3})?$/,
  mx: /^(:[^/\s]+)?(\/\d{1,2})?(\/\/\d{1,3})?$/,
  ptr: /^(:[^/\s]+)?$/,
  ip4: /^:\d{1,3}(\.\d{1,3}){3}(\/\d{1,2})?$/,
  ip6: /^:[\da-f.]*:[\da-f:.]*(\/\d{1,3})?$/i,
};

function mechanismOf(term: string): Mechanism | undefined {
  const [, qualifier = "", name = "", rest = ""] =
    /^([+~?-]?)([a-z\d]+)([:/].*)?$/i.exec(term) ?? [];
  const form = Object.hasOwn(mechanismSyntax, name.toLowerCase())
    ? mechanismSyntax[name.toLowerCase()]
    : undefined;
  if (!form?.test(rest)) return undefined;
  const value = rest.startsWith(":") ? rest.slice(1) : undefined;
  return {
    qualifier: (qualifier || "+") as Qualifier,
    name: name.toLowerCase(),
    ...(value !== undefined && { value }),
  };
}

const lookupMechanisms = new Set(["include", "a", "mx", "ptr", "exists"]);

export interface SpfEvaluation {
  lookups: number;
  /** Qualifier for unlisted servers. Undefined means the same as `?`. */
  all?: Qualifier;
  /** Why receivers reject the policy (permerror). */
  broken?: string;
}
type SpfLookup = (domain: string) => Promise<string[]>;

/**
 * Follows a policy as receivers do, up to one lookup above their limit. `lookUp` returns the SPF
 * records of a domain.
 */
export async function evaluateSpf(
  domain: string,
  text: string,
  lookUp: SpfLookup,
): Promise<SpfEvaluation> {
  const walk = { lookups: 0, lookUp };
  const { all, broken } = await evaluatePolicy(domain, text, walk);
  return { lookups: walk.lookups, ...(all && { all }), ...(broken !== undefined && { broken }) };
}

interface SpfWalk {
  lookups: number;
  lookUp: SpfLookup;
}
type SpfResult = Pick<SpfEvaluation, "all" | "broken">;

async function evaluatePolicy(domain: string, text: string, walk: SpfWalk): Promise<SpfResult> {
  const policy = parseSpf(text);
  if (typeof policy === "string")
    return { broken: `The SPF record of ${domain} is not valid: ${policy}` };
  for (const { name, value, qualifier } of policy.mechanisms) {
    if (name === "all") return { all: qualifier };
    if (!lookupMechanisms.has(name)) continue;
    const broken =
      countLookup(domain, walk) ??
      (name === "include" ? (await evaluateInclude(domain, value!, walk)).broken : undefined);
    if (broken) return { broken };
  }
  if (policy.redirect === undefined) return {};
  const broken = countLookup(domain, walk);
  return broken ? { broken } : evaluateInclude(domain, policy.redirect, walk);
}

function countLookup(domain: string, walk: SpfWalk): string | undefined {
  walk.lookups++;
  return walk.lookups > maxLookups
    ? `The SPF record of ${domain} needs more than ${maxLookups} DNS lookups, so receivers ` +
        "reject it"
    : undefined;
}

async function evaluateInclude(domain: string, target: string, walk: SpfWalk): Promise<SpfResult> {
  // A macro depends on the sending server, so its target cannot be looked up.
  if (target.includes("%")) return {};
  const texts = await walk.lookUp(target);
  const [text] = texts;
  if (text === undefined)
    return { broken: `The SPF record of ${domain} includes ${target}, which has no SPF record` };
  return texts.length > 1
    ? {
        broken:
          `The SPF record of ${domain} includes ${target}, which has ${texts.length} SPF ` +
          "records",
      }
    : evaluatePolicy(target, text, walk);
}

export interface SpfCheck {
  check: Check;
  record: string | null;
  /** DNS lookups that receivers make, at most 10. Null if the record was not followed. */
  lookups: number | null;
}

/** `domain` is in ASCII. */
export function checkSpf(domain: string, options: DnsLookupOptions): Promise<SpfCheck> {
  const check = inconclusive(`The DNS lookup of the SPF record of ${domain} failed`);
  return orIfLookupFails<SpfCheck>({ check, record: null, lookups: null }, () =>
    evaluateDomain(domain, options),
  );
}

const lookUpSpf = async (domain: string, options: DnsLookupOptions): Promise<string[]> =>
  (await lookUpRecords("TXT", domain, options)).records.filter(isSpf);

async function evaluateDomain(domain: string, options: DnsLookupOptions): Promise<SpfCheck> {
  const texts = await lookUpSpf(domain, options);
  const record = texts[0] ?? null;
  if (record === null)
    return {
      check: warn(`${domain} has no SPF record, so it does not say which servers may send for it`),
      record,
      lookups: null,
    };
  if (texts.length > 1)
    return {
      check: fail(`${domain} has ${texts.length} SPF records, so none of them is valid`),
      record,
      lookups: null,
    };
  const { lookups, all, broken } = await evaluateSpf(domain, record, (target) =>
    lookUpSpf(target, options),
  );
  return { check: broken ? fail(broken) : verdicts[all ?? "?"](domain), record, lookups };
}

const verdicts: Record<Qualifier, (domain: string) => Check> = {
  "-": (domain) =>
    pass(`${domain} says which servers may send for it and rejects all others (-all)`),
  "~": (domain) =>
    pass(`${domain} says which servers may send for it and marks all others as suspicious (~all)`),
  "?": (domain) => warn(`${domain} does not say how to treat servers that it does not list`),
  "+": (domain) => fail(`${domain} allows every server to send for it (+all)`),
};
