import { describe, expect, inject, test } from "vitest";
import { expectStatus, signedUp, type TestClient, waitForMail } from "../support/api-client.ts";
import { createSendingConfig } from "../support/newsletters.ts";

interface Template {
  id: number;
  siteId: number;
  name: string;
  html: string | null;
  folderId: number | null;
  version: number;
  variables: string[];
  updatedAt: string;
}
interface Folder {
  id: number;
  siteId: number | null;
  name: string;
}
interface Listed<T> {
  templates: T[];
  templateFolders: T[];
  pagination: {
    page: number;
    limit: number;
    total: number | null;
    totalPages: number | null;
    nextCursor: string | null;
  };
}
interface Rendered {
  subject: string;
  html: string | null;
  text: string;
  missingVariables: string[];
}

interface TemplateCheck {
  findings: { code: string }[];
}

const minimal = { name: "Welcome", subject: "Hello", html: "<p>Hello</p>" };
const megabyte = 1024 * 1024;
const make = async ({ call }: TestClient, fields: object = {}) =>
  expectStatus(201, await call<Template>("POST", "/templates", { ...minimal, ...fields })).body
    .data;
const makeFolder = async ({ call }: TestClient, fields: object = {}) =>
  expectStatus(201, await call<Folder>("POST", "/template-folders", { name: "News", ...fields }))
    .body.data;
const secondSite = async ({ call }: TestClient) =>
  expectStatus(201, await call<{ id: number }>("POST", "/sites", { name: "Blog" })).body.data.id;
const names = async ({ call }: TestClient, query: string) =>
  expectStatus(
    200,
    await call<Listed<Template>>("GET", `/templates?${query}`),
  ).body.data.templates.map(({ name }) => name);
const stamps = {
  createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
  updatedAt: expect.any(String),
};

describe("templates", () => {
  test("are created with all fields and returned unchanged", async () => {
    const client = await signedUp();
    const folder = await makeFolder(client);
    const given = {
      name: "Welcome",
      subject: "Hi {{ firstName }}",
      html: "<p>{{ order.total }}</p>",
      text: "{{ order.total }} {{ firstName }}",
      designJson: { blocks: [{ kind: "text", deep: { er: [1, null, true] } }] },
      folderId: folder.id,
      previewText: "Your order",
      locale: "en",
      translations: {
        de: {
          subject: "Hallo {{ firstName }}",
          previewText: null,
          html: "<p>{{ order.total }}</p>",
          text: null,
          designJson: null,
        },
      },
    };
    const created = await client.call<Template>("POST", "/templates", given);
    expect(created.status).toBe(201);
    const own = {
      id: expect.any(Number),
      siteId: client.siteId,
      version: 1,
      locales: ["de"],
      campaignId: null,
      variables: ["firstName", "order.total"],
      ...stamps,
    };
    expect(created.body.data).toEqual({ ...given, ...own });
    expect(created.body.warnings).toBeUndefined();
    expect((await client.call("GET", `/templates/${created.body.data.id}`)).body).toEqual(
      created.body,
    );
  });
  test("need only name, subject and html or text", async () => {
    const client = await signedUp();
    expect(await make(client)).toMatchObject({
      ...minimal,
      text: null,
      designJson: null,
      folderId: null,
    });
    const plain = await client.call("POST", "/templates", {
      name: "Plain",
      subject: "Hello",
      text: "Hi",
    });
    expect(plain).toMatchObject({ status: 201, body: { data: { html: null, text: "Hi" } } });
  });
  test("change only in the given fields, and null clears a field", async () => {
    const client = await signedUp();
    const before = await make(client, { text: "t", designJson: [1] });
    const changed = await client.call<Template>("PUT", `/templates/${before.id}`, {
      name: "Other",
      html: "<i>{{ a }}</i>",
      text: null,
    });
    expect(changed.status).toBe(200);
    const after = {
      name: "Other",
      html: "<i>{{ a }}</i>",
      text: null,
      version: 2,
      variables: ["a"],
      updatedAt: expect.any(String),
    };
    expect(changed.body.data).toEqual({ ...before, ...after });
    expect((await client.call("GET", `/templates/${before.id}`)).body).toEqual(changed.body);
  });
  test("change only if nobody has changed them since the version that the change names", async () => {
    const client = await signedUp();
    const { id, version } = await make(client);
    const put = (body: object) => client.call<Template>("PUT", `/templates/${id}`, body);
    const mine = { version, html: "<p>Mine</p>" };
    expect(expectStatus(200, await put(mine)).body.data).toMatchObject({ version: version + 1 });
    // The response of the first request may be lost, so the second one must not fail.
    expect(expectStatus(200, await put(mine)).body.data).toMatchObject({ version: version + 1 });
    expect(await put({ version, html: "<p>Theirs</p>" })).toMatchObject({
      status: 409,
      body: { code: "template_changed" },
    });
    expectStatus(400, await put({ version: 0, html: "<p>Theirs</p>" }));
    const renamed = expectStatus(200, await put({ version, name: "Other name" })).body.data;
    expect(renamed).toMatchObject({ name: "Other name", html: mine.html, version: version + 1 });
  });

  test("are not found or listed after their deletion", async () => {
    const client = await signedUp();
    const { id } = await make(client);
    expect(await client.call("DELETE", `/templates/${id}`)).toMatchObject({
      status: 200,
      body: { data: { id, deleted: true } },
    });
    for (const [method, path, body] of [
      ["GET", ""],
      ["DELETE", ""],
      ["PUT", "", { name: "x" }],
      ["POST", "/render", {}],
    ] as const)
      expect(await client.call(method, `/templates/${id}${path}`, body)).toMatchObject({
        status: 404,
        body: { code: "not_found" },
      });
    expect((await client.call<Listed<Template>>("GET", "/templates")).body.data).toMatchObject({
      templates: [],
      pagination: { total: 0 },
    });
  });
  test("are created once by requests with the same Idempotency-Key", async () => {
    const client = await signedUp();
    const headers = { "idempotency-key": "once" };
    const [first, second] = [
      await client.call<Template>("POST", "/templates", minimal, { headers }),
      await client.call<Template>("POST", "/templates", minimal, { headers }),
    ];
    expect(second.body).toEqual(first.body);
    expect(await names(client, "")).toHaveLength(1);
  });
  test("ignore unknown fields with a warning, and accept any designJson", async () => {
    const { call } = await signedUp();
    const answer = await call("POST", "/templates", {
      ...minimal,
      colour: "red",
      designJson: { colour: "red" },
    });
    expect(answer.body.warnings).toEqual(["Ignored fields: colour"]);
  });
});

