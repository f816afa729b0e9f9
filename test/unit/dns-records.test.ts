import { afterEach, expect, test } from "vitest";
import { DnsLookupFailed, lookUpRecords } from "../../shared/adapters/dns/records.ts";
import * as clock from "../../shared/clock.ts";
import {
  type DnsFault,
  type DnsServer,
  type DnsZone,
  startDnsServer,
} from "../support/dns-server.ts";

const open: DnsServer[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  delete process.env.DNS_SERVERS;
});

async function serving(...zones: DnsZone[]): Promise<DnsServer[]> {
  const servers = await Promise.all(zones.map(startDnsServer));
  open.push(...servers);
  process.env.DNS_SERVERS = servers.map(({ address }) => address).join(", ");
  return servers;
}

test("returns records of each type", async () => {
  const long = `v=spf1 ${"ip4:192.0.2.1 ".repeat(40)}-all`;
  await serving({
    records: {
      "MX shop.example": [
        { preference: 20, exchange: "Two.shop.example" },
        { preference: 10, exchange: "one.shop.example" },
      ],
      "TXT shop.example": [long, "words"],
      "A shop.example": ["192.0.2.7"],
      "AAAA shop.example": ["2001:db8::7"],
      "CNAME www.shop.example": ["shop.example"],
      "MX nomail.example": [{ preference: 0, exchange: "." }],
    },
  });
  expect((await lookUpRecords("MX", "Shop.Example.")).records).toEqual([
    { preference: 20, exchange: "two.shop.example" },
    { preference: 10, exchange: "one.shop.example" },
  ]);
  expect((await lookUpRecords("TXT", "shop.example")).records).toEqual([long, "words"]);
  expect((await lookUpRecords("A", "www.shop.example")).records).toEqual(["192.0.2.7"]);
  expect((await lookUpRecords("AAAA", "shop.example")).records).toEqual(["2001:db8::7"]);
  expect((await lookUpRecords("CNAME", "www.shop.example")).records).toEqual(["shop.example"]);
  expect((await lookUpRecords("MX", "nomail.example")).records).toEqual([
    { preference: 0, exchange: "." },
  ]);
});

test("distinguishes a missing name from a name without such records", async () => {
  await serving({ records: { "A shop.example": ["192.0.2.7"] } });
  expect(await lookUpRecords("MX", "shop.example")).toEqual({ records: [], exists: true });
  expect(await lookUpRecords("MX", "gone.example")).toEqual({ records: [], exists: false });
});

test("uses TCP for an answer that does not fit into a datagram", async () => {
  await serving({
    records: { "TXT big.example": ["x".repeat(5000)] },
    faults: { "big.example": "truncated" },
  });
  expect((await lookUpRecords("TXT", "big.example")).records).toEqual(["x".repeat(5000)]);
});

test("throws DnsLookupFailed if a server does not respond or its answer is not valid", async () => {
  const faults: DnsFault[] = ["servfail", "refused", "torn", "garbage", "stranger", "silent"];
  const names = faults.map((fault) => `${fault}.example`);
  await serving({
    records: Object.fromEntries(names.map((name) => [`A ${name}`, ["192.0.2.7"]])),
    faults: Object.fromEntries(names.map((name, i) => [name, faults[i]!])),
  });
  const outcomes = await Promise.allSettled(names.map((name) => lookUpRecords("A", name)));
  for (const [i, outcome] of outcomes.entries())
    expect([names[i], outcome.status === "rejected" && outcome.reason]).toEqual([
      names[i],
      expect.any(DnsLookupFailed),
    ]);
});

test("throws DnsLookupFailed if no server is reachable", async () => {
  process.env.DNS_SERVERS = "127.0.0.1:9";
  await expect(lookUpRecords("A", "nobody.example")).rejects.toThrow(DnsLookupFailed);
});

test("queries the next server if one fails", async () => {
  const records = { "A shop.example": ["192.0.2.7"] };
  await serving({ records, faults: { "shop.example": "servfail" } }, { records });
  expect((await lookUpRecords("A", "shop.example")).records).toEqual(["192.0.2.7"]);
});

test("caches an answer exactly for its lifetime", async () => {
  const [server] = await serving({ records: { "A kept.example": ["192.0.2.7"] }, ttlSeconds: 50 });
  for (let n = 0; n < 3; n++) await lookUpRecords("A", "kept.example");
  await lookUpRecords("A", "never.example");
  await lookUpRecords("A", "never.example");
  expect(server!.queries).toEqual(["A kept.example", "A never.example"]);
  clock.advanceClock(51);
  for (const name of ["kept.example", "never.example"]) await lookUpRecords("A", name);
  expect(server!.queries).toHaveLength(4);
});

test("caches no answer with lifetime 0 and no failure, and skipCache bypasses the cache", async () => {
  const [server] = await serving({ records: { "A shop.example": ["192.0.2.7"] }, ttlSeconds: 0 });
  await lookUpRecords("A", "shop.example");
  await lookUpRecords("A", "shop.example");
  expect(server!.queries).toHaveLength(2);
  server!.zone = { ...server!.zone, ttlSeconds: 300, faults: { "odd.example": "servfail" } };
  await lookUpRecords("A", "shop.example");
  await lookUpRecords("A", "shop.example", { skipCache: true });
  expect(server!.queries).toHaveLength(4);
  await expect(lookUpRecords("A", "odd.example")).rejects.toThrow(DnsLookupFailed);
  server!.zone = { records: { "A odd.example": ["192.0.2.8"] } };
  expect((await lookUpRecords("A", "odd.example")).records).toEqual(["192.0.2.8"]);
});

test("caches an answer for at most one hour", async () => {
  const [server] = await serving({
    records: { "A old.example": ["192.0.2.7"] },
    ttlSeconds: 1_000_000,
  });
  await lookUpRecords("A", "old.example");
  clock.advanceClock(3601);
  await lookUpRecords("A", "old.example");
  expect(server!.queries).toHaveLength(2);
});

test("concurrent lookups share one query, and aborting one does not affect the others", async () => {
  const [server] = await serving({ records: { "A shared.example": ["192.0.2.7"] } });
  const hasty = lookUpRecords("A", "shared.example", { signal: AbortSignal.abort() });
  const patient = lookUpRecords("A", "shared.example");
  await expect(hasty).rejects.toThrow(DnsLookupFailed);
  expect((await patient).records).toEqual(["192.0.2.7"]);
  expect(server!.queries).toHaveLength(1);
});

test("answers a few hundred concurrent lookups", async () => {
  const names = Array.from({ length: 300 }, (_, i) => `n${i}.many.example`);
  await serving({
    records: Object.fromEntries(names.map((name, i) => [`A ${name}`, [`192.0.2.${i % 250}`]])),
  });
  const found = await Promise.all(names.map((name) => lookUpRecords("A", name)));
  expect(found.map(({ records }) => records[0])).toEqual(names.map((_, i) => `192.0.2.${i % 250}`));
});

test.each([
  "",
  "a..b",
  `${"x".repeat(64)}.example`,
  `${"x.".repeat(130)}example`,
  "ünì.example",
  "spa ce.example",
])("refuses to look up %j", async (name) => {
  const [server] = await serving({ records: {} });
  await expect(lookUpRecords("A", name)).rejects.toThrow(DnsLookupFailed);
  expect(server!.queries).toEqual([]);
});
