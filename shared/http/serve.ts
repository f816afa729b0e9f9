// The edge of every HTTP function: one middy stack, built here and nowhere else.
import { randomUUID } from "node:crypto";
import middy, { type MiddlewareObj } from "@middy/core";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import type { Caller } from "../caller.ts";
import { config } from "../config.ts";
import { metered } from "../doors/meter.ts";
import { get } from "../doors/table.ts";
import { missing, Problem, unauthenticated } from "../errors.ts";
import { keys } from "../keys.ts";
import * as log from "../log.ts";
import type { PlanKey } from "../plans.ts";
import { authenticate, authorize } from "./authenticate.ts";
import { answered, once } from "./idempotency.ts";
import * as limits from "./rate-limit.ts";
import { data, newExtra, refusal, text } from "./reply.ts";
import { checkSize, jsonParser, problemOf } from "./request-body.ts";
import type { Extra, Identity, Request, Route } from "./route.ts";
import { checked, pathParams, unread } from "./validate.ts";

type Event = APIGatewayProxyEventV2;
type Answer = APIGatewayProxyStructuredResultV2;
export type HttpHandler = (event: Event, context?: object) => Promise<Answer>;

export interface Group {
  name: string;
  routes: Route[];
  handler: HttpHandler;
}

interface Named {
  name: string;
  /** Where people meet the public routes too: what a browser shows of an error. */
  failurePage?: (status: number, requestId: string, acceptLanguage: string | undefined) => string;
}

/** The routes of one Lambda, and the Lambda. */
export function group(given: string | Named, routes: Route[]): Group {
  const { name, failurePage } = typeof given === "string" ? { name: given } : given;
  return { name, routes, handler: serve(routes, failurePage) };
}

/** API Gateway has matched the route: its key is all we need. */
function serve(routes: Route[], failurePage: Named["failurePage"]): HttpHandler {
  const byKey = new Map(routes.map((route) => [route.key, route]));
  const lambda = middy()
    .use(rawBodyKeeper(byKey))
    .use(jsonBody(byKey))
    .handler(async (event: Event & Kept) => {
      const route = byKey.get(event.routeKey);
      if (!route) throw missing("There is no such endpoint");
      return respond(route, event);
    })
    .onError((request) => {
      const event = request.event as Event & Kept;
      const answer = refused(request.error, event);
      const shown = failurePage && byKey.get(event.routeKey)?.auth === "public" && /\btext\/html\b/i.test(event.headers.accept ?? "");
      request.response = shown ? asPage(answer, failurePage, event) : answer;
    });
  return (event, context = {}) => logged(event, () => lambda(event as never, context as never) as Promise<Answer>);
}

/** What the edge keeps of an event while it is worked on. */
interface Kept {
  kept: { rawBody: Buffer; extra: Extra; orgId?: number };
}

const rawBodyKeeper = (byKey: Map<string, Route>): MiddlewareObj<Event & Kept> => ({
  before: ({ event }) => {
    const rawBody = Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8");
    const route = byKey.get(event.routeKey);
    event.kept = { rawBody, extra: newExtra(requestIdOf(event)) };
    // Before anything can be refused: a page must be able to read why.
    allowOrigin(route, event, event.kept.extra);
    checkSize(route, rawBody);
  },
});

function jsonBody(byKey: Map<string, Route>): MiddlewareObj<Event & Kept> {
  const parse = jsonParser();
  return {
    before: ({ event }) => {
      const route = byKey.get(event.routeKey);
      // A beacon cannot name JSON without asking first (fetch.spec.whatwg.org, CORS-safelisted headers).
      if (route?.beacon && /^text\/plain\b/i.test(event.headers["content-type"] ?? "")) event.headers["content-type"] = "application/json";
      if (route && !route.raw) parse(event, event.kept.rawBody);
    },
  };
}

/** The answer to an error. A bug is logged here, and nothing of it is told. */
function refused(error: unknown, event: Event & Partial<Kept>): Answer {
  const problem = problemOf(error);
  const requestId = requestIdOf(event);
  if (!(problem instanceof Problem) || problem.cause) log.failure("request failed", error, { route: event.routeKey, requestId });
  return refusal(problem, requestId, event.kept?.extra ?? newExtra(requestId));
}

/** The same error, for eyes. */
function asPage({ statusCode = 500, headers = {} }: Answer, page: NonNullable<Named["failurePage"]>, event: Event & Partial<Kept>): Answer {
  const requestId = String(headers["x-request-id"]);
  const { "content-type": _, ...rest } = headers as Record<string, string>;
  const content = page(statusCode, requestId, event.headers["accept-language"]);
  return text(statusCode, "text/html; charset=utf-8", content, { headers: rest, cookies: [], warnings: [] });
}

const requestIdOf = (event: Event): string => event.requestContext?.requestId || randomUUID();

/** One line per request, whatever became of it. */
async function logged(event: Event, work: () => Promise<Answer>): Promise<Answer> {
  const started = performance.now();
  const { result, usage } = await metered(work);
  const { kept } = event as Event & Partial<Kept>;
  log.info("request", {
    requestId: result.headers?.["x-request-id"]?.toString(),
    orgId: kept?.orgId,
    route: event.routeKey,
    status: result.statusCode ?? 200,
    milliseconds: Math.round(performance.now() - started),
    readUnits: usage.readUnits,
    writeUnits: usage.writeUnits,
  });
  return result;
}

