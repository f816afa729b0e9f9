// Whether anybody takes mail for a domain: MX, else the address of the domain itself (RFC 5321, 5.1), and the null MX of RFC 7505.
import { type LookUpOptions, lookUp, NoRecords } from "../../doors/dns-records.ts";
import { type Check, fail, pass, unknown, warn } from "./check.ts";

/** `domain` in ASCII. */
export async function mailExchangers(domain: string, options: LookUpOptions): Promise<Check> {
  try {
    return await found(domain, options);
  } catch (error) {
    if (error instanceof NoRecords) return unknown(`DNS did not tell who takes mail for ${domain}`);
    throw error;
  }
}

async function found(domain: string, options: LookUpOptions): Promise<Check> {
  const { records, exists } = await lookUp("MX", domain, options);
  if (!exists) return fail(`There is no domain ${domain}`);
  const hosts = records.filter(({ exchange }) => !isNull(exchange)).sort((a, b) => a.preference - b.preference);
  if (hosts.length) return pass(`${hosts[0]!.exchange} takes mail for ${domain}`);
  if (records.length) return fail(`${domain} says that it takes no mail (null MX)`);
  return (await hasAddress(domain, options))
    ? warn(`${domain} has no MX record; mail is tried at the domain itself`)
    : fail(`${domain} has neither an MX record nor an address: nobody takes its mail`);
}

const isNull = (exchange: string): boolean => exchange === "." || exchange === "";

/** One kind of address is enough; where one is found, the other need not be told. */
async function hasAddress(domain: string, options: LookUpOptions): Promise<boolean> {
  const [four, six] = await Promise.allSettled([lookUp("A", domain, options), lookUp("AAAA", domain, options)]);
  for (const answer of [four, six]) if (answer.status === "fulfilled" && answer.value.records.length) return true;
  for (const answer of [four, six]) if (answer.status === "rejected") throw answer.reason;
  return false;
}
