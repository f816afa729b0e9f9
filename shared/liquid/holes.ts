// A parsed template parted into what is the same for everyone and what is not.
import { BreakTag, ContinueTag, ForTag, type Template, TypeGuards } from "liquidjs";
import type { Pieces } from "../providers/provider.ts";
import { childrenOf } from "./reads.ts";

export interface Parted {
  pieces: Pieces;
  /** What stands in each hole of `pieces`. */
  holes: Template[][];
}

/**
 * Literals become strings, runs of other nodes become holes; nodes that write nothing run with the next hole. From a node on that
 * may end the rendering (a `break` outside of a loop), all is one hole.
 */
export function part(nodes: Template[]): Parted {
  const parted: Parted = { pieces: [], holes: [] };
  const end = nodes.findIndex(mayStop);
  const settled = end < 0 ? nodes : nodes.slice(0, end);
  const rest = end < 0 ? [] : nodes.slice(end);
  let silent: Template[] = [];
  for (const node of settled) {
    const literal = literalOf(node);
    if (literal !== undefined) addLiteral(parted, literal);
    else silent.push(node);
    if (literal !== undefined || isSilent(node)) continue;
    addToHole(parted, silent);
    silent = [];
  }
  if (rest.length) addToHole(parted, [...silent, ...rest]);
  return parted;
}

const literalOf = ({ token }: Template): string | undefined => (TypeGuards.isHTMLToken(token) ? token.getContent() : undefined);

const silentTags = new Set(["assign", "capture", "comment", "#"]);
const isSilent = ({ token }: Template): boolean => TypeGuards.isTagToken(token) && silentTags.has(token.name);

function addLiteral({ pieces }: Parted, literal: string) {
  const last = pieces.at(-1);
  if (typeof last === "string") pieces[pieces.length - 1] = last + literal;
  else if (literal) pieces.push(literal);
}

function addToHole({ pieces, holes }: Parted, nodes: Template[]) {
  if (typeof pieces.at(-1) === "number") holes.at(-1)!.push(...nodes);
  else pieces.push(holes.push([...nodes]) - 1);
}

function mayStop(node: Template): boolean {
  if (node instanceof BreakTag || node instanceof ContinueTag) return true;
  // A loop keeps the breaks of its body to itself, those of its else branch not.
  return (node instanceof ForTag ? node.elseTemplates : childrenOf(node)).some(mayStop);
}
