// Pauses one DynamoDB call, so that a test can run other work at that point.
import { DynamoDbClient } from "../../shared/adapters/dynamodb/client.ts";

type ClientSend = (this: unknown, command: object) => Promise<unknown>;
const client = DynamoDbClient.prototype as unknown as { send: ClientSend };
let original: ClientSend | undefined;

/**
 * Pauses the n-th call with this command, or the first one that `matches`, until `release` is
 * called.
 */
export function pauseCall<C extends object>(
  Command: new (...args: never[]) => C,
  matches: number | ((command: C) => boolean) = 1,
) {
  const { send } = client;
  original ??= send;
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const n = typeof matches === "number" ? matches : 1;
  let calls = 0;
  client.send = async function (command) {
    if (
      command instanceof Command &&
      (typeof matches === "number" || matches(command)) &&
      ++calls === n
    ) {
      reached.resolve();
      await released.promise;
    }
    return send.call(this, command);
  };
  return { reached: reached.promise, release: released.resolve };
}

/** For `afterEach`: removes all pauses. */
export function restoreClient(): void {
  client.send = original ?? client.send;
  original = undefined;
}
