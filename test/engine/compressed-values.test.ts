import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { get, put, write } from "../../shared/adapters/dynamodb/table.ts";
import * as blobs from "../../shared/adapters/s3/objects.ts";
import * as bodies from "../../shared/kernel/compressed-values.ts";
import { keys } from "../../shared/keys.ts";

let last = 0;
const address = () => keys.bulkContent(7, ++last);
const noise = randomBytes(300_000).toString("base64");

/** The value as it comes back from the table. */
async function kept(value: unknown): Promise<unknown> {
  const at = address();
  await write(put(at, await bodies.compress(at, value)));
  return bodies.decompress((await get<bodies.CompressedValue>(at))!);
}

test.each([{ a: [1, null, "€ 😀"], b: {} }, [], "text", 0, null, noise])(
  "a value is unchanged after it is compressed and read",
  async (value) => {
    expect(await kept(value)).toEqual(value);
  },
);

test("stores up to 200 KB in the item and larger values in S3", async () => {
  const at = address();
  const sizeOf = async (n: number) => (await bodies.compress(at, noise.slice(0, n))).gz?.length;
  let [fits, past] = [250_000, 280_000];
  while (past - fits > 1) {
    const middle = (fits + past) >> 1;
    if (await sizeOf(middle)) fits = middle;
    else past = middle;
  }
  expect(await sizeOf(fits)).toBeGreaterThanOrEqual(199_998);
  expect(await sizeOf(fits)).toBeLessThanOrEqual(200_000);
  expect(await bodies.compress(at, noise.slice(0, past))).toEqual({
    blob: expect.stringMatching(/^bodies\/7\/B\d+\/CONTENT\/[\w-]{22}\.json\.gz$/),
  });
});

test("the same value under the same key gives the same object, another value another object", async () => {
  const [one, two] = [address(), address()];
  const blobOf = async (at: typeof one, value: unknown) => (await bodies.compress(at, value)).blob;
  const first = await blobOf(one, noise);
  expect(await blobOf(one, noise)).toBe(first);
  expect(new Set([first, await blobOf(one, `${noise}x`), await blobOf(two, noise)]).size).toBe(3);
  expect((await bodies.compress(one, noise, "templates")).blob).toBe(
    first?.replace(/^bodies/, "templates"),
  );
});

test("a deleted value no longer exists, and reading it throws", async () => {
  const body = await bodies.compress(address(), noise);
  await blobs.remove(body.blob!);
  expect(await blobs.getSize(body.blob!)).toBeUndefined();
  await expect(bodies.decompress(body)).rejects.toThrow(
    `The stored body ${body.blob} no longer exists`,
  );
});
