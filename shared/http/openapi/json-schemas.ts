// Converts zod schemas to JSON Schema for the OpenAPI 3.1 document: small, with named schemas as
// components.
import * as z from "zod";

/** JSON Schema (2020-12) with the keywords that this code reads. */
export interface JsonSchema {
  [keyword: string]: unknown;
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  enum?: unknown[];
  description?: string;
}

export const componentPrefix = "#/components/schemas/";
/** The named schemas of the document. */
export type Components = Record<string, JsonSchema>;

/** Name of the component that the schema refers to. */
export const idOf = (schema: JsonSchema | undefined): string | undefined =>
  schema?.$ref?.slice(componentPrefix.length);

/** The schema itself, or the component that it refers to. */
export function resolveSchema(schema: JsonSchema, components: Components): JsonSchema {
  const id = idOf(schema);
  return id === undefined ? schema : components[id]!;
}

/**
 * Collects schemas with an id (`.meta({ id: "Site" })`) in `components` and refers to them. Other
 * schemas are inlined. A schema that differs for input and output, such as one with defaults, is
 * `SendWindowInput` for input.
 */
export function createSchemaCollector() {
  const components: Components = {};
  const add = (id: string, schema: JsonSchema) => {
    if (components[id] && JSON.stringify(components[id]) !== JSON.stringify(schema))
      throw new Error(`Two different schemas have the id ${id}`);
    components[id] = schema;
  };
  const toJsonSchema = (type: z.ZodType, direction: Direction): JsonSchema => {
    const { $defs = {}, ...schema } = convertSchema(type, direction);
    const definitions = $defs as Components;
    const inputIds = direction === "input" ? findInputIds(type, definitions) : [];
    const rename = (id: string) => (inputIds.includes(id) ? `${id}Input` : id);
    for (const [id, definition] of Object.entries(definitions))
      add(rename(id), simplifySchema(definition, rename));
    return simplifySchema(schema, rename);
  };
  return { components, schemaOf: toJsonSchema };
}

type Direction = "input" | "output";
type Rename = (id: string) => string;

/** Ids of the definitions that differ from those of the output, themselves or in what they use. */
function findInputIds(type: z.ZodType, definitions: Components): string[] {
  const outputs = (convertSchema(type, "output").$defs ?? {}) as Components;
  const ids = Object.keys(definitions);
  const textOf = (schema: JsonSchema) => JSON.stringify(simplifySchema(schema, (id) => id));
  // The output of a schema with a transform is not described.
  const isDifferent = (id: string) =>
    outputs[id] && textOf(definitions[id]!) !== textOf(outputs[id]);
  const different = new Set(ids.filter(isDifferent));
  const uses = (id: string, used: string) =>
    JSON.stringify(definitions[id]).includes(`"#/$defs/${used}"`);
  let size: number;
  do {
    size = different.size;
    for (const id of ids) if ([...different].some((one) => uses(id, one))) different.add(id);
  } while (different.size > size);
  return [...different];
}

export type ToJsonSchema = ReturnType<typeof createSchemaCollector>["schemaOf"];

/**
 * Uses the schema in `documentedAs` for values that are checked later, because they must not fail
 * the whole request.
 */
function convertSchema(type: z.ZodType, direction: Direction): JsonSchema {
  const laterDefinitions: Components = {};
  const { $defs, ...schema } = z.toJSONSchema(type, {
    io: direction,
    unrepresentable: "any",
    override: ({ jsonSchema, zodSchema }) => {
      // zod leaves examples out if the schema transforms its input; here they are examples of the
      // input.
      const { examples } = z.globalRegistry.get(zodSchema) ?? {};
      if (direction === "input" && Array.isArray(examples)) jsonSchema.examples = examples;
      delete jsonSchema.mistakenNames;
      const { documentedAs, description } = jsonSchema;
      if (!documentedAs) return;
      for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword];
      const later = convertSchema(documentedAs as z.ZodType, direction);
      const { $defs: definitions, ...documented } = later;
      Object.assign(laterDefinitions, definitions);
      Object.assign(jsonSchema, description !== undefined && { description }, documented);
    },
  }) as JsonSchema;
  return { ...schema, $defs: { ...(($defs ?? {}) as Components), ...laterDefinitions } };
}

