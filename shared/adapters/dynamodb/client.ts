// The DynamoDB client and helpers that every call uses.
import { setTimeout as pause } from "node:timers/promises";
import { type ConsumedCapacity, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { config } from "../../config.ts";
import { replaceLoneSurrogates } from "../../kernel/json.ts";
import type { Key } from "../../keys.ts";
import { clientOptions } from "../aws-requests.ts";
import { recordUnits } from "./capacity.ts";

export type Item = Record<string, unknown>;

let client: DynamoDBDocumentClient | undefined;
export const documentClient = (): DynamoDBDocumentClient => {
  client ??= createDocumentClient();
  return client;
};

let readers: DynamoDBDocumentClient[] | undefined;
let nextReader = 0;

/** For counts: the engines of this machine share them, because each takes one call at a time. */
export function readingClient(): DynamoDBDocumentClient {
  readers ??= [documentClient(), ...config.dynamoDbReaders.map(createDocumentClient)];
  return readers[nextReader++ % readers.length]!;
}

/** `endpoint` replaces the endpoint of the settings. */
export function createDocumentClient(endpoint?: string): DynamoDBDocumentClient {
  const documents = DynamoDBDocumentClient.from(
    new DynamoDBClient({ ...clientOptions(), ...(endpoint && { endpoint }) }),
    { marshallOptions: { removeUndefinedValues: true } },
  );
  // DynamoDB rejects calls with a lone surrogate, which occurs when a text is truncated.
  documents.middlewareStack.add(
    (next) => (args) => {
      const request = args.request as { body: Uint8Array };
      const { buffer, byteOffset, byteLength } = request.body;
      const json = Buffer.from(buffer, byteOffset, byteLength);
      if (json.includes("\\ud"))
        request.body = Buffer.from(replaceLoneSurrogates(json.toString("utf8")));
      return next(args);
    },
    { name: "replaceLoneSurrogates", step: "build", priority: "high" },
  );
  return documents;
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
