// Sends every request example of the OpenAPI document, each in a new organization, and checks the
// response with an independent JSON Schema validator. Undocumented fields and missing fields fail.
// Every example that changes something must be in the audit log.
import { afterAll, beforeAll, expect, test } from "vitest";
import { getOpenApiDocument } from "../../functions/openapi-document.ts";
import { groups } from "../../functions/route-groups.ts";
import type { AuditEntry } from "../../shared/domain/audit/audit-list.ts";
import { operationId } from "../../shared/http/operation-id.ts";
import { operatorEmail } from "../support/api-client.ts";
import { type ExampleServices, startExampleServices } from "../support/example-services.ts";
import {
  type DocumentedOperation,
  listOperations,
  schemaChecker,
} from "../support/openapi-document.ts";
import { type ExampleOverrides, exampleSetups } from "../support/openapi-example-setup.ts";
import { createExampleWorld, type ExampleWorld } from "../support/openapi-example-world.ts";
import { sampleOf } from "../support/seeded-random.ts";

const api = await getOpenApiDocument();
const operations = listOperations(api);
const check = schemaChecker(api);

/**
 * Requests of providers, with their signature or token: see test/http/provider-webhooks.test.ts,
 * test/unit/provider-webhooks.test.ts and test/http/inbound-emails.test.ts.
 */
const ofProviders = (key: string) => /^POST \/api\/v1\/(webhooks|inbound)\/[a-z0-9]+$/.test(key);
/** The sandbox verifies no addresses: see test/http/email-verification.test.ts. */
const ofVerification = (key: string) => key.startsWith("POST /api/v1/auth/verify-email");
/** Needs a verified domain and an OpenID Connect provider: see test/http/sso.test.ts. */
const ofSingleSignOn = (key: string) => /\/sso(\/|$)/.test(key) && key !== "GET /api/v1/sso";
/** Needs a provider whose response was lost: see test/engine/uncertain-sends.test.ts. */
const ofUncertainSends = (key: string) => key === "POST /api/v1/sends/{id}/resolve";
const excluded = [ofProviders, ofVerification, ofSingleSignOn, ofUncertainSends];
const ownOperations = operations.filter(({ key }) => !excluded.some((excludes) => excludes(key)));

let services: ExampleServices;
beforeAll(async () => {
  services = await startExampleServices();
});
afterAll(() => services.stop());

type Values = Record<string, unknown>;

const examplesIn = ({ parameters }: DocumentedOperation, place: "path" | "query"): Values =>
  Object.fromEntries(
    parameters.flatMap((one) =>
      "in" in one && one.in === place && one.example !== undefined ? [[one.name, one.example]] : [],
    ),
  );

/** Returns `scoring/rules` for `/api/v1/scoring/rules/{id}`. */
const kindOf = (path: string): string => path.replace("/api/v1/", "").split("/{")[0]!;
const creates = (kind: string) =>
  operations.some(({ key, responses }) => key === `POST /api/v1/${kind}` && responses[201]);

async function pathOf(
  at: ExampleWorld,
  operation: DocumentedOperation,
  given: Values = {},
): Promise<string> {
  const names = [...operation.path.matchAll(/{(\w+)}/g)].map(([, name = ""]) => name);
  const examples = await at.fillIds(examplesIn(operation, "path"));
  let path = operation.path;
  for (const name of names) {
    const value =
      given[name] ??
      (name === "id" ? await at.ensureRecord(kindOf(operation.path)) : examples[name]);
    path = path.replace(`{${name}}`, encodeURIComponent(String(value)));
  }
  return path;
}

