// A DynamoDB table in memory: the operations that shared/adapters/dynamodb/ calls, in the wire
// format.
import {
  applyUpdate,
  holds,
  isEqual,
  type Placeholders,
  type WireItem,
  type WireValue,
} from "./expressions.ts";
import { maxItemBytes, readUnits, sizeOfItem, writeUnits } from "./request-units.ts";

/** A reason of DynamoDB to refuse a call. */
export class TableError extends Error {
  readonly type: string;
  readonly reasons: { Code: string }[] | undefined;
  constructor(type: string, message: string, reasons?: { Code: string }[]) {
    super(message);
    this.type = type;
    this.reasons = reasons;
  }
}

/** The table as it was some seconds ago, and what has changed since. */
interface History {
  now(): number;
  replica: MemoryTable;
  changes: { at: number; key: ItemKey; item: WireItem | undefined }[];
}

interface ItemKey {
  pk: { S: string };
  sk: { S: string };
}

interface WriteInput {
  Key: ItemKey;
  Item: WireItem;
  UpdateExpression: string;
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, WireValue>;
  ReturnValues?: string;
}
type WriteKind = "Put" | "Update" | "Delete" | "ConditionCheck";

interface QueryInput {
  IndexName?: "due" | "new";
  KeyConditionExpression: string;
  FilterExpression?: string;
  ProjectionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, WireValue>;
  ExclusiveStartKey?: WireItem;
  ScanIndexForward?: boolean;
  Limit?: number;
  Select?: string;
  ConsistentRead?: boolean;
  ReturnConsumedCapacity?: string;
}

/** An item that is stored, or removed if it is undefined. */
interface Change {
  key: ItemKey;
  item: WireItem | undefined;
}

interface Statement {
  Statement: string;
  Parameters: WireValue[];
}

/** Items in the order of their sort keys. */
interface Partition {
  items: Map<string, WireItem>;
  sortKeys: string[];
}

export interface MemoryTable {
  /** Makes one call, such as `GetItem`. Throws `TableError`. */
  call(operation: string, input: object): object;
  /** Answers a read as the table was at that time, in milliseconds since 1970, or a little later. */
  readStale(operation: string, input: object, at: number): object;
  /** From now on, the table notes when each item changed, so that `readStale` can answer. */
  keepHistory(now: () => number): void;
  /** When the first entry of the due index is due, in milliseconds. Infinite without one. */
  firstDueTime(): number;
  /** The keys of all entries of the due index, in any order. */
  dueEntries(): WireItem[];
  /** Whether the due index has entries in this partition. */
  hasDueEntries(pk: unknown): boolean;
  /** Calls the listener with the due time of each entry that is stored from now on. */
  onDueEntry(listener: (at: number) => void): void;
  /** Stores an item, or removes it. */
  store(key: ItemKey, item: WireItem | undefined): void;
  /** All items, in any order. */
  items(): WireItem[];
  /** A copy that changes independently. */
  copy(): MemoryTable;
}

/** A call of the table, and its answer. */
export interface TableCall {
  operation: string;
  input: object;
  /** Undefined if the call was refused. */
  output?: object;
  /** The type of the `TableError`, with the codes of its reasons. */
  refusal?: string[];
}

/** A table that tells `record` about each call. */
export const recordCalls = (
  table: MemoryTable,
  record: (call: TableCall) => void,
): MemoryTable => ({
  ...table,
  call(operation, input) {
    try {
      const output = table.call(operation, input);
      record({ operation, input, output });
      return output;
    } catch (error) {
      if (error instanceof TableError)
        record({ operation, input, refusal: describeRefusal(error.type, error.reasons) });
      throw error;
    }
  },
  copy: () => recordCalls(table.copy(), record),
});

export const describeRefusal = (type: string, reasons: { Code?: string }[] = []): string[] => [
  type,
  ...reasons.map(({ Code = "None" }) => Code),
];

interface TableOptions {
  /** Counting takes a twentieth of the CPU time of a simulation, which needs no units. */
  countsUnits?: boolean;
}

const indexNames = ["due", "new"] as const;
type IndexName = (typeof indexNames)[number];

