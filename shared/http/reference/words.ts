// Schemas and descriptions in words for readers.
import { type Html, html } from "../html.ts";
import { componentPrefix, type Schema } from "../schemas.ts";

export type Components = Record<string, Schema>;

/** Text in which `these` are code. */
export const prose = (text: string): Html[] => text.split("`").map((part, i) => (i % 2 ? html`<code>${part}</code>` : html`${part}`));

/** The schema itself, where only its name is given. */
export const resolved = (schema: Schema, components: Components): Schema =>
  schema.$ref ? { ...components[schema.$ref.replace(componentPrefix, "")], ...withoutRef(schema) } : schema;
const withoutRef = ({ $ref, ...rest }: Schema): Schema => rest;

/** integer, string or null, email, list of objects. */
export function typeInWords(given: Schema, components: Components): string {
  const schema = resolved(given, components);
  if (schema.anyOf) return unique(schema.anyOf.map((one) => typeInWords(one, components))).join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const types = [schema.type ?? "any"].flat();
  return types.map((type) => words[type]?.(schema, components) ?? type).join(" or ");
}

const unique = <T>(all: T[]): T[] => [...new Set(all)];

const words: Record<string, (schema: Schema, components: Components) => string> = {
  string: ({ format }) => formats[String(format)] ?? "string",
  array: ({ items }, components) => `list of ${items ? plural(typeInWords(items, components)) : "anything"}`,
  object: ({ properties, additionalProperties }, components) =>
    properties || typeof additionalProperties !== "object" || !Object.keys(additionalProperties as object).length
      ? "object"
      : `object of ${plural(typeInWords(additionalProperties as Schema, components))}`,
  any: () => "anything",
};
const formats: Record<string, string | undefined> = { email: "email address", "date-time": "time (ISO 8601)", date: "date", uri: "URL" };
const plural = (word: string): string =>
  word.replace(/^(string|integer|number|object|email address)\b/, (one) => (/ss$/.test(one) ? `${one}es` : `${one}s`));

/** Its bounds: `1 to 200 characters`, `at most 10 items`. */
export function limitsInWords(given: Schema, components: Components): string[] {
  const schema = resolved(given, components);
  const [only] = (schema.anyOf ?? []).filter(({ type }) => type !== "null");
  if (only) return limitsInWords(only, components);
  return [
    range(schema.minLength, schema.maxLength, "characters"),
    range(schema.minItems, schema.maxItems, "items"),
    range(schema.minimum, schema.maximum, ""),
    schema.exclusiveMinimum !== undefined && `more than ${figure(schema.exclusiveMinimum)}`,
  ].filter((limit) => limit !== false);
}

function range(min: unknown, max: unknown, unit: string): string | false {
  const given = [min, max].map((bound) => bound !== undefined && figure(bound));
  if (given[0] && given[1]) return `${given[0]} to ${given[1]} ${unit}`.trim();
  if (given[1]) return `at most ${given[1]} ${unit}`.trim();
  // That an id or a text is not nothing needs no saying.
  return given[0] && Number(min) > 1 ? `at least ${given[0]} ${unit}`.trim() : false;
}

const figure = (bound: unknown): string => Number(bound).toLocaleString("en-US");

/** The values it may have, when they are few. */
export function choices(given: Schema, components: Components): unknown[] {
  const schema = resolved(given, components);
  const inner = schema.anyOf?.find((one) => resolved(one, components).enum) ?? schema.items;
  return (schema.enum ?? (inner ? choices(inner, components) : [])).filter((value) => value !== null);
}
