// Checks the optional standards of a domain: BIMI, MTA-STS and TLS reports. They are advice, so a
// missing one is `absent` and never wrong.
import * as dns from "../../../adapters/dns/records.ts";
import { NoResponse } from "../../../adapters/http/no-response.ts";
import { requestPublicUrl } from "../../../adapters/http/public-client.ts";
import { config } from "../../../config.ts";
import { organizationalDomain } from "../public-suffixes.ts";
import { orIfLookupFails } from "../validation/check.ts";
import { type DmarcRecord, lookUpDmarc, parseDmarc } from "../validation/dmarc.ts";

export const standardReasons = [
  "lookup_failed",
  "dmarc_without_reports",
  "dmarc_reports_found",
  "bimi_absent",
  "bimi_invalid",
  "bimi_needs_policy",
  "bimi_declined",
  "bimi_found",
  "mta_sts_absent",
  "mta_sts_invalid",
  "mta_sts_policy_missing",
  "mta_sts_policy_invalid",
  "mta_sts_mx_mismatch",
  "mta_sts_not_enforced",
  "mta_sts_found",
  "tls_rpt_absent",
  "tls_rpt_invalid",
  "tls_rpt_found",
] as const;
export type StandardReason = (typeof standardReasons)[number];

export interface StandardResult {
  result: "pass" | "absent" | "wrong" | "unknown";
  reason: StandardReason;
  /** What DNS or the policy has, at most 500 characters. */
  found: string | null;
}

export const standardNames = ["dmarc_reports", "bimi", "mta_sts", "tls_rpt"] as const;
export type DomainStandards = Record<(typeof standardNames)[number], StandardResult>;

/** `name` is in ASCII. */
export async function checkStandards(name: string): Promise<DomainStandards> {
  const orUnknown = (check: () => Promise<StandardResult>) =>
    orIfLookupFails<StandardResult>(
      { result: "unknown", reason: "lookup_failed", found: null },
      check,
    );
  const [dmarcReports, bimi, mtaSts, tlsRpt] = await Promise.all([
    orUnknown(() => checkDmarcReports(name)),
    orUnknown(() => checkBimi(name)),
    orUnknown(() => checkMtaSts(name)),
    orUnknown(() => checkTlsReporting(name)),
  ]);
  return { dmarc_reports: dmarcReports, bimi, mta_sts: mtaSts, tls_rpt: tlsRpt };
}

const maxShown = 500;
const resultWith =
  (result: StandardResult["result"]) =>
  (reason: StandardReason, found: string | null = null): StandardResult => ({
    result,
    reason,
    found: found?.slice(0, maxShown) ?? null,
  });
const [passed, absent, wrong] = [resultWith("pass"), resultWith("absent"), resultWith("wrong")];

/** The TXT records of the name that begin with this version. */
async function lookUpVersion(name: string, version: string): Promise<string[]> {
  const { records } = await dns.lookUpRecords("TXT", name, { skipCache: true });
  return records.filter((text) => text.split(";")[0]!.replace(/\s/g, "") === `v=${version}`);
}

/** Tags as `name=value`, parted by semicolons. Undefined for a part that is none. */
function parseTags(record: string): Map<string, string> | undefined {
  const parts = record.split(";").map((part) => part.trim());
  const tags = new Map<string, string>();
  for (const [i, part] of parts.entries()) {
    if (!part && i > 0) continue;
    const at = part.indexOf("=");
    if (at < 1) return undefined;
    tags.set(part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim());
  }
  return tags;
}

async function readDmarc(name: string): Promise<[text: string, DmarcRecord] | undefined> {
  const found = await lookUpDmarc(name, { skipCache: true });
  const text = found?.texts.length === 1 ? found.texts[0]! : "";
  const record = parseDmarc(text);
  if (!found || typeof record === "string") return undefined;
  const policy = found.recordDomain === name ? record.policy : record.subdomainPolicy;
  return [text, { ...record, policy }];
}

async function checkDmarcReports(name: string): Promise<StandardResult> {
  const [text] = (await readDmarc(name)) ?? [];
  const addresses = text && parseTags(text)?.get("rua");
  return addresses
    ? passed("dmarc_reports_found", addresses)
    : absent("dmarc_without_reports", text ?? null);
}

/** A domain without a record uses that of its organizational domain. */
async function checkBimi(name: string): Promise<StandardResult> {
  for (const at of new Set([name, organizationalDomain(name) ?? name])) {
    const records = await lookUpVersion(`default._bimi.${at}`, "BIMI1");
    if (records.length) return checkBimiRecord(name, records);
  }
  return absent("bimi_absent");
}

