import { expect, test } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";

interface Segment {
  id: number;
  rules: object;
  contactCount: number;
}
interface Page {
  contacts: { id: number; email: string }[];
  pagination: { nextCursor: string | null; total: number | null };
}

const pro = {
  match: "all",
  conditions: [{ field: "customFields.plan", operator: "equals", value: "pro" }],
};
const newContact = async ({ call }: TestClient, email: string, more: object = {}) =>
  expectStatus(201, await call<{ id: number }>("POST", "/contacts", { email, ...more })).body.data
    .id;
const newSegment = async ({ call }: TestClient, rules: object = pro) =>
  expectStatus(201, await call<Segment>("POST", "/segments", { name: "Pro", rules })).body.data.id;

test("a segment is created, listed, counted, changed and deleted", async () => {
  const client = await signedUp();
  const { call, siteId } = client;
  const made = await call<Segment>("POST", "/segments", {
    name: "Pro",
    description: "They pay",
    rules: pro,
  });
  expect(made.status).toBe(201);
  const { id } = made.body.data;
  const segment = {
    id,
    siteId,
    name: "Pro",
    description: "They pay",
    rules: pro,
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  };
  expect(made.body.data).toEqual(segment);
  expect((await call("GET", `/segments?siteId=${siteId}`)).body.data).toMatchObject({
    segments: [segment],
  });
  await newContact(client, "ann@x.com", { customFields: { plan: "Pro" } });
  expect((await call("GET", `/segments/${id}`)).body.data).toEqual({
    ...segment,
    contactCount: 1,
    countedAt: expect.any(String),
    missing: [],
  });

  const noMatch = {
    match: "any",
    conditions: [{ field: "score", operator: "greaterThan", value: 1000 }],
  };
  expect((await call("PUT", `/segments/${id}`, { rules: noMatch })).body.data).toEqual({
    ...segment,
    rules: noMatch,
  });
  expect((await call<Segment>("GET", `/segments/${id}`)).body.data.contactCount).toBe(0);
  expect((await call("PUT", `/segments/${id}`, { name: "None" })).body.data).toMatchObject({
    name: "None",
    rules: noMatch,
  });
  expect((await call("DELETE", `/segments/${id}`)).body.data).toEqual({ id, deleted: true });
  expect((await call("GET", `/segments/${id}`)).status).toBe(404);
});

test("every endpoint with rules rejects invalid ones with the path of the error", async () => {
  const client = await signedUp();
  const { call } = client;
  const id = await newSegment(client);
  const rules = {
    match: "all",
    conditions: [pro.conditions[0], { field: "score", operator: "contains", value: 5 }],
  };
  const refused = {
    status: 400,
    body: { code: "validation_failed", details: [{ path: "rules.conditions.1.operator" }] },
  };
  expect(await call("POST", "/segments", { name: "Bad", rules })).toMatchObject(refused);
  expect(await call("PUT", `/segments/${id}`, { rules })).toMatchObject(refused);
  expect(await call("POST", `/segments/${id}/count`, { rules })).toMatchObject(refused);
  expect(await call("POST", "/segments/preview-count", { rules })).toMatchObject(refused);
  expect(refused.body.details).toHaveLength(1);
  expect(await call("POST", "/segments", { name: "None" })).toMatchObject({
    status: 400,
    body: { details: [{ path: "rules" }] },
  });
  expect(
    (await call("POST", "/segments", { name: "Typo", rules: { ...pro, colour: "red" } })).body
      .warnings,
  ).toHaveLength(1);
});

test("rules can be counted before they are saved", async () => {
  const client = await signedUp();
  const { call } = client;
  const id = await newSegment(client);
  await Promise.all([
    newContact(client, "ann@x.com", { customFields: { plan: "pro" } }),
    newContact(client, "bob@y.com"),
  ]);
  const ends = {
    match: "all",
    conditions: [{ field: "email", operator: "endsWith", value: "@Y.com" }],
  };
  const count = { contactCount: 1, countedAt: expect.any(String) };
  expect((await call("POST", "/segments/preview-count", { rules: ends })).body.data).toEqual(count);
  expect(
    (await call("POST", "/segments/preview-count", { rules: { match: "any", conditions: [] } }))
      .body.data,
  ).toMatchObject({
    contactCount: 2,
  });
  expect((await call("POST", `/segments/${id}/count`, {})).body.data).toEqual(count);
  expect((await call("POST", `/segments/${id}/count`)).body.data).toEqual(count);
  expect(
    (
      await call("POST", `/segments/${id}/count`, {
        rules: { ...ends, conditions: [...ends.conditions, ...pro.conditions] },
      })
    ).body.data,
  ).toMatchObject({ contactCount: 0 });
});

test("the contacts of a segment are listed once each by address, and can be explained", async () => {
  const client = await signedUp();
  const { call } = client;
  const id = await newSegment(client);
  const ids = await Promise.all(
    [3, 1, 2].map((n) => newContact(client, `p${n}@x.com`, { customFields: { plan: "PRO" } })),
  );
  const bob = await newContact(client, "bob@x.com");
  const first = (await call<Page>("GET", `/segments/${id}/contacts?limit=2`)).body.data;
  expect(first.contacts.map(({ email }) => email)).toEqual(["p1@x.com", "p2@x.com"]);
  const second = (
    await call<Page>(
      "GET",
      `/segments/${id}/contacts?limit=2&cursor=${first.pagination.nextCursor}`,
    )
  ).body.data;
  expect(second).toMatchObject({
    contacts: [{ id: ids[0] }],
    pagination: { nextCursor: null, total: null },
  });

  const why = (contactId: number) => call("GET", `/segments/${id}/contacts/${contactId}`);
  expect((await why(ids[0]!)).body.data).toEqual({
    match: "all",
    matched: true,
    conditions: [{ ...pro.conditions[0], matched: true, actual: "PRO" }],
  });
  expect((await why(bob)).body.data).toMatchObject({
    matched: false,
    conditions: [{ matched: false, actual: null }],
  });
  expect((await why(999_999_999)).status).toBe(404);
});

test("a key of one site cannot read or count segments of another", async () => {
  const client = await signedUp();
  const { call } = client;
  const other = expectStatus(201, await call<{ id: number }>("POST", "/sites", { name: "Other" }))
    .body.data.id;
  const foreign = expectStatus(
    201,
    await call<Segment>("POST", "/segments", { siteId: other, name: "Foreign", rules: pro }),
  ).body.data.id;
  const as = { as: { key: await client.newKey({ siteId: client.siteId }) } };
  expect((await call("GET", "/segments", undefined, as)).body.data).toMatchObject({ segments: [] });
  const forbidden = { status: 403, body: { code: "site_forbidden" } };
  for (const path of [
    `/segments/${foreign}`,
    `/segments/${foreign}/contacts`,
    `/segments/${foreign}/contacts/1`,
    `/segments?siteId=${other}`,
  ])
    expect(await call("GET", path, undefined, as)).toMatchObject(forbidden);
  expect(await call("POST", `/segments/${foreign}/count`, {}, as)).toMatchObject(forbidden);
  expect(
    await call("POST", "/segments/preview-count", { siteId: other, rules: pro }, as),
  ).toMatchObject(forbidden);
});
