// Rules between the optional fields of an object, checked and shown in the OpenAPI document.
import type * as z from "zod";

/**
 * Requires exactly one of two fields. In the document the schema is `oneOf` two objects, each with
 * one of the fields. Fields in `onlyWithSecond` are shown with the second field only.
 */
export function exactlyOneOf<T extends z.ZodObject>(
  schema: T,
  [first, second]: [keyof T["shape"] & string, keyof T["shape"] & string],
  onlyWithSecond: (keyof T["shape"] & string)[] = [],
): T {
  return schema
    .refine((value) => (value[first] === undefined) !== (value[second] === undefined), {
      error: `exactly one of ${first} and ${second} is required`,
      path: [first],
    })
    .meta({ exclusiveFields: [[first], [second, ...onlyWithSecond]] });
}

type Keywords = Record<string, unknown>;

/**
 * Keywords of JSON Schema: without the field of a rule, its other fields are required. Takes
 * `{ templateId: ["subject", "html"] }`.
 */
export function requiredUnless(rules: Record<string, string[]>): Keywords {
  const [rule, ...more] = Object.entries(rules);
  if (!rule) return {};
  const [field, required] = rule;
  const others = requiredUnless(Object.fromEntries(more));
  return conditional({ required: [field] }, others, { required, ...others });
}

const keywords = ["if", "then", "else"];

/**
 * Keywords of JSON Schema that depend on a condition: `if`, `then` and `else`. Generators of
 * clients ignore them; an `anyOf` of objects without fields would be a type without fields.
 */
export const conditional = (...schemas: [condition: Keywords, met: Keywords, unmet: Keywords]) =>
  Object.fromEntries(schemas.map((schema, i) => [keywords[i]!, schema]));
