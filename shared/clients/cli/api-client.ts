// The SDK as the commands use it.
import type { ClientOptions } from "../sdk/client.ts";
import { Pennymail } from "../sdk/index.ts";
import { type Config, notLoggedIn, readConfig } from "./config-file.ts";
import type { Terminal } from "./terminal.ts";

type Method = (...args: unknown[]) => unknown;
/** A page of a list: its items under their name. Short lists have no pagination. */
export type ListPage = Record<string, unknown> & {
  pagination?: { total: number | null; nextCursor: string | null };
};
export type ApiClient = Record<string, Record<string, Method>>;

/** A client without a credential, for example to log in. */
export function createClient(
  { url, ...config }: Config & { url: string },
  terminal: Terminal,
  options: Partial<ClientOptions> = {},
): ApiClient {
  return new Pennymail({
    baseUrl: url,
    ...(config.apiKey !== undefined && { apiKey: config.apiKey }),
    ...(config.siteId !== undefined && { siteId: config.siteId }),
    // A person waits.
    maxRetries: 2,
    hooks: { response: ({ body }) => writeWarnings(body, terminal) },
    ...options,
  }) as unknown as ApiClient;
}

/** The client of the user who is logged in. Public operations need no key. */
export function connect(terminal: Terminal, { isPublic = false } = {}): ApiClient {
  const config = readConfig();
  if (!config.url) throw notLoggedIn("URL of a service");
  if (!config.apiKey && !isPublic) throw notLoggedIn("API key");
  return createClient({ ...config, url: config.url }, terminal);
}

/** Calls a method: `sites.create`. */
export const call = <T>(client: ApiClient, name: string, ...args: unknown[]): Promise<T> => {
  const [group = "", action = ""] = name.split(".");
  return client[group]![action]!(...args) as Promise<T>;
};

function writeWarnings(body: unknown, { writeError }: Terminal): void {
  const { warnings = [] } = (body ?? {}) as { warnings?: string[] };
  for (const warning of warnings) writeError(`Note: ${warning}\n`);
}
