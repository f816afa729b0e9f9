// UTM parameters on the links of an HTML source. The source is changed once, before Liquid renders
// it, so the links of all recipients have them at no cost per mail. Only a link that begins with a
// merge field gets a filter, because its host is known when it is rendered.
import { escapeHtml } from "../kernel/html.ts";
import { maskLiquid, scanHtml } from "./html-scanner.ts";

export interface UtmTags {
  source?: string | undefined;
  medium?: string | undefined;
  campaign?: string | undefined;
  term?: string | undefined;
  content?: string | undefined;
  /** Links to these hosts and their subdomains stay unchanged. In lower case. */
  excludeHosts?: string[] | undefined;
}

const names = ["source", "medium", "campaign", "term", "content"] as const;
/** The filter that the Liquid engine gives to links that begin with a merge field. */
export const linkTagFilter = "add_utm";

/** Links of the service to pages about the recipient, and links that recipients need unchanged. */
const ownVariables = /unsubscribeUrl|preferencesUrl|browserUrl|contactToken|secure\w{0,20}Url/i;

/** Adds the parameters to the web links of `a` and `area` elements. */
export function addLinkTags(html: string, { excludeHosts = [], ...tags }: UtmTags): string {
  const query = names.flatMap((name) => {
    const value = tags[name]?.toWellFormed();
    return value ? `utm_${name}=${encodeURIComponent(value)}` : [];
  });
  if (!query.length) return html;
  // Liquid is text in a raw block.
  const hasRawBlock = /\{%-?\s*raw\b/.test(html);
  return replaceLinks(html, (link) => {
    if (ownVariables.test(link)) return link;
    if (/^\s*https?:\/\//i.test(link)) return tagUrl(link, query, excludeHosts);
    if (hasRawBlock || !/^\s*\{\{/.test(link)) return link;
    const values = [query.join("&"), excludeHosts.join(",")];
    const args = values.map((value) => `"${value}"`).join(", ");
    const capture = `{% capture utm_link %}${link}{% endcapture %}`;
    return `${capture}{{ utm_link | ${linkTagFilter}: ${args} | raw }}`;
  });
}

/** The filter: `link` is escaped for HTML. */
export function applyLinkTags(link: string, query: string, excludeHosts: string): string {
  if (!/^\s*https?:\/\//i.test(link)) return link;
  return tagUrl(link, query.split("&"), excludeHosts.split(",").filter(Boolean));
}

/**
 * Adds the parameters that the query of the link lacks, before the fragment. The link stays as it
 * is written. Merge fields can be in the path and in the query.
 */
function tagUrl(link: string, query: string[], excludeHosts: string[]): string {
  const text = decodeInPlace(link);
  const [, host = ""] = /^\s*https?:\/\/(?:[^/?#@]*@)?([^/?#:]*)/i.exec(text) ?? [];
  if (excludeHosts.some((one) => isWithin(host.trim().toLowerCase(), one))) return link;
  const fragmentAt = text.indexOf("#");
  const end = fragmentAt < 0 ? text.trimEnd().length : fragmentAt;
  const queryAt = text.slice(0, end).indexOf("?");
  const oldQuery = queryAt < 0 ? "" : text.slice(queryAt + 1, end).replaceAll(padding, "");
  const known = new Set(new URLSearchParams(oldQuery).keys());
  const added = query.filter((one) => !known.has(one.slice(0, one.indexOf("="))));
  if (!added.length) return link;
  const isOpen = queryAt >= 0 && (oldQuery === "" || oldQuery.endsWith("&"));
  const separator = queryAt < 0 ? "?" : "&amp;";
  return `${link.slice(0, end)}${isOpen ? "" : separator}${added.join("&amp;")}${link.slice(end)}`;
}

const padding = "\0";
const liquidOrReference =
  /\{\{[^{}]*\}\}|\{%[^{}]*%\}|&(?:#(\d+)|#x([\da-f]+)|amp)(?:;|(?![\da-z=]))/gi;

/**
 * The text of an attribute value, in which each part has the length that it has in the source:
 * Liquid as letters, and character references as their character.
 */
const decodeInPlace = (value: string): string =>
  value.replace(liquidOrReference, (part, decimal?: string, hex?: string) => {
    if (!part.startsWith("&")) return "x".repeat(part.length);
    const code = decimal ? Number(decimal) : Number.parseInt(hex ?? "26", 16);
    return String.fromCharCode(code).padEnd(part.length, padding);
  });

const isWithin = (host: string, domain: string): boolean =>
  host === domain || host.endsWith(`.${domain}`);

/** Replaces the `href` of each link that `replace` changes. */
function replaceLinks(html: string, replace: (link: string) => string): string {
  const { tags } = scanHtml(maskLiquid(html), ["a", "area"]);
  let result = "";
  let copied = 0;
  for (const { attributes } of tags) {
    const href = attributes.find(({ name }) => name === "href");
    const link = href && html.slice(href.start, href.end);
    const replaced = link && replace(link);
    if (!replaced || replaced === link) continue;
    result += html.slice(copied, href.start) + (href.isQuoted ? replaced : `"${replaced}"`);
    copied = href.end;
  }
  return result + html.slice(copied);
}

/** The class of the preview text, which the plain text part leaves out. */
export const previewTextClass = "pm-preview";
const hidden =
  "display:none;font-size:1px;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden;" +
  "mso-hide:all";
// Fills the rest of the line that mail programs show, so that they do not show the body.
const filler = "&#847;&zwnj;&nbsp;".repeat(60);

/**
 * Adds text that mail programs show behind the subject, at the beginning of the body, where it is
 * not visible. The text can contain Liquid.
 */
export function addPreviewText(html: string, previewText: string): string {
  const text = previewText
    .split(/(\{\{[^{}]*\}\}|\{%[^{}]*%\})/)
    .map((piece, i) => (i % 2 ? piece : escapeHtml(piece)))
    .join("");
  const element = `<div class="${previewTextClass}" style="${hidden}">${text}${filler}</div>`;
  const at = findBodyStart(html);
  return html.slice(0, at) + element + html.slice(at);
}

/** The position after the first of `<body>`, `</head>`, `<html>` and the doctype, else 0. */
function findBodyStart(html: string): number {
  const { tags, doctypeEnd } = scanHtml(maskLiquid(html), ["body", "head", "html"]);
  const find = (name: string, isClosing: boolean) =>
    tags.find((tag) => tag.name === name && tag.isClosing === isClosing)?.end;
  return find("body", false) ?? find("head", true) ?? find("html", false) ?? doctypeEnd;
}
