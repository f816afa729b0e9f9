// Creates the table in the local engine, and deletes expired items, because local engines have no
// TTL.
import { setTimeout as pause } from "node:timers/promises";
import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  ResourceInUseException,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { epochSeconds, now } from "../../../shared/clock.ts";

const keySchema = (hash: string, range: string) => [
  { AttributeName: hash, KeyType: "HASH" as const },
  { AttributeName: range, KeyType: "RANGE" as const },
];
const keysOnlyIndex = (name: string) => ({
  IndexName: name,
  KeySchema: keySchema(`${name}pk`, `${name}sk`),
  Projection: { ProjectionType: "KEYS_ONLY" as const },
});

export async function createTable(client: DynamoDBClient, table: string): Promise<void> {
  const attributes = ["pk", "sk", "duepk", "duesk", "newpk", "newsk"];
  const command = new CreateTableCommand({
    TableName: table,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: attributes.map((AttributeName) => ({
      AttributeName,
      AttributeType: "S" as const,
    })),
    KeySchema: keySchema("pk", "sk"),
    GlobalSecondaryIndexes: [keysOnlyIndex("due"), keysOnlyIndex("new")],
  });
  try {
    await client.send(command);
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
}

/** Counts due items by scanning the sparse index. Only the local service scans. */
export async function countDueItems(client: DynamoDBClient, table: string): Promise<number> {
  let count = 0;
  let after: Record<string, never> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: table,
        IndexName: "due",
        Select: "COUNT",
        FilterExpression: "duesk <= :now",
        // Sort keys can have a suffix after the time; `~` sorts after any suffix.
        ExpressionAttributeValues: { ":now": { S: `${now().toISOString()}~` } },
        ExclusiveStartKey: after,
      }),
    );
    count += page.Count ?? 0;
    after = page.LastEvaluatedKey as typeof after;
  } while (after);
  return count;
}

const sweepIntervalSeconds = 300;

/** Deletes expired items every few minutes, one page at a time with pauses. */
export function startTtlSweeper(client: DynamoDBClient, table: string): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const work = (async () => {
    while (true) {
      await pause(sweepIntervalSeconds * 1000, undefined, { signal: stopping.signal, ref: false });
      await deleteExpiredItems(client, table, stopping.signal);
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

/** Scans the table once and returns the number of deleted items. */
export async function deleteExpiredItems(
  client: DynamoDBClient,
  table: string,
  signal?: AbortSignal,
): Promise<number> {
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
    for (const { pk, sk } of page.Items ?? [])
      if (await deleteIfExpired(client, table, { pk: pk!, sk: sk! })) removed++;
    after = page.LastEvaluatedKey as typeof after;
    if (after) await pause(50, undefined, { signal, ref: false });
  } while (after);
  return removed;
}

/** Deletes the item unless it was renewed in the meantime. */
async function deleteIfExpired(
  client: DynamoDBClient,
  table: string,
  Key: NonNullable<DeleteItemCommand["input"]["Key"]>,
): Promise<boolean> {
  try {
    const ExpressionAttributeValues = { ":now": { N: String(epochSeconds()) } };
    await client.send(
      new DeleteItemCommand({
        TableName: table,
        Key,
        ConditionExpression: "expires < :now",
        ExpressionAttributeValues,
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
