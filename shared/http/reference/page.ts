// The API reference as one page of html and css, made from the OpenAPI document: no script, nothing from elsewhere.
import { type Html, html } from "../html.ts";
import type { openapi } from "../openapi.ts";
import { basePath } from "../route.ts";
import { type Endpoint, endpoint } from "./endpoint.ts";
import { introduction, sections } from "./introduction.ts";
import { style } from "./style.ts";

export type Document = ReturnType<typeof openapi>;

interface Asked {
  /** Where callers reach us, without a trailing slash. */
  origin: string;
  /** Words to find; absent: everything. */
  search?: string | undefined;
}

/** The whole page, or with `search` the endpoints that have all its words, opened. */
export function page(document: Document, { origin, search = "" }: Asked): string {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = grouped(document, words);
  const shown = groups.map(({ name, endpoints }) => section(name, endpoints, document, origin, words.length > 0));
  const main = words.length ? results(search, groups) : html`<h1>Pennymail API</h1>${introduction(origin)}`;
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
<search><form action="${basePath}/docs"><label for="q">Find an endpoint</label><input id="q" name="q" type="search" value="${search}" maxlength="100" placeholder="Find an endpoint" autocomplete="off"><button>Find</button></form></search>
<a class="machine" href="${basePath}/openapi.json">openapi.json</a>
</header>
<div class="frame">
<nav aria-label="Contents">${words.length ? html`<p><a href="${basePath}/docs">All endpoints</a></p>` : contents("Basics", sections)}
${contents(
  "Endpoints",
  groups.map(({ name, endpoints }) => ({ id: anchor(name), title: titleOf(name), count: endpoints.length })),
)}</nav>
<main id="main" tabindex="-1">
${main}
${shown}
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

/** Groups in the document's order; those without a match are left out. */
function grouped({ tags, paths }: Document, words: string[]): Group[] {
  const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Endpoint => ({ method: method.toUpperCase(), path, operation })),
  );
  const found = endpoints.filter((one) => words.every((word) => textOf(one).includes(word)));
  const of = Map.groupBy(found, ({ operation }) => operation.tags[0]!);
  return tags.flatMap(({ name }) => (of.has(name) ? [{ name, endpoints: of.get(name)! }] : []));
}

const textOf = ({ method, path, operation }: Endpoint): string =>
  `${method} ${path} ${operation.operationId} ${operation.summary} ${operation.tags.join(" ")}`.toLowerCase();

const anchor = (group: string): string => `group-${group}`;
const titleOf = (group: string): string => group.charAt(0).toUpperCase() + group.slice(1).replaceAll("-", " ");

const section = (name: string, endpoints: Endpoint[], document: Document, origin: string, open: boolean): Html =>
  html`<section aria-labelledby="${anchor(name)}">
<h2 id="${anchor(name)}">${titleOf(name)}</h2>
${endpoints.map((one) => endpoint(one, document, origin, open))}
</section>
`;

function results(search: string, groups: Group[]): Html {
  const count = groups.reduce((sum, { endpoints }) => sum + endpoints.length, 0);
  return html`<h1>“${search}”</h1>
<p>${count === 0 && "No endpoint has these words."}${count === 1 && "One endpoint."}${count > 1 && `${count} endpoints.`} <a href="${basePath}/docs">Show all</a></p>`;
}

const contents = (title: string, entries: { id: string; title: string; count?: number }[]): Html | undefined =>
  entries.length === 0
    ? undefined
    : html`<p class="part">${title}</p><ul>${entries.map(
        ({ id, title, count }) =>
          html`<li><a href="#${id}">${title}${count !== undefined && html` <span class="count">${count}</span>`}</a></li>`,
      )}</ul>`;
