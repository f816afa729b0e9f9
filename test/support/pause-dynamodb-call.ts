// Somebody who is slow at one call of the table, so that others come between.
import { DynamoDbClient } from "../../shared/adapters/dynamodb/client.ts";

type ClientSend = (this: unknown, command: object) => Promise<unknown>;
const client = DynamoDbClient.prototype as unknown as { send: ClientSend };
let original: ClientSend | undefined;

/**
 * Holds up whoever makes the first such call from now on that is `meant`, or the `n`-th, until
 * `release`.
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

/** For `afterEach`: nobody is held up any more. */
export function restoreClient(): void {
  client.send = original ?? client.send;
  original = undefined;
}
