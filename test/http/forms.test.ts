import { expect, inject, test } from "vitest";
import {
  expectStatus,
  request,
  signedUp,
  type TestClient,
  type TestResponse,
} from "../support/api-client.ts";
import {
  createSendingClient,
  isLocalService,
  listInbox,
  runUntilIdle,
} from "../support/sending-client.ts";

interface Form {
  id: number;
  name: string;
  status: string;
  version: number;
  submissionCount: number;
  pageUrl: string;
  updatedAt: string;
}
interface Submission {
  id: number;
  email: string;
  fields: Record<string, unknown>;
  status: string;
  consent: Record<string, unknown>;
}
type Done = { submitted: boolean; pending: boolean };

const make = async ({ call }: TestClient, body: object = {}) =>
  expectStatus(201, await call<Form>("POST", "/forms", { name: "News", ...body })).body.data;
const submit = (id: number, body: unknown, headers: Record<string, string> = {}) =>
  request<Done>("POST", `/forms/${id}/submit`, body, {
    headers: { origin: "https://shop.example", ...headers },
  });
const browserHeaders = {
  "content-type": "application/x-www-form-urlencoded",
  accept: "text/html,application/xhtml+xml,*/*;q=0.8",
};
const post = (id: number, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  request<Done>("POST", `/forms/${id}/submit`, undefined, {
    raw: String(new URLSearchParams(fields)),
    headers: { ...browserHeaders, ...headers },
  });
const submissionsOf = async ({ call }: TestClient, id: number) =>
  expectStatus(
    200,
    await call<{ submissions: Submission[]; pagination: { total: number } }>(
      "GET",
      `/forms/${id}/submissions`,
    ),
  ).body.data;
const contactsOf = async ({ call }: TestClient) =>
  expectStatus(
    200,
    await call<{
      contacts: {
        email: string;
        status: string;
        firstName: string | null;
        locale: string | null;
      }[];
    }>("GET", "/contacts"),
  ).body.data.contacts;

const submitted = { status: 200, body: { data: { submitted: true, pending: false } } };

test("a form is created with all fields or only a name, changed field by field, and deleted", async () => {
  const client = await signedUp();
  const list = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/lists", { name: "News" }),
  ).body.data;
  const designJson = {
    title: "Join",
    fields: [{ name: "email", type: "email", label: "Mail" }],
    mine: { kept: [1] },
  };
  const full = {
    name: "Join us",
    status: "inactive",
    listId: list.id,
    tags: ["a"],
    redirectUrl: "https://shop.example/thanks",
    designJson,
  };
  const made = await make(client, full);
  const stamps = {
    createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    updatedAt: expect.any(String),
  };
  const computed = {
    version: 1,
    submissionCount: 0,
    pageUrl: `${inject("baseUrl")}/api/v1/forms/${made.id}/page`,
    doubleOptIn: false,
    sequenceId: null,
    topicIds: [],
    captcha: null,
  };
  expect(made).toEqual({
    id: expect.any(Number),
    siteId: client.siteId,
    ...full,
    ...computed,
    ...stamps,
  });
  expect((await client.call("GET", `/forms/${made.id}`)).body.data).toEqual({
    ...made,
    missing: [],
  });
  expect(await make(client)).toMatchObject({
    status: "active",
    listId: null,
    tags: [],
    redirectUrl: null,
    captcha: null,
    designJson: null,
  });
  const changed = expectStatus(
    200,
    await client.call<Form>("PUT", `/forms/${made.id}`, { name: "Join", listId: null }),
  ).body.data;
  expect(changed).toEqual({
    ...made,
    name: "Join",
    listId: null,
    version: 2,
    updatedAt: changed.updatedAt,
  });
  expect((await client.call<Form>("GET", `/forms/${made.id}?version=1`)).body.data).toMatchObject({
    name: "Join us",
    version: 1,
  });
  expect((await client.call("DELETE", `/forms/${made.id}`)).body.data).toEqual({
    id: made.id,
    deleted: true,
  });
  for (const path of ["", "/submissions"])
    expect((await client.call("GET", `/forms/${made.id}${path}`)).status).toBe(404);
  for (const path of ["/page", "/embed"])
    expect((await request("GET", `/forms/${made.id}${path}`)).status).toBe(404);
  expect((await submit(made.id, { email: "ann@example.com" })).status).toBe(404);
});

