import { describe, expect, it } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";

interface Saved {
  id: number;
  version: number;
  isLayout: boolean;
  variables: string[];
  uses: string[];
  html: string;
  versions: { version: number }[];
}
const signup = () => signedUp();

const save = async (client: TestClient, name: string, html: string, more = {}): Promise<Saved> =>
  expectStatus(201, await client.call<Saved>("POST", "/snippets", { name, html, ...more })).body
    .data;
const change = (client: TestClient, id: number, changes: object) =>
  client.call<Saved>("PUT", `/snippets/${id}`, changes);
const saveTemplate = (client: TestClient, html: string, more = {}) =>
  client.call<{ id: number; variables: string[] }>("POST", "/templates", {
    ...{ name: "Mail", subject: "Hi", html },
    ...more,
  });
const renderTemplate = async (client: TestClient, id: number, variables = {}) =>
  expectStatus(
    200,
    await client.call<{ html: string; text: string }>("POST", `/templates/${id}/render`, {
      variables,
    }),
  ).body.data;

describe("snippets", () => {
  it("use at most 8 others, because one item lists what all of a site use", async () => {
    const client = await signup();
    const names = Array.from({ length: 9 }, (_, i) => `piece ${i}`);
    for (const name of names) await save(client, name, "<p>x</p>");
    const rendered = names.map((name) => `{% render '${name}' %}`);
    const { uses } = await save(client, "eight", rendered.slice(1).join(""));
    expect(uses).toHaveLength(8);
    const nine = { name: "nine", html: rendered.join("") };
    const refused = await client.call("POST", "/snippets", nine);
    expect([refused.status, refused.body.details?.map(({ path }) => path)]).toEqual([
      400,
      ["html"],
    ]);
  });

  it("appear in templates, and a change of them appears at once", async () => {
    const client = await signup();
    const header = await save(client, "header", "<h1>{{ shop }}</h1>");
    expect(header).toMatchObject({ version: 1, variables: ["shop"], uses: [], isLayout: false });
    const template = expectStatus(
      201,
      await saveTemplate(client, "{% render 'header' %}<p>{{ name }}</p>"),
    ).body.data;
    expect(template.variables).toEqual(["shop", "name"]);
    const variables = { shop: "Shop", name: "Ada" };
    expect((await renderTemplate(client, template.id, variables)).html).toBe(
      "<h1>Shop</h1><p>Ada</p>",
    );
    const changed = expectStatus(
      200,
      await change(client, header.id, { html: "<h2>{{ shop }}</h2>" }),
    );
    expect(changed.body.data).toMatchObject({
      version: 2,
      versions: [{ version: 2 }, { version: 1 }],
    });
    expect((await renderTemplate(client, template.id, variables)).html).toBe(
      "<h2>Shop</h2><p>Ada</p>",
    );
    const restored = await client.call<Saved>("POST", `/snippets/${header.id}/restore`, {
      version: 1,
    });
    expect(expectStatus(200, restored).body.data).toMatchObject({
      version: 3,
      html: "<h1>{{ shop }}</h1>",
    });
    expect(
      (await client.call("POST", `/snippets/${header.id}/restore`, { version: 9 })).status,
    ).toBe(404);
  });

  it("that do not exist are an error of the template that names them", async () => {
    const client = await signup();
    const answer = await saveTemplate(client, "\n{% render 'header' %}");
    expect(answer).toMatchObject({
      status: 400,
      body: {
        details: [
          {
            path: "html",
            message: 'html is not valid Liquid (line 2): there is no snippet "header"',
          },
        ],
      },
    });
    await save(client, "header", "<h1>Hi</h1>");
    const inText = await saveTemplate(client, "<p>Hi</p>", { text: "{% render 'header' %}" });
    expect(inText).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('the snippet "header" has no text') },
    });
    const inSubject = await saveTemplate(client, "<p>Hi</p>", { subject: "{% render 'header' %}" });
    expect(inSubject.status).toBe(400);
  });

  it("cannot use themselves, and the error names the way", async () => {
    const client = await signup();
    const logo = await save(client, "logo", "<b>Logo</b>");
    const header = await save(client, "header", "{% render 'logo' %}");
    await save(client, "page", "{% render 'header' %}");
    expect(header.uses).toEqual(["logo"]);
    expect(await change(client, logo.id, { html: "{% render 'page' %}" })).toMatchObject({
      status: 400,
      body: {
        code: "snippet_cycle",
        error: "The snippet would use itself: logo > page > header > logo",
      },
    });
    expect(
      await client.call("POST", "/snippets", { name: "x", html: "{% render 'x' %}" }),
    ).toMatchObject({
      status: 400,
      body: { code: "snippet_cycle" },
    });
  });

  it("in use cannot be deleted, and say what uses them", async () => {
    const client = await signup();
    const logo = await save(client, "logo", "<b>Logo</b>");
    const header = await save(client, "header", "{% render 'logo' %}");
    const template = expectStatus(201, await saveTemplate(client, "{% render 'header' %}")).body
      .data;
    const uses = async (id: number) =>
      (await client.call<{ uses: object[] }>("GET", `/snippets/${id}/uses`)).body.data.uses;
    expect(await uses(logo.id)).toEqual([{ kind: "snippet", id: header.id, name: "header" }]);
    expect(await uses(header.id)).toEqual([{ kind: "template", id: template.id, name: "Mail" }]);
    expect(await client.call("DELETE", `/snippets/${header.id}`)).toMatchObject({
      status: 409,
      body: { code: "in_use", details: [{ path: `templates.${template.id}` }] },
    });
    // The refused deletion leaves the snippet usable.
    expectStatus(201, await saveTemplate(client, "{% render 'header' %}"));
    const plain = { html: "<p>Hi</p>" };
    for (const { id } of [template, { id: template.id + 1 }])
      expectStatus(200, await client.call("PUT", `/templates/${id}`, plain));
    expectStatus(200, await client.call("DELETE", `/snippets/${header.id}`));
    expectStatus(200, await client.call("DELETE", `/snippets/${logo.id}`));
    expect((await client.call("GET", `/snippets/${header.id}/uses`)).status).toBe(404);
    await save(client, "header", "again");
  });

  it("get a new name while nothing uses them", async () => {
    const client = await signup();
    const { id } = await save(client, "header", "<h1>Shop</h1>");
    await save(client, "footer", "<p>Bye</p>");
    const template = expectStatus(201, await saveTemplate(client, "{% render 'header' %}")).body
      .data;
    expect(await change(client, id, { name: "top", html: "<h1>New</h1>" })).toMatchObject({
      status: 409,
      body: { code: "in_use", details: [{ path: `templates.${template.id}` }] },
    });
    expect((await renderTemplate(client, template.id)).html).toBe("<h1>Shop</h1>");
    expectStatus(200, await client.call("PUT", `/templates/${template.id}`, { html: "<p>x</p>" }));
    expect(await change(client, id, { name: "footer" })).toMatchObject({
      status: 409,
      body: { code: "snippet_exists" },
    });
    expect((await change(client, id, { name: "top", html: "{{" })).status).toBe(400);
    // The refused changes leave the snippet usable under its old name.
    const { id: other } = expectStatus(201, await saveTemplate(client, "{% render 'header' %}"))
      .body.data;
    expectStatus(200, await client.call("DELETE", `/templates/${other}`));
    const renamed = expectStatus(200, await change(client, id, { name: "top" })).body.data;
    expect(renamed).toMatchObject({ name: "top", version: 2, html: "<h1>Shop</h1>" });
    expect((await saveTemplate(client, "{% render 'header' %}")).status).toBe(400);
    const next = expectStatus(201, await saveTemplate(client, "{% render 'top' %}")).body.data;
    expect((await renderTemplate(client, next.id)).html).toBe("<h1>Shop</h1>");
    await save(client, "header", "<b>another</b>");
  });

  it("are found by a part of their name", async () => {
    const client = await signup();
    for (const name of ["Header", "Fußzeile", "Café"]) await save(client, name, "<p>x</p>");
    const find = async (search: string) =>
      (
        await client.call<{ snippets: { name: string }[] }>("GET", `/snippets?search=${search}`)
      ).body.data.snippets.map(({ name }) => name);
    expect(await find("cafe")).toEqual(["Café"]);
    expect(await find("e")).toEqual(["Café", "Fußzeile", "Header"]);
    expect(await find("none")).toEqual([]);
  });

  it("are previewed as email brings them in, saved or as a draft", async () => {
    const client = await signup();
    await save(client, "logo", "<b>{{ shop }}</b>");
    const sign = await save(client, "sign", "{% render 'logo' %}<p>{{ name }}</p>", {
      text: "Bye",
    });
    const preview = (id: number, draft: object) =>
      client.call<{ html: string; text: string | null; missingVariables: string[] }>(
        "POST",
        `/snippets/${id}/render`,
        draft,
      );
    const variables = { name: "<Ada>" };
    expect((await preview(sign.id, { variables })).body.data).toEqual({
      html: "<b></b><p>&lt;Ada&gt;</p>",
      text: "Bye",
      missingVariables: ["shop"],
    });
    const draft = { html: "<i>{{ name }}</i>", text: null, variables };
    expect((await preview(sign.id, draft)).body.data).toEqual({
      html: "<i>&lt;Ada&gt;</i>",
      text: null,
      missingVariables: [],
    });
    const frame = await save(client, "frame", "<div>{{ content }}</div>");
    expect((await preview(frame.id, {})).body.data.html).toBe(
      "<div><p>The content of the email</p></div>",
    );
    expect(await preview(sign.id, { html: "{% render 'gone' %}" })).toMatchObject({
      status: 400,
      body: { details: [{ path: "html" }] },
    });
    expect((await preview(sign.id, { html: "{{" })).status).toBe(400);
  });

  it("keep their names apart within a site, and refuse names that Liquid cannot quote", async () => {
    const client = await signup();
    await save(client, "header", "<b>1</b>");
    expect(await client.call("POST", "/snippets", { name: "header", html: "" })).toMatchObject({
      status: 409,
      body: { code: "snippet_exists" },
    });
    for (const name of ["a'b", 'a"b', "", "-", "a%}b", "x".repeat(61)])
      expect(await client.call("POST", "/snippets", { name, html: "" })).toMatchObject({
        status: 400,
      });
    const site = await client.call<{ id: number }>("POST", "/sites", { name: "Other" });
    const siteId = site.body.data.id;
    await save(client, "header", "<b>2</b>", { siteId });
    await save(client, "Fußzeile 2", "<b>3</b>", { siteId });
  });

  it("keep the parts that templates may use", async () => {
    const client = await signup();
    const both = await save(client, "sign", "<p>Bye</p>", { text: "Bye" });
    expect(await change(client, both.id, { text: null })).toMatchObject({
      status: 400,
      body: { details: [{ path: "text" }] },
    });
    const frame = await save(client, "frame", "<div>{{ content }}</div>");
    expect(frame).toMatchObject({ isLayout: true, variables: [] });
    expect((await change(client, frame.id, { html: "<div></div>" })).status).toBe(400);
  });

  it("frame templates as layouts", async () => {
    const client = await signup();
    await save(client, "shop", "<html><body><h1>{{ title }}</h1>{{ content }}</body></html>");
    const template = expectStatus(
      201,
      await saveTemplate(client, "{% layout 'shop', title: 'News' %}<p>{{ name }}</p>"),
    ).body.data;
    expect((await renderTemplate(client, template.id, { name: "Ada" })).html).toBe(
      "<html><body><h1>News</h1><p>Ada</p></body></html>",
    );
  });

  it("refuse a change of a version that is not current any more", async () => {
    const client = await signup();
    const { id } = await save(client, "a", "1");
    expectStatus(200, await change(client, id, { html: "2", version: 1 }));
    expect(await change(client, id, { html: "3", version: 1 })).toMatchObject({
      status: 409,
      body: { code: "snippet_changed" },
    });
    // A repeated request finds its own content.
    expectStatus(200, await change(client, id, { html: "2", version: 1 }));
  });
});