async function respond(route: Route, event: Event & Kept): Promise<Answer> {
  const { extra } = event.kept;
  const request = requestOf(event, extra);
  if (route.auth !== "public") return asAccount(route, event, request);
  if (route.limit === "address") await limits.countAddress(request.address, route.key);
  return answer(route, { ...inputOf(route, event, request), caller: undefined, reply: extra }, event);
}

async function asAccount(route: Route, event: Event & Kept, request: Request): Promise<Answer> {
  const identity = await authenticate(request, route.method);
  event.kept.orgId = identity.orgId;
  // Admission, checks and a hot route's reads go side by side; a refusal by rate limit comes first, as it is the cheapest to mend.
  const admission = admit(identity, route, event.kept.extra);
  const prepared = prepare(route, event, request, identity);
  const [admitted, ready] = await Promise.allSettled([admission, prepared]);
  if (admitted.status === "rejected") throw admitted.reason;
  authorize(identity, route);
  const { extra } = event.kept;
  const done =
    ready.status === "fulfilled"
      ? await once(route, identity, request, () =>
          answer(route, { ...ready.value, caller: admitted.value, reply: extra }, event).catch((error: unknown) => refused(error, event)),
        )
      : await answered(route, identity, request);
  if (!done) throw (ready as PromiseRejectedResult).reason;
  return { ...done, headers: { ...done.headers, ...extra.headers } };
}

async function prepare(route: Route, event: Event & Kept, request: Request, identity: Identity) {
  authorize(identity, route);
  const input = inputOf(route, event, request);
  return { ...input, prepared: await route.prepare?.({ ...input, caller: identity }) };
}

async function admit(identity: Identity, route: Route, extra: Extra): Promise<Caller> {
  const counted = route.limit === "send" ? "send" : "general";
  const free = route.limit === "none";
  const [organization, used] = await Promise.all([
    organizationOf(identity),
    free ? limits.peek(identity.orgId, counted) : limits.count(identity.orgId, counted),
  ]);
  if (!organization) throw unauthenticated();
  Object.assign(extra.headers, limits.headersOf(limits.windowOf(organization.plan, counted, used)));
  if (!free) limits.enforce(identity.orgId, organization.plan, counted, used);
  return { ...identity, plan: organization.plan };
}

// The cheap read may be a moment behind: who has just signed up must not be refused for that.
async function organizationOf({ orgId }: Identity) {
  const address = keys.organization(orgId);
  return (await get<{ plan: PlanKey }>(address, { consistent: false })) ?? (await get<{ plan: PlanKey }>(address));
}

function inputOf(route: Route, event: Event, request: Request) {
  const params = pathParams(event.pathParameters);
  const query = checked(route.query, event.queryStringParameters ?? {});
  const body = route.raw ? undefined : checked(route.body, event.body ?? {});
  return { params, query, body, request };
}

interface Input {
  query: unknown;
  body: unknown;
  reply: Extra;
  caller: Caller | undefined;
}

async function answer(route: Route, input: Input, event: Event): Promise<Answer> {
  const result = await route.handle(input);
  if (route.later && input.reply.status) return data(input.reply.status, route.later.parse(result), input.reply);
  if (route.otherType && input.reply.other !== undefined) return text(route.status, route.otherType, input.reply.other, input.reply);
  if (input.reply.page !== undefined)
    return text(input.reply.status ?? route.status, "text/html; charset=utf-8", input.reply.page, input.reply);
  if (route.type) return text(input.reply.status ?? route.status, route.type, result as string | Uint8Array, input.reply);
  input.reply.warnings.push(...ignored(route, input, event));
  return data(route.status, route.returns ? route.returns.parse(result) : null, input.reply);
}

/** What was given and not read, as far as a handler does not read the request itself. */
function ignored({ raw }: Route, { query, body }: Input, event: Event): string[] {
  const fields = unread(event.body, body);
  const parameters = raw ? [] : unread(event.queryStringParameters ?? {}, query ?? {});
  return [
    ...(fields.length ? [`Ignored fields: ${fields.join(", ")}`] : []),
    ...(parameters.length ? [`Ignored query parameters: ${parameters.join(", ")}`] : []),
  ];
}

function requestOf(event: Event & Kept, extra: Extra): Request {
  const cookies = (event.cookies ?? event.headers.cookie?.split(";") ?? []).map((cookie) => cookie.trim().split(/=(.*)/s));
  return {
    id: extra.headers["x-request-id"]!,
    path: event.rawPath,
    queryString: event.rawQueryString,
    headers: event.headers,
    cookies: Object.fromEntries(cookies.map(([name = "", value = ""]) => [name, value])),
    rawBody: event.kept.rawBody,
    address: event.requestContext.http.sourceIp,
  };
}

function allowOrigin(route: Route | undefined, { headers: { origin } }: Event, { headers }: Extra) {
  if (route?.cors) headers["access-control-allow-origin"] = "*";
  else if (origin && config.allowedOrigins.includes(origin))
    Object.assign(headers, {
      "access-control-allow-origin": origin,
      "access-control-allow-credentials": "true",
      "access-control-expose-headers": exposed,
      vary: "Origin",
    });
}

/** Headers that a page's script may read beside the few every script may. */
const exposed = "x-request-id, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, retry-after, idempotent-replayed";
