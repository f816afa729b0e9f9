// What a domain lacks of what mailbox providers ask, with warnings before their limits.
import { afterAll, beforeAll, expect, test } from "vitest";
import { worker as jobs } from "../../functions/queue/jobs.ts";
import { put, write } from "../../shared/adapters/dynamodb/table.ts";
import type { Caller } from "../../shared/caller.ts";
import { now } from "../../shared/clock.ts";
import { getAdvice } from "../../shared/domain/analytics/domain-advice.ts";
import * as organizations from "../../shared/domain/identity/organizations.ts";
import { changeSettings } from "../../shared/domain/inbound/inbound-settings.ts";
import * as domains from "../../shared/domain/senders/domains/domains.ts";
import { keys } from "../../shared/keys.ts";
import { createAccount } from "../support/accounts.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { createSequenceSender } from "../support/sequences.ts";
import { runWorkers, useVirtualQueues } from "../support/virtual-queues.ts";

let dns: DnsServer;
beforeAll(async () => {
  await useVirtualQueues();
  dns = await startDnsServer({ records: {} });
  process.env.DNS_SERVERS = dns.address;
});
afterAll(() => dns.close());

async function addDomain(caller: Caller, name: string) {
  const { id } = await domains.add(caller, domains.NewDomain.parse({ name }));
  await runWorkers([jobs]);
  return id;
}

const resultsOf = async (caller: Caller, id: number) => {
  const { checks } = await getAdvice(caller, id);
  return Object.fromEntries(
    checks.map(({ name, result, reason }) => [name, `${result} ${reason}`]),
  );
};

/** Today's counters, as events of providers leave them. */
async function count(
  { orgId }: Caller,
  siteId: number,
  domainCounts: Record<string, { delivered: number; complained: number }>,
) {
  const { today: date } = await organizations.getCalendar(orgId);
  const delivered = Object.values(domainCounts).reduce((sum, one) => sum + one.delivered, 0);
  await write(
    put(keys.dayCounters(orgId, siteId, { date, shard: 0 }), { sent: delivered, delivered }),
    ...Object.entries(domainCounts).map(([domain, counts]) =>
      put(keys.dayDomainCounters(orgId, siteId, { date, domain, shard: 0 }), counts),
    ),
  );
}

test("a new domain lacks what is required, and optional standards are only advice", async () => {
  const { caller } = await createAccount();
  const id = await addDomain(caller, `d${crypto.randomUUID().slice(0, 8)}.com`);
  expect(await resultsOf(caller, id)).toEqual({
    dkim: "unknown dkim_unknown",
    spf: "unknown spf_of_provider",
    dmarc: "fail dmarc_missing",
    alignment: "unknown alignment_unknown",
    one_click_unsubscribe: "fail one_click_needs_https",
    spam_rate: "unknown spam_rate_unknown",
    volume: "pass volume_low",
    dmarc_reports: "absent dmarc_without_reports",
    bimi: "absent bimi_absent",
    mta_sts: "absent mta_sts_absent",
    tls_rpt: "absent tls_rpt_absent",
  });
  const { caller: other } = await createAccount();
  await expect(getAdvice(other, id)).rejects.toMatchObject({ kind: "missing" });
});

test("records and figures are judged, and limits warned of before they are reached", async () => {
  const sender = await createSequenceSender();
  const { caller, siteId } = sender;
  const name = `d${crypto.randomUUID().slice(0, 8)}.com`;
  Object.assign(dns.zone.records, {
    [`TXT _dmarc.${name}`]: ["v=DMARC1; p=reject; rua=mailto:r@in.shop.example"],
    [`TXT default._bimi.${name}`]: ["v=BIMI1; l=https://cdn.example.com/logo.svg"],
    [`TXT s1._domainkey.${name}`]: ["p=MIGf"],
  });
  await changeSettings(caller, siteId, { address: "r@in.shop.example" });
  const id = await addDomain(caller, name);
  await domains.change(caller, id, { dkimSelectors: ["s1"] });
  await runWorkers([jobs]);
  const rateOf = async (complained: number, gmail: number) => {
    await count(caller, siteId, {
      "yahoo.com": { delivered: 2000, complained },
      "tiny.example": { delivered: 10, complained: 5 },
      "gmail.com": { delivered: gmail, complained: 0 },
    });
    return resultsOf(caller, id);
  };
  expect(await rateOf(1, 3000)).toMatchObject({
    dkim: "pass dkim_found",
    dmarc: "pass dmarc_found",
    dmarc_reports: "pass dmarc_reports_found",
    bimi: "pass bimi_found",
    spam_rate: "pass spam_rate_good",
    volume: "pass volume_low",
  });
  expect(await rateOf(3, 4200)).toMatchObject({
    spam_rate: "warn spam_rate_near_limit",
    volume: "warn volume_near_bulk",
  });
  expect(await rateOf(7, 6000)).toMatchObject({
    spam_rate: "fail spam_rate_over_limit",
    volume: "pass volume_bulk",
  });
  const { complaintRates, dailyPeak, checkedAt } = await getAdvice(caller, id);
  const yahoo = { mailboxProvider: "Yahoo", delivered: 2000, complained: 7, complaintRate: 0.0035 };
  expect(complaintRates).toContainEqual(yahoo);
  expect(dailyPeak).toMatchObject({ messages: 6000 });
  expect(Date.parse(checkedAt!)).toBeLessThanOrEqual(now().getTime());
  await sender.provider.stop();
});

test("the records have the consent of another domain that receives the reports", async () => {
  const { caller, siteId, provider } = await createSequenceSender();
  const name = `d${crypto.randomUUID().slice(0, 8)}.com`;
  const address = "reports@in.other.example";
  await changeSettings(caller, siteId, { address });
  const id = await addDomain(caller, name);
  const readRecords = async () => (await domains.findDetail(caller, id)).dnsRecords.slice(-2);
  expect(await readRecords()).toMatchObject([
    { purpose: "dmarc", value: `v=DMARC1; p=none; rua=mailto:${address}` },
    { purpose: "dmarc_reports", value: "v=DMARC1", state: "pending" },
  ]);
  dns.zone.records[`TXT ${name}._report._dmarc.in.other.example`] = ["v=DMARC1"];
  await addDomain(caller, name);
  expect(await readRecords()).toMatchObject([{ state: "pending" }, { state: "found" }]);
  await provider.stop();
});
