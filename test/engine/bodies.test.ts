import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import * as bodies from "../../shared/bodies.ts";
import * as blobs from "../../shared/doors/blobs.ts";
import { get, put, write } from "../../shared/doors/table.ts";
import { keys } from "../../shared/keys.ts";

let last = 0;
const address = () => keys.content(7, ++last);
const noise = randomBytes(300_000).toString("base64");

/** The value as it comes back from the table. */
async function kept(value: unknown): Promise<unknown> {
  const at = address();
  await write(put(at, await bodies.packed(at, value)));
  return bodies.unpacked((await get<bodies.Packed>(at))!);
}

test.each([{ a: [1, null, "€ 😀"], b: {} }, [], "text", 0, null, noise])("what is packed comes back the same", async (value) => {
  expect(await kept(value)).toEqual(value);
});

test("up to 200 KB compressed it lies in the item, and one byte past that outside", async () => {
  const at = address();
  const sizeOf = async (n: number) => (await bodies.packed(at, noise.slice(0, n))).gz?.length;
  let [fits, past] = [250_000, 280_000];
  while (past - fits > 1) {
    const middle = (fits + past) >> 1;
    if (await sizeOf(middle)) fits = middle;
    else past = middle;
  }
  expect(await sizeOf(fits)).toBeGreaterThanOrEqual(199_998);
  expect(await sizeOf(fits)).toBeLessThanOrEqual(200_000);
  expect(await bodies.packed(at, noise.slice(0, past))).toEqual({
    blob: expect.stringMatching(/^bodies\/7\/B\d+\/CONTENT\/[\w-]{22}\.json\.gz$/),
  });
});

test("the same value at the same address is the same blob, any other is another", async () => {
  const [one, two] = [address(), address()];
  const blobOf = async (at: typeof one, value: unknown) => (await bodies.packed(at, value)).blob;
  const first = await blobOf(one, noise);
  expect(await blobOf(one, noise)).toBe(first);
  expect(new Set([first, await blobOf(one, `${noise}x`), await blobOf(two, noise)]).size).toBe(3);
  expect((await bodies.packed(one, noise, "templates")).blob).toBe(first?.replace(/^bodies/, "templates"));
});

test("a discarded body is gone, and reading it says so", async () => {
  const body = await bodies.packed(address(), noise);
  await bodies.discard(body);
  expect(await blobs.sizeOf(body.blob!)).toBeUndefined();
  await expect(bodies.unpacked(body)).rejects.toThrow(`The body ${body.blob} is gone`);
  await bodies.discard(await bodies.packed(address(), "small"));
});