test.each([
  ["name", { name: " " }],
  ["status", { status: "open" }],
  ["tags.0", { tags: [""] }],
  ["tags", { tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }],
  ["redirectUrl", { redirectUrl: "javascript:alert(1)" }],
  ["redirectUrl", { redirectUrl: "https://shop.example;sandbox/" }],
  ["redirectUrl", { redirectUrl: "https://shop.example,frame-ancestors/" }],
  ["doubleOptIn", { doubleOptIn: "yes" }],
  ["designJson.fields.0.name", { designJson: { fields: [{ name: "1st" }] } }],
  ["designJson.fields.0.name", { designJson: { fields: [{ name: "constructor" }] } }],
  ["designJson.fields.0.type", { designJson: { fields: [{ name: "a", type: "file" }] } }],
  ["designJson.fields", { designJson: { fields: [{ name: "a" }, { name: "a" }] } }],
  ["designJson.fields", { designJson: { fields: [{ name: "a", type: "select" }] } }],
  [
    "designJson.fields",
    { designJson: { fields: Array.from({ length: 51 }, (_, i) => ({ name: `f${i}` })) } },
  ],
  ["designJson.theme.accent", { designJson: { theme: { accent: "red; background: url(x)" } } }],
  ["designJson.language", { designJson: { language: "tlh" } }],
  ["designJson", { designJson: { more: "x".repeat(100_001) } }],
])("a form with a bad %s is refused, also as a change", async (path, bad) => {
  const client = await signedUp();
  const refused = { status: 400, body: { details: [{ path }] } };
  expect(await client.call("POST", "/forms", { name: "News", ...bad })).toMatchObject(refused);
  const { id } = await make(client);
  expect(await client.call("PUT", `/forms/${id}`, bad)).toMatchObject(refused);
});

test("forms are listed newest first, for all sites or one, and an API key of a site sees its own", async () => {
  const client = await signedUp();
  const blog = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/sites", { name: "Blog" }),
  ).body.data.id;
  for (const [name, siteId] of [
    ["a", client.siteId],
    ["b", blog],
    ["c", client.siteId],
  ])
    await make(client, { name, siteId });
  const names = async (path: string, key = client.apiKey) =>
    expectStatus(
      200,
      await client.call<{ forms: Form[] }>("GET", path, undefined, { as: { key } }),
    ).body.data.forms.map(({ name }) => name);
  expect([await names("/forms"), await names(`/forms?siteId=${client.siteId}`)]).toEqual([
    ["c", "b", "a"],
    ["c", "a"],
  ]);
  const bound = await client.newKey({ siteId: blog });
  expect(await names("/forms", bound)).toEqual(["b"]);
  const ownForms = expectStatus(200, await client.call<{ forms: Form[] }>("GET", "/forms")).body
    .data.forms;
  const otherForms = ownForms.filter(({ name }) => name !== "b");
  for (const [method, path] of [
    ["GET", ""],
    ["PUT", ""],
    ["DELETE", ""],
    ["GET", "/submissions"],
  ] as const)
    expect(
      (
        await client.call(
          method,
          `/forms/${otherForms[0]!.id}${path}`,
          method === "PUT" ? { name: "x" } : undefined,
          { as: { key: bound } },
        )
      ).status,
    ).toBe(403);
  const foreign = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/lists", { name: "L", siteId: blog }),
  ).body.data;
  expect(
    await client.call("POST", "/forms", { name: "x", siteId: client.siteId, listId: foreign.id }),
  ).toMatchObject({
    status: 400,
    body: { details: [{ path: "listId" }] },
  });
  for (const missingReference of [{ listId: 999_999_999 }, { sequenceId: 999_999_999 }])
    expect(
      (
        await client.call("POST", "/forms", {
          name: "x",
          siteId: client.siteId,
          ...missingReference,
        })
      ).status,
    ).toBe(404);
});

