// The only file that calls out over HTTP. Every call has a time limit and a size cap, and follows no redirect.

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

/**
 * The call brought no answer. `reached` false: the connection was never made, so nothing can have happened;
 * true: the request may have been carried out before the answer was lost.
 */
export class NoAnswer extends Error {
  readonly reached: boolean;
  constructor(reached: boolean, cause: unknown) {
    super(reached ? "The connection was lost before an answer came" : "No connection could be made", { cause });
    this.reached = reached;
  }
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

async function textOf(response: Response, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > maxBytes) throw new Error(`The answer is larger than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

const connectFaults = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

function neverConnected(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const faults = cause instanceof AggregateError ? cause.errors : [cause];
  return faults.every((fault) => connectFaults.has((fault as { code?: string } | undefined)?.code ?? ""));
}