export function createMemoryTable(
  from: Iterable<WireItem> = [],
  { countsUnits = true }: TableOptions = {},
): MemoryTable {
  /** Request units of the current call. */
  let units = 0;
  const addUnits = (count: () => number) => {
    if (countsUnits) units += count();
  };
  const partitions = new Map<string, Partition>();
  const indexes = { due: new Map<string, Partition>(), new: new Map<string, Partition>() };
  const finishedTokens = new Set<string>();
  let tellDueTime: (at: number) => void = () => {};
  let history: History | undefined;

  const read = ({ pk, sk }: ItemKey): WireItem | undefined => partitions.get(pk.S)?.items.get(sk.S);

  function store({ pk, sk }: ItemKey, item: WireItem | undefined): void {
    const previous = read({ pk, sk });
    for (const index of indexNames) {
      const from = positionOf(previous, index);
      const to = positionOf(item, index);
      if (from && (from.pk !== to?.pk || from.sort !== to.sort))
        setItem(indexes[index], from, undefined);
      if (to) setItem(indexes[index], to, item);
      if (to && index === "due") tellDueTime(dueTimeOf(to.sort));
    }
    setItem(partitions, { pk: pk.S, sort: sk.S }, item);
    history?.changes.push({ at: history.now(), key: { pk, sk }, item });
  }

  function query({ IndexName, Limit = 10_000, ...input }: QueryInput) {
    const placeholders = placeholdersOf(input);
    const [, value = "", range] = keyCondition.exec(input.KeyConditionExpression) ?? [];
    const pk = String(placeholders.values[value]!.S);
    const partition = (IndexName ? indexes[IndexName] : partitions).get(pk);
    const page = partition
      ? readPage(partition, {
          start: input.ExclusiveStartKey && sortKeyOf(input.ExclusiveStartKey, IndexName),
          isForward: input.ScanIndexForward ?? true,
          limit: Limit,
          isInRange: (item) => holds(range, item, placeholders),
        })
      : [];
    const found = page.filter((item) => holds(input.FilterExpression, item, placeholders));
    const last = page.length === Limit ? page.at(-1) : undefined;
    const fields = IndexName ? ["pk", "sk", `${IndexName}pk`, `${IndexName}sk`] : ["pk", "sk"];
    addUnits(() => {
      const sizes = page.map((item) => sizeOfItem(IndexName ? pick(item, fields) : item));
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      return readUnits(bytes, input.ConsistentRead);
    });
    return {
      Count: found.length,
      ...(input.Select !== "COUNT" && {
        Items: found.map((item) =>
          IndexName ? pick(item, fields) : project(item, input, placeholders),
        ),
      }),
      ...(last && { LastEvaluatedKey: pick(last, fields) }),
    };
  }

  function check(kind: WriteKind, input: WriteInput): boolean {
    const key = kind === "Put" ? (input.Item as unknown as ItemKey) : input.Key;
    return holds(input.ConditionExpression, read(key), placeholdersOf(input));
  }

  /** The item after the write. */
  function resultOf(kind: WriteKind, input: WriteInput): Change {
    const key = kind === "Put" ? (input.Item as unknown as ItemKey) : input.Key;
    if (kind === "ConditionCheck") return { key, item: read(key) };
    if (kind === "Delete") return { key, item: undefined };
    const { pk, sk } = key;
    const item =
      kind === "Put"
        ? input.Item
        : applyUpdate(
            input.UpdateExpression,
            read(key) ?? ({ pk, sk } as unknown as WireItem),
            placeholdersOf(input),
          );
    return { key, item };
  }

  /** Stores the item and counts the units. */
  function change({ key, item }: Change, unitsPerWrite = 1): void {
    const before = read(key);
    addUnits(() => unitsPerWrite * writeUnits(before, item) + indexUnits(before, item));
    if (item !== before) store(key, item);
  }

  function writeOne(kind: WriteKind, input: WriteInput): object {
    if (!check(kind, input))
      throw new TableError("ConditionalCheckFailedException", "The conditional request failed");
    const changed = resultOf(kind, input);
    if (sizeOfItem(changed.item) > maxItemBytes)
      throw new TableError(
        "ValidationException",
        "Item size has exceeded the maximum allowed size",
      );
    change(changed);
    const { item } = changed;
    return input.ReturnValues === "ALL_NEW" ? { Attributes: item } : {};
  }

  function transact({
    TransactItems,
    ClientRequestToken: token = "",
  }: {
    TransactItems: Record<WriteKind, WriteInput>[];
    ClientRequestToken?: string;
  }): object {
    // A repeated call of a finished transaction changes nothing.
    if (finishedTokens.has(token)) return {};
    const writes = TransactItems.map((one) => Object.entries(one)[0] as [WriteKind, WriteInput]);
    const keys = writes.map(([kind, { Key, Item }]) => {
      const { pk, sk } = kind === "Put" ? (Item as unknown as ItemKey) : Key;
      return `${pk.S}\n${sk.S}`;
    });
    if (writes.length > 100 || new Set(keys).size < keys.length)
      throw new TableError(
        "ValidationException",
        "Transaction request cannot include multiple operations on one item, nor over 100 items",
      );
    const passed = writes.map(([kind, input]) => check(kind, input));
    if (passed.includes(false))
      throw new TableError(
        "TransactionCanceledException",
        "Transaction cancelled",
        passed.map((ok) => ({ Code: ok ? "None" : "ConditionalCheckFailed" })),
      );
    const changes = writes.map(([kind, input]) => resultOf(kind, input));
    const fits = changes.map(({ item }) => sizeOfItem(item) <= maxItemBytes);
    if (fits.includes(false))
      throw new TableError(
        "TransactionCanceledException",
        "Item size has exceeded the maximum allowed size",
        fits.map((ok) => ({ Code: ok ? "None" : "ValidationError" })),
      );
    for (const one of changes) change(one, 2);
    finishedTokens.add(token);
    return {};
  }

  function executeStatement({ Statement: text, Parameters: given }: Statement): object {
    if (text.startsWith("INSERT")) {
      const names = [...text.matchAll(/'((?:[^']|'')*)': \?/g)].map(([, name]) =>
        name!.replaceAll("''", "'"),
      );
      const item = Object.fromEntries(names.map((name, i) => [name, given[i]!]));
      const key = item as unknown as ItemKey;
      if (read(key)) return { Error: { Code: "DuplicateItem", Message: "Duplicate primary key" } };
      if (sizeOfItem(item) > maxItemBytes) return tooLarge;
      change({ key, item });
      return {};
    }
    const [, changes = "", conditions = ""] = /^UPDATE .*? SET (.*) WHERE (.*)$/s.exec(text) ?? [];
    const setNames = namesIn(changes, /"([^"]+)"=\?/g);
    // After a keyword each, or one keyword and commas, as the embedded engine needs it.
    const removed = namesIn(changes, /(?<=REMOVE (?:"[^"]+", )*)"([^"]+)"/g);
    const tested = namesIn(conditions, /"([^"]+)"=\?/g);
    const missing = namesIn(conditions, /"([^"]+)" IS MISSING/g);
    const [pk, sk, ...expected] = given.slice(setNames.length);
    const key = { pk, sk } as unknown as ItemKey;
    const stored = read(key);
    const isExpected =
      tested.every((name, i) => isEqual(stored?.[name], expected[i])) &&
      !missing.some((name) => stored?.[name]);
    if (!stored || !isExpected)
      return { Error: { Code: "ConditionalCheckFailed", Message: "The condition failed" } };
    const changed = {
      ...stored,
      ...Object.fromEntries(setNames.map((name, i) => [name, given[i]!])),
    };
    for (const name of removed) delete changed[name];
    if (sizeOfItem(changed) > maxItemBytes) return tooLarge;
    change({ key, item: changed });
    return {};
  }

  const operations: Record<string, (input: never) => object> = {
    GetItem: ({ Key, ConsistentRead }: { Key: ItemKey; ConsistentRead?: boolean }) => {
      const item = read(Key);
      addUnits(() => readUnits(sizeOfItem(item), ConsistentRead));
      return item ? { Item: item } : {};
    },
    PutItem: (input: WriteInput) => writeOne("Put", input),
    UpdateItem: (input: WriteInput) => writeOne("Update", input),
    DeleteItem: (input: WriteInput) => writeOne("Delete", input),
    Query: query,
    BatchGetItem: ({ RequestItems }: BatchGetInput) => ({
      Responses: Object.fromEntries(
        Object.entries(RequestItems).map(([name, { Keys, ConsistentRead }]) => {
          const items = Keys.map(read);
          for (const item of items) addUnits(() => readUnits(sizeOfItem(item), ConsistentRead));
          return [name, items.filter((item) => item !== undefined)];
        }),
      ),
    }),
    BatchWriteItem: ({ RequestItems }: BatchWriteInput) => {
      for (const { PutRequest, DeleteRequest } of Object.values(RequestItems).flat())
        if (PutRequest)
          change({ key: PutRequest.Item as unknown as ItemKey, item: PutRequest.Item });
        else change({ key: DeleteRequest!.Key, item: undefined });
      return {};
    },
    BatchExecuteStatement: ({ Statements }: { Statements: Statement[] }) => ({
      Responses: Statements.map(executeStatement),
    }),
    TransactWriteItems: transact,
  };

  const allItems = (): WireItem[] =>
    [...partitions.values()].flatMap(({ items }) => [...items.values()]);

  for (const item of from) store(item as unknown as ItemKey, item);
  return {
    call(operation, input) {
      units = 0;
      const answer = operations[operation]!(input as never);
      if (!("ReturnConsumedCapacity" in input)) return answer;
      return { ...answer, ConsumedCapacity: { CapacityUnits: units } };
    },
    store,
    keepHistory(now) {
      history = { now, replica: createMemoryTable(allItems(), { countsUnits }), changes: [] };
    },
    readStale(operation, input, at) {
      const { replica, changes } = history!;
      const count = changes.findIndex((change) => change.at > at);
      for (const { key, item } of changes.splice(0, count < 0 ? changes.length : count))
        replica.store(key, item);
      return replica.call(operation, input);
    },
    firstDueTime: () =>
      Math.min(...[...indexes.due.values()].map(({ sortKeys }) => dueTimeOf(sortKeys[0]!))),
    dueEntries: () =>
      [...indexes.due.values()].flatMap(({ items }) =>
        [...items.values()].map((item) => pick(item, ["pk", "sk", "duepk", "duesk"])),
      ),
    hasDueEntries: (pk) => indexes.due.has(pk as string),
    onDueEntry(listener) {
      tellDueTime = listener;
    },
    items: allItems,
    copy: () => createMemoryTable(allItems(), { countsUnits }),
  };
}

