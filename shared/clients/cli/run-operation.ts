// Runs an operation of the API as a command, and prints its result.
import { readFileSync } from "node:fs";
import type { PagedList } from "../sdk/paged-list.ts";
import { call, connect, type ListPage } from "./api-client.ts";
import type { CommandInput } from "./command.ts";
import { CommandError } from "./exit-codes.ts";
import { checkRequired, parseNumber, readBody, readFields } from "./operation-options.ts";
import type { CliOperation } from "./operations.ts";
import { formatRecord, formatTable } from "./tables.ts";
import type { Terminal } from "./terminal.ts";

export async function runOperation(operation: CliOperation, input: CommandInput): Promise<void> {
  const { terminal, values } = input;
  checkRequired(operation, values);
  const args = toArguments(operation, input);
  const client = connect(terminal, operation);
  const printer = { operation, terminal, asJson: values.json === true || !terminal.isInteractive };
  if (values.all) return printAll(printer, client[operation.group]![operation.action]!(...args));
  printResult(printer, await call(client, `${operation.group}.${operation.action}`, ...args));
}

/** The arguments of the method of the SDK. */
function toArguments(operation: CliOperation, { values, words }: CommandInput): unknown[] {
  const path = operation.parameters.map(({ name, kind }, i) =>
    kind === "number" ? parseNumber(words[i]!, name) : words[i],
  );
  const file = operation.takesFile ? [readFile(words.at(-1)!)] : [];
  const body = operation.takesFile ? file : [readBody(operation, values)];
  const query = readFields(operation.queryOptions, values);
  const key = values["idempotency-key"];
  return [
    ...path,
    ...(operation.takesBody ? body : []),
    ...(operation.takesQuery ? [query] : []),
    typeof key === "string" ? { idempotencyKey: key } : {},
  ];
}

const fileTypes: [RegExp, string][] = [
  [/\.json$/i, "application/json"],
  [/\.tsv$/i, "text/tab-separated-values"],
];

/** A file with the content type of its name; `-` is the standard input. */
function readFile(path: string): Blob {
  const [, type = "text/csv"] = fileTypes.find(([pattern]) => pattern.test(path)) ?? [];
  try {
    return new Blob([readFileSync(path === "-" ? 0 : path)], { type });
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

interface Printer {
  operation: CliOperation;
  terminal: Terminal;
  asJson: boolean;
}

/** All items of a list: for people a table per page, else one JSON object per line. */
async function printAll({ operation, terminal, asJson }: Printer, list: unknown): Promise<void> {
  for await (const page of (list as PagedList<object, Record<string, object[]>>).pages()) {
    const items = page[operation.itemsName!] ?? [];
    const lines = items.map((item) => `${JSON.stringify(item)}\n`).join("");
    terminal.write(asJson ? lines : formatTable(items as Record<string, unknown>[], terminal));
  }
}

function printResult({ operation, terminal, asJson }: Printer, result: unknown): void {
  if (typeof result === "string") terminal.write(result);
  else if (asJson) terminal.write(`${JSON.stringify(result, null, 2)}\n`);
  else if (operation.itemsName) printPage(operation, terminal, result as ListPage);
  else if (result === null) terminal.write("Done.\n");
  else terminal.write(formatRecord(result as Record<string, unknown>, terminal));
}

function printPage({ itemsName }: CliOperation, terminal: Terminal, page: ListPage): void {
  const items = page[itemsName!] as Record<string, unknown>[];
  terminal.write(formatTable(items, terminal));
  const { nextCursor, total } = page.pagination ?? {};
  if (!nextCursor) return;
  const count = typeof total === "number" ? `${items.length} of ${total}` : "There are more";
  terminal.writeError(`${count}. Add --all for all of them, or --cursor ${nextCursor}\n`);
}
