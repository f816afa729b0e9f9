import { beforeAll, expect, test } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";

interface Entry {
  email: string;
  reason: string;
  detail: string | null;
  source: string | null;
  createdAt: string;
  updatedAt: string;
}
interface Listed {
  suppressions: Entry[];
  pagination: { total: number; totalPages: number; nextCursor: string | null };
}
interface Imported {
  imported: number;
  skipped: number;
  failed: number;
  errors: { row: number; message: string }[];
}

/** The organization of all refused requests. */
let refusing: TestClient;
beforeAll(async () => {
  refusing = await signedUp();
});

const add = ({ call }: TestClient, email: string, fields: object = {}) =>
  call<Entry>("POST", "/suppressions", { email, ...fields });
const list = ({ call }: TestClient, query = "") => call<Listed>("GET", `/suppressions?${query}`);
const upload = ({ call }: TestClient, raw: string, type = "text/csv") =>
  call<Imported>("POST", "/suppressions/import", undefined, {
    raw,
    headers: { "content-type": type },
  });
const check = ({ call }: TestClient, email: string) =>
  call<{ suppressed: boolean }>("GET", `/suppressions/check/${encodeURIComponent(email)}`);
const emails = (entries: Entry[]) => entries.map(({ email }) => email);

test("an address is suppressed, read, checked and removed", async () => {
  const client = await signedUp();
  const added = await add(client, "Ada@Example.com", { detail: "asked by phone" });
  const entry = {
    email: "ada@example.com",
    reason: "manual",
    bounceType: null,
    liftsAt: null,
    detail: "asked by phone",
    source: "api",
    createdAt: expect.stringMatching(/\.\d{3}Z$/),
  };
  expect(added.status).toBe(201);
  expect(added.body).toEqual({ data: { ...entry, updatedAt: expect.any(String) } });
  expect((await list(client)).body.data).toEqual({
    suppressions: [added.body.data],
    pagination: { page: 1, limit: 50, total: 1, totalPages: 1, nextCursor: null },
  });
  expect((await check(client, "ADA@example.com")).body.data).toEqual({
    ...entry,
    suppressed: true,
    marketingOnly: false,
  });

  const removed = await client.call(
    "DELETE",
    `/suppressions/${encodeURIComponent("ADA@example.com")}`,
  );
  expect([removed.status, removed.body.data]).toEqual([
    200,
    { id: "ada@example.com", deleted: true },
  ]);
  expect((await check(client, "ada@example.com")).body.data).toEqual({
    email: "ada@example.com",
    suppressed: false,
    reason: null,
    marketingOnly: false,
    bounceType: null,
    liftsAt: null,
    detail: null,
    source: null,
    createdAt: null,
  });
  expect((await client.call("DELETE", "/suppressions/ada@example.com")).status).toBe(404);
  expect((await client.call("DELETE", `/suppressions/${"x".repeat(2000)}`)).status).toBe(404);
  expect((await list(client)).body.data.pagination.total).toBe(0);
});

test("addresses with a plus work in the path", async () => {
  const client = await signedUp();
  expectStatus(201, await add(client, "ada+news@example.com"));
  expect((await check(client, "ada+news@example.com")).body.data.suppressed).toBe(true);
  expect(
    (await client.call("GET", "/suppressions/check/ada+news@example.com")).body.data,
  ).toMatchObject({ suppressed: true });
  expect((await client.call("DELETE", "/suppressions/ada%2Bnews%40example.com")).status).toBe(200);
  expect((await check(client, "ada+news@example.com")).body.data.suppressed).toBe(false);
});

test("suppressing an address again changes nothing, except that unsubscribe becomes a full block", async () => {
  const client = await signedUp();
  const first = expectStatus(201, await add(client, "a@example.com", { reason: "unsubscribe" }));
  expect((await check(client, "a@example.com")).body.data).toMatchObject({
    reason: "unsubscribe",
    marketingOnly: true,
  });
  const raised = expectStatus(201, await add(client, "a@example.com", { reason: "spam_report" }));
  expect(raised.body).toMatchObject({
    data: { reason: "spam_report", createdAt: first.body.data.createdAt },
  });
  expect(raised.body.warnings).toBeUndefined();
  const again = expectStatus(
    201,
    await add(client, "A@example.com", { reason: "unsubscribe", detail: "new" }),
  );
  expect(again.body.data).toEqual(raised.body.data);
  expect(again.body.warnings).toEqual([expect.stringContaining("already")]);
  expect((await list(client)).body.data.pagination.total).toBe(1);
});

test.each([
  [{}, "email"],
  [{ email: "nobody" }, "email"],
  [{ email: "a@example.com\r\nBcc: b@example.com" }, "email"],
  [{ email: "a@example.com, b@example.com" }, "email"],
  [{ email: `${"a".repeat(64)}@${"b".repeat(190)}.com` }, "email"],
  [{ email: "a@example.com", reason: "dislike" }, "reason"],
  [{ email: "a@example.com", detail: "two\nlines" }, "detail"],
  [{ email: "a@example.com", detail: "x".repeat(301) }, "detail"],
])("%j is refused, and the error names %s", async (body, path) => {
  const refused = await refusing.call("POST", "/suppressions", body);
  expect([refused.status, refused.body.code, refused.body.details?.[0]?.path]).toEqual([
    400,
    "validation_failed",
    path,
  ]);
});