/** Makes a batch call of which the table leaves every second item for the next call. */
export function callWithRest(table: MemoryTable, operation: string, input: object): object {
  const isProcessed = (_: unknown, i: number) => i % 2 === 1;
  if (operation === "BatchExecuteStatement") {
    const { Statements } = input as { Statements: Statement[] };
    return {
      Responses: Statements.map((statement, i) => {
        if (!isProcessed(statement, i)) return { Error: { Code: "ThrottlingError" } };
        const { Responses } = table.call(operation, { Statements: [statement] }) as {
          Responses: object[];
        };
        return Responses[0];
      }),
    };
  }
  if (operation === "BatchGetItem") {
    const [[name, { Keys }]] = Object.entries((input as BatchGetInput).RequestItems) as [
      [string, { Keys: ItemKey[] }],
    ];
    const found = table.call(operation, {
      RequestItems: { [name]: { Keys: Keys.filter(isProcessed) } },
    });
    const rest = Keys.filter((one, i) => !isProcessed(one, i));
    return { ...found, UnprocessedKeys: { [name]: { Keys: rest } } };
  }
  const [[name, writes = []] = ["", []]] = Object.entries((input as BatchWriteInput).RequestItems);
  table.call(operation, { RequestItems: { [name]: writes.filter(isProcessed) } });
  return { UnprocessedItems: { [name]: writes.filter((one, i) => !isProcessed(one, i)) } };
}

