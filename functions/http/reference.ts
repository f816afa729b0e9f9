// The interface described: for programs, and for people.
import * as z from "zod";
import { config } from "../../shared/config.ts";
import { compressed } from "../../shared/http/compressed.ts";
import { page } from "../../shared/http/reference/page.ts";
import { route } from "../../shared/http/route.ts";
import { group } from "../../shared/http/serve.ts";
import { document } from "./interface.ts";

const Text = z.custom<string | Uint8Array>();
/** It changes only with a new version of the service. */
const cached = { "cache-control": "public, max-age=300" };

export const reference = group("reference", [
  route("GET /openapi.json", "This interface as an OpenAPI 3.1 document", {
    auth: "public",
    returns: Text,
    type: "application/json; charset=utf-8",
    handle: async ({ request, reply }) => {
      Object.assign(reply.headers, cached);
      return compressed(JSON.stringify({ ...(await document()), servers: [{ url: config.publicUrl }] }), request, reply);
    },
  }),
  route("GET /docs", "This interface as a page to read", {
    auth: "public",
    query: z.object({
      q: z
        .string()
        .max(100)
        .optional()
        .describe("Shows the endpoints that have all these words, and where fields and the basics tell of them")
        .meta({ examples: ["contacts tag"] }),
    }),
    returns: Text,
    type: "text/html; charset=utf-8",
    handle: async ({ query, request, reply }) => {
      Object.assign(reply.headers, cached);
      return compressed(
        page(await document(), { origin: config.publicUrl, sandboxUrl: config.sandboxUrl, search: query.q }),
        request,
        reply,
      );
    },
  }),
]);
export const { handler } = reference;
