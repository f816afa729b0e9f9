import { expect, test } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";
import { waitFor } from "../support/wait-for.ts";

interface Export {
  id: number;
  status: string;
  progress: number;
  rows: number | null;
  downloadUrl: string | null;
}

const save = async ({ call }: TestClient, contacts: object[]) =>
  expectStatus(200, await call("POST", "/contacts/bulk", { contacts }));
async function completed({ call }: TestClient, id: number): Promise<Export> {
  return waitFor(async () => {
    const { data } = expectStatus(200, await call<Export>("GET", `/exports/${id}`)).body;
    expect(["completed", "failed"]).toContain(data.status);
    return data;
  });
}

test("contacts are exported as CSV or JSON with any filter", async () => {
  const client = await signedUp();
  await save(client, [
    { email: "ann@example.com", firstName: "Ann", tags: ["vip"], customFields: { plan: "pro" } },
    { email: "bob@example.com", firstName: "=1+1", status: "unsubscribed" },
  ]);
  const csv = expectStatus(200, await client.call("GET", "/contacts/export"));
  expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(csv.headers.get("content-disposition")).toBe('attachment; filename="contacts.csv"');
  const [header, ...lines] = csv.text.trim().split("\n");
  expect(header).toMatch(/^id,email,firstName,.*,tags,lists,.*,customFields\.plan$/);
  expect(lines).toHaveLength(2);
  expect(lines.find((line) => line.includes("bob@"))).toContain("'=1+1");
  const json = expectStatus(
    200,
    await client.call<{ contacts: { email: string; tags: object[] }[] }>(
      "GET",
      "/contacts/export?format=json&search=ann",
    ),
  );
  expect(json.body.data.contacts).toMatchObject([
    { email: "ann@example.com", tags: [{ name: "vip" }] },
  ]);
  const remaining = expectStatus(
    200,
    await client.call("GET", `/contacts/export?siteId=${client.siteId}&status=unsubscribed`),
  );
  expect(remaining.text.trim().split("\n")).toHaveLength(2);
  expect((await client.call("GET", "/contacts/export?format=xml")).status).toBe(400);
  expect((await client.call("GET", "/contacts/export?tagId=99999999")).status).toBe(404);
});

test("a file export becomes ready and can be downloaded without a credential", async () => {
  const client = await signedUp();
  await save(
    client,
    Array.from({ length: 30 }, (_, i) => ({ email: `p${i}@example.com` })),
  );
  const started = expectStatus(
    202,
    await client.call<Export>("POST", "/exports", {
      type: "contacts",
      format: "json",
      search: "p1",
    }),
  ).body.data;
  expect(started).toMatchObject({ status: "queued", progress: 0, downloadUrl: null });
  const done = await completed(client, started.id);
  expect(done).toMatchObject({ status: "completed", progress: 100, rows: 11 });
  const file = await fetch(done.downloadUrl!);
  expect(decodeURIComponent(done.downloadUrl!)).toContain('filename="contacts.json"');
  expect(((await file.json()) as { data: { contacts: object[] } }).data.contacts).toHaveLength(11);
});

test("an export is invisible to other sites and organizations", async () => {
  const [client, other] = await Promise.all([signedUp(), signedUp()]);
  const { id } = expectStatus(
    202,
    await client.call<Export>("POST", "/exports", { type: "contacts" }),
  ).body.data;
  expect((await other.call("GET", `/exports/${id}`)).status).toBe(404);
  const site = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/sites", { name: "Other" }),
  ).body.data.id;
  const as = { key: await client.newKey({ siteId: site }) };
  expect((await client.call("GET", `/exports/${id}`, undefined, { as })).status).toBe(403);
  expect(
    (await client.call("POST", "/exports", { type: "contacts", siteId: client.siteId }, { as }))
      .status,
  ).toBe(403);
  expect((await client.call("POST", "/exports", { type: "sites" })).status).toBe(400);
});

test("a suppression list too long for one response becomes a file", async () => {
  const client = await signedUp();
  const emails = Array.from({ length: 10_001 }, (_, i) => `s${i}@example.com`);
  expectStatus(200, await client.call("POST", "/suppressions/import", { emails: emails.slice(1) }));
  expect(
    expectStatus(200, await client.call("GET", "/suppressions/export"))
      .text.trim()
      .split("\n"),
  ).toHaveLength(10_001);
  expectStatus(201, await client.call("POST", "/suppressions", { email: emails[0] }));
  const started = expectStatus(202, await client.call<Export>("GET", "/suppressions/export")).body
    .data;
  const done = await completed(client, started.id);
  expect(done).toMatchObject({ status: "completed", rows: 10_001 });
  const text = await (await fetch(done.downloadUrl!)).text();
  expect(new Set(text.trim().split("\n").slice(1)).size).toBe(10_001);
});
