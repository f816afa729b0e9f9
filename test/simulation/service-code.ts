// The code of the service as a function that can be called many times: each call returns an
// instance with its own memory, as a process has. The caller passes the instance its clock, timers,
// random numbers and network in place of those of Node.
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Script } from "node:vm";
import { build, type Plugin } from "esbuild";

const root = join(import.meta.dirname, "../..");

/** A piece of the source that is replaced when it is bundled. */
export interface SourceChange {
  name: string;
  file: string;
  /** Stands in the file exactly once. */
  code: string;
  replacement: string;
}

/** In place of the globals and packages of Node, by name. */
export interface Surroundings {
  globals: Record<string, unknown>;
  packages: Record<string, Record<string, unknown>>;
}

export type CreateInstance<T> = (surroundings: Surroundings) => T;

/**
 * Bundles an entry, given as TypeScript text with paths from the root of the project. Each change
 * is made in a file of its own.
 */
export async function loadServiceCode<T>(
  entry: string,
  changes: SourceChange[] = [],
): Promise<CreateInstance<T>> {
  const packages = new Map<string, Record<string, unknown>>();
  const result = await build({
    stdin: { contents: entry, loader: "ts", resolveDir: root, sourcefile: "entry.ts" },
    bundle: true,
    write: false,
    format: "iife",
    globalName: "instance",
    platform: "node",
    target: "node24",
    plugins: [importedPackages(packages), ...changes.map(changeSource)],
    define: { "import.meta.dirname": JSON.stringify(root), "import.meta.url": '"file:///"' },
  });
  const code = `${result.outputFiles[0]!.text}\nreturn instance;`;
  const names = [...replacedGlobals, "importedPackages"].join(", ");
  const script = new Script(`(function (${names}) {${code}\n})`, { filename: "service.js" });
  const create = script.runInThisContext() as (...values: unknown[]) => T;
  return ({ globals, packages: replaced }) => {
    const imported = new Map(packages);
    for (const [name, exports] of Object.entries(replaced))
      imported.set(name, { ...packages.get(name), ...exports });
    return create(...replacedGlobals.map((name) => globals[name]), imported);
  };
}

const replacedGlobals = [
  "Date",
  "crypto",
  "performance",
  "process",
  "setTimeout",
  "clearTimeout",
  "setInterval",
  "clearInterval",
  "setImmediate",
  "clearImmediate",
] as const;

/** Packages and modules of Node are loaded once and passed to each instance. */
const importedPackages = (loaded: Map<string, Record<string, unknown>>): Plugin => ({
  name: "imported packages",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" ? undefined : { path, namespace: "package" },
    );
    onLoad({ filter: /.*/, namespace: "package" }, async ({ path }) => {
      const exports = (await import(path)) as Record<string, unknown>;
      loaded.set(path, exports);
      const names = Object.keys(exports).filter((name) => /^(?!default$)[\w$]+$/.test(name));
      const lines = [
        `const exported = importedPackages.get(${JSON.stringify(path)});`,
        ...names.map((name, i) => `const e${i} = exported.${name}; export { e${i} as ${name} };`),
        ...("default" in exports ? ["export default exported.default;"] : []),
      ];
      return { contents: lines.join("\n"), loader: "js" };
    });
  },
});

const changeSource = ({ name, file, code, replacement }: SourceChange): Plugin => ({
  name,
  setup({ onLoad }) {
    onLoad({ filter: new RegExp(`/${file}$`) }, async ({ path }) => {
      const [before = "", after, ...others] = (await readFile(path, "utf8")).split(code);
      if (after === undefined || others.length)
        throw new Error(`"${name}": ${file} does not contain its code exactly once`);
      return { contents: before + replacement + after, loader: "ts" };
    });
  },
});

/** The TypeScript files of a folder, as paths that an entry can import. */
export const listModules = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `./${folder}/${file}`);
