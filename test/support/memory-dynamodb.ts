// Tables in the memory of the test's process instead of a DynamoDB engine: engine tests take a
// third of the CPU time. test/simulation/table.test.ts compares such a table with the embedded
// engine.
import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { createTable } from "../../infra/local/engines/table.ts";
import { toServiceError } from "../simulation/aws-sdk.ts";
import { toPlainOutput, toRequestText } from "../simulation/dynamodb-json.ts";
import { createMemoryTable, type MemoryTable, TableError } from "../simulation/table.ts";
import { type CallInterceptor, interceptCalls } from "./aws-calls.ts";

let callEngine: (() => void) | undefined;
const tables = new Map<string, MemoryTable>();

/** For the set-up: the calls of the service go to tables in memory. */
export function useMemoryTables(): void {
  callEngine = interceptCalls("dynamodb", callMemoryTable);
}

/**
 * For the start of a test file: the calls of the service go to a DynamoDB engine. A file needs one
 * if it reads the table with the SDK or shares it with other processes.
 */
export function useDynamoDbEngine(): void {
  callEngine?.();
  callEngine = undefined;
}

/** For `beforeAll`: creates a table that only this test file uses. */
export async function useOwnTable(): Promise<void> {
  process.env.TABLE_NAME = `own-${randomUUID()}`;
  if (!callEngine) await createTable(new DynamoDBClient({}), process.env.TABLE_NAME);
}

/** Returns the table of the settings, or undefined if an engine has it. */
export const currentMemoryTable = (): MemoryTable | undefined =>
  callEngine ? tableNamed(process.env.TABLE_NAME!) : undefined;

/** Returns the keys of all items of the table. */
export async function listAllKeys(): Promise<{ pk: string; sk: string }[]> {
  const toKey = ({ pk, sk }: Record<string, { S?: string }>) => ({ pk: pk!.S!, sk: sk!.S! });
  const table = currentMemoryTable();
  if (table) return table.items().map(toKey);
  const TableName = process.env.TABLE_NAME!;
  const found: { pk: string; sk: string }[] = [];
  for await (const { Items = [] } of paginateScan(
    { client: new DynamoDBClient({}) },
    { TableName },
  ))
    found.push(...Items.map(toKey));
  return found;
}

function tableNamed(name: string): MemoryTable {
  const table = tables.get(name) ?? createMemoryTable();
  tables.set(name, table);
  return table;
}

const callMemoryTable: CallInterceptor = async ({ operation, input }) => {
  const request = JSON.parse(toRequestText(withToken(operation, input))) as CallInput;
  // Calls take effect in their order, as with the embedded engine, while other work goes on.
  await nextTurn();
  try {
    return toPlainOutput(tableNamed(tableNameOf(request)).call(operation, request));
  } catch (error) {
    throw error instanceof TableError ? toServiceError(error.type, error) : error;
  } finally {
    await nextTurn();
  }
};

/** The SDK adds the token, so that a repetition of the call changes nothing. */
const withToken = (operation: string, input: object): object =>
  operation === "TransactWriteItems" ? { ClientRequestToken: randomUUID(), ...input } : input;

interface CallInput {
  TableName?: string;
  RequestItems?: Record<string, unknown>;
  TransactItems?: Record<string, { TableName: string }>[];
  Statements?: { Statement: string }[];
}

function tableNameOf({ TableName, RequestItems, TransactItems, Statements }: CallInput): string {
  if (TableName) return TableName;
  if (RequestItems) return Object.keys(RequestItems)[0]!;
  if (TransactItems) return Object.values(TransactItems[0]!)[0]!.TableName;
  return /"([^"]+)"/.exec(Statements![0]!.Statement)![1]!;
}
