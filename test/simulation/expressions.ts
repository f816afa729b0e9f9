// Evaluates DynamoDB's condition and update expressions on items in the wire format, as far as
// shared/adapters/dynamodb/ writes them.

/** A value in DynamoDB's JSON, such as `{ S: "text" }`. */
export type WireValue = Record<string, unknown>;
export type WireItem = Record<string, WireValue>;

export interface Placeholders {
  names: Record<string, string>;
  values: Record<string, WireValue>;
}

interface Scope extends Placeholders {
  item: WireItem | undefined;
}

type Operand = (scope: Scope) => WireValue | undefined;
type Condition = (scope: Scope) => boolean;
type Path = (scope: Scope) => string[];
type Change = (scope: Scope, changed: WireItem) => void;

/** Whether the condition holds for the item. An absent condition always holds. */
export function holds(
  text: string | undefined,
  item: WireItem | undefined,
  { names = {}, values = {} }: Partial<Placeholders>,
): boolean {
  return text === undefined || cached(conditions, text, parseCondition)({ item, names, values });
}

/** The item after the update. The given item does not change, but both share unchanged values. */
export function applyUpdate(
  text: string,
  item: WireItem,
  { names = {}, values = {} }: Partial<Placeholders>,
): WireItem {
  const changed = { ...item };
  for (const change of cached(updates, text, parseUpdate)({ item, names, values })) change(changed);
  return changed;
}

const conditions = new Map<string, Condition>();
const updates = new Map<string, (scope: Scope) => ((changed: WireItem) => void)[]>();

function cached<T>(cache: Map<string, T>, text: string, parse: (text: string) => T): T {
  const known = cache.get(text);
  if (known) return known;
  const parsed = parse(text);
  cache.set(text, parsed);
  return parsed;
}

class Tokens {
  readonly #list: string[];
  #next = 0;
  constructor(text: string) {
    this.#list = text.match(/[#:]?[\w]+|<>|<=|>=|[<>=(),.]/g) ?? [];
  }
  peek = (): string | undefined => this.#list[this.#next];
  take(expected?: string): string {
    const token = this.#list[this.#next++];
    if (token === undefined || (expected !== undefined && token !== expected))
      throw new Error(`The expression has ${token} in place of ${expected ?? "a token"}`);
    return token;
  }
  accept(token: string): boolean {
    if (this.peek() !== token) return false;
    this.#next++;
    return true;
  }
}

function parseCondition(text: string): Condition {
  const tokens = new Tokens(text);
  const condition = readOr(tokens);
  if (tokens.peek() !== undefined) throw new Error(`The condition does not end: ${text}`);
  return condition;
}

function readOr(tokens: Tokens): Condition {
  const parts = [readAnd(tokens)];
  while (tokens.accept("OR")) parts.push(readAnd(tokens));
  return (scope) => parts.some((part) => part(scope));
}

function readAnd(tokens: Tokens): Condition {
  const parts = [readPredicate(tokens)];
  while (tokens.accept("AND")) parts.push(readPredicate(tokens));
  return (scope) => parts.every((part) => part(scope));
}

function readPredicate(tokens: Tokens): Condition {
  if (tokens.accept("NOT")) {
    const condition = readPredicate(tokens);
    return (scope) => !condition(scope);
  }
  if (tokens.accept("(")) {
    const condition = readOr(tokens);
    tokens.take(")");
    return condition;
  }
  const name = tokens.peek() ?? "";
  if (Object.hasOwn(functions, name)) {
    tokens.take();
    const operands = readOperands(tokens);
    const test = functions[name]!;
    return (scope) => test(...operands.map((operand) => operand(scope)));
  }
  return readComparison(tokens);
}

function readComparison(tokens: Tokens): Condition {
  const left = readOperand(tokens);
  if (tokens.accept("BETWEEN")) {
    const low = readOperand(tokens);
    tokens.take("AND");
    const high = readOperand(tokens);
    return (scope) =>
      compares(left(scope), low(scope), (order) => order >= 0) &&
      compares(left(scope), high(scope), (order) => order <= 0);
  }
  if (tokens.accept("IN")) {
    const members = readOperands(tokens);
    return (scope) => members.some((member) => isEqual(left(scope), member(scope)));
  }
  const operator = tokens.take();
  const right = readOperand(tokens);
  const test = comparisons[operator];
  if (!test) throw new Error(`The operator ${operator} is not known`);
  return (scope) => test(left(scope), right(scope));
}

function readOperands(tokens: Tokens): Operand[] {
  tokens.take("(");
  const operands = [readOperand(tokens)];
  while (tokens.accept(",")) operands.push(readOperand(tokens));
  tokens.take(")");
  return operands;
}

function readOperand(tokens: Tokens): Operand {
  const token = tokens.peek() ?? "";
  if (token.startsWith(":")) {
    tokens.take();
    return ({ values }) => values[token];
  }
  if (token === "size") {
    tokens.take();
    const [of] = readOperands(tokens) as [Operand];
    return (scope) => sizeOf(of(scope));
  }
  if (token === "if_not_exists") {
    tokens.take();
    const [stored, otherwise] = readOperands(tokens) as [Operand, Operand];
    return (scope) => stored(scope) ?? otherwise(scope);
  }
  const path = readPath(tokens);
  return (scope) => {
    if (!scope.item) return undefined;
    let value: WireValue | undefined = { M: scope.item };
    for (const name of path(scope)) value = (value?.M as WireItem | undefined)?.[name];
    return value;
  };
}

function readPath(tokens: Tokens): Path {
  const parts = [tokens.take()];
  while (tokens.accept(".")) parts.push(tokens.take());
  return ({ names }) => parts.map((part) => (part.startsWith("#") ? names[part]! : part));
}

