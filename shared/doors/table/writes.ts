// Writes not yet made.
import type { TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import type { Condition } from "../../conditions.ts";
import { exists, isNew } from "../../conditions.ts";
import { config } from "../../config.ts";
import type { Problem } from "../../errors.ts";
import type { Address } from "../../keys.ts";
import { type Item, keyOf } from "./client.ts";
import { binder } from "./expressions.ts";

type TransactItem = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];

/** A write not yet made. `otherwise` is thrown when its condition does not hold. */
export interface Write {
  item: TransactItem;
  otherwise?: Problem | undefined;
}

/** An item at its address, replacing what is there unless `if` forbids; `new` says the address must be free, and what to throw if it is not. */
export function put(
  address: Address,
  item: object,
  { new: taken, if: condition, otherwise }: { new?: Problem | true; if?: Condition; otherwise?: Problem } = {},
): Write {
  const bound = binder();
  const rule = taken ? isNew : condition;
  return {
    item: {
      Put: {
        TableName: config.table,
        Item: { ...item, ...keyOf(address) },
        ...(rule && { ConditionExpression: rule(bound.bind), ...bound.placeholders() }),
      },
    },
    otherwise: taken === true ? otherwise : (taken ?? otherwise),
  };
}

export interface Changes {
  set?: Item;
  /** Numbers are added, members join a set. */
  add?: Record<string, number | Set<number> | Set<string>>;
  /** Members leave a set. */
  leave?: Record<string, Set<number> | Set<string>>;
  remove?: string[];
  /** Set only where there is nothing yet. */
  initialize?: Item;
}

/** Changes some attributes; makes the item when it is not there, unless `if` forbids. */
export function update(
  address: Address,
  { set = {}, add = {}, leave = {}, remove = [], initialize = {} }: Changes,
  { if: condition, otherwise }: { if?: Condition; otherwise?: Problem } = {},
): Write {
  const bound = binder();
  const { name, value } = bound.bind;
  const sets = [
    ...Object.entries(set)
      .filter(([, v]) => v !== undefined)
      .map(([k, v]) => `${name(k)} = ${value(v)}`),
    ...Object.entries(initialize).map(([k, v]) => `${name(k)} = if_not_exists(${name(k)}, ${value(v)})`),
  ];
  const clauses = [
    sets.length && `SET ${sets.join(", ")}`,
    remove.length && `REMOVE ${remove.map(name).join(", ")}`,
    Object.keys(add).length &&
      `ADD ${Object.entries(add)
        .map(([k, v]) => `${name(k)} ${value(v)}`)
        .join(", ")}`,
    Object.keys(leave).length &&
      `DELETE ${Object.entries(leave)
        .map(([k, v]) => `${name(k)} ${value(v)}`)
        .join(", ")}`,
  ];
  const ConditionExpression = condition?.(bound.bind);
  const UpdateExpression = clauses.filter(Boolean).join(" ");
  return {
    item: {
      Update: { TableName: config.table, Key: keyOf(address), UpdateExpression, ConditionExpression, ...bound.placeholders() } as never,
    },
    otherwise,
  };
}

/** `update` that refuses to make a missing item. */
export const change = (address: Address, changes: Changes, otherwise: Problem): Write =>
  update(address, changes, { if: exists, otherwise });

export function remove(address: Address, { if: condition, otherwise }: { if?: Condition; otherwise?: Problem } = {}): Write {
  const bound = binder();
  return {
    item: {
      Delete: {
        TableName: config.table,
        Key: keyOf(address),
        ...(condition && { ConditionExpression: condition(bound.bind), ...bound.placeholders() }),
      },
    },
    otherwise,
  };
}

/** Holds a transaction to a condition on an item that it does not change. */
export function check(address: Address, condition: Condition, otherwise?: Problem): Write {
  const bound = binder();
  const expression = condition(bound.bind);
  return {
    item: { ConditionCheck: { TableName: config.table, Key: keyOf(address), ConditionExpression: expression, ...bound.placeholders() } },
    otherwise,
  };
}