describe("lists", () => {
  test("are newest first, in pages, and have no bodies", async () => {
    const client = await signedUp();
    for (const name of ["a", "b", "c"]) await make(client, { name, text: "x", designJson: {} });
    const { data } = expectStatus(
      200,
      await client.call<Listed<Template>>("GET", "/templates?limit=2"),
    ).body;
    expect(data.templates.map(({ name }) => name)).toEqual(["c", "b"]);
    for (const one of data.templates) {
      expect(one).toMatchObject({ folderId: null, siteId: client.siteId, subject: "Hello" });
      for (const field of ["html", "text", "designJson"]) expect(one).not.toHaveProperty(field);
    }
    expect(data.pagination).toMatchObject({
      page: 1,
      limit: 2,
      total: 3,
      totalPages: 2,
      nextCursor: expect.any(String),
    });
    expect(await names(client, `limit=2&cursor=${data.pagination.nextCursor}`)).toEqual(["a"]);
    expect(await names(client, "limit=2&page=2")).toEqual(["a"]);
  });
  test("can be filtered by site, folder and a part of the name, also together", async () => {
    const client = await signedUp();
    const [folder, blog] = [await makeFolder(client), await secondSite(client)];
    const { siteId } = client;
    await make(client, { siteId, name: "Summer Sale", folderId: folder.id });
    await make(client, { siteId, name: "summer end" });
    await make(client, { siteId: blog, name: "Winter sale" });
    expect(await names(client, "")).toEqual(["Winter sale", "summer end", "Summer Sale"]);
    expect(await names(client, `siteId=${blog}`)).toEqual(["Winter sale"]);
    expect(await names(client, `folderId=${folder.id}`)).toEqual(["Summer Sale"]);
    expect(await names(client, "folderId=none")).toEqual(["Winter sale", "summer end"]);
    expect(await names(client, "search=SALE")).toEqual(["Winter sale", "Summer Sale"]);
    expect(await names(client, `search=summer&folderId=none&siteId=${siteId}`)).toEqual([
      "summer end",
    ]);
    expect(await names(client, "search=spring")).toEqual([]);
  });
  test("find a template under its new name and folder at once", async () => {
    const client = await signedUp();
    const folder = await makeFolder(client);
    const { id } = await make(client, { name: "Old" });
    expectStatus(
      200,
      await client.call("PUT", `/templates/${id}`, { name: "New", folderId: folder.id }),
    );
    expect(await names(client, "search=new")).toEqual(["New"]);
    expect(await names(client, "search=old")).toEqual([]);
    expect(await names(client, `folderId=${folder.id}`)).toEqual(["New"]);
    expectStatus(200, await client.call("PUT", `/templates/${id}`, { folderId: null }));
    expect(await names(client, "folderId=none")).toEqual(["New"]);
  });
});

