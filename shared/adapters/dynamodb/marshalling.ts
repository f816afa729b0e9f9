// DynamoDB's JSON: each value is an object with its type, such as {"S": "text"} or {"N": "1"}.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html

/** The JSON text of a value. Undefined members are left out. */
export function marshall(value: unknown): string {
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
export function marshallMap(map: object): string {
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

export type MarshalledMap = Record<string, Record<string, unknown>>;

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
