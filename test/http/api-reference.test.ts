import { request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, inject, test } from "vitest";
import { errorMeanings } from "../../shared/error-codes.ts";
import { scriptName } from "../../shared/http/reference/page.ts";
import { request as apiClientRequest } from "../support/api-client.ts";

/** The compressed bytes; fetch would decompress them. */
const bytesOf = (
  path: string,
  encoding: string,
): Promise<{ headers: Record<string, unknown>; bytes: Buffer }> =>
  new Promise((resolve, reject) => {
    request(
      `${inject("baseUrl")}/api/v1${path}`,
      { headers: { "accept-encoding": encoding } },
      async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        resolve({ headers: response.headers, bytes: Buffer.concat(chunks) });
      },
    )
      .on("error", reject)
      .end();
  });

describe("the reference", () => {
  test("is public and cacheable", async () => {
    for (const path of ["/openapi.json", "/docs"]) {
      const { status, headers } = await apiClientRequest("GET", path);
      expect(status).toBe(200);
      expect(headers.get("cache-control")).toBe("public, max-age=300");
    }
  });

  test("names the URL of the service in the OpenAPI document", async () => {
    const { text } = await apiClientRequest("GET", "/openapi.json");
    const { openapi, servers, paths } = JSON.parse(text);
    expect(openapi).toBe("3.1.0");
    expect((await fetch(`${servers[0].url}/api/v1/openapi.json`)).status).toBe(200);
    expect(paths).toHaveProperty("/api/v1/openapi.json");
  });

  test("has a content security policy without other hosts or inline scripts", async () => {
    const { headers } = await apiClientRequest("GET", "/docs");
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = headers.get("content-security-policy");
    expect(policy).toContain("default-src 'none'; script-src 'self' 'sha256-");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/script-src[^;]*unsafe|https?:/);
  });

  test.each([
    ["gzip, deflate, br", "br", brotliDecompressSync],
    ["gzip;q=1, br;q=0", "gzip", gunzipSync],
    ["identity", undefined, (bytes: Buffer) => bytes],
  ])(
    "has a script that is compressed by Accept-Encoding: %s",
    async (accepted, encoding, unpacked) => {
      const { headers, bytes } = await bytesOf(`/docs/${scriptName}`, accepted);
      expect(headers["content-encoding"]).toBe(encoding);
      expect(headers.vary).toBe("Accept-Encoding");
      expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
      expect(unpacked(bytes).toString()).toContain("createApiReference");
    },
  );

  test("explains every error code on a page, to which errors link", async () => {
    const { body } = await apiClientRequest("GET", "/sites/1");
    const [url = "", fragment] = body.docs?.split("#") ?? [];
    expect(fragment).toBe("unauthorized");
    const page = await fetch(url);
    expect(page.status).toBe(200);
    expect(page.headers.get("cache-control")).toBe("public, max-age=300");
    const text = await page.text();
    expect([...text.matchAll(/<section id="(\w+)">/g)].map(([, code]) => code)).toEqual(
      Object.keys(errorMeanings),
    );
    expect(text).toContain("<code>Authorization: Bearer pm_live_...</code>");
  });

  test("has no other script", async () => {
    expect((await apiClientRequest("GET", "/docs/scalar-1.0.0.js")).status).toBe(404);
  });
});
