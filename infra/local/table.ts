// The table in the local engine: made when it is not there, and kept free of what has expired, which no engine but AWS's does.

import { setTimeout as pause } from "node:timers/promises";
import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  ResourceInUseException,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { epochSeconds, now } from "../../shared/clock.ts";

const keySchema = (hash: string, range: string) => [
  { AttributeName: hash, KeyType: "HASH" as const },
  { AttributeName: range, KeyType: "RANGE" as const },
];
const index = (name: string) => ({
  IndexName: name,
  KeySchema: keySchema(`${name}pk`, `${name}sk`),
  Projection: { ProjectionType: "KEYS_ONLY" as const },
});

export async function createTable(client: DynamoDBClient, table: string): Promise<void> {
  const attributes = ["pk", "sk", "duepk", "duesk", "newpk", "newsk"];
  const command = new CreateTableCommand({
    TableName: table,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: attributes.map((AttributeName) => ({ AttributeName, AttributeType: "S" as const })),
    KeySchema: keySchema("pk", "sk"),
    GlobalSecondaryIndexes: [index("due"), index("new")],
  });
  try {
    await client.send(command);
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
}

/** How many items of the due index have fallen due. Reads the whole (sparse) index, as nothing but this runner may. */
export async function countDue(client: DynamoDBClient, table: string): Promise<number> {
  let count = 0;
  let after: Record<string, never> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: table,
        IndexName: "due",
        Select: "COUNT",
        FilterExpression: "duesk <= :now",
        // Sort keys may go on behind the time: `~` sorts behind whatever they go on with.
        ExpressionAttributeValues: { ":now": { S: `${now().toISOString()}~` } },
        ExclusiveStartKey: after,
      }),
    );
    count += page.Count ?? 0;
    after = page.LastEvaluatedKey as typeof after;
  } while (after);
  return count;
}

const sweepEverySeconds = 300;

/** Removes expired items now and then, gently: a page at a time with pauses between. */
export function sweeping(client: DynamoDBClient, table: string): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const work = (async () => {
    while (true) {
      await pause(sweepEverySeconds * 1000, undefined, { signal: stopping.signal, ref: false });
      await sweep(client, table, stopping.signal);
    }
  })().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  const stop = async () => {
    stopping.abort();
    await work;
  };
  return { stop };
}

/** One walk through the table; answers how many items it removed. */
export async function sweep(client: DynamoDBClient, table: string, signal?: AbortSignal): Promise<number> {
  let removed = 0;
  let after: Record<string, never> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: table,
        Limit: 1000,
        ProjectionExpression: "pk, sk",
        FilterExpression: "expires < :now",
        ExpressionAttributeValues: { ":now": { N: String(epochSeconds()) } },
        ExclusiveStartKey: after,
      }),
    );
    for (const { pk, sk } of page.Items ?? []) if (await expire(client, table, { pk: pk!, sk: sk! })) removed++;
    after = page.LastEvaluatedKey as typeof after;
    if (after) await pause(50, undefined, { signal, ref: false });
  } while (after);
  return removed;
}

/** Unless it was renewed in the meantime. */
async function expire(client: DynamoDBClient, table: string, Key: NonNullable<DeleteItemCommand["input"]["Key"]>): Promise<boolean> {
  try {
    const ExpressionAttributeValues = { ":now": { N: String(epochSeconds()) } };
    await client.send(new DeleteItemCommand({ TableName: table, Key, ConditionExpression: "expires < :now", ExpressionAttributeValues }));
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
