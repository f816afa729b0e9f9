// DMARC (RFC 7489): what a domain asks receivers to do with mail that imitates it.
import { type DnsLookupOptions, lookUpRecords } from "../../../adapters/dns/records.ts";
import { organizationalDomain } from "../public-suffixes.ts";
import { type Check, fail, inconclusive, orIfLookupFails, pass, warn } from "./check.ts";

const policies = ["none", "quarantine", "reject"] as const;
export type DmarcPolicy = (typeof policies)[number];
type Alignment = "relaxed" | "strict";

export interface DmarcRecord {
  policy: DmarcPolicy;
  /** Policy for subdomains of the domain with the record. */
  subdomainPolicy: DmarcPolicy;
  /** Percentage of failing mail that the policy applies to. */
  percent: number;
  dkimAlignment: Alignment;
  spfAlignment: Alignment;
}

export const isDmarc = (text: string): boolean => /^v\s*=\s*DMARC1\s*(;|$)/.test(text);

/** Returns the record, or a sentence fragment that tells why it is invalid. */
export function parseDmarc(text: string): DmarcRecord | string {
  const tags = new Map<string, string>();
  for (const part of text.split(";").slice(1)) {
    const [, name, value = ""] = /^([a-z]+)\s*=\s*(.*)$/i.exec(part.trim()) ?? [];
    if (name) tags.set(name.toLowerCase(), value);
  }
  // A record with a report address but without a policy has the policy `none` (6.6.3).
  const policy = policyOf(tags.get("p")) ?? (tags.get("rua") ? "none" : undefined);
  if (!policy)
    return tags.has("p") ? `p=${tags.get("p")!.slice(0, 40)} is not a policy` : "it has no policy";
  const percent = /^\d{1,3}$/.test(tags.get("pct") ?? "")
    ? Math.min(Number(tags.get("pct")), 100)
    : 100;
  const alignmentOf = (tag: string): Alignment =>
    tags.get(tag)?.toLowerCase() === "s" ? "strict" : "relaxed";
  return {
    policy,
    subdomainPolicy: policyOf(tags.get("sp")) ?? policy,
    percent,
    dkimAlignment: alignmentOf("adkim"),
    spfAlignment: alignmentOf("aspf"),
  };
}

const policyOf = (text: string | undefined): DmarcPolicy | undefined =>
  policies.find((policy) => policy === text?.toLowerCase());

export interface DmarcCheck {
  check: Check;
  /** The domain with the record: the domain itself or its organizational domain. */
  domain: string | null;
  record: string | null;
  /** Policy for the checked domain. */
  policy: DmarcPolicy | null;
  dkimAlignment: Alignment | null;
  spfAlignment: Alignment | null;
}

const noRecord = {
  domain: null,
  record: null,
  policy: null,
  dkimAlignment: null,
  spfAlignment: null,
};

/** `domain` is in ASCII. */
export function checkDmarc(domain: string, options: DnsLookupOptions): Promise<DmarcCheck> {
  const check = inconclusive(`The DNS lookup of the DMARC policy of ${domain} failed`);
  return orIfLookupFails<DmarcCheck>({ check, ...noRecord }, () => evaluateDmarc(domain, options));
}

async function evaluateDmarc(domain: string, options: DnsLookupOptions): Promise<DmarcCheck> {
  const found = await lookUpDmarc(domain, options);
  if (!found)
    return {
      check: warn(
        `${domain} has no DMARC policy, so receivers need not reject mail that imitates it`,
      ),
      ...noRecord,
    };
  const { recordDomain, texts } = found;
  const [record = ""] = texts;
  if (texts.length > 1)
    return {
      check: fail(`${recordDomain} has ${texts.length} DMARC records, so none of them is valid`),
      ...noRecord,
      domain: recordDomain,
      record,
    };
  const parsed = parseDmarc(record);
  if (typeof parsed === "string")
    return {
      check: fail(`The DMARC record of ${recordDomain} is not valid: ${parsed}`),
      ...noRecord,
      domain: recordDomain,
      record,
    };
  const policy = recordDomain === domain ? parsed.policy : parsed.subdomainPolicy;
  const { percent, dkimAlignment, spfAlignment } = parsed;
  return {
    check: policyCheck(domain, policy, percent),
    domain: recordDomain,
    record,
    policy,
    dkimAlignment,
    spfAlignment,
  };
}

/** Looks up the records of the domain, otherwise those of its organizational domain (6.6.3). */
export async function lookUpDmarc(
  domain: string,
  options: DnsLookupOptions,
): Promise<{ recordDomain: string; texts: string[] } | undefined> {
  const organizational = organizationalDomain(domain) ?? domain;
  for (const recordDomain of new Set([domain, organizational])) {
    const texts = (await lookUpRecords("TXT", `_dmarc.${recordDomain}`, options)).records.filter(
      isDmarc,
    );
    if (texts.length) return { recordDomain, texts };
  }
  return undefined;
}

function policyCheck(domain: string, policy: DmarcPolicy, percent: number): Check {
  if (policy === "none")
    return warn(
      `${domain} only monitors: it asks receivers to deliver mail that imitates it (p=none)`,
    );
  const what = policy === "reject" ? "rejected" : "treated as suspicious";
  return percent < 100
    ? warn(`${domain} asks that ${percent} % of the mail that imitates it be ${what}`)
    : pass(`${domain} asks that mail that imitates it be ${what}`);
}
