// Compiles and renders the Liquid templates of users. Rendering is bounded and deterministic:
// templates have no files, partials, randomness or clock. `toSubstitutions` separates the text that
// all recipients share from the values of each, for providers that substitute.

import { invalid, limitExceeded, type Problem } from "../errors.ts";
import { createLruCache } from "../kernel/lru-cache.ts";
import type { MergeText } from "../providers/provider-adapter.ts";
import { Budget } from "./liquid/budget.ts";
import * as templates from "./liquid/liquid-templates.ts";

export type LiquidVariables = Record<string, unknown>;

/** A checked template. It can be rendered any number of times. */
export interface LiquidTemplate {
  /** The name of the template in errors. */
  field: string;
  parsed: templates.Parsed;
}

interface RenderTime {
  /** The time of `now`, `"now"` and `"today"`. With the same time, the output is identical. */
  now: Date;
  /** The budget that all templates of one mail share. */
  budget?: Budget;
}

export { Budget, newPool } from "./liquid/budget.ts";

const maxTags = 10_000;
const bytesPerTag = 1500;
const parseCache = {
  escaping: createLruCache<templates.Parsed>(24_000_000),
  plain: createLruCache<templates.Parsed>(24_000_000),
};

/**
 * Parses a template. With `escape`, every output is HTML-escaped, unless its last filter is `raw`
 * or escapes the output itself. Throws `invalid` with `field` and the line if the template does not
 * parse or uses an unknown tag or filter.
 */
export function compile(
  source: string,
  { escape: escapeHtml, field }: { escape: boolean; field: string },
): LiquidTemplate {
  const known = escapeHtml ? parseCache.escaping : parseCache.plain;
  const parsed = known.get(source) ?? parse(source, escapeHtml, field);
  known.set(source, parsed, source.length * 2 + countTags(source) * bytesPerTag);
  return { field, parsed };
}

/**
 * The distinct paths that a template reads but does not set (`firstName`, `order.total`), in order
 * of appearance.
 */
export const variableNames = ({ parsed }: LiquidTemplate): string[] => [...parsed.reads.all];

/**
 * The variables that the template cannot do without: they have no `default` filter and appear
 * outside conditions.
 */
export const requiredVariables = ({ parsed }: LiquidTemplate): string[] => [
  ...new Set([...parsed.reads.required.values()].flat().map((token) => token.getText())),
];

/** Whether the variables have a value at this path. Ignores the path from the first bracket on. */
export function hasVariable(variables: LiquidVariables, path: string): boolean {
  const [words = ""] = path.split("[");
  let at: unknown = variables;
  for (const [depth, word] of words.split(".").filter(Boolean).entries()) {
    const isThere = typeof at === "object" && at !== null && Object.hasOwn(at, word);
    if (!isThere) return depth > 0 && at != null && builtInProperties.has(word);
    at = (at as LiquidVariables)[word];
  }
  return at !== undefined;
}

/** Properties that Liquid gives to strings, arrays and objects. */
const builtInProperties = new Set(["size", "first", "last"]);

/**
 * Renders the whole text. `missing` names the required variables that the rendering read but that
 * were not given; null counts as given, and branches not taken do not count. Throws `invalid` if
 * the template exceeds its limits or a filter cannot handle its input.
 */
export function render(
  { field, parsed }: LiquidTemplate,
  variables: LiquidVariables,
  { now, budget = new Budget() }: RenderTime,
): { text: string; missing: string[] } {
  const missing = new Set<string>();
  const text = withTemplateErrors(field, () =>
    templates.renderText(parsed, variables, { now, budget, missing }),
  );
  return { text, missing: [...missing] };
}

/**
 * Splits a template into `pieces` and a function for the values of one recipient. Filling `pieces`
 * with `values(variables)` gives the same text as `render`. `values` throws like `render`, but does
 * not evaluate trailing assignments that no output uses.
 */
export function toSubstitutions({ field, parsed }: LiquidTemplate): {
  pieces: MergeText;
  values(variables: LiquidVariables, moment: RenderTime): string[];
} {
  const { content, placeholders } = parsed;
  const values = (variables: LiquidVariables, { now, budget = new Budget() }: RenderTime) =>
    withTemplateErrors(field, () => templates.renderHoles(parsed, variables, { now, budget }));
  return { pieces: content, values: placeholders.length ? values : () => [] };
}

/** Whether the template has no text, outputs or tags. */
export const isBlank = ({ parsed: { content } }: LiquidTemplate): boolean =>
  content.every((piece) => typeof piece === "string" && !/\S/.test(piece));

function parse(source: string, escapeHtml: boolean, field: string): templates.Parsed {
  if (countTags(source) > maxTags)
    throw limitExceeded(field, `${field} can have at most ${maxTags} Liquid tags and outputs`);
  try {
    return templates.parse(source, escapeHtml);
  } catch (error) {
    throw templateProblem(error, field, "is not valid Liquid");
  }
}

// In a {% liquid %} tag, every line is a tag.
const countTags = (source: string): number =>
  source.match(/\{%-?\s*liquid\b/.test(source) ? /\{\{|\{%|\n/g : /\{\{|\{%/g)?.length ?? 0;

function withTemplateErrors<T>(field: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw templateProblem(error, field, "cannot be rendered");
  }
}

// Every error of rendering is the template's fault, even a stack overflow caused by nesting.
function templateProblem(error: unknown, field: string, what: string): Problem {
  const number = templates.lineOf(error);
  const line = number === undefined ? "" : ` (line ${number})`;
  const reason = (error as Error).message.replace(/, line:\d+, col:\d+$/, "").slice(0, 200);
  const message = `${field} ${what}${line}: ${reason}`;
  return invalid(message, { details: [{ path: field, message }] });
}
