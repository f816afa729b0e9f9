import { compile, type FormatCallback } from "html-to-text";
import { previewTextClass } from "./link-tags.ts";

let convert: ReturnType<typeof compile> | undefined;

const maxDepth = 200;
const maxCharacters = 200_000;
const maxTags = 20_000;

/**
 * Converts an HTML mail to plain text, without wrapping: links with their addresses, images as
 * their alt text, rows of tables as lines, headings in their own case, nothing that is hidden.
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
    formatters: { altText, cell, link },
    selectors: [
      { selector: "img", format: "altText" },
      { selector: "a", format: "link" },
      { selector: "tr", format: "block", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
      { selector: "td", format: "cell" },
      { selector: "th", format: "cell" },
      // Values of placeholders are filled in later and would not be in upper case.
      ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({
        selector,
        options: { uppercase: false },
      })),
      ...hiddenElements.map((selector) => ({ selector, format: "skip" })),
    ],
  });
  return convert(html);
}

/** Elements that mail programs do not show. */
const hiddenElements = [
  `.${previewTextClass}`,
  "[hidden]",
  ...["display:none", "visibility:hidden", "mso-hide:all"].flatMap((style) => [
    `[style*="${style}" i]`,
    `[style*="${style.replace(":", ": ")}" i]`,
  ]),
];

const altText: FormatCallback = ({ attribs }, _, builder) =>
  builder.addInline(attribs.alt ?? "", {});

/** The cells of a row are a word apart. */
const cell: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder);
  builder.addInline(" ", {});
};

/** The text with the address in brackets, unless the text is the address. */
const link: FormatCallback = (element, walk, builder) => {
  const address = readableAddress(element.attribs.href ?? "");
  let text = "";
  builder.pushWordTransform((word) => {
    text += word;
    return word;
  });
  walk(element.children, builder);
  builder.popWordTransform();
  if (!address || isSameAddress(text, address)) return;
  builder.addInline(text ? ` [${address}]` : address, { noWordTransform: true });
};

/** As a browser reads it: without the spaces around it, and with a code for those inside. */
const readableAddress = (href: string): string =>
  href
    .trim()
    .replace(/[\t\n\r]/g, "")
    .replaceAll(" ", "%20")
    .replace(/^mailto:/i, "");

const isSameAddress = (text: string, address: string): boolean =>
  text === address || (URL.parse(text)?.href ?? text) === URL.parse(address)?.href;

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
