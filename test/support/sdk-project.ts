// A project of a customer's: an empty folder in which the packed SDK is installed.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildPackage } from "../../infra/sdk/build.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

export interface SdkProject {
  folder: string;
  /** Size of the module, minified. */
  minifiedBytes: number;
  /** Files of the package. */
  packedFiles: string[];
  /** Compiles the project strictly. Throws with the errors of the compiler. */
  compile(options?: string[]): Promise<void>;
  remove(): void;
}

export async function createSdkProject(): Promise<SdkProject> {
  const place = mkdtempSync(join(tmpdir(), "sdk-"));
  const [built, folder] = [join(place, "package"), join(place, "project")];
  const { minifiedBytes } = await buildPackage(built);
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", place], {
    cwd: built,
  });
  const [{ filename, files }] = JSON.parse(stdout) as [
    { filename: string; files: { path: string }[] },
  ];
  mkdirSync(folder);
  const compilerOptions = {
    target: "es2022",
    module: "nodenext",
    jsx: "react-jsx",
    allowImportingTsExtensions: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  const install = ["install", "--offline", "--no-audit", "--no-fund", join(place, filename)];
  await run("npm", install, { cwd: folder });
  return {
    folder,
    minifiedBytes,
    packedFiles: files.map(({ path }) => path),
    compile: async (options = []) => {
      const compiler = join(root, "node_modules/typescript/bin/tsc");
      await run(process.execPath, [compiler, "-p", folder, ...options]).catch(
        ({ stdout: errors }: { stdout: string }) => {
          throw new Error(errors);
        },
      );
    },
    remove: () => rmSync(place, { recursive: true }),
  };
}
