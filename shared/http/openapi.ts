import * as z from "zod";
import { problems as problemExamples } from "./examples/problems.ts";
import { answerTo, laterAnswer, parameterExample, requestExample } from "./examples.ts";
import { operationId } from "./operation-ids.ts";
import { basePath, type Limit, type Route } from "./route.ts";
import { collector, type Schema } from "./schemas.ts";
import type { Group } from "./serve.ts";

export interface Parameter {
  in: "path" | "query" | "header";
  name: string;
  required: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}
export interface Reference {
  $ref: string;
}
export interface Answer {
  description: string;
  headers?: Record<string, Reference>;
  content?: Record<string, Media>;
}
interface Media {
  schema: Schema;
  example?: unknown;
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters: (Parameter | Reference)[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, Answer | Reference>;
  /** Any web page may call it. */
  "x-cors"?: true;
  /** HEAD is answered 200. */
  "x-probed"?: true;
}

type SchemaOf = ReturnType<typeof collector>["schemaOf"];

/** OpenAPI 3.1 (spec.openapis.org/oas/v3.1.0), from the same objects that answer the requests. */
export function openapi(groups: Group[]) {
  const { components, schemaOf } = collector();
  const problem = schemaOf(ProblemBody, "output");
  const paths = pathsOf(groups, schemaOf);
  for (const methods of Object.values(paths)) for (const operation of Object.values(methods)) giveExamples(operation, components);
  return {
    openapi: "3.1.0",
    info: {
      title: "Pennymail",
      version: "1",
      description: "Marketing and transactional email on your own AWS account.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    tags: groups.filter(({ routes }) => routes.length).map(({ name }) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key: `Authorization: Bearer pm_live_...`" },
        session: { type: "apiKey", in: "cookie", name: "__Host-session", description: "Set by login; lives 7 days" },
      },
      schemas: { ...components, Problem: problem },
      parameters: { IdempotencyKey: idempotencyKey },
      headers,
      responses: Object.fromEntries(
        Object.entries(usual).map(([status, description]) => [nameOf(status), problemAnswer(description, status, problemExamples[status])]),
      ),
    },
  };
}

const ProblemBody = z.object({
  error: z.string().describe("One sentence"),
  code: z.string().describe("A stable word for programs"),
  requestId: z.string(),
  details: z
    .array(z.object({ path: z.string().describe("Dotted name of the field"), message: z.string() }))
    .optional()
    .describe("What is wrong with the input"),
  retryAfter: z.int().optional().describe("Seconds; with status 429"),
  limit: z.int().optional().describe("Requests per minute; with status 429"),
  resetAt: z.int().optional().describe("Unix seconds; with status 429"),
});

/** What every endpoint of its kind may answer. */
const usual: Record<string, string> = {
  400: "A field is missing or wrong; `details` names it",
  401: "No credential, or a bad one",
  403: "This credential may not do that",
  404: "There is no such thing in your organization",
  409: "The `Idempotency-Key` was used for another request, or the first one with it is still running",
  413: "The body is too large",
  415: "The `Content-Type` must be `application/json`",
  429: "Too many requests; `Retry-After` tells when to come back",
  default: "Anything else, such as 500 when the fault is ours",
};
const nameOf = (status: string) => (status === "default" ? "Problem" : `Problem${status}`);

const header = (description: string, type: string) => ({ description, schema: { type } });
const headers = {
  "X-Request-Id": header("Names this request; tell it when you ask us about one", "string"),
  "X-RateLimit-Limit": header("Requests per minute", "integer"),
  "X-RateLimit-Remaining": header("Requests left in this minute", "integer"),
  "X-RateLimit-Reset": header("When the next minute begins (Unix seconds)", "integer"),
  "Retry-After": header("Seconds to wait", "integer"),
  "Idempotent-Replayed": header("`true` when this is the first answer again; what is shown once is not in it", "string"),
};
type HeaderName = keyof typeof headers;
const pointAt = (names: HeaderName[]) => Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
const rateHeaders: HeaderName[] = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

function pathsOf(groups: Group[], schemaOf: SchemaOf): Record<string, Record<string, Operation>> {
  const all: Record<string, Record<string, Operation>> = {};
  for (const { name, routes } of groups)
    for (const route of routes) {
      all[route.path] ??= {};
      all[route.path]![route.method.toLowerCase()] = operationOf(name, route, schemaOf);
    }
  return all;
}

const operationOf = (group: string, route: Route, schemaOf: SchemaOf): Operation => ({
  operationId: operationId(route),
  tags: [group],
  summary: route.summary,
  description: `${whoMay(route)} ${counted[route.limit]}`,
  security: securityOf[route.auth](route),
  parameters: [...pathParameters(route), ...queryParameters(route, schemaOf), ...(idempotent(route) ? [keyReference] : [])],
  ...requestBody(route, schemaOf),
  responses: { [route.status]: success(route, schemaOf), ...later(route, schemaOf), ...problems(route) },
  ...(route.cors && { "x-cors": true as const }),
  ...(route.probed && { "x-probed": true as const }),
});

const securityOf: Record<Route["auth"], (route: Route) => Record<string, string[]>[]> = {
  public: () => [],
  session: () => [{ session: [] }],
  account: ({ scope }) => [{ apiKey: [scope] }, { session: [] }],
};

