// Compares the expected records of a domain with DNS.
import * as dns from "../../../adapters/dns/records.ts";
import { orIfLookupFails } from "../validation/check.ts";
import * as dmarc from "../validation/dmarc.ts";
import * as spf from "../validation/spf.ts";
import { type ExpectedRecord, type RecordPurpose, withIncludes } from "./expected-records.ts";

export const recordStates = ["pending", "found", "wrong"] as const;
export type RecordState = (typeof recordStates)[number];

export interface RecordResult {
  state: RecordState;
  /** The values that DNS has. */
  found: string[];
}
/** Identifies a record among those of its domain. */
export const recordKey = ({ purpose, type, name }: ExpectedRecord): string =>
  `${purpose} ${type} ${name}`;

/**
 * Looks the records up, without the DNS cache. If DNS does not answer, keeps the previous result in
 * `seen` and returns no `ownership`.
 */
export async function lookUpRecords(
  domain: string,
  expected: ExpectedRecord[],
  previous: Record<string, RecordResult>,
): Promise<{ seen: Record<string, RecordResult>; ownership: RecordResult | undefined }> {
  const named = expected.filter(({ name }) => name !== null);
  const results = await Promise.all(named.map((expected) => lookUpRecord(domain, expected)));
  const seen: Record<string, RecordResult> = {};
  for (const [i, record] of named.entries()) {
    const key = recordKey(record);
    const result = results[i] ?? previous[key];
    if (result) seen[key] = result;
  }
  return { seen, ownership: results[named.findIndex(({ purpose }) => purpose === "ownership")] };
}

const lookUpRecord = (domain: string, expected: ExpectedRecord) =>
  orIfLookupFails<RecordResult | undefined>(undefined, () =>
    recordChecks[expected.purpose](expected, domain),
  );

const options: dns.DnsLookupOptions = { skipCache: true };
const pendingResult: RecordResult = { state: "pending", found: [] };
const foundResult = (...records: string[]): RecordResult => ({
  state: "found",
  found: truncate(records),
});
const wrongResult = (...records: string[]): RecordResult => ({
  state: "wrong",
  found: truncate(records),
});
/** Bounds the size of the stored result. */
const truncate = (records: string[]): string[] =>
  records.slice(0, 5).map((record) => record.slice(0, maxShown));
const maxShown = 500;

const lookUpTxt = async (name: string): Promise<string[]> =>
  (await dns.lookUpRecords("TXT", name, options)).records;

const recordChecks: Record<
  RecordPurpose,
  (expected: ExpectedRecord, domain: string) => Promise<RecordResult>
> = {
  ownership: checkText,
  dkim: async (expected) =>
    expected.type === "CNAME"
      ? checkCname(expected, () => checkDkimKey(expected))
      : checkDkimKey(expected),
  spf: async ({ name, value }) => {
    const records = (await lookUpTxt(name!)).filter(spf.isSpf);
    const [record] = records;
    if (record === undefined) return pendingResult;
    return records.length > 1 || missingIncludes(record, value).length
      ? wrongResult(...records)
      : foundResult(record);
  },
  dmarc: async (_, domain) => {
    const nearest = await dmarc.lookUpDmarc(domain, options);
    if (!nearest) return pendingResult;
    const isValid =
      nearest.texts.length === 1 && typeof dmarc.parseDmarc(nearest.texts[0]!) === "object";
    return isValid ? foundResult(...nearest.texts) : wrongResult(...nearest.texts);
  },
  // The record may have further tags (RFC 7489, 7.1).
  dmarc_reports: async ({ name }) => {
    const records = await lookUpTxt(name!);
    const agreement = records.find(dmarc.isDmarc);
    if (agreement !== undefined) return foundResult(agreement);
    return records.length ? wrongResult(...records) : pendingResult;
  },
  return_path: async (expected) =>
    expected.type === "MX" ? checkMx(expected) : checkCname(expected, async () => pendingResult),
  // The name can be the domain itself, which has other texts.
  verification: async (expected) => {
    if (expected.type === "CNAME") return checkCname(expected, async () => pendingResult);
    const result = await checkText(expected);
    return result.state === "found" ? result : pendingResult;
  },
  tracking: async (expected) => checkCname(expected, async () => pendingResult),
};

async function checkText({ name, value }: ExpectedRecord): Promise<RecordResult> {
  const records = await lookUpTxt(name!);
  if (records.some((text) => text.trim() === value)) return foundResult(value!);
  return records.length ? wrongResult(...records) : pendingResult;
}

/** Checks for a DKIM key (RFC 6376, 3.6.1), also behind a CNAME. An empty key is revoked. */
async function checkDkimKey({ name, type, value }: ExpectedRecord): Promise<RecordResult> {
  const records = await lookUpTxt(name!);
  if (!records.length) return pendingResult;
  const keys = records.filter((text) => /(^|;)\s*p\s*=\s*[A-Za-z0-9+/]/.test(text));
  if (value === null) return keys.length ? foundResult(...keys) : wrongResult(...records);
  // If the provider requires a CNAME, a copied key would not follow its rotation of keys, so it is
  // reported as wrong.
  const own = type === "TXT" && keys.find((text) => dkimKeyOf(text) === dkimKeyOf(value));
  return own ? foundResult(own) : wrongResult(...records);
}

/** The key without the blanks that DNS consoles insert. */
const dkimKeyOf = (record: string): string | undefined =>
  /(?:^|;)p=([^;]*)/.exec(record.replace(/\s+/g, ""))?.[1];

async function checkCname(
  { name, value, alsoAccepted }: ExpectedRecord,
  otherwise: () => Promise<RecordResult>,
): Promise<RecordResult> {
  const [target] = (await dns.lookUpRecords("CNAME", name!, options)).records;
  if (target === undefined) return otherwise();
  if (target === value || alsoAccepted?.test(target)) return foundResult(target);
  return value === null && !alsoAccepted ? foundResult(target) : wrongResult(target);
}

async function checkMx({ name, value, alsoAccepted }: ExpectedRecord): Promise<RecordResult> {
  const hosts = (await dns.lookUpRecords("MX", name!, options)).records.map(
    ({ exchange }) => exchange,
  );
  const correct = hosts.filter((host) => host === value || alsoAccepted?.test(host));
  if (correct.length) return foundResult(...correct);
  return hosts.length ? wrongResult(...hosts) : pendingResult;
}

/**
 * Returns the SPF record to publish: the existing one with the missing includes. Undefined if there
 * is none and no provider needs one.
 */
export function completeSpf(
  expected: ExpectedRecord,
  { found: records }: RecordResult,
): ExpectedRecord | undefined {
  const [record] = records;
  if (record === undefined) return expected.value === null ? undefined : expected;
  // Several records, or a truncated or invalid one, cannot be completed.
  if (expected.value === null || records.length > 1 || record.length >= maxShown) return expected;
  const missing = missingIncludes(record, expected.value);
  return missing.includes(record)
    ? expected
    : { ...expected, value: withIncludes(record, missing) };
}

/** Returns the missing includes of the record, or the record itself if it is invalid. */
function missingIncludes(record: string, value: string | null): string[] {
  const actual = spf.parseSpf(record);
  const expected = spf.parseSpf(value ?? "v=spf1");
  if (typeof actual === "string" || typeof expected === "string") return [record];
  const includesOf = ({ mechanisms }: spf.SpfPolicy) =>
    mechanisms.flatMap(({ name, value }) =>
      name === "include" && value ? [value.toLowerCase()] : [],
    );
  return includesOf(expected).filter((host) => !includesOf(actual).includes(host));
}
