// Reads RSS 0.9x, 1.0 and 2.0 and Atom. A web address is kept only if it is http or https. Bundles
// load this file when they read the first feed.
import { Parser } from "htmlparser2";
import { escapeHtml } from "../../../../kernel/html.ts";
import { parseXml, type XmlElement, XmlFault } from "../../../../kernel/xml-tree.ts";
import { sha256 } from "../../../../keys.ts";
import type { RssFeed, RssItem } from "./rss-schema.ts";

const maxItems = 500;
const maxCategories = 20;
const maxContentCharacters = 200_000;

/** Returns why it is no feed, else the feed. Relative addresses are relative to `url`. */
export function parseRss(xml: string, url: string): { fault: string } | { feed: RssFeed } {
  try {
    return { feed: readFeed(xml, url) };
  } catch (error) {
    if (!(error instanceof XmlFault)) throw error;
    return { fault: error.message };
  }
}

/** Throws `XmlFault`. */
function readFeed(xml: string, url: string): RssFeed {
  const root = parseXml(xml);
  if (root.name === "feed") return readAtom(root, url);
  if (root.name !== "rss" && root.name !== "rdf:RDF")
    throw new XmlFault("the response is neither an RSS nor an Atom feed");
  const channel = find(root, "channel");
  if (!channel) throw new XmlFault("the RSS feed has no channel");
  // The items of RSS 1.0 stand next to the channel.
  const items = [...findAll(channel, "item"), ...findAll(root, "item")];
  return {
    title: cut(toPlainText(textOf(channel, "title"))),
    link: toWebAddress(textOf(channel, "link"), url),
    description: cut(toPlainText(textOf(channel, "description")), 1000),
    language: textOf(channel, "language").slice(0, 40) || null,
    items: toNewestFirst(items.map((item) => readRssItem(item, url))),
  };
}

function readRssItem(item: XmlElement, base: string): RssItem {
  const guid = textOf(item, "guid");
  const isPermaLink = find(item, "guid")?.attributes.isPermaLink !== "false";
  const link = textOf(item, "link") || (isPermaLink ? guid : "");
  const description = textOf(item, "description");
  const content = textOf(item, "content:encoded") || description;
  return complete({
    id: guid || item.attributes["rdf:about"] || link,
    title: toPlainText(textOf(item, "title")),
    link: toWebAddress(link, base),
    publishedAt: toTime(textOf(item, "pubDate") || textOf(item, "dc:date")),
    author: textOf(item, "dc:creator") || textOf(item, "author"),
    summary: toPlainText(description || content),
    content,
    image: toWebAddress(pictureOf(item) ?? firstPicture(content), base),
    categories: findAll(item, "category").map(({ text }) => text),
  });
}

function readAtom(feed: XmlElement, url: string): RssFeed {
  const base = toWebAddress(feed.attributes["xml:base"], url) ?? url;
  return {
    title: cut(atomText(feed, "title")),
    link: atomLink(feed, base),
    description: cut(atomText(feed, "subtitle"), 1000),
    language: feed.attributes["xml:lang"]?.slice(0, 40) || null,
    items: toNewestFirst(
      findAll(feed, "entry").map((entry) => {
        const { "xml:base": own } = entry.attributes;
        return readAtomEntry(entry, toWebAddress(own, base) ?? base);
      }),
    ),
  };
}

function readAtomEntry(entry: XmlElement, base: string): RssItem {
  const link = atomLink(entry, base);
  const content = atomHtml(entry, "content") || atomHtml(entry, "summary");
  const author = find(entry, "author");
  return complete({
    id: textOf(entry, "id") || link || "",
    title: atomText(entry, "title"),
    link,
    publishedAt: toTime(textOf(entry, "published") || textOf(entry, "updated")),
    author: author ? textOf(author, "name") : "",
    summary: atomText(entry, "summary") || toPlainText(content),
    content,
    image: toWebAddress(pictureOf(entry) ?? firstPicture(content), base),
    categories: findAll(entry, "category").map(
      ({ attributes: { label, term = "" } }) => label ?? term,
    ),
  });
}

const find = ({ children }: XmlElement, name: string): XmlElement | undefined =>
  children.find((child) => child.name === name);
