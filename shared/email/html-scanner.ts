// Finds the tags of HTML with the tokenizer of htmlparser2, which knows comments, conditional
// comments and elements whose content is text, such as `style`. Positions are those of the source.
// Takes one pass over any input.
import { Parser, Tokenizer } from "htmlparser2";

/** A part of the source, from `start` up to `end`, which is not part of it. */
export interface SourceRange {
  start: number;
  end: number;
}

export interface HtmlAttribute extends SourceRange {
  /** In lower case. */
  name: string;
  /** The value as in the source, without its quotes. */
  value: string;
  isQuoted: boolean;
}

/** The range of a tag goes from `<` to `>`; that of an attribute is its value without quotes. */
export interface HtmlTag extends SourceRange {
  /** In lower case. */
  name: string;
  isClosing: boolean;
  attributes: HtmlAttribute[];
}

export interface ScannedHtml {
  /** The tags with one of the given names, in the order of the source. */
  tags: HtmlTag[];
  /** What is between `<!--` and the end of each comment. */
  comments: SourceRange[];
  /** The end of the source, or the start of a comment, tag or text element that does not end. */
  visibleEnd: number;
  /** The position after `<!DOCTYPE html>`, or 0. */
  doctypeEnd: number;
}

/** The value of the first attribute with this name, with `&amp;` as `&`. */
export const attributeOf = ({ attributes }: HtmlTag, name: string): string | undefined =>
  attributes.find((attribute) => attribute.name === name)?.value.replaceAll("&amp;", "&");

/** The value of an attribute, from its source. */
export function decodeAttribute(source: string): string {
  if (!source.includes("&")) return source;
  let decoded = source;
  const parser = new Parser({
    onattribute: (_, value) => {
      decoded = value;
    },
  });
  parser.write(`<a href="${source.replaceAll('"', "&quot;")}">`);
  return decoded;
}

/** Their content is text up to their closing tag. */
const textElements = new Set(["script", "style", "textarea", "title", "xmp"]);

export function scanHtml(html: string, names: readonly string[]): ScannedHtml {
  const result: ScannedHtml = { tags: [], comments: [], visibleEnd: 0, doctypeEnd: 0 };
  let tag: HtmlTag = { name: "", isClosing: false, start: 0, end: 0, attributes: [] };
  let attribute = { name: "", start: 0, end: 0 };
  let isInTextElement = false;
  const endOfToken = (end: number) => {
    if (!isInTextElement) result.visibleEnd = end;
  };
  const endTag = (end: number) => {
    tag.end = end;
    if (names.includes(tag.name)) result.tags.push(tag);
  };
  const openingTagEnds = (endIndex: number) => {
    isInTextElement = textElements.has(tag.name);
    endTag(endIndex + 1);
    endOfToken(endIndex + 1);
  };
  const ignore = () => {};
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      onopentagname(start, end) {
        const name = html.slice(start, end).toLowerCase();
        tag = { name, isClosing: false, start: start - 1, end, attributes: [] };
      },
      onattribname(start, end) {
        attribute = { name: html.slice(start, end).toLowerCase(), start: end, end };
      },
      onattribdata(start, end) {
        if (attribute.start === attribute.end) attribute.start = start;
        attribute.end = end;
      },
      onattribend(quote) {
        const { name, start, end } = attribute;
        const value = quote ? html.slice(start, end) : "";
        tag.attributes.push({ name, start, end, value, isQuoted: quote > 1 });
      },
      onopentagend: openingTagEnds,
      onselfclosingtag: openingTagEnds,
      onclosetag(start, end) {
        isInTextElement = false;
        const name = html.slice(start, end).toLowerCase();
        const closed = html.indexOf(">", end);
        if (closed < 0) return;
        tag = { name, isClosing: true, start: start - 2, end, attributes: [] };
        endTag(closed + 1);
        endOfToken(tag.end);
      },
      oncomment(start, end) {
        result.comments.push({ start, end });
        endOfToken(end + 1);
      },
      oncdata: (_, end) => endOfToken(end + 1),
      onprocessinginstruction: (_, end) => endOfToken(end + 1),
      ondeclaration(start, end) {
        endOfToken(end + 1);
        if (/^!?doctype/i.test(html.slice(start, end))) result.doctypeEnd = end + 1;
      },
      ontext: (_, end) => endOfToken(end),
      ontextentity: (_, end) => endOfToken(end),
      onattribentity: ignore,
      onend: ignore,
    },
  );
  tokenizer.write(html);
  return result;
}

/**
 * Replaces Liquid by text of the same length, so that `scanHtml` finds the tags around it: an
 * output by letters, a tag or a comment with its content by spaces.
 */
export function maskLiquid(source: string): string {
  const opening = /\{\{|\{%-?\s*(?:(comment)\b)?/g;
  const unclosed = new Set<string>();
  let masked = "";
  let at = 0;
  for (let match = opening.exec(source); match; match = opening.exec(source)) {
    const kind = match[1] ?? match[0].slice(0, 2);
    const end = unclosed.has(kind) ? undefined : findLiquidEnd(source, opening.lastIndex, kind);
    if (end === undefined) {
      unclosed.add(kind);
      continue;
    }
    masked += source.slice(at, match.index) + (kind === "{{" ? "x" : " ").repeat(end - match.index);
    at = end;
    opening.lastIndex = end;
  }
  return masked + source.slice(at);
}

const liquidEnds: Record<string, RegExp> = {
  "{{": /\}\}/g,
  "{%": /%\}/g,
  comment: /\{%-?\s*endcomment\s*-?%\}/g,
};

function findLiquidEnd(source: string, from: number, kind: string): number | undefined {
  const end = liquidEnds[kind]!;
  end.lastIndex = from;
  return end.test(source) ? end.lastIndex : undefined;
}
