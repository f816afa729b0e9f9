// Splits a parsed template into text that all recipients share and placeholders.
import { BreakTag, ContinueTag, ForTag, type Template, TypeGuards } from "liquidjs";
import type { MergeText } from "../../providers/provider-adapter.ts";
import { ScopeStart } from "./snippet-tags.ts";
import { childNodes } from "./variable-reads.ts";

export interface LiquidParts {
  content: MergeText;
  /** The nodes of each placeholder in `pieces`. */
  placeholders: Template[][];
}

/**
 * Literals become strings, and runs of other nodes become placeholders. Nodes without output join
 * the next placeholder. Everything after a node that can end the rendering (a `break` outside a
 * loop) is one placeholder.
 */
export function splitTemplate(nodes: Template[]): LiquidParts {
  const parted: LiquidParts = { content: [], placeholders: [] };
  const end = nodes.findIndex(mayEndRendering);
  const stable = end < 0 ? nodes : nodes.slice(0, end);
  const rest = end < 0 ? [] : nodes.slice(end);
  let pending: Template[] = [];
  for (const node of stable) {
    const literal = literalOf(node);
    if (literal !== undefined) addLiteral(parted, literal);
    else pending.push(node);
    if (literal !== undefined || writesNothing(node)) continue;
    addToPlaceholder(parted, pending);
    pending = [];
  }
  if (rest.length) addToPlaceholder(parted, [...pending, ...rest]);
  return parted;
}

const literalOf = ({ token }: Template): string | undefined =>
  TypeGuards.isHTMLToken(token) ? token.getContent() : undefined;

const outputlessTags = new Set(["assign", "capture", "comment", "#"]);
const writesNothing = (node: Template): boolean =>
  node instanceof ScopeStart ||
  (TypeGuards.isTagToken(node.token) && outputlessTags.has(node.token.name));

function addLiteral({ content }: LiquidParts, literal: string) {
  const last = content.at(-1);
  if (typeof last === "string") content[content.length - 1] = last + literal;
  else if (literal) content.push(literal);
}

function addToPlaceholder({ content, placeholders }: LiquidParts, nodes: Template[]) {
  if (typeof content.at(-1) === "number") placeholders.at(-1)!.push(...nodes);
  else content.push(placeholders.push([...nodes]) - 1);
}

export function mayEndRendering(node: Template): boolean {
  if (node instanceof BreakTag || node instanceof ContinueTag) return true;
  // A `break` in the body of a loop ends only the loop; one in its `else` branch ends more.
  return (node instanceof ForTag ? node.elseTemplates : childNodes(node)).some(mayEndRendering);
}
