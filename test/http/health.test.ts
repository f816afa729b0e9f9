import { expect, inject, test } from "vitest";
import { signedUp } from "../support/api-client.ts";

test("GET /health returns the status to anyone, and HEAD the same status code", async () => {
  const url = `${inject("baseUrl")}/api/v1/health`;
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(await answer.json()).toEqual({ data: { status: "ok" } });
  expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
});

test("GET /health returns the version and each check to a caller", async () => {
  const { call } = await signedUp();
  const { body } = await call("GET", "/health");
  const ok = { status: "ok", since: null };
  expect(body.data).toEqual({
    status: "ok",
    version: expect.any(String),
    checks: { table: ok, queue: ok },
  });
});
