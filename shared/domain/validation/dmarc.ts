// DMARC (RFC 7489): what a domain wants done with mail that only pretends to be its own.
import { type LookUpOptions, lookUp, NoRecords } from "../../doors/dns-records.ts";
import { organizationalDomain } from "../../public-suffixes.ts";
import { type Check, fail, pass, unknown, warn } from "./check.ts";

const policies = ["none", "quarantine", "reject"] as const;
export type DmarcPolicy = (typeof policies)[number];
type Alignment = "relaxed" | "strict";

interface Dmarc {
  policy: DmarcPolicy;
  /** For domains below the one that has the record. */
  subdomainPolicy: DmarcPolicy;
  /** How much of the failing mail it is applied to. */
  percent: number;
  dkimAlignment: Alignment;
  spfAlignment: Alignment;
}

export const isDmarc = (text: string): boolean => /^v\s*=\s*DMARC1\s*(;|$)/.test(text);

/** The record, or what is wrong with it in one sentence. */
export function parse(text: string): Dmarc | string {
  const tags = new Map<string, string>();
  for (const part of text.split(";").slice(1)) {
    const [, name, value = ""] = /^([a-z]+)\s*=\s*(.*)$/i.exec(part.trim()) ?? [];
    if (name) tags.set(name.toLowerCase(), value);
  }
  // Without a policy, a place for reports still makes it one of `none` (6.6.3).
  const policy = policyOf(tags.get("p")) ?? (tags.get("rua") ? "none" : undefined);
  if (!policy) return tags.has("p") ? `p=${tags.get("p")!.slice(0, 40)} is no policy` : "it names no policy";
  const percent = /^\d{1,3}$/.test(tags.get("pct") ?? "") ? Math.min(Number(tags.get("pct")), 100) : 100;
  const aligned = (tag: string): Alignment => (tags.get(tag)?.toLowerCase() === "s" ? "strict" : "relaxed");
  return {
    policy,
    subdomainPolicy: policyOf(tags.get("sp")) ?? policy,
    percent,
    dkimAlignment: aligned("adkim"),
    spfAlignment: aligned("aspf"),
  };
}

const policyOf = (text: string | undefined): DmarcPolicy | undefined => policies.find((policy) => policy === text?.toLowerCase());

export interface DmarcFound {
  check: Check;
  /** Where the record stands: at the domain itself, or at its organizational domain. */
  domain: string | null;
  record: string | null;
  /** What holds for the domain that was asked about. */
  policy: DmarcPolicy | null;
  dkimAlignment: Alignment | null;
  spfAlignment: Alignment | null;
}

const nothing = { domain: null, record: null, policy: null, dkimAlignment: null, spfAlignment: null };

/** `domain` in ASCII. */
export async function dmarc(domain: string, options: LookUpOptions): Promise<DmarcFound> {
  try {
    return await judged(domain, options);
  } catch (error) {
    if (error instanceof NoRecords) return { check: unknown(`DNS did not tell the DMARC policy of ${domain}`), ...nothing };
    throw error;
  }
}

async function judged(domain: string, options: LookUpOptions): Promise<DmarcFound> {
  const found = await nearest(domain, options);
  if (!found) return { check: warn(`${domain} has no DMARC policy: nothing is asked about mail that pretends to be from it`), ...nothing };
  const { at, texts } = found;
  const [record = ""] = texts;
  if (texts.length > 1) return { check: fail(`${at} has ${texts.length} DMARC records, so none holds`), ...nothing, domain: at, record };
  const read = parse(record);
  if (typeof read === "string") return { check: fail(`The DMARC record of ${at} does not hold: ${read}`), ...nothing, domain: at, record };
  const policy = at === domain ? read.policy : read.subdomainPolicy;
  const { percent, dkimAlignment, spfAlignment } = read;
  return { check: verdict(domain, policy, percent), domain: at, record, policy, dkimAlignment, spfAlignment };
}

/** The records of the domain itself; where there are none, those of its organizational domain (6.6.3). */
export async function nearest(domain: string, options: LookUpOptions): Promise<{ at: string; texts: string[] } | undefined> {
  const organizational = organizationalDomain(domain) ?? domain;
  for (const at of new Set([domain, organizational])) {
    const texts = (await lookUp("TXT", `_dmarc.${at}`, options)).records.filter(isDmarc);
    if (texts.length) return { at, texts };
  }
  return undefined;
}

function verdict(domain: string, policy: DmarcPolicy, percent: number): Check {
  if (policy === "none") return warn(`${domain} only watches: mail that pretends to be from it is let through (p=none)`);
  const what = policy === "reject" ? "refused" : "treated as suspicious";
  return percent < 100
    ? warn(`${domain} wants ${percent} % of the mail that pretends to be from it ${what}`)
    : pass(`${domain} wants mail that pretends to be from it ${what}`);
}
