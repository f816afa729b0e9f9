import { compile } from "html-to-text";
import { previewTextClass } from "./link-tags.ts";

let convert: ReturnType<typeof compile> | undefined;

const maxDepth = 200;
const maxCharacters = 200_000;
const maxTags = 20_000;

/**
 * Converts an HTML mail to plain text: links with their addresses, headings in their own case, no
 * images, no wrapping.
 * Elements nested deeper than `maxDepth` are left out. Mails that are too long or have too many
 * tags only lose their tags.
 */
export function htmlToText(html: string): string {
  const withoutDataUrls =
    html.length > maxCharacters ? html.replace(/\bdata:[\w/.+-]*;base64,[\w+/=%]*/g, "") : html;
  // The parser's time grows with the square of the open elements: a megabyte can take a minute.
  return withoutDataUrls.length > maxCharacters || withoutDataUrls.split("<").length > maxTags
    ? stripTags(withoutDataUrls)
    : convertParsed(withoutDataUrls);
}

function convertParsed(html: string): string {
  // Compiled once, because that takes 15 times as long as converting a short text.
  convert ??= compile({
    wordwrap: false,
    // The library is recursive and would overflow the stack.
    limits: { maxDepth, ellipsis: "" },
    selectors: [
      { selector: "img", format: "skip" },
      { selector: `.${previewTextClass}`, format: "skip" },
      { selector: "a", options: { hideLinkHrefIfSameAsText: true } },
      // Values of placeholders are filled in later and would not be in upper case.
      ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({
        selector,
        options: { uppercase: false },
      })),
    ],
  });
  return convert(html);
}

/** Takes one pass over any input. */
function stripTags(html: string): string {
  const parts: string[] = [];
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf("<", at);
    parts.push(html.slice(at, open < 0 ? undefined : open));
    const end = open < 0 ? -1 : findTagEnd(html, open);
    if (end < 0) break;
    parts.push(blockTags.test(html.slice(open, open + 12)) ? "\n" : " ");
    at = end;
  }
  const text = parts
    .join("")
    .replace(/&(amp|lt|gt|quot|nbsp|#39);/g, (_, name: string) => entities[name]!);
  return text
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{2,}/g, "\n\n")
    .trim();
}

const blockTags = /^<\/?(p|div|br|tr|li|ul|ol|table|h[1-6])\b/i;
const entities: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  nbsp: " ",
  "#39": "'",
};

/**
 * The position after the tag, or after the whole element if it contains no text; -1 if it does not
 * end.
 */
function findTagEnd(html: string, open: number): number {
  const [, textlessTag] = /^<(style|script|title|!--)/i.exec(html.slice(open, open + 10)) ?? [];
  const closing = closingPattern(textlessTag);
  closing.lastIndex = open;
  return closing.test(html) ? closing.lastIndex : -1;
}

function closingPattern(textlessTag: string | undefined): RegExp {
  if (textlessTag === undefined) return />/g;
  return textlessTag === "!--" ? /-->/g : new RegExp(`</${textlessTag}[^>]{0,20}>`, "gi");
}
