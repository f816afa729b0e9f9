// Reads and updates that a request or a batch of messages starts in the same turn are one call.
import { beforeAll, expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import {
  get,
  getManyTogether,
  getTogether,
  put,
  updateTogether,
  write,
} from "../../shared/adapters/dynamodb/table.ts";
import { useOwnTableAndQueues } from "../support/sending.ts";

beforeAll(useOwnTableAndQueues);

const keyOf = (sk: string) => ({ pk: "joined", sk });
const store = (sk: string, item: object) => write(put(keyOf(sk), item));

test("updates of one turn are one call, each with its own condition", async () => {
  await store("new", { status: "queued", turnAt: "12:00" });
  await store("claimed", { status: "queued", attempt: 1 });
  await store("other", { status: "sending" });
  const claim = (sk: string, attempt?: number) =>
    updateTogether({
      key: keyOf(sk),
      set: { status: "sending", by: sk },
      remove: ["turnAt"],
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
  expect(usage).toMatchObject({ calls: 1, readUnits: 3 });
});

test("reads of two requests are separate calls", async () => {
  const read = () => measureUnits(() => getTogether(keyOf("a")));
  const both = await Promise.all([read(), read()]);
  for (const { usage } of both) expect(usage.calls).toBe(1);
});
