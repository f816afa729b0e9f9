// The table in memory answers as an engine of DynamoDB does: the calls of a simulation are made
// again, in the same order, at the embedded engine.
import { execFile } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import * as sdk from "@aws-sdk/client-dynamodb";
import { expect, onTestFinished, test } from "vitest";
import { openDataFolder } from "../../infra/local/data-folder.ts";
import { startEngines } from "../../infra/local/engines/engines.ts";
import { callWithRest, createMemoryTable, describeRefusal, type TableCall } from "./table.ts";

test("the table in memory answers every call of a simulation as an engine does", async () => {
  const file = join(await mkdtemp(join(tmpdir(), "table-calls-")), "calls.jsonl");
  const command = join(import.meta.dirname, "run.ts");
  await promisify(execFile)(process.execPath, [command, "--seed", "3", "--table-calls", file]);
  const engines = await startEngines({ folder: openDataFolder(":memory:"), queues: [] });
  onTestFinished(() => engines.stop());
  Object.assign(process.env, engines.env);
  const operations = new Set<string>();
  for await (const line of createInterface(createReadStream(file))) {
    const call = JSON.parse(line) as TableCall;
    operations.add(call.operation);
    expect(whatCallersRead(await repeatCall(call)), line).toEqual(whatCallersRead(answerOf(call)));
  }
  expect(operations.size).toBeGreaterThan(7);
});

test("a stale read answers as the table was before, and a batch leaves items for the next call", () => {
  const table = createMemoryTable();
  let now = 0;
  table.keepHistory(() => now);
  const toItem = (sk: string) => ({ pk: { S: "P" }, sk: { S: sk } });
  const put = (sk: string) => ({ PutRequest: { Item: toItem(sk) } });
  const writes = { RequestItems: { simulated: ["a", "b", "c"].map(put) } };
  now = 1000;
  expect(callWithRest(table, "BatchWriteItem", writes)).toEqual({
    UnprocessedItems: { simulated: [put("a"), put("c")] },
  });
  expect(table.items()).toEqual([toItem("b")]);
  expect(table.call("GetItem", { Key: toItem("b") })).toEqual({ Item: toItem("b") });
  expect(table.readStale("GetItem", { Key: toItem("b") }, 999)).toEqual({});
  expect(table.readStale("GetItem", { Key: toItem("b") }, 1000)).toEqual({ Item: toItem("b") });
  const reads = { RequestItems: { simulated: { Keys: ["a", "b"].map(toItem) } } };
  expect(callWithRest(table, "BatchGetItem", reads)).toEqual({
    Responses: { simulated: [toItem("b")] },
    UnprocessedKeys: { simulated: { Keys: [toItem("a")] } },
  });
});

test.each(['REMOVE "a" REMOVE "b"', 'REMOVE "a", "b"'])("%s removes both attributes", (remove) => {
  const key = { pk: { S: "P" }, sk: { S: "s" } };
  const table = createMemoryTable([{ ...key, a: { S: "1" }, b: { S: "2" }, c: { S: "3" } }]);
  const update = `UPDATE "simulated" SET "d"=? ${remove} WHERE pk=? AND sk=?`;
  const Statements = [{ Statement: update, Parameters: [{ S: "4" }, key.pk, key.sk] }];
  table.call("BatchExecuteStatement", { Statements });
  expect(table.items()).toEqual([{ ...key, c: { S: "3" }, d: { S: "4" } }]);
});

const client = new sdk.DynamoDBClient({});
const commands = new Map(Object.entries(sdk) as [string, typeof sdk.GetItemCommand][]);

/** Makes a call of the simulation at the engine. */
async function repeatCall({ operation, input }: TableCall): Promise<string[] | Answer> {
  // The embedded engine needs commas between the changes of a PartiQL UPDATE.
  const text = JSON.stringify(input)
    .replaceAll('"simulated"', '"pennymail"')
    .replaceAll('\\"simulated\\"', '\\"pennymail\\"')
    .replaceAll('=? SET \\"', '=?, \\"')
    .replaceAll('\\" REMOVE \\"', '\\", \\"');
  const Command = commands.get(`${operation}Command`)!;
  try {
    return withBase64((await client.send(new Command(JSON.parse(text)))) as Answer);
  } catch (error) {
    if (!(error instanceof sdk.DynamoDBServiceException)) throw error;
    const { CancellationReasons } = error as sdk.TransactionCanceledException;
    return describeRefusal(error.name, CancellationReasons as { Code: string }[]);
  }
}

/** Binary values as on the wire, where the SDK returns bytes. */
const withBase64 = (answer: Answer): Answer =>
  JSON.parse(
    JSON.stringify(answer, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
    ),
  );

const answerOf = ({ output, refusal }: TableCall): string[] | Answer => refusal ?? output ?? {};

interface Answer {
  Count?: number;
  Items?: object[];
  Item?: object;
  Attributes?: object;
  LastEvaluatedKey?: object;
  ConsumedCapacity?: { CapacityUnits: number } | { CapacityUnits: number }[];
  /** Of a BatchExecuteStatement, or of a BatchGetItem by table. */
  Responses?: Statement[] | Record<string, StoredItem[]>;
}
interface Statement {
  Error?: { Code: string };
}
interface StoredItem {
  pk: { S: string };
  sk: { S: string };
}

/** What callers read of an answer. Items of a BatchGetItem have no order. */
function whatCallersRead(answer: string[] | Answer): unknown {
  if (Array.isArray(answer)) return answer;
  const { Count, Items, Item, Attributes, LastEvaluatedKey, Responses } = answer;
  const capacity = [answer.ConsumedCapacity ?? []].flat();
  const units = capacity.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
  const found = Array.isArray(Responses)
    ? Responses.map(({ Error: error }) => error?.Code)
    : Object.values(Responses ?? {}).flatMap((items) => items.toSorted(compareKeys));
  return { Count, Items, Item, Attributes, LastEvaluatedKey, found, units };
}

const compareKeys = (a: StoredItem, b: StoredItem): number =>
  `${a.pk.S} ${a.sk.S}` < `${b.pk.S} ${b.sk.S}` ? -1 : 1;
