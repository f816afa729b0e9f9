// The verification of domains and the DNS records that they need.
import { afterEach, describe, expect, test } from "vitest";
import {
  type ExpectedRecord,
  expectedRecords,
} from "../../shared/domain/senders/domains/expected-records.ts";
import {
  completeSpf,
  lookUpRecords,
  type RecordResult,
  recordKey,
} from "../../shared/domain/senders/domains/look-up-records.ts";
import {
  nextState,
  type VerificationState,
} from "../../shared/domain/senders/domains/verification-state.ts";
import { apiProviders } from "../support/api-providers.ts";
import { type DnsServer, type DnsZone, startDnsServer } from "../support/dns-server.ts";

const start = new Date("2026-11-01T00:00:00.000Z");
const at = (days: number) => new Date(start.getTime() + days * 86_400_000);
const fresh: VerificationState = {
  status: "pending",
  statusReason: null,
  pendingSince: start.toISOString(),
  verifiedAt: null,
  lostAt: null,
  nextCheckAt: start.toISOString(),
};
const found: RecordResult = { state: "found", found: [] };
const absent: RecordResult = { state: "pending", found: [] };

describe("verification state", () => {
  test("a pending domain is checked less and less often, and fails after 30 days", () => {
    let state = fresh;
    const waits: number[] = [];
    for (let now = start; state.nextCheckAt; now = new Date(state.nextCheckAt ?? now)) {
      state = nextState(state, absent, now);
      if (state.nextCheckAt) waits.push((Date.parse(state.nextCheckAt) - now.getTime()) / 1000);
    }
    expect(waits.slice(0, 3)).toEqual([60, 60, 60]);
    expect(waits.every((wait, i) => wait >= (waits[i - 1] ?? 0))).toBe(true);
    expect(waits.at(-1)).toBe(6 * 3600);
    expect(waits.length).toBeLessThan(160);
    expect(state).toMatchObject({
      status: "failed",
      statusReason:
        "The ownership record did not appear within 30 days: publish it and restart verification with POST /domains",
    });
    expect(nextState(fresh, absent, at(30)).status).toBe("failed");
    expect(nextState(state, found, at(40))).toMatchObject({
      status: "verified",
      nextCheckAt: at(41).toISOString(),
    });
  });

  test("a found domain is verified, keeps its first date and is checked daily", () => {
    const verified = nextState(fresh, found, at(1));
    expect(verified).toMatchObject({
      status: "verified",
      verifiedAt: at(1).toISOString(),
      nextCheckAt: at(2).toISOString(),
    });
    expect(nextState(verified, found, at(2))).toMatchObject({
      status: "verified",
      verifiedAt: at(1).toISOString(),
    });
  });

  test("a missing record makes the domain lost at once, and failed after three days", () => {
    const lost = nextState(nextState(fresh, found, at(1)), absent, at(2));
    expect(lost).toMatchObject({ status: "lost", lostAt: at(2).toISOString() });
    const still = nextState(lost, { state: "wrong", found: ["x"] }, at(4.9));
    expect(still).toMatchObject({ status: "lost", lostAt: at(2).toISOString() });
    expect(nextState(still, found, at(4.9))).toMatchObject({
      status: "verified",
      lostAt: null,
      statusReason: null,
      verifiedAt: at(1).toISOString(),
    });
    for (const one of [lost, still])
      expect((Date.parse(one.nextCheckAt!) - at(one === lost ? 2 : 4.9).getTime()) / 1000).toBe(
        3600,
      );
    expect(nextState(still, absent, at(5))).toMatchObject({ status: "failed", nextCheckAt: null });
  });

  test("nothing changes while DNS does not answer", () => {
    const verified = nextState(fresh, found, at(1));
    expect(nextState(verified, undefined, at(400))).toMatchObject({
      status: "verified",
      nextCheckAt: at(400 + 1 / 24).toISOString(),
    });
    expect(nextState(fresh, undefined, at(400))).toMatchObject({
      status: "pending",
      nextCheckAt: expect.any(String),
    });
    const failed = nextState(fresh, absent, at(31));
    for (const sight of [undefined, absent])
      expect(nextState(failed, sight, at(32))).toEqual(failed);
  });

  test("returns only the fields of the state, because DynamoDB rejects writes of key attributes", () => {
    const stored = { ...fresh, pk: "1#DOMAIN", sk: "1", id: 1, token: "t0ken" };
    const failed: VerificationState = { ...stored, status: "failed", nextCheckAt: null };
    for (const sight of [found, absent, undefined])
      for (const was of [stored, failed])
        expect(Object.keys(nextState(was, sight, at(1))).sort()).toEqual(Object.keys(fresh).sort());
  });
});

const domain = { name: "shop.example", token: "t0ken", dkimSelectors: [] };

