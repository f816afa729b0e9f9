// Reads that a request or a message of a queue starts in the same turn are one call.
import { beforeAll, expect, test } from "vitest";
import { measureUnits } from "../../shared/adapters/dynamodb/capacity.ts";
import { getManyTogether, getTogether, put, write } from "../../shared/adapters/dynamodb/table.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";
import { useOwnTableAndQueues } from "../support/sending.ts";

useDynamoDbEngine();

beforeAll(useOwnTableAndQueues);

const keyOf = (sk: string) => ({ pk: "joined", sk });
const store = (sk: string, item: object) => write(put(keyOf(sk), item));

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
