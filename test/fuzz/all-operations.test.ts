// Calls every operation of the OpenAPI document with many requests, valid ones and invalid ones.
// The service must not fail, and each response must be one that the document describes.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OpenApiDocument, OperationObject } from "../../shared/http/openapi/document.ts";
import { type ExampleServices, startExampleServices } from "../support/example-services.ts";
import { listOperations } from "../support/openapi-document.ts";
import { createExampleWorld } from "../support/openapi-example-world.ts";
import { callOperations, type RunResult } from "./schemathesis.ts";

let services: ExampleServices;
let document: OpenApiDocument;
beforeAll(async () => {
  services = await startExampleServices({ DEFAULT_PLAN: "unlimited" });
  const response = await fetch(`${services.service.url}/api/v1/openapi.json`);
  document = (await response.json()) as OpenApiDocument;
}, 60_000);
afterAll(() => services.stop());

/** The records that the ids of the examples name. */
const kinds = [
  ...["contacts", "lists", "tags", "segments", "template-folders", "templates"],
  ...["sending-configs", "sends", "secure-messages", "sequences", "campaigns", "holidays"],
  ...["forms", "scoring/rules", "reports/schedules", "webhooks", "domains", "imports", "exports"],
];

type Credential = "apiKey" | "session";

/**
 * The document with the chosen operations, which are called with one credential. It has no
 * `default` responses, because these would allow every status: of those that they stand for, only
 * 431 of the HTTP server, for an address of more than 16 kB, is left. It has no Idempotency-Key,
 * because Schemathesis gives different requests the same key.
 */
function documentOf(
  credential: Credential,
  isChosen: (operation: OperationObject) => boolean,
): OpenApiDocument {
  const narrow = (operation: OperationObject): OperationObject => {
    const { default: anyError, ...documented } = operation.responses;
    const responses = { ...documented, ...(anyError && { 431: anyError }) };
    const security = operation.security.filter((one) => credential in one);
    const parameters = operation.parameters.filter((one) => "in" in one);
    return { ...operation, security, parameters, responses };
  };
  const paths = Object.entries(document.paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods)
        .filter(([, operation]) => isChosen(operation))
        .map(([method, operation]) => [method, narrow(operation)]),
    ),
  ]);
  return { ...document, paths: Object.fromEntries(paths) };
}

/** Calls the operations in a new organization. */
async function callIn(
  name: string,
  credential: Credential,
  isChosen: (operation: OperationObject) => boolean,
): Promise<RunResult> {
  const { url } = services.service;
  const world = await createExampleWorld(listOperations(document), { service: url });
  for (const kind of kinds) await world.ensureRecord(kind);
  await world.runUntilIdle();
  const { apiKey, cookie } = world;
  const session = cookie.slice(cookie.indexOf("=") + 1);
  return callOperations({
    name,
    url,
    document: documentOf(credential, isChosen),
    apiKey,
    session,
  });
}

const takes =
  (credential: Credential) =>
  ({ security }: OperationObject): boolean =>
    security.some((one) => credential in one);
const needsSession = (operation: OperationObject) =>
  takes("session")(operation) && !takes("apiKey")(operation);
const endsSession = ({ operationId }: OperationObject) => operationId === "logOut";

test("operations with an API key, and public ones", async () => {
  const result = await callIn("api-key", "apiKey", (operation) => !needsSession(operation));
  expect(result.failures, result.output).toEqual([]);
  // Otherwise few requests get past the checks of the input.
  expect(result.accepted.length).toBeGreaterThan(150);
});

test("operations that need a session", async () => {
  const isChosen = (operation: OperationObject) =>
    needsSession(operation) && !endsSession(operation);
  const result = await callIn("session", "session", isChosen);
  expect(result.failures, result.output).toEqual([]);
});

test("logging out", async () => {
  const result = await callIn("log-out", "session", endsSession);
  expect(result.failures, result.output).toEqual([]);
});
