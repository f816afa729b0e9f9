// Records changes and logins in the audit log, and requests in the request log. The dispatcher
// calls it for every route, so handlers need not know of it.
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { get } from "../adapters/dynamodb/table.ts";
import type { Caller } from "../caller.ts";
import { addSeconds, now } from "../clock.ts";
import {
  type AuditActor,
  type AuditEvent,
  beginEntry,
  completeEntry,
  countCall,
  recordEntry,
  storeCounts,
  uncountCall,
  withdrawEntry,
} from "../domain/audit/entries.ts";
import { logRequest } from "../domain/audit/request-log.ts";
import { toTargetPart } from "../domain/audit/targets.ts";
import type { SessionItem } from "../domain/identity/sessions.ts";
import { type AccountEvent, withAccountEvents } from "../kernel/account-events.ts";
import { isObject, parseJson } from "../kernel/json.ts";
import * as log from "../kernel/log.ts";
import { keys, sha256 } from "../keys.ts";
import { isPreview } from "./idempotency.ts";
import { operationId, shortPath } from "./operation-id.ts";
import { createReply } from "./responses.ts";
import {
  type ApiReply,
  type ApiRequest,
  asksForExport,
  type Identity,
  type Route,
} from "./route.ts";
import { sessionTokenIn } from "./session-cookie.ts";

type LambdaResponse = APIGatewayProxyStructuredResultV2;
type Params = Record<string, string | number | undefined>;

interface Change {
  route: Route;
  /** All routes of the path. */
  siblings: Route[];
  request: ApiRequest;
  input: {
    caller: Caller;
    params: object;
    query: unknown;
    body: unknown;
    asSent: { json: unknown };
  };
}

/**
 * Runs `work` and records the change. The entry is stored before `work` runs, so no change lacks
 * one. A response with a status from 400 to 499 changed nothing and leaves no entry.
 */
export async function recordChange(
  change: Change,
  work: () => Promise<LambdaResponse>,
): Promise<LambdaResponse> {
  const { route, input } = change;
  if (!isRecorded(change)) return work();
  const { caller } = input;
  const event = { ...toEvent(change), target: targetOf(change) };
  if (route.audit === "counted" && caller.kind === "api_key") {
    const counted = await countCall(caller.orgId, event);
    const response = await work();
    if (isRefusal(response)) await orLogFailure(() => uncountCall(counted));
    return response;
  }
  const [entry, before] = await Promise.all([
    beginEntry(caller.orgId, event),
    readValuesBefore(change),
  ]);
  const response = await work();
  if (isRefusal(response)) await orLogFailure(() => withdrawEntry(entry));
  else if (!isFailure(response)) {
    const target = targetOf(change, response);
    const changes = changedValues(change, before);
    await orLogFailure(() => completeEntry(entry, { target, changes }));
  }
  return response;
}

const isRecorded = ({ route, input }: Change): boolean =>
  asksForExport(route, input.query) || (route.audit !== "none" && !isPreview(route, input.body));

const isFailure = ({ statusCode = 200 }: LambdaResponse): boolean => statusCode >= 500;
const isRefusal = ({ statusCode = 200 }: LambdaResponse): boolean =>
  statusCode >= 400 && statusCode < 500;

/** The change is made and its entry is stored, so the request does not fail. */
async function orLogFailure(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    log.error("audit entry not completed", error);
  }
}

function toEvent({ route, request, input }: Change): Omit<AuditEvent, "target"> {
  const fields = fieldNames(input);
  return {
    action: operationId(route),
    actor: toActor(input.caller),
    ...(fields.length && { fields }),
    ...clientOf(request),
  };
}

const toActor = ({ kind, userId, keyId }: Identity): AuditActor =>
  kind === "api_key" ? { type: "api_key", id: keyId ?? null } : { type: "user", id: userId };

const maxUserAgentLength = 300;
const clientOf = ({ id, clientIp, headers }: ApiRequest) => ({
  address: clientIp,
  userAgent: headers["user-agent"]?.slice(0, maxUserAgentLength) ?? null,
  requestId: id,
});

const maxFields = 50;
const maxFieldNameLength = 100;

/** Names of the fields of the request that the schema has. */
function fieldNames({ asSent: { json }, body }: Change["input"]): string[] {
  if (!isObject(json) || !isObject(body)) return [];
  return Object.keys(json)
    .filter((name) => Object.hasOwn(body, name))
    .slice(0, maxFields)
    .map((name) => name.slice(0, maxFieldNameLength));
}

/** The record, read with the GET route of the same path. Undefined if no value is needed. */
async function readValuesBefore({ route, siblings, request, input }: Change): Promise<unknown> {
  const reader = siblings.find(({ method }) => method === "GET");
  if (!route.auditedValues.length || !reader || route.method === "POST") return undefined;
  const reply = createReply(request.id);
  const { caller, params } = input;
  // Whatever is wrong, the handler itself reports it.
  return reader
    .handle({ caller, params, request, reply, query: {}, body: {} })
    .catch(() => undefined);
}

const maxValueLength = 2000;