test("any origin can submit JSON or either form encoding and read the response", async () => {
  const client = await signedUp();
  const { id } = await make(client, { designJson: { fields: [{ name: "company" }] } });
  const multipart = new FormData();
  multipart.set("email", "d@example.com");
  multipart.set("company", "D");
  multipart.set("file", new Blob(["x"]), "x.txt");
  const encoded = new Response(multipart);
  const answers: TestResponse<Done>[] = [
    await submit(id, { email: "a@example.com", firstName: "A", company: "A" }),
    await submit(id, { email: "b@example.com", fields: { company: "B", firstName: "B" } }),
    await post(id, { email: "c@example.com", company: "C" }, { accept: "*/*" }),
    await request("POST", `/forms/${id}/submit`, undefined, {
      raw: new Uint8Array(await encoded.arrayBuffer()),
      headers: { "content-type": encoded.headers.get("content-type")! },
    }),
  ];
  for (const answer of answers) {
    expect(answer).toMatchObject(submitted);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  }
  const { submissions, pagination } = await submissionsOf(client, id);
  expect([submissions.map(({ fields }) => fields.company), pagination.total]).toEqual([
    ["D", "C", "B", "A"],
    4,
  ]);
  expect(submissions[0]!.consent).toMatchObject({
    ip: expect.any(String),
    userAgent: expect.any(String),
    formVersion: 1,
  });
  expect(submissions.at(-1)!.consent.page).toBe("https://shop.example");
  expect((await contactsOf(client)).map(({ email, firstName }) => [email, firstName])).toEqual([
    ["d@example.com", null],
    ["c@example.com", null],
    ["b@example.com", "B"],
    ["a@example.com", "A"],
  ]);
  expect((await client.call<Form>("GET", `/forms/${id}`)).body.data.submissionCount).toBe(4);
  const preflight = await request("OPTIONS", `/forms/${id}/submit`, undefined, {
    headers: {
      origin: "https://shop.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type",
    },
  });
  expect([
    preflight.status,
    preflight.headers.get("access-control-allow-origin"),
    preflight.headers.get("access-control-allow-headers"),
  ]).toEqual([204, "*", expect.stringContaining("content-type")]);
});

test("a submission with the honeypot field gets the usual response and is not stored", async () => {
  const client = await signedUp();
  const { id } = await make(client);
  expect(
    await submit(id, { email: "bot@example.com", _website: "http://spam.example" }),
  ).toMatchObject(submitted);
  expect(await submit(id, { email: "ann@example.com", _website: "" })).toMatchObject(submitted);
  expect((await contactsOf(client)).map(({ email }) => email)).toEqual(["ann@example.com"]);
  expect((await submissionsOf(client, id)).pagination.total).toBe(1);
});

const asking = [
  { name: "email", type: "email", label: "Mail" },
  { name: "age", type: "number" },
  { name: "day", type: "date" },
  { name: "size", type: "select", options: ["S", { value: "L", label: "Large" }] },
  { name: "terms", type: "checkbox", required: true },
  { name: "note", type: "textarea" },
  { name: "word" },
  { name: "ref", type: "hidden", value: "page" },
];
const good = { email: "ann@example.com", terms: true };

test.each([
  ["email", { email: undefined }],
  ["email", { email: "ann" }],
  ["email", { email: { a: 1 } }],
  ["age", { age: "many" }],
  ["age", { age: "1e999" }],
  ["day", { day: "2026-02-30" }],
  ["day", { day: "tomorrow" }],
  ["size", { size: "XL" }],
  ["terms", { terms: false }],
  ["terms", { terms: undefined }],
  ["note", { note: "x".repeat(2001) }],
  ["word", { word: "x".repeat(501) }],
  ["word", { word: ["x"] }],
])("a bad %s is refused with a sentence in the visitor's language", async (path, bad) => {
  const client = await signedUp();
  const { id } = await make(client, { designJson: { fields: asking } });
  const answer = await submit(id, { ...good, ...bad }, { "accept-language": "de" });
  expect(answer).toMatchObject({
    status: 400,
    body: { code: "validation_failed", details: [{ path, message: answer.body.error }] },
  });
  expect(answer.body.error).toMatch(/bitte|keine?|zu lang/);
  expect((await submissionsOf(client, id)).pagination.total).toBe(0);
});

test("valid values are converted to their types, and unknown fields are limited", async () => {
  const client = await signedUp();
  const { id } = await make(client, { designJson: { fields: asking } });
  const more = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [`more${i}`, "y".repeat(600)]),
  );
  const given = {
    constructor: "x",
    toString: "x",
    ...good,
    age: "42",
    day: "2028-02-29",
    size: "L",
    note: " two\r\nlines ",
    word: "c",
    ...more,
  };
  expect(await submit(id, given)).toMatchObject(submitted);
  const { fields } = (await submissionsOf(client, id)).submissions[0]!;
  expect(fields).toMatchObject({
    age: 42,
    day: "2028-02-29",
    size: "L",
    terms: true,
    note: "two\nlines",
    word: "c",
    ref: "page",
  });
  const extra = Object.entries(fields).filter(([name]) => name.startsWith("more"));
  expect([extra.length, new Set(extra.map(([, value]) => String(value).length))]).toEqual([
    20,
    new Set([500]),
  ]);
  const contact = expectStatus(
    200,
    await client.call<{ contacts: { customFields: object }[] }>("GET", "/contacts"),
  ).body.data.contacts[0]!;
  expect(contact.customFields).toEqual({
    age: 42,
    day: "2028-02-29",
    size: "L",
    terms: true,
    note: "two\nlines",
    word: "c",
    ref: "page",
  });
});

