// Builds the console for the local service, once per version of the sources.
import { createHash } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { access, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const checkoutCache = join(root, "node_modules/.cache/console");
/** The console, and the API that its client calls. */
const sourceFolders = ["shared", "functions", "infra/sdk", "infra/console"];

/**
 * Returns the folder with the files of the console. Builds them if they are not there yet: in the
 * checkout, or in `ownCache` if this user cannot write to the checkout, as on a server.
 */
export async function prepareConsole(ownCache: string | undefined): Promise<string> {
  const caches = [checkoutCache, ...(ownCache === undefined ? [] : [ownCache])];
  const version = await hashSources();
  const built = caches.map((cache) => join(cache, version)).find(existsSync);
  return built ?? build(await findWritable(caches), version);
}

/** The first of the folders that this user can write to. Throws if there is none. */
export async function findWritable(folders: string[]): Promise<string> {
  let failure: unknown;
  for (const folder of folders) {
    try {
      await mkdir(folder, { recursive: true });
      await access(folder, constants.W_OK);
      return folder;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

async function build(cache: string, version: string): Promise<string> {
  const folder = join(cache, version);
  // esbuild takes long to load, and a start with built files does not need it.
  const [{ buildConsole }, esbuild] = await Promise.all([
    import("../console/build.ts"),
    import("esbuild"),
  ]);
  const building = `${folder}.${process.pid}`;
  // Otherwise the process of esbuild keeps up to 700 MB as long as the service runs.
  await buildConsole(building).finally(esbuild.stop);
  await rename(building, folder).catch((error: NodeJS.ErrnoException) => {
    // Another process was faster.
    if (!existsSync(folder)) throw error;
    return rm(building, { recursive: true });
  });
  await removeOtherBuilds(cache, version);
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

async function removeOtherBuilds(cache: string, version: string): Promise<void> {
  const names = await readdir(cache);
  // A build of another process has a dot in its name.
  const old = names.filter((name) => !name.includes(".") && name !== version);
  await Promise.all(old.map((name) => rm(join(cache, name), { recursive: true })));
}
