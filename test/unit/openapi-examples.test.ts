// The examples of the document against its own schemas, by a validator that is not ours.
import { describe, expect, test } from "vitest";
import { getOpenApiDocument } from "../../functions/openapi-document.ts";
import { responseOverrides as answersOf } from "../../shared/http/openapi/examples/operation-overrides.ts";
import {
  schemaExamples as examples,
  fullExample,
  minimalExample,
} from "../../shared/http/openapi/examples.ts";
import { resolveSchema } from "../../shared/http/openapi/json-schemas.ts";
import { listOperations, schemaChecker } from "../support/openapi-document.ts";
import { exampleSetups } from "../support/openapi-example-setup.ts";

const api = await getOpenApiDocument();
const operations = listOperations(api);
const check = schemaChecker(api);

const answers = operations.flatMap(({ key, responses }) =>
  Object.entries(responses).flatMap(([status, answer]) => {
    const json = "content" in answer ? answer.content?.["application/json"] : undefined;
    const data = json && resolveSchema(json.schema, api.components.schemas).properties?.data;
    return data ? [{ name: `${key} ${status}`, ...json }] : [];
  }),
);

describe("the examples of the OpenAPI document", () => {
  test.each(answers.map((one) => [one.name, one] as const))(
    "%s has an example that matches its schema",
    (_, { schema, example }) => {
      expect(example).toBeDefined();
      expect(check(schema, example)).toEqual([]);
    },
  );

  test("are checked strictly: extra, missing and mistyped fields fail", () => {
    const schema = { $ref: "#/components/schemas/Tag" };
    const { example } = answers.find(({ name }) => name === "POST /api/v1/tags 201")!;
    const { data } = example as { data: Record<string, unknown> };
    expect(check(schema, data)).toEqual([]);
    expect(check(schema, { ...data, colour: "red" })[0]).toContain("colour");
    expect(check(schema, { ...data, contactCount: "1" })[0]).toContain("contactCount");
    expect(check(schema, { ...data, name: undefined })[0]).toContain("name");
    const entry = {
      delta: 5,
      reason: null,
      rule: { id: 1, name: "Prices", colour: "red" },
      createdAt: "2026-12-01T09:00:00.000Z",
    };
    expect(check({ $ref: "#/components/schemas/ScoreEntry" }, entry)[0]).toContain("colour");
  });

  test("belong to an operation or schema of the document", () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(Object.keys(examples).filter((id) => !(id in api.components.schemas))).toEqual([]);
    expect(
      [...Object.keys(answersOf), ...Object.keys(exampleSetups)].filter((id) => !ids.includes(id)),
    ).toEqual([]);
  });

  test("have schemas with content, except for provider requests", () => {
    const media = operations.flatMap(({ key, requestBody, responses }) =>
      [requestBody, ...Object.values(responses)]
        .flatMap((one) => (one && "content" in one ? Object.values(one.content ?? {}) : []))
        .map((one) => ({ key, ...one })),
    );
    expect(media.length).toBeGreaterThan(400);
    const silent = media
      .filter(({ schema }) => Object.keys(schema).length === 0)
      .map(({ key }) => key);
    expect(silent.filter((key) => !/^POST \/api\/v1\/webhooks\/[a-z0-9]+$/.test(key))).toEqual([]);
  });

  test("of errors exist for every common status", () => {
    for (const [name, { content }] of Object.entries(api.components.responses)) {
      const { schema, example } = content!["application/json"]!;
      expect([name, example && check(schema, example)]).toEqual([name, []]);
    }
  });

  test("of errors match their schema", () => {
    const errors = operations.flatMap(({ key, responses }) =>
      Object.entries(responses).flatMap(([status, answer]) => {
        const json = "content" in answer ? answer.content?.["application/json"] : undefined;
        return json && Number(status) >= 400 ? [{ name: `${key} ${status}`, ...json }] : [];
      }),
    );
    expect(errors.length).toBeGreaterThan(100);
    for (const { name, schema, example } of errors)
      expect([name, check(schema, example)]).toEqual([name, []]);
  });

  test("are not placeholders", () => {
    const texts = answers
      .filter(({ example }) => JSON.stringify(example).includes('"string"'))
      .map(({ name }) => name);
    expect(texts).toEqual([]);
  });

  test("exist for every path parameter and required parameter", () => {
    const lacking = operations.flatMap(({ key, parameters }) =>
      parameters
        .filter((one) => "in" in one && one.required && one.example === undefined)
        .map((one) => `${key} ${JSON.stringify(one)}`),
    );
    expect(lacking).toEqual([]);
  });

  test("of parameters and bodies match their schemas", () => {
    for (const { key, parameters, requestBody } of operations) {
      for (const one of parameters)
        if ("schema" in one && one.example !== undefined)
          expect([key, one.name, check(one.schema, one.example)]).toEqual([key, one.name, []]);
      for (const { schema, example } of Object.values(requestBody?.content ?? {}))
        if (example !== undefined) expect([key, check(schema, example)]).toEqual([key, []]);
    }
  });
});

describe("examples of a schema", () => {
  test("stop at a schema that contains itself", () => {
    const rules = { $ref: "#/components/schemas/Rules" };
    const properties = {
      match: { enum: ["all", "any"] },
      inner: { type: "array", items: rules },
    };
    const components = { Rules: { type: "object", properties } };
    expect(fullExample(rules, components)).toEqual({ match: "all", inner: [{}] });
  });

  test("have the required fields in a request and all fields in a response", () => {
    const schema = {
      type: "object",
      properties: { email: { type: "string" }, name: { type: "string" } },
      required: ["email"],
    };
    expect(minimalExample(schema, {})).toEqual({ email: "ada@example.com" });
    expect(fullExample(schema, {})).toEqual({ email: "ada@example.com", name: "My shop" });
  });
});
