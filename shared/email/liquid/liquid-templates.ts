// The code that needs liquidjs. A deployed function loads this module when it compiles its first
// template, so this module throws plain errors: `../liquid.ts` turns them into Problems.
import { type Liquid, LiquidError, type Template } from "liquidjs";
import { createContext, inAnyCase, renderToText } from "./bounded-rendering.ts";
import type { Budget } from "./budget.ts";
import { engineFor } from "./engine.ts";
import { compilePlainOutputs, renderPlainOutputs } from "./plain-outputs.ts";
import { type LiquidParts, splitTemplate } from "./template-parts.ts";
import { checkChains, findVariableReads, type VariableReads } from "./variable-reads.ts";

export interface Parsed extends LiquidParts {
  engine: Liquid;
  nodes: Template[];
  reads: VariableReads;
  /** Set when the template has nothing but text and plain outputs. */
  plainOutputs: ReturnType<typeof compilePlainOutputs>;
}

interface Rendering {
  now: Date;
  budget: Budget;
  /** Receives the names of variables that are not given. */
  missing?: Set<string>;
}

const maxFilters = 100;

export function parse(source: string, escaping: boolean): Parsed {
  const engine = engineFor(escaping);
  const nodes = engine.parse(source);
  checkChains(nodes, maxFilters);
  const parts = splitTemplate(nodes);
  const plainOutputs = compilePlainOutputs(nodes, parts.placeholders);
  return { engine, nodes, reads: findVariableReads(nodes), plainOutputs, ...parts };
}

export function renderText(
  parsed: Parsed,
  given: Record<string, unknown>,
  rendering: Rendering,
): string {
  return renderToText(parsed.nodes, createContext(given, { ...parsed, ...rendering }));
}

/** The text of each hole, in the order of `parsed.holes`. */
export function renderHoles(
  parsed: Parsed,
  given: Record<string, unknown>,
  rendering: Rendering,
): string[] {
  const { plainOutputs, reads } = parsed;
  const plainTexts =
    plainOutputs && renderPlainOutputs(plainOutputs, inAnyCase(given, reads.all), rendering.budget);
  if (plainTexts) return plainTexts;
  const context = createContext(given, { ...parsed, ...rendering });
  return parsed.placeholders.map((nodes) => renderToText(nodes, context));
}

/** The line of the template in which the error occurred, if known. */
export function lineOf(error: unknown): number | undefined {
  return LiquidError.is(error) ? error.token.getPosition()[0] : undefined;
}
