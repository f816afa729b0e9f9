// Units that filters, operators and tags use. They are deducted in advance, because a running
// filter cannot be interrupted.
import { CaseTag, Context, defaultOperators, type Emitter, type FilterImplOptions } from "liquidjs";
import { budgetOf } from "./budget.ts";

export type Handler = Extract<FilterImplOptions, (...all: never[]) => unknown>;

const callUnits = 200;
const readUnits = 60;
// Intl formats a date in about 20 microseconds.
const dateUnits = 10_000;
const longestNeedle = 1000;

/**
 * Units of a call, in addition to those for reading its value and arguments. `size` is the size of
 * the value, `args` that of the arguments.
 */
type Cost = (call: { value: unknown; size: number; args: number; argValues: unknown[] }) => number;

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 1);
// These filters read a path in each element and may compare the result with an argument.
const perElement: Cost = ({ value, args }) => lengthOf(value) * (500 + 10 * args);
const sorting: Cost = ({ value, size, args }) =>
  lengthOf(value) * (100 + 10 * args) + 4 * size * Math.ceil(Math.log2(1 + lengthOf(value)));
const perCharacter =
  (units: number): Cost =>
  ({ size }) =>
    size * units;
const formatting: Cost = ({ args, argValues: [format] }) =>
  dateUnits * (1 + (typeof format === "string" ? format.split("%").length : 0)) + args;

const costs = new Map<string, Cost>([
  ...["map", "sum", "where", "reject", "group_by", "has", "find", "find_index"].map(
    (name): [string, Cost] => [name, perElement],
  ),
  ...["sort", "sort_natural"].map((name): [string, Cost] => [name, sorting]),
  ...["date", "date_to_xmlschema", "date_to_rfc822", "date_to_string", "date_to_long_string"].map(
    (name): [string, Cost] => [name, formatting],
  ),
  ["uniq", ({ value }) => lengthOf(value) * 50],
  ["split", perCharacter(5)],
  ["remove", perCharacter(5)],
  ["replace", perCharacter(5)],
  ["json", perCharacter(5)],
  ["jsonify", perCharacter(5)],
  ["inspect", perCharacter(10)],
  ["slugify", perCharacter(20)],
  ...["strip", "lstrip", "rstrip"].map((name): [string, Cost] => [name, ({ args }) => 20 * args]),
]);

// In the worst case, a search takes the length of the one text times that of the other.
const searchingFilters = [
  "remove",
  "remove_first",
  "remove_last",
  "replace",
  "replace_first",
  "replace_last",
  "split",
];

// These filters read only the length or one element.
const lookingFilters = ["size", "first", "last", "default", "raw"];

/** Wraps a filter, so that its value, arguments, work and result use units. */
export function paid(name: string, handler: Handler): Handler {
  const cost = costs.get(name) ?? perCharacter(1);
  const isSearch = searchingFilters.includes(name);
  const isLook = lookingFilters.includes(name);
  return function* (value: unknown, ...args: unknown[]): Generator<unknown, unknown, unknown> {
    const budget = budgetOf(this.context);
    budget.checkTime();
    budget.use(callUnits);
    if (isLook) return yield handler.call(this, value, ...args);
    const size = budget.weigh(value);
    budget.use(cost({ value, size, args: budget.weigh(args), argValues: args }));
    if (isSearch) checkNeedle(args[0]);
    const result: unknown = yield handler.call(this, value, ...args);
    budget.weigh(result);
    return result;
  };
}

type Operator = (
  left: unknown,
  right: unknown,
  context: Context,
) => Generator<unknown, unknown, unknown>;

const comparing = ["==", "!=", "<", ">", "<=", ">=", "contains"];

// Units for comparing one pair of elements.
const unitsPerCompared = 20;

/** The operators, wrapped to use units: comparing two arrays visits all their elements. */
export const operators = Object.fromEntries(
  Object.entries(defaultOperators).map(([name, operator]) => [
    name,
    comparing.includes(name) ? paidOperator(name, operator as Operator) : operator,
  ]),
) as typeof defaultOperators;

function paidOperator(name: string, operator: Operator): Operator {
  return function* (left, right, context) {
    const budget = budgetOf(context);
    const size = Math.min(budget.weigh(left), budget.weigh(right));
    if (typeof left === "object" && typeof right === "object") budget.use(size * unitsPerCompared);
    if (name === "contains" && typeof left === "string") checkNeedle(right);
    return yield operator(left, right, context);
  };
}

/** A `case` tag that uses units for comparing its value with that of each `when`. */
export class PaidCaseTag extends CaseTag {
  override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const target: unknown = yield this.value.value(context);
    const budget = budgetOf(context);
    const units = typeof target === "object" ? unitsPerCompared : 1;
    for (const { values } of this.branches)
      for (const _ of values) budget.use(budget.weigh(target) * units);
    yield* super.render(context, emitter);
  }
}

/** A context that uses units for each property that it reads. */
export class PaidContext extends Context {
  override readProperty(...[from, key]: Parameters<Context["readProperty"]>): unknown {
    const budget = budgetOf(this);
    budget.use(readUnits);
    const counted = key === "size" && typeof from === "object" && from !== null;
    if (counted && !Array.isArray(from)) budget.use(40 * Object.keys(from).length);
    const value: unknown = super.readProperty(from, key);
    // Tags copy lists.
    if (Array.isArray(value)) budget.use(value.length / 4);
    return value;
  }
}

function checkNeedle(needle: unknown): void {
  const isText = typeof needle === "string" || (typeof needle === "object" && needle !== null);
  if (isText && String(needle).length > longestNeedle)
    throw new Error(`the search text is longer than ${longestNeedle} characters`);
}
