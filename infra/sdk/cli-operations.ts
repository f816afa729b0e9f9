// Writes the operations as commands: shared/clients/cli/operations.ts explains the fields.
import type {
  CliOperation,
  OperationOption,
  OptionKind,
} from "../../shared/clients/cli/operations.ts";
import type { OpenApiDocument, Parameter } from "../../shared/http/openapi/document.ts";
import {
  type Components,
  type JsonSchema,
  resolveSchema,
} from "../../shared/http/openapi/json-schemas.ts";
import { alternativesOf, type SdkOperation } from "./operations.ts";

/** Source text of the module with the operations and the groups. */
export function writeCliOperations(document: OpenApiDocument, operations: SdkOperation[]): string {
  const { schemas } = document.components;
  const all = operations.map((operation) => toCliOperation(operation, schemas));
  const used = new Set(operations.map(({ group }) => group));
  const groups = document.tags
    .map(({ name, description }) => ({ name: camelCase(name), description }))
    .filter(({ name }) => used.has(name));
  return `export const groups = ${JSON.stringify(groups)};
export const operations = ${JSON.stringify(all)};`;
}

export function toCliOperation(operation: SdkOperation, schemas: Components): CliOperation {
  const { group, action, summary, description, body, list, takesIdempotencyKey } = operation;
  const cliOperation = {
    group,
    action,
    summary,
    description,
    parameters: operation.pathParameters.map(({ name, schema }) => ({
      name,
      kind: kindOf(schema, schemas),
    })),
    bodyOptions: body?.json ? bodyOptions(body.json, schemas) : [],
    queryOptions: operation.queryParameters.map((parameter) =>
      toOption(parameter.name, withDescription(parameter), {
        schemas,
        isRequired: parameter.required,
      }),
    ),
    takesBody: Boolean(body),
    takesFile: body?.takesFile ?? false,
    takesQuery: operation.queryParameters.length > 0,
    takesIdempotencyKey,
    isPublic: operation.isPublic,
    ...(list && { itemsName: list.itemsName }),
    hasPages: list?.paging !== undefined,
  };
  checkNames(cliOperation);
  return cliOperation;
}

const withDescription = ({ schema, description }: Parameter): JsonSchema => ({
  ...schema,
  ...(description !== undefined && { description }),
});

/** Fields of all alternatives of a body. One that an alternative lacks is not required. */
function bodyOptions(schema: JsonSchema, schemas: Components): OperationOption[] {
  const alternatives = alternativesOf(schema, schemas);
  const fields = new Map<string, JsonSchema>();
  for (const { properties = {} } of alternatives)
    for (const [name, field] of Object.entries(properties)) fields.set(name, field);
  return [...fields].map(([name, field]) =>
    toOption(name, field, {
      schemas,
      isRequired: alternatives.every(({ required = [] }) => required.includes(name)),
    }),
  );
}

function toOption(
  name: string,
  schema: JsonSchema,
  { schemas, isRequired }: { schemas: Components; isRequired: boolean },
): OperationOption {
  const resolved = resolveSchema(schema, schemas);
  const values = resolved.enum?.filter((value) => typeof value === "string");
  return {
    name,
    kind: kindOf(resolved, schemas),
    description: schema.description ?? resolved.description ?? "",
    ...(isRequired && { required: true as const }),
    ...([resolved.type].flat().includes("null") && { nullable: true as const }),
    ...(values?.length && { values }),
  };
}

const scalarKinds: Record<string, OptionKind> = {
  string: "text",
  integer: "number",
  number: "number",
  boolean: "boolean",
};

function kindOf(schema: JsonSchema, schemas: Components): OptionKind {
  const { type, items, anyOf } = resolveSchema(schema, schemas);
  if (anyOf)
    return kindOfAlternatives(
      anyOf.map((one) => resolveSchema(one, schemas)),
      schemas,
    );
  const [name = "", ...more] = [type ?? []].flat().filter((one) => one !== "null");
  if (more.length) return "json";
  if (name !== "array") return scalarKinds[name] ?? "json";
  const kind = items ? kindOf(items, schemas) : "json";
  const listKinds: Partial<Record<OptionKind, OptionKind>> = { text: "list", number: "numbers" };
  return listKinds[kind] ?? "json";
}

/** A text, or a list of them, where the other alternatives are objects. */
function kindOfAlternatives(alternatives: JsonSchema[], schemas: Components): OptionKind {
  const kinds = alternatives
    .filter(({ type }) => type !== "object")
    .map((one) => kindOf(one, schemas));
  if (kinds.every((kind) => kind === "text")) return "text";
  return kinds.every((kind) => kind === "text" || kind === "list") ? "list" : "json";
}

/** Options of every command. A field with such a name could not be given. */
const reservedNames = ["json", "help", "data", "all", "idempotencyKey"];

function checkNames({ group, action, bodyOptions: body, queryOptions }: CliOperation): void {
  const taken = [...body, ...queryOptions].find(({ name }) => reservedNames.includes(name));
  if (taken) throw new Error(`${group} ${action} has a field with the reserved name ${taken.name}`);
}

const camelCase = (name: string): string =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
