// Marks an HTML body with its language and its direction.
import { attributeOf, type HtmlTag, maskLiquid, scanHtml } from "./html-scanner.ts";
import { directionOf } from "./languages.ts";
import type { Snippets } from "./liquid.ts";

/** The opening tags stand at the start. */
const scannedCharacters = 10_000;

const findRoot = (html: string): HtmlTag | undefined => {
  const { tags } = scanHtml(maskLiquid(html.slice(0, scannedCharacters)), ["html", "body"]);
  const opening = tags.filter(({ isClosing }) => !isClosing);
  return opening.find(({ name }) => name === "html") ?? opening[0];
};

/** Whether the source has the tag that says the language of the whole mail. */
const hasRootTag = (html: string): boolean => findRoot(html) !== undefined;

/**
 * Sets `lang` and `dir` of the `html` element, else of `body`. A value with Liquid stays as it is.
 * A source without either stays unchanged.
 */
function setRootLanguage(html: string, locale: string): string {
  const root = findRoot(html);
  if (!root) return html;
  const direction = directionOf(locale);
  const withDirection =
    direction === "rtl" || attributeOf(root, "dir") !== undefined
      ? setAttribute(html, root, { name: "dir", value: direction })
      : html;
  // The tag begins at the same position, and its attributes may have moved.
  return setAttribute(withDirection, findRoot(withDirection) ?? root, {
    name: "lang",
    value: locale,
  });
}

/** Puts a part of a page into an element with its language and direction. */
const wrapInLanguage = (html: string, locale: string): string =>
  `<div lang="${locale}" dir="${directionOf(locale)}">${html}</div>`;

function setAttribute(
  html: string,
  tag: HtmlTag,
  { name, value }: { name: string; value: string },
): string {
  const known = tag.attributes.find((attribute) => attribute.name === name);
  if (!known) {
    const at = tag.start + 1 + tag.name.length;
    return `${html.slice(0, at)} ${name}="${value}"${html.slice(at)}`;
  }
  const { start, end, isQuoted } = known;
  const before = html.slice(start, end);
  if (before.includes("{{") || before.includes("{%")) return html;
  // An attribute without a value, or with an unquoted one, gets quotes of its own.
  const isEmpty = start === end && !isQuoted;
  const quoted = isQuoted ? value : `"${value}"`;
  return html.slice(0, start) + (isEmpty ? `="${value}"` : quoted) + html.slice(end);
}

interface MarkedParts {
  html: string;
  snippets: Snippets;
}

/**
 * Marks a mail, which can begin in one of its snippets. A part of a page gets an element of its own
 * with the language.
 */
export function markLanguage({ html, snippets }: MarkedParts, locale: string): MarkedParts {
  const roots = Object.entries(snippets).flatMap(([name, snippet]) =>
    snippet.html !== null && hasRootTag(snippet.html)
      ? [[name, { ...snippet, html: setRootLanguage(snippet.html, locale) }] as const]
      : [],
  );
  if (roots.length || hasRootTag(html))
    return {
      html: setRootLanguage(html, locale),
      snippets: { ...snippets, ...Object.fromEntries(roots) },
    };
  return { html: wrapInLanguage(html, locale), snippets };
}