async function checkBimiRecord(name: string, records: string[]): Promise<StandardResult> {
  const [record = ""] = records;
  const tags = parseTags(record);
  const logo = tags?.get("l") ?? "";
  const certificate = tags?.get("a") ?? "";
  if (tags && records.length === 1 && !logo && !certificate && tags.has("l"))
    return absent("bimi_declined", record);
  const isLogo =
    URL.parse(logo)?.protocol === "https:" && /\.svgz?$/i.test(URL.parse(logo)!.pathname);
  const isCertificate = !certificate || URL.parse(certificate)?.protocol === "https:";
  if (records.length > 1 || !isLogo || !isCertificate)
    return wrong("bimi_invalid", records.join("\n"));
  const [, dmarc] = (await readDmarc(name)) ?? [];
  const isEnforced = dmarc !== undefined && dmarc.policy !== "none" && dmarc.percent === 100;
  return isEnforced ? passed("bimi_found", record) : wrong("bimi_needs_policy", record);
}

async function checkTlsReporting(name: string): Promise<StandardResult> {
  const records = await lookUpVersion(`_smtp._tls.${name}`, "TLSRPTv1");
  if (!records.length) return absent("tls_rpt_absent");
  const addresses = (records.length === 1 && parseTags(records[0]!)?.get("rua")) || "";
  const isValid = addresses
    .split(",")
    .every((uri) => /^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/i.test(uri.trim()));
  return isValid
    ? passed("tls_rpt_found", records[0])
    : wrong("tls_rpt_invalid", records.join("\n"));
}

async function checkMtaSts(name: string): Promise<StandardResult> {
  const records = await lookUpVersion(`_mta-sts.${name}`, "STSv1");
  if (!records.length) return absent("mta_sts_absent");
  const id = records.length === 1 && parseTags(records[0]!)?.get("id");
  if (!id || !/^[a-z0-9]{1,32}$/i.test(id)) return wrong("mta_sts_invalid", records.join("\n"));
  const text = await fetchPolicy(`https://mta-sts.${name}/.well-known/mta-sts.txt`);
  if (text === undefined) return wrong("mta_sts_policy_missing", records[0]);
  const policy = parsePolicy(text);
  if (!policy) return wrong("mta_sts_policy_invalid", text);
  const { records: hosts } = await dns.lookUpRecords("MX", name, { skipCache: true });
  if (!hosts.every(({ exchange }) => policy.mx.some((pattern) => matchesMx(exchange, pattern))))
    return wrong("mta_sts_mx_mismatch", hosts.map(({ exchange }) => exchange).join(", "));
  return policy.mode === "enforce"
    ? passed("mta_sts_found", text)
    : absent("mta_sts_not_enforced", text);
}

const maxPolicyBytes = 64_000;
const timeoutSeconds = 10;

/** Undefined without a response with status 200. Redirects are not followed (RFC 8461, 3.3). */
export async function fetchPolicy(url: string): Promise<string | undefined> {
  try {
    const { status, text } = await requestPublicUrl({
      url,
      timeoutSeconds,
      maxBytes: maxPolicyBytes,
      allowLoopback: config.allowLoopbackWebhooks,
    });
    return status === 200 ? text : undefined;
  } catch (error) {
    if (error instanceof NoResponse) return undefined;
    throw error;
  }
}

export interface MtaStsPolicy {
  mode: "enforce" | "testing" | "none";
  mx: string[];
}

const modes = ["enforce", "testing", "none"] as const;
const maxHosts = 200;

/** A policy (RFC 8461, 3.2). Undefined if it is not valid. */
export function parsePolicy(text: string): MtaStsPolicy | undefined {
  const fields = text.split(/\r?\n/).flatMap((line) => {
    const at = line.indexOf(":");
    return at > 0 ? [[line.slice(0, at).trim(), line.slice(at + 1).trim()] as const] : [];
  });
  const fieldValue = (name: string) => fields.find(([field]) => field === name)?.[1];
  const mode = modes.find((one) => one === fieldValue("mode"));
  const mx = fields.flatMap(([name, value]) => (name === "mx" ? [value.toLowerCase()] : []));
  const isValid =
    fieldValue("version") === "STSv1" && mode && /^\d{1,8}$/.test(fieldValue("max_age") ?? "");
  if (!isValid || (mode !== "none" && !mx.length)) return undefined;
  return { mode, mx: mx.slice(0, maxHosts) };
}

/** `*.` stands for one label (RFC 8461, 4.1). */
export function matchesMx(host: string, pattern: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  if (!pattern.startsWith("*.")) return name === pattern;
  return name.slice(name.indexOf(".")) === pattern.slice(1);
}
