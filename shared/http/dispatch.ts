// The edge of every HTTP function: one middy stack for all routes.
import { randomUUID } from "node:crypto";
import middy, { type MiddlewareObj } from "@middy/core";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { measureUnits } from "../adapters/dynamodb/capacity.ts";
import { isOutage } from "../adapters/http/no-response.ts";
import type { Caller } from "../caller.ts";
import { missing, Problem, unavailable } from "../errors.ts";
import * as log from "../kernel/log.ts";
import { admit, countUnrouted } from "./admission.ts";
import { logKeyRequest, recordChange, recordLogins, recordSwitch } from "./audit.ts";
import {
  authenticate,
  authorize,
  authorizeExport,
  cookiesOf,
  requireVerifiedEmail,
  withBearer,
  withKeyHeader,
} from "./authenticate.ts";
import { toWireResponse } from "./compat/wire-format.ts";
import { cursorsFor, hasCursor, withSealedCursor } from "./cursors.ts";
import { withForwardedClient } from "./forwarded-client.ts";
import { runOnce } from "./idempotency.ts";
import { limitAddress } from "./rate-limit.ts";
import { checkBodySize, checkEncoding, jsonBody, maxBytes } from "./request-body.ts";
import {
  allowed,
  allowMethods,
  allowOrigin,
  createReply,
  errorResponse,
  jsonResponse,
  methodNotAllowed,
  rawResponse,
} from "./responses.ts";
import { type ApiReply, type ApiRequest, basePath, type Identity, type Route } from "./route.ts";
import { type Match, routeMatcher } from "./route-matching.ts";
import { checkedQuery, ignoredFields, parsePathParams, validate } from "./validate.ts";

type HttpEvent = APIGatewayProxyEventV2;
type LambdaResponse = APIGatewayProxyStructuredResultV2;
export type HttpHandler = (event: HttpEvent, context?: object) => Promise<LambdaResponse>;

export interface RouteGroup {
  name: string;
  routes: Route[];
  handler: HttpHandler;
  /** Whether errors of public routes are pages for browsers. */
  hasErrorPage: boolean;
}

interface RouteGroupOptions {
  name: string;
  /** Renders errors of public routes as a page for browsers. */
  errorPage?: (status: number, requestId: string, acceptLanguage: string | undefined) => string;
}

/** The routes of one Lambda function, and its handler. */
export function routeGroup(options: string | RouteGroupOptions, routes: Route[]): RouteGroup {
  const { name, errorPage } = typeof options === "string" ? { name: options } : options;
  return {
    name,
    routes,
    handler: createHandler(routes, errorPage),
    hasErrorPage: errorPage !== undefined,
  };
}

/** State of an event while the edge handles it. */
interface EdgeState extends Match {
  rawBody: Buffer;
  reply: ApiReply;
  request: ApiRequest;
  identity?: Identity;
}
type EdgeEvent = HttpEvent & { edge: EdgeState };

/**
 * The handler of a group. It finds the route and also handles OPTIONS, HEAD, 404 and 405, because
 * the gateway only knows the group.
 */
