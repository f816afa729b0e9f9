import type { NodeProperty } from "./n8n-types.ts";

/** The name of the credentials in the description of the nodes. */
export const credentialsName = "pennymailApi";

/** The address of the service, as n8n computes it. */
const serviceUrl = '{{ $credentials.baseUrl.trim().replace(/(?<!\\/)\\/+$/, "") }}';
export const apiUrlExpression = `=${serviceUrl}/api/v1`;
/** The same, of credentials that a function read. */
export const toApiUrl = ({ baseUrl }: Record<string, unknown>): string =>
  `${String(baseUrl)
    .trim()
    .replace(/(?<!\/)\/+$/, "")}/api/v1`;

/** Credentials of n8n: the address of a service, and an API key. */
export class PennymailApi {
  name = credentialsName;
  displayName = "Pennymail API";
  icon = {
    light: "file:../nodes/Pennymail/pennymail.svg",
    dark: "file:../nodes/Pennymail/pennymail.dark.svg",
  };
  properties: NodeProperty[] = [
    {
      displayName: "Base URL",
      name: "baseUrl",
      type: "string",
      required: true,
      default: "",
      placeholder: "https://mail.example.com",
      description: "The address of your Pennymail, without a path",
    },
    {
      displayName: "API Key",
      name: "apiKey",
      type: "string",
      typeOptions: { password: true },
      required: true,
      default: "",
      description: "A key from Settings, API keys, with the scopes that the workflow needs",
    },
  ];
  authenticate = {
    type: "generic",
    properties: { headers: { Authorization: "=Bearer {{ $credentials.apiKey }}" } },
  };
  // A ping of the MCP server is a call that a key with any scopes may make.
  test = {
    request: {
      baseURL: `=${serviceUrl}`,
      url: "/mcp",
      method: "POST",
      headers: { Accept: "application/json, text/event-stream" },
      body: { jsonrpc: "2.0", id: 1, method: "ping" },
    },
  };
}