test("an invalid address is rejected by the check", async () => {
  const client = await signedUp();
  const refused = await check(client, "nobody");
  expect([refused.status, refused.body.details?.[0]?.path]).toEqual([400, "email"]);
  expect(
    expectStatus(201, await add(client, "a@example.com", { detail: "x".repeat(300) })).body.data
      .detail,
  ).toHaveLength(300);
});

test("the list is newest first, in pages by number and by cursor, complete or by reason", async () => {
  const client = await signedUp();
  const csv = Array.from({ length: 8 }, (_, i) => `bulk${i}@example.com`).join("\n");
  expectStatus(200, await upload(client, csv));
  for (const name of ["one", "two"]) expectStatus(201, await add(client, `${name}@example.com`));
  const first = (await list(client, "limit=4")).body.data;
  expect(emails(first.suppressions).slice(0, 2)).toEqual(["two@example.com", "one@example.com"]);
  expect(first.pagination).toMatchObject({ total: 10, totalPages: 3 });
  const seen = emails(first.suppressions);
  for (let cursor = first.pagination.nextCursor; cursor; ) {
    const next = expectStatus(200, await list(client, `limit=4&cursor=${cursor}`)).body.data;
    seen.push(...emails(next.suppressions));
    cursor = next.pagination.nextCursor;
  }
  expect(seen).toHaveLength(10);
  expect(new Set(seen).size).toBe(10);
  const third = (await list(client, "limit=4&page=3")).body.data;
  expect(emails(third.suppressions)).toEqual(seen.slice(8));
  const manual = (await list(client, "reason=manual")).body.data;
  expect([manual.suppressions.length, manual.pagination.total]).toEqual([2, 2]);
  expect((await list(client, "reason=dislike")).status).toBe(400);
  expect((await list(client, "limit=101")).status).toBe(400);
  expect((await list(client, "page=101&limit=100")).body.error).toContain("cursor");
});

test("a list is imported as CSV or JSON, and the response counts every row", async () => {
  const client = await signedUp();
  const csv = await upload(
    client,
    "Email,Reason\nc1@example.com,bounce\nc2@example.com,\nnobody,\nC1@example.com,\n",
  );
  expect(csv.body.data).toEqual({
    imported: 2,
    skipped: 1,
    failed: 1,
    errors: [{ row: 4, message: "email must be one valid email address" }],
  });
  const plain = await client.call("POST", "/suppressions/import", {
    emails: ["c2@example.com", "j1@example.com"],
  });
  expect(plain.body.data).toMatchObject({ imported: 1, skipped: 1, failed: 0 });
  const rich = await client.call("POST", "/suppressions/import", {
    suppressions: [{ email: "j2@example.com", reason: "spam_report", detail: "d" }],
  });
  expect(rich.body.data).toMatchObject({ imported: 1 });
  const { suppressions, pagination } = (await list(client)).body.data;
  expect(pagination.total).toBe(4);
  expect(Object.fromEntries(suppressions.map(({ email, reason }) => [email, reason]))).toEqual({
    "c1@example.com": "bounce",
    "c2@example.com": "import",
    "j1@example.com": "import",
    "j2@example.com": "spam_report",
  });
});

test.each([
  ["text/csv", "", { imported: 0 }, 200],
  ["application/json", "{", { code: "invalid_json" }, 400],
  ["application/json", "null", { code: "validation_failed" }, 400],
  ["application/json", '{"emails":"a@example.com"}', { code: "validation_failed" }, 400],
  ["text/plain", "a@example.com", { code: "unsupported_media_type" }, 415],
  [
    "text/csv",
    Array.from({ length: 10_001 }, (_, i) => `a${i}@example.com`).join("\n"),
    { code: "limit_exceeded" },
    400,
  ],
])("an import of %s %.20j returns %j", async (type, raw, expected, status) => {
  const answer = await upload(refusing, raw, type);
  expect(answer.status).toBe(status);
  expect({ ...answer.body, ...(answer.body.data as object) }).toMatchObject(expected);
});

