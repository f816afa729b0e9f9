// The client, and what every call has in common.
import { setTimeout as pause } from "node:timers/promises";
import { type ConsumedCapacity, DynamoDBClient, ReturnConsumedCapacity } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { wholeCharacters } from "../../json.ts";
import type { Address } from "../../keys.ts";
import { spent } from "../meter.ts";

export type Item = Record<string, unknown>;

let client: DynamoDBDocumentClient | undefined;
export const dynamo = () => {
  client ??= opened();
  return client;
};

function opened() {
  const made = DynamoDBDocumentClient.from(new DynamoDBClient({}), { marshallOptions: { removeUndefinedValues: true } });
  // It copies every call for a log that nobody keeps: a tenth of the SDK's time.
  made.middlewareStack.remove("loggerMiddleware");
  // DynamoDB reads no call that holds half of a character, as is left where a text was cut to a length.
  made.middlewareStack.add(
    (next) => (call) => {
      const request = call.request as { body: Uint8Array<ArrayBuffer> };
      const { buffer, byteOffset, byteLength } = request.body;
      const bytes = Buffer.from(buffer, byteOffset, byteLength);
      if (bytes.includes("\\ud")) request.body = Buffer.from(wholeCharacters(bytes.toString("utf8")));
      return next(call);
    },
    { step: "build", priority: "high" },
  );
  return made;
}

export const capacity = { ReturnConsumedCapacity: ReturnConsumedCapacity.TOTAL };

/** What a call used goes to the meter. */
export function paid(operation: string, used: ConsumedCapacity | ConsumedCapacity[] | undefined, kind: "read" | "write") {
  const units = [used ?? []].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
  spent(operation, kind === "read" ? units : 0, kind === "write" ? units : 0);
}

/** Refusals that pass. */
export const passing = new Set([
  "ThrottlingError",
  "ProvisionedThroughputExceeded",
  "RequestLimitExceeded",
  "InternalServerError",
  "TransactionConflict",
]);

export async function backOff(attempt: number, operation: string) {
  if (attempt > 10) throw new Error(`${operation}: DynamoDB kept refusing a part of the call`);
  await pause(Math.min(20 * 2 ** attempt, 2000) * (0.5 + crypto.getRandomValues(new Uint8Array(1))[0]! / 512));
}

// Whoever has read an item may name it as the address: nothing else of it counts.
export const keyOf = ({ pk, sk }: Address): Address => ({ pk, sk });

export const nameOf = ({ pk, sk }: Address) => `${pk}\n${sk}`;
