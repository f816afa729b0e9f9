// Where a service on this machine listens, and is found by the commands that call it.
import { Trouble } from "./trouble.ts";

interface Settings {
  HOST?: string | undefined;
  PORT?: string | undefined;
}

export interface Address {
  host: string;
  port: number;
}

export function addressOf({ HOST, PORT }: Settings): Address {
  const port = Number(PORT || 3000);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return { host: HOST || "127.0.0.1", port };
  throw new Trouble(`PORT must be a number from 0 to 65535, not ${PORT}`);
}

/** An address that can be called: "every address" is not one. */
export function urlOf({ host, port }: Address): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/** What the option `--url` means, or else where `npm start` listens with the same settings. */
export function named(url: string | undefined, settings: Settings): string {
  if (url === undefined) return urlOf(addressOf(settings));
  if (!URL.canParse(url)) throw new Trouble(`--url must be an address such as http://127.0.0.1:3000, not ${url}`);
  return new URL(url).origin;
}
