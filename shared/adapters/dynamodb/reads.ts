// Reads of one item, many items or a partition.

import { BatchGetCommand, GetCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { config } from "../../config.ts";
import { splitIntoBatches } from "../../kernel/parallel.ts";
import type { Key, KeyRange } from "../../keys.ts";
import {
  backOff,
  documentClient,
  type Item,
  keyText,
  readingClient,
  recordCapacity,
  returnCapacity,
} from "./client.ts";
import { type Condition, createExpressionBuilder } from "./conditions.ts";
import { joinCalls } from "./joined-calls.ts";

/** Strongly consistent by default; an eventually consistent read costs half. */
export async function get<T>(key: Key, { consistent = true } = {}): Promise<T | undefined> {
  const { Item, ConsumedCapacity } = await documentClient().send(
    new GetCommand({
      TableName: config.table,
      Key: key,
      ConsistentRead: consistent,
      ...returnCapacity,
    }),
  );
  recordCapacity("GetItem", ConsumedCapacity, "read");
  return Item as T | undefined;
}

/**
 * Returns the items in the order of the keys, undefined for missing ones. Eventually consistent by
 * default; 100 per call, in parallel.
 */
export async function getMany<T>(
  itemKeys: Key[],
  { consistent = false } = {},
): Promise<(T | undefined)[]> {
  const found = new Map<string, T>();
  const distinct = [...new Map(itemKeys.map((key) => [keyText(key), key])).values()];
  await Promise.all(
    splitIntoBatches(distinct, 100).map((batch) => getBatch(batch, consistent, found)),
  );
  return itemKeys.map((key) => found.get(keyText(key)));
}

async function getBatch<T>(batch: Key[], consistent: boolean, found: Map<string, T>) {
  let remaining: Record<string, unknown>[] = batch.map(({ pk, sk }) => ({ pk, sk }));
  for (let attempt = 0; remaining.length; attempt++) {
    if (attempt) await backOff(attempt, "BatchGetItem");
    const { Responses, UnprocessedKeys, ConsumedCapacity } = await documentClient().send(
      new BatchGetCommand({
        RequestItems: { [config.table]: { Keys: remaining, ConsistentRead: consistent } },
        ...returnCapacity,
      }),
    );
    recordCapacity("BatchGetItem", ConsumedCapacity, "read");
    for (const item of Responses?.[config.table] ?? [])
      found.set(keyText(item as unknown as Key), item as T);
    remaining = UnprocessedKeys?.[config.table]?.Keys ?? [];
  }
}

export interface QueryOptions {
  limit?: number;
  /** `next` of the previous page. */
  after?: string | undefined;
  /** Only smaller sort keys. Cannot be combined with a prefix. */
  below?: string | undefined;
  /** Only greater sort keys. Cannot be combined with a prefix or `below`. */
  above?: string | undefined;
  /** Only sort keys from the first to the second. Cannot be combined with the options above. */
  between?: [from: string, to: string] | undefined;
  newestFirst?: boolean;
  filter?: Condition | undefined;
  /** The attributes to return. The read costs the same. */
  attributes?: string[] | undefined;
  consistent?: boolean;
}
export interface QueryPage<T> {
  items: T[];
  /** The position after which the next page begins. Absent on the last page. */
  next?: string;
}

/** One page of a key range. With a filter, a page can be short or empty and still have a `next`. */
export async function query<T>(
  range: KeyRange,
  {
    limit = 50,
    after,
    below,
    above,
    between,
    newestFirst = false,
    filter,
    attributes,
    consistent = false,
  }: QueryOptions = {},
): Promise<QueryPage<T>> {
  const { sortKeyName, condition, names, values } = keyExpressions(range, {
    filter,
    below,
    above,
    between,
    attributes,
  });
  const { Items, LastEvaluatedKey, ConsumedCapacity } = await documentClient().send(
    new QueryCommand({
      TableName: config.table,
      IndexName: range.index,
      Limit: limit,
      ScanIndexForward: !newestFirst,
      ConsistentRead: consistent,
      KeyConditionExpression: condition.key,
      FilterExpression: condition.filter,
      ProjectionExpression: condition.projection,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
      ExclusiveStartKey: after === undefined ? undefined : toStartKey(range, after),
      ...returnCapacity,
    }),
  );
  recordCapacity("Query", ConsumedCapacity, "read");
  return {
    items: (Items ?? []) as T[],
    ...(LastEvaluatedKey && { next: cursorFrom(range, LastEvaluatedKey, sortKeyName) }),
  };
}

/** Yields a key range page by page. The next page is read when the consumer asks for it. */
export async function* queryPages<T>(
  range: KeyRange,
  options: QueryOptions,
): AsyncGenerator<QueryPage<T>> {
  let { after } = options;
  do {
    const page = await query<T>(range, { ...options, after });
    yield page;
    after = page.next;
  } while (after !== undefined);
}

/** Every item of a small key range. */
export async function queryAll<T>(
  range: KeyRange,
  options: Omit<QueryOptions, "after" | "limit"> = {},
): Promise<T[]> {
  const found: T[] = [];
  for await (const { items } of queryPages<T>(range, { ...options, limit: 1000 }))
    found.push(...items);
  return found;
}

/**
 * The number of items that match the filter. Reads the whole key range, 1 MB or `limit` items per
 * call, but transfers no items. The local engine loads all items of the range for a call without a
 * limit.
 */
export async function count(
  range: KeyRange,
  { filter, limit, consistent = false }: Pick<QueryOptions, "filter" | "limit" | "consistent"> = {},
): Promise<number> {
  const { condition, names, values } = keyExpressions(range, { filter });
  const countingClient = consistent ? documentClient() : readingClient();
  let total = 0;
  let start: Item | undefined;
  do {
    const { Count, LastEvaluatedKey, ConsumedCapacity } = await countingClient.send(
      new QueryCommand({
        TableName: config.table,
        IndexName: range.index,
        Select: "COUNT",
        Limit: limit,
        ConsistentRead: consistent,
        KeyConditionExpression: condition.key,
        FilterExpression: condition.filter,
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: values,
        ExclusiveStartKey: start,
        ...returnCapacity,
      }),
    );
    recordCapacity("Query", ConsumedCapacity, "read");
    total += Count ?? 0;
    start = LastEvaluatedKey;
  } while (start);
  return total;
}

function keyExpressions(
  range: KeyRange,
  {
    filter,
    below,
    above,
    between,
    attributes,
  }: Pick<QueryOptions, "filter" | "below" | "above" | "between" | "attributes">,
) {
  const expression = createExpressionBuilder();
  const { name, value } = expression.builder;
  const sortKeyName = range.index ? `${range.index}sk` : "sk";
  const parts = [`${name(range.index ? `${range.index}pk` : "pk")} = ${value(range.pk)}`];
  if (range.prefix !== undefined)
    parts.push(`begins_with(${name(sortKeyName)}, ${value(range.prefix)})`);
  if (below !== undefined) parts.push(`${name(sortKeyName)} < ${value(below)}`);
  if (above !== undefined) parts.push(`${name(sortKeyName)} > ${value(above)}`);
  if (between)
    parts.push(`${name(sortKeyName)} BETWEEN ${value(between[0])} AND ${value(between[1])}`);
  const condition = {
    key: parts.join(" AND "),
    filter: filter?.(expression.builder),
    projection: attributes?.map(name).join(", "),
  };
  return { sortKeyName, condition, names: expression.names, values: expression.values };
}

// A position in an index also needs the key of the item in the table.
const cursorFrom = (range: KeyRange, last: Item, sortKeyName: string) =>
  range.index ? JSON.stringify([last[sortKeyName], last.pk, last.sk]) : String(last[sortKeyName]);

function toStartKey(range: KeyRange, after: string): Item {
  if (!range.index) return { pk: range.pk, sk: after };
  const [sort, pk, sk] = JSON.parse(after) as [string, string, string];
  return { [`${range.index}pk`]: range.pk, [`${range.index}sk`]: sort, pk, sk };
}

interface ReadOptions {
  consistent?: boolean;
}

const readEventually = joinCalls((keys: Key[]) => getOneOrMany(keys, { consistent: false }));
const readConsistently = joinCalls((keys: Key[]) => getOneOrMany(keys, { consistent: true }));

const getOneOrMany = async (keys: Key[], options: ReadOptions): Promise<unknown[]> =>
  keys.length === 1 ? [await get(keys[0]!, options)] : getMany(keys, options);

/**
 * Reads in one BatchGetItem with the other keys that the request reads together in the same turn,
 * eventually consistent by default. The units are those of single reads, but one call takes less
 * time and CPU.
 */
export const getManyTogether = <T>(
  keys: Key[],
  { consistent = false }: ReadOptions = {},
): Promise<(T | undefined)[]> =>
  (consistent ? readConsistently : readEventually)(keys) as Promise<(T | undefined)[]>;

/** Like `getManyTogether`, for one item. */
export const getTogether = async <T>(key: Key, options?: ReadOptions): Promise<T | undefined> =>
  (await getManyTogether<T>([key], options))[0];
