import { describe, expect, test } from "vitest";
import { expectStatus, signedUp, type TestClient } from "../support/api-client.ts";
import { waitFor } from "../support/wait-for.ts";

interface Import {
  id: number;
  status: string;
  total: number | null;
  processed: number;
  created: number;
  updated: number;
  failed: number;
  mapping: Record<string, string> | null;
  errors: { row: number; email: string; message: string }[];
}

const csv = "email,firstName,Plan\nann@example.com,Ann,pro\nbob@example.com,Bob,\nnobody,Eve,\n";
const asCsv = { "content-type": "text/csv" };

async function completed({ call }: TestClient, id: number): Promise<Import> {
  return waitFor(async () => {
    const { data } = expectStatus(200, await call<Import>("GET", `/imports/${id}`)).body;
    expect(["completed", "failed"]).toContain(data.status);
    return data;
  });
}

async function form(fields: Record<string, string>, file: string | undefined, name = "people.csv") {
  const data = new FormData();
  for (const [field, value] of Object.entries(fields)) data.append(field, value);
  if (file !== undefined) data.append("file", new Blob([file], { type: "text/csv" }), name);
  const request = new Response(data);
  return {
    raw: new Uint8Array(await request.arrayBuffer()),
    headers: { "content-type": request.headers.get("content-type")! },
  };
}

describe("a file", () => {
  test("as a raw body, with options in the query, creates contacts", async () => {
    const client = await signedUp();
    const list = expectStatus(
      201,
      await client.call<{ id: number }>("POST", "/lists", { name: "News" }),
    ).body.data;
    const query = new URLSearchParams({
      tags: "vip, early",
      lists: String(list.id),
      mapping: '{"plan":"ignore"}',
      unknown: "x",
    });
    const started = expectStatus(
      202,
      await client.call<Import>("POST", `/imports/upload?${query}`, undefined, {
        raw: csv,
        headers: asCsv,
      }),
    );
    expect(started.body.data).toMatchObject({
      status: "queued",
      progress: 0,
      total: null,
      processed: 0,
      mapping: null,
      filename: null,
      errors: [],
    });
    const done = await completed(client, started.body.data.id);
    expect(done).toMatchObject({
      status: "completed",
      progress: 100,
      total: 3,
      created: 2,
      failed: 1,
      mapping: { email: "email", firstName: "firstName", Plan: "ignore" },
      errors: [{ row: 4, email: "nobody", message: "email: must be one valid email address" }],
    });
    const { contacts } = expectStatus(
      200,
      await client.call<{ contacts: { email: string; tags: object[]; customFields: object }[] }>(
        "GET",
        `/contacts?listId=${list.id}`,
      ),
    ).body.data;
    expect(contacts).toHaveLength(2);
    expect(contacts[0]!.tags).toHaveLength(2);
    expect(contacts[0]!.customFields).toEqual({});
    const listed = expectStatus(
      200,
      await client.call<{ imports: Import[] }>("GET", `/imports?siteId=${client.siteId}`),
    ).body.data;
    expect(listed).toMatchObject({ imports: [{ id: done.id, errors: [{ row: 4 }] }] });
  });

  test("in a multipart form, with options as fields", async () => {
    const client = await signedUp();
    await client.call("POST", "/contacts", { email: "ann@example.com", firstName: "Anna" });
    const given = await form(
      {
        siteId: String(client.siteId),
        mode: "create",
        resubscribe: "false",
        delimiter: "semicolon",
        tags: '["a, b"]',
        encoding: "",
      },
      csv.replaceAll(",", ";"),
    );
    const { id } = expectStatus(
      202,
      await client.call<Import>("POST", "/imports/upload", undefined, given),
    ).body.data;
    expect(await completed(client, id)).toMatchObject({
      filename: "people.csv",
      mode: "create",
      tags: ["a, b"],
      created: 1,
      skipped: 1,
      failed: 1,
      delimiter: ";",
    });
  });

  test("that is too large for a request is uploaded first and named in the request", async () => {
    const client = await signedUp();
    const size = Buffer.byteLength(csv);
    const uploadFields = { filename: "big.csv", type: "text/csv", size, purpose: "import" };
    const { uploadId, uploadUrl } = expectStatus(
      201,
      await client.call<{ uploadId: string; uploadUrl: string }>(
        "POST",
        "/attachments",
        uploadFields,
      ),
    ).body.data;
    const early = await client.call("POST", "/imports/upload", { uploadId });
    expect([early.status, early.body.error]).toEqual([
      400,
      "uploadId does not name a finished upload: PUT the file to its uploadUrl first",
    ]);
    expect(
      (
        await fetch(uploadUrl, {
          method: "PUT",
          body: csv,
          headers: { "content-type": "text/csv" },
        })
      ).status,
    ).toBe(200);
    const started = expectStatus(
      202,
      await client.call<Import>("POST", "/imports/upload", {
        uploadId,
        tags: ["vip"],
        colour: "red",
      }),
    );
    expect(started.body.warnings).toEqual(["Ignored fields: colour"]);
    expect(await completed(client, started.body.data.id)).toMatchObject({
      filename: "big.csv",
      size,
      created: 2,
      failed: 1,
    });
    const stranger = await signedUp();
    expect((await stranger.call("POST", "/imports/upload", { uploadId })).status).toBe(400);
    expect(
      (await client.call("POST", "/attachments", { ...uploadFields, size: 2 ** 30 })).status,
    ).toBe(201);
    expect(
      (await client.call("POST", "/attachments", { ...uploadFields, size: 2 ** 30 + 1 })).status,
    ).toBe(400);
    expect(
      (
        await client.call("POST", "/attachments", {
          ...uploadFields,
          size: 11_000_000,
          purpose: "attachment",
        })
      ).body.error,
    ).toBe("size: must be at most 10 MB for an attachment");
  });

  test("without an email column fails with an error message", async () => {
    const client = await signedUp();
    const { id } = expectStatus(
      202,
      await client.call<Import>("POST", "/imports/upload", undefined, {
        raw: "name\nAnn\n",
        headers: asCsv,
      }),
    ).body.data;
    expect(await completed(client, id)).toMatchObject({
      status: "failed",
      error:
        "No column was recognized as the email address: set it in mapping. The columns are: name",
    });
  });
});

