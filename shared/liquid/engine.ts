// The two Liquid engines, one for HTML and one for plain text, without all that reaches outside of a template.
import { defaultOperators, type FilterImplOptions, filters, Liquid } from "liquidjs";
import { renderNodes } from "./rendering.ts";
import { contains, searching, searchingFilters } from "./searching.ts";

const maxSourceLength = 1_100_000;

// Files and other templates.
const outsideTags = ["include", "render", "layout", "block"];
// Chance, memory between two runs, and expressions hidden in strings.
const strayFilters = ["sample", "number_of_words", ...Object.keys(filters).filter((name) => name.endsWith("_exp"))];
const dateFilters = Object.keys(filters).filter((name) => /^date(_|$)/.test(name));
/** Their output is escaped already: last in a row, they are not escaped again. */
const escapingFilters = ["escape", "escape_once", "xml_escape"];

let engines: { escaping: Liquid; plain: Liquid } | undefined;

export function engineFor(escaping: boolean): Liquid {
  engines ??= { escaping: engine(true), plain: engine(false) };
  return escaping ? engines.escaping : engines.plain;
}

function engine(escaping: boolean): Liquid {
  const liquid = new Liquid({
    ...(escaping && { outputEscape: "escape" as const }),
    templates: {},
    strictFilters: true,
    ownPropertyOnly: true,
    parseLimit: maxSourceLength,
    locale: "en-US",
    timezoneOffset: 0,
    operators: { ...defaultOperators, contains },
  });
  liquid.renderer.renderTemplates = renderNodes;
  for (const name of outsideTags) delete liquid.tags[name];
  for (const name of strayFilters) liquid.unregisterFilter(name);
  for (const name of dateFilters) liquid.registerFilter(name, atGivenTime(handlerOf(name)));
  for (const name of searchingFilters) liquid.registerFilter(name, searching(handlerOf(name)));
  for (const name of escapingFilters) liquid.registerFilter(name, { handler: handlerOf(name), raw: true });
  return liquid;
}

export type Handler = Extract<FilterImplOptions, (...all: never[]) => unknown>;

const handlerOf = (name: string): Handler => {
  const filter = (filters as Record<string, FilterImplOptions>)[name]!;
  return typeof filter === "function" ? filter : filter.handler;
};

/** A date filter that never looks at a clock. */
const atGivenTime = (handler: Handler): Handler =>
  function (value: unknown, ...args: unknown[]) {
    const date = value === "now" || value === "today" ? (this.context.globals as { now: string }).now : value;
    return handler.call(this, date, ...args);
  };