function createHandler(routes: Route[], errorPage: RouteGroupOptions["errorPage"]): HttpHandler {
  const match = routeMatcher(routes);
  const addEdgeState: MiddlewareObj<EdgeEvent> = {
    before: ({ event }) => {
      event.edge = createEdgeState(event, match(event, event.requestContext.http.method));
      // First, so that a page can also read errors.
      allowOrigin(
        event.headers,
        event.edge.reply,
        event.edge.routes.some(({ cors }) => cors),
      );
    },
  };
  const lambda = middy()
    .use(addEdgeState)
    .handler(async (event: EdgeEvent) => {
      const { method } = event.requestContext.http;
      if (event.edge.routes.length && method === "OPTIONS") return handleOptions(event.edge);
      if (method === "HEAD") return { ...(await handleHead(event)), body: "" };
      return event.edge.route ? handleRoute(event.edge.route, event) : refuseUnrouted(event);
    })
    .onError((request) => {
      const event = request.event as EdgeEvent;
      const response = toErrorResponse(request.error, event);
      const wantsPage =
        errorPage &&
        event.edge?.route?.auth === "public" &&
        /\btext\/html\b/i.test(event.headers.accept ?? "");
      request.response = wantsPage ? toErrorPage(response, errorPage, event) : response;
    });
  const formats = [...new Set(routes.flatMap(({ wireFormat }) => wireFormat ?? []))];
  // By path, so that it also translates the errors of paths and methods without a route.
  const translate = (event: HttpEvent, response: LambdaResponse): LambdaResponse => {
    const format = formats.find(({ path }) => event.rawPath.startsWith(`${basePath}${path}/`));
    return format ? toWireResponse(format, response) : response;
  };
  return (event, context = {}) =>
    withRequestLog(
      event,
      () => lambda(event as never, context as never) as Promise<LambdaResponse>,
      translate,
    );
}

function createEdgeState(event: HttpEvent, match: Match): EdgeState {
  const rawBody = Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8");
  const reply = createReply(requestIdOf(event));
  return { ...match, rawBody, reply, request: toApiRequest(event, { rawBody, reply }) };
}

function handleOptions({ routes, reply }: EdgeState): LambdaResponse {
  const methods = allowed(routes.map(({ method }) => method));
  allowMethods(reply, methods);
  return { statusCode: 204, headers: { ...reply.headers, allow: methods.join(", ") } };
}

/** Responds like GET without a body. A route with `answersHead` is not run. */
async function handleHead(event: EdgeEvent): Promise<LambdaResponse> {
  const { route, routes, reply } = event.edge;
  if (route) return handleRoute(route, event);
  if (!routes.some(({ answersHead }) => answersHead)) return refuseUnrouted(event);
  const allow = allowed(routes.map(({ method }) => method)).join(", ");
  return { statusCode: 200, headers: { ...reply.headers, allow } };
}

/**
 * Throws 404 for an unknown path and 405 for an unsupported method. Counts the request if its
 * credential is valid.
 */
async function refuseUnrouted(event: EdgeEvent): Promise<never> {
  const { routes, request, reply } = event.edge;
  const { method } = event.requestContext.http;
  await countUnrouted(request, method, reply);
  if (!routes.length) throw missing("The endpoint does not exist");
  throw methodNotAllowed(
    method,
    routes.map((route) => route.method),
    reply,
  );
}

/** Handles paths of no group: always 404. */
export const unknownPath: HttpHandler = createHandler([], undefined);

/** The response to an error. Bugs are logged here, and the response hides them. */
function toErrorResponse(error: unknown, event: HttpEvent & Partial<EdgeEvent>): LambdaResponse {
  const problem = isOutage(error) ? outage(error) : error;
  const requestId = requestIdOf(event);
  if (!(problem instanceof Problem) || problem.cause)
    log.error("request failed", error, { route: routeOf(event), requestId });
  return errorResponse(problem, requestId, event.edge?.reply ?? createReply(requestId));
}

const outage = (cause: unknown): Problem =>
  unavailable("A part of the service is temporarily unavailable: try again", {
    bodyFields: { retryAfter: 5 },
    cause,
  });

/** The key of the route, or the route key of the gateway if no route was found. */
const routeOf = (event: HttpEvent & Partial<EdgeEvent>): string =>
  event.edge?.route?.key ?? event.routeKey;

const jsonType = "application/json; charset=utf-8";
const htmlType = "text/html; charset=utf-8";

/** Renders an error response as a page. */
function toErrorPage(
  { statusCode = 500, headers = {} }: LambdaResponse,
  renderPage: NonNullable<RouteGroupOptions["errorPage"]>,
  event: HttpEvent,
): LambdaResponse {
  const requestId = String(headers["x-request-id"]);
  const { "content-type": _, ...rest } = headers as Record<string, string>;
  const content = renderPage(statusCode, requestId, event.headers["accept-language"]);
  return rawResponse({ status: statusCode, type: htmlType }, content, {
    headers: rest,
    cookies: [],
  });
}

