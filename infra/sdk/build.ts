// Builds the package `pennymail`: the runtime in shared/clients/, with the table of operations and
// the types of this version of the API.
import { execFile } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import * as esbuild from "esbuild";
import { getOpenApiDocument } from "../../functions/openapi-document.ts";
import { version } from "../../shared/version.ts";
import { writeApiTypes } from "./api-types.ts";
import { writeCliOperations } from "./cli-operations.ts";
import { writeOperationTable } from "./operation-table.ts";
import { readOperations } from "./operations.ts";

const root = join(import.meta.dirname, "../..");
const sdkFolder = join(root, "shared/clients/sdk");
const packageFolder = join(root, "dist/sdk");

export interface BuiltPackage {
  folder: string;
  /** Size of the module that programs import, minified. */
  minifiedBytes: number;
}

/** Replaces the contents of `folder` by the package. */
export async function buildPackage(folder = packageFolder): Promise<BuiltPackage> {
  rmSync(folder, { recursive: true, force: true });
  const document = await getOpenApiDocument();
  const operations = readOperations(document);
  const generated = {
    "shared/clients/sdk/api.ts": writeApiTypes(document, operations),
    "shared/clients/sdk/operation-table.ts": writeOperationTable(operations),
    "shared/clients/cli/operations.ts": writeCliOperations(document, operations),
    "shared/clients/cli/version.ts": `export const version = ${JSON.stringify(version)};`,
  };
  const common = { ...bundleOptions, plugins: [replaceFiles(generated)] };
  const sdk = { ...common, entryPoints: [join(sdkFolder, "index.ts")] };
  const [, minified] = await Promise.all([
    esbuild.build({ ...sdk, outfile: join(folder, "index.js") }),
    esbuild.build({ ...sdk, minify: true, write: false }),
    esbuild.build({ ...common, ...commandLine, outfile: join(folder, "cli.js") }),
    emitTypes(generated, join(folder, "types")),
  ]);
  chmodSync(join(folder, "cli.js"), 0o755);
  writePackageFiles(folder);
  return { folder, minifiedBytes: minified.outputFiles[0]!.contents.length };
}

/** Writes the declarations of the package into `folder`. */
export async function buildSdkTypes(folder: string): Promise<void> {
  const document = await getOpenApiDocument();
  const api = writeApiTypes(document, readOperations(document));
  await emitTypes({ "shared/clients/sdk/api.ts": api }, folder);
}

/** The module of the package, minified, for pages that the service itself serves. */
export async function buildSdkModule(): Promise<string> {
  const operations = readOperations(await getOpenApiDocument());
  const generated = { "shared/clients/sdk/operation-table.ts": writeOperationTable(operations) };
  const { outputFiles } = await esbuild.build({
    ...bundleOptions,
    plugins: [replaceFiles(generated)],
    entryPoints: [join(sdkFolder, "index.ts")],
    minify: true,
    write: false,
  });
  return outputFiles[0]!.text;
}

export const bundleOptions = {
  bundle: true,
  format: "esm",
  platform: "neutral",
  target: "es2022",
  logLevel: "warning",
  // Otherwise esbuild can read the tsconfig.json of `emitTypes` while it is being written.
  tsconfigRaw: {},
} as const;

const commandLine: esbuild.BuildOptions = {
  stdin: {
    contents: `import { runCli } from "./shared/clients/cli/run.ts";
import { processTerminal } from "./shared/clients/cli/terminal.ts";
process.stdout.on("error", ({ code }) => process.exit(code === "EPIPE" ? 0 : 1));
process.exitCode = await runCli(process.argv.slice(2), processTerminal());
`,
    resolveDir: root,
  },
  platform: "node",
  banner: { js: "#!/usr/bin/env node" },
};

/** Source text by path, in place of the files of the repository. */
type GeneratedFiles = Record<string, string>;

export const replaceFiles = (files: GeneratedFiles): esbuild.Plugin => ({
  name: "generated files",
  setup(bundling) {
    bundling.onLoad({ filter: /\/shared\/clients\// }, ({ path }) => {
      const contents = files[relative(root, path)];
      return contents === undefined ? undefined : { contents, loader: "ts" };
    });
  },
});

/** Copies the modules of the SDK, with the generated ones, to compile them. */
function writeSource(files: GeneratedFiles, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(sdkFolder)) {
    const path = join(sdkFolder, name);
    const text = files[relative(root, path)] ?? readFileSync(path, "utf8");
    // Declarations keep the paths of imports, which lead to .js files in a package.
    writeFileSync(join(folder, name), text.replace(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"'));
  }
}

/** Writes declarations only. Throws with the errors of the compiler. */
async function emitTypes(files: GeneratedFiles, outDir: string): Promise<void> {
  const source = `${outDir}-source`;
  writeSource(files, source);
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
  rmSync(source, { recursive: true });
}

function writePackageFiles(folder: string): void {
  const manifest = {
    name: "pennymail",
    version,
    description: "Client and command line of Pennymail",
    license: "MIT",
    type: "module",
    bin: { pennymail: "cli.js" },
    exports: { ".": { types: "./types/index.d.ts", default: "./index.js" } },
    engines: { node: ">=18" },
    sideEffects: false,
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  const guides = ["sdk", "cli", "mcp"].map((name) =>
    readFileSync(join(root, `shared/http/guides/${name}.md`), "utf8"),
  );
  writeFileSync(join(folder, "README.md"), guides.join("\n"));
}
