// The OpenAPI document and the API reference.
import * as z from "zod";
import { config } from "../../shared/config.ts";
import { missing } from "../../shared/errors.ts";
import { compressedOnce, recompressedOnce } from "../../shared/http/compression.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import type { OpenApiDocument } from "../../shared/http/openapi/document.ts";
import { referencePage, referencePolicy, scriptName } from "../../shared/http/reference/page.ts";
import { getReferenceScript } from "../../shared/http/reference/scalar-script.ts";
import { route } from "../../shared/http/route.ts";
import { createLruCache } from "../../shared/kernel/lru-cache.ts";
import { renderErrorCodesPage } from "../../shared/pages/error-codes-page.ts";
import { getOpenApiDocument } from "../openapi-document.ts";

const CompressedText = z.custom<string | Uint8Array>();
/** The content changes only with a new version of the service. */
const cached = { "cache-control": "public, max-age=300" };
const cachedForever = { "cache-control": "public, max-age=31536000, immutable" };
const cache = createLruCache<string | Uint8Array>(16_000_000);

export const reference = routeGroup("reference", [
  route("GET /openapi.json", "Get the OpenAPI document", {
    operationId: "getOpenApiDocument",
    description: "Returns this interface as OpenAPI 3.1.",
    auth: "public",
    cors: true,
    returns: CompressedText,
    contentType: "application/json; charset=utf-8",
    handle: ({ request, reply }) => {
      Object.assign(reply.headers, cached);
      const { publicUrl, sandboxUrl } = config;
      const make = async () => JSON.stringify(nameService(await getOpenApiDocument()));
      return compressedOnce(
        { cache, key: `openapi.json ${publicUrl} ${sandboxUrl}`, make },
        request,
        reply,
      );
    },
  }),
  route("GET /docs", "Get the API reference", {
    operationId: "getReferencePage",
    description: "Returns this interface as a page to read and to try.",
    auth: "public",
    returns: z.string(),
    contentType: "text/html; charset=utf-8",
    handle: async ({ reply }) => {
      Object.assign(reply.headers, cached, { "content-security-policy": referencePolicy });
      return referencePage;
    },
  }),
  route("GET /docs/errors", "Get the page of error codes", {
    operationId: "getErrorCodesPage",
    description: "Returns the page that `docs` of an error links to. The fragment is the code.",
    auth: "public",
    returns: z.string(),
    contentType: "text/html; charset=utf-8",
    handle: async ({ reply }) => {
      Object.assign(reply.headers, cached);
      return renderErrorCodesPage();
    },
  }),
  route("GET /docs/:script", "Get the script of the API reference", {
    operationId: "getReferenceScript",
    description: "Returns the script that the page of the API reference names.",
    auth: "public",
    rateLimit: "address",
    returns: CompressedText,
    contentType: "text/javascript; charset=utf-8",
    handle: async ({ params: { script }, request, reply }) => {
      if (script !== scriptName) throw missing("The script does not exist");
      Object.assign(reply.headers, cachedForever);
      const stored = await getReferenceScript();
      return recompressedOnce({ cache, key: script, stored }, request, reply);
    },
  }),
]);
export const { handler } = reference;

/** Replaces the origin in the guides by ours, and the credentials by those of the sandbox. */
function nameService(document: OpenApiDocument): OpenApiDocument {
  const { publicUrl, sandboxUrl } = config;
  const text = document.info.description.replaceAll("https://mail.example.com", publicUrl);
  const description = sandboxUrl === undefined ? text : useSandbox(text, sandboxUrl);
  return {
    ...document,
    servers: document.servers.map((server) => ({ ...server, url: publicUrl })),
    info: { ...document.info, description },
  };
}

/**
 * The sandbox creates an account per request, so the script takes all credentials from one
 * response.
 */
const useSandbox = (text: string, url: string): string =>
  text
    .replace(
      '"apiKey":"SG...."}',
      () => `'$(curl -s ${url} | grep -o '"apiKey":"SG[^}]*},"webhookSecret":"[^"]*"')'`,
    )
    .replace(
      "Replace `SG....` with your own API key.",
      "On this machine, the fourth `curl` uses an account of " +
        `[the provider sandbox](${url}), and no\nemail leaves the machine.`,
    );
