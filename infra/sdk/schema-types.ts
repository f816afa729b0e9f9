// Writes JSON Schemas of the OpenAPI document as TypeScript types.
import { idOf, type JsonSchema } from "../../shared/http/openapi/json-schemas.ts";

/** `{ id: number; name?: string }` */
export function typeOf(schema: JsonSchema | undefined): string {
  if (!schema) return "unknown";
  const id = idOf(schema);
  if (id !== undefined) return id;
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return union(alternatives.map(typeOf));
  if (schema.allOf) return (schema.allOf as JsonSchema[]).map(typeOf).join(" & ");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  return union([schema.type ?? "unknown"].flat().map((name) => namedType(name, schema)));
}

/** A declaration of the type under a name. */
export function declareType(name: string, schema: JsonSchema): string {
  const text = typeOf(schema);
  const isInterface = schema.type === "object" && schema.properties && !text.endsWith(">");
  const declaration = isInterface
    ? `export interface ${name} ${text}`
    : `export type ${name} = ${text};`;
  return comment(schema.description) + declaration;
}

/** A doc comment with its line break; empty without a text. */
export function comment(text: string | undefined, ...further: (string | undefined)[]): string {
  const paragraphs = [text, ...further].filter((one) => one !== undefined && one !== "");
  if (!paragraphs.length) return "";
  const lines = paragraphs.join("\n\n").replaceAll("*/", "*\u200b/").split("\n");
  return lines.length === 1
    ? `/** ${lines[0]} */\n`
    : `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join("\n")}\n */\n`;
}

const simpleTypes: Record<string, string> = {
  integer: "number",
  number: "number",
  string: "string",
  boolean: "boolean",
  null: "null",
  unknown: "unknown",
};

function namedType(name: string, schema: JsonSchema): string {
  if (name === "array") {
    const items = typeOf(schema.items);
    return /[|&]/.test(items) ? `Array<${items}>` : `${items}[]`;
  }
  return name === "object" ? objectType(schema) : simpleTypes[name]!;
}

function objectType({ properties = {}, required = [], additionalProperties }: JsonSchema): string {
  const names = Object.entries(properties);
  const values = additionalProperties as JsonSchema | boolean | undefined;
  const valueType =
    values === true || values === undefined ? "unknown" : typeOf(values as JsonSchema);
  if (!names.length) return `Record<string, ${valueType}>`;
  const fields = names.map(([name, schema]) => {
    const optional = required.includes(name) ? "" : "?";
    return `${comment(schema.description)}${propertyName(name)}${optional}: ${typeOf(schema)};\n`;
  });
  const object = `{\n${fields.join("")}}`;
  return values === undefined || values === false
    ? object
    : `${object} & Record<string, ${valueType}>`;
}

const propertyName = (name: string) =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);

const union = (types: string[]): string => [...new Set(types)].join(" | ");
