// The parser and evaluation of SPF and DMARC records.

import { describe, expect, test } from "vitest";
import * as dmarc from "../../shared/domain/senders/validation/dmarc.ts";
import * as spf from "../../shared/domain/senders/validation/spf.ts";
import fc from "../support/fast-check.ts";

const following = (zone: Record<string, string | string[]>, domain = "shop.example") => {
  const lookups: string[] = [];
  const ask = async (name: string) => {
    lookups.push(name);
    return [zone[name] ?? []].flat();
  };
  return spf
    .evaluateSpf(domain, [zone[domain]!].flat()[0]!, ask)
    .then((followed) => ({ ...followed, asked: lookups }));
};

describe("SPF", () => {
  test("needs the exact version at the start", () => {
    for (const text of ["v=spf1", "v=spf1 -all", "V=SPF1 -all"]) expect(spf.isSpf(text)).toBe(true);
    for (const text of ["v=spf10 -all", " v=spf1", "v=spf2.0/pra", "spf1"])
      expect(spf.isSpf(text)).toBe(false);
  });

  test("limits terms to 255 characters, in a record of any length", () => {
    for (const term of [
      `ip6${":".repeat(60_000)}`,
      `include:${"a.".repeat(30_000)}b`,
      "a".repeat(60_000),
      `x=${"y".repeat(60_000)}`,
    ])
      expect(spf.parseSpf(`v=spf1 ${term} -all`)).toMatch(/has more than 255 characters$/);
    expect(spf.parseSpf("v=spf1 ip6:::1 ip6::: ip6:2001:db8::/32")).toMatchObject({
      mechanisms: [{}, {}, {}],
    });
    expect(spf.parseSpf("v=spf1 ip6:2001")).toContain("is not an SPF mechanism");
  });

  test("parses all terms", () => {
    expect(
      spf.parseSpf(
        "v=spf1 a mx:mail.shop.example/24 ?ip4:192.0.2.0/24 ip6:2001:db8::/32 include:_spf.example exists:%{i}.x.example ~all exp=why.example",
      ),
    ).toEqual({
      mechanisms: [
        { qualifier: "+", name: "a" },
        { qualifier: "+", name: "mx", value: "mail.shop.example/24" },
        { qualifier: "?", name: "ip4", value: "192.0.2.0/24" },
        { qualifier: "+", name: "ip6", value: "2001:db8::/32" },
        { qualifier: "+", name: "include", value: "_spf.example" },
        { qualifier: "+", name: "exists", value: "%{i}.x.example" },
        { qualifier: "~", name: "all" },
      ],
    });
    expect(spf.parseSpf("v=spf1 redirect=_spf.example")).toEqual({
      mechanisms: [],
      redirect: "_spf.example",
    });
  });

  test.each([
    "v=spf1 includes:a.example",
    "v=spf1 include: -all",
    "v=spf1 include",
    "v=spf1 ip4:192.0.2 -all",
    "v=spf1 ip6:192.0.2.1 -all",
    "v=spf1 -all:x",
    "v=spf1 !a",
    "v=spf1 constructor",
    "v=spf1 redirect=",
    "v=spf1 redirect=a.example redirect=b.example",
  ])("%s is invalid", (text) => {
    expect(typeof spf.parseSpf(text)).toBe("string");
  });

  test("counts the lookups of all includes and of the redirect", async () => {
    const zone = {
      "shop.example":
        "v=spf1 a mx include:one.example include:two.example ip4:192.0.2.1 redirect=last.example",
      "one.example": "v=spf1 include:deep.example ptr -all",
      "deep.example": "v=spf1 exists:%{i}.x.example ip4:192.0.2.2 ?all",
      "two.example": "v=spf1 ip4:192.0.2.3 -all",
      "last.example": "v=spf1 a ~all",
    };
    // a, mx, one (deep (exists), ptr), two, last (a)
    expect(await following(zone)).toEqual({
      lookups: 9,
      all: "~",
      asked: ["one.example", "deep.example", "two.example", "last.example"],
    });
  });

  test("ignores terms after `all`, and a redirect next to it", async () => {
    expect(
      await following({
        "shop.example": "v=spf1 -all include:never.example redirect=never.example",
      }),
    ).toEqual({
      lookups: 0,
      all: "-",
      asked: [],
    });
  });

  test("does not use the `all` of an include for the domain", async () => {
    expect(
      await following({
        "shop.example": "v=spf1 include:one.example",
        "one.example": "v=spf1 -all",
      }),
    ).toEqual({
      lookups: 1,
      asked: ["one.example"],
    });
  });

  test("accepts ten lookups, and rejects eleven", async () => {
    const many = (n: number) => ({
      "shop.example": `v=spf1 ${Array.from({ length: n }, (_, i) => `a:h${i}.example`).join(" ")} -all`,
    });
    expect(await following(many(10))).toMatchObject({ lookups: 10, all: "-" });
    expect(await following(many(11))).toMatchObject({
      lookups: 11,
      broken: expect.stringContaining("more than 10 DNS lookups"),
    });
  });

  test("ends at a circular include", async () => {
    const zone = {
      "shop.example": "v=spf1 include:a.example -all",
      "a.example": "v=spf1 include:shop.example -all",
    };
    expect(await following(zone)).toMatchObject({
      broken: expect.stringContaining("more than 10 DNS lookups"),
    });
  });

  test.each([
    ["an include without a record", {}],
    ["an include with two", { "one.example": ["v=spf1 -all", "v=spf1 ~all"] }],
    ["an include that cannot be read", { "one.example": "v=spf1 what" }],
  ])("reports %s as broken", async (_, more) => {
    expect(
      await following({ "shop.example": "v=spf1 include:one.example -all", ...more }),
    ).toMatchObject({
      broken: expect.stringContaining("one.example"),
    });
  });

  test("counts an include with a macro and does not follow it", async () => {
    expect(await following({ "shop.example": "v=spf1 include:%{d}.spf.example -all" })).toEqual({
      lookups: 1,
      all: "-",
      asked: [],
    });
  });

  test("evaluates generated policies with the expected result and lookups", async () => {
    const host = fc.stringMatching(/^[a-z]{1,10}\.example$/);
    const term = fc.oneof(
      host.map((name) => ({ text: `a:${name}`, cost: 1 })),
      host.map((name) => ({ text: `mx:${name}/24`, cost: 1 })),
      fc.ipV4().map((ip) => ({ text: `ip4:${ip}`, cost: 0 })),
      fc.constant({ text: "exists:%{i}.x.example", cost: 1 }),
    );
    const all = fc.constantFrom("+", "-", "~", "?");
    await fc.assert(
      fc.asyncProperty(fc.array(term, { maxLength: 10 }), all, async (terms, qualifier) => {
        const text = `v=spf1 ${terms.map(({ text }) => text).join("  ")} ${qualifier}all`;
        const { lookups, all } = await following({ "shop.example": text });
        expect([lookups, all]).toEqual([terms.reduce((sum, { cost }) => sum + cost, 0), qualifier]);
      }),
    );
  });

  test("evaluates any text without an error", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 80 }), async (text) => {
        const { lookups } = await following({ "shop.example": `v=spf1 ${text}` });
        expect(lookups).toBeLessThanOrEqual(11);
      }),
    );
  });
});

