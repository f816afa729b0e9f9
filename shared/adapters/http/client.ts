// HTTP requests to known hosts; public-client.ts is for URLs from customers. Every request has a
// time limit and a size limit, and follows no redirect.
import { failedBeforeSending, NoResponse } from "./no-response.ts";

export interface WebRequest {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer> | FormData | undefined;
  timeoutSeconds?: number;
  maxBytes?: number;
}

export interface WebResponse {
  status: number;
  headers: Headers;
  text: string;
}

/**
 * Returns the response with any status. Throws only `NoResponse`. Defaults: GET, 15 seconds,
 * response of at most 1 MB.
 */
export async function request({
  method = "GET",
  url,
  headers = {},
  body,
  timeoutSeconds = 15,
  maxBytes = 1_000_000,
}: WebRequest): Promise<WebResponse> {
  try {
    const response = await fetch(url, {
      method,
      headers,
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutSeconds * 1000),
      ...(body !== undefined && { body }),
    });
    return {
      status: response.status,
      headers: response.headers,
      text: await readText(response, maxBytes),
    };
  } catch (error) {
    throw new NoResponse(!failedBeforeSending(error), error);
  }
}

/** GETs bytes from a known host. Throws only `NoResponse`. */
export async function download(
  url: string,
  maxBytes: number,
  headers: Record<string, string> = {},
): Promise<{ status: number; bytes: Uint8Array }> {
  try {
    const response = await fetch(url, {
      headers,
      redirect: "manual",
      signal: AbortSignal.timeout(15_000),
    });
    return { status: response.status, bytes: await readBytes(response, maxBytes) };
  } catch (error) {
    throw new NoResponse(!failedBeforeSending(error), error);
  }
}

interface ResponseBody {
  body: AsyncIterable<Uint8Array> | null;
}

export const readText = async (response: ResponseBody, maxBytes: number): Promise<string> =>
  (await readBytes(response, maxBytes)).toString("utf8");

async function readBytes({ body }: ResponseBody, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.byteLength;
    if (size > maxBytes) throw new Error(`The response is larger than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
