// Pauses one DynamoDB call, so that a test can run other work at that point.
import type {
  BatchExecuteStatementCommandInput,
  BatchWriteCommandInput,
  GetCommandInput,
  QueryCommandInput,
  TransactWriteCommandInput,
  UpdateCommandInput,
} from "@aws-sdk/lib-dynamodb";
import { interceptCalls } from "./aws-calls.ts";

interface Inputs {
  any: object;
  BatchExecuteStatement: BatchExecuteStatementCommandInput;
  BatchWriteItem: BatchWriteCommandInput;
  GetItem: GetCommandInput;
  Query: QueryCommandInput;
  TransactWriteItems: TransactWriteCommandInput;
  UpdateItem: UpdateCommandInput;
}

const pauses = new Set<() => void>();

/** Pauses the n-th call of this operation, or the first one that `matches`, until `release`. */
export function pauseCall<O extends keyof Inputs>(
  operation: O,
  matches: number | ((input: Inputs[O]) => boolean) = 1,
) {
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const n = typeof matches === "number" ? matches : 1;
  let calls = 0;
  const end = interceptCalls("dynamodb", async (call, passThrough) => {
    const isMeant =
      (operation === "any" || call.operation === operation) &&
      (typeof matches === "number" || matches(call.input as unknown as Inputs[O]));
    if (isMeant && ++calls === n) {
      reached.resolve();
      await released.promise;
    }
    return passThrough();
  });
  pauses.add(end);
  return { reached: reached.promise, release: released.resolve };
}

/** For `afterEach`: removes all pauses. */
export function removePauses(): void {
  for (const end of pauses) end();
  pauses.clear();
}
