// Rules between the optional fields of an object, checked and shown in the OpenAPI document.
import type * as z from "zod";

/**
 * Requires exactly one of some fields. In the document the schema is `oneOf` as many objects, each
 * with one of the fields. Fields in `onlyWithSecond` are shown with the second field only.
 */
export function exactlyOneOf<T extends z.ZodObject>(
  schema: T,
  names: [Field<T>, Field<T>, ...Field<T>[]],
  onlyWithSecond: Field<T>[] = [],
): T {
  const [first, second] = names;
  return schema
    .refine((value) => names.filter((name) => value[name] !== undefined).length === 1, {
      error: `exactly one of ${new Intl.ListFormat("en").format(names)} is required`,
      path: [first],
    })
    .meta({
      exclusiveFields: names.map((name) => (name === second ? [name, ...onlyWithSecond] : [name])),
    });
}
type Field<T extends z.ZodObject> = keyof T["shape"] & string;

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
