import { beforeAll, expect, test } from "vitest";
import { getMany, put, writeMany } from "../../shared/adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../shared/clock.ts";
import * as due from "../../shared/domain/due-work.ts";
import { indexes } from "../../shared/keys.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";
import { pendingMessages, useVirtualQueues } from "../support/virtual-queues.ts";

useDynamoDbEngine();

beforeAll(useVirtualQueues);

test("a schedule enqueues messages only for shards with due work", async () => {
  await due.drainAll();
  expect(pendingMessages).toEqual([]);
  const { pk } = indexes.due("EXPORT", 2);
  const entry = { orgId: 1, duepk: pk, duesk: addSeconds(-1).toISOString() };
  await writeMany([put({ pk: "DUE", sk: "1" }, entry)]);
  await due.drainAll();
  const sent = pendingMessages
    .splice(0)
    .map(({ queue, body }) => ({ queue, body: JSON.parse(body) }));
  expect(sent).toEqual([{ queue: "drain", body: { what: "EXPORT", shard: 2 } }]);
});

test("failing entries do not block later ones over several pages", async () => {
  const { pk } = indexes.due("DAY", 0);
  const addresses = Array.from({ length: 130 }, (_, i) => ({ pk: "BROKEN", sk: String(i) }));
  // A day without `of` cannot be rolled up.
  const entry = { orgId: 1, duepk: pk, duesk: addSeconds(-60).toISOString() };
  await writeMany(addresses.map((address) => put(address, entry)));
  const before = now().toISOString();
  await expect(due.drain("DAY", 0)).rejects.toThrow(TypeError);
  const items = await getMany<{ duesk: string }>(addresses, { consistent: true });
  expect(items.filter((item) => item!.duesk <= before)).toEqual([]);
});
