// A DynamoDB table in memory: the operations that shared/adapters/dynamodb/ calls, in the wire
// format.
import {
  applyUpdate,
  holds,
  isEqual,
  orderOf,
  type Placeholders,
  type WireItem,
  type WireValue,
} from "./expressions.ts";

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
}

interface Statement {
  Statement: string;
  Parameters: WireValue[];
}

type Sorted = { sort: string; item: WireItem }[];

export interface MemoryTable {
  /** Makes one call, such as `GetItem`. Throws `TableError`. */
  call(operation: string, input: object): object;
  /** The partition keys of the due index with their first sort key. */
  dueEntries(): { pk: string; first: string }[];
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

const indexNames = ["due", "new"] as const;

export function createMemoryTable(from: Iterable<WireItem> = []): MemoryTable {
  const items = new Map<string, Map<string, WireItem>>();
  const indexes = { due: new Map<string, Set<WireItem>>(), new: new Map<string, Set<WireItem>>() };
  const sorted = new Map<string, Sorted>();
  const finishedTokens = new Set<string>();

  const read = ({ pk, sk }: ItemKey): WireItem | undefined => items.get(pk.S)?.get(sk.S);

  function store({ pk, sk }: ItemKey, item: WireItem | undefined): void {
    const partition = items.get(pk.S) ?? new Map<string, WireItem>();
    items.set(pk.S, partition);
    const previous = partition.get(sk.S);
    if (!item || !previous) sorted.delete(pk.S);
    if (previous) for (const index of indexNames) unindex(index, previous);
    if (!item) return void partition.delete(sk.S);
    partition.set(sk.S, item);
    const position = sorted.get(pk.S)?.find(({ sort }) => sort === sk.S);
    if (position) position.item = item;
    for (const index of indexNames) {
      const at = item[`${index}pk`]?.S as string | undefined;
      if (at === undefined || !item[`${index}sk`]) continue;
      const entries = indexes[index].get(at) ?? new Set();
      indexes[index].set(at, entries.add(item));
    }
  }

  function unindex(index: "due" | "new", item: WireItem): void {
    const at = String(item[`${index}pk`]?.S);
    const entries = indexes[index].get(at);
    if (entries?.delete(item) && !entries.size) indexes[index].delete(at);
  }

  function partitionOf(index: "due" | "new" | undefined, pk: string): Sorted {
    if (index)
      return [...(indexes[index].get(pk) ?? [])]
        .map((item) => ({ sort: String(item[`${index}sk`]!.S), item }))
        .toSorted(
          (a, b) =>
            orderOf(a.sort, b.sort) ||
            orderOf(`${a.item.pk!.S}\n${a.item.sk!.S}`, `${b.item.pk!.S}\n${b.item.sk!.S}`),
        );
    const known = sorted.get(pk);
    if (known) return known;
    const entries = [...(items.get(pk) ?? [])]
      .map(([sort, item]) => ({ sort, item }))
      .toSorted((a, b) => orderOf(a.sort, b.sort));
    sorted.set(pk, entries);
    return entries;
  }

  function query({ IndexName, Limit = 10_000, ...input }: QueryInput) {
    const placeholders = placeholdersOf(input);
    const [, , value = "", rest] =
      /^(#\w+) = (:\w+)(?: AND (.+))?$/.exec(input.KeyConditionExpression) ?? [];
    const inRange = partitionOf(IndexName, String(placeholders.values[value]!.S)).filter(
      ({ item }) => rest === undefined || holds(rest, item, placeholders),
    );
    if (input.ScanIndexForward === false) inRange.reverse();
    const start = input.ExclusiveStartKey;
    const first = start ? startAfter(inRange, start, input, IndexName) : 0;
    const page = inRange.slice(first, first + Limit);
    const found = page.filter(({ item }) => holds(input.FilterExpression, item, placeholders));
    const last = page.length === Limit ? page.at(-1)?.item : undefined;
    const fields = IndexName ? ["pk", "sk", `${IndexName}pk`, `${IndexName}sk`] : ["pk", "sk"];
    return {
      Count: found.length,
      ...(input.Select !== "COUNT" && {
        Items: found.map(({ item }) =>
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

  function make(kind: WriteKind, input: WriteInput): WireItem | undefined {
    if (kind === "ConditionCheck") return undefined;
    const key = kind === "Put" ? (input.Item as unknown as ItemKey) : input.Key;
    if (kind === "Delete") return void store(key, undefined);
    const { pk, sk } = key;
    const changed =
      kind === "Put"
        ? input.Item
        : applyUpdate(
            input.UpdateExpression,
            read(key) ?? ({ pk, sk } as unknown as WireItem),
            placeholdersOf(input),
          );
    store(key, changed);
    return changed;
  }

  function writeOne(kind: WriteKind, input: WriteInput): object {
    if (!check(kind, input))
      throw new TableError("ConditionalCheckFailedException", "The conditional request failed");
    const item = make(kind, input);
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
    for (const [kind, input] of writes) make(kind, input);
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
      store(key, item);
      return {};
    }
    const [, changes = "", conditions = ""] = /^UPDATE .*? SET (.*) WHERE (.*)$/s.exec(text) ?? [];
    const setNames = namesIn(changes, /"([^"]+)"=\?/g);
    const removed = namesIn(changes, /REMOVE "([^"]+)"/g);
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
    store(key, changed);
    return {};
  }

  const operations: Record<string, (input: never) => object> = {
    GetItem: ({ Key }: { Key: ItemKey }) => {
      const item = read(Key);
      return item ? { Item: item } : {};
    },
    PutItem: (input: WriteInput) => writeOne("Put", input),
    UpdateItem: (input: WriteInput) => writeOne("Update", input),
    DeleteItem: (input: WriteInput) => writeOne("Delete", input),
    Query: query,
    BatchGetItem: ({ RequestItems }: { RequestItems: Record<string, { Keys: ItemKey[] }> }) => ({
      Responses: Object.fromEntries(
        Object.entries(RequestItems).map(([name, { Keys }]) => [
          name,
          Keys.flatMap((key) => read(key) ?? []),
        ]),
      ),
    }),
    BatchWriteItem: ({ RequestItems }: BatchWriteInput) => {
      for (const { PutRequest, DeleteRequest } of Object.values(RequestItems).flat())
        if (PutRequest) store(PutRequest.Item as unknown as ItemKey, PutRequest.Item);
        else store(DeleteRequest!.Key, undefined);
      return {};
    },
    BatchExecuteStatement: ({ Statements }: { Statements: Statement[] }) => ({
      Responses: Statements.map(executeStatement),
    }),
    TransactWriteItems: transact,
  };

  for (const item of from) store(item as unknown as ItemKey, item);
  return {
    call: (operation, input) => operations[operation]!(input as never),
    dueEntries: () =>
      [...indexes.due].map(([pk, entries]) => ({
        pk,
        first: [...entries].map(({ duesk }) => String(duesk!.S)).toSorted(orderOf)[0]!,
      })),
    copy: () => createMemoryTable([...items.values()].flatMap((rows) => [...rows.values()])),
  };
}

const namesIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name]) => name!);

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

/** The index of the first entry behind the start key. */
function startAfter(
  entries: Sorted,
  start: WireItem,
  { ScanIndexForward: forward = true }: QueryInput,
  index: "due" | "new" | undefined,
): number {
  const place = (item: WireItem) =>
    index
      ? `${item[`${index}sk`]!.S}\n${item.pk!.S}\n${item.sk!.S}`
      : String((item.sk as WireValue).S);
  const from = place(start);
  const found = entries.findIndex(({ item }) =>
    forward ? orderOf(place(item), from) > 0 : orderOf(place(item), from) < 0,
  );
  return found < 0 ? entries.length : found;
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
