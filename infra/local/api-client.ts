// The API client of the npm commands.
import { setTimeout as pause } from "node:timers/promises";
import { parseJson } from "../../shared/kernel/json.ts";
import { CliError } from "./cli-error.ts";

export interface ApiTarget {
  url: string;
  /** The credential, sent with each request. */
  headers: Record<string, string>;
}

interface ApiResponse {
  status: number;
  cookie: string;
  body: { data?: unknown; error?: string };
}

/** Method and path, such as `GET /sites`. */
type Endpoint = `${"GET" | "POST" | "PUT"} /${string}`;

const notJson = { error: "the response is not JSON" };

/**
 * Calls an endpoint below /api/v1 and returns `data` of the response. Throws CliError with the
 * service's error message. Waits when the service limits the rate. A `Uint8Array` is sent as a
 * file.
 */
export async function callApi<T>(
  caller: ApiTarget,
  endpoint: Endpoint,
  body?: unknown,
): Promise<T> {
  const fullEndpoint = endpoint.replace(" ", " /api/v1") as Endpoint;
  const { status, body: responseBody } = await sendRequest(caller, fullEndpoint, body);
  if (status >= 300)
    throw new CliError(`${endpoint} failed with status ${status}: ${responseBody.error}`);
  return responseBody.data as T;
}

const isFile = (body: unknown): body is Uint8Array<ArrayBuffer> => body instanceof Uint8Array;

const textOf = (body: unknown): string | null => (body === undefined ? null : JSON.stringify(body));

export async function sendRequest(
  caller: ApiTarget,
  endpoint: Endpoint,
  body?: unknown,
): Promise<ApiResponse> {
  const [method = "", path = ""] = endpoint.split(" ");
  const response = await fetch(caller.url + path, {
    method,
    headers: {
      accept: "application/json",
      "content-type": isFile(body) ? "application/octet-stream" : "application/json",
      ...caller.headers,
    },
    body: isFile(body) ? body : textOf(body),
    redirect: "manual",
    signal: AbortSignal.timeout(60_000),
  }).catch((error: unknown) => {
    throw connectionError(caller.url, error);
  });
  if (response.status === 429) {
    await response.text();
    await pause(Number(response.headers.get("retry-after") ?? 1) * 1000);
    return sendRequest(caller, endpoint, body);
  }
  const text = await response.text();
  const [cookie = ""] = response.headers.getSetCookie();
  return {
    status: response.status,
    cookie: cookie.split(";")[0]!,
    body: (parseJson(text) as ApiResponse["body"] | undefined) ?? notJson,
  };
}

export function connectionError(url: string, error: unknown): CliError {
  const { cause, name } = error as { cause?: { code?: string }; name: string };
  if (name === "TimeoutError") return new CliError(`${url} did not respond within a minute`);
  return new CliError(
    `No service responds at ${url} (${cause?.code ?? name}): run npm start first, ` +
      "or name the service with --url",
  );
}

interface SandboxCredentials {
  account: string;
  providers: Record<string, { credentials: Record<string, string>; webhookSecret: string }>;
}

/** Creates an account at the provider sandbox. */
export async function createSandboxAccount(caller: ApiTarget): Promise<SandboxCredentials> {
  const { status, body } = await sendRequest(caller, "GET /_local/sandbox");
  const account = body.data as Partial<SandboxCredentials> | undefined;
  if (status === 200 && account?.providers) return account as SandboxCredentials;
  throw new CliError(
    `${caller.url} has no provider sandbox: it is deployed, runs with SANDBOX=off, or is not ` +
      "Pennymail. The demo sends only through the sandbox; to send through your own provider, " +
      'see "Send real email" in infra/local/README.md',
  );
}
