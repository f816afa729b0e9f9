// Adds examples to the document: made from the JSON Schemas, and from the records in examples/.

import type { OperationObject, Parameter } from "./document.ts";
import { audienceExamples } from "./examples/accounts-and-audience.ts";
import { analyticsExamples } from "./examples/analytics-and-billing.ts";
import { campaignExamples } from "./examples/content-and-campaigns.ts";
import { domainExamples } from "./examples/domain-figures.ts";
import { csvOf, requestExample, responseBodyExample } from "./examples/files.ts";
import { answersByStatus, queuedJob, responseOverrides } from "./examples/operation-overrides.ts";
import { sendingExamples } from "./examples/sending.ts";
import { type Components, idOf, type JsonSchema } from "./json-schemas.ts";
import type { MediaType } from "./response-objects.ts";

/** Adds examples to parameters, request bodies and responses. */
export function addExamples(
  { operationId, parameters, requestBody, responses }: OperationObject,
  components: Components,
) {
  for (const parameter of parameters) if ("schema" in parameter) addParameterExample(parameter);
  const bodies = requestBody?.content ?? {};
  for (const [type, media] of Object.entries(bodies))
    addRequestExample(media, components, requestExample(operationId, type));
  const request = bodies["application/json"]?.example;
  for (const [status, response] of Object.entries(responses))
    if ("content" in response && response.content)
      addResponseExamples(response.content, {
        operationId,
        status,
        request,
        isDeferred: status === "202" && "200" in responses,
        components,
      });
}

interface ResponseContext {
  operationId: string;
  status: string;
  /** Example of the request body. */
  request: unknown;
  isDeferred: boolean;
  components: Components;
}

function addResponseExamples(
  content: Record<string, MediaType>,
  { operationId, status, request, isDeferred, components }: ResponseContext,
) {
  for (const [type, media] of Object.entries(content))
    setExample(media, media.example ?? responseBodyExample(operationId, type));
  const json = content["application/json"];
  const schema = json?.schema.properties?.data;
  if (!json || !schema) return;
  const usual = isDeferred
    ? deferredExample(schema, components)
    : responseExample(operationId, { request, schema }, components);
  const special = answersByStatus[`${operationId} ${status}`];
  json.example = { data: special ? { ...(usual as object), ...special } : usual };
  if (content["text/csv"]) content["text/csv"].example ??= csvOf(firstItem(usual));
}

/** The first item of the list in a response. */
const firstItem = (data: unknown): object =>
  Object.values(data as object).flatMap((value) => (Array.isArray(value) ? value : []))[0];

function addRequestExample(media: MediaType, components: Components, known: unknown) {
  const { schema } = media;
  const hasFields =
    schema.examples || schema.$ref || schema.properties || schema.anyOf || schema.oneOf;
  setExample(media, known ?? (hasFields ? minimalExample(schema, components) : undefined));
  delete schema.examples;
}

function setExample(media: MediaType, example: unknown) {
  if (example !== undefined) media.example = example;
}

function addParameterExample(parameter: Parameter) {
  const example = parameterExample(parameter.schema, parameter.name);
  if (example !== undefined) parameter.example = example;
  delete parameter.schema.examples;
}

/**
 * The smallest valid request: all required fields, else the first field. An example of the schema
 * takes precedence.
 */
export const minimalExample = (schema: JsonSchema, components: Components): unknown =>
  example(schema, { components, name: "", allFields: false });

/** A response with every field. */
export const fullExample = (schema: JsonSchema, components: Components): unknown =>
  example(schema, { components, name: "", allFields: true });

/** The 202 response of a background job. */
const deferredExample = (schema: JsonSchema, components: Components): unknown => ({
  ...(fullExample(schema, components) as object),
  ...queuedJob,
});

/** The response of this operation to the example request. */
function responseExample(
  operationId: string,
  { request, schema }: { request: unknown; schema: JsonSchema },
  components: Components,
): unknown {
  const usual = fullExample(schema, components);
  if (!isObject(usual)) return usual;
  return {
    ...usual,
    ...(operationId.startsWith("create") && freshTimestamps(usual)),
    ...echoRequestFields(request, usual),
    ...responseOverrides[operationId],
  };
}

const exampleNow = "2026-12-01T09:00:00.412Z";
const freshTimestamps = ({ createdAt, updatedAt }: Record<string, unknown>) => ({
  ...(createdAt !== undefined && { createdAt: exampleNow }),
  ...(updatedAt !== undefined && { updatedAt: exampleNow }),
});
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Copies request fields into response fields of the same name and type. */
const echoRequestFields = (request: unknown, answer: Record<string, unknown>) =>
  isObject(request)
    ? Object.fromEntries(
        Object.entries(request).filter(
          ([name, value]) => value !== null && hasSameType(value, answer[name]),
        ),
      )
    : {};
const hasSameType = (sent: unknown, returned: unknown): boolean =>
  Array.isArray(sent)
    ? Array.isArray(returned) && !isObject(sent[0]) && !isObject(returned[0])
    : typeof sent === typeof returned && returned !== null;

