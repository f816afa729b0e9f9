// Addresses as people write them: what is accepted, how they are shown and compared.
import { describe, expect, test } from "vitest";
import {
  domainOf,
  EmailAddress,
  normalizeEmail,
  toAsciiAddress,
} from "../../shared/kernel/email-fields.ts";

const faultOf = (address: string): string | undefined =>
  EmailAddress.safeParse(address).error?.issues[0]?.message;

describe("an address", () => {
  test.each([
    "r&d@shop.example",
    "a=b@shop.example",
    "sales/eu@shop.example",
    "o'neil'@shop.example",
    "what?@shop.example",
    "~a^b*c$d@shop.example",
    "_-@shop.example",
    "Ada.Lovelace+tag@Shop.Example",
    "info@xn--e1afmkfd.xn--p1ai.example",
    "a@b-c.co",
    `${"a".repeat(64)}@shop.example`,
  ])("is %s", (address) => {
    expect(EmailAddress.parse(address)).toBe(EmailAddress.parse(EmailAddress.parse(address)));
    expect(normalizeEmail(EmailAddress.parse(address))).toBe(address.toLowerCase());
  });

  test.each([
    ["info@bücher.example", "info@bücher.example", "info@xn--bcher-kva.example"],
    ["info@xn--bcher-kva.example", "info@bücher.example", "info@xn--bcher-kva.example"],
    ["Info@BÜCHER.Example", "Info@bücher.example", "info@xn--bcher-kva.example"],
    ["info@bu\u0308cher.example", "info@bücher.example", "info@xn--bcher-kva.example"],
    ["info@пример.рф", "info@пример.рф", "info@xn--e1afmkfd.xn--p1ai"],
    ["a@例え.テスト", "a@例え.テスト", "a@xn--r8jz45g.xn--zckzah"],
    ["a@straße.example", "a@straße.example", "a@xn--strae-oqa.example"],
  ])("%s is shown as %s and compared as %s", (input, shown, compared) => {
    expect(EmailAddress.parse(input)).toBe(shown);
    expect(normalizeEmail(input)).toBe(compared);
    expect(normalizeEmail(shown)).toBe(compared);
    expect(toAsciiAddress(shown).toLowerCase()).toBe(compared);
    expect(domainOf(input)).toBe(compared.split("@")[1]);
  });

  test.each([" ", "\t", "\n", "\r\n", "\u00a0", "\u200b", "\ufeff", "\u2060", "\u00ad", "\u3000"])(
    "loses %j at its ends, and names it inside",
    (character) => {
      const around = `${character}ada@shop.example${character}`;
      expect(EmailAddress.parse(around)).toBe("ada@shop.example");
      const code = character.trim() === "" && character.length > 1 ? "000D" : undefined;
      const inside = faultOf(`ada${character}x@shop.example`);
      if (character === " ") expect(inside).toBe("must be one valid email address");
      else
        expect(inside).toBe(
          "must be one valid email address: it contains an invisible character " +
            `(U+${code ?? character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")})`,
        );
    },
  );

  test.each([
    ["søren@shop.example", "must be one valid email address in ASCII characters before the @"],
    ["Ada <ada@shop.example>", "must be one valid email address, without a name"],
    ["", "must be one valid email address"],
    ["ada", "must be one valid email address"],
    ["@shop.example", "must be one valid email address"],
    ["ada@shop", "must be one valid email address"],
    ["ada@@shop.example", "must be one valid email address"],
    ["a..b@shop.example", "must be one valid email address"],
    [".a@shop.example", "must be one valid email address"],
    ["a.@shop.example", "must be one valid email address"],
    ["a!b@shop.example", "must be one valid email address"],
    ["a%b@shop.example", "must be one valid email address"],
    ["{{a}}@shop.example", "must be one valid email address"],
    ['"a"@shop.example', "must be one valid email address"],
    ["a@[127.0.0.1]", "must be one valid email address"],
    ["a@127.0.0.1", "must be one valid email address"],
    ["a@-shop.example", "must be one valid email address"],
    ["a@bücher.example/x", "must be one valid email address"],
    ["a@shop.example,b@shop.example", "must be one valid email address"],
    [`${"a".repeat(65)}@shop.example`, "must have at most 64 characters before the @"],
    [`a@${"b.".repeat(126)}example`, "must have at most 254 characters"],
    ["a".repeat(1_000_000), "must have at most 254 characters"],
  ])("is not %s", (address, message) => {
    expect(faultOf(address)).toBe(message);
  });
});
