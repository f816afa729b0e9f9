// The template languages of the providers, as far as they fill in a recipient's values.
import type { Part } from "./contract.ts";

export type Fill = (text: string, part: Part) => string;

/** Replaces each key literally wherever it stands, one key after the other: SendGrid's substitutions. */
export function literally(values: Record<string, string>): Fill | undefined {
  const pairs = Object.entries(values);
  return pairs.length ? (text) => pairs.reduce((filled, [key, value]) => filled.replaceAll(key, () => value), text) : undefined;
}

/** `%recipient.name%`: Mailgun. A name without a value stays as it is. */
export const byPercent =
  (values: Record<string, unknown>): Fill =>
  (text) =>
    text.replace(/%recipient\.([^%\s]+)%/g, (whole, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : whole));

/** `*|NAME|*`, names in any case: Mandrill. A name without a value stays as it is. */
export function byAsterisks(values: Record<string, unknown>): Fill {
  const named = new Map(Object.entries(values).map(([name, value]) => [name.toUpperCase(), String(value ?? "")]));
  return (text) => text.replace(/\*\|([^|*]+)\|\*/g, (whole, name: string) => named.get(name.trim().toUpperCase()) ?? whole);
}

interface Braces {
  /** `{{x}}` is escaped in html, `{{{x}}}` is not. */
  escapes: boolean;
}

/** `{{ a.b }}` and `{{{ a.b }}}`; a name without a value is empty. */
export const byBraces =
  (values: Record<string, unknown>, { escapes }: Braces): Fill =>
  (text, part) =>
    text.replace(/\{\{\{\s*([^{}]*?)\s*\}\}\}|\{\{\s*([^{}]*?)\s*\}\}/g, (_, raw: string | undefined, usual: string | undefined) => {
      const value = lookUp(values, raw ?? usual ?? "");
      return escapes && part === "html" && raw === undefined ? escaped(value) : value;
    });

/** `{{ params.x }}`: Brevo. Any other expression, statement or comment of its language leaves nothing behind. */
export const byParams =
  (params: Record<string, unknown>): Fill =>
  (text) =>
    text.replace(/\{\{\s*([^{}]*?)\s*\}\}|\{%[^{}]*%\}|\{#[^{}]*#\}/g, (_, name: string | undefined) => lookUp({ params }, name ?? ""));

/** The first expression in braces that is no plain name, or names no value when all are needed. */
export function unfit(text: string, values?: Record<string, unknown>): string | undefined {
  const names = [...text.matchAll(/\{\{\{?\s*([^{}]*?)\s*\}?\}\}/g)].map(([, name]) => name ?? "");
  return names.find((name) => !/^[\w$-]+(?:[.[][\w$\]-]+)*$/.test(name) || (values !== undefined && known(values, name) === undefined));
}

const lookUp = (values: Record<string, unknown>, path: string) => String(known(values, path) ?? "");
const known = (values: Record<string, unknown>, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>(
      (at, name) => (at && typeof at === "object" && Object.hasOwn(at, name) ? (at as Record<string, unknown>)[name] : undefined),
      values,
    );

export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[letter] ?? letter);
