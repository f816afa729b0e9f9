// What the OpenAPI document must say about every parameter, field, body and response.
import { describe, expect, test } from "vitest";
import { getOpenApiDocument } from "../../functions/openapi-document.ts";
import type { OpenApiDocument } from "../../shared/http/openapi/document.ts";
import { componentPrefix, type JsonSchema } from "../../shared/http/openapi/json-schemas.ts";
import type { ResponseObject } from "../../shared/http/openapi/response-objects.ts";
import { getInboundAdapter } from "../../shared/providers/inbound/registry.ts";
import { webhookProviderKeys } from "../../shared/providers/provider-keys.ts";
import { listOperations } from "../support/openapi-document.ts";
import { createNotice } from "../support/signed-provider-webhooks.ts";

type Document = Pick<OpenApiDocument, "paths" | "components">;
type Direction = "request" | "response";

/** Places that lack something. */
interface Gaps {
  descriptions: string[];
  bounds: string[];
  examples: string[];
}

function findGaps(document: Document): Gaps {
  const gaps: Gaps = { descriptions: [], bounds: [], examples: [] };
  const visited = new Set<string>();
  const visit = (schema: JsonSchema, place: string, direction: Direction) => {
    const id = schema.$ref?.replace(componentPrefix, "");
    if (id !== undefined) {
      if (visited.has(`${direction} ${id}`)) return;
      visited.add(`${direction} ${id}`);
      visit(document.components.schemas[id]!, id, direction);
      return;
    }
    if (!isBounded(schema, direction)) gaps.bounds.push(`${direction}: ${place}`);
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (!descriptionOf(field, document)) gaps.descriptions.push(`${place}.${name}`);
      visit(field, `${place}.${name}`, direction);
    }
    for (const [i, inner] of innerSchemas(schema).entries())
      visit(inner, `${place}[${i}]`, direction);
  };
  for (const { operationId, parameters, requestBody, responses } of listOperations(document)) {
    for (const parameter of parameters) {
      if (!("schema" in parameter)) continue;
      const place = `${operationId} ${parameter.name}`;
      if (!parameter.description) gaps.descriptions.push(place);
      visit(parameter.schema, place, "request");
    }
    for (const [type, { schema, example }] of Object.entries(requestBody?.content ?? {})) {
      // A picture is not text.
      if (example === undefined && schema.format !== "binary")
        gaps.examples.push(`${operationId} ${type}`);
      visit(schema, `${operationId} ${type}`, "request");
    }
    for (const [status, response] of Object.entries(responses))
      if ("content" in response) visitResponse(`${operationId} ${status}`, response);
  }
  for (const [name, response] of Object.entries(document.components.responses))
    visitResponse(name, response);
  return gaps;

  function visitResponse(place: string, { content = {} }: ResponseObject) {
    for (const [type, { schema, example }] of Object.entries(content)) {
      // A picture is not text.
      if (example === undefined && schema.format !== "binary")
        gaps.examples.push(`${place} ${type}`);
      visit(schema, `${place} ${type}`, "response");
    }
  }
}

const descriptionOf = (field: JsonSchema, { components }: Document): string | undefined =>
  field.description ??
  components.schemas[field.$ref?.replace(componentPrefix, "") ?? ""]?.description;

const innerSchemas = ({ items, additionalProperties, anyOf, oneOf, allOf }: JsonSchema) =>
  [items, additionalProperties, anyOf, oneOf, allOf]
    .flat()
    .filter((one) => typeof one === "object") as JsonSchema[];

/** Formats whose texts have a fixed length. */
const fixedFormats = ["date", "date-time", "uuid"];

/** Numbers have a range. In requests, texts and arrays have a largest length. */
function isBounded(schema: JsonSchema, direction: Direction): boolean {
  if (schema.enum || schema.const !== undefined) return true;
  const types = [schema.type].flat();
  const hasRange = schema.minimum !== undefined && schema.maximum !== undefined;
  if (types.includes("integer") && !hasRange) return false;
  if (direction === "response") return true;
  if (types.includes("number") && !hasRange) return false;
  if (types.includes("array") && schema.maxItems === undefined) return false;
  const isFixed = fixedFormats.includes(String(schema.format));
  return !types.includes("string") || isFixed || schema.maxLength !== undefined;
}

const api = await getOpenApiDocument();
const gaps = findGaps(api);

describe("the OpenAPI document", () => {
  test("describes every parameter and every field", () => {
    expect(gaps.descriptions).toEqual([]);
  });

  test("has the bounds of every number, and of every text and array of a request", () => {
    expect(gaps.bounds).toEqual([]);
  });

  test("has an example of every body and every response", () => {
    expect(gaps.examples).toEqual([]);
  });

  test("is checked in every part", () => {
    const Thing: JsonSchema = {
      properties: {
        count: { type: "integer" },
        tags: { type: "array", items: { type: "string" } },
      },
    };
    const schema = { $ref: `${componentPrefix}Thing` };
    const paths = {
      "/things": {
        post: {
          ...Object.values(api.paths)[0]!.post!,
          operationId: "createThing",
          parameters: [
            { in: "query" as const, name: "page", required: false, schema: { type: "number" } },
          ],
          requestBody: { required: true, content: { "application/json": { schema } } },
          responses: { 201: { description: "", content: { "application/json": { schema } } } },
        },
      },
    };
    const components = { ...api.components, schemas: { Thing }, responses: {} };
    expect(findGaps({ paths, components } as unknown as Document)).toEqual({
      descriptions: ["createThing page", "Thing.count", "Thing.tags", "Thing.count", "Thing.tags"],
      bounds: [
        "request: createThing page",
        "request: Thing.count",
        "request: Thing.tags",
        "request: Thing.tags[0]",
        "response: Thing.count",
      ],
      examples: ["createThing application/json", "createThing 201 application/json"],
    });
  });
});

describe("the example of an event", () => {
  test.each(webhookProviderKeys.map((key) => [key]))(
    "of %s reports that send 1 was delivered",
    (key) => {
      const operation = listOperations(api).find(({ path }) => path === `/api/v1/webhooks/${key}`)!;
      const [type, { example }] = Object.entries(operation.requestBody!.content)[0]!;
      const rawBody = Buffer.from(encodersByType[type]!(example));
      const { events } = getInboundAdapter(key)!.readEvents(
        createNotice(key, { rawBody, headers: { "svix-id": "msg_1" } }),
      );
      expect(events).toMatchObject([
        {
          type: "delivered",
          email: "ann@example.com",
          sendId: 1,
          timestamp: "2026-11-30T09:00:06.000Z",
        },
      ]);
    },
  );
});

const encodersByType: Record<string, (body: unknown) => string> = {
  "application/json": (body) => JSON.stringify(body),
  "application/x-www-form-urlencoded": (body) =>
    new URLSearchParams(body as Record<string, string>).toString(),
  "text/plain": (body) => body as string,
};
