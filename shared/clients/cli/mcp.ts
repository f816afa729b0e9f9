// `pennymail mcp`: the MCP server of the service for programs that start a command. It passes on
// each line of the standard input, and prints the responses.
import { createInterface } from "node:readline";
import { type Command, type CommandInput, textOf } from "./command.ts";
import { notLoggedIn, readConfig } from "./config-file.ts";
import type { Terminal } from "./terminal.ts";

export const mcp: Command = {
  usage: "mcp [--groups NAMES]",
  summary: "Serve agents by the Model Context Protocol",
  description:
    "For programs such as Claude Desktop, which start it: it reads messages from the standard " +
    "input until that ends. The agent can do what the API key can do.",
  options: { groups: { type: "string" } },
  optionTexts: {
    "--groups NAMES": "Groups whose operations become tools of their own: contacts,campaigns",
  },
  run: serveAgent,
};

interface Message {
  /** Notifications have none. */
  id?: string | number;
  method?: string;
}

interface McpConnection {
  url: URL;
  apiKey: string;
  terminal: Terminal;
  /** Set by the response to `initialize`. */
  protocolVersion?: string;
}

async function serveAgent({ terminal, values }: CommandInput): Promise<void> {
  const { url, apiKey } = readConfig();
  if (!url) throw notLoggedIn("URL of a service");
  if (!apiKey) throw notLoggedIn("API key");
  const connection: McpConnection = { url: new URL("/mcp", url), apiKey, terminal };
  const groups = textOf(values.groups);
  if (groups !== undefined) connection.url.searchParams.set("groups", groups);
  const pending = new Set<Promise<void>>();
  for await (const line of createInterface({ input: process.stdin })) {
    if (!line.trim()) continue;
    // A slow tool does not hold up the next message.
    const forwarding = forward(connection, line).finally(() => pending.delete(forwarding));
    pending.add(forwarding);
    if (pending.size >= maxPending) await Promise.race(pending);
  }
  await Promise.all(pending);
}

const maxPending = 16;

/** Never throws: the agent gets an error of JSON-RPC, or the terminal a note. */
async function forward(connection: McpConnection, line: string): Promise<void> {
  const { terminal } = connection;
  const message = parse(line) as Message | undefined;
  const reply = (body: object) => terminal.write(`${JSON.stringify(body)}\n`);
  const fail = (code: number, text: string) => {
    const { id } = message ?? { id: null };
    if (id === undefined) terminal.writeError(`${text}\n`);
    else reply({ jsonrpc: "2.0", id, error: { code, message: text } });
  };
  if (typeof message !== "object" || message === null)
    return fail(errorCodes.parse, "The message is not JSON");
  try {
    const response = await post(connection, line);
    const text = await response.text();
    const body = parse(text) as ResponseBody | undefined;
    if (!response.ok && !body?.jsonrpc) return fail(errorCodes.http, explain(response, body));
    const { protocolVersion } = body?.result ?? {};
    if (message.method === "initialize" && protocolVersion !== undefined)
      connection.protocolVersion = protocolVersion;
    if (body) reply(body);
  } catch (error) {
    const { message: reason, cause } = error as Error;
    const { code } = (cause ?? {}) as { code?: string };
    fail(errorCodes.http, `${connection.url.origin} did not respond: ${code ?? reason}`);
  }
}

/** JSON-RPC 2.0 defines the code of a parse error, and leaves -32000 to servers. */
const errorCodes = { parse: -32700, http: -32000 };

interface ResponseBody {
  jsonrpc?: string;
  result?: { protocolVersion?: string };
  /** The API sends `error` and `code` if it refuses the message. */
  error?: unknown;
  code?: string;
}

const timeoutMs = 60_000;

function post({ url, apiKey, protocolVersion }: McpConnection, body: string): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...(protocolVersion !== undefined && { "mcp-protocol-version": protocolVersion }),
    },
    body,
    // Another host must not get the key.
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
  });
}

function explain({ status, headers }: Response, body: ResponseBody | undefined): string {
  const { error, code } = body ?? {};
  const location = headers.get("location");
  if (location)
    return `The service redirects to ${location}: run \`pennymail login\` with that URL`;
  return typeof error === "string" ? `${error} (${code})` : `The service has responded ${status}`;
}

/** Undefined if the text is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
