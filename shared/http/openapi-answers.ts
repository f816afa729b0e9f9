// What the document says of answers: good ones, and how a request may fail.
import * as z from "zod";
import { problems as examples } from "./examples/problems.ts";
import type { Route } from "./route.ts";
import type { Schema, SchemaOf } from "./schemas.ts";

export interface Reference {
  $ref: string;
}
export interface Answer {
  description: string;
  headers?: Record<string, Reference>;
  content?: Record<string, Media>;
}
export interface Media {
  schema: Schema;
  example?: unknown;
}

/** It takes an Idempotency-Key. */
export const idempotent = ({ method, auth }: Route): boolean => method === "POST" && auth !== "public";

export type Answers = Record<string, Answer | Reference>;

export const ProblemBody = z.object({
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
/** By their names among the components. */
export const usualAnswers = (): Record<string, Answer> =>
  Object.fromEntries(
    Object.entries(usual).map(([status, description]) => [nameOf(status), problemAnswer(description, status, examples[status])]),
  );

const nameOf = (status: string) => (status === "default" ? "Problem" : `Problem${status}`);

const header = (description: string, type: string) => ({ description, schema: { type } });
export const headers = {
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

export function success(route: Route, schemaOf: SchemaOf): Answer {
  const named: HeaderName[] = [
    "X-Request-Id",
    ...(route.auth === "public" ? [] : rateHeaders),
    ...(idempotent(route) ? (["Idempotent-Replayed"] as const) : []),
  ];
  return { description: done[route.status]!, headers: pointAt(named), content: content(route, schemaOf) };
}

export const later = (route: Route, schemaOf: SchemaOf): Answers =>
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
export function problems(route: Route): Answers {
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
