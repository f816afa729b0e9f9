// The code that needs liquidjs. A deployed function loads this module when it compiles its first
// template, so this module throws plain errors: `../liquid.ts` turns them into Problems.
import { type Liquid, LiquidError, type Template } from "liquidjs";
import { createContext, inAnyCase, renderToText } from "./bounded-rendering.ts";
import type { Budget } from "./budget.ts";
import { engineFor } from "./engine.ts";
import { type ParsedSource, parseWithSnippets, type SnippetSources } from "./parse-snippets.ts";
import { compilePlainOutputs, findShownVariables, renderPlainOutputs } from "./plain-outputs.ts";
import { type LiquidParts, splitTemplate } from "./template-parts.ts";
import { checkFilters, findVariableReads, type VariableReads } from "./variable-reads.ts";

export interface Parsed extends LiquidParts, Pick<ParsedSource, "size" | "snippetNames"> {
  engine: Liquid;
  /** With the nodes of snippets in the place of their tags. */
  nodes: Template[];
  reads: VariableReads;
  /** Set when the template has nothing but text and plain outputs. */
  plainOutputs: ReturnType<typeof compilePlainOutputs>;
}

/** For each placeholder, the variables that it always shows and that the template does not set. */
export function listShownVariables({ placeholders, reads }: Parsed): string[][] {
  const given = new Set(reads.all);
  return findShownVariables(placeholders).map((names) => names.filter((name) => given.has(name)));
}

interface Rendering {
  now: Date;
  budget: Budget;
  /** Receives the names of variables that are not given. */
  missing?: Set<string>;
}

const maxFilters = 100;

/** Without `snippets`, a template that names one is an error. */
export function parse(source: string, escaping: boolean, snippets?: SnippetSources): Parsed {
  const engine = engineFor(escaping);
  const { nodes, expanded, size, snippetNames } = parseWithSnippets(source, {
    liquid: engine,
    snippets,
    part: escaping ? "html" : "text",
    check: (parsed) => checkFilters(parsed, maxFilters),
  });
  const parts = splitTemplate(expanded);
  const plainOutputs = compilePlainOutputs(expanded, parts.placeholders);
  const reads = findVariableReads(nodes);
  return { engine, nodes: expanded, reads, plainOutputs, ...parts, size, snippetNames };
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

/** The line of the template or snippet in which the error occurred, if known. */
export function placeOf(error: unknown): { line: number; snippet: string | undefined } | undefined {
  if (!LiquidError.is(error)) return undefined;
  const [line = 1] = error.token.getPosition();
  return { line, snippet: error.token.file };
}
