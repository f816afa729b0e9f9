// The DynamoDB client and helpers that every call uses.
import { setTimeout as pause } from "node:timers/promises";
import type { ConsumedCapacity } from "@aws-sdk/client-dynamodb";
import { config } from "../../config.ts";
import type { Key } from "../../keys.ts";
import { AwsJsonClient, type AwsJsonCommand, type AwsJsonService } from "../aws/json-client.ts";
import { recordUnits } from "./capacity.ts";
import { listWrittenKeys } from "./commands.ts";
import { areSettingsKept } from "./joined-calls.ts";
import { forgetAround } from "./recent-items.ts";

export type Item = Record<string, unknown>;

export class DynamoDbClient extends AwsJsonClient {
  protected readonly service: AwsJsonService;
  constructor(endpoint?: string) {
    super();
    this.service = {
      name: "dynamodb",
      targetPrefix: "DynamoDB_20120810",
      ...(endpoint && { endpoint }),
    };
  }
  override send<Output extends object>(command: AwsJsonCommand<object, Output>): Promise<Output> {
    const send = () => super.send(command);
    return areSettingsKept() ? forgetAround(listWrittenKeys(command), send) : send();
  }
}
const client = new DynamoDbClient();
export const documentClient = (): DynamoDbClient => client;

let readers: DynamoDbClient[] | undefined;
let nextReader = 0;

/** For counts: the engines of this machine share them, because each takes one call at a time. */
export function readingClient(): DynamoDbClient {
  readers ??= [client, ...config.dynamoDbReaders.map((endpoint) => new DynamoDbClient(endpoint))];
  return readers[nextReader++ % readers.length]!;
}

export const returnCapacity = { ReturnConsumedCapacity: "TOTAL" } as const;

export function recordCapacity(
  operation: string,
  used: ConsumedCapacity | ConsumedCapacity[] | undefined,
  kind: "read" | "write",
) {
  const units = [used ?? []].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
  recordUnits(operation, kind === "read" ? units : 0, kind === "write" ? units : 0);
}

/** Errors of single statements and transactions that a retry can resolve. */
export const retryableErrors = new Set([
  "ThrottlingError",
  "ProvisionedThroughputExceeded",
  "RequestLimitExceeded",
  "InternalServerError",
  "TransactionConflict",
]);

export async function backOff(attempt: number, operation: string) {
  if (attempt > 10)
    throw new Error(`${operation}: DynamoDB still rejected part of the request after 10 attempts`);
  await pause(
    Math.min(20 * 2 ** attempt, 2000) * (0.5 + crypto.getRandomValues(new Uint8Array(1))[0]! / 512),
  );
}

// Callers may pass a whole item as its key, so only the key attributes are used.
export const keyOf = ({ pk, sk }: Key): Key => ({ pk, sk });

export const keyText = ({ pk, sk }: Key) => `${pk}\n${sk}`;
