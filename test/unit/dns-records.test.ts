import { afterEach, expect, test } from "vitest";
import * as clock from "../../shared/clock.ts";
import { lookUp, NoRecords } from "../../shared/doors/dns-records.ts";
import { type DnsServer, serveZone, type Trouble, type Zone } from "../support/dns-zone.ts";

const open: DnsServer[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  delete process.env.DNS_SERVERS;
});

async function serving(...zones: Zone[]): Promise<DnsServer[]> {
  const servers = await Promise.all(zones.map(serveZone));
  open.push(...servers);
  process.env.DNS_SERVERS = servers.map(({ address }) => address).join(", ");
  return servers;
}

test("records of each type come as they stand", async () => {
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
  expect((await lookUp("MX", "Shop.Example.")).records).toEqual([
    { preference: 20, exchange: "two.shop.example" },
    { preference: 10, exchange: "one.shop.example" },
  ]);
  expect((await lookUp("TXT", "shop.example")).records).toEqual([long, "words"]);
  expect((await lookUp("A", "www.shop.example")).records).toEqual(["192.0.2.7"]);
  expect((await lookUp("AAAA", "shop.example")).records).toEqual(["2001:db8::7"]);
  expect((await lookUp("CNAME", "www.shop.example")).records).toEqual(["shop.example"]);
  expect((await lookUp("MX", "nomail.example")).records).toEqual([{ preference: 0, exchange: "." }]);
});

test("a name that is not there is told from one that has no such record", async () => {
  await serving({ records: { "A shop.example": ["192.0.2.7"] } });
  expect(await lookUp("MX", "shop.example")).toEqual({ records: [], exists: true });
  expect(await lookUp("MX", "gone.example")).toEqual({ records: [], exists: false });
});

test("what does not fit a datagram is fetched whole", async () => {
  await serving({ records: { "TXT big.example": ["x".repeat(5000)] }, troubles: { "big.example": "truncated" } });
  expect((await lookUp("TXT", "big.example")).records).toEqual(["x".repeat(5000)]);
});

test("a server that gives no answer, or none that can be read, gives no verdict", async () => {
  const hopeless: Trouble[] = ["servfail", "refused", "torn", "garbage", "stranger", "silent"];
  const names = hopeless.map((trouble) => `${trouble}.example`);
  await serving({
    records: Object.fromEntries(names.map((name) => [`A ${name}`, ["192.0.2.7"]])),
    troubles: Object.fromEntries(names.map((name, i) => [name, hopeless[i]!])),
  });
  const outcomes = await Promise.allSettled(names.map((name) => lookUp("A", name)));
  for (const [i, outcome] of outcomes.entries())
    expect([names[i], outcome.status === "rejected" && outcome.reason]).toEqual([names[i], expect.any(NoRecords)]);
});

test("nobody there: no answer", async () => {
  process.env.DNS_SERVERS = "127.0.0.1:9";
  await expect(lookUp("A", "nobody.example")).rejects.toThrow(NoRecords);
});

test("another server is asked where one cannot tell", async () => {
  const records = { "A shop.example": ["192.0.2.7"] };
  await serving({ records, troubles: { "shop.example": "servfail" } }, { records });
  expect((await lookUp("A", "shop.example")).records).toEqual(["192.0.2.7"]);
});

test("an answer is kept as long as it says, and not a second longer", async () => {
  const [server] = await serving({ records: { "A kept.example": ["192.0.2.7"] }, ttlSeconds: 50 });
  for (let n = 0; n < 3; n++) await lookUp("A", "kept.example");
  await lookUp("A", "never.example");
  await lookUp("A", "never.example");
  expect(server!.asked).toEqual(["A kept.example", "A never.example"]);
  clock.advance(51);
  for (const name of ["kept.example", "never.example"]) await lookUp("A", name);
  expect(server!.asked).toHaveLength(4);
});

test("an answer is not kept where it says so, where a fresh one is asked for, and where there was none", async () => {
  const [server] = await serving({ records: { "A shop.example": ["192.0.2.7"] }, ttlSeconds: 0 });
  await lookUp("A", "shop.example");
  await lookUp("A", "shop.example");
  expect(server!.asked).toHaveLength(2);
  server!.zone = { ...server!.zone, ttlSeconds: 300, troubles: { "odd.example": "servfail" } };
  await lookUp("A", "shop.example");
  await lookUp("A", "shop.example", { fresh: true });
  expect(server!.asked).toHaveLength(4);
  await expect(lookUp("A", "odd.example")).rejects.toThrow(NoRecords);
  server!.zone = { records: { "A odd.example": ["192.0.2.8"] } };
  expect((await lookUp("A", "odd.example")).records).toEqual(["192.0.2.8"]);
});

test("however long an answer says it holds, it is asked anew within the hour", async () => {
  const [server] = await serving({ records: { "A old.example": ["192.0.2.7"] }, ttlSeconds: 1_000_000 });
  await lookUp("A", "old.example");
  clock.advance(3601);
  await lookUp("A", "old.example");
  expect(server!.asked).toHaveLength(2);
});

test("those who ask at the same time share one question; who gives up does not take it from the others", async () => {
  const [server] = await serving({ records: { "A shared.example": ["192.0.2.7"] } });
  const hasty = lookUp("A", "shared.example", { signal: AbortSignal.abort() });
  const patient = lookUp("A", "shared.example");
  await expect(hasty).rejects.toThrow(NoRecords);
  expect((await patient).records).toEqual(["192.0.2.7"]);
  expect(server!.asked).toHaveLength(1);
});

test("a few hundred at once are all answered", async () => {
  const names = Array.from({ length: 300 }, (_, i) => `n${i}.many.example`);
  await serving({ records: Object.fromEntries(names.map((name, i) => [`A ${name}`, [`192.0.2.${i % 250}`]])) });
  const found = await Promise.all(names.map((name) => lookUp("A", name)));
  expect(found.map(({ records }) => records[0])).toEqual(names.map((_, i) => `192.0.2.${i % 250}`));
});

test.each(["", "a..b", `${"x".repeat(64)}.example`, `${"x.".repeat(130)}example`, "ünì.example", "spa ce.example"])(
  "%j is no name that is asked for",
  async (name) => {
    const [server] = await serving({ records: {} });
    await expect(lookUp("A", name)).rejects.toThrow(NoRecords);
    expect(server!.asked).toEqual([]);
  },
);
