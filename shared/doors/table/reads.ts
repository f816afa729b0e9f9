// Questions: one item, many, a partition.
import { BatchGetCommand, GetCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import type { Condition } from "../../conditions.ts";
import { config } from "../../config.ts";
import type { Address, Range } from "../../keys.ts";
import { chunked } from "../../parallel.ts";
import { backOff, capacity, dynamo, type Item, nameOf, paid } from "./client.ts";
import { binder } from "./expressions.ts";

/** Strongly consistent unless told otherwise (which costs half). */
export async function get<T>(address: Address, { consistent = true } = {}): Promise<T | undefined> {
  const { Item, ConsumedCapacity } = await dynamo().send(
    new GetCommand({ TableName: config.table, Key: address, ConsistentRead: consistent, ...capacity }),
  );
  paid("GetItem", ConsumedCapacity, "read");
  return Item as T | undefined;
}

/** In the order asked, undefined where there is none. Eventually consistent unless told otherwise; 100 to a call, side by side. */
export async function getMany<T>(addresses: Address[], { consistent = false } = {}): Promise<(T | undefined)[]> {
  const found = new Map<string, T>();
  const distinct = [...new Map(addresses.map((address) => [nameOf(address), address])).values()];
  await Promise.all(chunked(distinct, 100).map((some) => getBatch(some, consistent, found)));
  return addresses.map((address) => found.get(nameOf(address)));
}

async function getBatch<T>(addresses: Address[], consistent: boolean, found: Map<string, T>) {
  let left: Record<string, unknown>[] = addresses.map(({ pk, sk }) => ({ pk, sk }));
  for (let attempt = 0; left.length; attempt++) {
    if (attempt) await backOff(attempt, "BatchGetItem");
    const { Responses, UnprocessedKeys, ConsumedCapacity } = await dynamo().send(
      new BatchGetCommand({ RequestItems: { [config.table]: { Keys: left, ConsistentRead: consistent } }, ...capacity }),
    );
    paid("BatchGetItem", ConsumedCapacity, "read");
    for (const item of Responses?.[config.table] ?? []) found.set(nameOf(item as unknown as Address), item as T);
    left = UnprocessedKeys?.[config.table]?.Keys ?? [];
  }
}

export interface QueryOptions {
  limit?: number;
  /** Where the last page ended: its `next`. */
  after?: string | undefined;
  /** Only sort keys below this one; not together with a prefix. */
  below?: string | undefined;
  newestFirst?: boolean;
  filter?: Condition | undefined;
  /** Names of the attributes to bring over; reading costs the same. */
  only?: string[] | undefined;
  consistent?: boolean;
}
export interface Page<T> {
  items: T[];
  /** Sort key to go on after; absent at the end. */
  next?: string;
}

/** One page of a partition. With a filter a page may be short or empty and yet have a next. `next` serves base-table ranges only. */
export async function query<T>(
  from: Range,
  { limit = 50, after, below, newestFirst = false, filter, only, consistent = false }: QueryOptions = {},
): Promise<Page<T>> {
  const { sort, condition, names, values } = keyCondition(from, filter, below, only);
  const { Items, LastEvaluatedKey, ConsumedCapacity } = await dynamo().send(
    new QueryCommand({
      TableName: config.table,
      IndexName: from.index,
      Limit: limit,
      ScanIndexForward: !newestFirst,
      ConsistentRead: consistent,
      KeyConditionExpression: condition.key,
      FilterExpression: condition.filter,
      ProjectionExpression: condition.only,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
      ExclusiveStartKey: after === undefined ? undefined : startKey(from, after),
      ...capacity,
    }),
  );
  paid("Query", ConsumedCapacity, "read");
  return { items: (Items ?? []) as T[], ...(LastEvaluatedKey && { next: nextOf(from, LastEvaluatedKey, sort) }) };
}

/** Every item of a partition that is known to be small. */
export async function queryAll<T>(from: Range, options: Omit<QueryOptions, "after" | "limit"> = {}): Promise<T[]> {
  const items: T[] = [];
  let after: string | undefined;
  do {
    const page = await query<T>(from, { ...options, limit: 1000, after });
    items.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return items;
}

/** How many items of a partition the filter lets pass. Reads them all, a megabyte to a call, and brings none of them over. */
export async function count(
  from: Range,
  { filter, consistent = false }: Pick<QueryOptions, "filter" | "consistent"> = {},
): Promise<number> {
  const { condition, names, values } = keyCondition(from, filter, undefined);
  let total = 0;
  let start: Item | undefined;
  do {
    const { Count, LastEvaluatedKey, ConsumedCapacity } = await dynamo().send(
      new QueryCommand({
        TableName: config.table,
        IndexName: from.index,
        Select: "COUNT",
        ConsistentRead: consistent,
        KeyConditionExpression: condition.key,
        FilterExpression: condition.filter,
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: values,
        ExclusiveStartKey: start,
        ...capacity,
      }),
    );
    paid("Query", ConsumedCapacity, "read");
    total += Count ?? 0;
    start = LastEvaluatedKey;
  } while (start);
  return total;
}

function keyCondition(from: Range, filter: Condition | undefined, below: string | undefined, only?: string[]) {
  const bound = binder();
  const sort = from.index ? `${from.index}sk` : "sk";
  const key = `${bound.bind.name(from.index ? `${from.index}pk` : "pk")} = ${bound.bind.value(from.pk)}`;
  const prefix = from.prefix === undefined ? "" : ` AND begins_with(${bound.bind.name(sort)}, ${bound.bind.value(from.prefix)})`;
  const end = below === undefined ? "" : ` AND ${bound.bind.name(sort)} < ${bound.bind.value(below)}`;
  const condition = { key: key + prefix + end, filter: filter?.(bound.bind), only: only?.map(bound.bind.name).join(", ") };
  return { sort, condition, names: bound.names, values: bound.values };
}

// An index key is made whole by the base key, so a cursor on an index carries all three parts.
const nextOf = (from: Range, last: Item, sort: string) =>
  from.index ? JSON.stringify([last[sort], last.pk, last.sk]) : String(last[sort]);

function startKey(from: Range, after: string): Item {
  if (!from.index) return { pk: from.pk, sk: after };
  const [sort, pk, sk] = JSON.parse(after) as [string, string, string];
  return { [`${from.index}pk`]: from.pk, [`${from.index}sk`]: sort, pk, sk };
}
