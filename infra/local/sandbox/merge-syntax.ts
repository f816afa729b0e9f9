// Inserts a recipient's values as the template languages of the providers do.
import type { ContentPart } from "./types.ts";

export type RenderText = (text: string, part: ContentPart) => string;

/** SendGrid's substitutions: replaces each occurrence of a key, one key after the other. */
export function replaceLiterally(values: Record<string, string>): RenderText | undefined {
  const pairs = Object.entries(values);
  return pairs.length
    ? (text) => pairs.reduce((filled, [key, value]) => filled.replaceAll(key, () => value), text)
    : undefined;
}

/** Mailgun's `%recipient.name%`. A name without a value stays in the text. */
export const renderMailgunVariables =
  (values: Record<string, unknown>): RenderText =>
  (text) =>
    text.replace(/%recipient\.([^%\s]+)%/g, (whole, name: string) =>
      Object.hasOwn(values, name) ? String(values[name]) : whole,
    );

/** Mandrill's `*|NAME|*` in any case. A name without a value stays in the text. */
export function renderMandrillTags(values: Record<string, unknown>): RenderText {
  const named = new Map(
    Object.entries(values).map(([name, value]) => [name.toUpperCase(), String(value ?? "")]),
  );
  return (text) =>
    text.replace(
      /\*\|([^|*]+)\|\*/g,
      (whole, name: string) => named.get(name.trim().toUpperCase()) ?? whole,
    );
}

interface HandlebarsOptions {
  /** In HTML, escapes the value of `{{x}}` but not of `{{{x}}}`. */
  escapes: boolean;
}

/** Handlebars `{{ a.b }}` and `{{{ a.b }}}`. Removes a name without a value. */
export const renderHandlebars =
  (values: Record<string, unknown>, { escapes }: HandlebarsOptions): RenderText =>
  (text, part) =>
    text.replace(
      /\{\{\{\s*([^{}]*?)\s*\}\}\}|\{\{\s*([^{}]*?)\s*\}\}/g,
      (_, raw: string | undefined, usual: string | undefined) => {
        const value = textAt(values, raw ?? usual ?? "");
        return escapes && part === "html" && raw === undefined ? escapeHtml(value) : value;
      },
    );

/** Brevo's `{{ params.x }}`. Removes all other expressions, statements and comments. */
export const renderBrevoParams =
  (params: Record<string, unknown>): RenderText =>
  (text) =>
    text.replace(
      /\{\{\s*([^{}]*?)\s*\}\}|\{%[^{}]*%\}|\{#[^{}]*#\}/g,
      (_, name: string | undefined) => textAt({ params }, name ?? ""),
    );

/**
 * Returns the first expression in braces that cannot be rendered: it is not a plain name or, if
 * `values` are given, has no value.
 */
export function findUnrenderable(
  text: string,
  values?: Record<string, unknown>,
): string | undefined {
  const names = [...text.matchAll(/\{\{\{?\s*([^{}]*?)\s*\}?\}\}/g)].map(([, name]) => name ?? "");
  return names.find(
    (name) =>
      !/^[\w$-]+(?:[.[][\w$\]-]+)*$/.test(name) ||
      (values !== undefined && valueAt(values, name) === undefined),
  );
}

const textAt = (values: Record<string, unknown>, path: string) =>
  String(valueAt(values, path) ?? "");
const valueAt = (values: Record<string, unknown>, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>(
      (at, name) =>
        at && typeof at === "object" && Object.hasOwn(at, name)
          ? (at as Record<string, unknown>)[name]
          : undefined,
      values,
    );

export const escapeHtml = (text: string): string =>
  text.replace(
    /[&<>"']/g,
    (letter) =>
      ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[letter] ?? letter,
  );
