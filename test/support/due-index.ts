// The due index of a test's own table, read in one scan. The schedules of the service query the
// first entry of each of its 128 shards; test/engine/due-work.test.ts tests them.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { enqueue } from "../../shared/adapters/sqs/enqueue.ts";
import * as clock from "../../shared/clock.ts";
import {
  dueShards,
  dueWorkKinds,
  enrollmentShards,
  type IndexRange,
  indexes,
  type Key,
} from "../../shared/keys.ts";
import { queues } from "../../shared/queues.ts";
import { unmarshallMap } from "../simulation/dynamodb-json.ts";
import { currentMemoryTable } from "./memory-dynamodb.ts";

export interface DueEntry extends Key {
  duepk: string;
  duesk: string;
}

let client: DynamoDBDocumentClient | undefined;

export async function readDueIndex(): Promise<DueEntry[]> {
  const table = currentMemoryTable();
  if (table) return table.dueEntries().map(unmarshallMap) as unknown as DueEntry[];
  client ??= DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const { Items = [] } = await client.send(
    new ScanCommand({ TableName: process.env.TABLE_NAME, IndexName: "due" }),
  );
  return Items as DueEntry[];
}

/** Returns when the first entry is due, in ms since 1970, or infinity without entries. */
export const firstDueTime = (entries: DueEntry[]): number =>
  Math.min(...entries.map(({ duesk }) => Date.parse(duesk.slice(0, 24))));

const drains = dueWorkKinds.flatMap((what) =>
  Array.from({ length: dueShards }, (_, shard) => ({ what, shard })),
);
const advances = Array.from({ length: enrollmentShards }, (_, shard) => ({
  work: "shard" as const,
  shard,
}));

const isDue = (entries: DueEntry[]): ((range: IndexRange) => boolean) => {
  const time = clock.now().toISOString();
  const due = new Set(entries.filter(({ duesk }) => duesk <= time).map(({ duepk }) => duepk));
  return ({ pk }) => due.has(pk);
};

/** Enqueues a drain message for each shard that has due work, as drainAll does. */
export async function enqueueDueWork(entries: DueEntry[]): Promise<void> {
  const due = isDue(entries);
  await enqueue(
    queues.drain,
    drains.filter(({ what, shard }) => due(indexes.due(what, shard))),
  );
}

/** Enqueues an advance message for each shard that has due enrollments. */
export async function enqueueDueEnrollments(entries: DueEntry[]): Promise<void> {
  const due = isDue(entries);
  await enqueue(
    queues.advance,
    advances.filter(({ shard }) => due(indexes.dueEnrollments(shard))),
  );
}
