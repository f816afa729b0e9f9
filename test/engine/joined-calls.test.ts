// Calls that a request or a batch of messages starts in the same turn are one call. On one machine,
// so are the calls of several requests.
import { beforeAll, describe, expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import {
  get,
  getManyTogether,
  getTogether,
  insertMany,
  insertTogether,
  joinCallsOfRequests,
  put,
  queryAll,
  remove,
  transact,
  update,
  updateMany,
  updateTogether,
  write,
  writeMany,
  writeManyTogether,
} from "../../shared/adapters/dynamodb/table.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";
import { useOwnTableAndQueues } from "../support/sending.ts";

useDynamoDbEngine();

beforeAll(useOwnTableAndQueues);

const keyOf = (sk: string) => ({ pk: "joined", sk });
const store = (sk: string, item: object) => write(put(keyOf(sk), item));

test("updates of one turn are one call, each with its own condition", async () => {
  await store("new", { status: "queued", turnAt: "12:00", key: "k" });
  await store("claimed", { status: "queued", attempt: 1 });
  await store("other", { status: "sending" });
  const claim = (sk: string, attempt?: number) =>
    updateTogether({
      key: keyOf(sk),
      set: { status: "sending", by: sk },
      remove: ["turnAt", "key", "lease"],
      ifEquals: { status: "queued", attempt },
    });
  const { result, usage } = await measureUnits(() =>
    Promise.all([claim("new"), claim("claimed"), claim("other"), claim("missing")]),
  );
  expect(result).toEqual([true, false, false, false]);
  expect(usage.calls).toBe(1);
  expect(await get(keyOf("new"))).toEqual({ ...keyOf("new"), status: "sending", by: "new" });
  expect(await get(keyOf("claimed"))).toMatchObject({ status: "queued", attempt: 1 });
  expect(await get(keyOf("missing"))).toBeUndefined();
  expect(await claim("claimed", 1)).toBe(true);
});

test("reads of one turn are one call, and each gets its own items in order", async () => {
  for (const sk of ["a", "b", "c"]) await store(sk, { name: sk });
  const { result, usage } = await measureUnits(() =>
    Promise.all([
      getTogether(keyOf("a"), { consistent: true }),
      getManyTogether([keyOf("c"), keyOf("none"), keyOf("a")], { consistent: true }),
    ]),
  );
  expect(result).toMatchObject([{ name: "a" }, [{ name: "c" }, undefined, { name: "a" }]]);
  // Both read the same item, which is read once.
  expect(usage.calls).toBe(1);
  expect(usage.readUnits).toBeLessThanOrEqual(3);
});

test("reads of two requests are separate calls", async () => {
  const read = () => measureUnits(() => getTogether(keyOf("a")));
  const both = await Promise.all([read(), read()]);
  for (const { usage } of both) expect(usage.calls).toBe(1);
});

// The last tests of this file, because it stays so.
describe("on one machine", () => {
  beforeAll(() => joinCallsOfRequests({ makesAllWrites: true }));

  const eachAlone = (work: (n: number) => Promise<unknown>) =>
    Promise.all([1, 2, 3, 4].map((n) => measureUnits(() => work(n))));
  const partOf = (units: object) => ({ calls: 0.25, ...units });

  test("requests insert in one call, and each has its own result and pays its part", async () => {
    await store("2", { name: "first" });
    const inserted = await eachAlone((n) => insertTogether(keyOf(String(n)), { name: "second" }));
    expect(inserted.map(({ result }) => result)).toEqual([true, false, true, true]);
    for (const { usage } of inserted) expect(usage.calls).toBe(0.25);
    expect(await get(keyOf("2"))).toMatchObject({ name: "first" });
    expect(await get(keyOf("4"))).toMatchObject({ name: "second" });
  });

  test("requests read and write in one call, and of two writes the last counts", async () => {
    const written = await eachAlone((n) =>
      writeManyTogether([put({ pk: "written", sk: String(n % 2) }, { n })]),
    );
    for (const { usage } of written)
      expect(usage).toEqual(partOf({ readUnits: 0, writeUnits: 0.5 }));
    expect(await queryAll({ pk: "written" }, { consistent: true })).toMatchObject([
      { n: 4 },
      { n: 3 },
    ]);
    const read = await eachAlone((n) => getTogether({ pk: "written", sk: String(n % 2) }));
    expect(read.map(({ result }) => result)).toMatchObject([
      { n: 3 },
      { n: 4 },
      { n: 3 },
      { n: 4 },
    ]);
    for (const { usage } of read) expect(usage).toEqual(partOf({ readUnits: 0.25, writeUnits: 0 }));
  });

  test("requests that arrive during a call are in the next one", async () => {
    const early = measureUnits(() => getTogether(keyOf("a")));
    await new Promise((resolve) => setImmediate(resolve));
    const late = await Promise.all([
      early,
      measureUnits(() => getTogether(keyOf("b"))),
      measureUnits(() => getTogether(keyOf("c"))),
    ]);
    expect(late.map(({ usage }) => usage.calls)).toEqual([1, 0.5, 0.5]);
  });

  test("a request that is invalid fails alone", async () => {
    const tooLarge = "x".repeat(500_000);
    const stored = await Promise.allSettled([
      writeManyTogether([put(keyOf("large"), { tooLarge })]),
      writeManyTogether([put(keyOf("small"), {})]),
    ]);
    expect(stored.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(await get(keyOf("small"))).toBeDefined();
  });

  describe("settings that every send reads", () => {
    const setting = { pk: "7#CONFIG", sk: "1" };
    const readSetting = async () => {
      const { result, usage } = await measureUnits(() => getTogether<{ n: number }>(setting));
      return [result?.n, usage.calls];
    };

    test("are read once, and again after each kind of write", async () => {
      const writes: [number | undefined, () => Promise<unknown>][] = [
        [1, () => write(put(setting, { n: 1 }))],
        [2, () => write(update(setting, { set: { n: 2 } }))],
        [3, () => transact(update(setting, { set: { n: 3 } }), put(keyOf("other"), {}))],
        [4, () => updateMany([{ key: setting, set: { n: 4 }, ifEquals: { n: 3 } }])],
        [5, () => writeMany([put(setting, { n: 5 })])],
        [undefined, () => write(remove(setting))],
        [6, () => insertMany([{ key: setting, item: { n: 6 } }])],
      ];
      for (const [n, change] of writes) {
        await change();
        expect(await readSetting()).toEqual([n, 1]);
        expect(await readSetting()).toEqual([n, 0]);
      }
    });

    test("are not kept by a read that overlaps a write", async () => {
      const [, read] = await Promise.all([
        write(update(setting, { set: { n: 8 } })),
        getTogether<{ n: number }>(setting),
      ]);
      expect([6, 8]).toContain(read!.n);
      expect(await readSetting()).toEqual([8, 1]);
    });

    test("cannot be changed by who read them", async () => {
      const read = await getTogether<{ n: number }>(setting);
      await getTogether(setting);
      expect(() => Object.assign(read!, { n: 9 })).toThrow(TypeError);
    });
  });
});
