// The list of the public archive of a site, and its RSS feed.
import type { ArchivePage } from "../domain/campaigns/archive/archive.ts";
import { archivePageUrlOf, archiveUrlOf } from "../domain/identity/site-archive.ts";
import { archivePageWording } from "../email/wording/by-topic.ts";
import { escapeHtml, html } from "../kernel/html.ts";
import { renderPage } from "./page-layout.ts";

export function renderArchivePage(
  { site, name, timezone, language, mails, next }: ArchivePage,
  { isFirst }: { isFirst: boolean },
): string {
  const words = archivePageWording[language];
  const url = archiveUrlOf(site.id);
  const format = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: timezone });
  const list = mails.map(
    ({ id, subject, previewText, at, language: lang }) => html`<li lang="${lang}">
<a href="${archivePageUrlOf({ siteId: site.id, id })}">${subject || words.noSubject}</a>
${!!previewText && html`<p>${previewText}</p>`}
<time class="faint" datetime="${at}">${format.format(new Date(at))}</time>
</li>
`,
  );
  const older = next && `${url}?before=${encodeURIComponent(next)}`;
  return renderPage({
    lang: language,
    title: words.title(name),
    wide: true,
    brand: site.brand,
    isPublic: true,
    head: html`<link rel="alternate" type="application/rss+xml" title="${words.title(name)}"
href="${url}/feed.xml">
${!isFirst && html`<meta name="robots" content="noindex, follow">`}`,
    body: [
      mails.length ? html`<ul class="mails">${list}</ul>` : html`<p>${words.none}</p>`,
      html`<p class="pages">${!isFirst && html`<a href="${url}">${words.newest}</a>`}
${!!older && html`<a href="${older}" rel="next">${words.older}</a>`}
<a href="${url}/feed.xml">${words.feed}</a></p>`,
    ],
  });
}

/** Text of an XML document, which allows no control characters but white space. */
const toXml = (text: string): string =>
  escapeHtml(text.replace(/(?![\t\n\r])[\p{Cc}\uFFFE\uFFFF]/gu, ""));

export function renderArchiveRss({ site, name, language, mails }: ArchivePage): string {
  const { title, noSubject } = archivePageWording[language];
  const url = archiveUrlOf(site.id);
  const items = mails.map(({ id, subject, previewText, at }) => {
    const link = toXml(archivePageUrlOf({ siteId: site.id, id }));
    return `<item>
<title>${toXml(subject || noSubject)}</title>
<link>${link}</link>
<guid isPermaLink="true">${link}</guid>
<pubDate>${new Date(at).toUTCString()}</pubDate>
<description>${toXml(previewText)}</description>
</item>
`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>${toXml(title(name))}</title>
<link>${toXml(url)}</link>
<atom:link href="${toXml(url)}/feed.xml" rel="self" type="application/rss+xml"/>
<description>${toXml(title(name))}</description>
<language>${language}</language>
${items.join("")}</channel>
</rss>
`;
}
