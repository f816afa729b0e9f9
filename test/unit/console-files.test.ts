// The files of the console over HTTP, with the policy of its document.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { consoleFiles } from "../../functions/http/console-files.ts";
import { findWritable } from "../../infra/local/console-files.ts";
import { invokeRoute } from "../support/lambda-requests.ts";

const folder = mkdtempSync(join(tmpdir(), "console-"));
beforeAll(() => {
  vi.stubEnv("CONSOLE_FOLDER", folder);
  for (const [name, text] of [
    ["index.html", "<!doctype html><title>Console</title>"],
    ["main-1a2b.js", "start()"],
  ] as const)
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text));
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const getAsset = (file: string) =>
  invokeRoute<string>(consoleFiles, "GET /app/assets/:file", { params: { file } });

test("the document is only returned with its policy, and is read again each time", async () => {
  const { status, headers } = await invokeRoute(consoleFiles, "GET /app/:screen", {
    params: { screen: "contacts" },
  });
  expect(status).toBe(200);
  expect(headers["cache-control"]).toBe("no-cache");
  expect(headers["content-security-policy"]).toMatch(/script-src 'self'.*frame-ancestors 'none'/);
  expect((await getAsset("index.html")).status).toBe(404);
});

test("the frame of previews allows the styles of emails, and neither scripts nor other frames", async () => {
  const { status, headers } = await invokeRoute(consoleFiles, "GET /app/preview");
  expect(status).toBe(200);
  expect(headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(headers["content-security-policy"]?.split("; ")).toEqual([
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    "img-src 'self' https: data:",
    "frame-ancestors 'self'",
  ]);
});

test("a script is cached for a year, and names with a path are unknown", async () => {
  const { status, headers } = await getAsset("main-1a2b.js");
  expect(status).toBe(200);
  expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  for (const file of ["../main-1a2b.js", "..", "main-1a2b.js.br", "none.js", ".js", "a\0.js"])
    expect([file, (await getAsset(file)).status]).toEqual([file, 404]);
});

test("a user who cannot write to the checkout builds the console in another folder", async () => {
  const own = join(folder, "own");
  const checkout = join(folder, "index.html.br", "cache");
  expect(await findWritable([checkout, own])).toBe(own);
  expect(existsSync(own)).toBe(true);
  await expect(findWritable([checkout])).rejects.toThrow("ENOTDIR");
});
