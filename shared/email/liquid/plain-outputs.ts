// Templates of text and plain outputs, such as `{{ firstName | default: "you" }}`, become
// functions, which take a thirtieth of the engine's time. The engine renders everything else.
import { Output, type Template, type Token, TypeGuards } from "liquidjs";
import type { Budget } from "./budget.ts";
import { ScopedNode } from "./snippet-tags.ts";
import { mayEndRendering } from "./template-parts.ts";

type Fields = Record<string, unknown>;
type Text = string | number | boolean | null | undefined;
/** Undefined when only the engine knows what such a value becomes. */
type PlainOutput = (scope: Fields) => string | undefined;
type Step = (value: Text) => Text;

const { isPropertyAccessToken, isWordToken, isQuotedToken, isHTMLToken } = TypeGuards;

/** For each placeholder, its outputs. Undefined when the template has anything else. */
export function compilePlainOutputs(
  nodes: Template[],
  placeholders: Template[][],
): PlainOutput[][] | undefined {
  if (!nodes.every((node) => node instanceof Output || isHTMLToken(node.token))) return undefined;
  const compiled = placeholders.map((outputs) =>
    outputs.map((output) => compileOutput(output as Output)),
  );
  return compiled.every((outputs) => outputs.every((output) => output !== undefined))
    ? (compiled as PlainOutput[][])
    : undefined;
}

/**
 * For each placeholder, the names of the variables that it always shows: those of its outputs
 * outside of tags, without filters other than `raw`.
 */
export const findShownVariables = (placeholders: Template[][]): string[][] =>
  placeholders.map((nodes) =>
    nodes.some(mayEndRendering) ? [] : nodes.flatMap((node) => shownBy(node) ?? []),
  );

function shownBy(node: Template): string | undefined {
  if (node instanceof Output) return variableOf(node);
  if (!(node instanceof ScopedNode)) return undefined;
  const name = shownBy(node.node);
  return name === undefined || node.tag.hides(name) ? undefined : name;
}

function variableOf({ value: { initial, filters } }: Output): string | undefined {
  const [token, ...others] = initial.postfix;
  const isPlain = filters.every(({ name }) => name === "raw" || !isFilterName(name));
  return token && !others.length && isPlain ? wordsOf(token)?.join(".") : undefined;
}

const unitsPerOutput = 1000;
const unitsPerCharacter = 4;

/** Undefined when the engine has to render the template for these variables. */
export function renderPlainOutputs(
  outputs: PlainOutput[][],
  scope: Fields,
  budget: Budget,
): string[] | undefined {
  const texts: string[] = [];
  budget.checkTime();
  for (const group of outputs) {
    let text = "";
    for (const render of group) {
      const part = render(scope);
      if (part === undefined) return undefined;
      text += part;
    }
    budget.use(unitsPerOutput * group.length + unitsPerCharacter * text.length);
    texts.push(text.toWellFormed());
  }
  return texts;
}

function compileOutput({ value: { initial, filters } }: Output): PlainOutput | undefined {
  const [token, ...others] = initial.postfix;
  const path = token && !others.length ? wordsOf(token) : undefined;
  const steps = filters.map(({ name, args }) => compileFilter(name, args as Token[]));
  if (!path || !steps.every((step) => step !== undefined)) return undefined;
  return (scope) => {
    const value = readPath(scope, path);
    return typeof value === "object" && value !== null
      ? undefined
      : toText(steps.reduce<Text>((result, step) => step(result), value as Text));
  };
}

// The engine gives these words a meaning of their own.
const reservedWords = new Set(["now", "continue", "size", "first", "last", "length"]);

function wordsOf(token: Token): string[] | undefined {
  if (!isPropertyAccessToken(token) || token.variable) return undefined;
  const words = token.props.map((prop) => (isWordToken(prop) ? prop.content : ""));
  return words.every((word) => word && !reservedWords.has(word)) ? words : undefined;
}

/** An object when the engine has to read the path. */
function readPath(scope: Fields, path: string[]): unknown {
  let value: unknown = scope;
  for (const word of path) {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "object" || Array.isArray(value)) return {};
    value = Object.hasOwn(value, word) ? (value as Fields)[word] : undefined;
  }
  return typeof value === "function" ? {} : value;
}

const toText = (value: Text): string =>
  value === null || value === undefined ? "" : String(value);

const textFilters: Record<string, (text: string) => string> = {
  capitalize: (text) => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase(),
  upcase: (text) => text.toUpperCase(),
  downcase: (text) => text.toLowerCase(),
  strip: (text) => text.trim(),
};

/** The engine adds the escaping of outputs as a filter whose name is source text. */
const isFilterName = (name: string): boolean => /^\w+$/.test(name);

function compileFilter(name: string, args: Token[]): Step | undefined {
  if (!isFilterName(name)) return (value) => escapeText(toText(value));
  const [argument] = args;
  if (name === "default" && args.length === 1 && argument && isQuotedToken(argument))
    return (value) => (isBlank(value) ? argument.content : value);
  const filter = Object.hasOwn(textFilters, name) && !args.length ? textFilters[name] : undefined;
  return filter && ((value) => filter(toText(value)));
}

const isBlank = (value: Text): boolean =>
  value === undefined || value === null || value === false || value === "";

const escapes: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

const escapeText = (text: string): string => text.replace(/[&<>"']/g, (char) => escapes[char]!);
