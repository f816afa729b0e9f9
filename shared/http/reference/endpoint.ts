// One endpoint of the reference: a line that opens into all there is to know.
import { type Html, html } from "../html.ts";
import { type Operation, type Parameter, shortPath } from "../openapi.ts";
import type { Answer } from "../openapi-answers.ts";
import type { Schema } from "../schemas.ts";
import { curl } from "./curl.ts";
import { alternatives, type Field, fieldList, fieldsOf } from "./fields.ts";
import type { Document } from "./page.ts";
import { type Components, prose } from "./words.ts";

export interface Endpoint {
  method: string;
  /** With the base path. */
  path: string;
  operation: Operation;
}

export function endpoint({ method, path, operation }: Endpoint, document: Document, origin: string, open: boolean): Html {
  const parameters = operation.parameters.map((one) => pointed<Parameter>(one, document));
  return html`<details class="endpoint"${open && html` open`}>
<summary><h3><span class="method ${method.toLowerCase()}">${method}</span> <code class="path">${pathParts(shortPath(path))}</code> <span class="what">${prose(operation.summary)}</span></h3></summary>
<div class="body" id="${operation.operationId}">
<div class="who"><p>${prose(operation.description)}</p><a class="anchor" href="#${operation.operationId}" aria-label="Link: ${operation.summary}">Link</a></div>
<div class="columns"><div>
${parameterPart(parameters, document)}
${bodyPart(operation, document)}
${answerPart(operation, document)}
${errorPart(operation, document)}
</div><div class="samples">
${sample("Request", `Request example: ${operation.summary}`, curl(origin, method, path, operation, parameters))}
${answerSample(operation, document)}
</div></div>
</div>
</details>`;
}

/** What a reference points at, or the thing itself. */
function pointed<T extends object>(one: T | { $ref: string }, document: Document): T {
  if (!("$ref" in one)) return one;
  const names = one.$ref.slice(2).split("/");
  return names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document) as T;
}

/** May be broken before a slash. */
const pathParts = (path: string): Html[] => path.split(/(?=\/)/).map((part, i) => (i ? html`<wbr>${part}` : html`${part}`));

const placeNames = { path: "Path", query: "Query", header: "Header" };

function parameterPart(parameters: Parameter[], { components: { schemas } }: Document): Html[] {
  return (["path", "query", "header"] as const).flatMap((place) => {
    const here = parameters.filter((one) => one.in === place);
    return here.length ? [html`<h4>${placeNames[place]}</h4>${fieldList(here.map(asField), schemas)}`] : [];
  });
}

const asField = ({ name, required, description, schema }: Parameter): Field => ({
  name,
  required,
  schema: { ...schema, ...(description !== undefined && { description }) },
});

/** Every field that the endpoint takes or answers, to be searched. */
export function everyField(operation: Operation, document: Document): Field[] {
  const { schemas } = document.components;
  const bodies = Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema);
  const data = dataOf(succeeds(operation, document).answer);
  const within = [...bodies, ...(data ? [data] : [])].flatMap((schema) => alternatives(schema, schemas));
  return [
    ...operation.parameters.flatMap((one) => ("$ref" in one ? [] : [asField(one)])),
    ...within.flatMap((schema) => fieldsOf(schema, schemas, false)),
  ];
}

function bodyPart({ requestBody }: Operation, { components: { schemas } }: Document): Html[] {
  const all = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => ({ type, schema }));
  const alike = [...Map.groupBy(all, ({ schema }) => JSON.stringify(schema)).values()];
  return alike.map((ways, i) => {
    const types = ways.map(({ type }) => type);
    const isJson = alike.length === 1 && types.join() === "application/json";
    return html`<h4>${i ? "Or" : "Body"}${!isJson && html` <span class="type">${types.join(" or ")}</span>`}</h4>${shapes(ways[0]!.schema, schemas, true)}`;
  });
}

/** The fields; where it may look in several ways, of each of them. */
function shapes(schema: Schema, components: Components, mandatory: boolean): Html[] {
  return alternatives(schema, components).flatMap((way, i, ways) => {
    const fields = fieldsOf(way, components, mandatory);
    if (!fields.length) return [];
    const hint =
      ways.length > 1 &&
      html`<p class="hint">${i ? "Or" : "Either"}${way.description !== undefined && html`: ${prose(way.description)}`}</p>`;
    return [html`${hint}${fieldList(fields, components)}`];
  });
}

const succeeds = (operation: Operation, document: Document): { status: string; answer: Answer } => {
  const [status = "", answer] = Object.entries(operation.responses).find(([code]) => code.startsWith("2"))!;
  return { status, answer: pointed<Answer>(answer!, document) };
};

function answerPart(operation: Operation, document: Document): Html {
  const { status, answer } = succeeds(operation, document);
  const { schemas } = document.components;
  const data = dataOf(answer);
  const fields = data ? shapes(data, schemas, false) : [];
  const types = Object.keys(answer.content ?? {}).filter((type) => type !== "application/json" || !data);
  return html`<h4>Answer <span class="status good">${status}</span> ${answer.description}</h4>
${fields.length > 0 && html`<p class="hint">Fields of <code>data</code></p>${fields}`}
${types.length > 0 && html`<p><code>${types.join(", ")}</code></p>`}`;
}

const dataOf = (answer: Answer): Schema | undefined => answer.content?.["application/json"]?.schema.properties?.data;

function errorPart(operation: Operation, document: Document): Html {
  const problems = Object.entries(operation.responses).filter(([status]) => !status.startsWith("2") && status !== "default");
  const own = problems.filter(([, answer]) => !("$ref" in answer));
  const common = problems.filter(([, answer]) => "$ref" in answer).map(([status]) => status);
  return html`<h4>Errors</h4>
${own.length > 0 && html`<ul class="errors">${own.map(([status, answer]) => html`<li><span class="status bad">${status}</span> ${prose(pointed<Answer>(answer, document).description)}</li>`)}</ul>`}
<p class="hint">${common.length > 0 && html`The <a href="#errors">usual ones</a>: ${common.join(", ")}`}${common.length === 0 && html`See <a href="#errors">errors</a>`}</p>`;
}

const sample = (title: string, label: string, text: string): Html =>
  html`<h4>${title}</h4><pre tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>`;

function answerSample(operation: Operation, document: Document): Html | undefined {
  const { answer } = succeeds(operation, document);
  const example = answer.content?.["application/json"]?.example;
  if (example === undefined) return undefined;
  return sample("Answer", `Answer example: ${operation.summary}`, JSON.stringify(example, null, 2));
}
