import fc from "fast-check";
import { expect, test } from "vitest";
import { opened, type Purpose, sealer } from "../../shared/domain/sealed-tokens.ts";

const purposes: Purpose[] = ["unsubscribe", "confirm", "visitor"];
const purpose = fc.constantFrom(...purposes);
const content = fc.array(fc.oneof(fc.maxSafeNat(), fc.string({ maxLength: 60 })), { maxLength: 6 });
const emailIn = (email: string) => [1, 2, 3, email, 4];

test("what was sealed comes back whole, for its purpose and for no other; the same makes the same token", async () => {
  await fc.assert(
    fc.asyncProperty(purpose, content, async (one, said) => {
      const seal = await sealer(one);
      const token = seal(said);
      expect(token).toMatch(/^[\w-]+$/);
      expect(seal(said)).toBe(token);
      for (const other of purposes) expect(await opened(other, token)).toEqual(other === one ? said : undefined);
    }),
  );
});

test("a token that was changed anywhere, cut or made up opens nothing", async () => {
  await fc.assert(
    fc.asyncProperty(purpose, content, fc.nat(), fc.integer({ min: 1, max: 255 }), async (one, said, place, by) => {
      const token = (await sealer(one))(said);
      const bytes = Buffer.from(token, "base64url");
      bytes[place % bytes.length]! ^= by;
      expect(await opened(one, bytes.toString("base64url"))).toBeUndefined();
      expect(await opened(one, token.slice(0, place % (token.length - 2)))).toBeUndefined();
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.base64String({ maxLength: 2000 })), async (made) => {
      expect(await opened("unsubscribe", made)).toBeUndefined();
    }),
  );
});

test("a token tells nothing: not the address, hardly its length, and two of one person are not alike", async () => {
  const seal = await sealer("unsubscribe");
  const [short, long] = [seal(emailIn("a@b.example")), seal(emailIn("somebody@b.example"))];
  expect(short.length).toBe(long.length);
  expect(Buffer.from(long, "base64url").toString("latin1")).not.toContain("somebody");
  const other = seal([1, 2, 3, "a@b.example", 5]);
  const alike = [...short].filter((letter, i) => letter === other[i]).length;
  expect(alike).toBeLessThan(short.length / 4);
});

test("the longest address fits; what could not be opened again is not sealed", async () => {
  const seal = await sealer("unsubscribe");
  const most = emailIn(`${"x".repeat(250)}@b.example`).map((part) => (typeof part === "number" ? Number.MAX_SAFE_INTEGER : part));
  expect(await opened("unsubscribe", seal(most))).toEqual(most);
  expect(() => seal(["x".repeat(600)])).toThrow("too long");
});