describe("bounds", () => {
  const euro = "€"; // three bytes
  test.each([
    ["name", { name: "x".repeat(200) }, { name: "x".repeat(201) }],
    ["name", { name: "x" }, { name: " " }],
    ["name", {}, { name: "two\nlines" }],
    ["subject", { subject: "x".repeat(998) }, { subject: "x".repeat(999) }],
    ["subject", { subject: "x" }, { subject: "" }],
    ["subject", {}, { subject: "a\nb" }],
    ["subject", {}, { subject: "a\rb" }],
    ["html", { html: "x".repeat(megabyte) }, { html: "x".repeat(megabyte + 1) }],
    [
      "html",
      { html: `x${euro.repeat((megabyte - 1) / 3)}` },
      { html: `xx${euro.repeat((megabyte - 1) / 3)}` },
    ],
    ["html", {}, { html: null }],
    ["text", { text: "x".repeat(megabyte) }, { text: "x".repeat(megabyte + 1) }],
    [
      "designJson",
      { designJson: "x".repeat(megabyte - 2) },
      { designJson: "x".repeat(megabyte - 1) },
    ],
    ["designJson", { designJson: nested(32) }, { designJson: nested(33) }],
    ["folderId", { folderId: null }, { folderId: 0 }],
    ["folderId", {}, { folderId: "1" }],
  ])("%s is accepted at its limit and refused above it", async (path, good, bad) => {
    const { call } = await signedUp();
    const created = await call<Template>("POST", "/templates", { ...minimal, ...good });
    expect(created.status).toBe(201);
    const refusal = {
      status: 400,
      body: {
        code: "validation_failed",
        error: expect.stringContaining(path),
        details: [{ path }],
      },
    };
    expect(await call("POST", "/templates", { ...minimal, ...bad })).toMatchObject(refusal);
    expect(await call("PUT", `/templates/${created.body.data.id}`, bad)).toMatchObject(refusal);
  });
  function nested(levels: number): unknown {
    let value: unknown = 1;
    for (let i = 0; i < levels; i++) value = [value];
    return value;
  }
  test.each([500, 2000, 4000, 8000, 100_000])(
    "JSON nested %i levels deep is accepted or rejected without a server error",
    async (levels) => {
      const client = await signedUp();
      const { id } = await make(client, { html: "{{ list }}{{ list | json }}" });
      const deep = `${"[".repeat(levels)}${"]".repeat(levels)}`;
      const send = (method: string, path: string, raw: string) =>
        client.call(method, `/templates/${id}${path}`, undefined, {
          raw,
          headers: { "content-type": "application/json" },
        });
      expect((await send("PUT", "", `{"designJson":${deep}}`)).status).toBe(400);
      expect([200, 400]).toContain(
        (await send("POST", "/render", `{"variables":{"list":${deep}}}`)).status,
      );
    },
  );
  test("accept 200 variables with names of 100 characters, and no more", async () => {
    const { call } = await signedUp();
    const reading = (n: number) => Array.from({ length: n }, (_, i) => `{{ v${i} }}`).join("");
    const post = (html: string) => call<Template>("POST", "/templates", { ...minimal, html });
    expect((await post(reading(200))).body.data.variables).toHaveLength(200);
    expect(await post(reading(201))).toMatchObject({
      status: 400,
      body: { code: "limit_exceeded", details: [{ path: "html" }] },
    });
    expect((await post(`{{ ${"v".repeat(100)} }}`)).status).toBe(201);
    expect(await post(`{{ ${"v".repeat(101)} }}`)).toMatchObject({
      status: 400,
      body: { code: "limit_exceeded", details: [{ path: "html" }] },
    });
  });
  test("name, subject and html or text are required", async () => {
    const { call } = await signedUp();
    for (const [path, body] of Object.entries({
      name: { ...minimal, name: undefined },
      subject: { ...minimal, subject: undefined },
      html: { ...minimal, html: undefined },
    }))
      expect(await call("POST", "/templates", body)).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining("required"), details: [{ path }] },
      });
  });
});

