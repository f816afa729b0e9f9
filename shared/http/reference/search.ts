// What of the reference has some words: endpoints by their names, endpoints by what they tell, and chapters.
import { type Html, html } from "../html.ts";
import { shortPath } from "../openapi.ts";
import { basePath } from "../route.ts";
import { type Endpoint, everyField } from "./endpoint.ts";
import type { Field } from "./fields.ts";
import type { Chapter } from "./introduction.ts";
import type { Document } from "./page.ts";
import { choices, prose, resolved } from "./words.ts";

export interface Found {
  /** By method, path, summary or group. */
  named: Endpoint[];
  /** By a field of theirs: the first that is named so, or else that tells of it. */
  mentioning: { endpoint: Endpoint; name: string; said: string }[];
  chapters: Chapter[];
}

interface All {
  chapters: Chapter[];
  endpoints: Endpoint[];
}

export function find(words: string[], { chapters, endpoints }: All, document: Document): Found {
  const wanted = words.map(folded);
  const has = (...texts: string[]): boolean => {
    const text = folded(texts.join(" "));
    return wanted.every((word) => text.includes(word));
  };
  return {
    named: endpoints.filter((one) => has(nameOf(one))),
    mentioning: endpoints.flatMap((endpoint) => {
      const name = nameOf(endpoint);
      if (has(name)) return [];
      const fields = everyField(endpoint.operation, document).map((field) => textsOf(field, document));
      const field =
        fields.find(({ name: own }) => has(name, own)) ?? fields.find(({ name: own, said, values }) => has(name, own, said, values));
      return field ? [{ endpoint, ...field }] : [];
    }),
    chapters: chapters.filter(({ title, body }) => has(title, plain(body))),
  };
}

/** opt-in, optIn and OPT_IN are one. */
const folded = (text: string): string => text.toLowerCase().replace(/[-_]/g, "");

const nameOf = ({ method, path, operation }: Endpoint): string =>
  `${method} ${path} ${operation.operationId} ${operation.summary} ${operation.tags.join(" ")}`;

function textsOf({ name, schema }: Field, { components: { schemas } }: Document) {
  const { description = "" } = resolved(schema, schemas);
  return { name, said: description, values: choices(schema, schemas).join(" ") };
}

const plain = ({ html: text }: Html): string => text.replace(/<[^>]+>/g, "");

/** Above the endpoints that have the words in their names. */
export function summary(search: string, { named: { length: count }, mentioning, chapters }: Found): Html {
  const none = mentioning.length ? "No endpoint has these words in its name." : "No endpoint has these words.";
  return html`<h1>“${search}”</h1>
<p>${count === 0 && none}${count === 1 && "One endpoint."}${count > 1 && `${count} endpoints.`} <a href="${basePath}/docs">Show all</a></p>
${chapters.length > 0 && html`<section aria-labelledby="basics"><h2 id="basics">In the basics</h2><ul>${chapters.map(({ id, title }) => html`<li><a href="${basePath}/docs#${id}">${title}</a></li>`)}</ul></section>`}`;
}

/** Below them: those that tell of it, and where. */
export const mentions = ({ mentioning }: Found): Html | undefined =>
  mentioning.length
    ? html`<section aria-labelledby="mentions"><h2 id="mentions">In fields</h2><dl class="fields">${mentioning.map(mention)}</dl></section>`
    : undefined;

const mention = ({ endpoint: { method, path, operation }, name, said }: Found["mentioning"][number]): Html =>
  html`<div><dt><a href="${basePath}/docs#${operation.operationId}"><span class="method">${method}</span> <code>${shortPath(path)}</code></a> <span class="what">${prose(operation.summary)}</span></dt><dd><code>${name}</code>${said !== "" && html` ${prose(shortened(said))}`}</dd></div>`;

const mostCharacters = 160;

/** At the end of a word, and outside of code. */
function shortened(text: string): string {
  if (text.length <= mostCharacters) return text;
  const cut = text.slice(0, mostCharacters).replace(/\s+\S*$/, "");
  return `${cut.split("`").length % 2 ? cut : cut.slice(0, cut.lastIndexOf("`"))} …`;
}
