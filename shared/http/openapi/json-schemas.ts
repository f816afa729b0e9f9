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

/**
 * Collects schemas with an id (`.meta({ id: "Site" })`) in `components` and refers to them. Other
 * schemas are inlined.
 */
export function createSchemaCollector() {
  const components: Record<string, JsonSchema> = {};
  const add = (id: string, schema: JsonSchema) => {
    if (components[id] && JSON.stringify(components[id]) !== JSON.stringify(schema))
      throw new Error(
        `Two different schemas have the id ${id}: only a schema that is the same for input ` +
          "and output can have an id",
      );
    components[id] = schema;
  };
  const toJsonSchema = (type: z.ZodType, direction: "input" | "output"): JsonSchema => {
    const { $defs = {}, ...schema } = convertSchema(type, direction);
    for (const [id, definition] of Object.entries($defs as Record<string, JsonSchema>))
      add(id, simplifySchema(definition));
    return simplifySchema(schema);
  };
  return { components, schemaOf: toJsonSchema };
}

export type ToJsonSchema = ReturnType<typeof createSchemaCollector>["schemaOf"];

/**
 * Uses the schema in `documentedAs` for values that are checked later, because they must not fail
 * the whole request.
 */
const convertSchema = (type: z.ZodType, direction: "input" | "output"): JsonSchema =>
  z.toJSONSchema(type, {
    io: direction,
    unrepresentable: "any",
    override: ({ jsonSchema, zodSchema }) => {
      // zod leaves examples out if the schema transforms its input; here they are examples of the
      // input.
      const { examples } = z.globalRegistry.get(zodSchema) ?? {};
      if (direction === "input" && Array.isArray(examples)) jsonSchema.examples = examples;
      const { documentedAs, description } = jsonSchema;
      if (!documentedAs) return;
      for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword];
      Object.assign(
        jsonSchema,
        description !== undefined && { description },
        convertSchema(documentedAs as z.ZodType, direction),
      );
    },
  }) as JsonSchema;

/** Removes noise, and `additionalProperties: false`: responses may get further fields. */
function simplifySchema(value: JsonSchema): JsonSchema {
  const { id, $schema, ...schema } = value;
  if (schema.$ref)
    return {
      ...(schema.description !== undefined && { description: schema.description }),
      $ref: schema.$ref.replace("#/$defs/", componentPrefix),
    };
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.type === "integer" && schema.exclusiveMinimum === 0) {
    schema.minimum = 1;
    delete schema.exclusiveMinimum;
  }
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  // The pattern of a format is long and does not help a reader.
  if (schema.format) delete schema.pattern;
  return collapseNullable(
    Object.fromEntries(
      Object.entries(schema).map(([keyword, inner]) => [keyword, simplifyKeyword(keyword, inner)]),
    ),
  );
}

function simplifyKeyword(keyword: string, inner: unknown): unknown {
  if (keyword === "properties")
    return Object.fromEntries(
      Object.entries(inner as object).map(([name, one]) => [name, simplifySchema(one)]),
    );
  if (Array.isArray(inner) && /^(any|all|one)Of$/.test(keyword)) return inner.map(simplifySchema);
  const holdsSchema =
    keyword === "items" || keyword === "additionalProperties" || keyword === "propertyNames";
  return holdsSchema && typeof inner === "object" ? simplifySchema(inner as JsonSchema) : inner;
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