const findAll = ({ children }: XmlElement, name: string): XmlElement[] =>
  children.filter((child) => child.name === name);
const textOf = (element: XmlElement, name: string): string =>
  find(element, name)?.text.trim() ?? "";

/** The page that the feed or entry is about. */
function atomLink(element: XmlElement, base: string): string | null {
  const pages = findAll(element, "link").filter(
    ({ attributes: { rel = "alternate" } }) => rel === "alternate",
  );
  const page = pages.find(({ attributes: { type } }) => type === "text/html") ?? pages[0];
  return toWebAddress(page?.attributes.href, base);
}

/** The HTML of an Atom text, whichever of the three types it has. */
function atomHtml(element: XmlElement, name: string): string {
  const found = find(element, name);
  if (!found) return "";
  const { type = "text" } = found.attributes;
  if (type === "xhtml") return found.source.trim();
  return /html/.test(type) ? found.text.trim() : escapeHtml(found.text.trim());
}

const atomText = (element: XmlElement, name: string): string =>
  toPlainText(atomHtml(element, name));

function pictureOf(item: XmlElement): string | undefined {
  const media = [item, ...findAll(item, "media:group")].flatMap(({ children }) => children);
  const isPicture = ({ name, attributes: { medium, type = "" } }: XmlElement) =>
    name === "media:thumbnail" ||
    ((name === "media:content" || name === "enclosure") &&
      (medium === "image" || type.startsWith("image/")));
  return media.find(isPicture)?.attributes.url ?? find(item, "itunes:image")?.attributes.href;
}

function firstPicture(html: string): string | undefined {
  let address: string | undefined;
  const parser = new Parser({
    onopentag(name, { src }) {
      if (name === "img" && src && !address) address = src;
    },
  });
  parser.end(html.slice(0, maxContentCharacters));
  return address;
}

const hiddenElements = new Set(["script", "style", "template", "noscript"]);

/** HTML as one line of text. */
function toPlainText(html: string): string {
  let text = "";
  let hidden = 0;
  const parser = new Parser({
    onopentag(name) {
      if (hiddenElements.has(name)) hidden++;
      if (!/^(a|b|i|em|strong|span|code|small|sub|sup)$/.test(name)) text += " ";
    },
    ontext(part) {
      if (!hidden) text += part;
    },
    onclosetag(name) {
      if (hiddenElements.has(name)) hidden--;
    },
  });
  parser.end(html.slice(0, maxContentCharacters));
  return text.replace(/\s+/g, " ").trim();
}

function toWebAddress(text: string | undefined, base: string): string | null {
  const url = text ? URL.parse(text.trim(), base) : null;
  if (!url || !/^https?:$/.test(url.protocol)) return null;
  return url.href.length <= 2048 ? url.href : null;
}

function toTime(text: string): string | null {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return null;
  const iso = time.toISOString();
  return /^\d{4}-/.test(iso) ? iso : null;
}

const cut = (text: string, length = 500): string =>
  text.length > length ? `${text.slice(0, length - 1).trimEnd()}…` : text;

/** Cuts what is too long, and gives an item without an id one. */
function complete(item: Omit<RssItem, "author"> & { author: string }): RssItem {
  const { id, title, author, content, categories } = item;
  const summary = cut(item.summary, 1000);
  const names = categories.map((name) => name.trim().slice(0, 100)).filter(Boolean);
  return {
    ...item,
    id: id.length > 1000 || !id ? sha256(id || `${title}\n${content}`) : id,
    title: cut(title),
    author: cut(toPlainText(author), 200) || null,
    summary,
    content: content.length > maxContentCharacters ? escapeHtml(summary) : content,
    categories: names.slice(0, maxCategories),
  };
}

/** By date if each has one, else as in the feed. The first of several with the same id. */
function toNewestFirst(items: RssItem[]): RssItem[] {
  const byId = new Map<string, RssItem>();
  for (const item of items) if (!byId.has(item.id)) byId.set(item.id, item);
  const found = [...byId.values()];
  if (found.every(({ publishedAt }) => publishedAt))
    found.sort((a, b) => b.publishedAt!.localeCompare(a.publishedAt!));
  return found.slice(0, maxItems);
}