describe("Liquid", () => {
  test.each([
    ["subject", { subject: "Hi {{ name" }, 1],
    ["html", { html: "<p>\n<b>\n{% if vip %}</b>" }, 3],
    ["html", { html: "<p>\n{{ name | shout }}" }, 2],
    ["text", { text: "a\n\n\n{% include 'secrets' %}" }, 4],
  ])("a %s that does not parse is refused with its line", async (path, fields, line) => {
    const client = await signedUp();
    const { id } = await make(client);
    const refusal = {
      status: 400,
      body: {
        error: expect.stringContaining(`${path} is not valid Liquid (line ${line})`),
        details: [{ path }],
      },
    };
    expect(await client.call("POST", "/templates", { ...minimal, ...fields })).toMatchObject(
      refusal,
    );
    expect(await client.call("PUT", `/templates/${id}`, fields)).toMatchObject(refusal);
    expect((await client.call<Template>("GET", `/templates/${id}`)).body.data).toMatchObject({
      ...minimal,
      version: 1,
    });
  });

  const rendered = async (fields: object, variables?: object) => {
    const client = await signedUp();
    const { id } = await make(client, fields);
    return expectStatus(
      200,
      await client.call<Rendered>("POST", `/templates/${id}/render`, variables && { variables }),
    ).body.data;
  };
  test("renders subject, html and text, escaping in html only", async () => {
    const fields = {
      subject: "Hi {{ name }}",
      html: "<p>{{ name }} {{ name | raw }}</p>",
      text: "Hi {{ name }}",
    };
    expect(await rendered(fields, { name: "<A & B>" })).toEqual({
      subject: "Hi <A & B>",
      html: "<p>&lt;A &amp; B&gt; <A & B></p>",
      text: "Hi <A & B>",
      missingVariables: [],
      locale: null,
    });
  });
  test("renders a draft in place of the saved parts, and saves nothing", async () => {
    const client = await signedUp();
    const { id } = await make(client, { subject: "Saved", html: "<p>Saved</p>", text: "Saved" });
    const path = `/templates/${id}`;
    const draft = { html: "<p>{{ name }}</p>", text: null, variables: { name: "Ada" } };
    const answer = await client.call<Rendered>("POST", `${path}/render`, draft);
    expect(expectStatus(200, answer).body.data).toMatchObject({
      subject: "Saved",
      html: "<p>Ada</p>",
      text: "Ada",
    });
    expectStatus(400, await client.call("POST", `${path}/render`, { html: "{% if %}" }));
    expect((await client.call<Template>("GET", path)).body.data).toMatchObject({ version: 1 });
  });
  test("unknown variables render empty and are listed once; those with a default are not listed", async () => {
    const fields = {
      subject: "{{ a }}{{ d | default: 'there' }}",
      html: "[{{ a }}{{ b.c }}]{% if e %}{{ e }}{% endif %}",
    };
    const own = {
      subject: "{{ name }}",
      html: "{{ email }} {{ unsubscribeUrl }} {{ contactToken }} {{ other }}",
    };
    expect(await rendered(own)).toMatchObject({ missingVariables: ["other"] });
    expect(await rendered(fields)).toMatchObject({
      subject: "there",
      html: "[]",
      missingVariables: ["a", "b.c"],
    });
    expect(await rendered(fields, { a: 0, b: { c: null } })).toMatchObject({
      subject: "0there",
      html: "[0]",
      missingVariables: [],
    });
  });
  test("without a text, the text is made from the rendered html", async () => {
    expect(
      await rendered(
        { html: `<p>Dear {{ name }},</p><a href="https://shop.example/x">look</a>` },
        { name: "A & B" },
      ),
    ).toMatchObject({
      text: "Dear A & B,\n\nlook [https://shop.example/x]",
    });
  });
  test("a subject stays one line with any variables", async () => {
    expect(await rendered({ subject: "Hi {{ name }}" }, { name: "A\r\nBcc: x@y.z" })).toMatchObject(
      { subject: "Hi A Bcc: x@y.z" },
    );
  });
  test("a template that exceeds its limits is rejected", async () => {
    const client = await signedUp();
    const { id } = await make(client, {
      html: "{% for i in (1..1000000) %}{% for j in (1..1000000) %}x{% endfor %}{% endfor %}",
    });
    const answer = await client.call("POST", `/templates/${id}/render`, {});
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: expect.stringMatching(/^html cannot be rendered \(line 1\)/),
        details: [{ path: "html" }],
      },
    });
  });
});

