import { describe, expect, inject, test } from "vitest";
import { expectStatus, request, signedUp, type TestClient } from "../support/api-client.ts";
import {
  createSendingClient,
  isLocalService,
  listInbox,
  runUntilIdle,
} from "../support/sending-client.ts";
import { waitFor } from "../support/wait-for.ts";

interface Named {
  id: number;
  name: string;
}
interface Contact {
  id: number;
  siteId: number;
  email: string;
  firstName: string | null;
  status: string;
  tags: Named[];
  lists: Named[];
  customFields: Record<string, unknown>;
  score: number;
  createdAt: string;
  updatedAt: string;
}
interface Listed {
  contacts: Contact[];
  pagination: { total: number | null; totalPages: number | null; nextCursor: string | null };
}
interface Bulk {
  created: number;
  updated: number;
  failed: number;
  results: {
    index: number;
    id: number | null;
    email: string;
    outcome: string;
    error: string | null;
  }[];
}
interface Score {
  score: number;
  log: { delta: number; reason: string | null; rule: unknown }[];
  nextCursor: string | null;
}

const make = async ({ call }: TestClient, email: string, more: object = {}) =>
  expectStatus(201, await call<Contact>("POST", "/contacts", { email, ...more })).body.data;
const list = async ({ call }: TestClient, query: string) =>
  expectStatus(200, await call<Listed>("GET", `/contacts?${query}`)).body.data;
const emails = ({ contacts }: Listed) => contacts.map(({ email }) => email);
const save = async ({ call }: TestClient, contacts: unknown[], more: object = {}) =>
  expectStatus(200, await call<Bulk>("POST", "/contacts/bulk", { contacts, ...more })).body.data;

const full = {
  email: "Ann.Example@Example.com",
  firstName: "Ann",
  lastName: "Example",
  phone: "+1 555 0100",
  company: "Example Ltd",
  locale: "pt-BR",
  timezone: "Europe/Berlin",
  customFields: { plan: "pro", seats: 3, trial: false, left: null },
  source: "fair",
};

