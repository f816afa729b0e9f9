// Faults of AWS and of the providers: calls that fail, time out or succeed in part.

import { S3Client } from "@aws-sdk/client-s3";
import { DynamoDbClient } from "../../shared/adapters/dynamodb/client.ts";
import { type OpenResponse, WebClient } from "../../shared/adapters/http/client.ts";
import { KmsClient } from "../../shared/adapters/kms/client.ts";
import { SqsClient } from "../../shared/adapters/sqs/client.ts";

export interface AwsCommand {
  constructor: { name: string };
  input: Record<string, unknown>;
}
export type AwsSend = (command: AwsCommand, ...rest: never[]) => Promise<unknown>;
const clients = {
  table: DynamoDbClient,
  queue: SqsClient,
  blobs: S3Client,
  vault: KmsClient,
};
export type FaultyAdapter = keyof typeof clients;

/**
 * Replaces a call of a client. `passThrough` makes the call, with another command if one is given.
 */
export type FaultHandler = (
  command: AwsCommand,
  passThrough: (command?: AwsCommand) => Promise<unknown>,
) => Promise<unknown>;

const faultsByAdapter = new Map<FaultyAdapter, FaultHandler>();

/** For `beforeAll`, after everything else that replaces the clients. */
export function installFaultHooks(): void {
  for (const [door, client] of Object.entries(clients) as [
    FaultyAdapter,
    { prototype: unknown },
  ][]) {
    const prototype = client.prototype as { send: AwsSend };
    const { send } = prototype;
    prototype.send = function (this: unknown, command, ...rest) {
      const go = (other = command) => send.call(this, other, ...rest);
      return (faultsByAdapter.get(door) ?? ((_, ask) => ask()))(command, go);
    };
  }
  const { open } = WebClient.prototype;
  WebClient.prototype.open = (request) => provider(() => open(request));
}

let provider = (passThrough: () => Promise<OpenResponse>): Promise<OpenResponse> => passThrough();

/** Intercepts all calls of providers, until it is called with undefined. */
export const interceptProviderCalls = (
  interceptor: typeof provider = (passThrough) => passThrough(),
): void => {
  provider = interceptor;
};

/** Sets the fault of an adapter, until it is called with undefined. */
export const setFault = (door: FaultyAdapter, answer: FaultHandler | undefined): void => {
  if (answer) faultsByAdapter.set(door, answer);
  else faultsByAdapter.delete(door);
};

/** Applies the fault to this share of all calls. */
export const failSometimes =
  (share: number, answer: FaultHandler, chance: () => number): FaultHandler =>
  (command, passThrough) =>
    chance() < share ? answer(command, passThrough) : passThrough();

export const timeoutFault: FaultHandler = async ({ constructor: { name } }) => {
  throw Object.assign(new Error(`${name} could not be sent`), {
    name: "TimeoutError",
    $retryable: {},
  });
};
