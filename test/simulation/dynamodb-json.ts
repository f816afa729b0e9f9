// DynamoDB's JSON for tables in memory, in a third of the time that the SDK's document client takes:
// each value is an object with its type, such as {"S": "text"} or {"N": "1"}.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html
import { replaceLoneSurrogates } from "../../shared/kernel/json.ts";

/** The JSON text of a request of the document client. */
export const toRequestText = (input: object): string => toValidText(toJson(input));

/** DynamoDB rejects calls with a lone surrogate, which occurs when a text is truncated. */
const toValidText = (body: string) => (body.includes("\\ud") ? replaceLoneSurrogates(body) : body);

const itemFields = new Set(["Item", "Key", "ExpressionAttributeValues", "ExclusiveStartKey"]);

const listFields: Record<string, (member: never) => string> = {
  Keys: marshallMap,
  Parameters: marshall,
};

/** The JSON text of a request. Items, keys and values are marshalled wherever they stand. */
function toJson(value: unknown, field?: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (field !== undefined && itemFields.has(field)) return marshallMap(value);
  if (Array.isArray(value)) {
    const toMember = listFields[field ?? ""] ?? toJson;
    return `[${value.map((member) => toMember(member as never)).join(",")}]`;
  }
  let members = "";
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    members += `${members && ","}${JSON.stringify(name)}:${toJson(member, name)}`;
  }
  return `{${members}}`;
}

const toPlainItems = (items: MarshalledMap[]) => items.map(unmarshallMap);
const mapTables = <T>(byTable: Record<string, T>, convert: (value: T) => unknown) =>
  Object.fromEntries(Object.entries(byTable).map(([table, value]) => [table, convert(value)]));

/** How the fields of an answer that contain items become plain values. */
const outputFields: Record<string, (value: never) => unknown> = {
  Item: unmarshallMap,
  Attributes: unmarshallMap,
  LastEvaluatedKey: unmarshallMap,
  Items: toPlainItems,
  UnprocessedKeys: (tables: Record<string, { Keys: MarshalledMap[] }>) =>
    mapTables(tables, (rest) => ({ ...rest, Keys: toPlainItems(rest.Keys) })),
  UnprocessedItems: (tables: Record<string, UnprocessedWrite[]>) =>
    mapTables(tables, (writes) => writes.map(toPlainWrite)),
  // BatchGetItem answers items by table, BatchExecuteStatement a list with errors.
  Responses: (responses: Record<string, MarshalledMap[]> | unknown[]) =>
    Array.isArray(responses) ? responses : mapTables(responses, toPlainItems),
};

interface UnprocessedWrite {
  PutRequest?: { Item: MarshalledMap };
  DeleteRequest?: { Key: MarshalledMap };
}

const toPlainWrite = ({ PutRequest, DeleteRequest }: UnprocessedWrite) =>
  PutRequest
    ? { PutRequest: { Item: unmarshallMap(PutRequest.Item) } }
    : { DeleteRequest: { Key: unmarshallMap(DeleteRequest!.Key) } };

/** The output of the document client for an answer of DynamoDB. */
export function toPlainOutput(answer: object): object {
  const plain: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(answer))
    plain[field] = value === null ? undefined : (outputFields[field]?.(value as never) ?? value);
  return plain;
}

/** The JSON text of a value. Undefined members are left out. */
function marshall(value: unknown): string {
  if (typeof value === "string") return `{"S":${JSON.stringify(value)}}`;
  if (typeof value === "number") return `{"N":"${toNumberText(value)}"}`;
  if (typeof value === "boolean") return value ? '{"BOOL":true}' : '{"BOOL":false}';
  if (value === null) return '{"NULL":true}';
  if (Array.isArray(value)) return `{"L":[${value.filter(isDefined).map(marshall).join(",")}]}`;
  if (value instanceof Set) return marshallSet([...value]);
  if (value instanceof Uint8Array) return `{"B":${toBase64(value)}}`;
  if (isPlainObject(value)) return `{"M":${marshallMap(value)}}`;
  throw new Error(`DynamoDB cannot store a value of type ${typeof value}: ${String(value)}`);
}

/** The JSON text of an item, a key or the values of an expression. */
function marshallMap(map: object): string {
  let members = "";
  for (const [name, value] of Object.entries(map)) {
    if (value === undefined) continue;
    members += `${members && ","}${JSON.stringify(name)}:${marshall(value)}`;
  }
  return `{${members}}`;
}

const isDefined = (value: unknown) => value !== undefined;

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function toNumberText(value: number): string {
  if (!Number.isFinite(value)) throw new Error(`DynamoDB cannot store the number ${value}`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new Error(`The number ${value} is too large to be exact`);
  return String(value);
}

function marshallSet(members: unknown[]): string {
  if (members.length === 0) throw new Error("DynamoDB cannot store an empty set");
  return typeof members[0] === "number"
    ? `{"NS":[${members.map((member) => `"${toNumberText(member as number)}"`).join(",")}]}`
    : `{"SS":${JSON.stringify(members)}}`;
}

const toBase64 = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  `"${Buffer.from(buffer, byteOffset, byteLength).toString("base64")}"`;

type MarshalledMap = Record<string, Record<string, unknown>>;

export function unmarshallMap(map: MarshalledMap): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(map)) {
    // An assignment to this name would change the prototype.
    if (name === "__proto__")
      Object.defineProperty(result, name, {
        value: unmarshall(value),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    else result[name] = unmarshall(value);
  }
  return result;
}

function unmarshall(typed: Record<string, unknown>): unknown {
  for (const type in typed) return unmarshallers[type]!(typed[type] as never);
  throw new Error("DynamoDB returned a value without a type");
}

const unmarshallers: Record<string, (value: never) => unknown> = {
  S: (text: string) => text,
  N: (text: string) => Number(text),
  BOOL: (value: boolean) => value,
  NULL: () => null,
  M: unmarshallMap,
  L: (list: Record<string, unknown>[]) => list.map(unmarshall),
  SS: (members: string[]) => new Set(members),
  NS: (members: string[]) => new Set(members.map(Number)),
  B: (base64: string) => new Uint8Array(Buffer.from(base64, "base64")),
};
