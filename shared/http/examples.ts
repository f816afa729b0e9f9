// Examples for the document: out of JSON Schemas, and out of the one world that is told in examples/.
import { answers, later } from "./examples/answers.ts";
import { figures } from "./examples/figures.ts";
import { mailings } from "./examples/mailings.ts";
import { people } from "./examples/people.ts";
import { sends } from "./examples/sends.ts";
import type { Operation, Parameter } from "./openapi.ts";
import type { Media } from "./openapi-answers.ts";
import { componentPrefix, type Schema } from "./schemas.ts";

type Components = Record<string, Schema>;

/** To its parameters, its bodies and its answers. */
export function giveExamples({ operationId, parameters, requestBody, responses }: Operation, components: Components) {
  for (const parameter of parameters) if ("schema" in parameter) giveParameterExample(parameter);
  for (const [type, media] of Object.entries(requestBody?.content ?? {})) giveRequestExample(type, media, components);
  const request = requestBody?.content["application/json"]?.example;
  for (const [status, answer] of Object.entries(responses)) {
    const told = "content" in answer ? answer.content?.["application/json"] : undefined;
    const data = told?.schema.properties?.data;
    if (!told || !data) continue;
    const isLater = status === "202" && "200" in responses;
    told.example = { data: isLater ? laterAnswer(data, components) : answerTo(operationId, request, data, components) };
  }
}

function giveRequestExample(type: string, media: Media, components: Components) {
  const { schema } = media;
  const isKnown = Object.keys(schema).length > 0 && !schema.additionalProperties;
  if (schema.examples || (ofFields.test(type) && isKnown)) media.example = requestExample(schema, components);
  delete schema.examples;
}

const ofFields = /^(application\/(json|x-www-form-urlencoded)|multipart\/form-data)$/;

function giveParameterExample(parameter: Parameter) {
  const example = parameterExample(parameter.schema, parameter.name);
  if (example !== undefined) parameter.example = example;
  delete parameter.schema.examples;
}

/** The least that is a good request: all that is required, or else the first field. An example given with the schema comes first. */
export const requestExample = (schema: Schema, components: Components): unknown => example(schema, { components, name: "", whole: false });

/** A whole answer, every field of it. */
export const answerExample = (schema: Schema, components: Components): unknown => example(schema, { components, name: "", whole: true });

/** Of work that is done later. */
const laterAnswer = (schema: Schema, components: Components): unknown => ({
  ...(answerExample(schema, components) as object),
  ...later,
});

/** What this operation would answer in that world, to this request. */
function answerTo(operationId: string, request: unknown, schema: Schema, components: Components): unknown {
  const usual = answerExample(schema, components);
  const stamps = /^create/.test(operationId) && isObject(usual) && usual.createdAt ? madeJustNow : {};
  return isObject(usual) ? { ...usual, ...stamps, ...echoed(request, usual), ...answers[operationId] } : usual;
}

const madeJustNow = { createdAt: "2026-12-01T09:00:00.412Z", updatedAt: "2026-12-01T09:00:00.412Z" };
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** What was said comes back, where the answer has a word of that name. */
const echoed = (request: unknown, answer: Record<string, unknown>) =>
  isObject(request)
    ? Object.fromEntries(Object.entries(request).filter(([name, value]) => value !== null && alike(value, answer[name])))
    : {};
const alike = (said: unknown, answer: unknown): boolean =>
  Array.isArray(said)
    ? Array.isArray(answer) && !isObject(said[0]) && !isObject(answer[0])
    : typeof said === typeof answer && answer !== null;

/** For a parameter; undefined where any value would be as good. */
function parameterExample(schema: Schema, name: string): unknown {
  const likely = schema.enum?.find((value) => inWorld.includes(String(value)));
  const found = likely ?? parameters[name] ?? example(schema, { components: {}, name, whole: false });
  return found === anyText || name === "cursor" ? undefined : found;
}

interface At {
  components: Components;
  /** Of the field. */
  name: string;
  whole: boolean;
  /** Components we are inside of, as one may hold itself. */
  within?: string[];
}

