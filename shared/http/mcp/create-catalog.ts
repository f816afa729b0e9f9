// Makes the catalog from the routes and their OpenAPI document.
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import type { RouteGroup } from "../dispatch.ts";
import type { OpenApiDocument, OperationObject, Parameter } from "../openapi/document.ts";
import { componentPrefix, type JsonSchema } from "../openapi/json-schemas.ts";
import { acceptsIdempotencyKey, type ResponseObject } from "../openapi/response-objects.ts";
import { basePath, type Route } from "../route.ts";
import type { McpCatalog, McpGuide, McpOperation } from "./catalog.ts";

/**
 * Defaults that differ from those for programs: pages have fewer items, to save the context of the
 * agent, and an agent does not delete what something uses, unless it says so.
 */
const queryDefaults: Record<string, unknown> = { limit: 20, ifUnused: "true" };

export function createCatalog(groups: RouteGroup[], document: OpenApiDocument): McpCatalog {
  const operations = groups
    .flatMap(({ routes }) => routes)
    // Agents use the endpoints that ask for an approval, not the same in another format.
    .filter(({ wireFormat }) => !wireFormat)
    .filter(({ auth, path }) => auth === "account" && path.startsWith(`${basePath}/`))
    .flatMap((route) => createOperation(route, document) ?? []);
  const used = new Set(operations.map(({ group }) => group));
  return {
    operations,
    groups: document.tags
      .filter(({ name }) => used.has(name))
      .map(({ name, description }) => ({ name, description })),
    guides: readGuides(),
  };
}

/** Undefined if its body or its result is neither JSON nor CSV. */
function createOperation(route: Route, document: OpenApiDocument): McpOperation | undefined {
  const operation = document.paths[route.path]![route.method.toLowerCase()]!;
  const resolve = createResolver(document);
  const success = operation.responses[route.status] as ResponseObject;
  const result = pickType(success.content);
  const body = pickType(operation.requestBody?.content);
  if (!result || (operation.requestBody && !body)) return undefined;
  const parameters = operation.parameters
    .map((one) => resolve(one) as unknown as Parameter)
    .filter((one) => one.in !== "header");
  const takesIdempotencyKey = acceptsIdempotencyKey(route);
  return {
    name: operation.operationId,
    group: operation.tags[0]!,
    method: route.method,
    path: route.path,
    scope: route.scope,
    right: route.right,
    level: route.level,
    summary: route.summary,
    description: route.description ?? "",
    isReadOnly: route.method === "GET" || route.preview === true,
    isPaid: 402 in route.errors,
    pathParameters: namesOf(parameters, "path"),
    queryParameters: namesOf(parameters, "query"),
    bodyType: body?.type,
    takesIdempotencyKey,
    inputSchema: createInputSchema(operation, {
      parameters,
      body: body && resolve(body.schema),
      takesIdempotencyKey,
    }),
    returns: result.type === "text/csv" ? undefined : resolve(result.schema).properties?.data,
  };
}

const namesOf = (parameters: Parameter[], place: Parameter["in"]): string[] =>
  parameters.filter((one) => one.in === place).map(({ name }) => name);

/** JSON if possible. */
function pickType(content: ResponseObject["content"]) {
  for (const type of ["application/json", "text/csv"] as const) {
    const schema = content?.[type]?.schema;
    if (schema) return { type, schema };
  }
  return undefined;
}

interface OperationInput {
  parameters: Parameter[];
  body: JsonSchema | undefined;
  takesIdempotencyKey: boolean;
}

function createInputSchema(
  { requestBody }: OperationObject,
  { parameters, body, takesIdempotencyKey }: OperationInput,
): JsonSchema {
  const required = [
    ...parameters.filter((one) => one.required).map(({ name }) => name),
    ...(requestBody?.required ? ["body"] : []),
  ];
  return {
    type: "object",
    properties: {
      ...Object.fromEntries(parameters.map((one) => [one.name, parameterSchema(one)])),
      ...(body && { body }),
      ...(takesIdempotencyKey && { idempotencyKey }),
    },
    ...(required.length && { required }),
    additionalProperties: false,
  };
}

const idempotencyKey: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  description: "Any text. The same call with the same key is done once in 24 hours.",
};

const parameterSchema = ({ in: place, name, schema, description }: Parameter): JsonSchema => ({
  ...schema,
  ...(description !== undefined && { description }),
  ...(place === "query" && name in queryDefaults && { default: queryDefaults[name] }),
});

/**
 * Returns a function that puts the components of the document in place of their references, because
 * many hosts of models do not follow references. Within itself, a component is any value.
 */
function createResolver({ components }: OpenApiDocument) {
  const byReference = (reference: string): unknown =>
    reference
      .slice("#/".length)
      .split("/")
      .slice(1)
      .reduce<unknown>(
        (inside, name) => (inside as Record<string, unknown> | undefined)?.[name],
        components,
      );
  const resolve = (value: unknown, open: string[]): unknown => {
    if (Array.isArray(value)) return value.map((one) => resolve(one, open));
    if (typeof value !== "object" || value === null) return value;
    const { $ref, ...rest } = value as JsonSchema;
    if ($ref === undefined)
      return Object.fromEntries(
        Object.entries(value).map(([key, inside]) => [key, resolve(inside, open)]),
      );
    if (open.includes($ref))
      return { ...rest, description: `Again ${$ref.replace(componentPrefix, "")}.` };
    return { ...(resolve(byReference($ref), [...open, $ref]) as object), ...rest };
  };
  return (value: object): JsonSchema => resolve(value, []) as JsonSchema;
}

function readGuides(): McpGuide[] {
  const folder = new URL("../guides/", import.meta.url);
  return readdirSync(folder)
    .filter((file) => file.endsWith(".md"))
    .sort()
    .map((file) => {
      const text = readFileSync(new URL(file, folder), "utf8");
      const name = basename(file, ".md");
      return { name, title: /^#+ (.+)$/m.exec(text)?.[1] ?? name, text };
    });
}
