// The names of the fields of a schema, and names in requests that it does not have.
import * as z from "zod";
import type { ProblemDetail } from "../errors.ts";
import { isObject } from "./json.ts";

/** Undefined if the schema allows any field. */
function fieldNamesOf(schema: unknown): string[] | undefined {
  if (schema instanceof z.ZodPipe) return fieldNamesOf(schema.in);
  if (schema instanceof z.ZodObject)
    return schema.def.catchall ? undefined : Object.keys(schema.shape);
  if (!(schema instanceof z.ZodUnion)) return undefined;
  const options = schema.options.map(fieldNamesOf);
  return options.some((names) => !names) ? undefined : options.flatMap((names) => names ?? []);
}

/**
 * Up to 5 field names that the schema does not have, each cut to 100 characters. Empty if the
 * schema allows any field.
 */
export function unknownFields(schema: unknown, value: unknown): string[] {
  const known = fieldNamesOf(schema);
  if (!known || !isObject(value)) return [];
  const names = Object.keys(value).filter(
    (name) => value[name] !== undefined && !known.includes(name),
  );
  return names.slice(0, 5).map((name) => name.slice(0, 100));
}

/** Lower case, without dashes and underscores. */
const simplifyName = (name: string): string => name.toLowerCase().replace(/[-_]/g, "");

/**
 * An unknown field that stands for a known one: `reply_to` for `replyTo`, or a name in the
 * `mistakenNames` of the schema. Undefined for schemas without `mistakenNames`.
 */
export function findMistakenName(schema: z.ZodType, value: unknown): ProblemDetail | undefined {
  const { mistakenNames } = schema.meta() ?? {};
  if (!mistakenNames) return undefined;
  const unknown = unknownFields(schema, value);
  if (!unknown.length) return undefined;
  const byName = new Map([
    ...Object.entries(mistakenNames as Record<string, string>),
    ...(fieldNamesOf(schema) ?? []).map((name) => [simplifyName(name), name] as const),
  ]);
  const path = unknown.find((name) => byName.has(simplifyName(name)));
  if (path === undefined) return undefined;
  return { path, message: `${path} is unknown: use ${byName.get(simplifyName(path))}` };
}
