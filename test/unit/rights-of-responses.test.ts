// The right of an operation follows what it returns, as the OpenAPI document says it.
import { expect, test } from "vitest";
import { getOpenApiDocument } from "../../functions/openapi-document.ts";
import { groups } from "../../functions/route-groups.ts";
import { Export } from "../../shared/domain/analytics/exports/exports.ts";
import { componentPrefix, type JsonSchema } from "../../shared/http/openapi/json-schemas.ts";
import type { ResponseObject } from "../../shared/http/openapi/response-objects.ts";
import { type DocumentedOperation, listOperations } from "../support/openapi-document.ts";

const api = await getOpenApiDocument();
const operations = listOperations(api);
const routes = new Map(groups.flatMap((one) => one.routes.map((route) => [route.key, route])));

/** Schemas whose addresses are not of contacts: of users, or those that the request named. */
const otherAddresses = [
  "User",
  "NamedUser",
  "Member",
  "UpdatedMember",
  "Invitation",
  "InvitationPreview",
  "TemplateTests",
];
const isAddress = /^(email|toEmail|contactEmail)$/;

/** Fields of successful responses with addresses of contacts. */
function addressFields({ responses }: DocumentedOperation): string[] {
  const found = new Set<string>();
  const visited = new Set<string>();
  const visit = (schema: JsonSchema, place: string) => {
    const name = schema.$ref?.replace(componentPrefix, "");
    if (name !== undefined) {
      if (visited.has(name)) return;
      visited.add(name);
      visit(api.components.schemas[name]!, name);
      return;
    }
    for (const [field, inner] of Object.entries(schema.properties ?? {})) {
      if (isAddress.test(field) && !otherAddresses.includes(place)) found.add(`${place}.${field}`);
      visit(inner, place);
    }
    for (const inner of innerSchemas(schema)) visit(inner, place);
  };
  for (const { schema } of successfulContents(responses)) visit(schema, "");
  return [...found];
}

const innerSchemas = ({ items, additionalProperties, anyOf, oneOf, allOf }: JsonSchema) =>
  [items, additionalProperties, anyOf, oneOf, allOf]
    .flat()
    .filter((one) => typeof one === "object") as JsonSchema[];

const successfulContents = (responses: DocumentedOperation["responses"]) =>
  Object.entries(responses)
    .filter(([status]) => status.startsWith("2"))
    .flatMap(([, response]) => Object.entries((response as ResponseObject).content ?? {}))
    .map(([type, { schema }]) => ({ type, schema }));

const rightIn = ({ description }: DocumentedOperation): string | undefined =>
  /Right: `([a-z:]+)`/.exec(description)?.[1];
const exportRightIn = ({ description }: DocumentedOperation): string | undefined =>
  /`format=csv` also needs the right `([a-z:]+)`/.exec(description)?.[1];

test("an operation that returns addresses of contacts needs a right for them", () => {
  const withAddresses = operations.filter((one) => addressFields(one).length);
  const closed = withAddresses.filter(({ key }) => routes.get(key)!.auth !== "public");
  expect(closed.length).toBeGreaterThan(30);
  const wrong = closed.filter((one) => !/^(audience|sending|marketing):/.test(rightIn(one) ?? ""));
  expect(wrong.map(({ key }) => key)).toEqual([]);
  // The token in the link is a credential for this one address.
  const open = withAddresses.filter(({ key }) => routes.get(key)!.auth === "public");
  expect(open.filter(({ path }) => !path.includes("/unsubscribe"))).toEqual([]);
});

/** CSV without addresses of contacts. */
const neutralFiles = ["GET /api/v1/reports/sequence-funnel", "GET /api/v1/audit-log/export"];

test("CSV of contacts needs the right to export and has an entry in the audit log", () => {
  const withCsv = operations.filter(({ responses }) =>
    successfulContents(responses).some(({ type }) => type.startsWith("text/csv")),
  );
  expect(withCsv.length).toBeGreaterThan(7);
  for (const operation of withCsv.filter(({ key }) => !neutralFiles.includes(key))) {
    const route = routes.get(operation.key)!;
    const right = exportRightIn(operation) ?? rightIn(operation);
    const isRecorded = route.exportRight !== undefined || route.audit === "each";
    expect([operation.key, right, isRecorded]).toEqual([operation.key, "audience:export", true]);
  }
});

test("only callers with the right to export start and read export jobs", () => {
  const deferred = operations.filter(({ key }) =>
    [routes.get(key)!.deferredReturns, routes.get(key)!.returns].includes(Export),
  );
  expect(deferred.length).toBeGreaterThan(5);
  const rights = deferred.map((one) => [one.key, exportRightIn(one) ?? rightIn(one)]);
  expect(rights).toEqual(deferred.map(({ key }) => [key, "audience:export"]));
});
