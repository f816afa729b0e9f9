import { compile } from "html-to-text";

let convert: ReturnType<typeof compile> | undefined;

const maxDepth = 200;
const maxCharacters = 200_000;

/**
 * An HTML mail as plain text: links with their addresses, headings as they are written, no images, no line breaks of our
 * own. Of one that is nested deeper than any mail is, what lies below is left out; one of far more than mail programs show is just
 * freed of its tags.
 */
export function plainText(html: string): string {
  const bare = html.length > maxCharacters ? html.replace(/\bdata:[\w/.+-]*;base64,[\w+/=%]*/g, "") : html;
  // The time of the parser grows with the square of what is left open: of a megabyte it may be a minute.
  return bare.length > maxCharacters ? untagged(bare) : converted(bare);
}

function converted(html: string): string {
  // Compiled once: that takes 150 us, which is fifteen times as long as the text of a short table.
  convert ??= compile({
    wordwrap: false,
    // It goes down by calling itself, and would run out of stack.
    limits: { maxDepth, ellipsis: "" },
    selectors: [
      { selector: "img", format: "skip" },
      { selector: "a", options: { hideLinkHrefIfSameAsText: true } },
      // What stands in a hole would not be raised.
      ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
    ],
  });
  return convert(html);
}

/** In one pass, whatever comes. */
function untagged(html: string): string {
  const parts: string[] = [];
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf("<", at);
    parts.push(html.slice(at, open < 0 ? undefined : open));
    const end = open < 0 ? -1 : tagEnd(html, open);
    if (end < 0) break;
    parts.push(breaking.test(html.slice(open, open + 12)) ? "\n" : " ");
    at = end;
  }
  const text = parts.join("").replace(/&(amp|lt|gt|quot|nbsp|#39);/g, (_, name: string) => entities[name]!);
  return text
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .replace(/\n{2,}/g, "\n\n")
    .trim();
}

const breaking = /^<\/?(p|div|br|tr|li|ul|ol|table|h[1-6])\b/i;
const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: " ", "#39": "'" };

/** After the tag, and for those that hold no text after their end; -1 when there is none. */
function tagEnd(html: string, open: number): number {
  const [, silent] = /^<(style|script|title|!--)/i.exec(html.slice(open, open + 10)) ?? [];
  const closing = silent === undefined ? />/g : silent === "!--" ? /-->/g : new RegExp(`</${silent}[^>]{0,20}>`, "gi");
  closing.lastIndex = open;
  return closing.test(html) ? closing.lastIndex : -1;
}
