import type * as z from "zod";
import { refusedAddresses } from "../../kernel/email-fields.ts";
import type { Right } from "../../rights.ts";
import type { RouteGroup } from "../dispatch.ts";
import { singular } from "../operation-id.ts";
import { operationNames } from "../operation-names.ts";
import { resources } from "../resources.ts";
import type { RateLimit, Route } from "../route.ts";
import { maxPathTextLength } from "../validate.ts";
import { addExamples } from "./examples.ts";
import { readGuides } from "./guides.ts";
import {
  type Components,
  createSchemaCollector,
  type JsonSchema,
  type ToJsonSchema,
} from "./json-schemas.ts";
import { addLinks } from "./links.ts";
import { nameAlternatives, nameSchemas } from "./named-schemas.ts";
import {
  acceptsIdempotencyKey,
  commonErrorResponses,
  deferredResponse,
  errorResponses,
  headerObjects,
  type MediaType,
  otherStatuses,
  ProblemBody,
  type ReferenceObject,
  type ResponseObject,
  successResponse,
} from "./response-objects.ts";
import { createWebhooks } from "./webhooks.ts";

export interface Parameter {
  in: "path" | "query" | "header";
  name: string;
  required: boolean;
  description?: string;
  schema: JsonSchema;
  example?: unknown;
}
export interface OperationObject {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters: (Parameter | ReferenceObject)[];
  requestBody?: { required: boolean; content: Record<string, MediaType> };
  responses: Record<string, ResponseObject | ReferenceObject>;
  /** Any web page may call it. */
  "x-cors"?: true;
  /** HEAD is answered 200. */
  "x-probed"?: true;
  /** Its name in the SDK: `contacts.create`. */
  "x-sdk-method": string;
}

export type OpenApiDocument = ReturnType<typeof createOpenApiDocument>;

/**
 * OpenAPI 3.1 (spec.openapis.org/oas/v3.1.0), generated from the route objects that serve the
 * requests.
 */
export function createOpenApiDocument(groups: RouteGroup[]) {
  const { components, schemaOf } = createSchemaCollector();
  const problem = schemaOf(ProblemBody, "output");
  const paths = createPaths(groups, schemaOf);
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  for (const operation of operations) {
    addExamples(operation, components);
    nameSchemas(operation, components);
  }
  nameAlternatives(components);
  addLinks(paths, components);
  const webhooks = createWebhooks(schemaOf);
  return {
    openapi: "3.1.0",
    info: {
      title: "Pennymail",
      version: "1",
      description: [
        introduction,
        readGuides(operations),
        `# Email addresses\n\n${refusedAddresses}`,
      ].join("\n\n"),
      contact: { name: "Pennymail" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "This service." }],
    tags: createTags(operations),
    paths,
    webhooks,
    components: {
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description: "API key in the header `Authorization: Bearer pm_live_...`.",
        },
        basic: {
          type: "http",
          scheme: "basic",
          description: "API key as the user name of Basic authentication, without a password.",
        },
        serverToken: {
          type: "apiKey",
          in: "header",
          name: "X-Postmark-Server-Token",
          description: "API key, where Postmark's libraries put their server token.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "__Host-session",
          description: "Session cookie, set by sign-up and login. Expires after 7 days.",
        },
      },
      schemas: { ...components, Problem: problem } as Components,
      parameters: {
        IdempotencyKey: idempotencyKeyParameter,
        AcceptLanguage: acceptLanguageParameter,
      },
      headers: headerObjects,
      responses: pickUsed(commonErrorResponses(), paths),
    },
  };
}

const introduction = "Marketing and transactional email on your own AWS account or on one machine.";

const createTags = (operations: OperationObject[]) => {
  const used = new Set(operations.flatMap(({ tags }) => tags));
  return Object.entries(resources)
    .filter(([name]) => used.has(name))
    .map(([name, { title = titleOf(name), description }]) => ({
      name,
      "x-displayName": title,
      description,
    }));
};
const titleOf = (name: string): string =>
  name.charAt(0).toUpperCase() + name.slice(1).replaceAll("-", " ");

/** Only the responses that an operation refers to. */
const pickUsed = (responses: Record<string, ResponseObject>, paths: Paths) => {
  const text = JSON.stringify(paths);
  return Object.fromEntries(
    Object.entries(responses).filter(([name]) => text.includes(`/responses/${name}"`)),
  );
};

/** Operations by path and lower-case method. */
export type Paths = Record<string, Record<string, OperationObject>>;

function createPaths(groups: RouteGroup[], schemaOf: ToJsonSchema): Paths {
  const all: Paths = {};
  for (const { routes, hasErrorPage } of groups)
    for (const route of routes) {
      const hasPages = hasErrorPage && route.auth === "public";
      all[route.path] ??= {};
      all[route.path]![route.method.toLowerCase()] = createOperation(route, hasPages, schemaOf);
    }
  return all;
}

const createOperation = (
  route: Route,
  hasPages: boolean,
  schemaOf: ToJsonSchema,
): OperationObject => {
  const { operationId, tag, group, action } = operationNames(route);
  return {
    operationId,
    tags: [tag],
    summary: route.summary,
    description: [
      route.description,
      route.acceptsTextPlain && textPlainSentence,
      `${accessSentence(route)} ${rateLimitSentences[route.rateLimit]}`,
    ]
      .filter(Boolean)
      .join("\n\n"),
    security: [
      ...(route.takesBasicAuth ? [{ basic: [] }] : []),
      ...(route.wireFormat?.keyHeader ? [{ serverToken: [] }] : []),
      ...securityByAuth[route.auth](route),
    ],
    parameters: [
      ...pathParameters(route),
      ...queryParameters(route, schemaOf),
      ...(acceptsIdempotencyKey(route) ? [idempotencyKeyReference] : []),
      ...(hasPages ? [{ $ref: "#/components/parameters/AcceptLanguage" }] : []),
    ],
    ...requestBody(route, schemaOf),
    responses: {
      [route.status]: successResponse(route, schemaOf),
      ...deferredResponse(route, schemaOf),
      ...otherStatuses(route, schemaOf),
      ...errorResponses(route, hasPages, schemaOf),
    },
    ...(route.cors && { "x-cors": true as const }),
    ...(route.answersHead && { "x-probed": true as const }),
    "x-sdk-method": `${group}.${action}`,
  };
};

