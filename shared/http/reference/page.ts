// The API reference as one page of html and css, made from the OpenAPI document: no script, nothing from elsewhere.
import { type Html, html } from "../html.ts";
import type { openapi } from "../openapi.ts";
import { basePath } from "../route.ts";
import { type Endpoint, endpoint } from "./endpoint.ts";
import { chapters, introduction, type Place } from "./introduction.ts";
import { find, mentions, summary } from "./search.ts";
import { style } from "./style.ts";

export type Document = ReturnType<typeof openapi>;

interface Asked extends Place {
  /** Words to find; absent: everything. */
  search?: string | undefined;
}

/** The whole page; or with `search` what has all its words, endpoints that have them in their names opened. */
export function page(document: Document, { search = "", ...place }: Asked): string {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const all = { chapters: chapters(place), endpoints: endpointsOf(document) };
  const found = words.length ? find(words, all, document) : undefined;
  const groups = grouped(document, found ? found.named : all.endpoints);
  const shown = groups.map(({ name, endpoints }) => section(name, endpoints, document, place.origin, found !== undefined));
  const main = found
    ? html`${summary(search, found)}${shown}${mentions(found)}`
    : html`<h1>Pennymail API</h1>${introduction(place.origin, all.chapters)}${shown}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${words.length > 0 && `${search} · `}Pennymail API reference</title>
<link rel="icon" href="${icon}">
<style>${style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<a class="brand" href="${basePath}/docs">Pennymail <span>API v1</span></a>
<search><form action="${basePath}/docs"><label for="q">Find endpoints, fields and words</label><input id="q" name="q" type="search" value="${search}" maxlength="100" placeholder="Search" autocomplete="off"><button>Find</button></form></search>
<a class="machine" href="${basePath}/openapi.json">openapi.json</a>
</header>
<div class="frame">
<nav aria-label="Contents">${words.length ? html`<p><a href="${basePath}/docs">All endpoints</a></p>` : contents("Basics", all.chapters)}
${contents(
  "Endpoints",
  groups.map(({ name, endpoints }) => ({ id: anchor(name), title: titleOf(name), count: endpoints.length })),
)}</nav>
<main id="main" tabindex="-1">
${main}
</main>
</div>
</body>
</html>
`.html;
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect y='2' width='16' height='12' rx='2' fill='%239a4a22'/%3E%3Cpath d='M1 4l7 5 7-5' fill='none' stroke='white' stroke-width='1.5'/%3E%3C/svg%3E";

interface Group {
  name: string;
  endpoints: Endpoint[];
}

const endpointsOf = ({ paths }: Document): Endpoint[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

/** In the document's order. */
function grouped({ tags }: Document, endpoints: Endpoint[]): Group[] {
  const of = Map.groupBy(endpoints, ({ operation }) => operation.tags[0]!);
  return tags.flatMap(({ name }) => (of.has(name) ? [{ name, endpoints: of.get(name)! }] : []));
}

const anchor = (group: string): string => `group-${group}`;
const titleOf = (group: string): string => (group === "mfa" ? "MFA" : group.charAt(0).toUpperCase() + group.slice(1).replaceAll("-", " "));

const section = (name: string, endpoints: Endpoint[], document: Document, origin: string, open: boolean): Html =>
  html`<section aria-labelledby="${anchor(name)}">
<h2 id="${anchor(name)}">${titleOf(name)}</h2>
${endpoints.map((one) => endpoint(one, document, origin, open))}
</section>
`;

const contents = (title: string, entries: { id: string; title: string; count?: number }[]): Html | undefined =>
  entries.length === 0
    ? undefined
    : html`<p class="part">${title}</p><ul>${entries.map(
        ({ id, title, count }) =>
          html`<li><a href="#${id}">${title}${count !== undefined && html` <span class="count">${count}</span>`}</a></li>`,
      )}</ul>`;
