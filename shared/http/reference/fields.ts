// The fields of a request or an answer, nested ones under their dotted names.
import { type Html, html } from "../html.ts";
import type { Schema } from "../schemas.ts";
import { type Components, choices, limitsInWords, prose, resolved, typeInWords } from "./words.ts";

export interface Field {
  /** recipients[].to */
  name: string;
  /** Undefined where it makes no difference: in answers. */
  required?: boolean | undefined;
  schema: Schema;
}

/** Where it may look in several ways, each of them; else itself. */
export function alternatives(given: Schema, components: Components): Schema[] {
  const ways = (resolved(given, components).anyOf ?? []).map((one) => resolved(one, components));
  return ways.filter(({ properties }) => properties).length > 1 ? ways : [given];
}

/** Every field within, outer before inner. `mandatory`: whether to tell which are required; those come first. */
export function fieldsOf(given: Schema, components: Components, mandatory: boolean, prefix = "", within: string[] = []): Field[] {
  const schema = resolved(given, components);
  const { properties = {}, required = [] } = schema;
  const needed = ([name]: [string, Schema]) => (mandatory && required.includes(name) ? 0 : 1);
  const entries = Object.entries(properties).sort((a, b) => needed(a) - needed(b));
  return entries.flatMap(([name, inner]) => {
    const path = prefix + name;
    return [
      { name: path, required: mandatory ? required.includes(name) : undefined, schema: inner },
      ...innerFields(inner, components, mandatory, path, within),
    ];
  });
}

function innerFields(given: Schema, components: Components, mandatory: boolean, path: string, within: string[]): Field[] {
  if (given.$ref && within.includes(given.$ref)) return [];
  const inside = given.$ref ? [...within, given.$ref] : within;
  const schema = resolved(given, components);
  if (schema.items) return innerFields(schema.items, components, mandatory, `${path}[]`, inside);
  const object = schema.properties ? schema : schema.anyOf?.find((one) => resolved(one, components).properties);
  return object ? fieldsOf(object, components, mandatory, `${path}.`, inside) : [];
}

export const fieldList = (fields: Field[], components: Components): Html =>
  html`<dl class="fields">${fields.map((field) => fieldEntry(field, components))}</dl>`;

function fieldEntry({ name, required, schema: given }: Field, components: Components): Html {
  const schema = resolved(given, components);
  const limits = limitsInWords(schema, components);
  const values = choices(schema, components);
  return html`<div>
<dt><code>${broken(name)}</code> <span class="type">${typeInWords(schema, components)}</span>${required && html` <span class="required">required</span>`}</dt>
${schema.description !== undefined && html`<dd>${prose(schema.description)}</dd>`}
${values.length > 0 && html`<dd>One of ${listed(values)}</dd>`}
${limits.length > 0 && html`<dd class="limit">${limits.join(", ")}</dd>`}
${patternOf(schema)}
${standard(schema) && html`<dd class="limit">Default <code>${JSON.stringify(schema.default)}</code></dd>`}
</div>`;
}

/** May be broken after a dot or a bracket. */
const broken = (name: string): Html[] => name.split(/(?<=[.\]])/).map((part, i) => (i ? html`<wbr>${part}` : html`${part}`));
const listed = (values: unknown[]): Html[] => values.map((value, i) => html`${i > 0 && ", "}<code>${shown(value)}</code>`);
// A comma or a tab among words would not be seen.
const shown = (value: unknown): string => (typeof value === "string" && /\w/.test(value) ? value : JSON.stringify(value));
// A long pattern is no help to a reader; the error that it leads to is.
const patternOf = ({ pattern }: Schema): Html | false =>
  typeof pattern === "string" && pattern.length < 40 && html`<dd class="limit">matches <code>${pattern}</code></dd>`;
// Nothing, an empty list and an empty object are what everyone expects.
const standard = ({ default: value }: Schema): boolean => value != null && !["[]", "{}", '""'].includes(JSON.stringify(value));
