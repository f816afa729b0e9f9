// Somebody who is slow at one call of the table, so that others come between.
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

type Send = (this: unknown, command: object) => Promise<unknown>;
const client = DynamoDBDocumentClient.prototype as unknown as { send: Send };
let original: Send | undefined;

/** Holds up whoever makes the `n`-th such call from now on, until `release`. */
export function heldUp(Command: new (...args: never[]) => object, n = 1) {
  const { send } = client;
  original ??= send;
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let calls = 0;
  client.send = async function (command) {
    if (command instanceof Command && ++calls === n) {
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
