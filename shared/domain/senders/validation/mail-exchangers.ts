// Checks whether a domain accepts mail: by its MX records, otherwise by its own IP address (RFC
// 5321,
// 5.1). A null MX (RFC 7505) accepts none.
import { type DnsLookupOptions, lookUpRecords } from "../../../adapters/dns/records.ts";
import { type Check, fail, inconclusive, orIfLookupFails, pass, warn } from "./check.ts";

/** `domain` is in ASCII. */
export const checkMailExchangers = (domain: string, options: DnsLookupOptions): Promise<Check> =>
  orIfLookupFails(inconclusive(`The DNS lookup of the mail servers of ${domain} failed`), () =>
    evaluateMx(domain, options),
  );

async function evaluateMx(domain: string, options: DnsLookupOptions): Promise<Check> {
  const { records, exists } = await lookUpRecords("MX", domain, options);
  if (!exists) return fail(`The domain ${domain} does not exist`);
  const hosts = records
    .filter(({ exchange }) => !isNull(exchange))
    .sort((a, b) => a.preference - b.preference);
  if (hosts.length) return pass(`${hosts[0]!.exchange} accepts mail for ${domain}`);
  if (records.length) return fail(`${domain} does not accept mail (null MX)`);
  return (await hasAddress(domain, options))
    ? warn(`${domain} has no MX record, so mail goes to the domain's own IP address`)
    : fail(`${domain} has neither an MX record nor an IP address, so it cannot receive mail`);
}

const isNull = (exchange: string): boolean => exchange === "." || exchange === "";

/** An IPv4 or IPv6 address is enough. If one lookup finds an address, the other one may fail. */
async function hasAddress(domain: string, options: DnsLookupOptions): Promise<boolean> {
  const lookups = await Promise.allSettled([
    lookUpRecords("A", domain, options),
    lookUpRecords("AAAA", domain, options),
  ]);
  for (const lookup of lookups)
    if (lookup.status === "fulfilled" && lookup.value.records.length) return true;
  for (const lookup of lookups) if (lookup.status === "rejected") throw lookup.reason;
  return false;
}