describe("one contact", () => {
  test("has its language in canonical spelling, which segments compare", async () => {
    const client = await signedUp();
    const { id } = await make(client, "ann@example.com", { locale: "pt_br" });
    await make(client, "bob@example.com", { locale: "de" });
    await make(client, "cleo@example.com");
    const conditions = [{ field: "locale", operator: "startsWith", value: "pt" }];
    const count = await client.call<{ contactCount: number }>("POST", "/segments/preview-count", {
      siteId: client.siteId,
      rules: { match: "all", conditions },
    });
    expect(expectStatus(200, count).body.data).toMatchObject({ contactCount: 1 });
    const change = (locale: unknown) => client.call("PUT", `/contacts/${id}`, { locale });
    for (const bad of ["German", "", "p", "pt BR", "x".repeat(36), 7])
      expect(await change(bad)).toMatchObject({
        status: 400,
        body: { details: [{ path: "locale" }] },
      });
    expect(expectStatus(200, await change(null)).body.data).toMatchObject({ locale: null });
  });

  test("is created with all fields, found and listed", async () => {
    const client = await signedUp();
    const { id: listId } = expectStatus(
      201,
      await client.call<Named>("POST", "/lists", { name: "News" }),
    ).body.data;
    const made = await make(client, full.email, {
      ...full,
      tags: ["Customer", "customer", "new"],
      lists: [listId],
    });
    const stamp = expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/);
    expect(made).toEqual({
      ...full,
      externalId: null,
      id: expect.any(Number),
      siteId: client.siteId,
      status: "subscribed",
      tags: expect.toSatisfy(
        (tags: Named[]) =>
          tags
            .map(({ name }) => name)
            .toSorted()
            .join() === "Customer,new",
      ),
      lists: [{ id: listId, name: "News" }],
      topics: [],
      score: 0,
      sendCount: 0,
      openCount: 0,
      clickCount: 0,
      lastSentAt: null,
      lastOpenedAt: null,
      lastClickedAt: null,
      snoozedUntil: null,
      createdAt: stamp,
      updatedAt: stamp,
    });
    expect(expectStatus(200, await client.call("GET", `/contacts/${made.id}`)).body.data).toEqual(
      made,
    );
    expect(await list(client, `siteId=${client.siteId}`)).toMatchObject({
      contacts: [made],
      pagination: { total: 1, nextCursor: null },
    });
    expect(expectStatus(200, await client.call("GET", `/lists/${listId}`)).body.data).toMatchObject(
      { contactCount: 1 },
    );
  });

  test("is unique by its address, ignoring case: a second one is a 409", async () => {
    const client = await signedUp();
    await make(client, "ann@example.com");
    expect(await client.call("POST", "/contacts", { email: "ANN@example.com" })).toMatchObject({
      status: 409,
      body: { code: "email_exists" },
    });
    const bea = await make(client, "bea@example.com");
    const stolen = await client.call("PUT", `/contacts/${bea.id}`, { email: "Ann@Example.com" });
    expect(stolen).toMatchObject({ status: 409, body: { code: "email_exists" } });
  });

  test("changes the given fields only; null clears a field or one custom field", async () => {
    const client = await signedUp();
    const { id, ...before } = await make(client, full.email, full);
    const change = {
      firstName: null,
      email: "new@example.com",
      customFields: { seats: 4, more: "x" },
      status: "unsubscribed",
    };
    const changed = expectStatus(200, await client.call<Contact>("PUT", `/contacts/${id}`, change))
      .body.data;
    expect(changed).toEqual({
      ...before,
      ...change,
      id,
      customFields: { ...full.customFields, seats: 4, more: "x" },
      updatedAt: expect.any(String),
    });
    expect((await client.call("GET", `/contacts/${id}`)).body.data).toEqual(changed);
    expect(
      (await client.call<Contact>("PUT", `/contacts/${id}`, { customFields: null })).body.data
        .customFields,
    ).toEqual({});
    expect(await list(client, "search=new@example")).toMatchObject({ contacts: [{ id }] });
    expect(emails(await list(client, "search=ann.example"))).toEqual([]);
  });

  test("does not exist after its deletion, and its address can be used again", async () => {
    const client = await signedUp();
    const { id, tags } = await make(client, "ann@example.com", { tags: ["a"] });
    expect(await client.call("DELETE", `/contacts/${id}`)).toMatchObject({
      status: 200,
      body: { data: { id, deleted: true } },
    });
    for (const [method, path, body] of [
      ["GET", "", undefined],
      ["PUT", "", {}],
      ["DELETE", "", undefined],
      ["GET", "/score", undefined],
      ["POST", "/tags", { name: "x" }],
    ] as const)
      expect((await client.call(method, `/contacts/${id}${path}`, body)).status).toBe(404);
    expect(await list(client, "")).toMatchObject({ contacts: [], pagination: { total: 0 } });
    expect(await list(client, `tagId=${tags[0]!.id}`)).toMatchObject({
      contacts: [],
      pagination: { total: 0 },
    });
    expect((await make(client, "ann@example.com")).id).not.toBe(id);
  });

  test.each([
    ["email", { email: "nobody" }],
    ["email", {}],
    ["firstName", { email: "a@example.com", firstName: "x".repeat(201) }],
    ["timezone", { email: "a@example.com", timezone: "Mars/Olympus" }],
    ["status", { email: "a@example.com", status: "suppressed" }],
    [
      "customFields",
      {
        email: "a@example.com",
        customFields: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`f${i}`, i])),
      },
    ],
    ["customFields.a", { email: "a@example.com", customFields: { a: { b: 1 } } }],
    ["lists.0", { email: "a@example.com", lists: ["x"] }],
  ])("with a bad %s is refused", async (path, body) => {
    const { call } = await signedUp();
    expect(await call("POST", "/contacts", body)).toMatchObject({
      status: 400,
      body: { details: [{ path }] },
    });
  });

  test("accepts 20 tags and rejects 21; an unknown list is a 404, a list of another site a 400", async () => {
    const client = await signedUp();
    const tags = Array.from({ length: 21 }, (_, i) => `t${i}`);
    expect((await make(client, "ann@example.com", { tags: tags.slice(1) })).tags).toHaveLength(20);
    expect(await client.call("POST", "/contacts", { email: "b@example.com", tags })).toMatchObject({
      status: 400,
      body: { code: "limit_exceeded" },
    });
    expect(
      (await client.call("POST", "/contacts", { email: "b@example.com", lists: [99_999_999] }))
        .status,
    ).toBe(404);
    const other = expectStatus(201, await client.call<Named>("POST", "/sites", { name: "Other" }))
      .body.data.id;
    const elsewhere = expectStatus(
      201,
      await client.call<Named>("POST", "/lists", { name: "News", siteId: other }),
    ).body.data.id;
    const body = { email: "b@example.com", siteId: client.siteId, lists: [elsewhere] };
    expect(await client.call("POST", "/contacts", body)).toMatchObject({
      status: 400,
      body: { details: [{ path: "lists" }] },
    });
  });

  test("is not visible to a key of another site", async () => {
    const client = await signedUp();
    const { id } = await make(client, "ann@example.com");
    const other = expectStatus(201, await client.call<Named>("POST", "/sites", { name: "Other" }))
      .body.data.id;
    const as = { key: await client.newKey({ siteId: other }) };
    expect(await client.call("GET", `/contacts/${id}`, undefined, { as })).toMatchObject({
      status: 403,
      body: { code: "site_forbidden" },
    });
    expect(
      (await client.call<Listed>("GET", "/contacts", undefined, { as })).body.data.contacts,
    ).toEqual([]);
    expect(
      (await client.call("GET", `/contacts?siteId=${client.siteId}`, undefined, { as })).status,
    ).toBe(403);
    expect(
      expectStatus(
        201,
        await client.call<Contact>("POST", "/contacts", { email: "a@x.com" }, { as }),
      ).body.data.siteId,
    ).toBe(other);
  });

  test("is created once by requests with the same Idempotency-Key", async () => {
    const client = await signedUp();
    const headers = { "idempotency-key": "ann" };
    const first = expectStatus(
      201,
      await client.call<Contact>("POST", "/contacts", { email: "ann@example.com" }, { headers }),
    );
    const again = expectStatus(
      201,
      await client.call<Contact>("POST", "/contacts", { email: "ann@example.com" }, { headers }),
    );
    expect(again.body.data).toEqual(first.body.data);
  });
});