function example(given: Schema, at: At): unknown {
  const id = given.$ref?.replace(componentPrefix, "");
  if (id !== undefined && at.within?.includes(id)) return {};
  const schema = id === undefined ? given : { ...at.components[id], ...withoutRef(given) };
  const inside = id === undefined ? at : { ...at, within: [...(at.within ?? []), id] };
  if (at.whole && id !== undefined && Object.hasOwn(world, id)) return world[id];
  const [told] = (schema.examples as unknown[] | undefined) ?? [schema.const, schema.default].filter((value) => value != null);
  if (told !== undefined) return told;
  if (schema.enum) return schema.enum[0];
  const [first] = schema.anyOf ?? (schema.allOf as Schema[] | undefined) ?? [];
  if (first) return example(first, inside);
  const known = byName(schema, at.name);
  if (known !== undefined) return known;
  // What may be missing, mostly is.
  return [schema.type].flat().includes("null") ? null : (byType[typeOf(schema)]?.(schema, inside) ?? anyText);
}

const withoutRef = ({ $ref, ...rest }: Schema): Schema => rest;
const typeOf = ({ type }: Schema): string => [type].flat()[0] ?? "";

/** Examples by the id of their schema. */
export const world: Record<string, unknown> = { ...people, ...mailings, ...sends, ...figures };
const anyText = "string";
const parameters: Record<string, string> = { name: "3573351.jpeg", filename: "customers.csv" };
/** States in that world, to filter by. */
const inWorld = ["click", "delivered", "sent", "active"];

const byType: Record<string, (schema: Schema, at: At) => unknown> = {
  object: ofObject,
  array: (schema, at) => [example(schema.items ?? {}, { ...at, name: at.name.replace(/s$/, "") })],
  string: () => anyText,
  integer: (schema) => Math.max(1, Number(schema.minimum ?? 1)),
  number: (schema) => Math.max(1, Number(schema.minimum ?? 1)),
  boolean: () => true,
  null: () => null,
};

function ofObject({ properties = {}, required = [] }: Schema, at: At): unknown {
  const names = Object.keys(properties);
  const shown = at.whole ? names : required.length ? names.filter((name) => required.includes(name)) : names.slice(0, 1);
  return Object.fromEntries(shown.map((name) => [name, example(properties[name]!, { ...at, name })]));
}

const byFormat: Record<string, string | undefined> = {
  email: "ada@example.com",
  uri: "https://shop.example/",
  "date-time": "2026-12-01T09:00:00.000Z",
  date: "2026-12-01",
  uuid: "2f1e9c1a-8f1b-4c59-9d6e-0d7a6f1f2b3c",
};

const numberByName: Record<string, number | undefined> = {
  page: 1,
  limit: 50,
  total: 1,
  totalPages: 1,
  resetAt: 1_796_115_660,
  contactCount: 438,
  score: 35,
};

const textByName: Record<string, string | null | undefined> = {
  name: "My shop",
  firstName: "Ada",
  lastName: "Lovelace",
  organizationName: "My shop",
  domain: "shop.example",
  html: "<p>Hello Ada</p>",
  text: "Hello Ada",
  subject: "Hello Ada",
  provider: "sendgrid",
  password: "a long pass phrase",
  currentPassword: "a long pass phrase",
  newPassword: "a longer pass phrase",
  token: "V2hhdCB0aGUgbWFpbCBsaW5rcyB0bw",
  mfaToken: "WW91ciBsb2dpbiB3YWl0cyBmb3IgdGhpcw",
  secret: "c2VxdWVuY2Ugb25l",
  search: "ann",
  eventName: "order_placed",
  key: "pm_live_...",
  prefix: "pm_live_8f3kQz1x",
  timezone: "Europe/Berlin",
  filename: "invoice.pdf",
  type: "application/pdf",
  code: "validation_failed",
  nextCursor: null,
  scope: "*",
  error: null,
};

const byName = (schema: Schema, name: string): unknown => {
  if (["integer", "number"].includes(typeOf(schema))) return numberByName[name];
  if (typeOf(schema) !== "string") return undefined;
  if (schema.format) return byFormat[String(schema.format)];
  if (Object.hasOwn(textByName, name)) return textByName[name];
  if (/At$/.test(name)) return byFormat["date-time"];
  if (/email$/i.test(name) || name === "to") return byFormat.email;
  return /url$/i.test(name) ? byFormat.uri : undefined;
};
