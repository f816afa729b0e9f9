// Builds the console for the local service, once per version of the sources.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const cacheFolder = join(root, "node_modules/.cache/console");
/** The console, and the API that its client calls. */
const sourceFolders = ["shared", "functions", "infra/sdk", "infra/console"];

/** Returns the folder with the files of the console. Builds them if they are not there yet. */
export async function prepareConsole(): Promise<string> {
  const folder = join(cacheFolder, await hashSources());
  if (existsSync(folder)) return folder;
  // esbuild takes long to load, and a start with built files does not need it.
  const { buildConsole } = await import("../console/build.ts");
  const building = `${folder}.${process.pid}`;
  await buildConsole(building);
  await rename(building, folder).catch((error: NodeJS.ErrnoException) => {
    // Another process was faster.
    if (!existsSync(folder)) throw error;
    return rm(building, { recursive: true });
  });
  await removeOtherBuilds(folder);
  return folder;
}

async function hashSources(): Promise<string> {
  const hash = createHash("sha256");
  for (const file of ["package-lock.json", ...(await listSources())])
    hash.update(file).update(await readFile(join(root, file)));
  return hash.digest("hex").slice(0, 16);
}

async function listSources(): Promise<string[]> {
  const files = await Promise.all(
    sourceFolders.map(async (folder) =>
      (await readdir(join(root, folder), { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)),
    ),
  );
  return files.flat().sort();
}

async function removeOtherBuilds(folder: string): Promise<void> {
  const names = await readdir(cacheFolder);
  // A build of another process has a dot in its name.
  const old = names.filter((name) => !name.includes(".") && !folder.endsWith(name));
  await Promise.all(old.map((name) => rm(join(cacheFolder, name), { recursive: true })));
}
