// Makes prepared writes, all or none, and reports conditions that do not hold.

import { type ConsumedCapacity, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import {
  DeleteCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { contended } from "../../errors.ts";
import {
  backOff,
  documentClient,
  recordCapacity,
  retryableErrors,
  returnCapacity,
} from "./client.ts";
import type { Write } from "./writes.ts";

/** A condition did not hold, and its write has no `orThrow`. `index` is the index of the write. */
export class ConditionFailed extends Error {
  readonly index: number;
  constructor(index: number) {
    super(`Condition ${index} of the write did not hold`);
    this.index = index;
  }
}

/** Their pauses add up to about 10 s, well within the time limit of a request. */
const maxAttempts = 11;

/**
 * Makes all writes or none. A single write is a plain one; several are a transaction (twice the
 * units, at most 100 items).
 */
export async function write(...writes: Write[]): Promise<void> {
  if (writes.length === 1) await writeOne(writes[0]!);
  else if (writes.length) await writeTransaction(writes);
}

/**
 * Makes all writes or none, and returns whether their conditions held. For writes without
 * `orThrow`.
 */
export async function transact(...writes: Write[]): Promise<boolean> {
  try {
    await write(...writes);
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}

/** Makes one update and returns the new item. Undefined if the condition did not hold. */
export async function updateReturning<T>({ item }: Write): Promise<T | undefined> {
  try {
    const command = new UpdateCommand({
      ...item.Update!,
      ReturnValues: "ALL_NEW",
      ...returnCapacity,
    });
    const { Attributes, ConsumedCapacity } = await retryOnTransactionConflict("UpdateItem", () =>
      documentClient().send(command),
    );
    recordCapacity("UpdateItem", ConsumedCapacity, "write");
    return Attributes as T;
  } catch (error) {
    if (isErrorNamed(error, "ConditionalCheckFailedException")) return undefined;
    throw error;
  }
}

// A transaction costs twice as much, so a single write uses its own command.
async function writeOne({ item, orThrow }: Write) {
  try {
    const changeOperation = item.Update ? "UpdateItem" : "DeleteItem";
    const operation = item.Put ? "PutItem" : changeOperation;
    const { ConsumedCapacity } = await retryOnTransactionConflict<{
      ConsumedCapacity?: ConsumedCapacity | undefined;
    }>(operation, () => {
      if (item.Put)
        return documentClient().send(new PutCommand({ ...item.Put, ...returnCapacity }));
      if (item.Update)
        return documentClient().send(new UpdateCommand({ ...item.Update, ...returnCapacity }));
      return documentClient().send(new DeleteCommand({ ...item.Delete!, ...returnCapacity }));
    });
    recordCapacity(operation, ConsumedCapacity, "write");
  } catch (error) {
    if (isErrorNamed(error, "ConditionalCheckFailedException"))
      throw orThrow ?? new ConditionFailed(0);
    throw error;
  }
}

const isErrorNamed = (error: unknown, name: string) =>
  error instanceof Error && error.name === name;

/** Retries a plain write that DynamoDB rejects because a transaction is writing the same item. */
async function retryOnTransactionConflict<T>(
  operation: string,
  call: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!isErrorNamed(error, "TransactionConflictException")) throw error;
      if (attempt >= maxAttempts) throw contended("This");
      await backOff(attempt, operation);
    }
  }
}

async function writeTransaction(writes: Write[]) {
  for (let attempt = 1; ; attempt++) {
    try {
      const { ConsumedCapacity } = await documentClient().send(
        new TransactWriteCommand({
          TransactItems: writes.map(({ item }) => item),
          ...returnCapacity,
        }),
      );
      return recordCapacity("TransactWriteItems", ConsumedCapacity, "write");
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = error.CancellationReasons?.map(({ Code }) => Code) ?? [];
      const failed = reasons.indexOf("ConditionalCheckFailed");
      if (failed >= 0) throw writes[failed]?.orThrow ?? new ConditionFailed(failed);
      if (!reasons.some((reason) => retryableErrors.has(reason ?? ""))) throw error;
      if (attempt >= maxAttempts) throw contended("This");
      await backOff(attempt, "TransactWriteItems");
    }
  }
}