describe("DMARC", () => {
  const defaults = {
    policy: "none",
    subdomainPolicy: "none",
    percent: 100,
    dkimAlignment: "relaxed",
    spfAlignment: "relaxed",
  };

  test.each([
    ["v=DMARC1; p=none", defaults],
    ["v=DMARC1;p=REJECT;", { ...defaults, policy: "reject", subdomainPolicy: "reject" }],
    [
      "v=DMARC1; p=reject; sp=none; adkim=s; aspf=s; pct=50; rua=mailto:a@b.example",
      {
        policy: "reject",
        subdomainPolicy: "none",
        percent: 50,
        dkimAlignment: "strict",
        spfAlignment: "strict",
      },
    ],
    ["v=DMARC1; rua=mailto:a@b.example", defaults],
    [
      "v = DMARC1 ; p = quarantine ; pct=200",
      { ...defaults, policy: "quarantine", subdomainPolicy: "quarantine" },
    ],
    ["v=DMARC1; p=none; pct=many; fo=1; unknown", defaults],
  ])("%s", (text, read) => {
    expect(dmarc.isDmarc(text)).toBe(true);
    expect(dmarc.parseDmarc(text)).toEqual(read);
  });

  test.each(["v=DMARC1", "v=DMARC1; p=", "v=DMARC1; p=block", "v=DMARC1; sp=reject"])(
    "%s is an invalid DMARC record",
    (text) => {
      expect(typeof dmarc.parseDmarc(text)).toBe("string");
    },
  );

  test.each(["v=DMARC2; p=none", "p=none; v=DMARC1", "v=dmarc1; p=none", "hello"])(
    "%s is no DMARC record",
    (text) => {
      expect(dmarc.isDmarc(text)).toBe(false);
    },
  );

  test("parses any text without an error", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 80 }),
        (text) => void dmarc.parseDmarc(`v=DMARC1;${text}`),
      ),
    );
  });
});
