// A page of text on which words are put: it keeps them apart as far as they want, and lines behind their margins.

export interface Page {
  text: string;
  /** Line ends wanted before the next word. */
  breaks: number;
  /** A space is wanted before the next word. */
  space: boolean;
  /** What stands at the left of each line, from the outside in. */
  margins: { first: string; rest: string }[];
  /** The lists we are in: the number of the last item, where items have one, and how many margins lie outside. */
  lists: { last: number | undefined; outside: number }[];
  link: { address: string; from: number } | undefined;
  /** How many `pre` we are in. */
  verbatim: number;
}

export const newPage = (): Page => ({ text: "", breaks: 0, space: false, margins: [], lists: [], link: undefined, verbatim: 0 });

/** Text of a document, whose white space is one space unless it is verbatim. */
export const write = (page: Page, text: string): void => (page.verbatim ? writeLines(page, text) : writeWords(page, text));

function writeWords(page: Page, text: string): void {
  const words = text.replace(/[ \t\r\n\f]+/g, " ");
  page.space ||= words.startsWith(" ");
  put(page, words.replace(/^ | $/g, ""));
  page.space ||= words.endsWith(" ");
}

function writeLines(page: Page, text: string): void {
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (i) page.breaks++;
    put(page, line);
  }
}

/** Words as they are, in this line or the one that was asked for. */
export function put(page: Page, words: string): void {
  if (!words) return;
  if (!page.text || page.breaks) page.text += "\n".repeat(page.text ? page.breaks : 0) + margin(page);
  else if (page.space) page.text += " ";
  page.text += words;
  page.breaks = 0;
  page.space = false;
}

function margin({ margins }: Page): string {
  const text = margins.map(({ first }) => first).join("");
  for (const each of margins) each.first = each.rest;
  return text;
}

/** The next words stand so many line ends below. */
export function keepOff(page: Page, distance: number): void {
  if (!distance) return;
  page.breaks = Math.max(page.breaks, distance);
  page.space = false;
}

// Deeper nesting is not shown: a page of nothing else would grow without end.
const deepest = 8;
/** Sets what follows off, with one mark for its first line and one for the rest. */
export const indent = (page: Page, first: string, rest: string) => {
  if (page.margins.length < deepest) page.margins.push({ first, rest });
};
