import { scryptSync } from "node:crypto";
import { expect, test } from "vitest";
import {
  hashPassword,
  NewPassword,
  requireStrongPassword,
  verifyPassword,
} from "../../shared/domain/identity/passwords.ts";
import type { Problem } from "../../shared/errors.ts";

const problems = (password: string) =>
  NewPassword.safeParse(password).error?.issues.map(({ message }) => message) ?? [];

test("a password has 10 to 200 characters", () => {
  expect(problems("xq7!mpazk")).toEqual(["must have at least 10 characters"]);
  expect(problems("xq7!mpazkw")).toEqual([]);
  expect(problems("xq7!mpaz ".repeat(22))).toEqual([]);
  expect(problems("x".repeat(201))).toEqual(["must have at most 200 characters"]);
});

const known = ["ada@shop.example", "Ada Lovelace", null, undefined];
const weakness = (password: string) => {
  try {
    requireStrongPassword(password, { known });
    return "none";
  } catch (error) {
    const { kind, details } = error as Problem;
    expect([kind, details?.[0]?.path]).toEqual(["invalid", "password"]);
    return details![0]!.message;
  }
};

test.each([
  ["aaaaaaaaaa", "it repeats itself"],
  ["abcabcabcabc", "it repeats itself"],
  ["Pennymail1!", "the name of this service"],
  ["Pennymail2026!", "the name of this service"],
  ["ada@shop.example", "your address"],
  ["lovelace1815", "your name"],
  ["abcdefghijkl", "it follows a sequence"],
  ["QWERTYUIOPAS", "it "],
  ["Password1234", "it is like a common password"],
  ["P@ssw0rd2026", "it is like a common password"],
  ["1234567890", "it is like a common password"],
])("the password %s is easy to guess: %s", (password, reason) => {
  expect(weakness(password)).toMatch(/^is too easy to guess: it /);
  expect(weakness(password)).toContain(reason);
});

test.each([
  "a long pass phrase",
  "a horse of one's own",
  "grüße aus Wien",
  "xk4!pQz9rT",
  "长长的一句密码短语很难猜",
])("the password %s is strong enough", (password) => {
  expect(weakness(password)).toBe("none");
});

test("a long password is judged by its first characters, so that it takes no longer", () => {
  expect(weakness("a".repeat(200))).toContain("it repeats itself");
  expect(weakness(`${"a".repeat(64)} a long pass phrase`)).toContain("it repeats itself");
  expect(weakness("4@8(3]1|0$57%2".repeat(14))).toBe("none");
});

test("a hash matches only its own password and has a random salt", async () => {
  const [one, two] = await Promise.all([
    hashPassword("grüße aus Wien"),
    hashPassword("grüße aus Wien"),
  ]);
  expect(one).not.toBe(two);
  for (const hash of [one, two]) expect(hash).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$/);
  expect(one).not.toContain("Wien");
  expect(await verifyPassword("grüße aus Wien", one)).toBe(true);
  expect(await verifyPassword("grüsse aus Wien", one)).toBe(false);
});

test("passwords match in every Unicode normalization form", async () => {
  expect(
    await verifyPassword("gru\u0308ße aus Wien", await hashPassword("gr\u00fcße aus Wien")),
  ).toBe(true);
});

test("a hash with other parameters still matches", async () => {
  const salt = Buffer.from("0123456789abcdef");
  const derived = scryptSync("an older password", salt, 32, { N: 2 ** 12, r: 4, p: 2 });
  const stored = `$scrypt$ln=12,r=4,p=2$${salt.toString("base64url")}$${derived.toString("base64url")}`;
  expect(await verifyPassword("an older password", stored)).toBe(true);
  expect(await verifyPassword("a newer password", stored)).toBe(false);
});

test("without a stored hash nothing matches, and the comparison takes as long", async () => {
  const stored = await hashPassword("something to compare");
  const time = async (work: () => Promise<boolean>) => {
    const before = process.cpuUsage();
    expect(await work()).toBe(false);
    return process.cpuUsage(before).user;
  };
  const unknown = Math.min(
    await time(() => verifyPassword("a guess", undefined)),
    await time(() => verifyPassword("a guess", undefined)),
  );
  const wrong = Math.min(
    await time(() => verifyPassword("a guess", stored)),
    await time(() => verifyPassword("a guess", stored)),
  );
  expect(unknown).toBeGreaterThan(wrong / 3);
});
