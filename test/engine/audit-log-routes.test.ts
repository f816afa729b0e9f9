// Every route that changes something leaves one entry in the audit log. The test sends the request
// example of each route through the real edge. Its handlers give the response example of the route,
// so a new route is covered as soon as it has examples.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { getOpenApiDocument } from "../../functions/openapi-document.ts";
import { groups } from "../../functions/route-groups.ts";
import * as apiKeys from "../../shared/domain/identity/api-keys.ts";
import { missing } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { operationId, shortPath } from "../../shared/http/operation-id.ts";
import type { Route } from "../../shared/http/route.ts";
import { createAccount, type TestAccount } from "../support/accounts.ts";
import { readAuditItems, withSession } from "../support/audit-log.ts";
import { invokeRoute, type LambdaRequest } from "../support/lambda-requests.ts";
import { bearerHeader, type RouteSignature } from "../support/one-of-each-record.ts";
import { type DocumentedOperation, listOperations } from "../support/openapi-document.ts";

const operations = new Map(
  listOperations(await getOpenApiDocument()).map((operation) => [operation.operationId, operation]),
);
const operationOf = (route: Route): DocumentedOperation => operations.get(operationId(route))!;

const changing = groups
  .flatMap(({ routes }) => routes)
  .filter(({ method, auth, preview }) => method !== "GET" && auth !== "public" && preview !== true);

beforeAll(() => {
  vi.stubEnv("DEFAULT_PLAN", "unlimited");
  // The clock stands still, so that all calls are in the same minute.
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

/** The route with a handler that gives the response example. */
function withExampleHandler(route: Route): Route {
  const { content } = operationOf(route).responses[route.status] as {
    content?: Record<string, { example?: { data?: unknown } }>;
  };
  const example = content?.["application/json"]?.example;
  // The APIs of other services have no envelope.
  const result = (route.wireFormat ? example : example?.data) ?? null;
  return { ...route, handle: async () => result };
}

const signatureOf = ({ method, path }: Route): RouteSignature =>
  `${method} ${shortPath(path).replace(/{(\w+)}/g, ":$1")}` as RouteSignature;

function exampleRequest(route: Route): LambdaRequest {
  const { parameters, requestBody } = operationOf(route);
  const examples = Object.fromEntries(
    parameters.flatMap((one) => ("in" in one ? [[one.name, String(one.example)]] : [])),
  );
  const names = [...route.path.matchAll(/{(\w+)}/g)].map(([, name = ""]) => name);
  const params = Object.fromEntries(
    names.map((name) => [name, /^id$|Id$/.test(name) ? "7" : examples[name]!]),
  );
  const required = parameters.flatMap((one) =>
    "in" in one && one.in === "query" && one.required ? [[one.name, String(one.example)]] : [],
  );
  const example = requestBody?.content["application/json"]?.example;
  // Without it, the change of a plan is a preview.
  const body =
    typeof route.preview === "function" ? { ...(example as object), confirm: true } : example;
  if (route.rawBodyTypes)
    return { params, raw: Buffer.from("a"), headers: { "content-type": "text/csv" } };
  return { params, query: Object.fromEntries(required), ...(body !== undefined && { body }) };
}

/** All texts of a value with at least 6 characters that are not the names of fields. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return value.length < 6 ? [] : [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Sends the example, and returns the one entry that it leaves. */
async function expectOneEntry(route: Route, { caller }: TestAccount, credential: LambdaRequest) {
  const { status, body } = await send(withExampleHandler(route), credential);
  expect([status < 300, body.error]).toEqual([true, undefined]);
  const entries = await readAuditItems(caller.orgId);
  expect(entries).toMatchObject([{ action: operationId(route), outcome: "done", count: 1 }]);
  return { entry: entries[0]!, body };
}

function send(route: Route, credential: LambdaRequest) {
  const request = exampleRequest(route);
  const headers = { ...request.headers, ...credential.headers };
  return invokeRoute(routeGroup("walk", [route]), signatureOf(route), {
    ...credential,
    ...request,
    headers,
  });
}

const namesOf = (routes: Route[]) => routes.map((route) => [operationId(route), route] as const);

test.each(namesOf(changing.filter(({ auth }) => auth !== "api_key")))(
  "%s leaves one entry with the user and the target, and without values of the request",
  async (_, route) => {
    const account = await createAccount();
    const { entry, body } = await expectOneEntry(route, account, withSession(account));
    expect(entry.actor).toEqual({ type: "user", id: account.caller.userId });
    expect(entry.target).toMatch(/^[a-z]/);
    expect(entry.address).toBe("192.0.2.1");
    const { changes, ...rest } = entry;
    const request = exampleRequest(route).body as Record<string, unknown> | undefined;
    const values = [...textsIn(request), ...textsIn(body.data)];
    for (const text of values.filter((one) => !/^[a-z-]+$/.test(one)))
      expect(JSON.stringify(rest)).not.toContain(text);
    const audited = JSON.parse(changes ?? "[]") as { field: string; to: unknown }[];
    for (const { field, to } of audited) {
      expect(route.auditedValues).toContain(field);
      expect(to).toEqual(request?.[field]);
    }
  },
);

test.each(namesOf(changing.filter(({ auth }) => auth === "account")))(
  "%s leaves one entry with the API key, and none if it is refused",
  async (_, route) => {
    const account = await createAccount();
    const input = apiKeys.NewApiKey.parse({ name: "Shop" });
    const { id, key } = await apiKeys.create(account.caller, input);
    const { entry } = await expectOneEntry(route, account, bearerHeader(key));
    expect(entry.actor).toEqual({ type: "api_key", id });
    expect(JSON.stringify(entry)).not.toContain(key);
    const refused = { ...route, handle: () => Promise.reject(missing("No")) };
    expect((await send(refused, bearerHeader(key))).status).toBe(404);
    expect(await readAuditItems(account.caller.orgId)).toMatchObject([{ count: 1 }]);
  },
);

test("no audited value has the name of a secret", () => {
  const names = groups.flatMap(({ routes }) => routes.flatMap((route) => route.auditedValues));
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => /secret|password|token|credential|^key$/i.test(name))).toEqual([]);
});