const requestIdOf = (event: HttpEvent): string => event.requestContext?.requestId || randomUUID();

/** Logs one line per request. */
async function withRequestLog(
  event: HttpEvent,
  work: () => Promise<LambdaResponse>,
  translate: (event: HttpEvent, response: LambdaResponse) => LambdaResponse,
): Promise<LambdaResponse> {
  const started = performance.now();
  const { result: ours, usage } = await measureUnits(work);
  const result = translate(event, ours);
  const { statusCode: status = 200 } = result;
  const { body = "" } = ours;
  const { edge } = event as HttpEvent & Partial<EdgeEvent>;
  const code = status >= 400 ? /"code":"(\w+)"/.exec(body)?.[1] : undefined;
  const milliseconds = Math.round(performance.now() - started);
  if (edge) await logKeyRequest({ identity: undefined, ...edge, status, code, milliseconds });
  log.info("request", {
    requestId: result.headers?.["x-request-id"]?.toString(),
    orgId: edge?.identity?.orgId,
    route: routeOf(event),
    // The route key of the gateway has no method.
    ...(!edge?.route && { method: event.requestContext?.http.method }),
    status,
    ...(status >= 400 && { code }),
    milliseconds,
    readUnits: usage.readUnits,
    writeUnits: usage.writeUnits,
  });
  return result;
}

async function handleRoute(route: Route, event: EdgeEvent): Promise<LambdaResponse> {
  const { reply, rawBody, request } = event.edge;
  if (route.auth !== "public") return handleWithCredential(route, event);
  checkBodySize(rawBody, route.maxSignedBytes ?? maxBytes.anyone);
  if (route.rateLimit === "address") await limitAddress(request.clientIp, route.key);
  const input = { ...validateInput(route, event), caller: undefined, reply };
  return recordLogins(route, { request, reply }, () => runHandler(route, input));
}

async function handleWithCredential(route: Route, event: EdgeEvent): Promise<LambdaResponse> {
  const { reply, rawBody, routes: siblings } = event.edge;
  const request = await withForwardedClient(event.edge.request);
  event.edge.request = request;
  const identity = await authenticate(credentialsFor(route, request), route.method).catch(
    (error: unknown) => {
      checkBodySize(rawBody, maxBytes.anyone);
      throw error;
    },
  );
  event.edge.identity = identity;
  const admission = admit(identity, route.rateLimit, reply);
  const early = prefetch(route, identity, event);
  const caller = await admission;
  checkBodySize(rawBody, maxBytes.account);
  authorize(identity, route);
  requireVerifiedEmail(caller, route);
  const input = { ...(early ?? validateInput(route, event)), caller, reply };
  authorizeExport(identity, route, input.query);
  await openCursor(route, { identity, input }, reply);
  const response = await runOnce(route, { identity, request, body: input.body }, () =>
    recordChange({ route, siblings, request, input }, () =>
      runHandler(route, input).catch((error: unknown) => toErrorResponse(error, event)),
    ).catch((error: unknown) => toErrorResponse(error, event)),
  );
  await recordSwitch(route, identity.orgId, { request, reply });
  return { ...response, headers: { ...response.headers, ...reply.headers } };
}

function credentialsFor({ takesBasicAuth, wireFormat }: Route, request: ApiRequest) {
  if (takesBasicAuth) return withBearer(request);
  return wireFormat?.keyHeader ? withKeyHeader(request, wireFormat.keyHeader) : request;
}

// Validation of a larger body takes longer than a read, so the request is admitted first.
const maxPrefetchBytes = 64_000;

/**
 * Starts the reads of the handler and returns the validated input. Undefined if the route has no
 * such reads or the request will be refused.
 */
function prefetch(route: Route, identity: Identity, event: EdgeEvent) {
  if (!route.prefetch || event.edge.rawBody.length > maxPrefetchBytes) return undefined;
  try {
    authorize(identity, route);
    const input = validateInput(route, event);
    route.prefetch({ identity, body: input.body });
    return input;
  } catch {
    return undefined;
  }
}