test("row errors can be downloaded as CSV without formulas", async () => {
  const client = await signedUp();
  const { id } = expectStatus(
    202,
    await client.call<Import>("POST", "/imports/upload", undefined, {
      raw: "email\nok@example.com\n=1+1\n",
      headers: asCsv,
    }),
  ).body.data;
  await completed(client, id);
  const file = expectStatus(200, await client.call("GET", `/imports/${id}/errors`));
  expect(file.text).toBe("row,email,message\n3,'=1+1,email: must be one valid email address\n");
  expect(file.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(file.headers.get("content-disposition")).toBe(
    `attachment; filename="import-${id}-errors.csv"`,
  );
  expect((await client.call("GET", `/imports/${id}/errors?cursor=x`)).status).toBe(400);
});

test("requests with the same Idempotency-Key create one import", async () => {
  const client = await signedUp();
  const once = { raw: csv, headers: { ...asCsv, "idempotency-key": "one" } };
  const [first, second] = [
    await client.call<Import>("POST", "/imports/upload", undefined, once),
    await client.call<Import>("POST", "/imports/upload", undefined, once),
  ];
  expect(expectStatus(202, second).body.data.id).toBe(expectStatus(202, first).body.data.id);
});

test.for([
  ["nothing", { raw: "", headers: asCsv }, "", 400, "The file is empty"],
  [
    "another type",
    { raw: csv, headers: { "content-type": "image/png" } },
    "",
    415,
    "The Content-Type must be one of",
  ],
  ["an unknown mode", { raw: csv, headers: asCsv }, "?mode=replace", 400, "mode: "],
  [
    "a mapping that is no JSON",
    { raw: csv, headers: asCsv },
    "?mapping=x",
    400,
    "mapping is not valid JSON",
  ],
  [
    "a mapping to what is no field",
    { raw: csv, headers: asCsv },
    "?mapping=%7B%22a%22%3A%22age%22%7D",
    400,
    "mapping.a: must be one of email, ",
  ],
  [
    "a list that is not there",
    { raw: csv, headers: asCsv },
    "?lists=99999999",
    404,
    "The list does not exist",
  ],
  ["a delimiter we do not know", { raw: csv, headers: asCsv }, "?delimiter=x", 400, "delimiter: "],
  [
    "no upload",
    { raw: "{}", headers: { "content-type": "application/json" } },
    "",
    400,
    "uploadId is required",
  ],
  [
    "a form that is none",
    { raw: "x", headers: { "content-type": "multipart/form-data; boundary=y" } },
    "",
    400,
    "The body is not valid multipart/form-data",
  ],
] as const)("%s is refused", async ([, options, query, status, error]) => {
  const client = await signedUp();
  const answer = await client.call("POST", `/imports/upload${query}`, undefined, options);
  expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(error)]);
  expect(
    expectStatus(200, await client.call<{ imports: Import[] }>("GET", "/imports")).body.data
      .imports,
  ).toEqual([]);
});

