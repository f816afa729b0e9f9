// Responses in the OpenAPI document: success and errors.
import * as z from "zod";
import { errorMeanings } from "../../error-codes.ts";
import { Count } from "../../kernel/record-fields.ts";
import type { WireFormat } from "../compat/wire-format.ts";
import type { Route } from "../route.ts";
import { type ErrorExample, errorExampleOf, errorExamples as examples } from "./examples/errors.ts";
import { pageExample } from "./examples/files.ts";
import type { JsonSchema, ToJsonSchema } from "./json-schemas.ts";
import type { Link } from "./links.ts";

export interface ReferenceObject {
  $ref: string;
}
export interface ResponseObject {
  description: string;
  headers?: Record<string, ReferenceObject>;
  content?: Record<string, MediaType>;
  links?: Record<string, Link>;
}
export interface MediaType {
  schema: JsonSchema;
  example?: unknown;
}

/** Whether the route accepts an Idempotency-Key. */
export const acceptsIdempotencyKey = ({ method, auth, preview }: Route): boolean =>
  method === "POST" && auth !== "public" && preview !== true;

export type ResponseObjects = Record<string, ResponseObject | ReferenceObject>;

const ErrorCodeName = z.enum(Object.keys(errorMeanings)).meta({
  "x-enumDescriptions": Object.fromEntries(
    Object.entries(errorMeanings).map(([code, { cause }]) => [code, cause]),
  ),
});

export const ProblemBody = z.object({
  error: z.string().describe("Explanation in one sentence, for people."),
  code: z
    .union([ErrorCodeName, z.string()])
    .describe("Stable code, for programs. Later versions can have more codes."),
  docs: z.string().describe("URL of the page that explains the code: its cause, and what to do."),
  requestId: z.string().describe("Id of the request, as in the header `X-Request-Id`."),
  details: z
    .array(
      z.object({
        path: z.string().describe("Dotted name of the field, such as `recipients.3.to`."),
        message: z.string().describe("What is wrong, for people."),
      }),
    )
    .optional()
    .describe("Fields of the request that are wrong."),
  retryAfter: z
    .int()
    .optional()
    .describe("Seconds to wait before the next request. With status 429."),
  limit: z.int().optional().describe("Requests allowed per minute. With status 429."),
  resetAt: z.int().optional().describe("When the window ends, in Unix seconds. With status 429."),
  ssoUrl: z
    .string()
    .optional()
    .describe("URL at which a browser starts the login. With `sso_required`."),
  contacts: Count.optional().describe("Contacts that a deleted site had. With `site_deleted`."),
  contactsErased: Count.optional().describe("Contacts erased so far. With `site_deleted`."),
  itemsErased: Count.optional().describe("Records erased so far. With `site_deleted`."),
});

/** Error responses that many endpoints share. */
const commonErrors: Record<string, string> = {
  400: "A field is missing or not valid: `details` names it.",
  401: "The credential is missing or not valid.",
  403: "The credential is not allowed to do this: `code` says why.",
  404: "The resource does not exist, or belongs to another organization.",
  409:
    "The request conflicts with the current state, the `Idempotency-Key` was used for another " +
    "request, or the first request with this key is still running.",
  413: "The request body is too large.",
  415: "The `Content-Type`, charset or `Content-Encoding` of the body is not supported.",
  429: "Too many requests: wait the seconds given in `Retry-After`.",
  default: "Any other error, such as 500 for a fault of the service.",
};
/** Error responses for the components of the document, by name. */
export const commonErrorResponses = (): Record<string, ResponseObject> =>
  Object.fromEntries(
    Object.entries(commonErrors).flatMap(([status, description]) =>
      [false, true].map((isPage) => [
        componentName(status, isPage),
        errorResponse(description, status, { isPage, example: examples[status]! }),
      ]),
    ),
  );

const componentName = (status: string, isPage: boolean): string =>
  `Problem${status === "default" ? "" : status}${isPage ? "OrPage" : ""}`;

