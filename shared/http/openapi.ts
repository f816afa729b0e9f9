import * as z from "zod";
import type { Route } from "./route.ts";
import type { Group } from "./serve.ts";

type Schema = Record<string, unknown>;

export interface Parameter {
  in: "path" | "query" | "header";
  name: string;
  required: boolean;
  description?: string;
  schema: Schema;
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  security: Record<string, string[]>[];
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> } | { $ref: string }>;
  /** Any web page may call it. */
  "x-cors"?: true;
}

const schemaOf = (type: z.ZodType, io: "input" | "output"): Schema => {
  const { $schema, ...schema } = z.toJSONSchema(type, { io, unrepresentable: "any" }) as Schema;
  return schema;
};

/** OpenAPI 3.1 (spec.openapis.org/oas/v3.1.0), from the same objects that answer the requests. */
export const openapi = (groups: Group[]) => ({
  openapi: "3.1.0",
  info: { title: "Pennymail", version: "1", description: "Marketing and transactional email on your own AWS account." },
  servers: [{ url: "/" }],
  tags: groups.map(({ name }) => ({ name })),
  paths: paths(groups),
  components: {
    securitySchemes: {
      apiKey: { type: "http", scheme: "bearer", description: "An API key: `Authorization: Bearer pm_live_...`" },
      session: { type: "apiKey", in: "cookie", name: "__Host-session", description: "Set by login; lives 7 days" },
    },
    schemas: { Problem: schemaOf(ProblemBody, "output") },
    responses: {
      Problem: { description: "What went wrong", content: { "application/json": { schema: { $ref: "#/components/schemas/Problem" } } } },
    },
  },
});

const ProblemBody = z.object({
  error: z.string().describe("One sentence"),
  code: z.string().describe("A stable word for programs"),
  requestId: z.string(),
  details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  retryAfter: z.int().optional().describe("Seconds; with status 429"),
  limit: z.int().optional(),
  resetAt: z.int().optional().describe("Unix seconds; with status 429"),
});

function paths(groups: Group[]): Record<string, Record<string, Operation>> {
  const all: Record<string, Record<string, Operation>> = {};
  for (const { name, routes } of groups)
    for (const route of routes) {
      all[route.path] ??= {};
      all[route.path]![route.method.toLowerCase()] = operation(name, route);
    }
  return all;
}

function operation(group: string, route: Route): Operation {
  const problems = Object.entries(usualErrors(route)).map(([status, why]) => [status, { ...problemResponse, description: why }]);
  return {
    operationId: `${route.method.toLowerCase()}${route.path
      .replace(/^\/api\/v1/, "")
      .replace(/[^A-Za-z0-9]+(\w)/g, (_, c: string) => c.toUpperCase())
      .replace(/\W/g, "")}`,
    tags: [group],
    summary: route.summary,
    security: securityOf[route.auth],
    parameters: [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)],
    ...requestBody(route),
    responses: { [route.status]: success(route), ...Object.fromEntries(problems) },
    ...(route.cors && { "x-cors": true as const }),
  };
}

const problemResponse = { description: "", content: { "application/json": { schema: { $ref: "#/components/schemas/Problem" } } } };
const securityOf: Record<Route["auth"], Record<string, string[]>[]> = {
  public: [],
  session: [{ session: [] }],
  account: [{ apiKey: [] }, { session: [] }],
};

const usualErrors = (route: Route): Record<number, string> => ({
  ...((route.body || route.query) && { 400: "A field is missing or wrong; `details` names it" }),
  ...(route.auth !== "public" && { 401: "No or bad credential", 403: "Not allowed with this credential" }),
  ...(route.path.includes("{") && { 404: "There is no such thing in your organization" }),
  ...((route.auth !== "public" || route.limit === "address") && { 429: "Too many requests; see Retry-After" }),
  ...route.errors,
});

const pathParameters = ({ path }: Route): Parameter[] =>
  [...path.matchAll(/{(\w+)}/g)].map(([, name = ""]) => ({
    in: "path",
    name,
    required: true,
    schema: { type: /^id$|Id$/.test(name) ? "integer" : "string" },
  }));

function queryParameters({ query }: Route): Parameter[] {
  if (!query) return [];
  const { properties = {}, required = [] } = schemaOf(query, "input") as { properties?: Record<string, Schema>; required?: string[] };
  return Object.entries(properties).map(([name, schema]) => ({
    in: "query",
    name,
    required: required.includes(name),
    ...(typeof schema.description === "string" && { description: schema.description }),
    schema,
  }));
}

const headerParameters = ({ method, auth }: Route): Parameter[] =>
  method !== "POST" || auth === "public"
    ? []
    : [
        {
          in: "header",
          name: "Idempotency-Key",
          required: false,
          description: "1 to 255 characters, kept 24 hours: a repeated request gets the first answer again",
          schema: { type: "string", minLength: 1, maxLength: 255 },
        },
      ];

function requestBody({ body, raw }: Route): Pick<Operation, "requestBody"> {
  if (raw) return { requestBody: { required: true, content: Object.fromEntries(raw.map((type) => [type, { schema: {} }])) } };
  if (!body) return {};
  const schema = schemaOf(body, "input");
  return {
    requestBody: { required: Boolean((schema.required as string[] | undefined)?.length), content: { "application/json": { schema } } },
  };
}

function success({ summary, returns, type }: Route) {
  if (type) return { description: summary, content: { [type.split(";")[0]!]: { schema: { type: "string" } } } };
  const warnings = { type: "array", items: { type: "string" }, description: "What was ignored or is worth knowing" };
  const schema = {
    type: "object",
    required: ["data"],
    properties: { data: returns ? schemaOf(returns, "output") : { type: "null" }, warnings },
  };
  return { description: summary, content: { "application/json": { schema } } };
}
