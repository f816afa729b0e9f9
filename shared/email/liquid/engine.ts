// The two Liquid engines, for HTML and for plain text, without the tags and filters that reach
// outside of a template.
import { type FilterImplOptions, filters, Liquid } from "liquidjs";
import { applyLinkTags, linkTagFilter } from "../link-tags.ts";
import { renderNodes } from "./bounded-rendering.ts";
import { type Handler, operators, PaidCaseTag, paid } from "./costs.ts";
import { LayoutTag, RenderTag } from "./snippet-tags.ts";

const maxSourceLength = 1_100_000;

// Tags that read files or other templates. Those of snippets take the place of two.
const fileTags = ["include", "render", "layout", "block"];
// Filters with randomness, state across renderings, or expressions in strings.
const unsafeFilters = [
  "sample",
  "number_of_words",
  ...Object.keys(filters).filter((name) => name.endsWith("_exp")),
];
const dateFilters = Object.keys(filters).filter((name) => /^date(_|$)/.test(name));
/** If one of these filters is the last, its output is not escaped again. */
const rawFilters = ["raw", "escape", "escape_once", "xml_escape"];

let engines: { escaping: Liquid; plain: Liquid } | undefined;

export function engineFor(escaping: boolean): Liquid {
  engines ??= { escaping: createEngine(true), plain: createEngine(false) };
  return escaping ? engines.escaping : engines.plain;
}

function createEngine(escaping: boolean): Liquid {
  const liquid = new Liquid({
    ...(escaping && { outputEscape: paid("escape", filterFunction("escape")) }),
    templates: {},
    strictFilters: true,
    ownPropertyOnly: true,
    parseLimit: maxSourceLength,
    locale: "en-US",
    timezoneOffset: 0,
    operators,
  });
  liquid.renderer.renderTemplates = renderNodes;
  for (const name of fileTags) delete liquid.tags[name];
  for (const name of unsafeFilters) liquid.unregisterFilter(name);
  liquid.registerTag("case", PaidCaseTag);
  liquid.registerTag("render", RenderTag);
  liquid.registerTag("layout", LayoutTag);
  for (const name of Object.keys(liquid.filters)) {
    const handler = paid(
      name,
      dateFilters.includes(name) ? withFixedNow(filterFunction(name)) : filterFunction(name),
    );
    liquid.registerFilter(name, rawFilters.includes(name) ? { handler, raw: true } : handler);
  }
  liquid.registerFilter(linkTagFilter, paid(linkTagFilter, addTags));
  return liquid;
}

const addTags: Handler = (link, query, excludeHosts) =>
  applyLinkTags(String(link ?? ""), String(query ?? ""), String(excludeHosts ?? ""));

const filterFunction = (name: string): Handler => {
  const filter = (filters as Record<string, FilterImplOptions>)[name]!;
  return typeof filter === "function" ? filter : filter.handler;
};

/** A date filter that uses the time of the rendering. */
const withFixedNow = (handler: Handler): Handler =>
  function (value: unknown, ...args: unknown[]) {
    const date =
      value === "now" || value === "today" ? (this.context.globals as { now: string }).now : value;
    return handler.call(this, date, ...args);
  };