describe("lists of contacts", () => {
  test("are newest first, in pages by number and by cursor, with an exact total", async () => {
    const client = await signedUp();
    const made: string[] = [];
    for (let i = 0; i < 7; i++) made.unshift((await make(client, `p${i}@example.com`)).email);
    const pages = await Promise.all([1, 2, 3].map((page) => list(client, `limit=3&page=${page}`)));
    expect(pages.flatMap(emails)).toEqual(made);
    expect(pages[0]!.pagination).toMatchObject({ total: 7, totalPages: 3 });
    const byCursor = await list(client, `limit=3&cursor=${pages[0]!.pagination.nextCursor}`);
    expect(emails(byCursor)).toEqual(made.slice(3, 6));
    expect(pages[2]!.pagination.nextCursor).toBe(null);
    expect((await client.call("GET", "/contacts?cursor=bm90LW91cnM")).status).toBe(400);
    expect((await client.call("GET", "/contacts?page=101&limit=100")).status).toBe(400);
  });

  test("find a part of the address or name, in order of the address, and combine filters", async () => {
    const client = await signedUp();
    const rows = [
      { email: "zoe@acme.com", firstName: "Zoë", tags: ["vip"] },
      { email: "ann@acme.com", firstName: "Ann", lastName: "McKay" },
      {
        email: "bob@other.com",
        firstName: "Bob",
        lastName: "Acmeson",
        status: "unsubscribed",
        tags: ["vip"],
      },
    ];
    await save(client, rows);
    const tagId = (await list(client, "search=zoe")).contacts[0]!.tags[0]!.id;
    expect(emails(await list(client, "search=ACME"))).toEqual([
      "ann@acme.com",
      "bob@other.com",
      "zoe@acme.com",
    ]);
    expect(emails(await list(client, "search=mckay"))).toEqual(["ann@acme.com"]);
    expect(emails(await list(client, `search=${encodeURIComponent("ann mc")}`))).toEqual([
      "ann@acme.com",
    ]);
    expect(await list(client, "status=unsubscribed")).toMatchObject({
      contacts: [{ email: "bob@other.com" }],
      pagination: { total: null },
    });
    expect(await list(client, `tagId=${tagId}`)).toMatchObject({
      contacts: [{}, {}],
      pagination: { total: 2 },
    });
    expect(emails(await list(client, `tagId=${tagId}&status=subscribed`))).toEqual([
      "zoe@acme.com",
    ]);
    const first = await list(client, "search=acme&limit=2");
    expect(
      emails(await list(client, `search=acme&limit=2&cursor=${first.pagination.nextCursor}`)),
    ).toEqual(["zoe@acme.com"]);
    expect((await client.call("GET", "/contacts?tagId=99999999")).status).toBe(404);
    expect((await client.call("GET", "/contacts?status=gone")).status).toBe(400);
    expect((await client.call("GET", `/contacts?search=${"x".repeat(201)}`)).status).toBe(400);
  });

  test("show the contacts of a segment", async () => {
    const client = await signedUp();
    await save(client, [{ email: "ann@acme.com", company: "Acme" }, { email: "bob@acme.com" }]);
    const rules = {
      match: "all",
      conditions: [{ field: "company", operator: "equals", value: "acme" }],
    };
    const { id } = expectStatus(
      201,
      await client.call<Named>("POST", "/segments", { name: "Acme", rules }),
    ).body.data;
    expect(emails(await list(client, `segmentId=${id}`))).toEqual(["ann@acme.com"]);
    expect(emails(await list(client, `segmentId=${id}&search=bob`))).toEqual([]);
  });

  test("cover all sites of the organization without siteId, also with a search", async () => {
    const client = await signedUp();
    const other = expectStatus(201, await client.call<Named>("POST", "/sites", { name: "Other" }))
      .body.data.id;
    await make(client, "ann@example.com", { siteId: client.siteId });
    await make(client, "ann@example.com", { siteId: other });
    expect(await list(client, "")).toMatchObject({
      contacts: [{ siteId: other }, { siteId: client.siteId }],
      pagination: { total: 2 },
    });
    expect(await list(client, `siteId=${other}`)).toMatchObject({
      contacts: [{ siteId: other }],
      pagination: { total: 1 },
    });
    expect(emails(await list(client, "search=ann"))).toEqual([
      "ann@example.com",
      "ann@example.com",
    ]);
  });
});

