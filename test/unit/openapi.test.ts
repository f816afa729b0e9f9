import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { groups } from "../../functions/http/index.ts";
import { document } from "../../functions/http/interface.ts";
import { openapi } from "../../shared/http/openapi.ts";
import { route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";

const api = await document();
const routes = groups.flatMap((one) => one.routes);
const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ key: `${method.toUpperCase()} ${path}`, ...operation })),
);

describe("the OpenAPI document", () => {
  test("is a valid OpenAPI 3.1 document whose references all lead somewhere", async () => {
    const validator = new Validator();
    expect(await validator.validate(JSON.parse(JSON.stringify(api)))).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
    for (const [, ref = ""] of JSON.stringify(api).matchAll(/"\$ref":"([^"]+)"/g)) expect(at(ref), ref).toBeDefined();
  });

  test("tells every route, and nothing else", () => {
    expect(operations.map(({ key }) => key).sort()).toEqual(routes.map(({ key }) => key).sort());
  });

  test("tells wherever mail is taken that plan and credits may not suffice", () => {
    for (const path of ["/send", "/send/batch", "/campaigns/{id}/send", "/campaigns/{id}/test"])
      expect(Object.keys(api.paths[`/api/v1${path}`]!.post!.responses), path).toContain("402");
  });

  test("names each operation once, by a word a program can use", () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z0-9]+$/);
  });

  test("tells for each operation how it succeeds, and that it may fail", () => {
    for (const { key, responses } of operations) {
      const good = Object.entries(responses).filter(([status]) => /^2/.test(status));
      // One, or 202 beside it for what is too long for one answer.
      expect(
        good.filter(([status]) => good.length === 1 || status !== "202"),
        key,
      ).toHaveLength(1);
      for (const [, answer] of good) expect(answer, key).toHaveProperty("content");
      expect(responses, key).toHaveProperty("default");
    }
  });

  test("tells the rate-limit headers of every answer that has them", () => {
    for (const { key, security, responses } of operations) {
      const [, answer] = Object.entries(responses).find(([status]) => /^2/.test(status))!;
      expect(Object.keys(answer).includes("headers") && JSON.stringify(answer).includes("X-RateLimit-Remaining"), key).toBe(
        security.length > 0,
      );
    }
  });

  test.each(routes.filter(({ body, raw }) => body && !raw).map((one) => [one.key, one] as const))(
    "%s takes its own example",
    (key, { body }) => {
      const { requestBody } = operations.find((one) => one.key === key)!;
      const { success, error } = body!.safeParse(requestBody!.content["application/json"]!.example);
      expect(success, error?.message).toBe(true);
    },
  );

  test("shows the example that a schema gives, also where the input becomes something else", () => {
    const body = z.object({ id: z.int().transform(String) }).meta({ examples: [{ id: 42 }] });
    const { paths } = openapi([group("things", [route("POST /things", "A thing", { body, handle: async () => null })])]);
    expect(paths["/api/v1/things"]!.post!.requestBody!.content["application/json"]!.example).toEqual({ id: 42 });
  });

  test("holds a schema with an id once, wherever it is used", () => {
    const Thing = z.object({ id: z.int() }).meta({ id: "Thing" });
    const things = route("GET /things", "Things", { returns: z.object({ things: z.array(Thing) }), handle: async () => ({ things: [] }) });
    const thing = route("GET /things/:id", "A thing", { returns: Thing, handle: async () => ({ id: 1 }) });
    const { paths, components } = openapi([group("things", [things, thing])]);
    expect(components.schemas).toHaveProperty("Thing", { type: "object", properties: { id: { type: "integer" } }, required: ["id"] });
    expect(JSON.stringify(paths).match(/"#\/components\/schemas\/Thing"/g)).toHaveLength(2);
    expect(paths["/api/v1/things"]!.get!.operationId).toBe("listThings");
  });

  test("refuses two schemas of one id that are not the same", () => {
    const one = route("GET /one", "One", { returns: z.object({ a: z.int() }).meta({ id: "Same" }), handle: async () => ({ a: 1 }) });
    const two = route("GET /two", "Two", { returns: z.object({ b: z.int() }).meta({ id: "Same" }), handle: async () => ({ b: 1 }) });
    expect(() => openapi([group("both", [one, two])])).toThrow("id Same");
  });
});

function at(ref: string): unknown {
  return ref
    .slice(2)
    .split("/")
    .reduce<unknown>((inside, name) => (inside as Record<string, unknown> | undefined)?.[name], api);
}
