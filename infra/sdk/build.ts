// Builds the package `pennymail`: the runtime in shared/clients/, with the table of operations and
// the types of this version of the API.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import * as esbuild from "esbuild";
import { getOpenApiDocument } from "../../functions/openapi-document.ts";
import { version } from "../../shared/version.ts";
import { writeApiTypes } from "./api-types.ts";
import { writeOperationTable } from "./operation-table.ts";
import { readOperations } from "./operations.ts";

const root = join(import.meta.dirname, "../..");
const runtimeFolder = join(root, "shared/clients/sdk");
const packageFolder = join(root, "dist/sdk");

export interface BuiltPackage {
  folder: string;
  /** Size of the module that programs import, minified. */
  minifiedBytes: number;
}

/** Replaces the contents of `folder` by the package. */
export async function buildPackage(folder = packageFolder): Promise<BuiltPackage> {
  const source = join(folder, "source");
  rmSync(folder, { recursive: true, force: true });
  await writeSource(source);
  const entry = { entryPoints: [join(source, "index.ts")], ...bundleOptions };
  const [, minified] = await Promise.all([
    esbuild.build({ ...entry, outfile: join(folder, "index.js") }),
    esbuild.build({ ...entry, minify: true, write: false }),
    emitTypes(source, join(folder, "types")),
  ]);
  rmSync(source, { recursive: true });
  writePackageFiles(folder);
  return { folder, minifiedBytes: minified.outputFiles[0]!.contents.length };
}

const bundleOptions = {
  bundle: true,
  format: "esm",
  platform: "neutral",
  target: "es2022",
  logLevel: "warning",
  // Otherwise esbuild can read the tsconfig.json of `emitTypes` while it is being written.
  tsconfigRaw: {},
} as const;

/** Writes the modules of the runtime, and the generated ones in place of two of them. */
async function writeSource(source: string): Promise<void> {
  const document = await getOpenApiDocument();
  const operations = readOperations(document);
  const runtime = readdirSync(runtimeFolder).map((name) => [
    name,
    readFileSync(join(runtimeFolder, name), "utf8"),
  ]);
  const modules: Record<string, string> = {
    ...Object.fromEntries(runtime),
    "api.ts": writeApiTypes(document, operations),
    "operation-table.ts": writeOperationTable(operations),
  };
  mkdirSync(source, { recursive: true });
  // Declarations keep the paths of imports, which lead to .js files in a package.
  for (const [name, text] of Object.entries(modules))
    writeFileSync(join(source, name), text.replace(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"'));
}

/** Writes declarations only. Throws with the errors of the compiler. */
async function emitTypes(source: string, outDir: string): Promise<void> {
  const compilerOptions = {
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable", "esnext.disposable"],
    module: "nodenext",
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    declaration: true,
    emitDeclarationOnly: true,
    outDir,
  };
  const project = join(source, "tsconfig.json");
  writeFileSync(project, JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  await promisify(execFile)(process.execPath, [compiler, "-p", project]).catch(
    ({ stdout }: { stdout: string }) => {
      throw new Error(`The types of the SDK do not compile:\n${stdout}`);
    },
  );
}

function writePackageFiles(folder: string): void {
  const manifest = {
    name: "pennymail",
    version,
    description: "Client of the API of Pennymail",
    license: "MIT",
    type: "module",
    exports: { ".": { types: "./types/index.d.ts", default: "./index.js" } },
    engines: { node: ">=18" },
    sideEffects: false,
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  cpSync(join(root, "shared/http/guides/sdk.md"), join(folder, "README.md"));
}
