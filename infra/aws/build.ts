// Bundles every entry point for Lambda: functions/<kind>/<name>.ts becomes
// dist/<kind>/<name>/index.cjs. dist/meta.json lists the inputs of each bundle and dist/late.json
// those of the lazy modules. dist/reach.json lists the AWS calls of each bundle; the stack grants
// these and no others.
import { readdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { styleText } from "node:util";
import * as esbuild from "esbuild";
import { buildConsole } from "../console/build.ts";
import { isMainModule, printsHelp } from "../local/command-line.ts";
import { type BundleUsage, scanBundle } from "./bundle-usage.ts";
import {
  dropDescriptions,
  inlineDocuments,
  inlineReferenceScript,
  lazyFileName,
  lazyLoadModules,
  lazyModules,
  patchPackages,
  replaceModules,
} from "./esbuild-plugins.ts";

export type FunctionKind = "http" | "queue" | "schedule";
export interface FunctionBundle {
  kind: FunctionKind;
  name: string;
  /** The bundle, which every cold start reads. */
  bytes: number;
  /** The lazy modules, which are read when they are first used. */
  lazyBytes: number;
}

export const maxBundleBytes = 575_000;
const root = join(import.meta.dirname, "../..");
const kinds: FunctionKind[] = ["http", "queue", "schedule"];

/** The entry points: every file in the folders of functions/. */
export async function listEntryPoints(): Promise<Pick<FunctionBundle, "kind" | "name">[]> {
  const files = await Promise.all(kinds.map((kind) => readdir(join(root, "functions", kind))));
  return kinds.flatMap((kind, i) =>
    files[i]!.map((file) => ({ kind, name: basename(file, ".ts") })),
  );
}

/** Replaces the contents of `outdir`. Returns the bundles, largest first. */
export async function build(outdir = join(root, "dist")): Promise<FunctionBundle[]> {
  const entryPoints = await listEntryPoints();
  const common: esbuild.BuildOptions = {
    entryPoints: entryPoints.map(({ kind, name }) => ({
      in: `functions/${kind}/${name}.ts`,
      out: `${kind}/${name}/index`,
    })),
    outdir,
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node24",
    logLevel: "warning",
  };
  await rm(outdir, { recursive: true, force: true });
  const [{ metafile }, usageByBundle] = await Promise.all([
    esbuild.build({ ...common, ...lambdaBuildOptions }),
    scanBundles(common),
    buildConsole(join(outdir, "http/console-files/console")),
  ]);
  await writeFile(join(outdir, "meta.json"), JSON.stringify(metafile));
  await writeFile(join(outdir, "reach.json"), JSON.stringify(usageByBundle, null, 2));
  const lazyBytes = await buildLazyModules(common, metafile);
  return entryPoints
    .map((entry) => ({ ...entry, ...bundleSizes(metafile, entry, lazyBytes) }))
    .sort((a, b) => b.bytes - a.bytes);
}

const lambdaBuildOptions = {
  // CommonJS loads in 47 ms instead of 56: an ESM import of a builtin reads all its exports, and
  // one of node:http is slow.
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  // The `main` field of the SDK names CommonJS files, which cannot be tree-shaken: 1,022 kB instead
  // of 455.
  mainFields: ["module", "main"],
  minify: true,
  // Texts in Arabic and Japanese would be twice as large as escapes.
  charset: "utf8" as const,
  legalComments: "none",
  sourcemap: "external",
  sourcesContent: false,
  inject: ["infra/aws/stack-traces.ts"],
  plugins: [lazyLoadModules, inlineDocuments, replaceModules, patchPackages, dropDescriptions],
  metafile: true,
} satisfies esbuild.BuildOptions;

const findOutput = ({ outputs }: esbuild.Metafile, entryPoint: string) =>
  Object.entries(outputs).find(([, output]) => output.entryPoint === entryPoint)!;
const lazyModulesOf = ({ imports }: esbuild.Metafile["outputs"][string]): string[] =>
  lazyModules.filter((module) => imports.some(({ path }) => path === `./${lazyFileName(module)}`));

/** Writes the lazy modules next to the bundles that use them. Returns the size of each. */
async function buildLazyModules(
  common: esbuild.BuildOptions,
  meta: esbuild.Metafile,
): Promise<Record<string, number>> {
  const { outputFiles, metafile } = await esbuild.build({
    ...common,
    ...lambdaBuildOptions,
    entryPoints: lazyModules.map((path) => ({ in: path, out: basename(path, ".ts") })),
    // The stack-traces.ts of the bundle also reads their source maps.
    inject: [],
    plugins: [inlineDocuments, inlineReferenceScript, replaceModules, patchPackages],
    loader: { ".br": "binary" },
    write: false,
  });
  await writeFile(join(common.outdir!, "late.json"), JSON.stringify(metafile));
  const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
  for (const [path, output] of Object.entries(meta.outputs))
    for (const file of lazyModulesOf(output).map(lazyFileName))
      for (const name of [file, `${file}.map`])
        await writeFile(join(root, dirname(path), name), files.get(name)!);
  return Object.fromEntries(
    lazyModules.map((module) => [module, files.get(lazyFileName(module))!.length]),
  );
}

function bundleSizes(
  meta: esbuild.Metafile,
  { kind, name }: Pick<FunctionBundle, "kind" | "name">,
  lazyBytesByModule: Record<string, number>,
) {
  const [, output] = findOutput(meta, `functions/${kind}/${name}.ts`);
  return {
    bytes: output.bytes,
    lazyBytes: lazyModulesOf(output).reduce((sum, module) => sum + lazyBytesByModule[module]!, 0),
  };
}

// Bundles again, without packages and without minification, and scans the text.
async function scanBundles(common: esbuild.BuildOptions): Promise<Record<string, BundleUsage>> {
  const { outputFiles } = await esbuild.build({
    ...common,
    format: "esm",
    packages: "external",
    plugins: [inlineDocuments],
    write: false,
  });
  return Object.fromEntries(
    outputFiles.map(({ path, text }) => [
      relative(common.outdir!, dirname(path)),
      scanBundle(text),
    ]),
  );
}

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(0)} kB`;

function formatTable(bundles: FunctionBundle[]): string {
  const width = Math.max(...bundles.map(({ kind, name }) => kind.length + name.length + 1));
  const line = ({ kind, name, bytes, lazyBytes }: FunctionBundle) =>
    `${`${kind}/${name}`.padEnd(width)} ` +
    `${kilobytes(bytes).padStart(8)}${lazyBytes ? `, and ${kilobytes(lazyBytes)} lazily` : ""}`;
  return bundles
    .map((bundle) =>
      bundle.bytes > maxBundleBytes ? styleText("red", line(bundle)) : line(bundle),
    )
    .join("\n");
}

const usage = `npm run build

Bundles every Lambda function into dist, and prints the size of each. Fails if one is over
${kilobytes(maxBundleBytes)}.`;

if (isMainModule(import.meta) && !printsHelp(usage)) {
  const started = performance.now();
  const bundles = await build();
  // `cdk` runs this before every command and prints its own output.
  const quiet = process.argv.includes("--quiet");
  if (!quiet) console.log(formatTable(bundles));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const tooLarge = bundles.filter(({ bytes }) => bytes > maxBundleBytes);
  if (tooLarge.length) {
    console.error(
      styleText(
        "red",
        `Bundles over ${kilobytes(maxBundleBytes)}: ` +
          `${tooLarge.map(({ kind, name }) => `${kind}/${name}`).join(", ")}`,
      ),
    );
    process.exitCode = 1;
  } else if (!quiet)
    console.log(
      styleText(
        "green",
        `Built ${bundles.length} functions in ${seconds} s, none over ${kilobytes(maxBundleBytes)}`,
      ),
    );
}
