import { expect, test } from "vitest";
import { createSealer, openToken, type TokenPurpose } from "../../shared/kernel/sealed-tokens.ts";
import fc from "../support/fast-check.ts";

const purposes: TokenPurpose[] = ["unsubscribe", "confirm", "visitor"];
const purpose = fc.constantFrom(...purposes);
const content = fc.array(fc.oneof(fc.maxSafeNat(), fc.string({ maxLength: 60 })), { maxLength: 6 });
const emailIn = (email: string) => [1, 2, 3, email, 4];

test("a token opens only for its purpose, and equal content gives an equal token", async () => {
  await fc.assert(
    fc.asyncProperty(purpose, content, async (one, sealedContent) => {
      const seal = await createSealer(one);
      const token = seal(sealedContent);
      expect(token).toMatch(/^[\w-]+$/);
      expect(seal(sealedContent)).toBe(token);
      for (const other of purposes)
        expect(await openToken(other, token)).toEqual(other === one ? sealedContent : undefined);
    }),
  );
});

test("rejects a token that was altered, truncated or forged", async () => {
  await fc.assert(
    fc.asyncProperty(
      purpose,
      content,
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      async (one, sealedContent, place, by) => {
        const token = (await createSealer(one))(sealedContent);
        const bytes = Buffer.from(token, "base64url");
        bytes[place % bytes.length]! ^= by;
        expect(await openToken(one, bytes.toString("base64url"))).toBeUndefined();
        expect(await openToken(one, token.slice(0, place % (token.length - 2)))).toBeUndefined();
      },
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.base64String({ maxLength: 2000 })), async (made) => {
      expect(await openToken("unsubscribe", made)).toBeUndefined();
    }),
  );
});

test("a token hides the address and its exact length", async () => {
  const seal = await createSealer("unsubscribe");
  const [short, long] = [seal(emailIn("a@b.example")), seal(emailIn("somebody@b.example"))];
  expect(short.length).toBe(long.length);
  expect(Buffer.from(long, "base64url").toString("latin1")).not.toContain("somebody");
  const other = seal([1, 2, 3, "a@b.example", 5]);
  const alike = [...short].filter((letter, i) => letter === other[i]).length;
  expect(alike).toBeLessThan(short.length / 4);
});

test("seals the longest address, and refuses content that would be too long to open", async () => {
  const seal = await createSealer("unsubscribe");
  const most = emailIn(`${"x".repeat(250)}@b.example`).map((part) =>
    typeof part === "number" ? Number.MAX_SAFE_INTEGER : part,
  );
  expect(await openToken("unsubscribe", seal(most))).toEqual(most);
  expect(() => seal(["x".repeat(600)])).toThrow("too long");
});