const header = (description: string, type: string) => ({ description, schema: { type } });
export const headerObjects = {
  "X-Request-Id": header("Id of the request. Give it when you report a problem.", "string"),
  "X-RateLimit-Limit": header("Requests allowed per minute.", "integer"),
  "X-RateLimit-Remaining": header("Requests left in the current minute.", "integer"),
  "X-RateLimit-Reset": header("When the window ends, in Unix seconds.", "integer"),
  "Retry-After": header("Seconds to wait before the next request.", "integer"),
  "Idempotent-Replayed": header(
    "`true` if this is the stored response of an earlier request with the same " +
      "`Idempotency-Key`. Secrets that are shown once are left out.",
    "string",
  ),
};
type HeaderName = keyof typeof headerObjects;
const headerReferences = (names: HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
const rateLimitHeaderNames: HeaderName[] = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
];

/**
 * Response schema in which fields that are shown once are optional, because a repeated response
 * leaves them out.
 */
function repeatable({ returns, fieldsShownOnce }: Route): z.ZodType | undefined {
  if (!fieldsShownOnce.length || !(returns instanceof z.ZodObject)) return returns;
  const shown = fieldsShownOnce.map((name) => {
    const field = returns.shape[name] as z.ZodType;
    const description = [
      field.description,
      "Left out when the response is repeated for an `Idempotency-Key`.",
    ]
      .filter(Boolean)
      .join(" ");
    return [name, field.optional().describe(description)] as const;
  });
  return returns.extend(Object.fromEntries(shown)).meta(returns.meta() ?? {});
}

export function successResponse(route: Route, schemaOf: ToJsonSchema): ResponseObject {
  const named: HeaderName[] = [
    "X-Request-Id",
    ...(route.auth === "public" ? [] : rateLimitHeaderNames),
    ...(acceptsIdempotencyKey(route) ? (["Idempotent-Replayed"] as const) : []),
  ];
  return {
    description: successDescriptions[route.status]!,
    headers: headerReferences(named),
    content: content({ ...route, returns: repeatable(route) }, schemaOf),
  };
}

export const deferredResponse = (route: Route, schemaOf: ToJsonSchema): ResponseObjects =>
  route.deferredReturns
    ? {
        202: successResponse(
          {
            ...route,
            status: 202,
            returns: route.deferredReturns,
            contentType: undefined,
            jsonAlternative: undefined,
            alternativeContentType: undefined,
            otherContent: {},
          },
          schemaOf,
        ),
      }
    : {};

/** A route that responds with text instead of JSON has the text only with its usual status. */
export const otherStatuses = (route: Route, schemaOf: ToJsonSchema): ResponseObjects =>
  Object.fromEntries(
    Object.entries(route.otherStatuses).map(([status, description]) => {
      const { content, ...response } = successResponse(route, schemaOf);
      return [
        status,
        { ...response, description, ...(!route.contentType && content && { content }) },
      ];
    }),
  );

const successDescriptions: Record<number, string> = {
  200: "Success.",
  201: "Created.",
  202: "Accepted. The work continues in the background.",
};

function content(
  {
    returns,
    wireFormat,
    contentType,
    jsonAlternative,
    alternativeContentType,
    otherContent,
  }: Route,
  schemaOf: ToJsonSchema,
): NonNullable<ResponseObject["content"]> {
  const other = {
    ...(alternativeContentType && {
      [nameOfType(alternativeContentType)]: { schema: { type: "string" } },
    }),
    ...Object.fromEntries(
      Object.entries(otherContent).map(([type, schema]) => [
        type,
        { schema: schemaOf(schema, "output") },
      ]),
    ),
  };
  if (wireFormat) return returns ? { "application/json": bareJson(returns, schemaOf) } : {};
  if (!contentType) return { "application/json": wrapInData(returns, schemaOf), ...other };
  const bare = {
    schema: contentType.startsWith("application/json")
      ? { type: "object", additionalProperties: {} }
      : { type: "string", ...(/^image\/|octet-stream/.test(contentType) && { format: "binary" }) },
  };
  return {
    [nameOfType(contentType)]: bare,
    ...(jsonAlternative && { "application/json": wrapInData(jsonAlternative, schemaOf) }),
    ...other,
  };
}