/**
 * Replaces the cursor by its position, and gives the handler a function that encrypts the next one.
 */
async function openCursor(
  route: Route,
  { identity, input }: { identity: Identity; input: ReturnType<typeof validateInput> },
  reply: ApiReply,
) {
  const cursors = await cursorsFor(route, identity, input);
  if (!cursors) return;
  const query = input.query as { cursor?: string | undefined };
  if (query.cursor !== undefined) query.cursor = cursors.open(query.cursor);
  reply.sealCursor = cursors.seal;
}

function validateInput(route: Route, event: EdgeEvent): Omit<HandlerArguments, "caller" | "reply"> {
  const { request } = event.edge;
  const params = parsePathParams(event.edge.params);
  const queryAsSent = event.queryStringParameters ?? {};
  if (route.rawBodyTypes && !route.maxSignedBytes && request.rawBody.length)
    checkEncoding(request.headers);
  const json = route.rawBodyTypes ? undefined : jsonBody(route, request);
  const body = validate(route.body, json === undefined ? {} : json);
  return {
    request,
    params,
    asSent: { query: queryAsSent, json },
    query: checkedQuery(route, queryAsSent),
    body,
  };
}

interface HandlerArguments {
  request: ApiRequest;
  params: object;
  /** The unvalidated input, for warnings about ignored fields. */
  asSent: { query: Record<string, string | undefined>; json: unknown };
  query: unknown;
  body: unknown;
  reply: ApiReply;
  caller: Caller | undefined;
}

async function runHandler(route: Route, input: HandlerArguments): Promise<LambdaResponse> {
  const result = await route.handle(input);
  const { reply } = input;
  const status = reply.status ?? route.status;
  if (route.deferredReturns && reply.status)
    return jsonResponse(reply.status, route.deferredReturns.parse(result), reply);
  if (route.alternativeContentType && reply.alternativeBody !== undefined)
    return rawResponse(
      { status: route.status, type: route.alternativeContentType },
      reply.alternativeBody,
      reply,
    );
  if (reply.htmlPage !== undefined)
    return rawResponse({ status, type: htmlType }, reply.htmlPage, reply);
  if (route.contentType)
    return rawResponse({ status, type: route.contentType }, result as string | Uint8Array, reply);
  if (route.wireFormat) {
    const body = route.returns ? JSON.stringify(route.returns.parse(result)) : "";
    return rawResponse({ status, type: jsonType }, body, reply);
  }
  reply.warnings.push(...ignoredFieldWarnings(route, input));
  const data = route.returns ? route.returns.parse(result) : null;
  return jsonResponse(
    status,
    hasCursor(route) ? withSealedCursor(data, reply.sealCursor) : data,
    reply,
  );
}

/** Warnings about fields and parameters that the route does not read. */
function ignoredFieldWarnings(
  { rawBodyTypes }: Route,
  { asSent, query, body }: HandlerArguments,
): string[] {
  const fields = ignoredFields(asSent.json, body);
  const parameters = rawBodyTypes ? [] : ignoredFields(asSent.query, query ?? {});
  return [
    ...(fields.length ? [`Ignored fields: ${fields.join(", ")}`] : []),
    ...(parameters.length ? [`Ignored query parameters: ${parameters.join(", ")}`] : []),
  ];
}

function toApiRequest(
  event: HttpEvent,
  { rawBody, reply }: Pick<EdgeState, "rawBody" | "reply">,
): ApiRequest {
  return {
    id: reply.headers["x-request-id"]!,
    method: event.requestContext.http.method,
    path: event.rawPath,
    queryString: event.rawQueryString,
    headers: event.headers,
    cookies: cookiesOf(event.cookies ?? event.headers.cookie?.split(";") ?? []),
    rawBody,
    clientIp: event.requestContext.http.sourceIp,
  };
}
