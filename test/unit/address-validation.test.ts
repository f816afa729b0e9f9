// Checks of an address that need no DNS and no network.
import { domainToASCII } from "node:url";
import { describe, expect, test } from "vitest";
import {
  organizationalDomain,
  registeredDomain,
} from "../../shared/domain/senders/public-suffixes.ts";
import { parseAddress } from "../../shared/domain/senders/validation/address-syntax.ts";
import { mixesScripts, skeleton } from "../../shared/domain/senders/validation/confusables.ts";
import { isDisposable } from "../../shared/domain/senders/validation/disposable-domains.ts";
import {
  knownSenderOf,
  knownSenders,
} from "../../shared/domain/senders/validation/known-senders.ts";
import { checkLookalike } from "../../shared/domain/senders/validation/lookalikes.ts";
import { isRoleAccount } from "../../shared/domain/senders/validation/role-accounts.ts";
import { suggestDomain } from "../../shared/domain/senders/validation/typos.ts";
import { editDistance } from "../../shared/kernel/edit-distance.ts";
import { EmailAddress } from "../../shared/kernel/email-fields.ts";
import fc from "../support/fast-check.ts";

describe("form", () => {
  test.each([
    "ada@example.com",
    "  ada@example.com ",
    "ada.lovelace+news@mail.example.co.uk",
    "o'hara_1@example.com",
    "a@b.co",
    "x--y@xn--mnchen-3ya.example",
    `${"l".repeat(64)}@example.com`,
    "1234567890@123.example",
  ])("%j is well-formed", (email) => {
    expect(parseAddress(email).check.result).toBe("pass");
  });

  test.each([
    "jörg@example.com",
    "用户@example.com",
    "пользователь@example.com",
    '"ada lovelace"@example.com',
    '"a\\"b@c"@example.com',
    "a#b$c@example.com",
    "{ada}@example.com",
  ])("%j is well-formed, but cannot be sent to", (email) => {
    expect(parseAddress(email).check.result).toBe("warn");
  });

  test.each([
    "",
    "ada",
    "@example.com",
    "ada@",
    "ada@@example.com",
    "a b@example.com",
    "ada @example.com",
    "ada@ example.com",
    ".ada@example.com",
    "ada.@example.com",
    "a..b@example.com",
    "a,b@example.com",
    "ada<b>@example.com",
    "Ada <ada@example.com>",
    "ada(comment)@example.com",
    "a\\b@example.com",
    '"open@example.com',
    '"a"b@example.com',
    "a\nb@example.com",
    "ada\u0000@example.com",
    "ada@example",
    "ada@localhost",
    "ada@.example.com",
    "ada@example.com.",
    "ada@example..com",
    "ada@-example.com",
    "ada@example-.com",
    "ada@exa_mple.com",
    "ada@[192.0.2.1]",
    "ada@[IPv6:2001:db8::1]",
    "ada@192.0.2.1",
    "ada@example.123",
    "ada@exam ple.com",
    "ada@example.com/path",
    "ada@exämple.com/path",
    `${"l".repeat(65)}@example.com`,
    `${"ü".repeat(33)}@example.com`,
    `ada@${"d".repeat(64)}.com`,
    `ada@${"d.".repeat(126)}com`,
    `${"l".repeat(60)}@${"d".repeat(60)}.${"d".repeat(60)}.${"d".repeat(60)}.${"d".repeat(20)}.com`,
  ])("%j is not well-formed", (email) => {
    expect(parseAddress(email).check.result).toBe("fail");
  });

  test("an international domain is converted to ASCII, and the local part stays as given", () => {
    expect(parseAddress("Ada@MÜNCHEN.example").address).toEqual({
      local: "Ada",
      domain: "xn--mnchen-3ya.example",
    });
    expect(parseAddress("ada@bücher.de").check.result).toBe("pass");
  });

  test("every address that can be sent to is well-formed", () => {
    const atom = fc.stringMatching(/^[A-Za-z0-9_'+-]{1,20}$/);
    const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
    const email = fc.tuple(
      fc.array(atom, { minLength: 1, maxLength: 3 }),
      fc.array(label, { minLength: 1, maxLength: 3 }),
      fc.stringMatching(/^[a-z]{2,10}$/),
    );
    fc.assert(
      fc.property(email, ([atoms, labels, ending]) => {
        const address = `${atoms.join(".")}@${labels.join(".")}.${ending}`;
        fc.pre(EmailAddress.safeParse(address).success);
        expect([address, parseAddress(address).check.result]).toEqual([address, "pass"]);
      }),
    );
  });

  test("any text is parsed without an error, and accepted addresses can be sent to", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary", maxLength: 100 }), fc.emailAddress()),
        (text) => {
          const { check, address } = parseAddress(text);
          if (check.result === "pass")
            expect(EmailAddress.safeParse(`${address!.local}@${address!.domain}`).success).toBe(
              true,
            );
          if (check.result === "fail") expect(address).toBeUndefined();
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("edit distance", () => {
  test.each([
    ["gmail", "gmail", 0],
    ["gmail", "gmial", 1],
    ["gmail", "gmal", 1],
    ["gmail", "gmaiil", 1],
    ["gmail", "gnail", 1],
    ["gmail", "hotmail", 3],
    ["", "abc", 3],
  ])("from %s to %s is %i", (a, b, off) => {
    expect(editDistance(a, b, 5)).toBe(off);
  });

  test("is symmetric, zero only for equal texts, and limited to the maximum plus one", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
    fc.assert(
      fc.property(word, word, fc.integer({ min: 0, max: 4 }), (a, b, most) => {
        const off = editDistance(a, b, most);
        expect(editDistance(b, a, most)).toBe(off);
        expect(off === 0).toBe(a === b);
        expect(off).toBeLessThanOrEqual(most + 1);
        expect(off).toBe(Math.min(editDistance(a, b, 8), most + 1));
      }),
    );
  });
});

describe("typos", () => {
  test.each([
    ["gmial.com", "gmail.com"],
    ["gmail.con", "gmail.com"],
    ["gmail.co", "gmail.com"],
    ["gmai.com", "gmail.com"],
    ["gamil.com", "gmail.com"],
    ["yaho.com", "yahoo.com"],
    ["hotmial.com", "hotmail.com"],
    ["hotnail.com", "hotmail.com"],
    ["outlok.com", "outlook.com"],
    ["iclould.com", "icloud.com"],
    ["protonmial.com", "protonmail.com"],
    ["shop-of-mine.con", "shop-of-mine.com"],
  ])("%s gets the suggestion %s", (given, right) => {
    expect(suggestDomain(given)).toBe(right);
  });

  test.each([
    "gmail.com",
    "ymail.com",
    "mail.com",
    "gmx.de",
    "web.de",
    "example.com",
    "mycompany.io",
    "yahoo.co.uk",
    "hotmail.fr",
    "a.com",
    "comet.net",
  ])("%s gets no suggestion", (domain) => {
    expect(suggestDomain(domain)).toBeUndefined();
  });
});

test.each([
  ["info", true],
  ["No-Reply", true],
  ["postmaster", true],
  ["support+eu", true],
  ["ada", false],
  ["information.desk", false],
  ["infos", false],
])("%s is a role account: %s", (local, role) => {
  expect(isRoleAccount(local)).toBe(role);
});

test("disposable domains and their subdomains are recognized", () => {
  for (const domain of ["mailinator.com", "yopmail.com", "box.mailinator.com"])
    expect([domain, isDisposable(domain)]).toEqual([domain, true]);
  for (const domain of ["gmail.com", "example.com", "com", "mailinator.example"])
    expect([domain, isDisposable(domain)]).toEqual([domain, false]);
});

test("the registrable domain follows the Public Suffix List", () => {
  expect(registeredDomain("mail.shop.co.uk")).toBe("shop.co.uk");
  expect(registeredDomain("co.uk")).toBeUndefined();
  expect(registeredDomain("192.0.2.1")).toBeUndefined();
  expect(organizationalDomain("a.b.example.com")).toBe("example.com");
  expect(organizationalDomain("pages.ada.github.io")).toBe("ada.github.io");
});

describe("lookalikes", () => {
  test.each([
    ["paypa1.com", "paypal.com"],
    ["paypai.com", "paypal.com"],
    ["rnicrosoft.com", "microsoft.com"],
    ["xn--pypal-4ve.com", "paypal.com"], // Cyrillic а
    ["xn--80ak6aa92e.com", "apple.com"], // all Cyrillic
    ["arnazon.com", "amazon.com"],
    ["g00gle.com", "google.com"],
    ["paypal.com.login.example", "paypal.com"],
    ["microsft.com", "microsoft.com"],
    ["facebok.com", "facebook.com"],
  ])("%s fails as an imitation of %s", (domain, resembles) => {
    expect(checkLookalike(domain)).toMatchObject({ check: { result: "fail" }, resembles });
  });

  test.each([
    ["paypall.com", "paypal.com"],
    ["paypal-security.com", "paypal.com"],
    ["paypal.xyz", "paypal.com"],
    [domainToASCII("шоп-abc.com"), null], // letters of two alphabets
  ])("%s gets a warning", (domain, resembles) => {
    expect(checkLookalike(domain)).toMatchObject({ check: { result: "warn" }, resembles });
  });

  test.each([
    "paypal.com",
    "mail.paypal.com",
    "email.apple.com",
    "example.com",
    "apply.com",
    "vista.com",
    "my-chase-garden.com",
    "xn--mnchen-3ya.de",
    "shop.example",
  ])("%s is no lookalike", (domain) => {
    expect(checkLookalike(domain)).toMatchObject({ check: { result: "pass" }, resembles: null });
  });

  test("no known sender is a lookalike of another", () => {
    for (const { domains } of knownSenders)
      for (const domain of domains)
        expect([domain, checkLookalike(domain).check.result]).toEqual([domain, "pass"]);
  });

  test("a replaced lookalike letter is found in every name of at least four letters", () => {
    const swaps: Record<string, string> = {
      a: "а",
      e: "е",
      o: "о",
      p: "р",
      c: "с",
      x: "х",
      y: "у",
      i: "і",
      s: "ѕ",
    };
    for (const { domains } of knownSenders)
      for (const domain of domains) {
        const label = domain.split(".")[0]!;
        const letter = [...label].find((char) => swaps[char]);
        if (label.length >= 4 && letter)
          expect([domain, skeleton(label.replace(letter, swaps[letter]!))]).toEqual([
            domain,
            skeleton(label),
          ]);
      }
  });

  test("mixed alphabets are detected", () => {
    expect(mixesScripts("pаypal")).toBe(true);
    for (const label of ["paypal", "пример", "münchen", "東京tower", "shop-1"])
      expect([label, mixesScripts(label)]).toEqual([label, false]);
  });

  test("free mailbox providers are recognized at their exact domain only", () => {
    expect(knownSenderOf("gmail.com")).toMatchObject({ kind: "mailbox" });
    expect(knownSenderOf("mail.gmail.com")).toBeUndefined();
    expect(knownSenderOf("news.amazon.com")).toMatchObject({ name: "Amazon", kind: "company" });
  });
});
