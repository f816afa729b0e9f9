// DATA_DIR: everything that a service on one machine keeps.
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Trouble } from "./trouble.ts";

export interface Folder {
  /** Where a file or folder of that name lies; undefined when nothing is kept. */
  path(name: string): string | undefined;
  /** Lets another service have it. */
  close(): void;
}

/** Takes the folder for this process alone. `:memory:` keeps nothing and is never taken. */
export function openFolder(dataDir: string): Folder {
  if (dataDir === ":memory:") return { path: () => undefined, close: () => {} };
  const folder = resolve(dataDir);
  make(folder);
  const lock = take(folder);
  return { path: (name) => join(folder, name), close: () => lock.close() };
}

function make(folder: string) {
  try {
    makeWithParents(folder);
  } catch (error) {
    throw new Trouble(`The folder ${folder} (DATA_DIR) cannot be made: ${reason(error)}`);
  }
}

// Node's own `recursive` never returns where a file system takes no folders (/proc).
function makeWithParents(folder: string) {
  if (existsSync(folder)) return;
  makeWithParents(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

// SQLite's lock is the operating system's: it goes with the process, however that ends.
function take(folder: string): DatabaseSync {
  try {
    const lock = new DatabaseSync(join(folder, "lock"));
    lock.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    const { errcode } = error as { errcode?: number };
    throw new Trouble(
      errcode === busy
        ? `The folder ${folder} (DATA_DIR) is in use by another running service`
        : `The folder ${folder} (DATA_DIR) cannot be written: ${reason(error)}`,
    );
  }
}

const busy = 5;
const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));
