// Conditions of writes and filters of queries. They become DynamoDB expressions when the command is
// built.
import type { Item } from "./client.ts";

/** Returns a placeholder for each attribute name and value of an expression. */
interface ExpressionBuilder {
  name(attribute: string): string;
  value(value: unknown): string;
}
export type Condition = (builder: ExpressionBuilder) => string;
/** An attribute name, or the path to an attribute inside a map. */
export type AttributePath = string | string[];

const path = (builder: ExpressionBuilder, attribute: AttributePath): string =>
  [attribute].flat().map(builder.name).join(".");

const compare =
  (operator: string) =>
  (attribute: AttributePath, value: unknown): Condition =>
  (builder) =>
    `${path(builder, attribute)} ${operator} ${builder.value(value)}`;

export const equals = compare("=");
export const lessThan = compare("<");
export const atMost = compare("<=");
export const greaterThan = compare(">");
export const atLeast = compare(">=");
export const between =
  (attribute: AttributePath, from: unknown, to: unknown): Condition =>
  (builder) =>
    `${path(builder, attribute)} BETWEEN ${builder.value(from)} AND ${builder.value(to)}`;
/** At most 100 values. */
export const oneOf =
  (attribute: AttributePath, values: readonly unknown[]): Condition =>
  (builder) =>
    `${path(builder, attribute)} IN (${values.map(builder.value).join(", ")})`;
export const absent =
  (attribute: AttributePath): Condition =>
  (builder) =>
    `attribute_not_exists(${path(builder, attribute)})`;
export const present =
  (attribute: AttributePath): Condition =>
  (builder) =>
    `attribute_exists(${path(builder, attribute)})`;
export const contains =
  (attribute: AttributePath, value: unknown): Condition =>
  (builder) =>
    `contains(${path(builder, attribute)}, ${builder.value(value)})`;
export const startsWith =
  (attribute: AttributePath, value: string): Condition =>
  (builder) =>
    `begins_with(${path(builder, attribute)}, ${builder.value(value)})`;
/** For sets, lists and maps the number of members, for texts the number of bytes. */
export const sizeBelow =
  (attribute: AttributePath, limit: number): Condition =>
  (builder) =>
    `size(${path(builder, attribute)}) < ${builder.value(limit)}`;
export const hasType =
  (attribute: AttributePath, type: "N" | "BOOL" | "S" | "L"): Condition =>
  (builder) =>
    `attribute_type(${path(builder, attribute)}, ${builder.value(type)})`;
export const not =
  (condition: Condition): Condition =>
  (builder) =>
    `NOT (${condition(builder)})`;

// A single condition gets no parentheses, because DynamoDB rejects redundant ones.
const combineWith =
  (word: string) =>
  (...conditions: Condition[]): Condition =>
  (builder) =>
    conditions.length === 1
      ? conditions[0]!(builder)
      : conditions.map((condition) => `(${condition(builder)})`).join(word);
export const all = combineWith(" AND ");
export const any = combineWith(" OR ");

/** Requires every defined value. Undefined if all values are undefined. */
export function allEqual(values: Record<string, unknown>): Condition | undefined {
  const defined = Object.entries(values).filter(([, value]) => value !== undefined);
  return defined.length ? all(...defined.map(([name, value]) => equals(name, value))) : undefined;
}

export const isNew = absent("pk");
export const exists = present("pk");

/** Builds the expressions of one command, together with their placeholders. */
export function createExpressionBuilder() {
  const names: Record<string, string> = {};
  const values: Item = {};
  const placeholderByName = new Map<string, string>();
  const builder: ExpressionBuilder = {
    name(attribute) {
      const placeholder = placeholderByName.get(attribute) ?? `#n${placeholderByName.size}`;
      placeholderByName.set(attribute, placeholder);
      names[placeholder] = attribute;
      return placeholder;
    },
    value(value) {
      const placeholder = `:v${Object.keys(values).length}`;
      values[placeholder] = value;
      return placeholder;
    },
  };
  const placeholders = () => ({
    ...(Object.keys(names).length && { ExpressionAttributeNames: names }),
    ...(Object.keys(values).length && { ExpressionAttributeValues: values }),
  });
  return { builder, names, values, placeholders };
}
