// Making writes, all of them or none; and what is told when a condition does not hold.
import {
  ConditionalCheckFailedException,
  type ConsumedCapacity,
  TransactionCanceledException,
  TransactionConflictException,
} from "@aws-sdk/client-dynamodb";
import { DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { backOff, capacity, dynamo, paid, passing } from "./client.ts";
import type { Write } from "./writes.ts";

/** A condition of a write did not hold and the write named no Problem for it. `index` is its place among the writes. */
export class Unmet extends Error {
  readonly index: number;
  constructor(index: number) {
    super(`Condition ${index} of the write did not hold`);
    this.index = index;
  }
}

/** All of it or none of it: one item plainly, several in a transaction (twice the units, 100 items at most). */
export async function write(...writes: Write[]): Promise<void> {
  if (writes.length === 1) await writeOne(writes[0]!);
  else if (writes.length) await transact(writes);
}

/** `write` that tells whether its conditions held, for writes that name no Problem. */
export async function claim(...writes: Write[]): Promise<boolean> {
  try {
    await write(...writes);
    return true;
  } catch (error) {
    if (error instanceof Unmet) return false;
    throw error;
  }
}

/** One update that answers with the item as it then is; undefined when its condition did not hold. */
export async function updateReturning<T>({ item }: Write): Promise<T | undefined> {
  try {
    const command = new UpdateCommand({ ...item.Update!, ReturnValues: "ALL_NEW", ...capacity });
    const { Attributes, ConsumedCapacity } = await undisturbed("UpdateItem", () => dynamo().send(command));
    paid("UpdateItem", ConsumedCapacity, "write");
    return Attributes as T;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}

// A transaction of one is charged double, so a lone write goes in its own command.
async function writeOne({ item, otherwise }: Write) {
  try {
    const operation = item.Put ? "PutItem" : item.Update ? "UpdateItem" : "DeleteItem";
    const { ConsumedCapacity } = await undisturbed<{ ConsumedCapacity?: ConsumedCapacity | undefined }>(operation, () => {
      if (item.Put) return dynamo().send(new PutCommand({ ...item.Put, ...capacity }));
      if (item.Update) return dynamo().send(new UpdateCommand({ ...item.Update, ...capacity }));
      return dynamo().send(new DeleteCommand({ ...item.Delete!, ...capacity }));
    });
    paid(operation, ConsumedCapacity, "write");
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) throw otherwise ?? new Unmet(0);
    throw error;
  }
}

/** A plain write is refused while a transaction is about to write the same item: then it is made again. */
async function undisturbed<T>(operation: string, call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof TransactionConflictException) || attempt >= 8) throw error;
      await backOff(attempt, operation);
    }
  }
}

async function transact(writes: Write[]) {
  for (let attempt = 1; ; attempt++) {
    try {
      const { ConsumedCapacity } = await dynamo().send(
        new TransactWriteCommand({ TransactItems: writes.map(({ item }) => item), ...capacity }),
      );
      return paid("TransactWriteItems", ConsumedCapacity, "write");
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = error.CancellationReasons?.map(({ Code }) => Code) ?? [];
      const failed = reasons.indexOf("ConditionalCheckFailed");
      if (failed >= 0) throw writes[failed]?.otherwise ?? new Unmet(failed);
      if (!reasons.some((reason) => passing.has(reason ?? "")) || attempt >= 8) throw error;
      await backOff(attempt, "TransactWriteItems");
    }
  }
}