describe("bulk", () => {
  test.each(["siteId", "site_id", "site"])(
    "creates and changes contacts in the site given by %s; an invalid row fails alone",
    async (name) => {
      const client = await signedUp();
      const existing = await make(client, "there@example.com", {
        firstName: "Old",
        tags: ["a"],
        customFields: { x: 1 },
      });
      const { id: listId } = expectStatus(
        201,
        await client.call<Named>("POST", "/lists", { name: "News" }),
      ).body.data;
      const saved = await save(
        client,
        [
          { email: "new@example.com", tags: ["b"], lists: [listId] },
          { email: "nobody" },
          { email: "There@example.com", firstName: "New", tags: ["b"], customFields: { y: 2 } },
          { email: "NEW@example.com", lastName: "Person", tags: ["c"] },
          { email: "lost@example.com", lists: [99_999_999] },
          "text",
        ],
        { [name]: client.siteId },
      );
      expect(saved).toMatchObject({ created: 1, updated: 2, failed: 3 });
      expect(saved.results.map(({ outcome }) => outcome)).toEqual([
        "created",
        "failed",
        "updated",
        "updated",
        "failed",
        "failed",
      ]);
      expect(saved.results.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
      expect(saved.results[1]).toMatchObject({
        id: null,
        email: "nobody",
        error: "email: must be one valid email address",
      });
      expect(saved.results[2]!.id).toBe(existing.id);
      expect(saved.results[3]!.id).toBe(saved.results[0]!.id);
      const names = (tags: Named[]) => tags.map((tag) => tag.name).toSorted();
      const changed = expectStatus(
        200,
        await client.call<Contact>("GET", `/contacts/${existing.id}`),
      ).body.data;
      expect(changed).toMatchObject({
        email: "there@example.com",
        firstName: "New",
        customFields: { x: 1, y: 2 },
      });
      expect(names(changed.tags)).toEqual(["a", "b"]);
      const made = expectStatus(
        200,
        await client.call<Contact>("GET", `/contacts/${saved.results[0]!.id}`),
      ).body.data;
      expect(made).toMatchObject({ lastName: "Person", lists: [{ id: listId }] });
      expect(names(made.tags)).toEqual(["b", "c"]);
      expect((await list(client, "")).pagination.total).toBe(2);
    },
  );

  test("returns a warning for unknown fields of a row", async () => {
    const client = await signedUp();
    const contacts = [
      { email: "ann@example.com", city: "Rome" },
      { email: "nobody", town: 1 },
      { email: "bob@example.com", first_name: "Bob" },
    ];
    const { body } = expectStatus(200, await client.call("POST", "/contacts/bulk", { contacts }));
    expect(body).toMatchObject({
      data: { created: 2, failed: 1 },
      warnings: ["Ignored fields: contacts.0.city, contacts.2.first_name"],
    });
    expect(
      expectStatus(
        200,
        await client.call("POST", "/contacts/bulk", {
          contacts: [{ email: "ann@example.com", firstName: "Ann" }],
        }),
      ).body,
    ).not.toHaveProperty("warnings");
  });

  test("accepts 1 to 100 rows", async () => {
    const client = await signedUp();
    const rows = Array.from({ length: 101 }, (_, i) => ({ email: `p${i}@example.com` }));
    expect(await client.call("POST", "/contacts/bulk", { contacts: rows })).toMatchObject({
      status: 400,
      body: { code: "limit_exceeded" },
    });
    expect((await client.call("POST", "/contacts/bulk", { contacts: [] })).status).toBe(400);
    expect(await save(client, rows.slice(1))).toMatchObject({ created: 100 });
    expect(await save(client, rows.slice(1))).toMatchObject({ updated: 100 });
    expect((await list(client, "")).pagination.total).toBe(100);
  });

  test("resubscribes unsubscribed and suppressed contacts only on request", async () => {
    const client = await signedUp();
    const unsubscribed = await make(client, "gone@example.com", { status: "unsubscribed" });
    const bounced = await make(client, "bounced@example.com");
    expectStatus(
      201,
      await client.call("POST", "/suppressions", {
        email: "bounced@example.com",
        reason: "bounce",
      }),
    );
    const statuses = async () =>
      Promise.all(
        [unsubscribed, bounced].map(
          async ({ id }) => (await client.call<Contact>("GET", `/contacts/${id}`)).body.data.status,
        ),
      );
    const rows = [
      { email: "gone@example.com", status: "subscribed", firstName: "G" },
      { email: "bounced@example.com", status: "subscribed" },
    ];
    await save(client, rows);
    expect(await statuses()).toEqual(["unsubscribed", "suppressed"]);
    const as = { key: await client.newKey({ siteId: client.siteId }) };
    expectStatus(
      200,
      await client.call(
        "POST",
        "/contacts/bulk",
        { contacts: [rows[1]], resubscribe: true },
        { as },
      ),
    );
    expect(await statuses()).toEqual(["unsubscribed", "suppressed"]);
    await save(client, rows, { resubscribe: true });
    expect(await statuses()).toEqual(["subscribed", "subscribed"]);
    expect(
      (await client.call<{ suppressed: boolean }>("GET", "/suppressions/check/bounced@example.com"))
        .body.data.suppressed,
    ).toBe(false);
  });
});

describe("tags of a contact", () => {
  test("are applied by name or id, and removed; both are idempotent", async () => {
    const client = await signedUp();
    const { id } = await make(client, "ann@example.com");
    const apply = async (body: object) =>
      expectStatus(
        200,
        await client.call<{ tag: Named; applied: boolean }>("POST", `/contacts/${id}/tags`, body),
      ).body.data;
    const { tag, applied } = await apply({ name: " VIP " });
    expect([tag.name, applied]).toEqual(["VIP", true]);
    expect(await apply({ name: "vip" })).toEqual({ tag, applied: false });
    expect(await apply({ tagId: tag.id })).toEqual({ tag, applied: false });
    expect(await list(client, `tagId=${tag.id}`)).toMatchObject({
      contacts: [{ id, tags: [tag] }],
      pagination: { total: 1 },
    });
    for (let i = 0; i < 2; i++)
      expect(await client.call("DELETE", `/contacts/${id}/tags/${tag.id}`)).toMatchObject({
        status: 200,
        body: { data: { id: tag.id, deleted: true } },
      });
    expect(await list(client, `tagId=${tag.id}`)).toMatchObject({
      contacts: [],
      pagination: { total: 0 },
    });
    expect((await client.call("POST", `/contacts/${id}/tags`, { tagId: 99_999_999 })).status).toBe(
      404,
    );
    expect((await client.call("POST", `/contacts/${id}/tags`, {})).status).toBe(400);
  });
});

describe("the score of a contact", () => {
  test("changes by a delta or to a value, and its log has each change", async () => {
    const client = await signedUp();
    const { id } = await make(client, "ann@example.com");
    const change = async (body: object) =>
      expectStatus(200, await client.call<Score>("POST", `/contacts/${id}/score`, body)).body.data;
    expect(await change({ delta: 10, reason: "Fair" })).toMatchObject({ score: 10 });
    expect(await change({ score: 3 })).toMatchObject({ score: 3 });
    const changed = await change({ delta: -5 });
    expect(changed).toMatchObject({
      score: -2,
      log: [{ delta: -5, reason: null, rule: null }, { delta: -7 }, { delta: 10, reason: "Fair" }],
    });
    expect((await client.call<Contact>("GET", `/contacts/${id}`)).body.data.score).toBe(-2);
    const first = expectStatus(
      200,
      await client.call<Score>("GET", `/contacts/${id}/score?limit=2`),
    ).body.data;
    const rest = expectStatus(
      200,
      await client.call<Score>("GET", `/contacts/${id}/score?limit=2&cursor=${first.nextCursor}`),
    ).body.data;
    expect([...first.log, ...rest.log]).toEqual(changed.log);
  });

  test.each([
    {},
    { delta: 1.5 },
    { delta: 1_000_001 },
    { score: "x" },
    { delta: 1, reason: "x".repeat(301) },
  ])("refuses %j", async (body) => {
    const client = await signedUp();
    const { id } = await make(client, "ann@example.com");
    expect((await client.call("POST", `/contacts/${id}/score`, body)).status).toBe(400);
  });

  test("a repeated change with one Idempotency-Key counts once", async () => {
    const client = await signedUp();
    const { id } = await make(client, "ann@example.com");
    const headers = { "idempotency-key": "once" };
    for (let i = 0; i < 2; i++)
      expectStatus(
        200,
        await client.call("POST", `/contacts/${id}/score`, { delta: 4 }, { headers }),
      );
    expect((await client.call<Score>("GET", `/contacts/${id}/score`)).body.data).toMatchObject({
      score: 4,
      log: [{}],
    });
  });
});

describe("a person's data", () => {
  test("can be exported as JSON and erased", async () => {
    const client = await signedUp();
    const { id } = await make(client, "ann@example.com", { firstName: "Ann" });
    expectStatus(200, await client.call("POST", `/contacts/${id}/score`, { delta: 2 }));
    const personalData = expectStatus(200, await client.call("GET", `/contacts/${id}/export`));
    expect(personalData.headers.get("content-disposition")).toContain(`contact-${id}.json`);
    expect(personalData.body.data).toMatchObject({
      contact: { id, firstName: "Ann" },
      scoreLog: [{ delta: 2 }],
      sends: [],
      complete: true,
    });
    expect((await client.call("DELETE", `/contacts/${id}?erase=perhaps`)).status).toBe(400);
    expect(await client.call("DELETE", `/contacts/${id}?erase=true`)).toMatchObject({
      status: 200,
      body: { data: { id, deleted: true } },
    });
    expect((await client.call("GET", `/contacts/${id}/export`)).status).toBe(404);
    const { suppressions } = expectStatus(
      200,
      await client.call<{ suppressions: { email: string }[] }>("GET", "/suppressions"),
    ).body.data;
    expect(suppressions).toMatchObject([{ email: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) }]);
    expect(
      (await client.call("GET", "/suppressions/check/ann@example.com")).body.data,
    ).toMatchObject({ suppressed: true });
  });

  test("can be exported and erased by email address, without a contact", async () => {
    const client = await signedUp();
    const path = `/contacts/by-email/${encodeURIComponent("Ann+1@example.com")}`;
    const data = expectStatus(200, await client.call("GET", `${path}/export`));
    expect(data.headers.get("content-disposition")).toContain("person.json");
    const nothing = { contacts: [], sends: [], unmatchedEvents: [], suppression: null };
    expect(data.body.data).toEqual({ email: "ann+1@example.com", ...nothing, complete: true });
    await make(client, "ann+1@example.com");
    expect((await client.call("DELETE", path)).body.data).toEqual({
      ...{ id: "ann+1@example.com", deleted: true, contacts: 1, unfinishedSends: 0 },
    });
    expect((await client.call("DELETE", path)).body.data).toMatchObject({ contacts: 0 });
    expect((await client.call("GET", `${path}/export`)).body.data).toMatchObject({
      contacts: [],
      suppression: { email: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
    });
    for (const method of ["GET", "DELETE"] as const) {
      const wrong = method === "GET" ? "/contacts/by-email/ann/export" : "/contacts/by-email/ann";
      expect((await client.call(method, wrong)).status, method).toBe(400);
      const as = { key: await client.newKey({ siteId: client.siteId }) };
      const own = method === "GET" ? `${path}/export` : path;
      const refused = await client.call(method, own, undefined, { as });
      expect([refused.status, refused.body.code], method).toEqual([403, "site_forbidden"]);
    }
    const [, , entry] = (
      await client.call<{ entries: { action: string; target: string }[] }>("GET", "/audit-log")
    ).body.data.entries.toReversed();
    expect(JSON.stringify(entry)).not.toContain("ann");
  });

  test("include the sends to the contact, which stay without personal data after the erasure", async () => {
    const client = await signedUp();
    const sandbox = (await (await fetch(`${inject("baseUrl")}/_local/sandbox`)).json()) as {
      data: { providers: Record<string, { credentials: object }> };
    };
    const config = {
      provider: "postmark",
      fromEmail: "me@shop.example",
      fromName: "Me",
      credentials: sandbox.data.providers.postmark!.credentials,
    };
    expectStatus(201, await client.call("POST", "/sending-configs", config));
    const { id } = await make(client, "ann@example.com");
    const mail = {
      to: "Ann@example.com",
      fromEmail: "me@shop.example",
      subject: "Hello Ann",
      html: "<p>Hi</p>",
    };
    const send = expectStatus(202, await client.call<{ id: number }>("POST", "/send", mail)).body
      .data;
    const batch = {
      fromEmail: "me@shop.example",
      subject: "Hello",
      html: "<p>Hi</p>",
      recipients: [{ to: "ann@example.com" }, { to: "bob@example.com" }],
    };
    expectStatus(202, await client.call("POST", "/send/batch", batch));
    const counted = async () =>
      expectStatus(200, await client.call<{ sendCount: number }>("GET", `/contacts/${id}`)).body
        .data.sendCount;
    await waitFor(async () => expect(await counted()).toBe(2));
    const { sends } = expectStatus(
      200,
      await client.call<{ sends: { id: number }[] }>("GET", `/contacts/${id}/export`),
    ).body.data;
    expect(sends).toHaveLength(2);
    expect(sends.find((one) => one.id === send.id)).toMatchObject({
      subject: "Hello Ann",
      toEmail: "Ann@example.com",
    });
    expectStatus(200, await client.call("DELETE", `/contacts/${id}?erase=true`));
    for (const one of sends) {
      const text = JSON.stringify(
        expectStatus(200, await client.call("GET", `/sends/${one.id}`)).body.data,
      );
      expect(text.toLowerCase()).not.toContain("ann");
    }
  });
});

test("a contact of a request is asked to confirm, and the button of the page subscribes it", async ({
  skip,
}) => {
  if (!(await isLocalService())) skip();
  const client = await createSendingClient();
  const asked = { email: `ann-${crypto.randomUUID().slice(0, 8)}@example.com` };
  const pending = { ...asked, status: "pending", sendConfirmation: true };
  const create = (body: object) => client.call<{ id: number }>("POST", "/contacts", body);
  expect(await create(pending)).toMatchObject({ status: 400, body: { code: "no_sending_config" } });
  expectStatus(200, await client.call("POST", `/sending-configs/${client.configId}/verify`));
  expect(await create({ ...asked, sendConfirmation: true })).toMatchObject({
    status: 400,
    body: { details: [{ path: "sendConfirmation" }] },
  });
  const { id } = expectStatus(201, await create(pending)).body.data;
  await runUntilIdle();
  const [mail, ...others] = await listInbox(asked.email);
  expect(others).toEqual([]);
  const [link = ""] = /http:\S+\/forms\/confirm\/[\w-]+/.exec(mail!.text ?? "") ?? [];
  const path = link.slice(link.indexOf("/forms/"));
  const status = async () =>
    (await client.call<{ status: string }>("GET", `/contacts/${id}`)).body.data.status;
  expect((await request("GET", path)).status).toBe(200);
  expect(await status()).toBe("pending");
  expect((await request("POST", path)).status).toBe(200);
  expect(await status()).toBe("subscribed");
  expect((await client.call("GET", `/contacts/${id}/topics`)).body.data).toMatchObject({
    confirmation: { status: "confirmed", source: "api" },
    log: [{ source: "confirmation", status: "subscribed" }],
  });
  expect(await client.call("POST", `/contacts/${id}/confirmation`)).toMatchObject({
    status: 409,
    body: { code: "not_pending" },
  });
});
