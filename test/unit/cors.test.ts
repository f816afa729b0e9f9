import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as z from "zod";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { route } from "../../shared/http/route.ts";
import { invokeRoute } from "../support/lambda-requests.ts";

beforeEach(() => {
  vi.stubEnv("ALLOWED_ORIGINS", "https://app.example, https://admin.example");
  vi.stubEnv("LOG_LEVEL", "SILENT");
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const handle = async () => ({ ok: true });
const returns = z.object({ ok: z.boolean() });
const group = routeGroup("tried", [
  route("POST /closed", "For our own pages", {
    auth: "public",
    body: z.object({ name: z.string() }),
    returns,
    handle,
  }),
  route("POST /open", "For every page", {
    auth: "public",
    cors: true,
    body: z.object({ name: z.string() }),
    returns,
    handle,
  }),
]);
const from = (origin: string) => ({ body: { name: "x" }, headers: { origin } });

test.each(["https://app.example", "https://admin.example"])(
  "pages of the allowed origin %s can read responses and their headers",
  async (origin) => {
    const { status, headers } = await invokeRoute(group, "POST /closed", from(origin));
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "access-control-allow-origin": origin,
      "access-control-allow-credentials": "true",
      vary: "Origin",
    });
    expect(headers["access-control-expose-headers"]).toContain("x-request-id");
  },
);

test.each([
  "https://evil.example",
  "https://app.example.evil.example",
  "http://app.example",
  "null",
])("pages of %s cannot read responses", async (origin) => {
  expect((await invokeRoute(group, "POST /closed", from(origin))).headers).not.toHaveProperty(
    "access-control-allow-origin",
  );
});

test("a route with cors allows every origin without credentials", async () => {
  const { headers } = await invokeRoute(group, "POST /open", from("https://evil.example"));
  expect(headers["access-control-allow-origin"]).toBe("*");
  expect(headers).not.toHaveProperty("access-control-allow-credentials");
});

test("a page can read every error, even early ones", async () => {
  const origin = "https://app.example";
  const unsupported = await invokeRoute(group, "POST /closed", {
    body: {},
    headers: { origin, "content-type": "text/plain" },
  });
  const incomplete = await invokeRoute(group, "POST /closed", { body: {}, headers: { origin } });
  expect([unsupported.status, incomplete.status]).toEqual([415, 400]);
  for (const { headers } of [unsupported, incomplete])
    expect(headers["access-control-allow-origin"]).toBe(origin);
});