test("a form without a file is rejected", async () => {
  const client = await signedUp();
  const answer = await client.call(
    "POST",
    "/imports/upload",
    undefined,
    await form({ mode: "create" }, undefined),
  );
  expect([answer.status, answer.body.error]).toEqual([
    400,
    "file is required: send the CSV as the file of the form",
  ]);
});

test("imports of other sites are not visible; a bound key imports into its own site", async () => {
  const [client, other] = await Promise.all([signedUp(), signedUp()]);
  const { id } = expectStatus(
    202,
    await client.call<Import>("POST", "/imports/upload", undefined, { raw: csv, headers: asCsv }),
  ).body.data;
  const site = expectStatus(
    201,
    await client.call<{ id: number }>("POST", "/sites", { name: "Other" }),
  ).body.data.id;
  const as = { key: await client.newKey({ siteId: site }) };
  for (const path of [`/imports/${id}`, `/imports/${id}/errors`]) {
    expect((await other.call("GET", path)).status).toBe(404);
    expect((await client.call("GET", path, undefined, { as })).status).toBe(403);
  }
  expect(
    (
      await client.call("POST", `/imports/upload?siteId=${client.siteId}`, undefined, {
        raw: csv,
        headers: asCsv,
        as,
      })
    ).status,
  ).toBe(403);
  const own = expectStatus(
    202,
    await client.call<Import & { siteId: number }>(
      "POST",
      "/imports/upload?resubscribe=true",
      undefined,
      { raw: csv, headers: asCsv, as },
    ),
  );
  expect(own.body.data.siteId).toBe(site);
  expect(own.body.warnings).toEqual([
    "resubscribe does not remove addresses from the suppression list: this API key or member is limited to sites",
  ]);
  const { imports } = expectStatus(
    200,
    await client.call<{ imports: Import[] }>("GET", "/imports", undefined, { as }),
  ).body.data;
  expect(imports.map((one) => one.id)).toEqual([own.body.data.id]);
  await completed(client, own.body.data.id);
});

