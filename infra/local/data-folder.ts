// DATA_DIR: all stored data of the local service.
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CliError } from "./cli-error.ts";

export interface DataFolder {
  /** The path of a file or folder. Undefined when nothing is stored. */
  path(name: string): string | undefined;
  /** An earlier process has stored data here, or in the backup that was copied here. */
  wasUsed: boolean;
  /** Releases the lock. */
  close(): void;
}

/** Locks the folder for this process. `:memory:` stores nothing and has no lock. */
export function openDataFolder(dataDir: string): DataFolder {
  if (dataDir === ":memory:") return { path: () => undefined, wasUsed: false, close: () => {} };
  const folder = resolve(dataDir);
  createFolder(folder);
  const lock = lockFolder(folder);
  const wasUsed = readdirSync(folder).some((name) => !name.startsWith("lock"));
  return { path: (name) => join(folder, name), wasUsed, close: () => lock.close() };
}

function createFolder(folder: string) {
  try {
    createWithParents(folder);
  } catch (error) {
    throw new CliError(`The folder ${folder} (DATA_DIR) cannot be created: ${errorMessage(error)}`);
  }
}

// mkdir with `recursive` never returns on file systems without folders (/proc).
function createWithParents(folder: string) {
  if (existsSync(folder)) return;
  createWithParents(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

// SQLite uses a lock of the operating system, which ends with the process.
function lockFolder(folder: string): DatabaseSync {
  try {
    const lock = new DatabaseSync(join(folder, "lock"));
    lock.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    const { errcode } = error as { errcode?: number };
    throw new CliError(
      errcode === sqliteBusyCode
        ? `Another running service uses the folder ${folder} (DATA_DIR): stop it, or set ` +
            "DATA_DIR to another folder"
        : `The folder ${folder} (DATA_DIR) cannot be written: ${errorMessage(error)}`,
    );
  }
}

const sqliteBusyCode = 5;
const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
