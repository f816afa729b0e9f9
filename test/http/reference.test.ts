import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, inject, test } from "vitest";
import { ask, freshEmail, mailTo } from "../support/client.ts";

const pasteable = new URL(inject("baseUrl")).hostname === "127.0.0.1" && spawnSync("curl", ["--version"]).status === 0;
const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const unescaped = (html: string): string => html.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name]!);

/** As sent: fetch would unpack it. */
const bytesOf = (path: string, encoding: string): Promise<{ headers: Record<string, unknown>; bytes: Buffer }> =>
  new Promise((resolve, reject) => {
    request(`${inject("baseUrl")}/api/v1${path}`, { headers: { "accept-encoding": encoding } }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      resolve({ headers: response.headers, bytes: Buffer.concat(chunks) });
    })
      .on("error", reject)
      .end();
  });

describe("the reference", () => {
  test("is public, and may be kept for a while", async () => {
    for (const path of ["/openapi.json", "/docs"]) {
      const { status, headers } = await ask("GET", path);
      expect(status).toBe(200);
      expect(headers.get("cache-control")).toBe("public, max-age=300");
    }
  });

  test("tells programs where the service is, in a bare document", async () => {
    const { text } = await ask("GET", "/openapi.json");
    const { openapi, servers, paths } = JSON.parse(text);
    expect(openapi).toBe("3.1.0");
    expect((await fetch(`${servers[0].url}/api/v1/openapi.json`)).status).toBe(200);
    expect(paths).toHaveProperty("/api/v1/openapi.json");
  });

  test("lets a page do nothing but show itself", async () => {
    const { headers } = await ask("GET", "/docs");
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("content-security-policy")).not.toContain("script-src");
  });

  test.each([
    ["gzip, deflate, br", "br", brotliDecompressSync],
    ["gzip;q=1, br;q=0", "gzip", gunzipSync],
    ["identity", undefined, (bytes: Buffer) => bytes],
  ])("is packed as the caller reads it: %s", async (accepted, encoding, unpacked) => {
    const { headers, bytes } = await bytesOf("/docs", accepted);
    expect(headers["content-encoding"]).toBe(encoding);
    expect(headers.vary).toBe("Accept-Encoding");
    expect(unpacked(bytes).toString()).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
  });

  test("refuses to search for too much", async () => {
    expect((await ask("GET", `/docs?q=${"a".repeat(100)}`)).status).toBe(200);
    expect((await ask("GET", `/docs?q=${"a".repeat(101)}`)).status).toBe(400);
  });

  test.skipIf(!pasteable)("shows a first send that arrives, pasted as it stands", async () => {
    const { text } = await ask("GET", "/docs");
    const [, shown = ""] = /id="start"[\s\S]*?<pre><code>([\s\S]*?)<\/code>/.exec(text) ?? [];
    const recipient = freshEmail();
    const pasted = unescaped(shown).replace("me@shop.example", freshEmail()).replace("ada@example.com", recipient);
    const folder = mkdtempSync(join(tmpdir(), "docs-"));
    try {
      const output = execFileSync("sh", ["-e"], { cwd: folder, input: pasted }).toString();
      expect(output).not.toContain('"error"');
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(await mailTo(recipient)).toMatchObject({ subject: "Hello", html: "<p>Hello Ada</p>" });
  });
});
