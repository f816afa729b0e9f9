// The MCP server for agents.
import * as z from "zod";
import { config } from "../../shared/config.ts";
import { forbidden, invalid, type Problem } from "../../shared/errors.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import type { McpCatalog } from "../../shared/http/mcp/catalog.ts";
import { answerMessage } from "../../shared/http/mcp/server.ts";
import { type ApiRequest, route } from "../../shared/http/route.ts";
import { getMcpCatalog } from "../mcp-catalog.ts";

/** Requests, notifications and responses of JSON-RPC 2.0. Batches are no longer part of MCP. */
const McpMessage = z
  .looseObject({
    jsonrpc: z.literal("2.0").describe("Version of JSON-RPC."),
    method: z.string().max(100).optional().describe("Method, such as `tools/call`."),
    id: z
      .union([z.string().max(200), z.int()])
      .optional()
      .describe("Id of the request. A notification has none."),
    params: z.record(z.string(), z.unknown()).optional().describe("Parameters of the method."),
  })
  .meta({ id: "McpMessage", examples: [{ jsonrpc: "2.0", id: 1, method: "tools/list" }] });

export const mcp = routeGroup("mcp", [
  route("POST /mcp", "Send a message to the MCP server", {
    operationId: "sendMcpMessage",
    description:
      "Takes one message of the Model Context Protocol (streamable HTTP, without sessions). " +
      "Notifications get status 202 and no body. A tool call counts as a request of its own: it " +
      "calls the API with the same key.",
    atRoot: true,
    auth: "api_key",
    level: "site",
    preview: true,
    query: z.object({
      groups: z
        .string()
        .max(500)
        .default("")
        .describe("Groups whose operations become tools of their own, separated by commas.")
        .meta({ examples: ["contacts,campaigns"] }),
    }),
    body: McpMessage,
    returns: z.string(),
    contentType: "application/json",
    otherStatuses: { 202: "The notification was accepted." },
    errors: {
      400: "The message or the query is not valid.",
      403: "The page that sent the request is not of this service (`origin_forbidden`).",
    },
    handle: async ({ caller, query, body, request, reply }) => {
      refuseForeignOrigin(request);
      const catalog = await getMcpCatalog();
      const { status, text } = await answerMessage(
        { body, headers: request.headers },
        {
          catalog,
          caller,
          authorization: request.headers.authorization!,
          client: { address: request.clientIp, userAgent: request.headers["user-agent"] },
          groups: parseGroups(query.groups, catalog),
        },
      );
      if (status === 400) throw refusedMessage(text);
      reply.status = status;
      return text;
    },
  }),
]);
export const { handler } = mcp;

/** `text` is an error of JSON-RPC. Other errors of the endpoint have the format of the API. */
const refusedMessage = (text: string): Problem =>
  invalid((JSON.parse(text) as { error: { message: string } }).error.message);

/** The protocol demands it, against pages that reach a server by DNS rebinding. */
function refuseForeignOrigin({ headers: { origin } }: ApiRequest): void {
  if (origin === undefined || origin === new URL(config.publicUrl).origin) return;
  if (config.allowedOrigins.includes(origin)) return;
  throw forbidden("The Origin must be PUBLIC_URL or one of ALLOWED_ORIGINS", {
    code: "origin_forbidden",
  });
}

function parseGroups(text: string, { groups }: McpCatalog): string[] {
  const names = text
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  const unknown = names.find((name) => !groups.some((group) => group.name === name));
  if (unknown === undefined) return names;
  const message = `There is no group ${unknown.slice(0, 50)}`;
  throw invalid(message, {
    details: [
      { path: "groups", message: `must be of ${groups.map(({ name }) => name).join(", ")}` },
    ],
  });
}
