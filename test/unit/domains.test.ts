// How domains come to be verified and lost, and what they are asked to publish.
import { afterEach, describe, expect, test } from "vitest";
import { type Wanted, wanted } from "../../shared/domain/domains/dns.ts";
import { keyOf, look, type Seen } from "../../shared/domain/domains/seen.ts";
import { next, type Standing } from "../../shared/domain/domains/states.ts";
import { providers } from "../../shared/providers/index.ts";
import { type DnsServer, serveZone, type Zone } from "../support/dns-zone.ts";

const start = new Date("2026-11-01T00:00:00.000Z");
const at = (days: number) => new Date(start.getTime() + days * 86_400_000);
const fresh: Standing = {
  status: "pending",
  statusReason: null,
  pendingSince: start.toISOString(),
  verifiedAt: null,
  lostAt: null,
  nextCheckAt: start.toISOString(),
};
const found: Seen = { state: "found", found: [] };
const absent: Seen = { state: "pending", found: [] };

describe("standing", () => {
  test("a domain is looked for ever less often, and given up after 30 days", () => {
    let standing = fresh;
    const waits: number[] = [];
    for (let now = start; standing.nextCheckAt; now = new Date(standing.nextCheckAt ?? now)) {
      standing = next(standing, absent, now);
      if (standing.nextCheckAt) waits.push((Date.parse(standing.nextCheckAt) - now.getTime()) / 1000);
    }
    expect(waits.slice(0, 3)).toEqual([60, 60, 60]);
    expect(waits.every((wait, i) => wait >= (waits[i - 1] ?? 0))).toBe(true);
    expect(waits.at(-1)).toBe(6 * 3600);
    expect(waits.length).toBeLessThan(160);
    expect(standing).toMatchObject({ status: "failed", statusReason: "Its ownership record did not appear within 30 days" });
    expect(next(fresh, absent, at(30)).status).toBe("failed");
    expect(next(standing, found, at(40))).toMatchObject({ status: "verified", nextCheckAt: at(41).toISOString() });
  });

  test("found it is verified, and looked at daily; its first day stays", () => {
    const verified = next(fresh, found, at(1));
    expect(verified).toMatchObject({ status: "verified", verifiedAt: at(1).toISOString(), nextCheckAt: at(2).toISOString() });
    expect(next(verified, found, at(2))).toMatchObject({ status: "verified", verifiedAt: at(1).toISOString() });
  });

  test("gone it is lost at once, kept for three days and given up then", () => {
    const lost = next(next(fresh, found, at(1)), absent, at(2));
    expect(lost).toMatchObject({ status: "lost", lostAt: at(2).toISOString() });
    const still = next(lost, { state: "wrong", found: ["x"] }, at(4.9));
    expect(still).toMatchObject({ status: "lost", lostAt: at(2).toISOString() });
    expect(next(still, found, at(4.9))).toMatchObject({
      status: "verified",
      lostAt: null,
      statusReason: null,
      verifiedAt: at(1).toISOString(),
    });
    for (const one of [lost, still]) expect((Date.parse(one.nextCheckAt!) - at(one === lost ? 2 : 4.9).getTime()) / 1000).toBe(3600);
    expect(next(still, absent, at(5))).toMatchObject({ status: "failed", nextCheckAt: null });
  });

  test("DNS that does not answer changes nothing, however long", () => {
    const verified = next(fresh, found, at(1));
    expect(next(verified, undefined, at(400))).toMatchObject({ status: "verified", nextCheckAt: at(400 + 1 / 24).toISOString() });
    expect(next(fresh, undefined, at(400))).toMatchObject({ status: "pending", nextCheckAt: expect.any(String) });
    const failed = next(fresh, absent, at(31));
    for (const sight of [undefined, absent]) expect(next(failed, sight, at(32))).toEqual(failed);
  });

  test("of the domain as it was read nothing else comes back, least of all its key, which DynamoDB lets nobody write", () => {
    const stored = { ...fresh, pk: "1#DOMAIN", sk: "1", id: 1, token: "t0ken" };
    const failed: Standing = { ...stored, status: "failed", nextCheckAt: null };
    for (const sight of [found, absent, undefined])
      for (const was of [stored, failed]) expect(Object.keys(next(was, sight, at(1))).sort()).toEqual(Object.keys(fresh).sort());
  });
});

const domain = { name: "shop.example", token: "t0ken", dkimSelectors: [] };

describe("what to publish", () => {
  test("without any provider: who owns it, SPF and DMARC", () => {
    expect(wanted(domain, []).map(({ purpose, name, value, required }) => [purpose, name, value, required])).toEqual([
      ["ownership", "_pennymail.shop.example", "pennymail-verification=t0ken", true],
      ["spf", "shop.example", "v=spf1 ~all", false],
      ["dmarc", "_dmarc.shop.example", "v=DMARC1; p=none;", false],
    ]);
  });

  test("every provider asks for DKIM, and each record has a name of its own", () => {
    for (const { key } of providers) expect([key, wanted(domain, [key]).some(({ purpose }) => purpose === "dkim")]).toEqual([key, true]);
    const all = wanted(
      domain,
      providers.map(({ key }) => key),
    ).filter(({ name }) => name);
    expect(new Set(all.map(keyOf)).size).toBe(all.length);
    expect(all.find(({ purpose }) => purpose === "spf")!.value).toBe("v=spf1 include:mailgun.org include:spf.mailjet.com ~all");
  });

  test("selectors that are told take the place of those that are not known", () => {
    const told = wanted({ ...domain, dkimSelectors: ["k1"] }, ["mailgun", "mandrill"]).filter(({ purpose }) => purpose === "dkim");
    expect(told.map(({ name }) => name)).toEqual([
      "k1._domainkey.shop.example",
      "mte1._domainkey.shop.example",
      "mte2._domainkey.shop.example",
    ]);
  });
});

