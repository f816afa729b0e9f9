import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { getOpenApiDocument } from "../../functions/openapi-document.ts";
import { groups } from "../../functions/route-groups.ts";
import { webhookEventTypes } from "../../shared/domain/webhooks/event-types.ts";
import { signatureHeaders } from "../../shared/domain/webhooks/signature-headers.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { createOpenApiDocument } from "../../shared/http/openapi/document.ts";
import { type JsonSchema, resolveSchema } from "../../shared/http/openapi/json-schemas.ts";
import type { ResponseObject } from "../../shared/http/openapi/response-objects.ts";
import { route } from "../../shared/http/route.ts";
import { schemaChecker } from "../support/openapi-document.ts";

const api = await getOpenApiDocument();
const { schemas } = api.components;
const routes = groups.flatMap((one) => one.routes);
const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    key: `${method.toUpperCase()} ${path}`,
    ...operation,
  })),
);

const verbs = (
  "accept add adjust apply cancel change check confirm connect count create delete disable enable " +
  "enroll explain export get identify import leave list log merge pause preview publish receive " +
  "remove " +
  "render replace request resend reset resolve restore resume retry revoke rotate save schedule " +
  "search send sign submit switch test track trigger unschedule unsubscribe update upsert " +
  "validate verify view walk"
).split(" ");

