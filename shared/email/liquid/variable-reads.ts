// Finds the variables that a template reads but does not set.
import {
  CaseTag,
  type Context,
  evalToken,
  type FilteredValueToken,
  IfTag,
  ParseError,
  type PropertyAccessToken,
  type QuotedToken,
  type Template,
  type Token,
  TypeGuards,
  toValueSync,
  UnlessTag,
  Value,
} from "liquidjs";
import { isTimeZone } from "../../kernel/time-zones.ts";
import { LayoutTag, SnippetTag } from "./snippet-tags.ts";

export interface VariableReads {
  /** As written in the template (`order.total`), in order of appearance. */
  all: Set<string>;
  /** By node, the required variables: not in a condition and without `default`. */
  required: Map<Template, PropertyAccessToken[]>;
  /** By node, the units for evaluating all its operands once. */
  operands: Map<Template, number>;
}

const { isFilteredValueToken, isPropertyAccessToken, isRangeToken, isWordToken, isQuotedToken } =
  TypeGuards;
// `now` is always defined; `continue` is a keyword of the `for` tag.
const alwaysDefined = ["now", "continue"];

export function findVariableReads(nodes: Template[]): VariableReads {
  const reads: VariableReads = { all: new Set(), required: new Map(), operands: new Map() };
  visit(nodes, [new Set(alwaysDefined)], { ...reads, visited: new Set() });
  return reads;
}

interface Visit extends VariableReads {
  /** Names of snippets with the names of their arguments: each pair is visited once. */
  visited: Set<string>;
}

/** The nodes of a snippet see the variables of the mail and the arguments of the tag. */
function visitSnippet(tag: SnippetTag, reads: Visit) {
  const names = tag.argumentNames();
  const call = JSON.stringify([tag.snippetName, ...names]);
  if (!reads.visited.has(call)) {
    reads.visited.add(call);
    const slot = tag instanceof LayoutTag ? ["content"] : [];
    visit(tag.snippet.nodes, [new Set([...alwaysDefined, ...slot, ...names])], reads);
  }
}

/** The required variables of this node that the context does not have. */
export const missingVariables = (
  { required }: VariableReads,
  node: Template,
  context: Context,
): string[] =>
  (required.get(node) ?? [])
    .filter((token) => toValueSync(evalToken(token, context)) === undefined)
    .map((token) => token.getText());

export const childNodes = (node: Template): Template[] =>
  node.children ? (toValueSync(node.children(false, true)) as Template[]) : [];

// A variable that a node sets is defined until the end of the template; the variable of a loop only
// within the loop.
function visit(nodes: Template[], scopes: Set<string>[], reads: Visit) {
  for (const node of nodes) {
    const conditional =
      node instanceof IfTag || node instanceof UnlessTag || node instanceof CaseTag;
    for (const argument of node.arguments?.() ?? []) {
      reads.operands.set(node, (reads.operands.get(node) ?? 0) + operandUnits(argument));
      const free = [...variablePaths(argument)].filter((path) => !isLocal(path, scopes));
      for (const path of free) reads.all.add(path.getText());
      if (!conditional && !hasDefault(argument))
        reads.required.set(node, [...(reads.required.get(node) ?? []), ...free]);
    }
    for (const name of node.localScope?.() ?? []) scopes[0]!.add(name.content);
    if (node instanceof SnippetTag) visitSnippet(node, reads);
    if (node instanceof LayoutTag) visit(node.content, scopes, reads);
    visit(
      childNodes(node),
      node.blockScope ? [...scopes, new Set(node.blockScope())] : scopes,
      reads,
    );
  }
}

function isLocal({ props: [root] }: PropertyAccessToken, scopes: Set<string>[]): boolean {
  return (
    (isWordToken(root) || isQuotedToken(root)) && scopes.some((names) => names.has(root.content))
  );
}

const unitsPerOperand = 100;

const isFiltered = (argument: Value | Token): argument is Value | FilteredValueToken =>
  argument instanceof Value || isFilteredValueToken(argument);

// The engine evaluates brackets, dots and literals character by character.
function operandUnits(argument: Value | Token): number {
  if (!isFiltered(argument)) return unitsPerOperand + argument.end - argument.begin;
  const args = argument.filters
    .flatMap(({ args }) => args)
    .flatMap((arg) => (Array.isArray(arg) ? (arg[1] ?? []) : arg));
  return [...argument.initial.postfix, ...args].reduce(
    (sum, token) => sum + operandUnits(token),
    0,
  );
}

/** Whether the template itself names the filter. The engine adds others to escape outputs. */
const isNamed = ({ name }: { name: string }): boolean => /^\w+$/.test(name);

/**
 * Throws an error with the line if a value passes through more than `most` filters, or if the
 * template names a time zone that does not exist.
 */
export function checkFilters(nodes: Template[], most: number): void {
  for (const node of nodes) {
    for (const argument of node.arguments?.() ?? []) {
      const problem = isFiltered(argument) && findFilterProblem(argument, most);
      if (problem) throw new ParseError(new Error(problem), node.token);
    }
    checkFilters(childNodes(node), most);
  }
}

function findFilterProblem(
  { filters }: Value | FilteredValueToken,
  most: number,
): string | undefined {
  if (filters.filter(isNamed).length > most)
    return `a value can pass through at most ${most} filters`;
  const zones = filters.filter(({ name }) => name === "date").map(({ args }) => args[1]);
  const unknown = zones.find((zone) => isQuotedToken(zone) && !isTimeZone(zone.content));
  return unknown && `there is no time zone ${(unknown as QuotedToken).getText()}`;
}

const hasDefault = (argument: Value | Token): boolean =>
  isFiltered(argument) && argument.filters.some(({ name }) => name === "default");

function* variablePaths(argument: Value | Token): Generator<PropertyAccessToken> {
  if (isFiltered(argument)) {
    for (const token of argument.initial.postfix) yield* variablePaths(token);
    for (const arg of argument.filters.flatMap(({ args }) => args)) {
      const token = Array.isArray(arg) ? arg[1] : arg;
      if (token) yield* variablePaths(token);
    }
  } else if (isRangeToken(argument)) {
    yield* variablePaths(argument.lhs);
    yield* variablePaths(argument.rhs);
  } else if (isPropertyAccessToken(argument)) {
    // With a `variable` it is a property of a literal, such as (1..3).size.
    if (argument.variable) yield* variablePaths(argument.variable);
    else yield argument;
    for (const prop of argument.props) if (isPropertyAccessToken(prop)) yield* variablePaths(prop);
  }
}
