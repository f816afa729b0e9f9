// UTM parameters on the links of an HTML source. The source is changed once, before Liquid renders
// it, so the links of all recipients have them at no cost per mail. Only a link that begins with a
// merge field gets a filter, because its host is known when it is rendered.
import { escapeHtml } from "../kernel/html.ts";

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
const ownVariables = /unsubscribeUrl|preferencesUrl|contactToken|secure\w{0,20}Url/i;

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

/** Keeps parameters that the link has. Merge fields can be in the path and in the query. */
function tagUrl(link: string, query: string[], excludeHosts: string[]): string {
  const fixedText = link.replace(liquidPattern, (liquid) => "x".repeat(liquid.length));
  const [, host = ""] = /^\s*https?:\/\/(?:[^/?#@]*@)?([^/?#:]*)/i.exec(fixedText) ?? [];
  if (excludeHosts.some((one) => isWithin(host.trim().toLowerCase(), one))) return link;
  const fragmentAt = fixedText.search(/(?<!&)#/);
  const end = fragmentAt < 0 ? link.trimEnd().length : fragmentAt;
  const [url, rest] = [fixedText.slice(0, end), link.slice(end)];
  const added = query.filter((one) => !url.includes(`${one.slice(0, one.indexOf("="))}=`));
  if (!added.length) return link;
  const isOpen = /[?&]$|&amp;$/.test(url);
  const separator = url.includes("?") ? "&amp;" : "?";
  return `${link.slice(0, end)}${isOpen ? "" : separator}${added.join("&amp;")}${rest}`;
}

const liquidPattern = /\{\{[^{}]*\}\}|\{%[^{}]*%\}/g;

const isWithin = (host: string, domain: string): boolean =>
  host === domain || host.endsWith(`.${domain}`);

/** Replaces the quoted `href` of each link. Takes one pass over any input. */
function replaceLinks(html: string, replace: (link: string) => string): string {
  const scanner = new Scanner(html);
  const tagStart = /<(?:a|area)(?=\s)/gi;
  let result = "";
  let copied = 0;
  for (;;) {
    tagStart.lastIndex = scanner.at;
    if (!tagStart.test(html)) break;
    scanner.at = tagStart.lastIndex;
    for (const { start, end } of scanner.readLinkValues()) {
      result += html.slice(copied, start) + replace(html.slice(start, end));
      copied = end;
    }
  }
  return result + html.slice(copied);
}

/** Reads the attributes of a tag. Liquid counts as text, so its quotes and brackets end nothing. */
class Scanner {
  at = 0;
  private readonly html: string;
  private readonly isUnclosed = new Set<string>();

  constructor(html: string) {
    this.html = html;
  }

  /** The quoted values of `href` until the end of the tag. */
  *readLinkValues(): Generator<{ start: number; end: number }> {
    const href = /\shref\s*=\s*(?=["'])/iy;
    while (this.at < this.html.length) {
      href.lastIndex = this.at;
      const isLink = href.test(this.html);
      if (isLink) this.at = href.lastIndex;
      const character = this.html[this.at];
      if (character === ">") return;
      if (character !== '"' && character !== "'") {
        this.skipOne();
        continue;
      }
      const start = this.at + 1;
      this.at = start;
      while (this.at < this.html.length && this.html[this.at] !== character) this.skipOne();
      if (isLink && this.at < this.html.length) yield { start, end: this.at };
      this.at++;
    }
  }

  private skipOne(): void {
    const opening = this.html.slice(this.at, this.at + 2);
    const closing = { "{{": "}}", "{%": "%}" }[opening];
    if (!closing || this.isUnclosed.has(closing)) return void this.at++;
    const end = this.html.indexOf(closing, this.at);
    if (end < 0) this.isUnclosed.add(closing);
    this.at = end < 0 ? this.at + 1 : end + 2;
  }
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
  const scanner = new Scanner(html);
  const body = /<body(?=[\s>])/i.exec(html);
  if (!body) return element + html;
  scanner.at = body.index + "<body".length;
  for (const _ of scanner.readLinkValues());
  return html.slice(0, scanner.at + 1) + element + html.slice(scanner.at + 1);
}
