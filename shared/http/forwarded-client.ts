// The client behind a request that the service makes to itself. The MCP server calls the API for an
// agent: the audit log and the request log must show the agent's address, not that of the service.
// The header is signed, so that nobody else can choose the address in the logs.
import { createHmac } from "node:crypto";
import { epochSeconds } from "../clock.ts";
import { constantTimeEquals, forwardingKey } from "../kernel/installation-secrets.ts";
import { isObject, parseJson } from "../kernel/json.ts";
import type { ApiRequest } from "./route.ts";

export const forwardedClientHeader = "x-pennymail-client";

export interface ForwardedClient {
  address: string;
  userAgent: string | undefined;
}

const maxAgeSeconds = 60;
const maxUserAgentLength = 300;

/** The value of the header for a request with this `Authorization`. */
export async function signClient(
  { address, userAgent = "" }: ForwardedClient,
  authorization: string,
): Promise<string> {
  const content = { address, userAgent: userAgent.slice(0, maxUserAgentLength) };
  const payload = Buffer.from(JSON.stringify({ ...content, at: epochSeconds() })).toString(
    "base64url",
  );
  return `${payload}.${await signatureOf(payload, authorization)}`;
}

/** The request as the client behind it made it. Ignores a header that is not ours. */
export async function withForwardedClient(request: ApiRequest): Promise<ApiRequest> {
  const { [forwardedClientHeader]: header, authorization } = request.headers;
  const client = header && authorization && (await openHeader(header, authorization));
  if (!client) return request;
  const headers = { ...request.headers, "user-agent": client.userAgent };
  return { ...request, headers, clientIp: client.address };
}

async function openHeader(
  header: string,
  authorization: string,
): Promise<ForwardedClient | undefined> {
  const [payload = "", signature = ""] = header.split(".");
  if (!constantTimeEquals(signature, await signatureOf(payload, authorization))) return undefined;
  const content = parseJson(Buffer.from(payload, "base64url").toString());
  if (!isObject(content)) return undefined;
  const { address, userAgent, at } = content;
  const isFresh = Math.abs(epochSeconds() - Number(at)) <= maxAgeSeconds;
  return isFresh
    ? { address: String(address), userAgent: String(userAgent) || undefined }
    : undefined;
}

const signatureOf = async (payload: string, authorization: string): Promise<string> =>
  createHmac("sha256", await forwardingKey())
    .update(JSON.stringify([payload, authorization]))
    .digest("base64url");