describe("what is there", () => {
  const open: DnsServer[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
    delete process.env.DNS_SERVERS;
  });
  const seeing = async (zone: Zone, all: Wanted[], before = {}) => {
    const server = await serveZone(zone);
    open.push(server);
    process.env.DNS_SERVERS = server.address;
    return look(domain.name, all, before);
  };
  const stateOf = async (provider: string, purpose: string, records: Zone["records"]) => {
    const all = wanted(domain, [provider]).filter((one) => one.purpose === purpose);
    const { seen } = await seeing({ records }, all);
    return all.filter(({ name }) => name).map((one) => [seen[keyOf(one)]!.state, ...seen[keyOf(one)]!.found]);
  };

  test.each<[string, string, Zone["records"], string[][]]>([
    [
      "postmark",
      "ownership",
      { "TXT _pennymail.shop.example": ["other", "pennymail-verification=t0ken"] },
      [["found", "pennymail-verification=t0ken"]],
    ],
    [
      "postmark",
      "ownership",
      { "TXT _pennymail.shop.example": ["pennymail-verification=else"] },
      [["wrong", "pennymail-verification=else"]],
    ],
    ["postmark", "ownership", {}, [["pending"]]],
    ["postmark", "return_path", { "CNAME pm-bounces.shop.example": ["pm.mtasv.net"] }, [["found", "pm.mtasv.net"]]],
    ["postmark", "return_path", { "CNAME pm-bounces.shop.example": ["elsewhere.example"] }, [["wrong", "elsewhere.example"]]],
    ["postmark", "return_path", { "A pm-bounces.shop.example": ["192.0.2.1"] }, [["pending"]]],
    ["sparkpost", "return_path", { "CNAME bounces.shop.example": ["eu.sparkpostmail.com"] }, [["found", "eu.sparkpostmail.com"]]],
    [
      "resend",
      "return_path",
      { "MX send.shop.example": [{ preference: 10, exchange: "feedback-smtp.eu-west-1.amazonses.com" }] },
      [["found", "feedback-smtp.eu-west-1.amazonses.com"]],
    ],
    [
      "resend",
      "return_path",
      { "MX send.shop.example": [{ preference: 10, exchange: "mail.shop.example" }] },
      [["wrong", "mail.shop.example"]],
    ],
    ["resend", "dkim", { "TXT resend._domainkey.shop.example": ["p=MIGfMA0"] }, [["found", "p=MIGfMA0"]]],
    ["resend", "dkim", { "TXT resend._domainkey.shop.example": ["v=DKIM1; p="] }, [["wrong", "v=DKIM1; p="]]],
    [
      "sendgrid",
      "dkim",
      { "CNAME s1._domainkey.shop.example": ["s1.domainkey.u1.wl2.sendgrid.net"], "CNAME s2._domainkey.shop.example": ["x.example"] },
      [
        ["found", "s1.domainkey.u1.wl2.sendgrid.net"],
        ["wrong", "x.example"],
      ],
    ],
    ["sendgrid", "dkim", { "TXT s1._domainkey.shop.example": ["k=rsa; p=MIG"] }, [["found", "k=rsa; p=MIG"], ["pending"]]],
    [
      "mandrill",
      "dkim",
      { "CNAME mte1._domainkey.shop.example": ["dkim1.mandrillapp.com"], "CNAME mte2._domainkey.shop.example": ["dkim1.mandrillapp.com"] },
      [
        ["found", "dkim1.mandrillapp.com"],
        ["wrong", "dkim1.mandrillapp.com"],
      ],
    ],
    ["mailgun", "spf", { "TXT shop.example": ["v=spf1 include:MAILGUN.org -all"] }, [["found", "v=spf1 include:MAILGUN.org -all"]]],
    ["mailgun", "spf", { "TXT shop.example": ["v=spf1 mx -all"] }, [["wrong", "v=spf1 mx -all"]]],
    [
      "mailgun",
      "spf",
      { "TXT shop.example": ["v=spf1 include:mailgun.org -all", "v=spf1 -all"] },
      [["wrong", "v=spf1 include:mailgun.org -all", "v=spf1 -all"]],
    ],
    ["mailgun", "spf", { "TXT shop.example": ["words"] }, [["pending"]]],
    ["mailgun", "dmarc", { "TXT _dmarc.shop.example": ["v=DMARC1; p=reject"] }, [["found", "v=DMARC1; p=reject"]]],
    ["mailgun", "dmarc", { "TXT _dmarc.shop.example": ["v=DMARC1; p=all"] }, [["wrong", "v=DMARC1; p=all"]]],
    ["mailgun", "dmarc", {}, [["pending"]]],
  ])("%s, %s: %j", async (provider, purpose, records, states) => {
    expect(await stateOf(provider, purpose, records)).toEqual(states);
  });

  test("where DNS does not answer, what was seen last stays", async () => {
    const all = wanted(domain, ["mandrill"]);
    const before = { [keyOf(all[0]!)]: found };
    const zone: Zone = {
      records: { "TXT shop.example": ["v=spf1 -all"] },
      troubles: { "_pennymail.shop.example": "servfail", "_dmarc.shop.example": "servfail" },
    };
    const { seen, ownership } = await seeing(zone, all, before);
    expect(ownership).toBeUndefined();
    expect(seen[keyOf(all[0]!)]).toEqual(found);
    expect(Object.keys(seen).filter((key) => key.startsWith("dmarc"))).toEqual([]);
    expect(seen["spf TXT shop.example"]!.state).toBe("found");
  });
});