const securityByAuth: Record<Route["auth"], (route: Route) => Record<string, string[]>[]> = {
  public: () => [],
  session: () => [{ session: [] }],
  api_key: () => [{ apiKey: [] }],
  account: ({ scope }) => [{ apiKey: [scope] }, { session: [] }],
};

const accessSentence = (route: Route): string => accessSentences[route.auth](route);
const accessSentences: Record<Route["auth"], (route: Route) => string> = {
  public: () => "Public: no credential needed.",
  session: (route) => `Authentication: session only${rightAndSites(route)} API keys are refused.`,
  api_key: () => "Authentication: API key, with any scopes.",
  account: (route) =>
    `Authentication: session, or API key with the scope \`${route.scope}\`${rightAndSites(route)}`,
};
const rightAndSites = ({ right, exportRight, level }: Route): string =>
  `. Right: \`${right}\`.${exportSentence(exportRight)}${siteSentences[level]}`;
const exportSentence = (right: Right | undefined): string =>
  right === undefined
    ? ""
    : ` \`format=csv\` also needs the right \`${right}\`, and has an entry in the audit log.`;
const siteSentences: Record<Route["level"], string> = {
  organization: " Keys and members that are limited to sites are refused.",
  site: "",
  site_members:
    " Keys that are bound to a site are refused. Members who are limited to sites manage only " +
    "what concerns these.",
};
// Not a content type of the document, because generators of clients would send text.
const textPlainSentence =
  "The JSON can also be sent as `text/plain`, which a page may do without a preflight request.";
const rateLimitSentences: Record<RateLimit, string> = {
  general: "Rate limit: general.",
  send: "Rate limit: send.",
  address: "Rate limit: per client address.",
  none: "Rate limit: none.",
};

const pathParameters = ({ path }: Route): Parameter[] =>
  [...path.matchAll(/{(\w+)}/g)].map(([, name = ""]) => ({
    in: "path",
    name,
    required: true,
    ...pathParameterDescription(path, name),
    schema: /^id$|Id$/.test(name)
      ? { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER }
      : { type: "string", minLength: 1, maxLength: maxPathTextLength(name) },
  }));

/** "Id of the list." for `/lists/{id}` and `/contacts/{id}/lists/{listId}`. */
function pathParameterDescription(path: string, name: string): { description?: string } {
  const known = pathParameterDescriptions[name];
  if (known) return { description: known };
  if (!/^id$|Id$/.test(name)) return {};
  const segments = path.split("/");
  const collection = segments[segments.indexOf(`{${name}}`) - 1] ?? "";
  return { description: `Id of the ${singular(collection).replaceAll("-", " ")}.` };
}
const pathParameterDescriptions: Record<string, string> = {
  token: "Token of the link in the email.",
  link: "Sealed target of the link in the email.",
  versionId: "Number of the version.",
  eventName: "Name of the custom event.",
  fieldName: "Name of the custom field, without `customFields.`.",
  session: "Id of the session.",
  secret: "Secret of the sequence, as in its `webhookUrl`.",
  email: "Email address.",
  name: "File name of the photo.",
  script: "File name of the script.",
  file: "Name of the file, as in the document of the console.",
  screen: "Screen of the console.",
  record: "Id of the record, or a part of the screen.",
  part: "Part of the record's screen.",
};

function queryParameters({ query }: Route, schemaOf: ToJsonSchema): Parameter[] {
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

const acceptLanguageParameter: Parameter = {
  in: "header",
  name: "Accept-Language",
  required: false,
  description: "Language of pages, as browsers send it. English if no language is known.",
  schema: { type: "string", maxLength: 1000 },
  example: "de",
};

export const idempotencyKeyReference = { $ref: "#/components/parameters/IdempotencyKey" };
const idempotencyKeyParameter: Parameter = {
  in: "header",
  name: "Idempotency-Key",
  required: false,
  description:
    "Any text of 1 to 255 characters. For 24 hours, the same request with the same key gets " +
    "the stored response, and nothing is done twice. Responses with 2xx, 402, 404 and 409 " +
    "are stored. After 429 and 5xx, send the same request again with the same key; after any " +
    "other error, correct the request.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

function requestBody(
  { body, rawBodyTypes, maxSignedBytes }: Route,
  schemaOf: ToJsonSchema,
): Pick<OperationObject, "requestBody"> {
  if (rawBodyTypes) {
    const types = Object.entries(rawBodyTypes).map(([type, inside]) => [
      type,
      { schema: schemaOf(inside, "input") },
    ]);
    const required = maxSignedBytes !== undefined || Object.values(rawBodyTypes).some(needsFields);
    return { requestBody: { required, content: Object.fromEntries(types) } };
  }
  if (!body) return {};
  const schema = schemaOf(body, "input");
  return {
    requestBody: {
      required: needsFields(body),
      content: { "application/json": { schema } },
    },
  };
}

/** Whether a request without fields is refused. */
const needsFields = (body: z.ZodType): boolean => !body.safeParse({}).success;
