// The client: a method for each operation of the table.
import { callOperation } from "./call-operation.ts";
import { type OperationTable, parseOperation } from "./operation.ts";
import type { Hooks } from "./send-request.ts";

export interface ClientOptions {
  /** `pm_live_...`. Public operations need none. */
  apiKey?: string;
  /**
   * URL of your service, such as `https://mail.shop.example`. Without it, the URL and the API key
   * are those of the environment: `PENNYMAIL_URL` and `PENNYMAIL_API_KEY`.
   */
  baseUrl?: string;
  /** Site of all calls whose input names none. */
  siteId?: number;
  /** Milliseconds for one attempt. Defaults to 60,000. */
  timeout?: number;
  /**
   * How often a request is repeated after 429, 5xx, a broken connection or a timeout. Defaults to
   * 5, which takes about 15 seconds, or as long as the service asks.
   */
  maxRetries?: number;
  /** Sent with every request. */
  headers?: Record<string, string>;
  hooks?: Hooks;
  /** Replaces the `fetch` of the platform. */
  fetch?: typeof globalThis.fetch;
}

/** The last argument of every method. */
export interface CallOptions {
  /** Ends the call, its retries and the waits between them. */
  signal?: AbortSignal;
  timeout?: number;
  maxRetries?: number;
  headers?: Record<string, string>;
  /**
   * Text of up to 255 characters. The same request with the same key is done once in 24 hours, also
   * by another process. Defaults to a random one for each call.
   */
  idempotencyKey?: string;
}

/** A client with a method for each operation of the table: `client.contacts.create(...)`. */
export class Client {
  constructor(operations: OperationTable, options: ClientOptions) {
    const settings = resolveSettings(options);
    for (const [group, actions] of Object.entries(operations)) {
      const methods = Object.entries(actions).map(([action, text]) => {
        const operation = parseOperation(`${group}.${action}`, text);
        return [action, (...args: unknown[]) => callOperation(settings, operation, args)];
      });
      Object.assign(this, { [group]: Object.fromEntries(methods) });
    }
  }
}

export interface ClientSettings {
  /** Ends in /api/v1. */
  apiUrl: string;
  headers: Record<string, string>;
  siteId: number | undefined;
  timeout: number;
  maxRetries: number;
  hooks: Hooks;
  fetch: typeof globalThis.fetch;
}

function resolveSettings(options: ClientOptions): ClientSettings {
  const { baseUrl = "", apiKey } = { ...options, ...readEnvironment(options) };
  if (!/^https?:/.test(baseUrl))
    throw new TypeError(
      "baseUrl, or PENNYMAIL_URL, must be the URL of your service: https://mail.shop.example",
    );
  return {
    apiUrl: `${baseUrl.replace(/(?<!\/)\/+$/, "").replace(/\/api\/v1$/, "")}/api/v1`,
    headers: { ...(apiKey && { authorization: `Bearer ${apiKey}` }), ...options.headers },
    siteId: options.siteId,
    timeout: options.timeout ?? 60_000,
    maxRetries: options.maxRetries ?? 5,
    hooks: options.hooks ?? {},
    fetch: options.fetch ?? globalThis.fetch,
  };
}

/** The key of the environment is only sent to the URL of the environment. */
function readEnvironment({ baseUrl, apiKey }: ClientOptions): ClientOptions {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const { PENNYMAIL_URL: url, PENNYMAIL_API_KEY: key = "" } = process?.env ?? {};
  return baseUrl === undefined && url ? { baseUrl: url, apiKey: apiKey ?? key } : {};
}
