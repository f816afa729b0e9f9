// Many items to a call, each for itself.
import { BatchExecuteStatementCommand, BatchWriteCommand } from "@aws-sdk/lib-dynamodb";
import { config } from "../../config.ts";
import type { Address } from "../../keys.ts";
import { chunked, inParallel } from "../../parallel.ts";
import { backOff, capacity, dynamo, type Item, keyOf, paid, passing } from "./client.ts";
import type { Write } from "./writes.ts";

/** Many independent puts and removes without conditions, 25 to a call, side by side. Safe to repeat. */
export async function writeMany(writes: Write[]): Promise<void> {
  await inParallel(4, chunked(writes, 25), writeBatch);
}

async function writeBatch(writes: Write[]) {
  let left = writes.map(({ item }) =>
    item.Put ? { PutRequest: { Item: item.Put.Item } } : { DeleteRequest: { Key: item.Delete!.Key } },
  ) as Item[];
  for (let attempt = 0; left.length; attempt++) {
    if (attempt) await backOff(attempt, "BatchWriteItem");
    const { UnprocessedItems, ConsumedCapacity } = await dynamo().send(
      new BatchWriteCommand({ RequestItems: { [config.table]: left as never }, ...capacity }),
    );
    paid("BatchWriteItem", ConsumedCapacity, "write");
    left = (UnprocessedItems?.[config.table] ?? []) as Item[];
  }
}

/** Items put only where nothing is yet, 25 to a call, side by side. Tells for each whether it is new. */
export async function insertMany(items: { address: Address; item: object }[]): Promise<boolean[]> {
  const outcomes = await inParallel(4, chunked(items, 25), insertBatch);
  return outcomes.flat();
}

const insertBatch = (items: { address: Address; item: object }[]): Promise<boolean[]> =>
  execute(
    items.map(({ address, item }) => insertion({ ...item, ...keyOf(address) })),
    "DuplicateItem",
  );

// PartiQL wants the item's shape spelled out; only values may be parameters.
function insertion(item: object) {
  const attributes = Object.entries(item).filter(([, value]) => value !== undefined);
  const shape = attributes.map(([name]) => `'${name.replaceAll("'", "''")}': ?`).join(", ");
  return { Statement: `INSERT INTO "${config.table}" VALUE {${shape}}`, Parameters: attributes.map(([, value]) => value) };
}

// The call answers 200 and hides an error in each statement: every one of them is looked at.
async function execute(statements: { Statement: string; Parameters: unknown[] }[], unmet: string): Promise<boolean[]> {
  const outcomes: (boolean | undefined)[] = statements.map(() => undefined);
  for (let attempt = 0; outcomes.includes(undefined); attempt++) {
    if (attempt) await backOff(attempt, "BatchExecuteStatement");
    const open = outcomes.flatMap((outcome, i) => (outcome === undefined ? [i] : []));
    const { Responses = [], ConsumedCapacity } = await dynamo().send(
      new BatchExecuteStatementCommand({ Statements: open.map((i) => statements[i]!), ...capacity }),
    );
    paid("BatchExecuteStatement", ConsumedCapacity, "write");
    for (const [n, i] of open.entries()) outcomes[i] = outcomeOf(Responses[n]?.Error, unmet);
  }
  return outcomes.map(Boolean);
}

export interface ManyUpdate {
  address: Address;
  set: Item;
  /** It is made only where this attribute still has this value. */
  while: [attribute: string, value: string | number];
}

/** Updates of items that exist, each on a condition of its own, 25 to a call, side by side. Tells for each whether it was made. */
export async function updateMany(updates: ManyUpdate[]): Promise<boolean[]> {
  const outcomes = await inParallel(4, chunked(updates, 25), (some) => execute(some.map(updateStatement), "ConditionalCheckFailed"));
  return outcomes.flat();
}

function updateStatement({ address, set, while: [attribute, value] }: ManyUpdate) {
  const sets = Object.entries(set).filter(([, to]) => to !== undefined);
  return {
    Statement: `UPDATE "${config.table}" SET ${sets.map(([name]) => `"${name}"=?`).join(", ")} WHERE pk=? AND sk=? AND "${attribute}"=?`,
    Parameters: [...sets.map(([, to]) => to), address.pk, address.sk, value],
  };
}

function outcomeOf(error: { Code?: string | undefined; Message?: string | undefined } | undefined, unmet: string): boolean | undefined {
  if (!error) return true;
  if (error.Code === unmet) return false;
  if (passing.has(error.Code ?? "")) return undefined;
  throw new Error(`A statement failed: ${error.Code} ${error.Message}`);
}
