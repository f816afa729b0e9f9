// The only file that speaks DynamoDB. Questions: get, getMany, query, count. Writes not yet made: put, update, remove, check. Making them: write, claim, writeMany, insertMany.
import { setTimeout as pause } from "node:timers/promises";
import {
  ConditionalCheckFailedException,
  type ConsumedCapacity,
  DynamoDBClient,
  ReturnConsumedCapacity,
  TransactionCanceledException,
  TransactionConflictException,
} from "@aws-sdk/client-dynamodb";
import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import type { Binder, Condition } from "../conditions.ts";
import { exists, isNew } from "../conditions.ts";
import { config } from "../config.ts";
import type { Problem } from "../errors.ts";
import { wholeCharacters } from "../json.ts";
import type { Address, Range } from "../keys.ts";
import { chunked, inParallel } from "../parallel.ts";
import { spent } from "./meter.ts";

let client: DynamoDBDocumentClient | undefined;
const dynamo = () => {
  client ??= opened();
  return client;
};

function opened() {
  const made = DynamoDBDocumentClient.from(new DynamoDBClient({}), { marshallOptions: { removeUndefinedValues: true } });
  // It copies every call for a log that nobody keeps: a tenth of the SDK's time.
  made.middlewareStack.remove("loggerMiddleware");
  // DynamoDB reads no call that holds half of a character, as is left where a text was cut to a length.
  made.middlewareStack.add(
    (next) => (call) => {
      const request = call.request as { body: Uint8Array<ArrayBuffer> };
      const { buffer, byteOffset, byteLength } = request.body;
      const bytes = Buffer.from(buffer, byteOffset, byteLength);
      if (bytes.includes("\\ud")) request.body = Buffer.from(wholeCharacters(bytes.toString("utf8")));
      return next(call);
    },
    { step: "build", priority: "high" },
  );
  return made;
}

type Item = Record<string, unknown>;
type TransactItem = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];

/** A write not yet made. `otherwise` is thrown when its condition does not hold. */
export interface Write {
  item: TransactItem;
  otherwise?: Problem | undefined;
}

const capacity = { ReturnConsumedCapacity: ReturnConsumedCapacity.TOTAL };

function paid(operation: string, used: ConsumedCapacity | ConsumedCapacity[] | undefined, kind: "read" | "write") {
  const units = [used ?? []].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
  spent(operation, kind === "read" ? units : 0, kind === "write" ? units : 0);
}

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

/** A condition of a write did not hold and the write named no Problem for it. `index` is its place among the writes. */
export class Unmet extends Error {
  readonly index: number;
  constructor(index: number) {
    super(`Condition ${index} of the write did not hold`);
    this.index = index;
  }
}

/** All of it or none of it: one item plainly, several in a transaction (twice the units, 100 items at most). */
export async function write(...writes: Write[]): Promise<void> {
  if (writes.length === 1) await writeOne(writes[0]!);
  else if (writes.length) await transact(writes);
}

/** `write` that tells whether its conditions held, for writes that name no Problem. */
export async function claim(...writes: Write[]): Promise<boolean> {
  try {
    await write(...writes);
    return true;
  } catch (error) {
    if (error instanceof Unmet) return false;
    throw error;
  }
}

/** One update that answers with the item as it then is; undefined when its condition did not hold. */
export async function updateReturning<T>({ item }: Write): Promise<T | undefined> {
  try {
    const command = new UpdateCommand({ ...item.Update!, ReturnValues: "ALL_NEW", ...capacity });
    const { Attributes, ConsumedCapacity } = await undisturbed("UpdateItem", () => dynamo().send(command));
    paid("UpdateItem", ConsumedCapacity, "write");
    return Attributes as T;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}

// A transaction of one is charged double, so a lone write goes in its own command.
async function writeOne({ item, otherwise }: Write) {
  try {
    const operation = item.Put ? "PutItem" : item.Update ? "UpdateItem" : "DeleteItem";
    const { ConsumedCapacity } = await undisturbed<{ ConsumedCapacity?: ConsumedCapacity | undefined }>(operation, () => {
      if (item.Put) return dynamo().send(new PutCommand({ ...item.Put, ...capacity }));
      if (item.Update) return dynamo().send(new UpdateCommand({ ...item.Update, ...capacity }));
      return dynamo().send(new DeleteCommand({ ...item.Delete!, ...capacity }));
    });
    paid(operation, ConsumedCapacity, "write");
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) throw otherwise ?? new Unmet(0);
    throw error;
  }
}

/** A plain write is refused while a transaction is about to write the same item: then it is made again. */
async function undisturbed<T>(operation: string, call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof TransactionConflictException) || attempt >= 8) throw error;
      await backOff(attempt, operation);
    }
  }
}

async function transact(writes: Write[]) {
  for (let attempt = 1; ; attempt++) {
    try {
      const { ConsumedCapacity } = await dynamo().send(
        new TransactWriteCommand({ TransactItems: writes.map(({ item }) => item), ...capacity }),
      );
      return paid("TransactWriteItems", ConsumedCapacity, "write");
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = error.CancellationReasons?.map(({ Code }) => Code) ?? [];
      const failed = reasons.indexOf("ConditionalCheckFailed");
      if (failed >= 0) throw writes[failed]?.otherwise ?? new Unmet(failed);
      if (!reasons.some((reason) => passing.has(reason ?? "")) || attempt >= 8) throw error;
      await backOff(attempt, "TransactWriteItems");
    }
  }
}