describe("folders", () => {
  test("are created, listed, renamed and deleted; their templates then have no folder", async () => {
    const client = await signedUp();
    const folder = await makeFolder(client);
    expect(folder).toEqual({ id: expect.any(Number), siteId: null, name: "News", ...stamps });
    const { id } = await make(client, { folderId: folder.id });
    const renamed = await client.call<Folder>("PUT", `/template-folders/${folder.id}`, {
      name: "Old news",
    });
    expect(renamed).toMatchObject({
      status: 200,
      body: { data: { id: folder.id, name: "Old news" } },
    });
    const { data } = (await client.call<Listed<Folder>>("GET", "/template-folders")).body;
    expect(data).toMatchObject({ templateFolders: [renamed.body.data], pagination: { total: 1 } });
    expect(await client.call("DELETE", `/template-folders/${folder.id}`)).toMatchObject({
      status: 200,
      body: { data: { id: folder.id, deleted: true } },
    });
    expect((await client.call<Template>("GET", `/templates/${id}`)).body.data.folderId).toBeNull();
    for (const method of ["PUT", "DELETE"])
      expect(
        await client.call(
          method,
          `/template-folders/${folder.id}`,
          method === "PUT" ? { name: "x" } : undefined,
        ),
      ).toMatchObject({
        status: 404,
      });
  });
  test.each([
    ["", 400],
    ["x", 201],
    ["x".repeat(200), 201],
    ["x".repeat(201), 400],
    ["a\nb", 400],
  ])("a name is 1 to 200 characters in a line", async (name, status) => {
    const { call } = await signedUp();
    expect((await call("POST", "/template-folders", { name })).status).toBe(status);
  });
  test("an unknown folder is rejected", async () => {
    const client = await signedUp();
    const { id } = await make(client);
    const refusal = { status: 404, body: { code: "not_found", details: [{ path: "folderId" }] } };
    expect(
      await client.call("POST", "/templates", { ...minimal, folderId: 999_999_999 }),
    ).toMatchObject(refusal);
    expect(await client.call("PUT", `/templates/${id}`, { folderId: 999_999_999 })).toMatchObject(
      refusal,
    );
  });
});

