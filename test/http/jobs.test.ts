import { expect, test } from "vitest";
import { expectStatus, signedUp } from "../support/api-client.ts";
import { waitFor } from "../support/wait-for.ts";

interface JobPage {
  jobs: { type: string; id: number; status: string; state: string; path: string }[];
  pagination: { total: number | null; nextCursor: string | null };
}

test("one request tells the progress of all jobs, and each caller sees what it may read", async () => {
  const { call, newKey, userId, siteId } = await signedUp();
  const read = async (query = "", key?: string) =>
    expectStatus(
      200,
      await call<JobPage>("GET", `/jobs${query}`, undefined, key ? { as: { key } } : {}),
    ).body.data;
  expect(await read()).toEqual({
    jobs: [],
    pagination: { page: 1, limit: 50, total: null, totalPages: null, nextCursor: null },
  });
  const file = { raw: "email\nann@example.com\n", headers: { "content-type": "text/csv" } };
  const upload = await call<{ id: number }>("POST", "/imports/upload", undefined, {
    ...file,
    as: "session",
  });
  const { id: importId } = expectStatus(202, upload).body.data;
  const created = await call<{ id: number }>("POST", "/exports", { type: "contacts" });
  const { id: exportId } = expectStatus(202, created).body.data;
  await waitFor(async () => expect((await read("?status=running")).jobs).toEqual([]));
  const { jobs } = await read(`?siteId=${siteId}`);
  expect(jobs).toMatchObject([
    { type: "export", id: exportId, siteId, status: "completed", startedBy: { type: "api_key" } },
    {
      type: "import",
      id: importId,
      name: "Import of contacts",
      status: "completed",
      state: "1 row: 1 added",
      startedBy: { type: "user", id: userId },
    },
  ]);
  for (const { path } of jobs) expectStatus(200, await call("GET", path));
  const first = await read("?limit=1");
  const cursor = encodeURIComponent(first.pagination.nextCursor!);
  const second = await read(`?limit=1&cursor=${cursor}`);
  expect([...first.jobs, ...second.jobs].map(({ type }) => type)).toEqual(["export", "import"]);
  const importsOnly = await newKey({ scopes: ["jobs:read", "imports:read"] });
  expect((await read("", importsOnly)).jobs).toMatchObject([{ type: "import" }]);
  const other = await newKey({ scopes: ["imports:read"] });
  expectStatus(403, await call("GET", "/jobs", undefined, { as: { key: other } }));
  expectStatus(400, await call("GET", "/jobs?status=done"));
  expectStatus(404, await call("GET", "/jobs?siteId=999999999"));
});
