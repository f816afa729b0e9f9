import { expect, test } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";

interface Rule {
  id: number;
  name: string;
  updatedAt: string;
}
type Listed = { rules: Rule[]; pagination: { total: number | null } };

const full = {
  name: "Looked at prices",
  trigger: "page_view",
  match: { url: "/pricing" },
  points: 5,
  active: false,
};
const make = async ({ call }: TestClient, body: object = full) =>
  expectStatus(201, await call<Rule>("POST", "/scoring/rules", body)).body.data;

test("a rule is created with all fields, or with the required ones", async () => {
  const client = await signedUp();
  const made = await make(client);
  const stamps = {
    createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    updatedAt: expect.any(String),
  };
  expect(made).toEqual({ id: expect.any(Number), siteId: client.siteId, ...full, ...stamps });
  expect((await client.call("GET", `/scoring/rules/${made.id}`)).body.data).toEqual({
    ...made,
    missing: [],
  });
  expect(
    await make(client, { name: "Opened", trigger: "email_open", points: -1000 }),
  ).toMatchObject({
    match: null,
    active: true,
    points: -1000,
  });
});

test("an update changes the given fields only; a deleted rule does not exist any more", async () => {
  const client = await signedUp();
  const { updatedAt: _, ...made } = await make(client);
  const changed = await client.call<Rule>("PUT", `/scoring/rules/${made.id}`, {
    points: 1000,
    match: null,
  });
  expect(changed).toMatchObject({
    status: 200,
    body: { data: { ...made, points: 1000, match: null } },
  });
  expect((await client.call("DELETE", `/scoring/rules/${made.id}`)).body.data).toEqual({
    id: made.id,
    deleted: true,
  });
  for (const method of ["GET", "DELETE"])
    expect((await client.call(method, `/scoring/rules/${made.id}`)).status).toBe(404);
  expect((await client.call("PUT", `/scoring/rules/${made.id}`, { points: 1 })).status).toBe(404);
});

test("rules are listed newest first, for all sites or one", async () => {
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
    await make(client, { ...full, name, siteId });
  const names = async (path: string, key?: string) =>
    expectStatus(
      200,
      await client.call<Listed>("GET", path, undefined, key ? { as: { key } } : {}),
    ).body.data.rules.map(({ name }) => name);
  expect(await names("/scoring/rules")).toEqual(["c", "b", "a"]);
  expect(await names(`/scoring/rules?siteId=${client.siteId}`)).toEqual(["c", "a"]);
  const bound = await client.newKey({ siteId: blog });
  expect(await names("/scoring/rules", bound)).toEqual(["b"]);
  expect(
    (
      await client.call("GET", `/scoring/rules?siteId=${client.siteId}`, undefined, {
        as: { key: bound },
      })
    ).status,
  ).toBe(403);
});

test.each([
  ["name", { name: " " }],
  ["name", { name: "x".repeat(101) }],
  ["trigger", { trigger: "email_sent" }],
  ["points", { points: 1001 }],
  ["points", { points: -1001 }],
  ["points", { points: 1.5 }],
  ["match", { match: { colour: "red" } }],
  ["match.url", { match: { url: "" } }],
  ["match.url", { match: { url: "x".repeat(501) } }],
  ["match.formId", { match: { formId: 3 } }],
  ["match.formId", { match: { formId: "3" } }],
])("a rule with a bad %s is refused, also as a change", async (path, bad) => {
  const client = await signedUp();
  const refused = { status: 400, body: { code: "validation_failed", details: [{ path }] } };
  expect(await client.call("POST", "/scoring/rules", { ...full, ...bad })).toMatchObject(refused);
  const { id } = await make(client);
  expect(await client.call("PUT", `/scoring/rules/${id}`, bad)).toMatchObject(refused);
});

test("a tag applied over HTTP changes the score, and the log names the rule", async () => {
  const client = await signedUp();
  const { id } = await make(client, {
    name: "Customer",
    trigger: "tag_add",
    match: { tagName: "Customer" },
    points: 50,
  });
  const contact = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/contacts", { email: "ann@example.com" }),
  ).body.data;
  for (let n = 0; n < 2; n++)
    expectStatus(
      200,
      await client.call("POST", `/contacts/${contact.id}/tags`, { name: "customer" }),
    );
  const { score, log } = expectStatus(
    200,
    await client.call<{ score: number; log: object[] }>("GET", `/contacts/${contact.id}/score`),
  ).body.data;
  expect([score, log]).toEqual([
    50,
    [expect.objectContaining({ delta: 50, rule: { id, name: "Customer" } })],
  ]);
});
