// Which variables a template reads that it does not set itself.
import {
  CaseTag,
  type Context,
  evalToken,
  IfTag,
  type PropertyAccessToken,
  type Template,
  type Token,
  TypeGuards,
  toValueSync,
  UnlessTag,
  Value,
} from "liquidjs";

export interface Reads {
  /** As written in the template (`order.total`), in order of appearance. */
  names: Set<string>;
  /** By node, those whose absence leaves a gap: neither in a condition nor with a `default`. */
  needed: Map<Template, PropertyAccessToken[]>;
}

const { isFilteredValueToken, isPropertyAccessToken, isRangeToken, isWordToken, isQuotedToken } = TypeGuards;
/** `now` is always there; `continue` is a word of the `for` tag. */
const ownNames = ["now", "continue"];

export function readsOf(nodes: Template[]): Reads {
  const reads: Reads = { names: new Set(), needed: new Map() };
  visit(nodes, [new Set(ownNames)], reads);
  return reads;
}

/** The needed variables of this node that the context does not have. */
export const undefinedReads = ({ needed }: Reads, node: Template, context: Context): string[] =>
  (needed.get(node) ?? []).filter((token) => toValueSync(evalToken(token, context)) === undefined).map((token) => token.getText());

export const childrenOf = (node: Template): Template[] => (node.children ? (toValueSync(node.children(false, true)) as Template[]) : []);

// What a node sets counts from there to the end of the template, what a loop sets only within the loop.
function visit(nodes: Template[], scopes: Set<string>[], reads: Reads) {
  for (const node of nodes) {
    const conditional = node instanceof IfTag || node instanceof UnlessTag || node instanceof CaseTag;
    for (const argument of node.arguments?.() ?? []) {
      const free = [...pathsIn(argument)].filter((path) => !isLocal(path, scopes));
      for (const path of free) reads.names.add(path.getText());
      if (!conditional && !hasDefault(argument)) reads.needed.set(node, [...(reads.needed.get(node) ?? []), ...free]);
    }
    for (const name of node.localScope?.() ?? []) scopes[0]!.add(name.content);
    visit(childrenOf(node), node.blockScope ? [...scopes, new Set(node.blockScope())] : scopes, reads);
  }
}

function isLocal({ props: [root] }: PropertyAccessToken, scopes: Set<string>[]): boolean {
  return (isWordToken(root) || isQuotedToken(root)) && scopes.some((names) => names.has(root.content));
}

const hasDefault = (argument: Value | Token): boolean =>
  (argument instanceof Value || isFilteredValueToken(argument)) && argument.filters.some(({ name }) => name === "default");

function* pathsIn(argument: Value | Token): Generator<PropertyAccessToken> {
  if (argument instanceof Value || isFilteredValueToken(argument)) {
    for (const token of argument.initial.postfix) yield* pathsIn(token);
    for (const arg of argument.filters.flatMap(({ args }) => args)) {
      const token = Array.isArray(arg) ? arg[1] : arg;
      if (token) yield* pathsIn(token);
    }
  } else if (isRangeToken(argument)) {
    yield* pathsIn(argument.lhs);
    yield* pathsIn(argument.rhs);
  } else if (isPropertyAccessToken(argument)) {
    // With a `variable` it is a property of a literal, such as (1..3).size.
    if (argument.variable) yield* pathsIn(argument.variable);
    else yield argument;
    for (const prop of argument.props) if (isPropertyAccessToken(prop)) yield* pathsIn(prop);
  }
}
