import { scryptSync } from "node:crypto";
import { expect, test } from "vitest";
import {
  hashPassword,
  NewPassword,
  verifyPassword,
} from "../../shared/domain/identity/passwords.ts";

const problems = (password: string) =>
  NewPassword.safeParse(password).error?.issues.map(({ message }) => message) ?? [];

test("a password has 8 to 200 characters", () => {
  expect(problems("xq7!mpa")).toEqual(["must have at least 8 characters"]);
  expect(problems("xq7!mpaz")).toEqual([]);
  expect(problems("xq7!mpaz ".repeat(22))).toEqual([]);
  expect(problems("x".repeat(201))).toEqual(["must have at most 200 characters"]);
});

test.each(["password", "12345678", "QWERTYUIOP", "Password1", "iloveyou"])(
  "%s is rejected as too common",
  (common) => {
    expect(problems(common)).toEqual([expect.stringContaining("most common")]);
  },
);

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
    const started = performance.now();
    expect(await work()).toBe(false);
    return performance.now() - started;
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