/** Many independent puts and removes without conditions, 25 to a call, side by side. Safe to repeat. */
export async function writeMany(writes: Write[]): Promise<void> {
  await inParallel(4, chunked(writes, 25), writeBatch);
}

async function writeBatch(writes: Write[]) {
  let left = writes.map(({ item }) =>
    item.Put ? { PutRequest: { Item: item.Put.Item } } : { DeleteRequest: { Key: item.Delete!.Key } },
  ) as Item[];
  for (let attempt = 0; left.length; attempt++) {
    if (attempt) await backOff(attempt, "BatchWriteItem");
    const { UnprocessedItems, ConsumedCapacity } = await dynamo().send(
      new BatchWriteCommand({ RequestItems: { [config.table]: left as never }, ...capacity }),
    );
    paid("BatchWriteItem", ConsumedCapacity, "write");
    left = (UnprocessedItems?.[config.table] ?? []) as Item[];
  }
}

/** Items put only where nothing is yet, 25 to a call, side by side. Tells for each whether it is new. */
export async function insertMany(items: { address: Address; item: object }[]): Promise<boolean[]> {
  const outcomes = await inParallel(4, chunked(items, 25), insertBatch);
  return outcomes.flat();
}

const insertBatch = (items: { address: Address; item: object }[]): Promise<boolean[]> =>
  execute(
    items.map(({ address, item }) => insertion({ ...item, ...keyOf(address) })),
    "DuplicateItem",
  );

// PartiQL wants the item's shape spelled out; only values may be parameters.
function insertion(item: object) {
  const attributes = Object.entries(item).filter(([, value]) => value !== undefined);
  const shape = attributes.map(([name]) => `'${name.replaceAll("'", "''")}': ?`).join(", ");
  return { Statement: `INSERT INTO "${config.table}" VALUE {${shape}}`, Parameters: attributes.map(([, value]) => value) };
}

// The call answers 200 and hides an error in each statement: every one of them is looked at.
async function execute(statements: { Statement: string; Parameters: unknown[] }[], unmet: string): Promise<boolean[]> {
  const outcomes: (boolean | undefined)[] = statements.map(() => undefined);
  for (let attempt = 0; outcomes.includes(undefined); attempt++) {
    if (attempt) await backOff(attempt, "BatchExecuteStatement");
    const open = outcomes.flatMap((outcome, i) => (outcome === undefined ? [i] : []));
    const { Responses = [], ConsumedCapacity } = await dynamo().send(
      new BatchExecuteStatementCommand({ Statements: open.map((i) => statements[i]!), ...capacity }),
    );
    paid("BatchExecuteStatement", ConsumedCapacity, "write");
    for (const [n, i] of open.entries()) outcomes[i] = outcomeOf(Responses[n]?.Error, unmet);
  }
  return outcomes.map(Boolean);
}

export interface ManyUpdate {
  address: Address;
  set: Item;
  /** It is made only where this attribute still has this value. */
  while: [attribute: string, value: string | number];
}

/** Updates of items that exist, each on a condition of its own, 25 to a call, side by side. Tells for each whether it was made. */
export async function updateMany(updates: ManyUpdate[]): Promise<boolean[]> {
  const outcomes = await inParallel(4, chunked(updates, 25), (some) => execute(some.map(updateStatement), "ConditionalCheckFailed"));
  return outcomes.flat();
}

function updateStatement({ address, set, while: [attribute, value] }: ManyUpdate) {
  const sets = Object.entries(set).filter(([, to]) => to !== undefined);
  return {
    Statement: `UPDATE "${config.table}" SET ${sets.map(([name]) => `"${name}"=?`).join(", ")} WHERE pk=? AND sk=? AND "${attribute}"=?`,
    Parameters: [...sets.map(([, to]) => to), address.pk, address.sk, value],
  };
}

const passing = new Set([
  "ThrottlingError",
  "ProvisionedThroughputExceeded",
  "RequestLimitExceeded",
  "InternalServerError",
  "TransactionConflict",
]);

function outcomeOf(error: { Code?: string | undefined; Message?: string | undefined } | undefined, unmet: string): boolean | undefined {
  if (!error) return true;
  if (error.Code === unmet) return false;
  if (passing.has(error.Code ?? "")) return undefined;
  throw new Error(`A statement failed: ${error.Code} ${error.Message}`);
}

function binder() {
  const names: Record<string, string> = {};
  const values: Item = {};
  const known = new Map<string, string>();
  const bind: Binder = {
    name(attribute) {
      const placeholder = known.get(attribute) ?? `#n${known.size}`;
      known.set(attribute, placeholder);
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
  return { bind, names, values, placeholders };
}

async function backOff(attempt: number, operation: string) {
  if (attempt > 10) throw new Error(`${operation}: DynamoDB kept refusing a part of the call`);
  await pause(Math.min(20 * 2 ** attempt, 2000) * (0.5 + crypto.getRandomValues(new Uint8Array(1))[0]! / 512));
}

// Whoever has read an item may name it as the address: nothing else of it counts.
const keyOf = ({ pk, sk }: Address): Address => ({ pk, sk });

const nameOf = ({ pk, sk }: Address) => `${pk}\n${sk}`;
