// Somebody who is slow at one call of the table, so that others come between.
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

type Send = (this: unknown, command: object) => Promise<unknown>;
const client = DynamoDBDocumentClient.prototype as unknown as { send: Send };
let original: Send | undefined;

/** Holds up whoever makes the first such call from now on that is `meant`, or the `n`-th, until `release`. */
export function heldUp<C extends object>(Command: new (...args: never[]) => C, meant: number | ((command: C) => boolean) = 1) {
  const { send } = client;
  original ??= send;
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const n = typeof meant === "number" ? meant : 1;
  let calls = 0;
  client.send = async function (command) {
    if (command instanceof Command && (typeof meant === "number" || meant(command)) && ++calls === n) {
      reached.resolve();
      await released.promise;
    }
    return send.call(this, command);
  };
  return { reached: reached.promise, release: released.resolve };
}

/** For `afterEach`: nobody is held up any more. */
export function letGo(): void {
  client.send = original ?? client.send;
  original = undefined;
}