const functions: Record<string, (...operands: (WireValue | undefined)[]) => boolean> = {
  attribute_exists: (value) => value !== undefined,
  attribute_not_exists: (value) => value === undefined,
  attribute_type: (value, type) => value !== undefined && String(type?.S) in value,
  begins_with: (value, prefix) =>
    typeof value?.S === "string" && value.S.startsWith(String(prefix?.S)),
  contains: (value, part) => {
    if (typeof value?.S === "string") return value.S.includes(String(part?.S));
    const members = (value?.SS ?? value?.NS ?? []) as string[];
    if (members.length) return members.includes(String(part?.S ?? part?.N));
    return ((value?.L ?? []) as WireValue[]).some((member) => isEqual(member, part));
  },
};

const comparisons: Record<string, (a?: WireValue, b?: WireValue) => boolean> = {
  "=": (a, b) => isEqual(a, b),
  "<>": (a, b) => a !== undefined && !isEqual(a, b),
  "<": (a, b) => compares(a, b, (order) => order < 0),
  "<=": (a, b) => compares(a, b, (order) => order <= 0),
  ">": (a, b) => compares(a, b, (order) => order > 0),
  ">=": (a, b) => compares(a, b, (order) => order >= 0),
};

export function isEqual(a: WireValue | undefined, b: WireValue | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  if (a.N !== undefined) return b.N !== undefined && Number(a.N) === Number(b.N);
  if (a.S !== undefined) return a.S === b.S;
  return JSON.stringify(inOrder(a)) === JSON.stringify(inOrder(b));
}

/** Sets and maps in one order. */
function inOrder(value: WireValue): unknown {
  const [[type, content]] = Object.entries(value) as [[string, unknown]];
  if (type === "SS" || type === "NS") return [type, (content as string[]).toSorted()];
  if (type === "L") return [type, (content as WireValue[]).map(inOrder)];
  if (type === "M")
    return Object.entries(content as WireItem)
      .toSorted(([x], [y]) => (x < y ? -1 : 1))
      .map(([name, member]) => [name, inOrder(member)]);
  return [type, content];
}

function compares(
  a: WireValue | undefined,
  b: WireValue | undefined,
  test: (order: number) => boolean,
): boolean {
  if (a?.N !== undefined && b?.N !== undefined) return test(Number(a.N) - Number(b.N));
  if (typeof a?.S === "string" && typeof b?.S === "string") return test(orderOf(a.S, b.S));
  return false;
}

function orderOf(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function sizeOf(value: WireValue | undefined): WireValue | undefined {
  if (value === undefined) return undefined;
  const [[type, content]] = Object.entries(value) as [[string, unknown]];
  if (type === "S") return { N: String(Buffer.byteLength(content as string)) };
  if (type === "B") return { N: String(Buffer.from(content as string, "base64").length) };
  return { N: String(Object.keys(content as object).length) };
}

/** The changes of an update see the item as it was before the update. */
function parseUpdate(text: string): (scope: Scope) => ((changed: WireItem) => void)[] {
  const tokens = new Tokens(text);
  const changes: Change[] = [];
  while (tokens.peek() !== undefined) {
    const clause = clauses[tokens.take()];
    if (!clause) throw new Error(`The update is not known: ${text}`);
    do changes.push(clause(tokens));
    while (tokens.accept(","));
  }
  return (scope) => changes.map((change) => (changed) => change(scope, changed));
}

const clauses: Record<string, (tokens: Tokens) => Change> = {
  SET: (tokens) => {
    const path = readPath(tokens);
    tokens.take("=");
    const operand = readOperand(tokens);
    return (scope, changed) => {
      const value = operand(scope);
      if (value === undefined) throw new Error("The update sets a value that does not exist");
      assign(changed, path(scope), value);
    };
  },
  REMOVE: (tokens) => {
    const path = readPath(tokens);
    return (scope, changed) => assign(changed, path(scope), undefined);
  },
  ADD: (tokens) => readMemberChange(tokens, addTo),
  DELETE: (tokens) => readMemberChange(tokens, deleteFrom),
};

function readMemberChange(
  tokens: Tokens,
  combine: (stored: WireValue | undefined, given: WireValue) => WireValue | undefined,
): Change {
  const path = readPath(tokens);
  const operand = readOperand(tokens);
  return ({ item, names, values }, changed) => {
    const scope = { item, names, values };
    const [name = ""] = path(scope);
    assign(changed, [name], combine(item?.[name], operand(scope)!));
  };
}

function addTo(stored: WireValue | undefined, given: WireValue): WireValue {
  if (given.N !== undefined) return { N: String(Number(stored?.N ?? 0) + Number(given.N)) };
  const type = given.SS ? "SS" : "NS";
  return { [type]: [...new Set([...((stored?.[type] ?? []) as []), ...(given[type] as [])])] };
}

function deleteFrom(stored: WireValue | undefined, given: WireValue): WireValue | undefined {
  const type = given.SS ? "SS" : "NS";
  const gone = given[type] as string[];
  const left = ((stored?.[type] ?? []) as string[]).filter((member) => !gone.includes(member));
  return left.length ? { [type]: left } : undefined;
}

/** Stored values never change, so a map on the path is replaced by a changed copy. */
function assign(item: WireItem, path: string[], value: WireValue | undefined): void {
  const [name = "", ...rest] = path;
  if (rest.length) {
    const map = item[name]?.M as WireItem | undefined;
    if (!map) throw new Error("The update has a path into a map that does not exist");
    const changed = { ...map };
    assign(changed, rest, value);
    item[name] = { M: changed };
  } else if (value === undefined) delete item[name];
  else item[name] = value;
}
