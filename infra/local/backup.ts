// Copies DATA_DIR while a service can be writing to it.
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { now } from "../../shared/clock.ts";
import { CliError } from "./cli-error.ts";

export interface BackupManifest {
  format: 1;
  version: string;
  startedAt: string;
  finishedAt: string;
  files: number;
  bytes: number;
}

/** A folder with this file is a backup: a service that starts with it sends nothing at first. */
export const manifestName = "backup.json";
const queueDatabase = join("queues", "fauxqs.db");
/** Files and folders of the service that are not data. */
const skippedNames = new Set([
  "lock",
  "lock-journal",
  "control.sock",
  "console",
  "engine",
  manifestName,
  "restored-backup.json",
]);

/**
 * Copies objects before the databases, because a worker can delete one in between, and again after
 * them, because the table can refer to new ones. The queues come before the table: a message for
 * finished work is harmless, and schedules find work without a message.
 */
export async function backUp(source: string, target: string): Promise<BackupManifest> {
  checkFolders(source, target);
  const startedAt = now().toISOString();
  const unfinished = `${target}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  try {
    mkdirSync(unfinished, { mode: 0o700 });
    copyFiles(source, unfinished);
    const databases = filesIn(source).filter(isDatabase);
    const inOrder = [queueDatabase, ...databases.filter((name) => name !== queueDatabase)];
    for (const name of inOrder)
      if (existsSync(join(source, name))) copyDatabase(join(source, name), join(unfinished, name));
    copyFiles(source, unfinished);
    const manifest = finish(unfinished, startedAt);
    renameSync(unfinished, target);
    return manifest;
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw new CliError(`The backup to ${target} failed: ${(error as Error).message}`);
  }
}

function checkFolders(source: string, target: string) {
  if (source.endsWith(":memory:"))
    throw new CliError("A service in memory has nothing to back up: set DATA_DIR to a folder");
  if (process.env.AWS_ENDPOINT_URL_DYNAMODB)
    throw new CliError(
      "The table is not in DATA_DIR but at AWS_ENDPOINT_URL_DYNAMODB: back it up there",
    );
  if (!existsSync(join(source, "kms-key")))
    throw new CliError(`The folder ${source} (DATA_DIR) holds no data of a service`);
  if (existsSync(target)) throw new CliError(`${target} exists: name a new folder`);
  if (!existsSync(dirname(target)))
    throw new CliError(`The folder ${dirname(target)} does not exist`);
  if (`${target}${sep}`.startsWith(`${source}${sep}`))
    throw new CliError("The backup cannot be inside DATA_DIR");
}

/** Paths relative to `folder`. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));

const isDatabase = (name: string): boolean => name.endsWith(".db");
const isCopied = (name: string): boolean =>
  !skippedNames.has(name.split(sep)[0]!) && !/\.db(-wal|-shm|-journal)?$/.test(name);

/** Copies files that are missing or differ in the target. */
function copyFiles(source: string, target: string) {
  for (const name of filesIn(source).filter(isCopied)) {
    const [from, to] = [join(source, name), join(target, name)];
    if (isSame(from, to)) continue;
    makeFolder(target, name);
    ignoringAbsence(() => cpSync(from, to, { preserveTimestamps: true, force: true }));
  }
}

function isSame(from: string, to: string): boolean {
  const [one, other] = [from, to].map((path) => lstatSync(path, { throwIfNoEntry: false }));
  return Boolean(
    one && other && one.size === other.size && Math.abs(one.mtimeMs - other.mtimeMs) < 1,
  );
}

function ignoringAbsence(work: () => void) {
  try {
    work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

const makeFolder = (target: string, name: string) =>
  mkdirSync(dirname(join(target, name)), { recursive: true, mode: 0o700 });

/** Copies the state that was committed when the copy began. */
function copyDatabase(from: string, to: string) {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(from);
  try {
    database.exec("PRAGMA busy_timeout = 30000");
    database.prepare("VACUUM INTO ?").run(to);
  } finally {
    database.close();
  }
}

const projectFile = new URL("../../package.json", import.meta.url);

/** Writes the manifest last, so a folder with a manifest is complete. */
function finish(folder: string, startedAt: string): BackupManifest {
  const { version } = JSON.parse(readFileSync(projectFile, "utf8")) as { version: string };
  const names = filesIn(folder);
  const bytes = names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  const finishedAt = now().toISOString();
  const manifest: BackupManifest = {
    format: 1,
    version,
    startedAt,
    finishedAt,
    files: names.length,
    bytes,
  };
  writeFileSync(join(folder, manifestName), `${JSON.stringify(manifest, null, 2)}\n`, {
    mode: 0o600,
  });
  return manifest;
}