describe("a preview", () => {
  interface Preview {
    total: number | null;
    delimiter: string;
    columns: { header: string; field: string; samples: string[] }[];
    error: string | null;
    rows: { row: number; cells: string[]; error: string | null }[];
  }
  const preview = async ({ call }: TestClient, query: string, raw: string) =>
    expectStatus(
      200,
      await call<Preview>("POST", `/imports/preview${query}`, undefined, { raw, headers: asCsv }),
    ).body.data;

  test("shows columns, fields and the first rows, and imports nothing", async () => {
    const client = await signedUp();
    const shown = await preview(client, `?mapping=${encodeURIComponent('{"Plan":"ignore"}')}`, csv);
    expect(shown).toMatchObject({
      total: 3,
      delimiter: ",",
      error: null,
      columns: [
        {
          header: "email",
          field: "email",
          samples: ["ann@example.com", "bob@example.com", "nobody"],
        },
        { header: "firstName", field: "firstName", samples: ["Ann", "Bob", "Eve"] },
        { header: "Plan", field: "ignore", samples: ["pro"] },
      ],
      rows: [
        { row: 2, cells: ["ann@example.com", "Ann", "pro"], error: null },
        { row: 3, error: null },
        { row: 4, error: expect.stringContaining("email") },
      ],
    });
    const { contacts } = expectStatus(
      200,
      await client.call<{ contacts: unknown[] }>("GET", "/contacts"),
    ).body.data;
    const { imports } = expectStatus(
      200,
      await client.call<{ imports: unknown[] }>("GET", "/imports"),
    ).body.data;
    expect([contacts, imports]).toEqual([[], []]);
  });

  test("of a large file counts all rows and shows 20", async () => {
    const client = await signedUp();
    const lines = Array.from({ length: 30_000 }, (_, i) => `p${i}@example.com;"Ann; ${i}"`);
    const shown = await preview(client, "", ["E-Mail;Vorname", ...lines].join("\r\n"));
    expect(shown).toMatchObject({
      total: 30_000,
      delimiter: ";",
      columns: [{ field: "email" }, { field: "firstName" }],
    });
    expect(shown.rows).toHaveLength(20);
    expect(shown.rows[19]).toMatchObject({ row: 21, cells: ["p19@example.com", "Ann; 19"] });
    // Counting them takes too long for a request.
    const long = await preview(client, "", `email\na@example.com\n${" \n".repeat(100_000)}`);
    expect(long).toMatchObject({ total: null, rows: [{ cells: ["a@example.com"] }] });
  });

  test("decodes a file as the import does, also if only its end tells the encoding", async () => {
    const client = await signedUp();
    const rows = `email,company\na@example.com,Grüße\n${"b@example.com,x\n".repeat(20_000)}`;
    const raw = Buffer.concat([
      Buffer.from(rows),
      Buffer.from("c@example.com,Gr\xfc\xdfe", "latin1"),
    ]);
    const { status, body } = await client.call<{ encoding: string }>(
      "POST",
      "/imports/preview",
      undefined,
      { raw, headers: asCsv },
    );
    expect([status, body.data.encoding]).toEqual([200, "windows-1252"]);
  });

  test("asks about a column that may be about consent, and shows statuses and tags", async () => {
    const client = await signedUp();
    const file =
      "email,unsubscribed,GDPR,tags\n" +
      'ann@example.com,true,yes,"""Paris, France"", VIP"\nbob@example.com,false,no,a;b';
    const asking = await preview(client, "", file);
    expect(asking).toMatchObject({
      error: expect.stringContaining('"GDPR" may say who gets email and who does not'),
      columns: [
        { field: "email", question: null },
        { field: "unsubscribed", question: null },
        { field: "customFields.GDPR", question: expect.stringContaining('"GDPR"') },
        { field: "tags", question: null },
      ],
    });
    const mapping = encodeURIComponent('{"GDPR":"customFields.gdpr"}');
    const answered = await preview(client, `?mapping=${mapping}`, file);
    expect(answered).toMatchObject({
      error: null,
      rows: [
        { error: null, status: "unsubscribed", tags: ["Paris, France", "VIP"] },
        { error: null, status: null, tags: ["a", "b"] },
      ],
    });
  });

  test("names a file that is not CSV", async () => {
    const client = await signedUp();
    for (const path of ["/imports/preview", "/imports/upload"]) {
      const raw = "PK\u0003\u0004 [Content_Types].xml";
      const refused = await client.call("POST", path, undefined, { raw, headers: asCsv });
      expect(refused.status).toBe(400);
      expect(refused.body).toMatchObject({
        error: expect.stringContaining("The file is an Excel workbook (.xlsx), not CSV"),
      });
    }
  });

  test("says why the file could not be imported, with columns for another mapping", async () => {
    const client = await signedUp();
    const shown = await preview(client, "", "Kunde,Vorname\nann,Ann,cell without a column\n");
    expect(shown).toMatchObject({
      error: expect.stringContaining("No column was recognized as the email address"),
      columns: [
        { header: "Kunde", field: "customFields.Kunde" },
        { header: "Vorname", field: "firstName" },
      ],
      rows: [{ row: 2, cells: ["ann", "Ann"], error: null }],
    });
    const refused = await client.call("POST", "/imports/preview", undefined, {
      raw: 'email\n"ann@example.com',
      headers: asCsv,
    });
    expect(refused.status).toBe(400);
  });

  test("takes a form, and reads the first rows of an upload", async () => {
    const client = await signedUp();
    const { raw, headers } = await form({}, csv);
    const shown = expectStatus(
      200,
      await client.call<Preview>("POST", "/imports/preview", undefined, { raw, headers }),
    );
    expect(shown.body.data).toMatchObject({ total: 3, columns: [{ field: "email" }, {}, {}] });
    const upload = {
      filename: "people.csv",
      type: "text/csv",
      size: csv.length,
      purpose: "import",
    };
    const { uploadId, uploadUrl } = expectStatus(
      201,
      await client.call<{ uploadId: string; uploadUrl: string }>("POST", "/attachments", upload),
    ).body.data;
    await fetch(uploadUrl, { method: "PUT", headers: asCsv, body: csv });
    const ofUpload = expectStatus(
      200,
      await client.call<Preview>("POST", "/imports/preview", { uploadId }),
    );
    expect(ofUpload.body.data).toMatchObject({ total: null, rows: [{ row: 2 }, {}, {}] });
  });
});
