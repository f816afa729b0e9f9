// The examples of the document against its own schemas, by a validator that is not ours.
import { describe, expect, test } from "vitest";
import { document } from "../../functions/http/interface.ts";
import { answers as answersOf } from "../../shared/http/examples/answers.ts";
import { world as examples } from "../../shared/http/examples.ts";
import { needs } from "../support/example-needs.ts";
import { operationsOf, schemaChecker } from "../support/openapi.ts";

const api = await document();
const operations = operationsOf(api);
const check = schemaChecker(api);

const answers = operations.flatMap(({ key, responses }) =>
  Object.entries(responses).flatMap(([status, answer]) => {
    const json = "content" in answer ? answer.content?.["application/json"] : undefined;
    return json?.schema.properties?.data ? [{ name: `${key} ${status}`, ...json }] : [];
  }),
);

describe("the examples of the OpenAPI document", () => {
  test.each(answers.map((one) => [one.name, one] as const))(
    "%s answers as its schema says, and nothing beside",
    (_, { schema, example }) => {
      expect(example).toBeDefined();
      expect(check(schema, example)).toEqual([]);
    },
  );

  test("are looked at closely: a field too many, too few or of another type is found", () => {
    const schema = { $ref: "#/components/schemas/Tag" };
    const { example } = answers.find(({ name }) => name === "POST /api/v1/tags 201")!;
    const { data } = example as { data: Record<string, unknown> };
    expect(check(schema, data)).toEqual([]);
    expect(check(schema, { ...data, colour: "red" })[0]).toContain("colour");
    expect(check(schema, { ...data, contactCount: "1" })[0]).toContain("contactCount");
    expect(check(schema, { ...data, name: undefined })[0]).toContain("name");
    const entry = { delta: 5, reason: null, rule: { id: 1, name: "Prices", colour: "red" }, createdAt: "2026-12-01T09:00:00.000Z" };
    expect(check({ $ref: "#/components/schemas/ScoreEntry" }, entry)[0]).toContain("colour");
  });

  test("are all of something: nothing is kept that the document has no more", () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(Object.keys(examples).filter((id) => !(id in api.components.schemas))).toEqual([]);
    expect([...Object.keys(answersOf), ...Object.keys(needs)].filter((id) => !ids.includes(id))).toEqual([]);
  });

  test("stand beside schemas that say something, but for what providers send", () => {
    const media = operations.flatMap(({ key, requestBody, responses }) =>
      [requestBody, ...Object.values(responses)]
        .flatMap((one) => (one && "content" in one ? Object.values(one.content ?? {}) : []))
        .map((one) => ({ key, ...one })),
    );
    expect(media.length).toBeGreaterThan(400);
    const silent = media.filter(({ schema }) => Object.keys(schema).length === 0).map(({ key }) => key);
    expect(silent.filter((key) => !/^POST \/api\/v1\/webhooks\/[a-z0-9]+$/.test(key))).toEqual([]);
  });

  test("of problems are told for every status that is usual", () => {
    for (const [name, { content }] of Object.entries(api.components.responses)) {
      const { schema, example } = content!["application/json"]!;
      expect([name, example && check(schema, example)]).toEqual([name, []]);
    }
  });

  test("are no fillers", () => {
    const texts = answers.filter(({ example }) => JSON.stringify(example).includes('"string"')).map(({ name }) => name);
    expect(texts).toEqual([]);
  });

  test("are there for every parameter in a path and every one that must be given", () => {
    const lacking = operations.flatMap(({ key, parameters }) =>
      parameters.filter((one) => "in" in one && one.required && one.example === undefined).map((one) => `${key} ${JSON.stringify(one)}`),
    );
    expect(lacking).toEqual([]);
  });

  test("of parameters and bodies fit their schemas", () => {
    for (const { key, parameters, requestBody } of operations) {
      for (const one of parameters)
        if ("schema" in one && one.example !== undefined)
          expect([key, one.name, check(one.schema, one.example)]).toEqual([key, one.name, []]);
      for (const { schema, example } of Object.values(requestBody?.content ?? {}))
        if (example !== undefined) expect([key, check(schema, example)]).toEqual([key, []]);
    }
  });
});
