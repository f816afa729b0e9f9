// The address that the local service listens on, and at which commands find it.
import { CliError } from "./cli-error.ts";

interface ListenSettings {
  HOST?: string | undefined;
  PORT?: string | undefined;
}

export interface ListenAddress {
  host: string;
  port: number;
}

export function readListenAddress({ HOST, PORT }: ListenSettings): ListenAddress {
  const port = Number(PORT || 3000);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535)
    return { host: HOST || "127.0.0.1", port };
  throw new CliError(`PORT must be a number from 0 to 65535, not ${PORT}`);
}

/** The URL for callers. A service that listens on all interfaces is called on loopback. */
export function callableUrl({ host, port }: ListenAddress): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/**
 * The origin of `--url`, by default the address that `npm start` listens on with the same settings.
 */
export function resolveServiceUrl(url: string | undefined, settings: ListenSettings): string {
  if (url === undefined) return callableUrl(readListenAddress(settings));
  if (!URL.canParse(url))
    throw new CliError(`--url must be an address such as http://127.0.0.1:3000, not ${url}`);
  return new URL(url).origin;
}
