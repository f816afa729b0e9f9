// Compiles and renders the Liquid templates of users. Rendering is bounded and deterministic:
// templates have no files, randomness or clock, and no snippets but those that the caller gives.
// `toSubstitutions` separates the text that all recipients share from the values of each, for
// providers that substitute.

import { invalid, limitExceeded, type Problem } from "../errors.ts";
import { createLruCache } from "../kernel/lru-cache.ts";
import type { MergeText } from "../providers/provider-adapter.ts";
import { Budget } from "./liquid/budget.ts";
import * as liquidTemplates from "./liquid/liquid-templates.ts";

export type LiquidVariables = Record<string, unknown>;

/** A checked template. It can be rendered any number of times. */
export interface LiquidTemplate {
  /** The name of the template in errors. */
  field: string;
  parsed: liquidTemplates.Parsed;
}

interface RenderTime {
  /** The time of `now`, `"now"` and `"today"`. With the same time, the output is identical. */
  now: Date;
  /** The budget that all templates of one mail share. */
  budget?: Budget;
}

/** The parts of a snippet. Null: it has no such part. */
export interface SnippetParts {
  html: string | null;
  text: string | null;
}

/** Snippets by name. They never change: a new version is a new object. */
export type Snippets = Readonly<Record<string, SnippetParts>>;

export { Budget, newPool } from "./liquid/budget.ts";

const maxTags = 10_000;
const bytesPerTag = 1500;
const parseCache = {
  escaping: createLruCache<liquidTemplates.Parsed>(24_000_000),
  plain: createLruCache<liquidTemplates.Parsed>(24_000_000),
};

/**
 * Parses a template. With `escape`, every output is HTML-escaped, unless its last filter is `raw`
 * or escapes the output itself. Throws `invalid` with `field` and the line if the template does not
 * parse or uses an unknown tag or filter.
 */
export function compile(source: string, options: CompileOptions): LiquidTemplate {
  const { escape: escapeHtml, field, snippets } = options;
  const known = escapeHtml ? parseCache.escaping : parseCache.plain;
  const isAlone = !/render|layout/.test(source);
  const key = isAlone ? source : JSON.stringify([source, snippets]);
  const parsed = known.get(key) ?? parse(source, options);
  const { tags, characters } = parsed.size;
  const weight = (key.length + characters) * 2 + (countTags(source) + tags) * bytesPerTag;
  known.set(key, parsed, weight);
  return { field, parsed };
}

interface CompileOptions {
  escape: boolean;
  /** The name of the template in errors. */
  field: string;
  /** The snippets that it can use. Absent: it can use none. */
  snippets?: Snippets | undefined;
}

// In a {% liquid %} tag, every line is a tag.
const snippetTag =
  /(?:\{%-?\s*(?:liquid\s+)?|\n[^\S\n]*)(?:render|layout)\s*(?:'([^']*)'|"([^"]*)")/g;

/** The names that follow `render` and `layout`, also in comments. */
export const findSnippetNames = (...sources: (string | null | undefined)[]): string[] => [
  ...new Set(
    sources.flatMap((source) =>
      [...(source ?? "").matchAll(snippetTag)].map(([, single, double]) => single ?? double ?? ""),
    ),
  ),
];

/** The snippets that the template itself names. */
export const snippetNames = ({ parsed }: LiquidTemplate): string[] => parsed.snippetNames;

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
    liquidTemplates.renderText(parsed, variables, { now, budget, missing }),
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
    withTemplateErrors(field, () =>
      liquidTemplates.renderHoles(parsed, variables, { now, budget }),
    );
  return { pieces: content, values: placeholders.length ? values : () => [] };
}

/**
 * For each placeholder of `toSubstitutions`, the variables that its text shows for every recipient:
 * `{{ name }}` outside of tags. Variables that the template sets itself are left out.
 */
export const shownVariables = ({ parsed }: LiquidTemplate): string[][] =>
  liquidTemplates.listShownVariables(parsed);

/** Whether the template has no text, outputs or tags. */
export const isBlank = ({ parsed: { content } }: LiquidTemplate): boolean =>
  content.every((piece) => typeof piece === "string" && !/\S/.test(piece));

function parse(
  source: string,
  { escape: escapeHtml, field, snippets }: CompileOptions,
): liquidTemplates.Parsed {
  if (countTags(source) > maxTags)
    throw limitExceeded(field, `${field} can have at most ${maxTags} Liquid tags and outputs`);
  try {
    const part = escapeHtml ? "html" : "text";
    const sources =
      snippets && new Map(Object.entries(snippets).map(([name, body]) => [name, body[part]]));
    return liquidTemplates.parse(source, escapeHtml, sources);
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
  const place = liquidTemplates.placeOf(error);
  const inSnippet = place?.snippet ? ` of the snippet "${place.snippet}"` : "";
  const line = place === undefined ? "" : ` (line ${place.line}${inSnippet})`;
  const reason = (error as Error).message
    .replace(/(, file:[^,]*)?, line:\d+, col:\d+$/, "")
    .slice(0, 200);
  const message = `${field} ${what}${line}: ${reason}`;
  return invalid(message, { details: [{ path: field, message }] });
}
