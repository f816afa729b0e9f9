import { expect, test } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";

interface Group {
  id: number;
  name: string;
  contactCount: number;
}
interface Listed {
  lists: Group[];
  tags: Group[];
  pagination: { total: number | null; nextCursor: string | null };
}
interface Found {
  contacts: { id: number; email: string; member: boolean; lists: { id: number; name: string }[] }[];
  pagination: { nextCursor: string | null };
}

const stamps = { createdAt: expect.any(String), updatedAt: expect.any(String) };
const newContact = async ({ call }: TestClient, email: string, more: object = {}) =>
  expectStatus(201, await call<{ id: number }>("POST", "/contacts", { email, ...more })).body.data
    .id;
const newList = async ({ call }: TestClient, name = "News") =>
  expectStatus(201, await call<Group>("POST", "/lists", { name })).body.data.id;

test("a list is created, read, listed, changed and deleted", async () => {
  const { call, siteId } = await signedUp();
  const made = await call<Group>("POST", "/lists", { name: " News ", description: "Weekly" });
  expect(made).toMatchObject({ status: 201 });
  const { id } = made.body.data;
  expect(made.body.data).toEqual({
    id,
    siteId,
    name: "News",
    description: "Weekly",
    contactCount: 0,
    ...stamps,
  });
  expect((await call("GET", `/lists/${id}`)).body.data).toEqual(made.body.data);
  expect((await call<Listed>("GET", `/lists?siteId=${siteId}`)).body.data).toMatchObject({
    lists: [{ id, name: "News" }],
  });

  const changed = await call<Group>("PUT", `/lists/${id}`, { description: null });
  expect(changed.body.data).toMatchObject({ name: "News", description: null });
  const nameTaken = await call("POST", "/lists", { name: "NEWS" });
  expect(nameTaken).toMatchObject({
    status: 409,
    body: { code: "list_exists", error: "The site already has a list with this name" },
  });

  expect((await call("DELETE", `/lists/${id}`)).body.data).toEqual({ id, deleted: true });
  expect((await call("GET", `/lists/${id}`)).status).toBe(404);
  expect((await call("DELETE", `/lists/${id}`)).status).toBe(404);
  expect((await call("POST", "/lists", { name: "News" })).status).toBe(201);
});

test("the name of a list is required, has at most 100 characters, and is one line", async () => {
  const { call } = await signedUp();
  expect((await call("POST", "/lists", { name: "x".repeat(100) })).status).toBe(201);
  for (const name of ["x".repeat(101), "", "  ", "a\nb", undefined, 7])
    expect(await call("POST", "/lists", { name })).toMatchObject({
      status: 400,
      body: { details: [{ path: "name" }] },
    });
  expect((await call("POST", "/lists", { name: "b", description: "x".repeat(500) })).status).toBe(
    201,
  );
  expect((await call("POST", "/lists", { name: "c", description: "x".repeat(501) })).status).toBe(
    400,
  );
});

test("contacts are searched, added to a list, and removed by body or by query", async () => {
  const client = await signedUp();
  const { call } = client;
  const [list, ann, bob] = [
    await newList(client),
    await newContact(client, "ann@shop.example", { firstName: "Anna" }),
    await newContact(client, "bob@x.com"),
  ];
  const search = async (q: string) =>
    (await call<Found>("GET", `/lists/${list}/contacts?q=${q}`)).body.data.contacts;
  expect(await search("ANN")).toMatchObject([
    { id: ann, email: "ann@shop.example", member: false },
  ]);
  expect((await call("GET", `/lists/${list}/contacts`)).body).toMatchObject({
    code: "validation_failed",
    details: [{ path: "q" }],
  });

  const add = (body: object) => call("POST", `/lists/${list}/contacts`, body);
  expect(await add({ contactId: ann })).toMatchObject({
    status: 200,
    body: { data: { added: 1, unchanged: 0, failed: [] } },
  });
  expect((await add({ contactIds: [ann, bob, bob] })).body.data).toEqual({
    added: 1,
    unchanged: 1,
    failed: [],
  });
  expect(await search("anna")).toMatchObject([
    { id: ann, member: true, lists: [{ id: list, name: "News" }] },
  ]);
  expect((await call<Group>("GET", `/lists/${list}`)).body.data.contactCount).toBe(2);

  const removed = await call("DELETE", `/lists/${list}/contacts?contactIds=${ann},${bob}`);
  expect(removed.body.data).toEqual({ removed: 2, unchanged: 0, failed: [] });
  expect((await call("DELETE", `/lists/${list}/contacts`, { contactId: ann })).body.data).toEqual({
    removed: 0,
    unchanged: 1,
    failed: [],
  });
  expect((await call("DELETE", `/lists/${list}/contacts?contactId=${bob}`)).body.data).toEqual({
    removed: 0,
    unchanged: 1,
    failed: [],
  });
  expect((await call<Group>("GET", `/lists/${list}`)).body.data.contactCount).toBe(0);
});

