// Doors that fail on demand: what lies behind them refuses, is gone, or answers for a part.
import { KMSClient } from "@aws-sdk/client-kms";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

export interface Command {
  constructor: { name: string };
  input: Record<string, unknown>;
}
export type Send = (command: Command, ...rest: never[]) => Promise<unknown>;
const clients = { table: DynamoDBDocumentClient, queue: SQSClient, blobs: S3Client, vault: KMSClient };
export type Door = keyof typeof clients;

/** Answers in the place of what lies behind a door; `go` asks it after all, with another command if one is given. */
export type Answer = (command: Command, go: (command?: Command) => Promise<unknown>) => Promise<unknown>;

const answers = new Map<Door, Answer>();

/** For `beforeAll`, after everything else that takes the place of the clients. */
export function prepared(): void {
  for (const [door, client] of Object.entries(clients) as [Door, { prototype: unknown }][]) {
    const prototype = client.prototype as { send: Send };
    const { send } = prototype;
    prototype.send = function (this: unknown, command, ...rest) {
      const go = (other = command) => send.call(this, other, ...rest);
      return (answers.get(door) ?? ((_, ask) => ask()))(command, go);
    };
  }
  const { fetch } = globalThis;
  globalThis.fetch = (...request: Parameters<typeof fetch>) => provider(() => fetch(...request));
}

let provider = (go: () => Promise<Response>): Promise<Response> => go();

/** Stands between us and the providers of mail, until it is called with undefined. */
export const calling = (how: typeof provider = (go) => go()): void => {
  provider = how;
};

/** Until it is called with undefined. */
export const answering = (door: Door, answer: Answer | undefined): void => {
  if (answer) answers.set(door, answer);
  else answers.delete(door);
};

/** Does so for this share of all calls, and lets the others pass. */
export const unsteady =
  (share: number, answer: Answer, chance: () => number): Answer =>
  (command, go) =>
    chance() < share ? answer(command, go) : go();

export const down: Answer = async ({ constructor: { name } }) => {
  throw Object.assign(new Error(`${name} could not be sent`), { name: "TimeoutError", $retryable: {} });
};
