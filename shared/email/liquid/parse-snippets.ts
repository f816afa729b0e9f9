// Parses the snippets of a template: each once, without cycles, and within the limits of one
// template.
import type { Liquid, Template } from "liquidjs";
import { expandSnippets } from "./expand-snippets.ts";
import { type ParsedSnippet, withSnippets } from "./snippet-tags.ts";

/** The Liquid source of each snippet that the template can name. Null: it has no such part. */
export type SnippetSources = ReadonlyMap<string, string | null>;

interface Size {
  tags: number;
  characters: number;
}

const maxSize: Size = { tags: 10_000, characters: 1_100_000 };
const maxDepth = 8;

export interface ParsedSource extends ParsedSnippet {
  /** The size of all snippets, once for each time that they are used. */
  size: Size;
  /** The snippets that the template itself names. */
  snippetNames: string[];
}

interface KnownSnippet extends ParsedSnippet {
  size: Size;
}

export function parseWithSnippets(
  source: string,
  {
    liquid,
    snippets,
    part,
    check,
  }: {
    liquid: Liquid;
    snippets: SnippetSources | undefined;
    /** The part of snippets that is used, for errors. */
    part: "html" | "text";
    check(nodes: Template[]): void;
  },
): ParsedSource {
  const known = new Map<string, KnownSnippet>();
  const used: Size = { tags: 0, characters: 0 };
  const own = new Set<string>();
  const path: string[] = [];

  function load(name: string): ParsedSnippet {
    if (!path.length) own.add(name);
    const found = known.get(name) ?? parseSnippet(name);
    addSize(found.size);
    return found;
  }

  function parseSnippet(name: string): KnownSnippet {
    if (path.includes(name))
      throw new Error(`snippets use each other in a cycle: ${[...path, name].join(" > ")}`);
    if (path.length >= maxDepth)
      throw new Error(`snippets can be nested ${maxDepth} deep: ${[...path, name].join(" > ")}`);
    const source = snippets!.get(name);
    if (source === undefined) throw new Error(`there is no snippet "${name}"`);
    if (source === null) throw new Error(`the snippet "${name}" has no ${part}`);
    path.push(name);
    const before = { ...used };
    const nodes = liquid.parse(source, name);
    check(nodes);
    const parsed = { nodes, expanded: expandSnippets(nodes) };
    path.pop();
    const size = {
      tags: used.tags - before.tags + countTags(source),
      characters: used.characters - before.characters + source.length,
    };
    // `load` adds it again.
    Object.assign(used, before);
    const snippet = { ...parsed, size };
    known.set(name, snippet);
    return snippet;
  }

  function addSize({ tags, characters }: Size) {
    used.tags += tags;
    used.characters += characters;
    if (used.tags > maxSize.tags || used.characters > maxSize.characters)
      throw new Error("with its snippets it is too large");
  }

  const nodes = withSnippets(snippets && load, () => liquid.parse(source));
  check(nodes);
  return { nodes, expanded: expandSnippets(nodes), size: used, snippetNames: [...own] };
}

const countTags = (source: string): number => source.match(/\{[{%]/g)?.length ?? 0;
