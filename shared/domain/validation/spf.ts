// SPF (RFC 7208): read, followed through its includes, its lookups counted. What is asked is not whether one server may send, but
// whether the policy works and what it says of everybody else.
import { type LookUpOptions, lookUp, NoRecords } from "../../doors/dns-records.ts";
import { type Check, fail, pass, unknown, warn } from "./check.ts";

const mostLookups = 10;

type Qualifier = "+" | "-" | "~" | "?";
interface Mechanism {
  qualifier: Qualifier;
  name: string;
  /** What follows the colon; a network's length stays with it. */
  value?: string;
}
export interface Policy {
  mechanisms: Mechanism[];
  redirect?: string;
}

export const isSpf = (text: string): boolean => /^v=spf1( |$)/i.test(text);

/** The policy, or what is wrong with it in one sentence. */
export function parse(text: string): Policy | string {
  const mechanisms: Mechanism[] = [];
  const modifiers = new Map<string, string>();
  for (const term of text.trim().split(/ +/).slice(1)) {
    const [, name = "", value = ""] = /^([a-z][\w.-]*)=(.*)$/i.exec(term) ?? [];
    const mechanism = mechanismOf(term);
    if (name) {
      if (modifiers.has(name.toLowerCase()) && /^(redirect|exp)$/i.test(name)) return `${name} stands there twice`;
      modifiers.set(name.toLowerCase(), value);
    } else if (mechanism) mechanisms.push(mechanism);
    else return `"${term.slice(0, 60)}" is no mechanism of SPF`;
  }
  const redirect = modifiers.get("redirect");
  return redirect === "" ? "redirect names no domain" : { mechanisms, ...(redirect !== undefined && { redirect }) };
}

const forms: Record<string, RegExp> = {
  all: /^$/,
  include: /^:[^/\s]+$/,
  exists: /^:[^/\s]+$/,
  a: /^(:[^/\s]+)?(\/\d{1,2})?(\/\/\d{1,3})?$/,
  mx: /^(:[^/\s]+)?(\/\d{1,2})?(\/\/\d{1,3})?$/,
  ptr: /^(:[^/\s]+)?$/,
  ip4: /^:\d{1,3}(\.\d{1,3}){3}(\/\d{1,2})?$/,
  ip6: /^:[\da-f:.]*:[\da-f:.]*(\/\d{1,3})?$/i,
};

function mechanismOf(term: string): Mechanism | undefined {
  const [, qualifier = "", name = "", rest = ""] = /^([+~?-]?)([a-z\d]+)([:/].*)?$/i.exec(term) ?? [];
  const form = Object.hasOwn(forms, name.toLowerCase()) ? forms[name.toLowerCase()] : undefined;
  if (!form?.test(rest)) return undefined;
  const value = rest.startsWith(":") ? rest.slice(1) : undefined;
  return { qualifier: (qualifier || "+") as Qualifier, name: name.toLowerCase(), ...(value !== undefined && { value }) };
}

const asking = new Set(["include", "a", "mx", "ptr", "exists"]);

export interface Followed {
  lookups: number;
  /** What it says of servers that nothing else names; undefined: nothing, as good as `?all`. */
  all?: Qualifier;
  /** Why receivers will give up on it (permerror). */
  broken?: string;
}
type Ask = (domain: string) => Promise<string[]>;

/** Follows a policy as receivers do, up to one lookup more than they make. `ask` answers with the SPF texts of a domain. */
export async function follow(domain: string, text: string, ask: Ask): Promise<Followed> {
  const walk = { lookups: 0, ask };
  const { all, broken } = await policyOf(domain, text, walk);
  return { lookups: walk.lookups, ...(all && { all }), ...(broken !== undefined && { broken }) };
}

interface Walk {
  lookups: number;
  ask: Ask;
}
type Outcome = Pick<Followed, "all" | "broken">;

async function policyOf(domain: string, text: string, walk: Walk): Promise<Outcome> {
  const policy = parse(text);
  if (typeof policy === "string") return { broken: `SPF of ${domain}: ${policy}` };
  for (const { name, value, qualifier } of policy.mechanisms) {
    if (name === "all") return { all: qualifier };
    if (!asking.has(name)) continue;
    const broken = count(domain, walk) ?? (name === "include" ? (await included(domain, value!, walk)).broken : undefined);
    if (broken) return { broken };
  }
  if (policy.redirect === undefined) return {};
  const broken = count(domain, walk);
  return broken ? { broken } : included(domain, policy.redirect, walk);
}

function count(domain: string, walk: Walk): string | undefined {
  walk.lookups++;
  return walk.lookups > mostLookups ? `SPF of ${domain} takes more than ${mostLookups} lookups, where receivers give up` : undefined;
}

async function included(domain: string, target: string, walk: Walk): Promise<Outcome> {
  // It depends on who sends, so it can only be counted.
  if (target.includes("%")) return {};
  const texts = await walk.ask(target);
  const [text] = texts;
  if (text === undefined) return { broken: `SPF of ${domain} includes ${target}, which has none` };
  return texts.length > 1
    ? { broken: `${target}, which ${domain} includes, has ${texts.length} SPF records` }
    : policyOf(target, text, walk);
}

export interface Spf {
  check: Check;
  record: string | null;
  /** DNS lookups that it costs a receiver, of 10 at the most; null when it was not followed. */
  lookups: number | null;
}

/** `domain` in ASCII. */
export async function spf(domain: string, options: LookUpOptions): Promise<Spf> {
  try {
    return await judged(domain, options);
  } catch (error) {
    if (error instanceof NoRecords) return { check: unknown(`DNS did not tell all of the SPF of ${domain}`), record: null, lookups: null };
    throw error;
  }
}

const textsOf = async (domain: string, options: LookUpOptions): Promise<string[]> =>
  (await lookUp("TXT", domain, options)).records.filter(isSpf);

async function judged(domain: string, options: LookUpOptions): Promise<Spf> {
  const texts = await textsOf(domain, options);
  const record = texts[0] ?? null;
  if (record === null) return { check: warn(`${domain} has no SPF record: it does not say who may send for it`), record, lookups: null };
  if (texts.length > 1) return { check: fail(`${domain} has ${texts.length} SPF records, so none holds`), record, lookups: null };
  const { lookups, all, broken } = await follow(domain, record, (target) => textsOf(target, options));
  return { check: broken ? fail(broken) : verdicts[all ?? "?"](domain), record, lookups };
}

const verdicts: Record<Qualifier, (domain: string) => Check> = {
  "-": (domain) => pass(`${domain} says who may send for it, and refuses all others`),
  "~": (domain) => pass(`${domain} says who may send for it, and doubts all others`),
  "?": (domain) => warn(`${domain} says nothing of servers that it does not name`),
  "+": (domain) => fail(`${domain} lets everybody send for it (+all)`),
};
