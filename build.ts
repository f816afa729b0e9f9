// Bundles every entry point for Lambda, all in one go: functions/<kind>/<name>.ts becomes dist/<kind>/<name>/index.cjs.
// dist/meta.json tells what went into each, dist/late.json what went into the modules that are loaded late, dist/reach.json what it
// can do: the stack grants a function that and no more.
import { readdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { styleText } from "node:util";
import * as esbuild from "esbuild";
import { finishedInterface, late, lateFile, lateModules, standIns, trimmedPackages } from "./infra/aws/bundling.ts";
import { type Reach, reachOf } from "./infra/aws/reach.ts";

export type Kind = "http" | "queue" | "schedule";
export interface Bundle {
  kind: Kind;
  name: string;
  /** What every start reads. */
  bytes: number;
  /** What is read when it is needed. */
  lateBytes: number;
}

export const maxBundleBytes = 600_000;
const root = import.meta.dirname;
const notEntries: Record<Kind, string[]> = { http: ["index", "interface"], queue: ["index"], schedule: ["index"] };

/** The entry points of the service, from the folders they lie in. */
export async function entries(): Promise<Pick<Bundle, "kind" | "name">[]> {
  const kinds = Object.keys(notEntries) as Kind[];
  const found = await Promise.all(kinds.map((kind) => readdir(join(root, "functions", kind))));
  return kinds.flatMap((kind, i) =>
    found[i]!.map((file) => basename(file, ".ts"))
      .filter((name) => !notEntries[kind].includes(name))
      .map((name) => ({ kind, name })),
  );
}

/** Replaces what is in `outdir`. Largest first. */
export async function build(outdir = join(root, "dist")): Promise<Bundle[]> {
  const all = await entries();
  const common: esbuild.BuildOptions = {
    entryPoints: all.map(({ kind, name }) => ({ in: `functions/${kind}/${name}.ts`, out: `${kind}/${name}/index` })),
    outdir,
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node24",
    logLevel: "warning",
  };
  await rm(outdir, { recursive: true, force: true });
  const [{ metafile }, reach] = await Promise.all([esbuild.build({ ...common, ...packing }), reachOfAll(common)]);
  await writeFile(join(outdir, "meta.json"), JSON.stringify(metafile));
  await writeFile(join(outdir, "reach.json"), JSON.stringify(reach, null, 2));
  const late = await addLate(common, metafile);
  return all.map((entry) => ({ ...entry, ...sizes(metafile, entry, late) })).sort((a, b) => b.bytes - a.bytes);
}

/** How code is packed for Lambda. */
const packing = {
  // CommonJS: an ESM import of a builtin reads all its exports first, and node:http has a costly one. 47 ms to load instead of 56.
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  // The SDK's main fields name its CommonJS files, which cannot be shaken: 1,022 kB instead of 455.
  mainFields: ["module", "main"],
  minify: true,
  legalComments: "none",
  sourcemap: "external",
  sourcesContent: false,
  inject: ["infra/aws/stack-traces.ts"],
  plugins: [finishedInterface, late, standIns, trimmedPackages],
  metafile: true,
} satisfies esbuild.BuildOptions;

const outputOf = ({ outputs }: esbuild.Metafile, entryPoint: string) =>
  Object.entries(outputs).find(([, output]) => output.entryPoint === entryPoint)!;
const lateIn = ({ imports }: esbuild.Metafile["outputs"][string]): string[] =>
  lateModules.filter((module) => imports.some(({ path }) => path === `./${lateFile(module)}`));

/** Puts what is loaded late beside the bundles that may load it; answers how large each is. */
async function addLate(common: esbuild.BuildOptions, meta: esbuild.Metafile): Promise<Record<string, number>> {
  const { outputFiles, metafile } = await esbuild.build({
    ...common,
    ...packing,
    entryPoints: lateModules.map((path) => ({ in: path, out: basename(path, ".ts") })),
    sourcemap: false,
    inject: [],
    plugins: [standIns, trimmedPackages],
    write: false,
  });
  await writeFile(join(common.outdir!, "late.json"), JSON.stringify(metafile));
  const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
  for (const [path, output] of Object.entries(meta.outputs))
    for (const module of lateIn(output)) await writeFile(join(root, dirname(path), lateFile(module)), files.get(lateFile(module))!);
  return Object.fromEntries(lateModules.map((module) => [module, files.get(lateFile(module))!.length]));
}

function sizes(meta: esbuild.Metafile, { kind, name }: Pick<Bundle, "kind" | "name">, late: Record<string, number>) {
  const [, output] = outputOf(meta, `functions/${kind}/${name}.ts`);
  return { bytes: output.bytes, lateBytes: lateIn(output).reduce((sum, each) => sum + late[each]!, 0) };
}

// Once more with packages left outside and names left whole, to be read.
async function reachOfAll(common: esbuild.BuildOptions): Promise<Record<string, Reach>> {
  const { outputFiles } = await esbuild.build({
    ...common,
    format: "esm",
    packages: "external",
    plugins: [finishedInterface],
    write: false,
  });
  return Object.fromEntries(outputFiles.map(({ path, text }) => [relative(common.outdir!, dirname(path)), reachOf(text)]));
}

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(0)} kB`;

function table(bundles: Bundle[]): string {
  const width = Math.max(...bundles.map(({ kind, name }) => kind.length + name.length + 1));
  const line = ({ kind, name, bytes, lateBytes }: Bundle) =>
    `${`${kind}/${name}`.padEnd(width)} ${kilobytes(bytes).padStart(8)}${lateBytes ? `, and ${kilobytes(lateBytes)} when needed` : ""}`;
  return bundles.map((bundle) => (bundle.bytes > maxBundleBytes ? styleText("red", line(bundle)) : line(bundle))).join("\n");
}

if (import.meta.main) {
  const started = performance.now();
  const bundles = await build();
  console.log(table(bundles));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const tooLarge = bundles.filter(({ bytes }) => bytes > maxBundleBytes);
  if (tooLarge.length) {
    console.error(styleText("red", `Over ${kilobytes(maxBundleBytes)}: ${tooLarge.map(({ kind, name }) => `${kind}/${name}`).join(", ")}`));
    process.exitCode = 1;
  } else console.log(styleText("green", `${bundles.length} functions in ${seconds} s, none over ${kilobytes(maxBundleBytes)}`));
}
