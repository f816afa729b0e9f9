// Writes the table of operations that the runtime of the SDK reads: shared/clients/sdk/operation.ts
// explains the text of an operation.
import type { SdkOperation } from "./operations.ts";

/** Source text of the module with the table. */
export function writeOperationTable(operations: SdkOperation[]): string {
  const groups = [...Map.groupBy(operations, ({ group }) => group)].map(([group, members]) => [
    group,
    Object.fromEntries(members.map((operation) => [operation.action, toText(operation)])),
  ]);
  return `export const operations = ${JSON.stringify(Object.fromEntries(groups), null, 2)};`;
}

function toText(operation: SdkOperation): string {
  const { method, path, list } = operation;
  return [method, path, flagsOf(operation), list?.itemsName ?? ""].join(" ").trimEnd();
}

const flagsOf = (operation: SdkOperation): string =>
  [
    operation.body ? "b" : "",
    operation.queryParameters.length ? "q" : "",
    operation.takesIdempotencyKey ? "k" : "",
    operation.takesSite ? "s" : "",
    operation.isRepeatable ? "" : "u",
    operation.list?.paging === "cursor" ? "c" : "",
    operation.list?.paging === "page" ? "p" : "",
  ].join("");
