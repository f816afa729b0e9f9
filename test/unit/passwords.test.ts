import { scryptSync } from "node:crypto";
import { expect, test } from "vitest";
import { hash, matches, NewPassword } from "../../shared/domain/passwords.ts";

const problems = (password: string) => NewPassword.safeParse(password).error?.issues.map(({ message }) => message) ?? [];

test("a password has 8 to 200 characters", () => {
  expect(problems("xq7!mpa")).toEqual(["must have at least 8 characters"]);
  expect(problems("xq7!mpaz")).toEqual([]);
  expect(problems("xq7!mpaz ".repeat(22))).toEqual([]);
  expect(problems("x".repeat(201))).toEqual(["must have at most 200 characters"]);
});

test.each(["password", "12345678", "QWERTYUIOP", "Password1", "iloveyou"])("%s is too common, whatever its case", (common) => {
  expect(problems(common)).toEqual([expect.stringContaining("most common")]);
});

test("a hash matches its own password only, and never looks the same twice", async () => {
  const [one, two] = await Promise.all([hash("grüße aus Wien"), hash("grüße aus Wien")]);
  expect(one).not.toBe(two);
  // Less would be guessed sooner, more would keep a function from others.
  for (const each of [one, two]) expect(each).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$/);
  expect(one).not.toContain("Wien");
  expect(await matches("grüße aus Wien", one)).toBe(true);
  expect(await matches("grüsse aus Wien", one)).toBe(false);
});

test("the same letters match from every keyboard", async () => {
  expect(await matches("gru\u0308ße aus Wien", await hash("gr\u00fcße aus Wien"))).toBe(true);
});

test("a hash of other parameters still matches", async () => {
  const salt = Buffer.from("0123456789abcdef");
  const derived = scryptSync("an older password", salt, 32, { N: 2 ** 12, r: 4, p: 2 });
  const stored = `$scrypt$ln=12,r=4,p=2$${salt.toString("base64url")}$${derived.toString("base64url")}`;
  expect(await matches("an older password", stored)).toBe(true);
  expect(await matches("a newer password", stored)).toBe(false);
});

test("without a stored hash nothing matches, and it takes as long to find out", async () => {
  const stored = await hash("something to compare");
  const time = async (work: () => Promise<boolean>) => {
    const started = performance.now();
    expect(await work()).toBe(false);
    return performance.now() - started;
  };
  const unknown = Math.min(await time(() => matches("a guess", undefined)), await time(() => matches("a guess", undefined)));
  const wrong = Math.min(await time(() => matches("a guess", stored)), await time(() => matches("a guess", stored)));
  expect(unknown).toBeGreaterThan(wrong / 3);
});
