// The address that mailbox providers can send DMARC and TLS reports to.
import { queryAll } from "../../../adapters/dynamodb/table.ts";
import { domainOf } from "../../../kernel/email-fields.ts";
import { ranges } from "../../../keys.ts";
import type { Site } from "../../identity/sites.ts";
import { organizationalDomain } from "../public-suffixes.ts";

/** The address that the first site with inbound email receives it for. Undefined: no site does. */
export async function getReportAddress(orgId: number): Promise<string | undefined> {
  const sites = await queryAll<Site>(ranges.records(orgId, "SITE"));
  return sites.find(({ inbound }) => inbound?.address)?.inbound?.address;
}

/** As a URI in a DNS record, where `,`, `;` and `!` have a meaning (RFC 7489, 6.2). */
export const toReportUri = (address: string): string =>
  `mailto:${encodeURIComponent(address).replace(/%40|%2B|!/g, (one) => plain[one]!)}`;
const plain: Record<string, string> = { "%40": "@", "%2B": "+", "!": "%21" };

/**
 * The name of the TXT record `v=DMARC1` by which the domain of the address agrees to receive the
 * reports of another domain (RFC 7489, 7.1). Undefined if none is needed.
 */
export function agreementRecordName(domain: string, address: string): string | undefined {
  const receiver = domainOf(address);
  return organizationalDomain(receiver) === organizationalDomain(domain)
    ? undefined
    : `${domain}._report._dmarc.${receiver}`;
}
