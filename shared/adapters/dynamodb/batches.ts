// Batch calls. The items of a batch succeed or fail independently.

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
import { BatchExecuteStatementCommand, BatchWriteCommand } from "./commands.ts";
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
export const insertMany = async (items: NewItem[]): Promise<boolean[]> =>
  (await executeInserts(items)).map(toResult);

interface NewItem {
  key: Key;
  item: object;
}

async function executeInserts(items: NewItem[]): Promise<StatementOutcome[]> {
  const outcomes = await inParallel(4, splitIntoBatches(items, 25), (batch) =>
    executeStatements(
      batch.map(({ key, item }) => insertStatement({ ...item, ...keyOf(key) })),
      "DuplicateItem",
    ),
  );
  return outcomes.flat();
}

const insertJoined = joinCalls(executeInserts);

/**
 * Like `insertMany`, for one item, in one call with other items that are inserted at the same time.
 * Throws only if its own insertion failed.
 */
export const insertTogether = async (key: Key, item: object): Promise<boolean> =>
  toResult((await insertJoined([{ key, item }]))[0]!);

// PartiQL needs the attribute names in the statement. Only values can be parameters.
function insertStatement(item: object) {
  const attributes = Object.entries(item).filter(([, value]) => value !== undefined);
  const shape = attributes.map(([name]) => `'${name.replaceAll("'", "''")}': ?`).join(", ");
  return {
    Statement: `INSERT INTO "${config.table}" VALUE {${shape}}`,
    Parameters: attributes.map(([, value]) => value),
  };
}

/** `isMade` is false if the condition of the statement did not hold. */
type StatementOutcome = { isMade: boolean } | { error: unknown };

/** Throws the error of a failed statement. */
function toResult(outcome: StatementOutcome): boolean {
  if ("error" in outcome) throw outcome.error;
  return outcome.isMade;
}

// The response is 200 even if statements failed, so the result of each statement is checked. When
// retries end with an error, only the statements without a result fail.
async function executeStatements(
  statements: { Statement: string; Parameters: unknown[] }[],
  conditionErrorCode: string,
): Promise<StatementOutcome[]> {
  const outcomes: (StatementOutcome | undefined)[] = statements.map(() => undefined);
  try {
    for (let attempt = 0; outcomes.includes(undefined); attempt++) {
      if (attempt) await backOff(attempt, "BatchExecuteStatement");
      const pending = outcomes.flatMap((outcome, i) => (outcome ? [] : [i]));
      const { Responses = [], ConsumedCapacity } = await documentClient().send(
        new BatchExecuteStatementCommand({
          Statements: pending.map((i) => statements[i]!),
          ...returnCapacity,
        }),
      );
      recordCapacity("BatchExecuteStatement", ConsumedCapacity, "write");
      for (const [n, i] of pending.entries())
        outcomes[i] = toOutcome(Responses[n]?.Error, conditionErrorCode);
    }
  } catch (error) {
    return outcomes.map((outcome) => outcome ?? { error });
  }
  return outcomes as StatementOutcome[];
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
export const updateMany = async (updates: ConditionalUpdate[]): Promise<boolean[]> =>
  (await executeUpdates(updates)).map(toResult);

async function executeUpdates(updates: ConditionalUpdate[]): Promise<StatementOutcome[]> {
  const outcomes = await inParallel(4, splitIntoBatches(updates, 25), (batch) =>
    executeStatements(batch.map(updateStatement), "ConditionalCheckFailed"),
  );
  return outcomes.flat();
}

const updateJoined = joinCalls(executeUpdates);

/**
 * Updates an existing item, in one call with the others that the request updates together in the
 * same turn. Returns whether it was updated. Throws only if its own update failed.
 */
export const updateTogether = async (update: ConditionalUpdate): Promise<boolean> =>
  toResult((await updateJoined([update]))[0]!);

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

function toOutcome(
  error: { Code?: string | undefined; Message?: string | undefined } | undefined,
  conditionErrorCode: string,
): StatementOutcome | undefined {
  if (!error) return { isMade: true };
  if (error.Code === conditionErrorCode) return { isMade: false };
  if (retryableErrors.has(error.Code ?? "")) return undefined;
  return { error: new Error(`A statement failed: ${error.Code} ${error.Message}`) };
}