describe("expected records", () => {
  test("without a provider are the ownership record and DMARC, and no SPF record", () => {
    expect(
      expectedRecords(domain, []).map(({ purpose, name, value, required }) => [
        purpose,
        name,
        value,
        required,
      ]),
    ).toEqual([
      ["ownership", "_pennymail.shop.example", "pennymail-verification=t0ken", true],
      ["spf", "shop.example", null, false],
      ["dmarc", "_dmarc.shop.example", "v=DMARC1; p=none;", false],
    ]);
  });

  test("of DMARC name the address for reports, and what another domain must agree to", () => {
    const recordsFor = (address: string) =>
      expectedRecords(domain, [], address).filter(({ purpose }) => purpose.startsWith("dmarc"));
    const [own, ...none] = recordsFor("reports+1@in.shop.example");
    expect(own!.value).toBe("v=DMARC1; p=none; rua=mailto:reports+1@in.shop.example");
    expect(none).toEqual([]);
    const [other, agreement] = recordsFor("a!b,c@in.other.example");
    expect(other!.value).toBe("v=DMARC1; p=none; rua=mailto:a%21b%2Cc@in.other.example");
    expect(agreement).toMatchObject({
      purpose: "dmarc_reports",
      type: "TXT",
      name: "shop.example._report._dmarc.in.other.example",
      value: "v=DMARC1",
      required: false,
    });
  });

  test("contain DKIM for every provider, each with its own name", () => {
    for (const { key } of apiProviders)
      expect([
        key,
        expectedRecords(domain, [key]).some(({ purpose }) => purpose === "dkim"),
      ]).toEqual([key, true]);
    const all = expectedRecords(
      domain,
      apiProviders.map(({ key }) => key),
    ).filter(({ name }) => name);
    expect(new Set(all.map(recordKey)).size).toBe(all.length);
    expect(all.find(({ purpose }) => purpose === "spf")!.value).toBe(
      "v=spf1 include:mailgun.org include:spf.mailjet.com ~all",
    );
  });

  test("contain a note for records that only the account shows, and a link for each provider", () => {
    for (const { key } of apiProviders)
      for (const { name, value, note, link, purpose } of expectedRecords(domain, [key]).filter(
        ({ provider }) => provider !== null,
      )) {
        expect(link).toMatch(/^https:\/\//);
        if (name === null && purpose === "dkim")
          expect(note).toContain("._domainkey.shop.example with ");
        if (value === null) expect(note).toBeTruthy();
      }
  });

  test.each([
    ["mailgun", [], "v=spf1 include:mailgun.org ~all"],
    [
      "mailgun",
      ["v=spf1 include:_spf.google.com -all"],
      "v=spf1 include:_spf.google.com include:mailgun.org -all",
    ],
    [
      "mailgun",
      ["v=spf1 mx redirect=other.example"],
      "v=spf1 mx include:mailgun.org redirect=other.example",
    ],
    ["mailgun", ["v=spf1 mx"], "v=spf1 mx include:mailgun.org"],
    ["mailgun", ["v=spf1 include:MAILGUN.org -all"], "v=spf1 include:MAILGUN.org -all"],
    ["mailgun", ["v=spf1 mx -all", "v=spf1 -all"], "v=spf1 include:mailgun.org ~all"],
    ["mailgun", ["v=spf1 nonsense"], "v=spf1 include:mailgun.org ~all"],
    ["resend", ["v=spf1 mx -all"], null],
    ["resend", [], undefined],
  ])("SPF for %s where DNS has %j: %s", (provider, found, value) => {
    const policy = expectedRecords(domain, [provider]).find(({ purpose }) => purpose === "spf")!;
    expect(completeSpf(policy, { state: "found", found })?.value).toBe(value);
  });

  test("contain the given selectors instead of unknown ones", () => {
    const expected = expectedRecords({ ...domain, dkimSelectors: ["k1"] }, [
      "mailgun",
      "mandrill",
    ]).filter(({ purpose }) => purpose === "dkim");
    expect(expected.map(({ name }) => name)).toEqual([
      "k1._domainkey.shop.example",
      "mte1._domainkey.shop.example",
      "mte2._domainkey.shop.example",
    ]);
  });
});

describe("looked-up records", () => {
  const open: DnsServer[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
    delete process.env.DNS_SERVERS;
  });
  const seeing = async (zone: DnsZone, all: ExpectedRecord[], before = {}) => {
    const server = await startDnsServer(zone);
    open.push(server);
    process.env.DNS_SERVERS = server.address;
    return lookUpRecords(domain.name, all, before);
  };
  const stateOf = async (provider: string, purpose: string, records: DnsZone["records"]) => {
    const all = expectedRecords(domain, [provider]).filter((one) => one.purpose === purpose);
    const { seen } = await seeing({ records }, all);
    return all
      .filter(({ name }) => name)
      .map((one) => [seen[recordKey(one)]!.state, ...seen[recordKey(one)]!.found]);
  };

  test.each<[string, string, DnsZone["records"], string[][]]>([
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
    [
      "postmark",
      "return_path",
      { "CNAME pm-bounces.shop.example": ["pm.mtasv.net"] },
      [["found", "pm.mtasv.net"]],
    ],
    [
      "postmark",
      "return_path",
      { "CNAME pm-bounces.shop.example": ["elsewhere.example"] },
      [["wrong", "elsewhere.example"]],
    ],
    ["postmark", "return_path", { "A pm-bounces.shop.example": ["192.0.2.1"] }, [["pending"]]],
    [
      "sparkpost",
      "return_path",
      { "CNAME bounces.shop.example": ["eu.sparkpostmail.com"] },
      [["found", "eu.sparkpostmail.com"]],
    ],
    [
      "resend",
      "return_path",
      {
        "MX send.shop.example": [
          { preference: 10, exchange: "feedback-smtp.eu-west-1.amazonses.com" },
        ],
      },
      [["found", "feedback-smtp.eu-west-1.amazonses.com"]],
    ],
    [
      "resend",
      "return_path",
      { "MX send.shop.example": [{ preference: 10, exchange: "mail.shop.example" }] },
      [["wrong", "mail.shop.example"]],
    ],
    [
      "resend",
      "dkim",
      { "TXT resend._domainkey.shop.example": ["p=MIGfMA0"] },
      [["found", "p=MIGfMA0"]],
    ],
    [
      "resend",
      "dkim",
      { "TXT resend._domainkey.shop.example": ["v=DKIM1; p="] },
      [["wrong", "v=DKIM1; p="]],
    ],
    [
      "sendgrid",
      "dkim",
      {
        "CNAME s1._domainkey.shop.example": ["s1.domainkey.u1.wl2.sendgrid.net"],
        "CNAME s2._domainkey.shop.example": ["x.example"],
      },
      [
        ["found", "s1.domainkey.u1.wl2.sendgrid.net"],
        ["wrong", "x.example"],
      ],
    ],
    [
      "sendgrid",
      "dkim",
      { "TXT s1._domainkey.shop.example": ["k=rsa; p=MIG"] },
      [["found", "k=rsa; p=MIG"], ["pending"]],
    ],
    [
      "mandrill",
      "dkim",
      {
        "CNAME mte1._domainkey.shop.example": ["dkim1.mandrillapp.com"],
        "CNAME mte2._domainkey.shop.example": ["dkim1.mandrillapp.com"],
      },
      [
        ["found", "dkim1.mandrillapp.com"],
        ["wrong", "dkim1.mandrillapp.com"],
      ],
    ],
    [
      "mailgun",
      "spf",
      { "TXT shop.example": ["v=spf1 include:MAILGUN.org -all"] },
      [["found", "v=spf1 include:MAILGUN.org -all"]],
    ],
    ["mailgun", "spf", { "TXT shop.example": ["v=spf1 mx -all"] }, [["wrong", "v=spf1 mx -all"]]],
    [
      "mailgun",
      "spf",
      { "TXT shop.example": ["v=spf1 include:mailgun.org -all", "v=spf1 -all"] },
      [["wrong", "v=spf1 include:mailgun.org -all", "v=spf1 -all"]],
    ],
    ["mailgun", "spf", { "TXT shop.example": ["words"] }, [["pending"]]],
    [
      "mailgun",
      "dmarc",
      { "TXT _dmarc.shop.example": ["v=DMARC1; p=reject"] },
      [["found", "v=DMARC1; p=reject"]],
    ],
    [
      "mailgun",
      "dmarc",
      { "TXT _dmarc.shop.example": ["v=DMARC1; p=all"] },
      [["wrong", "v=DMARC1; p=all"]],
    ],
    ["mailgun", "dmarc", {}, [["pending"]]],
  ])("%s, %s: %j", async (provider, purpose, records, states) => {
    expect(await stateOf(provider, purpose, records)).toEqual(states);
  });

  test.each<[string, string[], unknown]>([
    ["an agreement", ["v=DMARC1"], { state: "found", found: ["v=DMARC1"] }],
    ["one with tags", ["x", "v=DMARC1; rua=mailto:a@b.example"], { state: "found" }],
    ["other texts", ["x"], { state: "wrong", found: ["x"] }],
    ["no record", [], { state: "pending" }],
  ])("of the domain that receives the DMARC reports: %s", async (_, texts, result) => {
    const agreement = expectedRecords(domain, [], "reports@in.other.example").at(-1)!;
    const zone = { [`TXT ${agreement.name}`]: texts };
    const { seen } = await seeing({ records: texts.length ? zone : {} }, [agreement]);
    expect(seen[recordKey(agreement)]).toMatchObject(result as object);
  });

  test("keep their previous result while DNS does not answer", async () => {
    const all = expectedRecords(domain, ["mandrill"]);
    const before = { [recordKey(all[0]!)]: found };
    const zone: DnsZone = {
      records: { "TXT shop.example": ["v=spf1 -all"] },
      faults: { "_pennymail.shop.example": "servfail", "_dmarc.shop.example": "servfail" },
    };
    const { seen, ownership } = await seeing(zone, all, before);
    expect(ownership).toBeUndefined();
    expect(seen[recordKey(all[0]!)]).toEqual(found);
    expect(Object.keys(seen).filter((key) => key.startsWith("dmarc"))).toEqual([]);
    expect(seen["spf TXT shop.example"]!.state).toBe("found");
  });
});
