// Where footers go in an HTML body.

import type { MergeText } from "../providers/provider-adapter.ts";

/** Inserts before `</body>`, or at the end when there is none. */
export function insertBeforeBodyEnd(pieces: MergeText, footer: MergeText): MergeText {
  const at = pieces.findLastIndex((piece) => typeof piece === "string" && bodyEnd.test(piece));
  if (at < 0) return [...pieces, ...footer];
  const piece = pieces[at] as string;
  const place = piece.toLowerCase().lastIndexOf("</body");
  return [
    ...pieces.slice(0, at),
    piece.slice(0, place),
    ...footer,
    piece.slice(place),
    ...pieces.slice(at + 1),
  ];
}

const bodyEnd = /<\/body\s*>/i;
