// The OpenAPI document, read with an independent JSON Schema validator.
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { OpenApiDocument, OperationObject } from "../../shared/http/openapi/document.ts";
import type { JsonSchema } from "../../shared/http/openapi/json-schemas.ts";

export interface DocumentedOperation extends OperationObject {
  /** `GET /api/v1/sites` */
  key: string;
  method: string;
  path: string;
}

export const listOperations = ({ paths }: Pick<OpenApiDocument, "paths">): DocumentedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([name, operation]) => {
      const method = name.toUpperCase();
      return { key: `${method} ${path}`, method, path, ...operation };
    }),
  );

/**
 * Returns a function that lists the errors of a value. Unknown fields are errors, although the
 * document permits them.
 */
export function schemaChecker({
  components,
}: Pick<OpenApiDocument, "components">): (schema: JsonSchema, value: unknown) => string[] {
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "api", components: forbidUnknownFields(components) as JsonSchema });
  const known = new Map<JsonSchema, ReturnType<typeof ajv.compile>>();
  return (schema, value) => {
    const validate =
      known.get(schema) ?? ajv.compile(absoluteRefs(forbidUnknownFields(schema)) as JsonSchema);
    known.set(schema, validate);
    return validate(value) ? [] : [...new Set((validate.errors ?? []).map(formatError))];
  };
}

const formatError = ({ instancePath, message, params }: ErrorObject): string =>
  `${instancePath} ${message} ${JSON.stringify(params)}`;

/** Copies a schema and forbids unknown fields in all objects with properties. */
function forbidUnknownFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(forbidUnknownFields);
  if (typeof value !== "object" || value === null) return value;
  const inner = Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, forbidUnknownFields(one)]),
  );
  const isSchema =
    "properties" in value &&
    [(value as JsonSchema).type].flat().includes("object") &&
    !("additionalProperties" in value);
  return isSchema ? { ...inner, additionalProperties: false } : inner;
}

const absoluteRefs = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll('"$ref":"#/', '"$ref":"api#/'));