/** JSON of the declared values that the request set. */
function changedValues({ route, input }: Change, before: unknown): string | undefined {
  const { body } = input;
  if (!isObject(body)) return undefined;
  const names = fieldNames(input).filter((name) => route.auditedValues.includes(name));
  const changes = names.map((field) => ({
    field,
    from: isObject(before) ? toShownValue(before[field]) : null,
    to: toShownValue(body[field]),
  }));
  return changes.length ? JSON.stringify(changes) : undefined;
}

const toShownValue = (value: unknown): unknown =>
  value !== undefined && JSON.stringify(value).length <= maxValueLength ? value : null;

/**
 * Path of the record: `sites/3`, `sequences/3/steps/7`, `settings/org`. A created record is only
 * known from the response.
 */
function targetOf({ route, input }: Change, response?: LambdaResponse): string {
  const params = input.params as Params;
  const segments = shortPath(route.path).slice(1).split("/");
  const parts = segments.map((segment) => {
    const [, name] = /^{(\w+)}$/.exec(segment) ?? [];
    return name === undefined ? segment : toTargetPart(String(params[name]));
  });
  const lastParameter = segments.findLastIndex((segment) => segment.startsWith("{"));
  const id = response && idIn(response);
  if (id !== undefined && response?.statusCode === 201) return [...parts, id].join("/");
  if (lastParameter >= 0) return parts.slice(0, lastParameter + 1).join("/");
  if (route.method !== "POST") return parts.join("/");
  return [parts[0], ...(id === undefined ? [] : [id])].join("/");
}

const maxParsedLength = 100_000;

/** `id` of the record in a response. */
function idIn({ body = "" }: LambdaResponse): number | undefined {
  const parsed = body.length <= maxParsedLength ? parseJson(body) : undefined;
  const data = isObject(parsed) ? parsed.data : undefined;
  return isObject(data) && Number.isInteger(data.id) ? (data.id as number) : undefined;
}

interface Exchange {
  request: ApiRequest;
  reply: ApiReply;
}

/**
 * Runs `work` of a public route and records what it did to a user's account, before the response.
 * If the process dies before that, the client gets no session.
 */
export async function recordLogins<T>(
  route: Route,
  exchange: Exchange,
  work: () => Promise<T>,
): Promise<T> {
  const reported: { event?: AccountEvent } = {};
  try {
    return await withAccountEvents(reported, work);
  } finally {
    const opened = await openedSession(route, exchange.reply);
    const action = reported.event?.action ?? operationId(route);
    const { invitationId } = reported.event ?? {};
    const event = opened ? { ...opened, action, invitationId } : reported.event;
    if (event) await recordAccountEvent(event, exchange.request);
  }
}

/** Records a session that was opened in another organization than that of the request. */
export async function recordSwitch(route: Route, orgId: number, exchange: Exchange): Promise<void> {
  const event = await openedSession(route, exchange.reply);
  if (event && event.orgId !== orgId) await recordAccountEvent(event, exchange.request);
}

/** The session whose cookie the response sets. */
async function openedSession(route: Route, reply: ApiReply): Promise<AccountEvent | undefined> {
  const token = sessionTokenIn(reply.cookies);
  const session = token && (await get<SessionItem>(keys.session(sha256(token))));
  if (!session) return undefined;
  const { orgId, userId } = session;
  return { action: operationId(route), orgId, userId, outcome: "done" };
}

async function recordAccountEvent(event: AccountEvent, request: ApiRequest): Promise<void> {
  const { action, orgId, userId, outcome } = event;
  await recordEntry(orgId, {
    action,
    actor: toActorOfEvent(event),
    target: userId === null ? null : `members/${userId}`,
    outcome,
    ...clientOf(request),
  });
}

function toActorOfEvent(event: AccountEvent): AuditActor {
  const { userId, outcome, invitationId, proven = outcome !== "failed" } = event;
  if (!proven) return { type: "anonymous", id: null };
  return invitationId === undefined
    ? { type: "user", id: userId }
    : { type: "invitation", id: invitationId };
}

interface Handled {
  identity: Identity | undefined;
  route: Route | undefined;
  params: Params;
  request: ApiRequest;
  status: number;
  code: string | undefined;
  milliseconds: number;
}

const countSeconds = 60;
let countsStoredAt = new Date(0);

/** Adds the request of an API key to the request log. Never fails. */
export async function logKeyRequest(handled: Handled): Promise<void> {
  const { identity, route, params, request } = handled;
  if (identity?.keyId === undefined || !route) return;
  await logRequest(identity.orgId, {
    at: now().toISOString(),
    requestId: request.id,
    keyId: identity.keyId,
    method: route.method,
    route: route.path,
    path: route.path.replace(/{(\w+)}/g, (text, name: string) =>
      /^\d{1,16}$/.test(String(params[name])) ? String(params[name]) : text,
    ),
    status: handled.status,
    code: handled.code ?? null,
    milliseconds: handled.milliseconds,
    address: request.clientIp,
  });
  if (countsStoredAt > addSeconds(-countSeconds)) return;
  countsStoredAt = now();
  await orLogFailure(storeCounts);
}
