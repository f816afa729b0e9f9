// Calls the API over HTTP with the API key of the caller, so that every check of the API holds. The
// host is always that of this service, and the path is that of an operation.
import { request } from "../../adapters/http/client.ts";
import { NoResponse } from "../../adapters/http/no-response.ts";
import { config } from "../../config.ts";
import { isObject, parseJson } from "../../kernel/json.ts";
import { type ForwardedClient, forwardedClientHeader, signClient } from "../forwarded-client.ts";
import type { McpOperation } from "./catalog.ts";
import { ToolFailure } from "./tool-failure.ts";

export type OperationArguments = Record<string, unknown>;

/**
 * Calls an operation and returns the text of its response. Throws `ToolFailure` for wrong arguments
 * and for every status but 2xx.
 */
export type CallApi = (operation: McpOperation, args: OperationArguments) => Promise<string>;

const maxResponseBytes = 36 * 1024 * 1024;
/** The gateway waits at most 30 seconds for the response of a tool, with all its calls. */
const maxSeconds = 25;

interface Agent {
  /** The header of the caller. */
  authorization: string;
  client: ForwardedClient;
}

/** The calls together may take 25 seconds. */
export function createApiCaller({ authorization, client }: Agent): CallApi {
  const deadline = performance.now() + maxSeconds * 1000;
  return async (operation, args) => {
    checkNames(operation, args);
    const { method, bodyType } = operation;
    const { body, idempotencyKey } = args;
    const sendsBody = bodyType !== undefined && body !== undefined;
    const response = await request({
      method,
      url: config.apiOrigin + fillPath(operation, args) + toQueryString(operation, args),
      headers: {
        authorization,
        accept: "application/json, text/csv;q=0.9",
        "user-agent": "pennymail-mcp",
        [forwardedClientHeader]: await signClient(client, authorization),
        ...(sendsBody && { "content-type": bodyType }),
        ...(typeof idempotencyKey === "string" && { "idempotency-key": idempotencyKey }),
      },
      body: sendsBody ? encodeBody(bodyType, body) : undefined,
      timeoutSeconds: Math.max(0, Math.ceil((deadline - performance.now()) / 1000)),
      maxBytes: maxResponseBytes,
    }).catch((error: unknown) => {
      throw toFailure(error);
    });
    if (response.status >= 200 && response.status < 300) return response.text;
    throw refusal(response.status, response.text);
  };
}

const toFailure = (error: unknown): unknown =>
  error instanceof NoResponse
    ? new ToolFailure(
        "unavailable",
        "The API did not respond in time, or its response is too long",
        {
          remedy:
            "Ask for less, or wait and try again. A change may have been made: read the record " +
            "first.",
        },
      )
    : error;

/** Throws for an argument that the operation does not have, because it may be misspelt. */
function checkNames({ name, inputSchema }: McpOperation, args: OperationArguments): void {
  const known = Object.keys(inputSchema.properties ?? {});
  const unknown = Object.keys(args).find((argument) => !known.includes(argument));
  if (unknown === undefined) return;
  throw new ToolFailure(
    "validation_failed",
    `${name} has no argument ${unknown.slice(0, 100)}, only ${known.join(", ") || "none"}`,
    { remedy: "Fields of the body belong into the argument `body`." },
  );
}

function fillPath({ name, path, pathParameters }: McpOperation, args: OperationArguments): string {
  return pathParameters.reduce((filled, parameter) => {
    const value = args[parameter];
    const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
    // A path of dots leads to another operation.
    if (!/[^.]/.test(text))
      throw new ToolFailure("validation_failed", `${name} needs the argument ${parameter}`);
    return filled.replace(`{${parameter}}`, () => encodeURIComponent(text));
  }, path);
}

function toQueryString(
  { inputSchema, queryParameters }: McpOperation,
  args: OperationArguments,
): string {
  const search = new URLSearchParams();
  for (const name of queryParameters) {
    const value = args[name] ?? inputSchema.properties?.[name]?.default;
    if (value !== undefined) search.set(name, String(value));
  }
  const text = search.toString();
  return text && `?${text}`;
}

function encodeBody(bodyType: string, body: unknown): string {
  if (bodyType === "application/json") return JSON.stringify(body);
  if (typeof body === "string") return body;
  throw new ToolFailure("validation_failed", `body must be a text of the type ${bodyType}`);
}

function refusal(status: number, text: string): ToolFailure {
  const body = parseJson(text);
  const { error, code, details, requestId } = isObject(body) ? body : {};
  return new ToolFailure(
    typeof code === "string" ? code : "unexpected_response",
    typeof error === "string" ? error : `The API responded with status ${status}`,
    { status, details, requestId: typeof requestId === "string" ? requestId : undefined },
  );
}
