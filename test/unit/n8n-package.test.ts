// The package with the nodes of n8n. `npm run test:n8n` runs it in n8n's engine.
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { getOpenApiDocument } from "../../functions/openapi-document.ts";
import { buildNodePackage } from "../../infra/n8n/build.ts";
import { readOperations } from "../../infra/sdk/operations.ts";
import type { NodeOption, NodeProperty } from "../../shared/clients/n8n/n8n-types.ts";
import { webhookEventTypes } from "../../shared/domain/webhooks/event-types.ts";

const folder = mkdtempSync(join(tmpdir(), "n8n-package-"));
const require = createRequire(import.meta.url);
/** The properties of an instance, as n8n makes it. */
const load = <T>(path: string, className: string): T =>
  new (require(join(folder, path))[className])();

interface Node {
  description: { name: string; usableAsTool?: boolean; properties: NodeProperty[] };
}
let [action, trigger] = [] as unknown as [Node, Node];
beforeAll(async () => {
  await buildNodePackage(folder);
  action = load("nodes/Pennymail/Pennymail.node.js", "Pennymail");
  trigger = load("nodes/Pennymail/PennymailTrigger.node.js", "PennymailTrigger");
});
afterAll(() => rmSync(folder, { recursive: true }));

const readJson = (path: string) => JSON.parse(readFileSync(join(folder, path), "utf8"));

describe("the package", () => {
  test("keeps n8n's rules for community nodes", () => {
    const manifest = readJson("package.json");
    expect(manifest).toMatchObject({
      name: expect.stringMatching(/^n8n-nodes-/),
      license: "MIT",
      keywords: expect.arrayContaining(["n8n-community-node-package"]),
      n8n: { n8nNodesApiVersion: 1 },
    });
    expect(manifest).not.toHaveProperty("dependencies");
    for (const path of manifest.n8n.nodes)
      expect(readJson(path.replace(/js$/, "json")).node).toMatch(/^n8n-nodes-pennymail\.pennymail/);
    expect(load("credentials/PennymailApi.credentials.js", "PennymailApi")).toMatchObject({
      name: "pennymailApi",
      test: { request: { url: "/mcp" } },
    });
    expect(readFileSync(join(folder, "README.md"), "utf8")).toContain("Community nodes");
  });

  test("reads no files, no environment and no modules", () => {
    const files = globSync("**/*.js", { cwd: folder });
    expect(files).toHaveLength(3);
    for (const file of files)
      expect(readFileSync(join(folder, file), "utf8")).not.toMatch(/require\(|process\.|\bfs\b/);
  });
});

describe("the action node", () => {
  const optionsOf = ({ options = [] }: NodeProperty) => options as NodeOption[];
  const choices = () =>
    action.description.properties
      .filter(({ name }) => name === "operation")
      .flatMap((field) =>
        optionsOf(field).map(({ value, routing }) => ({
          id: `${field.displayOptions!.show.resource![0]}.${value}`,
          ...routing?.request,
        })),
      );
  /** The fields of an operation. */
  const fieldsOf = (resource: string, operation: string) =>
    action.description.properties.filter(
      ({ displayOptions: { show } = { show: {} } }) =>
        show.resource?.includes(resource) && show.operation?.includes(operation),
    );

  test("has each operation that an API key may call", async () => {
    const expected = readOperations(await getOpenApiDocument())
      .filter(({ takesApiKey }) => takesApiKey)
      .map(({ group, action: name, method, path }) => ({
        id: `${group}.${name}`,
        method,
        url: path,
      }));
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    expect(choices().toSorted(byId)).toEqual(expected.toSorted(byId));
    expect(expected.length).toBeGreaterThan(200);
    expect(expected.map(({ id }) => id)).not.toContain("apiKeys.create");
    const [resource] = action.description.properties;
    expect(new Set(optionsOf(resource!).map(({ value }) => value))).toEqual(
      new Set(expected.map(({ id }) => id.split(".")[0])),
    );
  });

  test("asks for the required fields, and has the others in a collection", () => {
    const names = (fields: NodeProperty[]) => fields.map(({ name }) => name);
    expect(names(fieldsOf("emails", "send"))).toEqual(["to", "additionalFields"]);
    expect(names(fieldsOf("contacts", "update"))).toEqual(["id", "additionalFields"]);
    expect(names(fieldsOf("contacts", "list"))).toEqual(["returnAll", "limit", "additionalFields"]);
    expect(names(fieldsOf("providers", "list"))).toEqual([]);
    for (const field of fieldsOf("emails", "send"))
      expect(field.required ?? false).toBe(field.name === "to");
    const optional = fieldsOf("contacts", "list").at(-1)!.options as NodeProperty[];
    expect(names(optional)).not.toContain("cursor");
    expect(optional.find(({ name }) => name === "status")).toMatchObject({
      type: "options",
      options: expect.arrayContaining([{ name: "Subscribed", value: "subscribed" }]),
    });
  });
});

test("the trigger node offers each event", () => {
  const [events] = trigger.description.properties;
  expect((events!.options as NodeOption[]).map(({ value }) => value)).toEqual(webhookEventTypes);
});