/** Removes noise, and `additionalProperties: false`: responses may get further fields. */
function simplifySchema(value: JsonSchema, rename: Rename): JsonSchema {
  const { id, $schema, exclusiveFields, ...schema } = nameKeys(value);
  if (exclusiveFields)
    return simplifySchema(toAlternatives(schema, exclusiveFields as string[][]), rename);
  if (schema.$ref)
    return {
      ...(schema.description !== undefined && { description: schema.description }),
      $ref: componentPrefix + rename(schema.$ref.replace("#/$defs/", "")),
    };
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.type === "integer" && schema.exclusiveMinimum === 0) {
    schema.minimum = 1;
    delete schema.exclusiveMinimum;
  }
  // The pattern of a format is long and does not help a reader.
  if (schema.format) delete schema.pattern;
  return collapseNullable(
    Object.fromEntries(
      Object.entries(schema).map(([keyword, inner]) => [
        keyword,
        simplifyKeyword(keyword, inner, rename),
      ]),
    ),
  );
}

/**
 * One object per list of fields. It requires the first field of its list, and lacks the fields of
 * the other lists.
 */
function toAlternatives(
  { properties = {}, required = [], description, examples, ...rest }: JsonSchema,
  exclusiveFields: string[][],
): JsonSchema {
  const alternatives = exclusiveFields.map((fields) => {
    const others = exclusiveFields.filter((one) => one !== fields).flat();
    const own = Object.entries(properties).filter(([name]) => !others.includes(name));
    const needed = [...new Set([fields[0]!, ...required])].filter((name) => !others.includes(name));
    return { ...rest, properties: Object.fromEntries(own), required: needed };
  });
  return {
    ...(description !== undefined && { description }),
    oneOf: alternatives,
    ...(examples !== undefined && { examples }),
  };
}

/** A record whose keys are all required is an object with these properties. */
function nameKeys(schema: JsonSchema): JsonSchema {
  const { propertyNames, additionalProperties, ...rest } = schema;
  const keys = (propertyNames as JsonSchema | undefined)?.enum as string[] | undefined;
  if (!keys || keys.length !== rest.required?.length) return schema;
  const value = additionalProperties as JsonSchema;
  return { ...rest, properties: Object.fromEntries(keys.map((key) => [key, value])) };
}

function simplifyKeyword(keyword: string, inner: unknown, rename: Rename): unknown {
  const simplify = (schema: JsonSchema) => simplifySchema(schema, rename);
  if (keyword === "properties")
    return Object.fromEntries(
      Object.entries(inner as object).map(([name, one]) => [name, simplify(one)]),
    );
  if (Array.isArray(inner) && /^(any|all|one)Of$/.test(keyword)) return inner.map(simplify);
  const holdsSchema =
    keyword === "items" || keyword === "additionalProperties" || keyword === "propertyNames";
  return holdsSchema && typeof inner === "object" ? simplify(inner as JsonSchema) : inner;
}

/** `anyOf: [{type: "string"}, {type: "null"}]` is `type: ["string", "null"]`. */
function collapseNullable(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema;
  const [typeSchema, nullSchema, more] = anyOf ?? [];
  if (!typeSchema || nullSchema?.type !== "null" || more || typeof typeSchema.type !== "string")
    return schema;
  return {
    ...rest,
    ...typeSchema,
    type: [typeSchema.type, "null"],
    ...(typeSchema.enum && { enum: [...typeSchema.enum, null] }),
    ...mergedDescription(rest, typeSchema),
  };
}

const mergedDescription = (outer: JsonSchema, inner: JsonSchema) => {
  const description = outer.description ?? inner.description;
  return description !== undefined && { description };
};
