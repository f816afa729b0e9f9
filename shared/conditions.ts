// Conditions of writes and filters of queries, as values: they become DynamoDB expressions in the table door.

/** Gives placeholders for names and values while an expression is written. */
export interface Binder {
  name(attribute: string): string;
  value(value: unknown): string;
}
export type Condition = (bind: Binder) => string;
/** A name, or the way into a map. */
export type Attribute = string | string[];

const path = (bind: Binder, attribute: Attribute): string => [attribute].flat().map(bind.name).join(".");

const compare =
  (operator: string) =>
  (attribute: Attribute, value: unknown): Condition =>
  (bind) =>
    `${path(bind, attribute)} ${operator} ${bind.value(value)}`;

export const equals = compare("=");
export const below = compare("<");
export const atMost = compare("<=");
export const above = compare(">");
export const atLeast = compare(">=");
export const between =
  (attribute: Attribute, from: unknown, to: unknown): Condition =>
  (bind) =>
    `${path(bind, attribute)} BETWEEN ${bind.value(from)} AND ${bind.value(to)}`;
/** One of up to 100 values. */
export const oneOf =
  (attribute: Attribute, values: unknown[]): Condition =>
  (bind) =>
    `${path(bind, attribute)} IN (${values.map(bind.value).join(", ")})`;
export const absent =
  (attribute: Attribute): Condition =>
  (bind) =>
    `attribute_not_exists(${path(bind, attribute)})`;
export const present =
  (attribute: Attribute): Condition =>
  (bind) =>
    `attribute_exists(${path(bind, attribute)})`;
export const contains =
  (attribute: Attribute, value: unknown): Condition =>
  (bind) =>
    `contains(${path(bind, attribute)}, ${bind.value(value)})`;
export const startsWith =
  (attribute: Attribute, value: string): Condition =>
  (bind) =>
    `begins_with(${path(bind, attribute)}, ${bind.value(value)})`;
/** A set, list or map has fewer members; a text fewer bytes. */
export const smaller =
  (attribute: Attribute, than: number): Condition =>
  (bind) =>
    `size(${path(bind, attribute)}) < ${bind.value(than)}`;
/** Its value is a number, a truth value, a text. */
export const typed =
  (attribute: Attribute, type: "N" | "BOOL" | "S"): Condition =>
  (bind) =>
    `attribute_type(${path(bind, attribute)}, ${bind.value(type)})`;
export const not =
  (condition: Condition): Condition =>
  (bind) =>
    `NOT (${condition(bind)})`;

// Parentheses around a lone condition would meet others around it, and DynamoDB refuses double ones.
const joined =
  (word: string) =>
  (...conditions: Condition[]): Condition =>
  (bind) =>
    conditions.length === 1 ? conditions[0]!(bind) : conditions.map((condition) => `(${condition(bind)})`).join(word);
export const all = joined(" AND ");
export const any = joined(" OR ");

/** Each value that is given must be so; undefined when none is. */
export function where(values: Record<string, unknown>): Condition | undefined {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return given.length ? all(...given.map(([name, value]) => equals(name, value))) : undefined;
}

/** The item is not there yet. */
export const isNew = absent("pk");
export const exists = present("pk");
