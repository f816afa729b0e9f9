import { expect, test } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";

interface Holiday {
  id: number;
  status: string;
  stats: object;
}
type Listed = { holidays: Holiday[]; pagination: { total: number | null } };

async function template({ call }: TestClient): Promise<number> {
  const made = await call<{ id: number }>("POST", "/templates", {
    name: "Hello",
    subject: "Hi",
    html: "<p>Hi</p>",
  });
  return expectStatus(201, made).body.data.id;
}

test("a holiday mail is scheduled, changed, cancelled and deleted", async () => {
  const client = await signedUp();
  const templateId = await template(client);
  const given = { name: "New year", date: "2099-01-01", templateId };
  const made = expectStatus(201, await client.call<Holiday>("POST", "/holidays", given)).body.data;
  const none = {
    ...{ statusReason: null, startedAt: null, finishedAt: null },
    ...{ sendingConfigId: null, replyTo: null, topicId: null },
  };
  const stamps = { createdAt: expect.any(String), updatedAt: expect.any(String) };
  expect(made).toEqual({
    id: expect.any(Number),
    siteId: client.siteId,
    ...given,
    status: "scheduled",
    ...none,
    ...stamps,
  });
  const path = `/holidays/${made.id}`;
  expect(
    (await client.call("PUT", path, { date: "2099-12-24", name: "Christmas" })).body.data,
  ).toMatchObject({
    date: "2099-12-24",
    name: "Christmas",
  });
  expect((await client.call<Holiday>("GET", path)).body.data).toMatchObject({
    stats: { recipients: 0 },
    accounting: { candidates: 0 },
  });
  const { holidays, pagination } = expectStatus(200, await client.call<Listed>("GET", "/holidays"))
    .body.data;
  expect([holidays.map(({ id }) => id), pagination.total]).toEqual([[made.id], 1]);
  for (let n = 0; n < 2; n++)
    expect((await client.call("PUT", path, { status: "cancelled" })).body.data).toMatchObject({
      status: "cancelled",
    });
  expect((await client.call("PUT", path, { name: "Again" })).status).toBe(409);
  expect((await client.call("DELETE", path)).body.data).toEqual({ id: made.id, deleted: true });
  expect((await client.call("GET", path)).status).toBe(404);
});

test.each([
  ["date", { date: "2020-01-01" }],
  ["date", { date: "2099-02-30" }],
  ["date", { date: "tomorrow" }],
  ["name", { name: " " }],
])("a holiday mail with a bad %s is refused, also as a change", async (path, bad) => {
  const client = await signedUp();
  const given = { name: "New year", date: "2099-01-01", templateId: await template(client) };
  const refused = { status: 400, body: { details: [{ path }] } };
  expect(await client.call("POST", "/holidays", { ...given, ...bad })).toMatchObject(refused);
  const { id } = expectStatus(201, await client.call<Holiday>("POST", "/holidays", given)).body
    .data;
  expect(await client.call("PUT", `/holidays/${id}`, bad)).toMatchObject(refused);
});

test("a template of another site or organization and a caller without permission are refused", async () => {
  const [client, other] = [await signedUp(), await signedUp()];
  const blog = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/sites", { name: "Blog" }),
  ).body.data.id;
  const given = { siteId: client.siteId, name: "New year", date: "2099-01-01" };
  const templateId = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/templates", {
      siteId: blog,
      name: "Hello",
      subject: "Hi",
      html: "<p>Hi</p>",
    }),
  ).body.data.id;
  expect(await client.call("POST", "/holidays", { ...given, templateId })).toMatchObject({
    status: 400,
    body: { details: [{ path: "templateId" }] },
  });
  expect(
    (await client.call("POST", "/holidays", { ...given, templateId: await template(other) }))
      .status,
  ).toBe(404);
  const { id } = expectStatus(
    201,
    await client.call<Holiday>("POST", "/holidays", { ...given, siteId: blog, templateId }),
  ).body.data;
  expect((await other.call("GET", `/holidays/${id}`)).status).toBe(404);
  const key = await client.newKey({ siteId: client.siteId });
  expect(
    (await client.call("PUT", `/holidays/${id}`, { status: "cancelled" }, { as: { key } })).status,
  ).toBe(403);
  expect(
    (await client.call<Listed>("GET", "/holidays", undefined, { as: { key } })).body.data.holidays,
  ).toEqual([]);
});
