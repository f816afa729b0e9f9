// The file with the URL and the API key: ~/.config/pennymail/config.json, for its owner only.
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { CommandError, exitCodes } from "./exit-codes.ts";

export interface Config {
  /** URL of the service. */
  url?: string;
  apiKey?: string;
  siteId?: number;
  /** Signs the events that `pennymail listen` forwards. */
  listenSecret?: string;
}

export const configPath = (): string =>
  join(process.env.XDG_CONFIG_HOME || join(homedir(), ".config"), "pennymail/config.json");

/** Empty if there is no file. */
export function readConfigFile(): Config {
  let text: string;
  try {
    text = readFileSync(configPath(), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new CommandError(`${configPath()} cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(`${configPath()} is not JSON: delete it and run \`pennymail login\``);
  }
}

/** Replaces the file at once, so that a reader never finds half of it. */
export function writeConfigFile(config: Config): void {
  const path = configPath();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
}

/** The file, with PENNYMAIL_URL, PENNYMAIL_API_KEY and PENNYMAIL_SITE_ID in place of its values. */
export function readConfig(): Config {
  const { PENNYMAIL_URL: url, PENNYMAIL_API_KEY: apiKey, PENNYMAIL_SITE_ID: siteId } = process.env;
  if (siteId && !/^\d+$/.test(siteId))
    throw new CommandError("PENNYMAIL_SITE_ID must be the id of a site");
  return {
    ...readConfigFile(),
    ...(url && { url }),
    ...(apiKey && { apiKey }),
    ...(siteId && { siteId: Number(siteId) }),
  };
}

export const notLoggedIn = (missing: string): CommandError =>
  new CommandError(
    `There is no ${missing}: run \`pennymail login\`, or set PENNYMAIL_URL and PENNYMAIL_API_KEY`,
    exitCodes.notLoggedIn,
  );
