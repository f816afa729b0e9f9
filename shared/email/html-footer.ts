// Where the footer goes in an HTML body, and in which language it is.
import type { MergeText } from "../providers/provider-adapter.ts";
import { attributeOf, scanHtml } from "./html-scanner.ts";
import { type Language, supportedLanguage } from "./languages.ts";

/**
 * Inserts before the last `</body>` that is a tag, else before `</html>`, else at the end. A
 * comment or an element that does not end hides what follows, so the footer goes before it.
 */
export function insertBeforeBodyEnd(pieces: MergeText, footer: MergeText): MergeText {
  // A merge field counts as a letter, because its value is not known.
  const html = pieces.map((piece) => (typeof piece === "string" ? piece : "x")).join("");
  const { tags, visibleEnd } = scanHtml(html, ["body", "html"]);
  const closing = (name: string) => tags.findLast((tag) => tag.isClosing && tag.name === name);
  const at = closing("body")?.start ?? closing("html")?.start ?? visibleEnd;
  const [before, after] = splitAt(pieces, at);
  return [...before, ...footer, ...after];
}

/** Splits at this position of the text in which each merge field has one character. */
function splitAt(pieces: MergeText, at: number): [MergeText, MergeText] {
  let start = 0;
  for (const [i, piece] of pieces.entries()) {
    const length = typeof piece === "string" ? piece.length : 1;
    if (typeof piece === "string" && at <= start + length) {
      const [head, tail] = [piece.slice(0, at - start), piece.slice(at - start)];
      return [
        [...pieces.slice(0, i), ...(head ? [head] : [])],
        [...(tail ? [tail] : []), ...pieces.slice(i + 1)],
      ];
    }
    start += length;
  }
  return [pieces, []];
}

const scannedCharacters = 10_000;

/** The language in the `lang` attribute of the `html` element. */
export function detectHtmlLanguage(html: string): Language {
  const { tags } = scanHtml(html.slice(0, scannedCharacters), ["html"]);
  return (tags[0] && supportedLanguage(attributeOf(tags[0], "lang") ?? "")) ?? "en";
}