/** Example of a parameter; undefined if every value is equally good. */
function parameterExample(schema: JsonSchema, name: string): unknown {
  const knownValue = schema.enum?.find((value) => exampleFilterValues.includes(String(value)));
  const found =
    knownValue ??
    parameterExamples[name] ??
    example(schema, { components: {}, name, allFields: false });
  return found === placeholderText || name === "cursor" ? undefined : found;
}

interface ExampleContext {
  components: Components;
  /** Name of the field. */
  name: string;
  allFields: boolean;
  /** Enclosing components, because a component can contain itself. */
  ancestors?: string[];
}

function example(reference: JsonSchema, context: ExampleContext): unknown {
  const id = idOf(reference);
  if (id === undefined) return exampleOf(reference, context);
  const { components, ancestors = [], allFields } = context;
  if (ancestors.includes(id)) return {};
  if (allFields && Object.hasOwn(schemaExamples, id)) return schemaExamples[id];
  const { $ref, ...siblings } = reference;
  const schema = { ...components[id], ...siblings };
  return exampleOf(schema, { ...context, ancestors: [...ancestors, id] });
}

function exampleOf(schema: JsonSchema, context: ExampleContext): unknown {
  const [explicit] =
    (schema.examples as unknown[] | undefined) ??
    [schema.const, schema.default].filter((value) => value != null);
  if (explicit !== undefined) return explicit;
  if (schema.enum) return schema.enum[0];
  const [first] = schema.anyOf ?? schema.oneOf ?? (schema.allOf as JsonSchema[] | undefined) ?? [];
  if (first) return example(first, context);
  const known = exampleByName(schema, context.name);
  if (known !== undefined) return known;
  if ([schema.type].flat().includes("null")) return null;
  return exampleByType[firstType(schema)]?.(schema, context) ?? placeholderText;
}

const firstType = ({ type }: JsonSchema): string => [type].flat()[0] ?? "";

/** Examples by the id of their schema. */
export const schemaExamples: Record<string, unknown> = {
  ...audienceExamples,
  ...campaignExamples,
  ...sendingExamples,
  ...analyticsExamples,
  ...domainExamples,
};
const placeholderText = "string";
const parameterExamples: Record<string, string> = {
  script: "scalar-1.72.1.js",
  file: "console-WQ6PADIC.js",
  screen: "contacts",
  record: "4021",
  part: "edit",
  name: "3573351.jpeg",
  filename: "customers.csv",
  eventName: "order_placed",
  fieldName: "plan",
  session: "4f1d0c6a9be27358",
  error: "access_denied",
};
/** Values of the example records to filter by. */
const exampleFilterValues = ["click", "delivered", "sent", "active"];

const exampleByType: Record<string, (schema: JsonSchema, context: ExampleContext) => unknown> = {
  object: objectExample,
  array: ({ items = {} }, context) => [
    example(items, { ...context, name: context.name.replace(/s$/, "") }),
  ],
  string: () => placeholderText,
  integer: (schema) => Math.max(1, Number(schema.minimum ?? 1)),
  number: (schema) => Math.max(1, Number(schema.minimum ?? 1)),
  boolean: () => true,
  null: () => null,
};

function objectExample(
  { properties = {}, required = [] }: JsonSchema,
  context: ExampleContext,
): unknown {
  const names = Object.keys(properties);
  const smallest = required.length
    ? names.filter((name) => required.includes(name))
    : names.slice(0, 1);
  const shown = context.allFields ? names : smallest;
  return Object.fromEntries(
    shown.map((name) => [name, example(properties[name]!, { ...context, name })]),
  );
}

const exampleByFormat: Record<string, string | undefined> = {
  email: "ada@example.com",
  uri: "https://shop.example/",
  "date-time": "2026-12-01T09:00:00.000Z",
  date: "2026-12-01",
  uuid: "2f1e9c1a-8f1b-4c59-9d6e-0d7a6f1f2b3c",
};

const numberExamples: Record<string, number | undefined> = {
  page: 1,
  limit: 50,
  total: 1,
  totalPages: 1,
  resetAt: 1_796_115_660,
  contactCount: 438,
  score: 35,
};

const textExamples: Record<string, string | null | undefined> = {
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
  link: "VGhlIHNlYWxlZCB0YXJnZXQgb2YgaXQ",
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

const exampleByName = (schema: JsonSchema, name: string): unknown => {
  if (["integer", "number"].includes(firstType(schema))) return numberExamples[name];
  if (firstType(schema) !== "string") return undefined;
  if (schema.format) return exampleByFormat[String(schema.format)];
  if (Object.hasOwn(textExamples, name)) return textExamples[name];
  if (/At$/.test(name)) return exampleByFormat["date-time"];
  if (/email$/i.test(name) || name === "to") return exampleByFormat.email;
  return /url$/i.test(name) ? exampleByFormat.uri : undefined;
};