test.each([
  ["{", { "content-type": "application/json" }, 400, "invalid_json"],
  ["[1]", { "content-type": "application/json" }, 400, "validation_failed"],
  ["--x", { "content-type": "multipart/form-data; boundary=y" }, 400, "validation_failed"],
  ["--x", { "content-type": "multipart/form-data" }, 400, "validation_failed"],
  ["<a/>", { "content-type": "text/xml" }, 415, "unsupported_media_type"],
  ["x".repeat(110_000), { "content-type": "application/json" }, 413, "payload_too_large"],
])("an invalid body is refused: %.10s %o", async (raw, headers, status, code) => {
  const client = await signedUp();
  const { id } = await make(client);
  expect(await request("POST", `/forms/${id}/submit`, undefined, { raw, headers })).toMatchObject({
    status,
    body: { code },
  });
});

test("a contact of a form gets the visitor's language, unless one is known", async () => {
  const client = await signedUp();
  const { id } = await make(client, {});
  const known = { email: "known@example.com", locale: "fr" };
  expectStatus(201, await client.call("POST", "/contacts", known));
  for (const [email, language] of [
    ["ann@example.com", "de-at,en;q=0.5"],
    ["bob@example.com", "*"],
    ["known@example.com", "it"],
  ] as const)
    await submit(id, { email }, { "accept-language": language });
  const contacts = await contactsOf(client);
  expect(Object.fromEntries(contacts.map(({ email, locale }) => [email, locale]))).toEqual({
    "ann@example.com": "de-AT",
    "bob@example.com": "en",
    "known@example.com": "fr",
  });
});

test("an inactive form refuses submissions with a reason", async () => {
  const client = await signedUp();
  const { id } = await make(client, { status: "draft" });
  expect(await submit(id, good)).toMatchObject({ status: 409, body: { code: "form_inactive" } });
  const page = await post(id, { email: "ann@example.com" }, { "accept-language": "fr" });
  expect([page.status, page.text]).toEqual([
    409,
    expect.stringContaining("Ce formulaire est fermé"),
  ]);
  expect((await request("GET", `/forms/${id}/page`)).text).toContain("This form is closed");
  expect((await request("GET", `/forms/${id}/embed`)).text).toContain("This form is closed");
  expect((await submissionsOf(client, id)).pagination.total).toBe(0);
});

test("a browser gets a page in its language, or a redirect to the form's URL", async () => {
  const client = await signedUp();
  const { id } = await make(client, {
    designJson: { fields: asking, successMessage: "See you <soon>" },
  });
  const done = await post(id, { email: "ann@example.com", terms: "on" });
  expect([done.status, done.headers.get("content-type")]).toEqual([
    200,
    "text/html; charset=utf-8",
  ]);
  expect(done.text).toContain("See you &lt;soon&gt;");
  const wrong = await post(id, { email: '"><script>', age: "x" }, { "accept-language": "de" });
  expect(wrong.status).toBe(400);
  for (const part of [
    'lang="de"',
    "keine E-Mail-Adresse",
    "keine Zahl",
    'aria-invalid="true"',
    'role="alert"',
    "&quot;&gt;&lt;script&gt;",
  ])
    expect(wrong.text).toContain(part);
  expect(wrong.text).not.toContain("<script>");
  expectStatus(
    200,
    await client.call("PUT", `/forms/${id}`, { redirectUrl: "https://shop.example/thanks?a=1" }),
  );
  const sent = await post(id, { email: "bo@example.com", terms: "on" });
  expect([sent.status, sent.headers.get("location")]).toEqual([
    303,
    "https://shop.example/thanks?a=1",
  ]);
  expect(
    (await request("GET", `/forms/${id}/page`)).headers.get("content-security-policy"),
  ).toContain("form-action 'self' https://shop.example;");
  expect((await post(999_999_999, {})).status).toBe(404);
});