const tooLarge = {
  Error: { Code: "ValidationError", Message: "Item size has exceeded the maximum allowed size" },
};

const namesIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name]) => name!);

interface BatchGetInput {
  RequestItems: Record<string, { Keys: ItemKey[]; ConsistentRead?: boolean }>;
}

interface BatchWriteInput {
  RequestItems: Record<
    string,
    { PutRequest?: { Item: WireItem }; DeleteRequest?: { Key: ItemKey } }[]
  >;
}

const placeholdersOf = ({
  ExpressionAttributeNames: names = {},
  ExpressionAttributeValues: values = {},
}: Pick<WriteInput, "ExpressionAttributeNames" | "ExpressionAttributeValues">): Placeholders => ({
  names,
  values,
});

const keyCondition = /^#\w+ = (:\w+)(?: AND (.+))?$/;

/** The sort key of an item in its partition. In an index, several items can have one sort key. */
const sortKeyOf = (item: WireItem, index: IndexName | undefined): string =>
  index ? `${item[`${index}sk`]!.S}\n${item.pk!.S}\n${item.sk!.S}` : String(item.sk!.S);

/** Milliseconds since 1970. A sort key of the due index starts with a time in ISO 8601. */
const dueTimeOf = (sortKey: string): number => Date.parse(sortKey.slice(0, isoLength));
const isoLength = "2027-01-04T08:00:00.000Z".length;

