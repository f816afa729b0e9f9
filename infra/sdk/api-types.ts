// Writes the types of the SDK: the named schemas of the OpenAPI document, the input and output of
// each operation, and the methods of each group.
import type { OpenApiDocument, Parameter } from "../../shared/http/openapi/document.ts";
import type { Components, JsonSchema } from "../../shared/http/openapi/json-schemas.ts";
import type { SdkOperation } from "./operations.ts";
import { comment, declareType, typeOf } from "./schema-types.ts";

/** Source text of the module with all types. `Api` has the methods of the client. */
export function writeApiTypes(
  { components, webhooks }: OpenApiDocument,
  operations: SdkOperation[],
): string {
  const declarations = new Map<string, string>();
  const declare = (name: string, schema: JsonSchema): string => {
    if (schema.$ref) return typeOf(schema);
    const text = declareType(name, schema);
    if ((declarations.get(name) ?? text) !== text)
      throw new Error(`Two types of the SDK have the name ${name}`);
    declarations.set(name, text);
    return name;
  };
  for (const name of usedNames(components.schemas, [operations, webhooks]))
    declare(name, components.schemas[name]!);
  const groups = [...Map.groupBy(operations, ({ group }) => group)].map(([group, members]) => ({
    group,
    typeName: `${pascalCase(group)}Methods`,
    methods: members.map((operation) => writeMethod(operation, declare)),
  }));
  const apiMembers = groups.map(({ group, typeName }) => `${group}: ${typeName};`);
  return [
    "// Generated from the OpenAPI document of the service.",
    'import type { CallOptions } from "./client.ts";',
    'import type { PagedList } from "./paged-list.ts";',
    'import type { RequestBody } from "./send-request.ts";',
    writeErrorCode(components.schemas.Problem!),
    writeWebhookEvent(webhooks),
    ...declarations.values(),
    ...groups.map(
      ({ typeName, methods }) => `export interface ${typeName} {\n${methods.join("\n")}\n}`,
    ),
    "/** The methods of the client by group. */",
    `export interface Api {\n${apiMembers.join("\n")}\n}`,
  ].join("\n\n");
}

/** Names of the schemas that `users` refer to, in the order of the document. */
function usedNames(schemas: Components, users: unknown[]): string[] {
  const used = new Set<string>();
  const addReferences = (value: unknown) => {
    for (const [, name = ""] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g))
      if (!used.has(name)) {
        used.add(name);
        addReferences(schemas[name]);
      }
  };
  addReferences(users);
  return Object.keys(schemas).filter((name) => used.has(name));
}

/** Codes of errors without a response of the service. */
const codesOfSdk = ["connection_failed", "timeout", "unexpected_response"];

function writeErrorCode(problem: JsonSchema): string {
  const codes = problem.properties!.code!.anyOf!.flatMap((one) => (one.enum ?? []) as string[]);
  const union = [...codes, ...codesOfSdk].map((code) => JSON.stringify(code)).join(" | ");
  const text = comment("Code of an error. Later versions of the service can have more.");
  return `${text}export type ErrorCode = ${union};`;
}

function writeWebhookEvent(webhooks: OpenApiDocument["webhooks"]): string {
  const types = Object.values(webhooks).map(({ post }) =>
    typeOf(post.requestBody.content["application/json"].schema),
  );
  const text = comment("An event, as webhook endpoints get it. `event` tells its type.");
  return `${text}export type WebhookEvent = ${types.join(" | ")};`;
}

type Declare = (name: string, schema: JsonSchema) => string;

function writeMethod(operation: SdkOperation, declare: Declare): string {
  const { action, summary, description, pathParameters } = operation;
  const text = comment(`${summary}.`, description);
  const path = pathParameters.map(({ name, schema }) => `${name}: ${typeOf(schema)}`);
  const body = bodyParameter(operation, declare);
  const query = queryParameter(operation, declare);
  const signature = (queryParameters: string[], result: string) => {
    const parameters = [...path, ...body, ...queryParameters, "options?: CallOptions"];
    return `${text}${action}(${parameters.join(", ")}): ${result};`;
  };
  const result = resultType(operation, declare);
  if (!operation.list || !operation.returnsText) return signature(query.parameters, result);
  return [
    signature([`query?: Omit<${query.name}, "format"> & { format?: "json" }`], result),
    signature([`query: ${query.name} & { format: "csv" }`], csvResultType(operation, declare)),
  ].join("\n");
}

function bodyParameter({ id, body }: SdkOperation, declare: Declare): string[] {
  if (!body) return [];
  const types = [
    ...(body.json ? [declare(`${pascalCase(id)}Request`, body.json)] : []),
    ...(body.takesFile ? ["string", "Uint8Array<ArrayBuffer>", "Blob"] : []),
    ...(body.takesPicture ? ["Blob"] : []),
    ...((body.takesFile || body.takesPicture) && body.takesForm ? ["FormData"] : []),
  ];
  const name = body.takesFile || body.takesPicture ? "file" : "input";
  return [`${name}${body.required ? "" : "?"}: ${types.join(" | ")}`];
}

function queryParameter({ id, queryParameters }: SdkOperation, declare: Declare) {
  const name = `${pascalCase(id)}Query`;
  if (!queryParameters.length) return { name, parameters: [] };
  declare(name, toObjectSchema(queryParameters));
  const isRequired = queryParameters.some(({ required }) => required);
  return { name, parameters: [`query${isRequired ? "" : "?"}: ${name}`] };
}

const toObjectSchema = (parameters: Parameter[]): JsonSchema => ({
  type: "object",
  properties: Object.fromEntries(
    parameters.map(({ name, description, schema }) => [
      name,
      { ...schema, ...(description !== undefined && { description }) },
    ]),
  ),
  required: parameters.flatMap(({ name, required }) => (required ? [name] : [])),
});

function resultType(operation: SdkOperation, declare: Declare): string {
  const { id, list, returns } = operation;
  if (list)
    return `PagedList<${typeOf(list.items)}, ${declare(`${pascalCase(id)}Page`, returns!)}>`;
  if (operation.returnsText) return csvResultType(operation, declare);
  return `Promise<${returns ? declare(`${pascalCase(id)}Output`, returns) : "null"}>`;
}

/** The text, or the export job of a file that is too long for one response. */
function csvResultType({ id, deferredReturns }: SdkOperation, declare: Declare): string {
  const job = deferredReturns && declare(`${pascalCase(id)}Job`, deferredReturns);
  return `Promise<string${job ? ` | ${job}` : ""}>`;
}

const pascalCase = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
