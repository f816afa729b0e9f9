// JSON Schema out of zod, as an OpenAPI 3.1 document wants it: small, and with what has a name in one place.
import * as z from "zod";

/** A JSON Schema (2020-12); the keywords we read are named, others may be there. */
export interface Schema {
  [keyword: string]: unknown;
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  enum?: unknown[];
  description?: string;
}

export const componentPrefix = "#/components/schemas/";

/** Schemas with an id (`.meta({ id: "Site" })`) are collected in `components` and pointed at; all others stand where they are used. */
export function collector() {
  const components: Record<string, Schema> = {};
  const add = (id: string, schema: Schema) => {
    if (components[id] && JSON.stringify(components[id]) !== JSON.stringify(schema))
      throw new Error(`Two different schemas have the id ${id}: only what reads the same in and out may have one`);
    components[id] = schema;
  };
  const schemaOf = (type: z.ZodType, io: "input" | "output"): Schema => {
    const { $defs = {}, ...schema } = plain(type, io);
    for (const [id, definition] of Object.entries($defs as Record<string, Schema>)) add(id, tidy(definition));
    return tidy(schema);
  };
  return { components, schemaOf };
}

export type SchemaOf = ReturnType<typeof collector>["schemaOf"];

/** What is checked elsewhere, because it must not fail the whole request, is documented as what it is then checked to be. */
const plain = (type: z.ZodType, io: "input" | "output"): Schema =>
  z.toJSONSchema(type, {
    io,
    unrepresentable: "any",
    override: ({ jsonSchema, zodSchema }) => {
      // Left out by zod where the input becomes something else; ours are examples of what is given.
      const { examples } = z.globalRegistry.get(zodSchema) ?? {};
      if (io === "input" && Array.isArray(examples)) jsonSchema.examples = examples;
      const { documentedAs, description } = jsonSchema;
      if (!documentedAs) return;
      for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword];
      Object.assign(jsonSchema, description !== undefined && { description }, plain(documentedAs as z.ZodType, io));
    },
  }) as Schema;

/** Says the same in fewer words, and nothing that only holds today: an answer may get further fields. */
function tidy(value: Schema): Schema {
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
  // The format's own pattern: long, and of no use to a reader.
  if (schema.format) delete schema.pattern;
  return nullable(Object.fromEntries(Object.entries(schema).map(([keyword, inner]) => [keyword, tidyInner(keyword, inner)])));
}

function tidyInner(keyword: string, inner: unknown): unknown {
  if (keyword === "properties") return Object.fromEntries(Object.entries(inner as object).map(([name, one]) => [name, tidy(one)]));
  if (Array.isArray(inner) && /^(any|all|one)Of$/.test(keyword)) return inner.map(tidy);
  const holdsSchema = keyword === "items" || keyword === "additionalProperties" || keyword === "propertyNames";
  return holdsSchema && typeof inner === "object" ? tidy(inner as Schema) : inner;
}

/** `anyOf: [{type: "string"}, {type: "null"}]` is `type: ["string", "null"]`. */
function nullable(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  const [some, none, more] = anyOf ?? [];
  if (!some || none?.type !== "null" || more || typeof some.type !== "string") return schema;
  return { ...rest, ...some, type: [some.type, "null"], ...(some.enum && { enum: [...some.enum, null] }), ...described(rest, some) };
}

const described = (outer: Schema, inner: Schema) => {
  const description = outer.description ?? inner.description;
  return description !== undefined && { description };
};
