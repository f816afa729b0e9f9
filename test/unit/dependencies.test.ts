// Which packages are installed where: on a server with `npm ci --omit=dev`, or only for builds and
// tests.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const readJson = (file: string) => JSON.parse(readFileSync(join(root, file), "utf8"));
const dependencies = Object.keys(readJson("package.json").dependencies);

/** A server has a built console. */
const leaveOutConsoleBuild: Plugin = {
  name: "leave out the console build",
  setup(bundling) {
    bundling.onResolve({ filter: /\/console-files\.ts$/ }, ({ path }) => ({
      path,
      external: true,
    }));
  },
};

/** The packages that these programs import. */
async function listPackages(files: string[], plugins: Plugin[] = []): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: files,
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    metafile: true,
    write: false,
    outdir: "unused",
    plugins,
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const names = imports
    .filter(({ path, external }) => external && !/^(node:|\.)/.test(path))
    .map(({ path }) => /^(@[^/]+\/)?[^/]+/.exec(path)![0]);
  return [...new Set(names)];
}

test("the service and the commands of a server need no dev dependency", async () => {
  const names = ["start", "plan", "backup", "demo", "export-all", "import-all", "after-restore"];
  const files = names.map((name) => `bin/${name}.ts`);
  const packages = await listPackages(files, [leaveOutConsoleBuild]);
  expect(packages).toContain("fauxqs");
  expect(packages.filter((name) => !dependencies.includes(name))).toEqual([]);
});

test("a package that no program outside of the tests imports is a dev dependency", async () => {
  const names = readdirSync(join(root, "bin")).filter((name) => name.endsWith(".ts"));
  const used = await listPackages(names.map((name) => `bin/${name}`));
  expect(dependencies.filter((name) => !used.includes(name))).toEqual([]);
});

test("no package is deprecated", () => {
  const { packages } = readJson("package-lock.json");
  const entries = Object.entries<{ deprecated?: string }>(packages);
  expect(entries.length).toBeGreaterThan(100);
  expect(entries.filter(([, { deprecated }]) => deprecated).map(([path]) => path)).toEqual([]);
});