test("the page can be framed and runs no script; the embed script is small and translated", async () => {
  const client = await signedUp();
  const { id } = await make(client);
  const page = await request("GET", `/forms/${id}/page?email=ann%40example.com&firstName=%3Cb%3E`);
  const policy = page.headers.get("content-security-policy");
  for (const rule of ["default-src 'none'", "form-action 'self'", "frame-ancestors *"])
    expect(policy).toContain(rule);
  expect([policy?.includes("script-src"), page.headers.get("x-frame-options")]).toEqual([
    false,
    null,
  ]);
  for (const part of ['value="ann@example.com"', "&lt;b&gt;", "<h1>News</h1>"])
    expect(page.text).toContain(part);
  const script = await request("GET", `/forms/${id}/embed`, undefined, {
    headers: { "accept-language": "es" },
  });
  expect([
    script.status,
    script.headers.get("content-type"),
    script.headers.get("cache-control"),
    script.headers.get("vary"),
  ]).toEqual([
    200,
    "application/javascript; charset=utf-8",
    "public, max-age=300",
    "Accept-Language",
  ]);
  expect(script.text).toContain("Correo electrónico");
  expect(Buffer.byteLength(script.text)).toBeLessThan(4096);
  const html = await request("GET", `/forms/${id}/embed?format=html`);
  expect([html.status, html.headers.get("content-type")]).toEqual([
    200,
    "text/html; charset=utf-8",
  ]);
  expect(html.text).toContain(`action="${inject("baseUrl")}/api/v1/forms/${id}/submit"`);
  expect(html.text).not.toContain("<script");
});

test("the embed script escapes all texts of the form", async () => {
  const client = await signedUp();
  const nasty = `</script><img src=x onerror="alert(1)">$&$'\u2028`;
  const { id } = await make(client, {
    designJson: { fields: [{ name: "email", type: "email", label: nasty }], submitLabel: nasty },
  });
  const { text } = await request("GET", `/forms/${id}/embed`);
  expect(text).not.toContain("<img");
  expect(() => new Function(text)).not.toThrow();
});

test("double opt-in sends a mail, and only the button of its page confirms", async ({ skip }) => {
  if (!(await isLocalService())) skip();
  const client = await createSendingClient();
  expect(await client.call("POST", "/forms", { name: "x", doubleOptIn: true })).toMatchObject({
    status: 400,
    body: { code: "no_sending_config" },
  });
  expectStatus(200, await client.call("POST", `/sending-configs/${client.configId}/verify`));
  const email = `ann-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const { id } = await make(client, { doubleOptIn: true, tags: ["reader"] });
  const answer = await submit(id, { email }, { "accept-language": "fr" });
  expect(answer.body.data).toEqual({ submitted: true, pending: true });
  expect(await contactsOf(client)).toMatchObject([{ email, status: "pending" }]);
  await runUntilIdle();
  const [mail] = await listInbox(email);
  expect(mail).toMatchObject({ subject: "Confirmez votre adresse e-mail pour Shop" });
  const [link = ""] = /http:\S+\/forms\/confirm\/[\w-]+/.exec(mail!.text ?? "") ?? [];
  const path = link.slice(link.indexOf("/forms/"));
  for (let n = 0; n < 2; n++) expect((await request("GET", path)).text).toContain("Oui, confirmer");
  expect((await request("HEAD", path)).status).toBe(200);
  expect(await contactsOf(client)).toMatchObject([{ status: "pending" }]);
  const page = await request("POST", path);
  expect([page.status, page.text, page.headers.get("x-frame-options")]).toEqual([
    200,
    expect.stringContaining("Merci pour votre confirmation"),
    "DENY",
  ]);
  expect(await contactsOf(client)).toMatchObject([
    { status: "subscribed", tags: [{ name: "reader" }] },
  ]);
  expect((await submissionsOf(client, id)).submissions[0]).toMatchObject({
    status: "accepted",
    consent: { confirmedAt: expect.any(String) },
  });
  expect((await client.call<{ sends: object[] }>("GET", "/sends")).body.data.sends).toMatchObject([
    { toEmail: email, siteId: client.siteId, status: "sent" },
  ]);
  for (const method of ["GET", "POST"]) {
    const bad = await request(method, `${path.slice(0, -3)}abc`, undefined, {
      headers: { "accept-language": "de" },
    });
    expect([bad.status, bad.text]).toEqual([
      404,
      expect.stringContaining("Dieser Link funktioniert nicht"),
    ]);
  }
});