const whoMay = (route: Route): string => callers[route.auth](route);
const callers: Record<Route["auth"], (route: Route) => string> = {
  public: () => "Public: needs no credential.",
  session: () => "Needs a session; an API key is not enough.",
  account: ({ scope, level }) =>
    `Needs a session, or an API key with the scope \`${scope}\`${level === "organization" ? " that is not bound to one site" : ""}.`,
};
const counted: Record<Limit, string> = {
  general: "Counts against the general rate limit.",
  send: "Counts against the send rate limit.",
  address: "Limited by client address.",
  none: "Counts against no rate limit.",
};

const pathParameters = ({ path }: Route): Parameter[] =>
  [...path.matchAll(/{(\w+)}/g)].map(([, name = ""]) => ({
    in: "path",
    name,
    required: true,
    schema: /^id$|Id$/.test(name) ? { type: "integer", minimum: 1 } : { type: "string" },
  }));

function queryParameters({ query }: Route, schemaOf: SchemaOf): Parameter[] {
  if (!query) return [];
  const { properties = {}, required = [] } = schemaOf(query, "input");
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    in: "query",
    name,
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }));
}

const idempotent = ({ method, auth }: Route): boolean => method === "POST" && auth !== "public";
const keyReference = { $ref: "#/components/parameters/IdempotencyKey" };
const idempotencyKey: Parameter = {
  in: "header",
  name: "Idempotency-Key",
  required: false,
  description: "Kept 24 hours: a repeated request with the same key gets the first answer again, and nothing is done twice",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

function requestBody({ body, raw, beacon }: Route, schemaOf: SchemaOf): Pick<Operation, "requestBody"> {
  if (raw) {
    const types = Object.entries(raw).map(([type, inside]) => [type, { schema: schemaOf(inside, "input") }]);
    return { requestBody: { required: true, content: Object.fromEntries(types) } };
  }
  if (!body) return {};
  const schema = schemaOf(body, "input");
  return {
    requestBody: {
      required: Boolean(schema.required?.length),
      content: { "application/json": { schema }, ...(beacon && { "text/plain": { schema } }) },
    },
  };
}

function giveExamples({ operationId, parameters, requestBody, responses }: Operation, components: Record<string, Schema>) {
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

function giveRequestExample(type: string, media: Media, components: Record<string, Schema>) {
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

function success(route: Route, schemaOf: SchemaOf): Answer {
  const named: HeaderName[] = [
    "X-Request-Id",
    ...(route.auth === "public" ? [] : rateHeaders),
    ...(idempotent(route) ? (["Idempotent-Replayed"] as const) : []),
  ];
  return { description: done[route.status]!, headers: pointAt(named), content: content(route, schemaOf) };
}

const later = (route: Route, schemaOf: SchemaOf): Operation["responses"] =>
  route.later
    ? { 202: success({ ...route, status: 202, returns: route.later, type: undefined, json: undefined, otherType: undefined }, schemaOf) }
    : {};

const done: Record<number, string> = { 200: "Done", 201: "Created", 202: "Accepted; the rest is done later" };

function content({ returns, type, json, otherType }: Route, schemaOf: SchemaOf): NonNullable<Answer["content"]> {
  const other = otherType && { [nameOfType(otherType)]: { schema: { type: "string" } } };
  if (!type) return { "application/json": enveloped(returns, schemaOf), ...other };
  const bare = { schema: type.startsWith("application/json") ? { type: "object", additionalProperties: {} } : { type: "string" } };
  return { [nameOfType(type)]: bare, ...(json && { "application/json": enveloped(json, schemaOf) }) };
}

const nameOfType = (type: string): string => type.split(";")[0]!;

function enveloped(returns: z.ZodType | undefined, schemaOf: SchemaOf): Media {
  const warnings = { type: "array", items: { type: "string" }, description: "What was ignored or is worth knowing" };
  const data = returns ? schemaOf(returns, "output") : { type: "null" };
  return { schema: { type: "object", properties: { data, warnings }, required: ["data"] } };
}

/** The usual ones are pointed at; where a route gives its own reason, that is told. */
function problems(route: Route): Operation["responses"] {
  const own = Object.entries(route.errors).map(([status, why]) => [status, problemAnswer(why, status)]);
  const common = usualFor(route).map((status) => [status, { $ref: `#/components/responses/${nameOf(status)}` }]);
  return Object.fromEntries([...common, ...own]);
}

const usualFor = (route: Route): string[] => [
  ...(route.body || route.query ? ["400"] : []),
  ...(route.auth === "public" ? [] : ["401", "403"]),
  ...(route.path.includes("{") ? ["404"] : []),
  ...(idempotent(route) ? ["409"] : []),
  ...(route.body || route.raw ? ["413"] : []),
  ...(route.body ? ["415"] : []),
  ...(route.limit === "none" ? [] : ["429"]),
  "default",
];

const problemAnswer = (description: string, status: string, example?: object): Answer => ({
  description,
  headers: pointAt(["X-Request-Id", ...(status === "429" ? ([...rateHeaders, "Retry-After"] as const) : [])]),
  content: { "application/json": { schema: { $ref: "#/components/schemas/Problem" }, ...(example && { example }) } },
});

/** Without the base path, as people say it: /sites/{id} */
export const shortPath = (path: string): string => path.replace(basePath, "");