const nameOfType = (type: string): string => type.split(";")[0]!;

/** The body of another service's API. Its schema has the example. */
function bareJson(returns: z.ZodType, schemaOf: ToJsonSchema): MediaType {
  const [example] = (returns.meta()?.examples ?? []) as unknown[];
  return { schema: schemaOf(returns, "output"), example };
}

function wrapInData(returns: z.ZodType | undefined, schemaOf: ToJsonSchema): MediaType {
  const warnings = {
    type: "array",
    items: { type: "string" },
    description: "Notes on the request, such as fields that were ignored.",
  };
  const schema = returns ? schemaOf(returns, "output") : { type: "null" };
  const data = { description: "Result of the request.", ...schema };
  return { schema: { type: "object", properties: { data, warnings }, required: ["data"] } };
}

/** References to the common error responses, and the descriptions that the route gives itself. */
export function errorResponses(
  route: Route,
  isPage: boolean,
  schemaOf: ToJsonSchema,
): ResponseObjects {
  if (route.wireFormat) return wireErrorResponses(route, route.wireFormat, schemaOf);
  const own = Object.entries(route.errors).map(([status, why]) => [
    status,
    errorResponse(why, status, { isPage, example: errorExampleOf(status, why) }),
  ]);
  const common = commonErrorStatuses(route).map((status) => [
    status,
    { $ref: `#/components/responses/${componentName(status, isPage)}` },
  ]);
  return Object.fromEntries([...common, ...own]);
}

/** The statuses and bodies of the API that the route speaks. */
function wireErrorResponses(
  route: Route,
  { name, Failure, toError }: WireFormat,
  schemaOf: ToJsonSchema,
): ResponseObjects {
  const schema = schemaOf(Failure, "output");
  const all = commonErrorStatuses(route).map((key) => {
    const { code, error: message } = examples[key]!;
    const isFault = key === "default";
    const { status, body } = toError({
      status: isFault ? 500 : Number(key),
      code,
      message,
      field: undefined,
    });
    const response: ResponseObject = {
      description: `${commonErrors[key]!.split(":")[0]!.replace(/\.$/, "")}, as ${name} says it.`,
      headers: headerReferences(["X-Request-Id"]),
      content: { "application/json": { schema, example: body } },
    };
    return [isFault ? "default" : String(status), response] as const;
  });
  return Object.fromEntries(all.toReversed());
}

const commonErrorStatuses = (route: Route): string[] => [
  ...(route.body || route.query || route.rawBodyTypes || acceptsIdempotencyKey(route)
    ? ["400"]
    : []),
  ...(route.auth === "public" ? [] : ["401", "403"]),
  ...(route.path.includes("{") || takesSite(route) ? ["404"] : []),
  ...(acceptsIdempotencyKey(route) ? ["409"] : []),
  ...(route.body || route.rawBodyTypes ? ["413"] : []),
  ...(route.body || (route.rawBodyTypes && !route.maxSignedBytes) ? ["415"] : []),
  ...(route.rateLimit === "none" ? [] : ["429"]),
  "default",
];

/** An unknown site is a 404. */
const takesSite = ({ query, body }: Route): boolean =>
  [query, body].some((type) => fieldNamesOf(type).includes("siteId"));

const fieldNamesOf = (type: unknown): string[] => {
  if (type instanceof z.ZodPipe) return fieldNamesOf(type.in);
  return type instanceof z.ZodObject ? Object.keys(type.shape) : [];
};

const errorResponse = (
  description: string,
  status: string,
  { isPage, example }: { isPage: boolean; example: ErrorExample },
): ResponseObject => ({
  description,
  headers: headerReferences([
    "X-Request-Id",
    ...(status === "429" ? ([...rateLimitHeaderNames, "Retry-After"] as const) : []),
  ]),
  content: {
    "application/json": {
      schema: { $ref: "#/components/schemas/Problem" },
      example,
    },
    ...(isPage && {
      "text/html": { schema: { type: "string" }, example: pageExample(example.error) },
    }),
  },
});
