import { giveExamples } from "./examples.ts";
import {
  type Answer,
  headers,
  idempotent,
  later,
  type Media,
  ProblemBody,
  problems,
  type Reference,
  success,
  usualAnswers,
} from "./openapi-answers.ts";
import { operationId } from "./operation-ids.ts";
import { basePath, type Limit, type Route } from "./route.ts";
import { collector, type Schema, type SchemaOf } from "./schemas.ts";
import type { Group } from "./serve.ts";

export interface Parameter {
  in: "path" | "query" | "header";
  name: string;
  required: boolean;
  description?: string;
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
      responses: usualAnswers(),
    },
  };
}

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

/** Without the base path, as people say it: /sites/{id} */
export const shortPath = (path: string): string => path.replace(basePath, "");
