// An HTML mail as plain text. Reads what mails are made of, in one pass, and in time that grows only with the length, whatever is sent.
import { decoded } from "./entities.ts";
import { indent, keepOff, newPage, type Page, put, write } from "./text-page.ts";

/** Links with their addresses, lists with their marks, no images; lines are not wrapped. */
export function plainText(html: string): string {
  const page = newPage();
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf("<", at);
    write(page, decoded(html.slice(at, open < 0 ? html.length : open)));
    at = open < 0 ? html.length : markup(page, html, open);
  }
  return page.text.replaceAll("\u00a0", " ");
}

const tagName = /[a-zA-Z][^\s/>]*/y;

/** Reads what begins with `<` at `open`; answers where it ends. What is not closed ends with the mail. */
function markup(page: Page, html: string, open: number): number {
  const closing = html[open + 1] === "/";
  tagName.lastIndex = open + (closing ? 2 : 1);
  const name = tagName.exec(html)?.[0].toLowerCase();
  if (!name) return noTag(page, html, open);
  const start = open + (closing ? 2 : 1) + name.length;
  const end = tagEnd(html, start);
  if (closing) (endings[name] ?? edge(name))(page);
  else (beginnings[name] ?? edge(name))(page, html.slice(start, end));
  return !closing && unread.has(name) ? after(html, ">", after(html, `</${name}`, end)) : end;
}

/** Comments and declarations are skipped, any other `<` is text. */
function noTag(page: Page, html: string, open: number): number {
  if (html.startsWith("<!--", open)) return after(html, "-->", open + 4);
  if (/[!?/]/.test(html[open + 1] ?? "")) return after(html, ">", open);
  write(page, "<");
  return open + 1;
}

function after(html: string, mark: string, from: number): number {
  const found = new RegExp(mark, "gi");
  found.lastIndex = from;
  return found.exec(html) ? found.lastIndex : html.length;
}

// A `>` in quotes ends nothing.
function tagEnd(html: string, from: number): number {
  const stop = /[>"']/g;
  stop.lastIndex = from;
  for (let found = stop.exec(html); found; found = stop.exec(html)) {
    if (found[0] === ">") return stop.lastIndex;
    stop.lastIndex = after(html, found[0], stop.lastIndex);
  }
  return html.length;
}

/** Elements whose content is not for readers. */
const unread = new Set(["style", "script", "title", "template"]);

/** How far text keeps from that of other elements, in line ends; elements that are not here run on in the line. */
const distances: Record<string, number> = {
  ...Object.fromEntries("p h1 h2 h3 h4 h5 h6 ul ol dl blockquote pre hr".split(" ").map((name) => [name, 2])),
  ...Object.fromEntries(
    "div li dt dd table tr section article header footer main nav aside address figure figcaption form center body"
      .split(" ")
      .map((name) => [name, 1]),
  ),
};

const edge = (name: string) => (page: Page) => keepOff(page, distances[name] ?? 0);

const list = (last: number | undefined) => (page: Page) => {
  keepOff(page, page.lists.length ? 1 : 2);
  page.lists.push({ last, outside: page.margins.length });
};

function endList(page: Page): void {
  endItem(page);
  page.lists.pop();
  keepOff(page, page.lists.length ? 1 : 2);
}

function item(page: Page): void {
  endItem(page);
  const within = page.lists.at(-1);
  const mark = within?.last === undefined ? " * " : ` ${++within.last}. `;
  indent(page, mark, " ".repeat(mark.length));
}

function endItem(page: Page): void {
  keepOff(page, 1);
  const within = page.lists.at(-1);
  page.margins.length = Math.min(page.margins.length, within?.outside ?? 0);
}

const href = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i;

function link(page: Page, attributes: string): void {
  const [, ...quoted] = href.exec(attributes) ?? [];
  const address = decoded(quoted.find((each) => each !== undefined) ?? "").trim();
  page.link = /^(#|javascript:|$)/i.test(address) ? undefined : { address, from: page.text.length };
}

/** The address follows its words, unless they say it themselves. */
function endLink(page: Page): void {
  if (!page.link) return;
  const { address, from } = page.link;
  const label = page.text.slice(from).trim();
  page.link = undefined;
  if (!label) put(page, address);
  if (!label || label === address || `mailto:${label}` === address) return;
  const { space } = page;
  page.space = true;
  put(page, `[${address}]`);
  page.space = space;
}

// Cells of a table are words of a line.
function apart(page: Page): void {
  page.space = true;
}

const beginnings: Record<string, (page: Page, attributes: string) => void> = {
  a: link,
  br: (page) => {
    page.breaks++;
  },
  ul: list(undefined),
  ol: list(0),
  li: item,
  blockquote: (page) => {
    keepOff(page, 2);
    indent(page, "> ", "> ");
  },
  pre: (page) => {
    keepOff(page, 2);
    page.verbatim++;
  },
  hr: (page) => {
    keepOff(page, 2);
    put(page, "-".repeat(40));
    keepOff(page, 2);
  },
};

const endings: Record<string, (page: Page) => void> = {
  a: endLink,
  ul: endList,
  ol: endList,
  li: endItem,
  td: apart,
  th: apart,
  blockquote: (page) => {
    keepOff(page, 2);
    if (page.margins.at(-1)?.rest === "> ") page.margins.pop();
  },
  pre: (page) => {
    keepOff(page, 2);
    page.verbatim = Math.max(0, page.verbatim - 1);
  },
};