async function requestOf(
  at: ExampleWorld,
  operation: DocumentedOperation,
  { path, query, body, raw }: ExampleOverrides,
): Promise<{ url: URL; init: RequestInit }> {
  const url = new URL(await pathOf(at, operation, path), services.service.url);
  const content =
    body ??
    (raw
      ? undefined
      : await at.fillIds(operation.requestBody?.content["application/json"]?.example));
  // A DELETE has its fields in the body or in the query, not in both.
  const queryParameters =
    content !== undefined && operation.method === "DELETE"
      ? {}
      : { ...(await at.fillIds(examplesIn(operation, "query"))), ...query };
  for (const [name, value] of Object.entries(queryParameters))
    url.searchParams.set(name, String(value));
  const byKey = operation.security.some((one) => "apiKey" in one);
  const sessionCookie = operation.security.length > 0 && { cookie: at.cookie };
  const credential: Record<string, string> = {
    ...(byKey ? { authorization: `Bearer ${at.apiKey}` } : sessionCookie),
  };
  const type = raw?.type ?? (content === undefined ? undefined : "application/json");
  const headers = {
    accept: "application/json, */*;q=0.5",
    ...credential,
    ...(type && { "content-type": type }),
    ...raw?.headers,
  };
  return {
    url,
    init: {
      method: operation.method,
      headers,
      body: raw?.text ?? (content === undefined ? null : JSON.stringify(content)),
      redirect: "manual",
    },
  };
}

/** Checks the response against the document. Returns its text. */
async function checkResponse(operation: DocumentedOperation, response: Response): Promise<string> {
  const text = await response.text();
  const what = `${response.status} ${text.slice(0, 400)}`;
  const documented = operation.responses[response.status];
  const type = (response.headers.get("content-type") ?? "").split(";")[0]!;
  const content = documented && "content" in documented ? documented.content : undefined;
  if (text === "" && documented && !Object.keys(content ?? {}).length) return text;
  const media = content?.[type];
  if (response.status >= 300 || !media) throw new Error(`Not as documented: ${type} ${what}`);
  if (type === "application/json") expect(check(media.schema, JSON.parse(text)), what).toEqual([]);
  expect(text).not.toMatch(/Ignored (fields|query parameters): /);
  return text;
}

const auditedOperations = new Set(
  groups
    .flatMap(({ routes }) => routes)
    .filter(({ audit, preview }) => audit !== "none" && !preview)
    .map(operationId),
);

/** One entry names the request, unless it changed nothing. */
async function checkAuditLog(
  at: ExampleWorld,
  { operationId: action }: DocumentedOperation,
  response: Response,
) {
  if (!auditedOperations.has(action)) return;
  const { body } = await at.call<{ entries: AuditEntry[] }>("GET", "/audit-log?limit=100");
  const requestId = response.headers.get("x-request-id");
  const found = body.data.entries.filter((entry) => entry.requestId === requestId);
  expect(found).toMatchObject([{ action, outcome: "done", count: 1 }]);
}

test.each(
  sampleOf(110, ownOperations, "examples").map((operation) => [operation.key, operation] as const),
)("the example of %s is accepted, and the response is as documented", async (_, operation) => {
  const email = operation.path.startsWith("/api/v1/system/") ? operatorEmail : undefined;
  const at = await createExampleWorld(operations, { service: services.service.url, email });
  const overrides = (await exampleSetups[operation.operationId]?.(at, services.stripe)) ?? {};
  // An empty list would prove nothing.
  if (operation.method === "GET" && creates(kindOf(operation.path)))
    await at.ensureRecord(kindOf(operation.path));
  const { url, init } = await requestOf(at, operation, overrides);
  const response = await fetch(url, init);
  await checkResponse(operation, response);
  await checkAuditLog(at, operation, response);
  // The filters of an example may match nothing, so the list is read again without them.
  if (operation.method !== "GET") return;
  const required = operation.parameters.flatMap((one) =>
    "in" in one && one.in === "query" && one.required ? [one.name] : [],
  );
  for (const name of [...url.searchParams.keys()])
    if (!required.includes(name)) url.searchParams.delete(name);
  await checkResponse(operation, await fetch(url, init));
});
