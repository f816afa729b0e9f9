// Click and open tracking of our own, in the HTML of a mail. All recipients share the text of a
// tracked link: the sealed target is part of it, and the token of the recipient is one merge field.
// Only a link that has merge fields itself becomes a value of each recipient.
import type { MergeText } from "../providers/provider-adapter.ts";
import { insertBeforeBodyEnd } from "./html-footer.ts";
import { decodeAttribute, type HtmlTag, type SourceRange, scanHtml } from "./html-scanner.ts";
import type { Budget } from "./liquid/budget.ts";

export interface TrackingOptions {
  opens: boolean;
  clicks: boolean;
  /** What is before the recipient's token in a link. */
  base: string;
  /** What is behind the token in the URL of the pixel. */
  pixelName: string;
  /** The sealed target. Undefined: the link stays as it is. */
  sealTarget(url: string): string | undefined;
}

export interface HtmlBody {
  pieces: MergeText;
  mergeFieldCount: number;
}

/** The recipient of one mail. */
export interface TrackedRecipient {
  /** Stands for the recipient in all links of the mail. */
  token: string;
  /** Links that begin like one of these stay as they are. */
  untrackedLinks: string[];
}

export interface TrackedHtml extends HtmlBody {
  /** The values of all merge fields, from those of the HTML before. */
  toValues(values: string[], recipient: TrackedRecipient, budget: Budget): string[];
}

/** The elements of VML are buttons in Outlook. They are in conditional comments. */
const linkElements = ["a", "area", "v:roundrect", "v:rect", "v:oval", "v:shape"];
/** Sealing a target takes about as long. */
const unitsPerLink = 3000;
/** A link with this attribute is not tracked. */
const optOutAttribute = "data-no-track";

export function trackHtml(html: HtmlBody, options: TrackingOptions): TrackedHtml {
  const { opens, clicks, base, pixelName, sealTarget } = options;
  const tokenField = html.mergeFieldCount;
  const links: MergeText[] = [];
  const trackLink = (link: MergeText): MergeText | undefined => {
    if (link.some((piece) => typeof piece === "number")) {
      links.push(link);
      return [tokenField + links.length];
    }
    const target = sealLink(link.join(""), options);
    return target === undefined ? undefined : [base, tokenField, `/${target}`];
  };
  const withLinks = clicks ? replaceLinks(html.pieces, trackLink) : html.pieces;
  const pieces = opens
    ? insertBeforeBodyEnd(withLinks, [
        `${pixelStart}${base}`,
        tokenField,
        `/${pixelName}${pixelEnd}`,
      ])
    : withLinks;
  const used = new Set(pieces);
  return {
    pieces,
    mergeFieldCount: tokenField + 1 + links.length,
    toValues(values, { token, untrackedLinks }, budget) {
      const trackText = (source: string): string => {
        budget.use(unitsPerLink);
        const url = toWebUrl(decodeAttribute(source));
        if (!url || untrackedLinks.some((link) => url.startsWith(link))) return source;
        const target = sealTarget(url);
        return target ? `${base}${token}/${target}` : source;
      };
      const trackValue = (value: string): string => {
        if (!clicks || !value.includes("<") || !/href/i.test(value)) return value;
        budget.use(5 * value.length);
        return replaceLinks([value], ([link = ""]) => [trackText(String(link))]).join("");
      };
      // A value that only a tracked link used is not sent to the provider.
      const kept = values.map((value, field) => (used.has(field) ? trackValue(value) : ""));
      return [...kept, token, ...links.map((link) => trackText(fill(link, values)))];
    },
  };
}

const pixelStart = '<img src="';
const pixelEnd =
  '" alt="" width="1" height="1" border="0" ' +
  'style="width:1px!important;height:1px!important;border:0!important;margin:0!important">';

const fill = (link: MergeText, values: string[]): string =>
  link.map((piece) => (typeof piece === "string" ? piece : (values[piece] ?? ""))).join("");

const sealLink = (source: string, { sealTarget }: TrackingOptions): string | undefined => {
  const url = toWebUrl(decodeAttribute(source));
  return url && sealTarget(url);
};

/** The URL as a browser reads it. Undefined: it is no URL of the web. */
function toWebUrl(text: string): string | undefined {
  const url = text.replace(/[\t\n\r]/g, "").replace(/^[\0- ]+|[\0- ]+$/g, "");
  return /^https?:\/\//i.test(url) && URL.canParse(url) ? url : undefined;
}

/**
 * Replaces the links for which `replace` returns something. Quotes of the attribute stay.
 */
function replaceLinks(
  pieces: MergeText,
  replace: (link: MergeText) => MergeText | undefined,
): MergeText {
  // A merge field counts as a letter, because its value is not known.
  const html = pieces.map((piece) => (typeof piece === "string" ? piece : "x")).join("");
  const take = createReader(pieces);
  const result: MergeText = [];
  for (const { start, end, isQuoted } of findLinks(html)) {
    result.push(...take(start));
    const link = take(end);
    const replaced = replace(link);
    result.push(...(replaced && !isQuoted ? ['"', ...replaced, '"'] : (replaced ?? link)));
  }
  return [...result, ...take(Infinity)];
}

interface LinkRange extends SourceRange {
  isQuoted: boolean;
}

/** The `href` of each link, in the order of the source, also in conditional comments. */
function findLinks(html: string): LinkRange[] {
  const { tags, comments } = scanHtml(html, linkElements);
  const conditional = comments.flatMap(({ start, end }) => {
    const content = html.slice(start, end);
    if (!/^\[if\b/i.test(content)) return [];
    return listLinks(scanHtml(content, linkElements).tags).map((link) => ({
      ...link,
      start: start + link.start,
      end: start + link.end,
    }));
  });
  return [...listLinks(tags), ...conditional].toSorted((a, b) => a.start - b.start);
}

const listLinks = (tags: HtmlTag[]): LinkRange[] =>
  tags.flatMap(({ attributes }) => {
    const href = attributes.find(({ name }) => name === "href");
    const isTracked = !attributes.some(({ name }) => name === optOutAttribute);
    return href?.value && isTracked ? [href] : [];
  });

/**
 * Returns a function that returns the pieces from where it stopped before up to a position of the
 * text in which each merge field has one character.
 */
function createReader(pieces: MergeText): (end: number) => MergeText {
  let [index, offset, position] = [0, 0, 0];
  return (end) => {
    const taken: MergeText = [];
    while (position < end && index < pieces.length) {
      const piece = pieces[index]!;
      const part = typeof piece === "number" ? piece : piece.slice(offset, offset + end - position);
      const length = typeof part === "number" ? 1 : part.length;
      if (part !== "") taken.push(part);
      position += length;
      offset += length;
      if (typeof piece === "string" && offset < piece.length) continue;
      index++;
      offset = 0;
    }
    return taken;
  };
}