describe("the OpenAPI document", () => {
  test("is a valid OpenAPI 3.1 document whose references all resolve", async () => {
    const validator = new Validator();
    expect(await validator.validate(JSON.parse(JSON.stringify(api)))).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
    for (const [, ref = ""] of JSON.stringify(api).matchAll(/"\$ref":"([^"]+)"/g))
      expect(at(ref), ref).toBeDefined();
  });

  test("has a named schema for each body and response with fields", () => {
    const schemas = operations.flatMap(({ requestBody, responses }) =>
      [requestBody, ...Object.values(responses)].flatMap((one) =>
        one && "content" in one ? Object.values(one.content ?? {}).map(({ schema }) => schema) : [],
      ),
    );
    expect(schemas.length).toBeGreaterThan(400);
    const fieldsOf = ({ properties = {}, anyOf = [], oneOf = [] }: JsonSchema) =>
      Object.keys({ ...properties, ...anyOf, ...oneOf });
    expect(schemas.filter((schema) => fieldsOf(schema).length)).toEqual([]);
  });

  test("names each object once", () => {
    const places = Map.groupBy(objectsIn(api, "#"), ({ shape }) => shape);
    const repeated = [...places.values()].filter((same) => same.length > 1);
    expect(repeated.map((same) => same.map(({ place }) => place))).toEqual([]);
  });

  test("has examples of errors with documented fields only", () => {
    const check = schemaChecker(api);
    for (const { key, responses } of operations)
      for (const [status, response] of Object.entries(responses)) {
        const media = "content" in response && response.content?.["application/json"];
        if (!/^2/.test(status) && media && media.example !== undefined)
          expect(check(media.schema, media.example), `${key} ${status}`).toEqual([]);
      }
  });

  test("requires only fields that the schema has", () => {
    for (const { place, shape } of objectsIn(api, "#")) {
      const { properties, required = [] } = JSON.parse(shape) as JsonSchema;
      expect(Object.keys(properties!), place).toEqual(expect.arrayContaining(required));
    }
  });

  test("requires a body where the service does", () => {
    const optional = operations.flatMap(({ key, requestBody }) =>
      requestBody && !requestBody.required ? [key] : [],
    );
    expect(optional).toEqual(expect.arrayContaining(["PUT /api/v1/lists/{id}"]));
    for (const key of [
      "lists/{id}/contacts",
      "contacts/{id}/tags",
      "validate",
      "forms/{id}/submit",
    ])
      expect(optional).not.toContain(`POST /api/v1/${key}`);
  });

  test("shows either/or fields as alternatives, each with its own field", () => {
    const check = schemaChecker(api);
    const isValid = (id: string, value: object) =>
      check({ $ref: `#/components/schemas/${id}` }, value).length === 0;
    expect(isValid("ListMembers", { contactId: 1 })).toBe(true);
    expect(isValid("ListMembers", { contactIds: [1] })).toBe(true);
    expect(isValid("ListMembers", { contactId: 1, contactIds: [1] })).toBe(false);
    expect(isValid("ListMembers", {})).toBe(false);
    const message = { to: "ada@example.com", fromEmail: "hello@shop.example" };
    expect(isValid("SendEmailRequest", { ...message, templateId: 1 })).toBe(true);
    expect(isValid("SendEmailRequest", { ...message, subject: "Hello", html: "Hello" })).toBe(true);
    expect(isValid("SendEmailRequest", { ...message, subject: "Hello" })).toBe(false);
    expect(isValid("SendEmailRequest", { to: message.to, templateId: 1 })).toBe(false);
    expect(schemas).toHaveProperty("ListMembersWithContactIds.required", ["contactIds"]);
  });

  test("links from a created record to the operations on it", () => {
    const linksOf = (path: string, status: number) =>
      (api.paths[`/api/v1${path}`]!.post!.responses[status] as ResponseObject).links ?? {};
    expect(linksOf("/contacts", 201)).toMatchObject({
      getContact: { operationId: "getContact", parameters: { id: "$response.body#/data/id" } },
      updateContact: { operationId: "updateContact" },
      deleteContact: { operationId: "deleteContact" },
    });
    expect(linksOf("/campaigns/{id}/variants", 201)).toHaveProperty("deleteCampaignVariant", {
      operationId: "deleteCampaignVariant",
      parameters: { id: "$request.path.id", variantId: "$response.body#/data/id" },
    });
    expect(Object.keys(linksOf("/imports/upload", 202))).toContain("getImport");
    const links = operations.flatMap(({ responses }) =>
      Object.values(responses).flatMap((one) => ("links" in one ? Object.values(one.links!) : [])),
    );
    expect(links.length).toBeGreaterThan(60);
    for (const { operationId, parameters } of links) {
      const target = operations.find((one) => one.operationId === operationId)!;
      const needed = target.parameters.flatMap((one) =>
        "in" in one && one.in === "path" ? [one.name] : [],
      );
      expect(Object.keys(parameters).toSorted(), operationId).toEqual(needed.toSorted());
    }
  });

  test("has a webhook for each event, with payload, signature headers and example", () => {
    expect(Object.keys(api.webhooks)).toEqual([...webhookEventTypes]);
    for (const [event, { post }] of Object.entries(api.webhooks)) {
      const { schema, example } = post.requestBody.content["application/json"];
      expect(schema).toHaveProperty("$ref", expect.stringMatching(/WebhookEvent$/));
      expect(schemaChecker(api)(schema, example)).toEqual([]);
      expect(example.event).toBe(event);
    }
    const signed = signatureHeaders(["new", "old"], { id: "1", timestamp: 1, body: "{}" });
    const documented = api.webhooks.delivered!.post.parameters.map(({ name }) => name);
    expect(documented.map((name) => name.toLowerCase()).toSorted()).toEqual(
      Object.keys(signed).toSorted(),
    );
  });

  test("lists errors as pages where browsers get pages, and 404 for an unknown site", () => {
    const typesOf = (path: string, method: string, status: string) => {
      const response = api.paths[path]![method]!.responses[status]!;
      const { content } = ("$ref" in response ? at(response.$ref) : response) as ResponseObject;
      return Object.keys(content ?? {});
    };
    const both = ["application/json", "text/html"];
    expect(typesOf("/secure/{token}", "get", "404")).toEqual(both);
    expect(typesOf("/api/v1/forms/{id}/submit", "post", "200")).toEqual(both);
    expect(typesOf("/api/v1/forms/{id}/submit", "post", "default")).toEqual(both);
    expect(typesOf("/api/v1/lists", "get", "404")).toEqual(["application/json"]);
    expect(typesOf("/api/v1/lists", "post", "404")).toEqual(["application/json"]);
    expect(typesOf("/api/v1/contacts/export", "get", "200")).toEqual([
      "text/csv",
      "application/json",
    ]);
  });

  test("lists exactly the routes of the service", () => {
    expect(operations.map(({ key }) => key).sort()).toEqual(routes.map(({ key }) => key).sort());
  });

  test("lists 402 for every endpoint that accepts email", () => {
    for (const path of [
      "/send",
      "/send/batch",
      "/campaigns/{id}/send",
      "/campaigns/{id}/test",
      "/templates/{id}/test",
    ])
      expect(Object.keys(api.paths[`/api/v1${path}`]!.post!.responses), path).toContain("402");
  });

  test("gives each operation a unique id of verb and noun", () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
    for (const id of ids) {
      expect(id).toMatch(/^[a-z][A-Za-z0-9]+$/);
      expect(verbs, id).toContain(id.replace(/[A-Z].*/, ""));
    }
    const used = new Set(ids.map((id) => id.replace(/[A-Z].*/, "")));
    expect(verbs.filter((verb) => !used.has(verb))).toEqual([]);
  });

  test("gives each operation a unique method of the SDK", () => {
    const names = operations.map((operation) => operation["x-sdk-method"]);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
    for (const name of names) expect(name).toMatch(/^[a-z][A-Za-z]+\.[a-z][A-Za-z0-9]+$/);
    expect(names).toEqual(
      expect.arrayContaining([
        "apiKeys.create",
        "campaigns.listVariants",
        "contacts.applyTag",
        "customEvents.deleteName",
        "emails.send",
        "emails.sendBatch",
        "lists.addContacts",
        "sendingConfigs.verify",
        "sends.cancel",
        "webhooks.rotateSecret",
      ]),
    );
  });

  test("gives each operation a short summary without a full stop", () => {
    for (const { key, summary } of operations) {
      expect(summary.length, key).toBeLessThanOrEqual(60);
      expect(summary, key).toMatch(/^[A-Z][^.;]+$/);
    }
  });

  test("describes each tag and each parameter", () => {
    const used = new Set(operations.flatMap(({ tags }) => tags));
    expect(api.tags.map(({ name }) => name).sort()).toEqual([...used].sort());
    for (const { name, description } of api.tags) expect(description, name).toMatch(/\.$/);
    for (const { key, parameters } of operations)
      for (const parameter of parameters)
        if ("name" in parameter)
          expect(parameter.description, `${key} ${parameter.name}`).toMatch(/[.`]$/);
  });

  test("lists one success response and the error response of each operation", () => {
    for (const { key, responses } of operations) {
      const good = Object.entries(responses).filter(([status]) => /^2/.test(status));
      // A second success response is 202, for work that takes too long for one request.
      expect(
        good.filter(([status]) => good.length === 1 || status !== "202"),
        key,
      ).toHaveLength(1);
      for (const [status, answer] of good)
        if (status !== "202" || good.length === 1) expect(answer, key).toHaveProperty("content");
      expect(responses, key).toHaveProperty("default");
    }
  });

  test("lists the rate limit headers of every endpoint that needs a credential", () => {
    for (const { key, security, responses } of operations) {
      const [, answer] = Object.entries(responses).find(([status]) => /^2/.test(status))!;
      expect(
        Object.keys(answer).includes("headers") &&
          JSON.stringify(answer).includes("X-RateLimit-Remaining"),
        key,
      ).toBe(security.length > 0);
    }
  });

  test.each(
    routes
      .filter(({ body, rawBodyTypes }) => body && !rawBodyTypes)
      .map((one) => [one.key, one] as const),
  )("%s accepts its own example", (key, { body }) => {
    const { requestBody } = operations.find((one) => one.key === key)!;
    const { success, error } = body!.safeParse(requestBody!.content["application/json"]!.example);
    expect(success, error?.message).toBe(true);
  });

  test("shows the example of a schema that transforms its input", () => {
    const body = z.object({ id: z.int().transform(String) }).meta({ examples: [{ id: 42 }] });
    const { paths } = createOpenApiDocument([
      routeGroup("things", [route("POST /things", "A thing", { body, handle: async () => null })]),
    ]);
    expect(
      paths["/api/v1/things"]!.post!.requestBody!.content["application/json"]!.example,
    ).toEqual({ id: 42 });
  });

  test("does not require fields that a repeated response leaves out", () => {
    const shownOnce = routes.filter(({ fieldsShownOnce }) => fieldsShownOnce.length);
    expect(shownOnce.length).toBeGreaterThan(4);
    for (const { key, path, method, status, fieldsShownOnce } of shownOnce) {
      const answer = api.paths[path]![method.toLowerCase()]!.responses[status] as {
        content: Record<string, { schema: JsonSchema }>;
      };
      const envelope = resolveSchema(answer.content["application/json"]!.schema, schemas);
      const schema = resolveSchema(envelope.properties!.data!, schemas);
      for (const name of fieldsShownOnce) {
        expect(schema.properties?.[name]?.description, `${key} ${name}`).toContain(
          "Idempotency-Key",
        );
        expect(schema.required ?? [], key).not.toContain(name);
      }
    }
  });

  test("the document lists each named schema once", () => {
    const Thing = z.object({ id: z.int() }).meta({ id: "Thing" });
    const things = route("GET /things", "Things", {
      returns: z.object({ things: z.array(Thing) }),
      handle: async () => ({ things: [] }),
    });
    const thing = route("GET /things/:id", "A thing", {
      returns: Thing,
      handle: async () => ({ id: 1 }),
    });
    const { paths, components } = createOpenApiDocument([routeGroup("things", [things, thing])]);
    expect(components.schemas).toHaveProperty("Thing", {
      type: "object",
      properties: {
        id: {
          type: "integer",
          minimum: Number.MIN_SAFE_INTEGER,
          maximum: Number.MAX_SAFE_INTEGER,
        },
      },
      required: ["id"],
    });
    expect(JSON.stringify(components).match(/"#\/components\/schemas\/Thing"/g)).toHaveLength(2);
    expect(paths["/api/v1/things"]!.get!.operationId).toBe("listThings");
  });

  test("rejects two different schemas with the same id", () => {
    const one = route("GET /one", "One", {
      returns: z.object({ a: z.int() }).meta({ id: "Same" }),
      handle: async () => ({ a: 1 }),
    });
    const two = route("GET /two", "Two", {
      returns: z.object({ b: z.int() }).meta({ id: "Same" }),
      handle: async () => ({ b: 1 }),
    });
    expect(() => createOpenApiDocument([routeGroup("both", [one, two])])).toThrow("id Same");
  });
});

function at(ref: string): unknown {
  return ref
    .slice(2)
    .split("/")
    .reduce<unknown>(
      (inside, name) => (inside as Record<string, unknown> | undefined)?.[name],
      api,
    );
}

/** All objects with fields, each with its schema as text, without its own description. */
function objectsIn(value: unknown, place: string): { place: string; shape: string }[] {
  if (typeof value !== "object" || value === null) return [];
  const { description, default: _, type, ...shape } = value as JsonSchema;
  const isObject = [type].flat().includes("object") && Object.keys(shape.properties ?? {}).length;
  const inner = Object.entries(value).flatMap(([name, one]) =>
    /^examples?$/.test(name) ? [] : objectsIn(one, `${place}/${name}`),
  );
  return isObject ? [{ place, shape: JSON.stringify(shape) }, ...inner] : inner;
}
