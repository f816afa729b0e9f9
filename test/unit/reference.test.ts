import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { document } from "../../functions/http/interface.ts";
import { answerExample, requestExample } from "../../shared/http/examples.ts";
import { html } from "../../shared/http/html.ts";
import type { Operation, Parameter } from "../../shared/http/openapi.ts";
import { curl } from "../../shared/http/reference/curl.ts";
import { fieldsOf } from "../../shared/http/reference/fields.ts";
import { page } from "../../shared/http/reference/page.ts";
import { limitsInWords, typeInWords } from "../../shared/http/reference/words.ts";

const api = await document();
const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

describe("html", () => {
  test("escapes every text that is put in, and leaves html alone", () => {
    const name = `<b>"Ada" & 'Grace'</b>`;
    expect(html`<p title="${name}">${name}${html`<br>`}${[html`<i>`, html`</i>`]}${false}${undefined}${0}</p>`.html).toBe(
      `<p title="&lt;b&gt;&quot;Ada&quot; &amp; &#39;Grace&#39;&lt;/b&gt;">&lt;b&gt;&quot;Ada&quot; &amp; &#39;Grace&#39;&lt;/b&gt;<br><i></i>0</p>`,
    );
  });
});

describe("the page", () => {
  test("has no id twice, and no link that leads nowhere", () => {
    const text = page(api, { origin: "https://mail.example.com" });
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
    for (const [, id] of text.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(id);
  });

  test("tells of every error that an endpoint can answer", () => {
    const statuses = new Set(operations.flatMap(({ operation }) => Object.keys(operation.responses).filter((status) => status >= "400")));
    const text = page(api, { origin: "https://mail.example.com" });
    for (const status of statuses) if (status !== "default" && status !== "406") expect(text).toContain(`<tr><td>${status}</td>`);
  });

  test("tells what fields are when they are not given, small numbers too", () => {
    expect(page(api, { origin: "https://mail.example.com" })).toMatch(
      /<code>weight<\/code>(?:(?!<dt>).)*Default <code>50<\/code>(?:(?!<dt>).)*<\/div>/s,
    );
  });

  test("tells the address where it is", () => {
    expect(page(api, { origin: "https://mail.example.com" })).toContain("curl https://mail.example.com/api/v1/sites");
  });
});

describe("what is told of an endpoint", () => {
  const whole = page(api, { origin: "https://mail.example.com" });
  const told = (id: string): string => whole.split(`<div class="body" id="${id}">`)[1]!.split("</details>")[0]!;

  test.each([
    ["authLogin", ["user.email", "mfaRequired", "mfaToken", "methods"]],
    ["validate", ["checks", "results"]],
    ["senderCheck", ["verdict", "results"]],
    ["tagsContact", ["name", "tagId"]],
    ["secureByToken", ["passphrase"]],
    ["importsUpload", ["file", "uploadId"]],
  ])("%s: every way it may look", (id, names) => {
    const shown = [...told(id).matchAll(/<dt><code>(.*?)<\/code>/g)].map(([, name = ""]) => name.replaceAll("<wbr>", ""));
    expect(shown).toEqual(expect.arrayContaining(names));
  });

  test("a tab among the choices can be seen, and a bound that only guards us is not told", () => {
    expect(told("importsUpload")).toContain("<code>&quot;\\t&quot;</code>");
    expect(told("importsUpload")).not.toContain("100,000");
  });
});

describe("the search", () => {
  const found = (search: string): string => page(api, { origin: "https://mail.example.com", search }).split("<main")[1]!;
  const links = (search: string): string[] => [...found(search).matchAll(/href="\/api\/v1\/docs#([\w-]+)"/g)].map(([, id = ""]) => id);

  test.each([
    ["opt-in", "createForm"],
    ["doubleOptIn", "updateForm"],
    ["customFields", "createContact"],
    ["winner", "getCampaign"],
    ["upsert", "importsUpload"],
    ["liquid", "variables"],
    ["webhook signature", "webhooks"],
    ["mfaToken", "authLogin"],
  ])("for %s leads to %s", (search, id) => {
    expect(links(search)).toContain(id);
  });

  test("leads nowhere that is not on the page", () => {
    const whole = page(api, { origin: "https://mail.example.com" });
    for (const id of links("email")) expect(whole).toContain(` id="${id}"`);
  });

  test("shows endpoints whole that have the words in their names, and the others by the field that has them", () => {
    expect(found("campaigns winner")).toMatch(/In fields[\s\S]*docs#getCampaign"[\s\S]*?<dd><code>\w*\.?winner/);
    expect(found("sends cancel")).toMatch(/One endpoint[\s\S]*id="cancelSend"/);
    expect(found("nosuchword")).toContain("No endpoint has these words.");
  });

  test("says nothing in markup that is searched as text", () => {
    expect(links("<section")).toEqual([]);
  });
});

describe("the first send", () => {
  const start = (sandboxUrl?: string): string => page(api, { origin: "https://mail.example.com", sandboxUrl }).split('id="variables"')[0]!;

  test("names the sandbox where there is one, and nowhere else", () => {
    expect(start("http://127.0.0.1:3000/_local/sandbox")).toContain("curl -s http://127.0.0.1:3000/_local/sandbox");
    expect(start("http://127.0.0.1:3000/_local/sandbox")).not.toContain("SG....");
    expect(start()).toContain("SG....");
    expect(start()).not.toContain("sandbox");
  });
});

describe("curl examples", () => {
  /** What curl would get to see. */
  const words = (line: string): string[] =>
    execFileSync("sh", ["-c", `curl() { printf '%s\\0' "$@"; }; KEY=secret; ${line}`])
      .toString()
      .split("\0")
      .slice(0, -1);
  const line = (method: string, path: string, operation: Operation) => curl("http://127.0.0.1:3000", method, path, operation, []);

  test("carry their body through a shell unchanged", () => {
    const first = ({ requestBody }: Operation) => Object.keys(requestBody?.content ?? {})[0];
    const withBody = operations.filter(
      ({ operation }) =>
        first(operation) === "application/json" && operation.requestBody!.content["application/json"]!.example !== undefined,
    );
    expect(withBody.length).toBeGreaterThan(10);
    for (const { method, path, operation } of withBody) {
      const args = words(line(method, path, operation));
      expect(JSON.parse(args[args.indexOf("-d") + 1]!)).toEqual(operation.requestBody!.content["application/json"]!.example);
    }
  });

  test("survive an apostrophe", () => {
    const { operation } = operations.find((one) => one.operation.operationId === "createSite")!;
    const content = { "application/json": { schema: {}, example: { name: "Ada's $HOME `shop`" } } };
    const args = words(line("POST", "/api/v1/sites", { ...operation, requestBody: { required: true, content } }));
    expect(JSON.parse(args.at(-1)!)).toEqual({ name: "Ada's $HOME `shop`" });
    expect(args).toContain("Authorization: Bearer secret");
  });

  test("name the method only where curl would not choose it, and fill the path", () => {
    const by = (id: string) => operations.find((one) => one.operation.operationId === id)!;
    const args = (id: string) => words(line(by(id).method, by(id).path, by(id).operation));
    expect(args("getSite")[0]).toBe("http://127.0.0.1:3000/api/v1/sites/1");
    expect(args("deleteSite").slice(0, 3)).toEqual(["-X", "DELETE", "http://127.0.0.1:3000/api/v1/sites/1"]);
    expect(args("createSite")[0]).toBe("http://127.0.0.1:3000/api/v1/sites");
    expect(args("authLogin")).toContain("-c");
    expect(args("createApiKey")).toContain("-b");
  });

  const argumentsOf = (id: string) => {
    const { method, path, operation } = operations.find((one) => one.operation.operationId === id)!;
    return words(line(method, path, operation)).slice(1);
  };

  test("send a form as a form, and a file as a file", () => {
    expect(argumentsOf("secureByToken")).toEqual(["--data-urlencode", "passphrase=a word between us"]);
    expect(argumentsOf("formsConfirmByToken")).toEqual(["-d", ""]);
    expect(argumentsOf("unsubscribe")).toEqual(["--data-urlencode", "List-Unsubscribe=One-Click"]);
    expect(argumentsOf("importsUpload").slice(-4)).toEqual(["-F", "file=@people.csv", "-F", "lists=1"]);
  });

  test("leave no page for people with a body that nobody knows", () => {
    const unknown = operations.filter(({ method, path, operation }) => line(method, path, operation).includes("--data-binary"));
    expect(unknown.map(({ path }) => path).filter((path) => !/^\/api\/v1\/(billing\/webhooks|webhooks\/[a-z0-9]+)$/.test(path))).toEqual(
      [],
    );
  });

  test("ask for every query parameter that must be there", () => {
    const { operation } = operations.find((one) => one.operation.operationId === "listSites")!;
    const needed: Parameter = { in: "query", name: "siteId", required: true, schema: {} };
    expect(curl("http://a", "GET", "/b", operation, [needed])).toContain("'http://a/b?siteId=1'");
  });
});

describe("schemas in words", () => {
  const components = {
    Rules: {
      type: "object",
      properties: { match: { enum: ["all", "any"] }, inner: { type: "array", items: { $ref: "#/components/schemas/Rules" } } },
    },
  };
  const rules = { $ref: "#/components/schemas/Rules" };

  test("name nested fields by their path, the required ones first", () => {
    const to = { type: "object", properties: { name: {}, to: {} }, required: ["to"] };
    const schema = { type: "object", properties: { subject: {}, recipients: { type: "array", items: to } }, required: ["recipients"] };
    expect(fieldsOf(schema, {}, true).map(({ name, required }) => [name, required])).toEqual([
      ["recipients", true],
      ["recipients[].to", true],
      ["recipients[].name", false],
      ["subject", false],
    ]);
  });

  test("end where a schema holds itself", () => {
    const names = fieldsOf({ type: "object", properties: { rules } }, components, true).map(({ name }) => name);
    expect(names).toEqual(["rules", "rules.match", "rules.inner"]);
    expect(answerExample(rules, components)).toEqual({ match: "all", inner: [{}] });
  });

  test.each([
    [{ type: ["string", "null"] }, "string or null"],
    [{ type: "array", items: { type: "string", format: "email" } }, "list of email addresses"],
    [{ type: "object", additionalProperties: { type: "number" } }, "object of numbers"],
    [{ anyOf: [rules, { type: "null" }] }, "object or null"],
    [{}, "anything"],
  ])("%j is %s", (schema, words) => {
    expect(typeInWords(schema, components)).toBe(words);
  });

  test.each([
    [{ minLength: 1, maxLength: 1000 }, ["1 to 1,000 characters"]],
    [{ maxItems: 20 }, ["at most 20 items"]],
    [{ minimum: 1 }, []],
    [{ anyOf: [{ minimum: 0, maximum: 365 }, { type: "null" }] }, ["0 to 365"]],
  ])("%j has the bounds %j", (schema, limits) => {
    expect(limitsInWords(schema, {})).toEqual(limits);
  });

  test("a request example has what is required, an answer example all", () => {
    const schema = { type: "object", properties: { email: { type: "string" }, name: { type: "string" } }, required: ["email"] };
    expect(requestExample(schema, {})).toEqual({ email: "ada@example.com" });
    expect(answerExample(schema, {})).toEqual({ email: "ada@example.com", name: "My shop" });
  });
});