describe("access", () => {
  test("templates and folders of another organization are a 404", async () => {
    const [own, other] = [await signedUp(), await signedUp()];
    const [{ id }, folder] = [await make(other), await makeFolder(other)];
    for (const [method, path, body] of [
      ["GET", `/templates/${id}`],
      ["PUT", `/templates/${id}`, { name: "x" }],
      ["DELETE", `/templates/${id}`],
      ["POST", `/templates/${id}/render`, {}],
      ["PUT", `/template-folders/${folder.id}`, { name: "x" }],
      ["DELETE", `/template-folders/${folder.id}`],
      ["POST", "/templates", { ...minimal, folderId: folder.id }],
      ["POST", "/templates", { ...minimal, siteId: other.siteId }],
      ["POST", "/template-folders", { name: "x", siteId: other.siteId }],
      ["GET", `/templates?siteId=${other.siteId}`],
    ] as const)
      expect(await own.call(method, path, body), `${method} ${path}`).toMatchObject({
        status: 404,
      });
    expect(await names(own, "")).toEqual([]);
    expect((await other.call<Template>("GET", `/templates/${id}`)).body.data.name).toBe("Welcome");
  });
  test("a key of one site reads and changes templates of its own site only", async () => {
    const client = await signedUp();
    const blog = await secondSite(client);
    const [foreign, shared, blogs] = [
      await make(client, { siteId: client.siteId }),
      await makeFolder(client),
      await makeFolder(client, { siteId: client.siteId, name: "Shop's" }),
    ];
    const as = { key: await client.newKey({ siteId: blog }) };
    const own = expectStatus(
      201,
      await client.call<Template>(
        "POST",
        "/templates",
        { ...minimal, name: "Own", folderId: shared.id },
        { as },
      ),
    ).body.data;
    expect(own.siteId).toBe(blog);
    const listed = await client.call<Listed<Template>>("GET", "/templates", undefined, { as });
    expect(listed.body.data.templates.map(({ name }) => name)).toEqual(["Own"]);
    const folders = await client.call<Listed<Folder>>("GET", "/template-folders", undefined, {
      as,
    });
    expect(folders.body.data.templateFolders.map(({ id }) => id)).toEqual([shared.id]);
    for (const [method, path, body] of [
      ["GET", `/templates/${foreign.id}`],
      ["PUT", `/templates/${foreign.id}`, { name: "x" }],
      ["DELETE", `/templates/${foreign.id}`],
      ["POST", `/templates/${foreign.id}/render`, {}],
      ["POST", "/templates", { ...minimal, siteId: client.siteId }],
      ["GET", `/templates?siteId=${client.siteId}`],
      ["PUT", `/template-folders/${blogs.id}`, { name: "x" }],
      ["DELETE", `/template-folders/${blogs.id}`],
      ["DELETE", `/template-folders/${shared.id}`],
    ] as const)
      expect(await client.call(method, path, body, { as }), `${method} ${path}`).toMatchObject({
        status: 403,
        body: { code: "site_forbidden" },
      });
  });
  test("with two sites, a new template needs a siteId", async () => {
    const client = await signedUp();
    await secondSite(client);
    expect(await client.call("POST", "/templates", minimal)).toMatchObject({
      status: 400,
      body: { details: [{ path: "siteId" }] },
    });
  });
  test("requests need a credential, and API keys need the scope", async () => {
    const client = await signedUp();
    expect((await client.call("GET", "/templates", undefined, { as: "anonymous" })).status).toBe(
      401,
    );
    const as = { key: await client.newKey({ scopes: ["templates:read"] }) };
    expect((await client.call("GET", "/templates", undefined, { as })).status).toBe(200);
    expect(await client.call("POST", "/templates", minimal, { as })).toMatchObject({
      status: 403,
      body: { code: "scope_missing" },
    });
  });
});

describe("versions", () => {
  test("are listed, read and restored", async () => {
    const client = await signedUp();
    const { id } = await make(client);
    expectStatus(200, await client.call("PUT", `/templates/${id}`, { html: "<p>New</p>" }));
    const { versions } = expectStatus(
      200,
      await client.call<{ versions: object[] }>("GET", `/templates/${id}/versions`),
    ).body.data;
    expect(versions).toMatchObject([
      { version: 2, current: true },
      { version: 1, current: false },
    ]);
    expect((await client.call("GET", `/templates/${id}/versions/1`)).body.data).toMatchObject({
      version: 1,
      html: minimal.html,
      current: false,
    });
    expect((await client.call("GET", `/templates/${id}/versions/9`)).status).toBe(404);
    expect(
      (await client.call("POST", `/templates/${id}/restore`, { version: 1 })).body.data,
    ).toEqual(expect.objectContaining({ version: 3, html: minimal.html }));
    expect((await client.call("POST", `/templates/${id}/restore`, { version: 9 })).status).toBe(
      404,
    );
  });
});

test("what uses a template is listed with its status", async () => {
  const client = await signedUp();
  const { id } = await make(client);
  const readUses = async () =>
    expectStatus(200, await client.call<{ uses: object[] }>("GET", `/templates/${id}/uses`)).body
      .data.uses;
  expect(await readUses()).toEqual([]);
  const create = async (path: string, body: object) =>
    expectStatus(201, await client.call<{ id: number }>("POST", path, body)).body.data.id;
  const { siteId } = client;
  const sequence = await create("/sequences", { siteId, name: "Hello" });
  await create(`/sequences/${sequence}/steps`, { type: "email", templateId: id });
  const campaign = await create("/campaigns", { siteId, name: "Spring", templateId: id });
  expect(await readUses()).toEqual([
    { kind: "sequence", id: sequence, name: "Hello", status: "draft" },
    { kind: "campaign", id: campaign, name: "Spring", status: "draft" },
  ]);
  const stranger = await signedUp();
  expect((await stranger.call("GET", `/templates/${id}/uses`)).status).toBe(404);
});

