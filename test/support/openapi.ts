// The OpenAPI document as a stranger reads it: with a JSON Schema validator of its own.
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Document } from "../../functions/http/interface.ts";
import type { Operation } from "../../shared/http/openapi.ts";
import type { Schema } from "../../shared/http/schemas.ts";

export interface Told extends Operation {
  /** `GET /api/v1/sites` */
  key: string;
  method: string;
  path: string;
}

export const operationsOf = ({ paths }: Pick<Document, "paths">): Told[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([name, operation]) => {
      const method = name.toUpperCase();
      return { key: `${method} ${path}`, method, path, ...operation };
    }),
  );

/** What is wrong with a value. A field that the schema does not name is wrong too, though the document leaves room for more. */
export function schemaChecker({ components }: Pick<Document, "components">): (schema: Schema, value: unknown) => string[] {
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "api", components: closed(components) as Schema });
  const known = new Map<Schema, ReturnType<typeof ajv.compile>>();
  return (schema, value) => {
    const validate = known.get(schema) ?? ajv.compile(absolute(closed(schema)) as Schema);
    known.set(schema, validate);
    return validate(value) ? [] : [...new Set((validate.errors ?? []).map(inWords))];
  };
}

const inWords = ({ instancePath, message, params }: ErrorObject): string => `${instancePath} ${message} ${JSON.stringify(params)}`;

/** Every object with properties takes those only. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, closed(one)]));
  const isSchema = "properties" in value && [(value as Schema).type].flat().includes("object") && !("additionalProperties" in value);
  return isSchema ? { ...inner, additionalProperties: false } : inner;
}

const absolute = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll('"$ref":"#/', '"$ref":"api#/'));