test("an unknown contact is a 404, or fails alone among up to 100", async () => {
  const client = await signedUp();
  const { call } = client;
  const [list, ann] = [await newList(client), await newContact(client, "ann@x.com")];
  const path = `/lists/${list}/contacts`;
  expect(await call("POST", path, { contactId: 999_999_999 })).toMatchObject({
    status: 404,
    body: { error: "The contact does not exist" },
  });
  expect((await call("POST", path, { contactIds: [ann, 999_999_999] })).body.data).toEqual({
    added: 1,
    unchanged: 0,
    failed: [{ contactId: 999_999_999, error: "The contact does not exist" }],
  });
  const many = (n: number) => ({
    contactIds: Array.from({ length: n }, (_, i) => 900_000_000 + i),
  });
  expect((await call("POST", path, many(100))).status).toBe(200);
  expect(await call("POST", path, many(101))).toMatchObject({
    status: 400,
    body: { code: "limit_exceeded", details: [{ path: "contactIds" }] },
  });
  for (const body of [
    {},
    { contactId: ann, contactIds: [ann] },
    { contactIds: [] },
    { contactId: "x" },
  ])
    expect((await call("POST", path, body)).status).toBe(400);
  expect((await call("DELETE", path)).status).toBe(400);
  expect((await call("DELETE", `${path}?contactIds=1,x`)).status).toBe(400);
  const other = expectStatus(201, await call<{ id: number }>("POST", "/sites", { name: "Other" }))
    .body.data.id;
  const otherSiteContact = await newContact(client, "s@x.com", { siteId: other });
  expect(await call("POST", path, { contactId: otherSiteContact })).toMatchObject({
    status: 400,
    body: { error: "The contact belongs to another site" },
  });
});

test("a key bound to one site can neither read nor change lists and tags of another", async () => {
  const client = await signedUp();
  const { call } = client;
  const other = expectStatus(201, await call<{ id: number }>("POST", "/sites", { name: "Other" }))
    .body.data.id;
  const own = expectStatus(
    201,
    await call<Group>("POST", "/lists", { siteId: client.siteId, name: "Own" }),
  ).body.data.id;
  const foreign = expectStatus(
    201,
    await call<Group>("POST", "/lists", { siteId: other, name: "Foreign" }),
  ).body.data.id;
  const tag = expectStatus(
    201,
    await call<Group>("POST", "/tags", { siteId: other, name: "foreign" }),
  ).body.data.id;
  const as = { as: { key: await client.newKey({ siteId: client.siteId }) } };
  expect(
    (await call<Listed>("GET", "/lists", undefined, as)).body.data.lists.map(({ id }) => id),
  ).toEqual([own]);
  for (const [method, path] of [
    ["GET", `/lists/${foreign}`],
    ["PUT", `/lists/${foreign}`],
    ["DELETE", `/lists/${foreign}`],
    ["GET", `/lists/${foreign}/contacts?q=a`],
    ["DELETE", `/tags/${tag}`],
    ["GET", `/lists?siteId=${other}`],
  ] as const)
    expect(await call(method, path, method === "PUT" ? {} : undefined, as)).toMatchObject({
      status: 403,
      body: { code: "site_forbidden" },
    });
});