test("the list is exported as CSV or JSON, complete or in parts", async () => {
  const client = await signedUp();
  expectStatus(201, await add(client, "+plus@example.com", { detail: '=1+1, "quoted"' }));
  expectStatus(200, await upload(client, "a@example.com\nb@example.com\n"));
  const csv = await client.call("GET", "/suppressions/export?format=csv");
  expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(csv.headers.get("content-disposition")).toBe('attachment; filename="suppressions.csv"');
  const [header, ...lines] = csv.text.trim().split("\n");
  expect(header).toBe("email,reason,bounceType,liftsAt,detail,source,createdAt,updatedAt");
  expect(lines).toHaveLength(3);
  expect(lines.find((line) => line.includes("plus"))).toMatch(
    /^'\+plus@example\.com,manual,,,"'=1\+1, ""quoted""",api,20/,
  );

  const json = await client.call<{ suppressions: Entry[]; nextCursor: string | null }>(
    "GET",
    "/suppressions/export?format=json",
  );
  expect(json.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(json.body.data.nextCursor).toBeNull();
  expect(emails(json.body.data.suppressions).toSorted()).toEqual([
    "+plus@example.com",
    "a@example.com",
    "b@example.com",
  ]);
  expect(Object.keys(json.body.data.suppressions[0]!)).toEqual([
    "email",
    "reason",
    "bounceType",
    "liftsAt",
    "detail",
    "source",
    "createdAt",
    "updatedAt",
  ]);

  const part = await client.call<{ suppressions: Entry[] }>(
    "GET",
    "/suppressions/export?format=json&limit=2",
  );
  const rest = await client.call<{ suppressions: Entry[] }>(
    "GET",
    `/suppressions/export?format=json&limit=2&cursor=${part.headers.get("x-next-cursor")}`,
  );
  expect(
    [...emails(part.body.data.suppressions), ...emails(rest.body.data.suppressions)].toSorted(),
  ).toEqual(emails(json.body.data.suppressions).toSorted());
  expect(rest.headers.get("x-next-cursor")).toBeNull();
  expect(
    (await client.call("GET", "/suppressions/export?reason=manual")).text.trim().split("\n"),
  ).toHaveLength(2);
  expect((await client.call("GET", "/suppressions/export?limit=10001")).status).toBe(400);
  expect((await client.call("GET", "/suppressions/export?format=xml")).status).toBe(400);
});

test("a site-bound key sees contacts of its site only, and neither exports nor changes the list", async () => {
  const client = await signedUp();
  const other = await client.call<{ id: number }>("POST", "/sites", { name: "Other" });
  for (const [email, siteId] of [
    ["a@example.com", client.siteId],
    ["other@example.com", expectStatus(201, other).body.data.id],
  ] as const) {
    expectStatus(201, await client.call("POST", "/contacts", { email, siteId }));
    expectStatus(201, await add(client, email));
  }
  expectStatus(201, await add(client, "stranger@example.com"));
  const as = { key: await client.newKey({ siteId: client.siteId }) };
  const listed = await client.call<{ suppressions: Entry[] }>("GET", "/suppressions", undefined, {
    as,
  });
  expect(emails(expectStatus(200, listed).body.data.suppressions)).toEqual(["a@example.com"]);
  expect(listed.body.data).toMatchObject({ pagination: { total: null, nextCursor: null } });
  for (const email of ["a", "other", "stranger"])
    expect(
      await client.call("GET", `/suppressions/check/${email}@example.com`, undefined, { as }),
    ).toMatchObject({ status: 200, body: { data: { suppressed: true } } });
  const whole = await client.call<{ id: number }>("POST", "/exports", { type: "suppressions" });
  for (const [method, path, body] of [
    ["GET", "/suppressions/export", undefined],
    ["POST", "/exports", { type: "suppressions" }],
    ["GET", `/exports/${expectStatus(202, whole).body.data.id}`, undefined],
    ["POST", "/suppressions", { email: "b@example.com" }],
    ["POST", "/suppressions/import", { emails: [] }],
    ["DELETE", "/suppressions/a@example.com", undefined],
  ] as const) {
    const refused = await client.call(method, path, body, { as });
    expect([refused.status, refused.body.code], path).toEqual([403, "site_forbidden"]);
  }
  expect((await check(client, "a@example.com")).body.data.suppressed).toBe(true);
});

test("a site-bound key cannot suppress an address in all sites by erasing a contact", async () => {
  const client = await signedUp();
  const contact = await client.call<{ id: number }>("POST", "/contacts", {
    email: "a@example.com",
  });
  const as = { key: await client.newKey({ siteId: client.siteId }) };
  const refused = await client.call(
    "DELETE",
    `/contacts/${contact.body.data.id}?erase=true`,
    undefined,
    { as },
  );
  expect([refused.status, refused.body.code]).toEqual([403, "site_forbidden"]);
  expect((await check(client, "a@example.com")).body.data.suppressed).toBe(false);
  expect(
    (await client.call("DELETE", `/contacts/${contact.body.data.id}`, undefined, { as })).status,
  ).toBe(200);
});

test("suppressions of one organization do not apply to another", async () => {
  const [one, other] = [await signedUp(), await signedUp()];
  expectStatus(201, await add(one, "a@example.com"));
  expect((await check(other, "a@example.com")).body.data.suppressed).toBe(false);
  expect((await list(other)).body.data.suppressions).toEqual([]);
  expect((await other.call("DELETE", "/suppressions/a@example.com")).status).toBe(404);
  expect((await other.call("GET", "/suppressions/export")).text.trim().split("\n")).toHaveLength(1);
  expect((await check(one, "a@example.com")).body.data.suppressed).toBe(true);
});
