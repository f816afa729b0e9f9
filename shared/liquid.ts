// Liquid templates from outside: checked, bounded, and the same output for the same input at any time. No files, no partials,
// no chance, no clock of their own. `split` parts what everyone gets from what each recipient gets, for providers that substitute.
import { type Liquid, LiquidError, type Template } from "liquidjs";
import { boundedCache } from "./cache.ts";
import { invalid, overLimit, type Problem } from "./errors.ts";
import { engineFor } from "./liquid/engine.ts";
import { type Parted, part } from "./liquid/holes.ts";
import { type Reads, readsOf } from "./liquid/reads.ts";
import { contextFor, rendered } from "./liquid/rendering.ts";
import type { Pieces } from "./providers/provider.ts";

export type Variables = Record<string, unknown>;

/** A checked template. Keep it for as many renderings as you like; compiling the same source again is cheap, too. */
export interface Compiled {
  /** The name that errors give it. */
  field: string;
  parsed: Parsed;
}
interface Parsed extends Parted {
  engine: Liquid;
  nodes: Template[];
  reads: Reads;
}

interface Moment {
  /** What `now`, `"now"` and `"today"` mean. With the same time the output is the same, byte for byte. */
  now: Date;
}

const maxTags = 10_000;
const bytesPerTag = 1500;
const parsedSources = { escaping: boundedCache<Parsed>(24_000_000), plain: boundedCache<Parsed>(24_000_000) };

/**
 * Parses a template. With `escape` every output is HTML-escaped, unless its last filter is `raw` or itself escapes.
 * Throws `invalid` naming `field` and the line when it does not parse; a tag or filter that is not known does not parse.
 */
export function compile(source: string, { escape: escaping, field }: { escape: boolean; field: string }): Compiled {
  const known = escaping ? parsedSources.escaping : parsedSources.plain;
  const parsed = known.get(source) ?? parse(source, escaping, field);
  known.set(source, parsed, source.length * 2 + tagsIn(source) * bytesPerTag);
  return { field, parsed };
}

/** The paths a template reads and does not set itself (`firstName`, `order.total`), in order of appearance, each once. */
export const variables = ({ parsed }: Compiled): string[] => [...parsed.reads.names];

/** Of these, those whose absence leaves a gap: not those with a `default` filter, nor those only asked about in a condition. */
export const needed = ({ parsed }: Compiled): string[] => [
  ...new Set([...parsed.reads.needed.values()].flat().map((token) => token.getText())),
];

/** Whether there is something at the end of a path, as far as it is written in plain words: what stands in brackets may be anything. */
export function has(given: Variables, path: string): boolean {
  const [words = ""] = path.split("[");
  let at: unknown = given;
  for (const [depth, word] of words.split(".").filter(Boolean).entries()) {
    const isThere = typeof at === "object" && at !== null && Object.hasOwn(at, word);
    if (!isThere) return depth > 0 && at != null && ofItself.has(word);
    at = (at as Variables)[word];
  }
  return at !== undefined;
}

/** Of texts, lists and objects, in any template. */
const ofItself = new Set(["size", "first", "last"]);

/**
 * The whole text. `missing` names the variables that were looked up to be shown or worked with and are not given. Not missing are
 * those with a `default` filter, those only asked about in a condition, and those in a branch not taken. null counts as given.
 * Throws `invalid` when a template passes its limits or hands a filter what it cannot take.
 */
export function render({ field, parsed }: Compiled, given: Variables, { now }: Moment): { text: string; missing: string[] } {
  const missing = new Set<string>();
  const text = guarded(field, () => {
    const context = contextFor(parsed.engine, given, now, { missing, reads: parsed.reads });
    return rendered(parsed.nodes, context);
  });
  return { text, missing: [...missing] };
}

/**
 * Filling `pieces` with `values(variables)` gives what `render` gives, whatever the template. `values` throws as `render` does,
 * but passes over what is set at the end and shown nowhere.
 */
export function split({ field, parsed }: Compiled): { pieces: Pieces; values(given: Variables, moment: Moment): string[] } {
  const { engine, pieces, holes } = parsed;
  const values = (given: Variables, { now }: Moment) =>
    guarded(field, () => {
      const context = contextFor(engine, given, now);
      return holes.map((nodes) => rendered(nodes, context));
    });
  return { pieces, values: holes.length ? values : () => [] };
}

function parse(source: string, escaping: boolean, field: string): Parsed {
  if (tagsIn(source) > maxTags) throw overLimit(field, `${field} may have at most ${maxTags} Liquid tags and outputs`);
  const engine = engineFor(escaping);
  try {
    const nodes = engine.parse(source);
    return { engine, nodes, reads: readsOf(nodes), ...part(nodes) };
  } catch (error) {
    throw refusal(error, field, "does not parse");
  }
}

// In a {% liquid %} tag every line is a tag.
const tagsIn = (source: string): number => source.match(/\{%-?\s*liquid\b/.test(source) ? /\{\{|\{%|\n/g : /\{\{|\{%/g)?.length ?? 0;

function guarded<T>(field: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw refusal(error, field, "cannot be rendered");
  }
}

// Whatever goes wrong in here is the template's doing, a stack overflow by nesting included.
function refusal(error: unknown, field: string, what: string): Problem {
  const line = LiquidError.is(error) ? ` (line ${error.token.getPosition()[0]})` : "";
  const reason = (error as Error).message.replace(/, line:\d+, col:\d+$/, "").slice(0, 200);
  const message = `${field} ${what}${line}: ${reason}`;
  return invalid(message, { details: [{ path: field, message }] });
}