test("a tag has a unique name and a count, and its deletion removes it from all contacts", async () => {
  const client = await signedUp();
  const { call, siteId } = client;
  const made = await call<Group>("POST", "/tags", { name: "VIP" });
  const { id } = made.body.data;
  expect(made).toMatchObject({ status: 201 });
  expect(made.body.data).toEqual({ id, siteId, name: "VIP", contactCount: 0, ...stamps });
  expect(await call("POST", "/tags", { name: "vip" })).toMatchObject({
    status: 409,
    body: { code: "tag_exists" },
  });
  const ann = await newContact(client, "ann@x.com", { tags: ["vip", "new"] });
  const { tags } = (await call<Listed>("GET", "/tags")).body.data;
  expect(tags.map(({ name, contactCount }) => [name, contactCount])).toEqual([
    ["new", 1],
    ["VIP", 1],
  ]);
  expect((await call("DELETE", `/tags/${id}`)).body.data).toEqual({ id, deleted: true });
  expect((await call<{ tags: Group[] }>("GET", `/contacts/${ann}`)).body.data.tags).toEqual([
    { id: tags[0]!.id, name: "new" },
  ]);
  expect((await call<Listed>("GET", "/tags")).body.data.tags).toHaveLength(1);
});

test("a list in use is deleted, but not with ifUnused=true, and the error names what uses it", async () => {
  const client = await signedUp();
  const id = await newList(client);
  const rules = { match: "all", conditions: [{ field: "list", operator: "equals", value: id }] };
  const segment = expectStatus(
    201,
    await client.call<Group>("POST", "/segments", { name: "Readers", rules }),
  ).body.data;
  const refused = await client.call("DELETE", `/lists/${id}?ifUnused=true`);
  expect(refused).toMatchObject({
    status: 409,
    body: {
      code: "in_use",
      details: [
        {
          path: `segments.${segment.id}`,
          message: `segment ${segment.id} "Readers" asks for it in its rules`,
        },
      ],
    },
  });
  expect((await client.call("GET", `/lists/${id}`)).status).toBe(200);
  const message = `The deleted list was in use: segment ${segment.id} "Readers" asks for it in its rules`;
  expect(await client.call("DELETE", `/lists/${id}`)).toMatchObject({
    status: 200,
    body: { data: { id, deleted: true }, warnings: [message] },
  });
  expect((await client.call("GET", `/segments/${segment.id}`)).body.data).toMatchObject({
    missing: [{ path: "rules.conditions.0.value", message: `list ${id} no longer exists` }],
  });
});

test("lists and tags are found by a part of their name, whatever its case and accents", async () => {
  const { call, siteId } = await signedUp();
  for (const name of ["Müller & Söhne", "VIP", "News"])
    for (const group of ["lists", "tags"]) await call("POST", `/${group}`, { name });
  const find = async (group: "lists" | "tags", search: string) => {
    const query = new URLSearchParams({ siteId: String(siteId), search });
    const { data } = expectStatus(200, await call<Listed>("GET", `/${group}?${query}`)).body;
    return [data[group].map(({ name }) => name), data.pagination.total];
  };
  for (const group of ["lists", "tags"] as const) {
    expect(await find(group, "MULLER")).toEqual([["Müller & Söhne"], null]);
    expect(await find(group, "söhne")).toEqual([["Müller & Söhne"], null]);
    expect(await find(group, "w")).toEqual([["News"], null]);
    expect(await find(group, "%")).toEqual([[], null]);
    const page = await call<Listed>("GET", `/${group}?limit=1&search=i`);
    expect(page.body.data[group].map(({ name }) => name)).toEqual(["VIP"]);
  }
  expect((await call("GET", `/tags?search=${"x".repeat(201)}`)).status).toBe(400);
});
