// Prepared writes.
import type { TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { config } from "../../config.ts";
import type { Problem } from "../../errors.ts";
import type { Key } from "../../keys.ts";
import { type Item, keyOf } from "./client.ts";
import { type Condition, createExpressionBuilder, exists, isNew } from "./conditions.ts";

type TransactItem = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];

/** A prepared write. If its condition does not hold, making it throws `orThrow`. */
export interface Write {
  item: TransactItem;
  orThrow?: Problem | undefined;
}

/**
 * Stores an item and replaces an existing one. `ifAbsent` requires that none exists; it can be the
 * Problem to throw otherwise.
 */
export function put(
  key: Key,
  item: object,
  {
    ifAbsent,
    if: condition,
    orThrow,
  }: { ifAbsent?: Problem | true; if?: Condition; orThrow?: Problem } = {},
): Write {
  const expression = createExpressionBuilder();
  const fullCondition = ifAbsent ? isNew : condition;
  return {
    item: {
      Put: {
        TableName: config.table,
        Item: { ...item, ...keyOf(key) },
        ...(fullCondition && {
          ConditionExpression: fullCondition(expression.builder),
          ...expression.placeholders(),
        }),
      },
    },
    orThrow: ifAbsent === true ? orThrow : (ifAbsent ?? orThrow),
  };
}

export interface ItemChanges {
  set?: Item;
  /** Adds to numbers, and members to sets. */
  add?: Record<string, number | Set<number> | Set<string>>;
  /** Removes members from sets. */
  deleteFromSet?: Record<string, Set<number> | Set<string>>;
  remove?: string[];
  /** Sets attributes that do not exist. */
  setIfAbsent?: Item;
}

/** Changes attributes of an item. Creates the item if it does not exist and `if` allows that. */
export function update(
  key: Key,
  { set = {}, add = {}, deleteFromSet = {}, remove = [], setIfAbsent = {} }: ItemChanges,
  { if: condition, orThrow }: { if?: Condition; orThrow?: Problem } = {},
): Write {
  const expression = createExpressionBuilder();
  const { name, value } = expression.builder;
  const sets = [
    ...Object.entries(set)
      .filter(([, v]) => v !== undefined)
      .map(([k, v]) => `${name(k)} = ${value(v)}`),
    ...Object.entries(setIfAbsent).map(
      ([k, v]) => `${name(k)} = if_not_exists(${name(k)}, ${value(v)})`,
    ),
  ];
  const clauses = [
    sets.length && `SET ${sets.join(", ")}`,
    remove.length && `REMOVE ${remove.map(name).join(", ")}`,
    Object.keys(add).length &&
      `ADD ${Object.entries(add)
        .map(([k, v]) => `${name(k)} ${value(v)}`)
        .join(", ")}`,
    Object.keys(deleteFromSet).length &&
      `DELETE ${Object.entries(deleteFromSet)
        .map(([k, v]) => `${name(k)} ${value(v)}`)
        .join(", ")}`,
  ];
  const ConditionExpression = condition?.(expression.builder);
  const UpdateExpression = clauses.filter(Boolean).join(" ");
  return {
    item: {
      Update: {
        TableName: config.table,
        Key: keyOf(key),
        UpdateExpression,
        ConditionExpression,
        ...expression.placeholders(),
      } as never,
    },
    orThrow,
  };
}

/** Changes attributes of an existing item. */
export const updateExisting = (key: Key, changes: ItemChanges, orThrow: Problem): Write =>
  update(key, changes, { if: exists, orThrow });

export function remove(
  key: Key,
  { if: condition, orThrow }: { if?: Condition; orThrow?: Problem } = {},
): Write {
  const expression = createExpressionBuilder();
  return {
    item: {
      Delete: {
        TableName: config.table,
        Key: keyOf(key),
        ...(condition && {
          ConditionExpression: condition(expression.builder),
          ...expression.placeholders(),
        }),
      },
    },
    orThrow,
  };
}

/** Makes a transaction depend on a condition of an item that it does not change. */
export function checkCondition(key: Key, condition: Condition, orThrow?: Problem): Write {
  const expression = createExpressionBuilder();
  return {
    item: {
      ConditionCheck: {
        TableName: config.table,
        Key: keyOf(key),
        ConditionExpression: condition(expression.builder),
        ...expression.placeholders(),
      },
    },
    orThrow,
  };
}
