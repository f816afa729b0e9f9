// Batch calls. The items of a batch succeed or fail independently.

import { BatchExecuteStatementCommand, BatchWriteCommand } from "@aws-sdk/lib-dynamodb";
import { config } from "../../config.ts";
import { inParallel, splitIntoBatches } from "../../kernel/parallel.ts";
import type { Key } from "../../keys.ts";
import {
  backOff,
  documentClient,
  type Item,
  keyOf,
  keyText,
  recordCapacity,
  retryableErrors,
  returnCapacity,
} from "./client.ts";
import { joinCalls } from "./joined-calls.ts";
import type { Write } from "./writes.ts";

/**
 * Makes independent puts and removes without conditions, 25 per call, in parallel. Safe to repeat.
 */
export async function writeMany(writes: Write[]): Promise<void> {
  await inParallel(4, splitIntoBatches(writes, 25), writeBatch);
}

async function writeBatch(writes: Write[]) {
  let remaining = writes.map(({ item }) =>
    item.Put
      ? { PutRequest: { Item: item.Put.Item } }
      : { DeleteRequest: { Key: item.Delete!.Key } },
  ) as Item[];
  for (let attempt = 0; remaining.length; attempt++) {
    if (attempt) await backOff(attempt, "BatchWriteItem");
    const { UnprocessedItems, ConsumedCapacity } = await documentClient().send(
      new BatchWriteCommand({
        RequestItems: { [config.table]: remaining as never },
        ...returnCapacity,
      }),
    );
    recordCapacity("BatchWriteItem", ConsumedCapacity, "write");
    remaining = (UnprocessedItems?.[config.table] ?? []) as Item[];
  }
}

const writeJoined = joinCalls(async (writes: Write[]) => {
  const latest = new Map(writes.map((one) => [keyText(writtenKey(one)), one]));
  await writeMany([...latest.values()]);
  return writes;
});

const writtenKey = ({ item }: Write) => (item.Put?.Item ?? item.Delete!.Key) as unknown as Key;

/** Like `writeMany`, in one call with other writes that start at the same time. */
export const writeManyTogether = async (writes: Write[]): Promise<void> => {
  await writeJoined(writes);
};

/**
 * Stores each item unless one with its key exists, 25 per call, in parallel. Returns for each
 * whether it was stored.
 */
export async function insertMany(items: { key: Key; item: object }[]): Promise<boolean[]> {
  const stored = await inParallel(4, splitIntoBatches(items, 25), (batch) =>
    executeStatements(
      batch.map(({ key, item }) => insertStatement({ ...item, ...keyOf(key) })),
      "DuplicateItem",
    ),
  );
  return stored.flat();
}

// PartiQL needs the attribute names in the statement. Only values can be parameters.
function insertStatement(item: object) {
  const attributes = Object.entries(item).filter(([, value]) => value !== undefined);
  const shape = attributes.map(([name]) => `'${name.replaceAll("'", "''")}': ?`).join(", ");
  return {
    Statement: `INSERT INTO "${config.table}" VALUE {${shape}}`,
    Parameters: attributes.map(([, value]) => value),
  };
}

// The response is 200 even if statements failed, so the result of each statement is checked.
// Returns for each whether it was made: false if its condition did not hold.
async function executeStatements(
  statements: { Statement: string; Parameters: unknown[] }[],
  conditionErrorCode: string,
): Promise<boolean[]> {
  const made: (boolean | undefined)[] = statements.map(() => undefined);
  for (let attempt = 0; made.includes(undefined); attempt++) {
    if (attempt) await backOff(attempt, "BatchExecuteStatement");
    const pending = made.flatMap((result, i) => (result === undefined ? [i] : []));
    const { Responses = [], ConsumedCapacity } = await documentClient().send(
      new BatchExecuteStatementCommand({
        Statements: pending.map((i) => statements[i]!),
        ...returnCapacity,
      }),
    );
    recordCapacity("BatchExecuteStatement", ConsumedCapacity, "write");
    for (const [n, i] of pending.entries())
      made[i] = wasMade(Responses[n]?.Error, conditionErrorCode);
  }
  return made as boolean[];
}

export interface ConditionalUpdate {
  key: Key;
  set: Item;
  remove?: string[];
  /** The update requires that these attributes still have these values. Undefined: absent. */
  ifEquals: Record<string, string | number | undefined>;
}

/**
 * Updates existing items, each on its own condition, 25 per call, in parallel. Returns for each
 * whether it was updated.
 */
export async function updateMany(updates: ConditionalUpdate[]): Promise<boolean[]> {
  const made = await inParallel(4, splitIntoBatches(updates, 25), (batch) =>
    executeStatements(batch.map(updateStatement), "ConditionalCheckFailed"),
  );
  return made.flat();
}

function updateStatement({ key, set, remove = [], ifEquals }: ConditionalUpdate) {
  const sets = Object.entries(set).filter(([, value]) => value !== undefined);
  const changes = [
    ...toClauses(
      "SET",
      sets.map(([name]) => `"${name}"=?`),
    ),
    ...toClauses(
      "REMOVE",
      remove.map((name) => `"${name}"`),
    ),
  ];
  const conditions = Object.entries(ifEquals).map(([name, value]) =>
    value === undefined ? ` AND "${name}" IS MISSING` : ` AND "${name}"=?`,
  );
  const expected = Object.values(ifEquals).filter((value) => value !== undefined);
  return {
    Statement:
      `UPDATE "${config.table}" ${changes.join(" ")} ` +
      `WHERE pk=? AND sk=?${conditions.join("")}`,
    Parameters: [...sets.map(([, value]) => value), key.pk, key.sk, ...expected],
  };
}

/** DynamoDB documents a keyword for each change; the embedded engine accepts only commas. */
function toClauses(keyword: "SET" | "REMOVE", changes: string[]): string[] {
  if (config.usesPartiqlCommas && changes.length) return [`${keyword} ${changes.join(", ")}`];
  return changes.map((change) => `${keyword} ${change}`);
}

/** Undefined: try again. */
function wasMade(
  error: { Code?: string | undefined; Message?: string | undefined } | undefined,
  conditionErrorCode: string,
): boolean | undefined {
  if (!error) return true;
  if (error.Code === conditionErrorCode) return false;
  if (retryableErrors.has(error.Code ?? "")) return undefined;
  throw new Error(`A statement failed: ${error.Code} ${error.Message}`);
}
