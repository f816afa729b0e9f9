// Calls over HTTP to hosts that we know; for those that customers name see public-web.ts. Every call has a time limit and a size cap,
// and follows no redirect.
import { NoAnswer, neverConnected } from "./no-answer.ts";

export interface WebRequest {
  method?: "GET" | "POST" | "PUT" | "DELETE";
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

/** Any status is an answer; throws only NoAnswer. Defaults: GET, 15 s, 1 MB of answer. */
export async function call({
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
    return { status: response.status, headers: response.headers, text: await textOf(response, maxBytes) };
  } catch (error) {
    throw new NoAnswer(!neverConnected(error), error);
  }
}

/** GETs bytes from a host that we know, in one answer of at most `maxBytes`. Throws only NoAnswer. */
export async function download(
  url: string,
  maxBytes: number,
  headers: Record<string, string> = {},
): Promise<{ status: number; bytes: Uint8Array }> {
  try {
    const response = await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(15_000) });
    return { status: response.status, bytes: await bytesOf(response, maxBytes) };
  } catch (error) {
    throw new NoAnswer(!neverConnected(error), error);
  }
}

/** What is read of an answer. */
interface Answer {
  body: AsyncIterable<Uint8Array> | null;
}

export const textOf = async (response: Answer, maxBytes: number): Promise<string> => (await bytesOf(response, maxBytes)).toString("utf8");

async function bytesOf({ body }: Answer, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.byteLength;
    if (size > maxBytes) throw new Error(`The answer is larger than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