interface Position {
  pk: string;
  sort: string;
}

function positionOf(item: WireItem | undefined, index: IndexName): Position | undefined {
  const pk = item?.[`${index}pk`]?.S as string | undefined;
  if (!item || pk === undefined || !item[`${index}sk`]) return undefined;
  return { pk, sort: sortKeyOf(item, index) };
}

/** A changed entry is removed and stored again. */
function indexUnits(before: WireItem | undefined, after: WireItem | undefined): number {
  let units = 0;
  for (const index of indexNames) {
    const [from, to] = [positionOf(before, index), positionOf(after, index)];
    if (from?.pk === to?.pk && from?.sort === to?.sort) continue;
    units += Number(from !== undefined) + Number(to !== undefined);
  }
  return units;
}

/** Stores an item at a position, or removes the item there. */
function setItem(
  all: Map<string, Partition>,
  { pk, sort }: Position,
  item: WireItem | undefined,
): void {
  const partition = all.get(pk) ?? { items: new Map<string, WireItem>(), sortKeys: [] };
  const { items, sortKeys } = partition;
  if (item) {
    if (!items.has(sort)) sortKeys.splice(countUpTo(sortKeys, sort), 0, sort);
    items.set(sort, item);
    all.set(pk, partition);
  } else if (items.delete(sort)) {
    sortKeys.splice(countUpTo(sortKeys, sort) - 1, 1);
    if (!items.size) all.delete(pk);
  }
}

/** The number of sort keys that are not behind the given one. */
function countUpTo(sortKeys: string[], sort: string): number {
  let [low, high] = [0, sortKeys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sortKeys[middle]! <= sort) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface PageRequest {
  /** The page starts behind this sort key. */
  start: string | undefined;
  isForward: boolean;
  limit: number;
  isInRange(item: WireItem): boolean;
}

function readPage(
  { items, sortKeys }: Partition,
  { start, isForward, limit, isInRange }: PageRequest,
): WireItem[] {
  const page: WireItem[] = [];
  const step = isForward ? 1 : -1;
  let next = isForward ? 0 : sortKeys.length - 1;
  if (start !== undefined) {
    const passed = countUpTo(sortKeys, start);
    const isThere = sortKeys[passed - 1] === start;
    if (isForward) next = passed;
    else next = isThere ? passed - 2 : passed - 1;
  }
  for (; next >= 0 && next < sortKeys.length && page.length < limit; next += step) {
    const item = items.get(sortKeys[next]!)!;
    if (isInRange(item)) page.push(item);
  }
  return page;
}

const pick = (item: WireItem, names: string[]): WireItem =>
  Object.fromEntries(names.flatMap((name) => (item[name] ? [[name, item[name]]] : [])));

const project = (
  item: WireItem,
  { ProjectionExpression }: QueryInput,
  { names }: Placeholders,
): WireItem =>
  ProjectionExpression === undefined
    ? item
    : pick(
        item,
        ProjectionExpression.split(", ").map((name) => names[name] ?? name),
      );