describe("checks", () => {
  test("of a stored template and of a draft name what is broken", async () => {
    const client = await signedUp();
    const { id } = await make(client, { html: '<p>Hi <a href="www.shop.example">shop</a></p>' });
    const check = async (body: object) =>
      expectStatus(200, await client.call<TemplateCheck>("POST", `/templates/${id}/check`, body))
        .body.data;
    const stored = await check({});
    expect(stored).toMatchObject({ passed: false, htmlBytes: 45 });
    expect(stored.findings[0]).toMatchObject({
      code: "link_without_scheme",
      severity: "error",
      count: 1,
      examples: ["www.shop.example"],
    });
    const draft = { html: "<p>{{ a }} {{ unsubscribeUrl }}</p>", text: "Hi" };
    expect(await check({ ...draft, variables: { a: "b" } })).toMatchObject({
      passed: true,
      findings: [],
    });
    expect((await check(draft)).findings).toMatchObject([
      { code: "variables_missing", examples: ["a"] },
    ]);
    expect((await client.call("POST", `/templates/${id}/check`, { html: "{{ a" })).status).toBe(
      400,
    );
  });
});

test("a caller who may only write templates mails tests to members, not to others", async () => {
  const client = await signedUp();
  const { id } = await make(client, { subject: "Hello", html: "<p>Hello</p>" });
  const config = await createSendingConfig(client, inject("baseUrl"), "postmark");
  const to = "me@example.com";
  expectStatus(200, await client.call("POST", `/sending-configs/${config}/verify`, { to }));
  const stranger = `stranger-${crypto.randomUUID()}@example.com`;
  const other = await signedUp();
  const test = async (scopes: string[], emails: string[]) => {
    const as = { key: await client.newKey({ scopes }) };
    return client.call("POST", `/templates/${id}/test`, { emails }, { as });
  };
  for (const scopes of [["templates:write"], ["content:write"], ["content:write", "send:read"]])
    for (const email of [stranger, other.email]) {
      const refused = await test(scopes, [client.email, email]);
      expect([refused.status, refused.body.code]).toEqual([403, "scope_missing"]);
      expect(refused.body.details).toEqual([
        { path: "emails", message: `${email} is not a member` },
      ]);
    }
  expectStatus(202, await test(["templates:write"], [client.email.toUpperCase()]));
  for (const right of ["sending:write", "marketing:write", "send:write", "campaigns:write"])
    expectStatus(202, await test(["content:write", right], [stranger]));
});

test("a test mail is rendered with a contact and marked, for verified configs only", async () => {
  const client = await signedUp();
  const { id } = await make(client, {
    subject: "Hello {{ firstName }}",
    html: "<b>{{ city }}</b>",
  });
  const to = `boss-${crypto.randomUUID()}@example.com`;
  const contactId = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/contacts", {
      email: `ada-${crypto.randomUUID()}@example.com`,
      firstName: "Ada",
    }),
  ).body.data.id;
  const path = `/templates/${id}/test`;
  const body = { emails: [to.toUpperCase(), to], contactId, variables: { city: "Paris" } };
  expect(await client.call("POST", path, body)).toMatchObject({
    status: 400,
    body: { code: "no_sending_config" },
  });
  const config = await createSendingConfig(client, inject("baseUrl"), "postmark");
  expect(await client.call("POST", path, { ...body, sendingConfigId: config })).toMatchObject({
    status: 400,
    body: { details: [{ path: "sendingConfigId" }] },
  });
  expectStatus(
    200,
    await client.call("POST", `/sending-configs/${config}/verify`, { to: "me@example.com" }),
  );
  const sent = expectStatus(202, await client.call("POST", path, body)).body.data;
  expect(sent).toMatchObject({ tests: [{ email: to, status: "queued" }], missingVariables: [] });
  expect(await waitForMail(to)).toMatchObject({
    subject: "[Test] Hello Ada",
    html: expect.stringContaining("<b>Paris</b>"),
  });
  expect((await client.call("POST", path, { ...body, emails: Array(6).fill(to) })).status).toBe(
    400,
  );
});
