// Conditions of writes and filters of queries, as values: they become DynamoDB expressions in the table door.

/** Gives placeholders for names and values while an expression is written. */
export interface Binder {
  name(attribute: string): string;
  value(value: unknown): string;
}
export type Condition = (bind: Binder) => string;

const compare =
  (operator: string) =>
  (attribute: string, value: unknown): Condition =>
  (bind) =>
    `${bind.name(attribute)} ${operator} ${bind.value(value)}`;

export const equals = compare("=");
export const differs = compare("<>");
export const below = compare("<");
export const atMost = compare("<=");
export const above = compare(">");
export const atLeast = compare(">=");
export const absent =
  (attribute: string): Condition =>
  (bind) =>
    `attribute_not_exists(${bind.name(attribute)})`;
export const present =
  (attribute: string): Condition =>
  (bind) =>
    `attribute_exists(${bind.name(attribute)})`;
export const contains =
  (attribute: string, value: unknown): Condition =>
  (bind) =>
    `contains(${bind.name(attribute)}, ${bind.value(value)})`;
export const startsWith =
  (attribute: string, value: string): Condition =>
  (bind) =>
    `begins_with(${bind.name(attribute)}, ${bind.value(value)})`;
export const all =
  (...conditions: Condition[]): Condition =>
  (bind) =>
    conditions.map((condition) => `(${condition(bind)})`).join(" AND ");
export const any =
  (...conditions: Condition[]): Condition =>
  (bind) =>
    conditions.map((condition) => `(${condition(bind)})`).join(" OR ");

/** The item is not there yet. */
export const isNew = absent("pk");
export const exists = present("pk");
