// Bundles the console, the web app in shared/console, into files that never change: every name but
// index.html's contains a hash of the content. Text is stored compressed.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { buildSdkModule } from "../sdk/build.ts";
import { createIcon } from "./icon.ts";
import { writeThemeVariables } from "./theme-variables.ts";

const root = join(import.meta.dirname, "../..");
const sourceFolder = join(root, "shared/console");

/** Sizes in bytes after gzip, by name of the output. */
export interface ConsoleSizes {
  /** What the first screen loads: the entry point, what it imports statically, and its styles. */
  firstLoad: number;
  /** What each screen loads in addition. */
  screens: Record<string, number>;
  /** What each editor loads in addition, when it is opened. */
  editors: Record<string, number>;
}

/** Replaces the contents of `folder` by the files that the function `http/console-files` serves. */
export async function buildConsole(folder: string): Promise<ConsoleSizes> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const sdk = await buildSdkModule();
  const { outputFiles, metafile } = await esbuild.build({
    entryPoints: { console: "main.tsx", "color-scheme": "color-scheme.ts" },
    absWorkingDir: sourceFolder,
    outdir: folder,
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    minify: true,
    write: false,
    metafile: true,
    legalComments: "none",
    logLevel: "warning",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    publicPath: "/app/assets",
    loader: { ".woff2": "file" },
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [provideSdk(sdk), provideThemeVariables],
  });
  const outputs = outputFiles.map(({ path, contents }) => ({ name: basename(path), contents }));
  const page = writePage(metafile);
  await Promise.all(
    [...outputs, { name: "index.html", contents: Buffer.from(page) }].map((file) =>
      storeFile(folder, file),
    ),
  );
  return measureSizes(metafile, new Map(outputs.map(({ name, contents }) => [name, contents])));
}

/** The package `pennymail` with the operations of this version. */
const provideSdk = (contents: string): esbuild.Plugin => ({
  name: "sdk",
  setup(bundling) {
    bundling.onResolve({ filter: /^pennymail$/ }, () => ({ path: "pennymail", namespace: "sdk" }));
    bundling.onLoad({ filter: /.*/, namespace: "sdk" }, () => ({ contents, loader: "js" }));
  },
});

/** Mantine itself would write these variables into a style element, which our policy forbids. */
const provideThemeVariables: esbuild.Plugin = {
  name: "theme variables",
  setup(bundling) {
    bundling.onResolve({ filter: /^theme-variables\.css$/ }, ({ path }) => ({
      path,
      namespace: "theme",
    }));
    bundling.onLoad({ filter: /.*/, namespace: "theme" }, async () => ({
      contents: await writeThemeVariables(),
      loader: "css",
    }));
  },
};

type Outputs = esbuild.Metafile["outputs"];

const outputOf = (outputs: Outputs, entryPoint: string): [string, Outputs[string]] =>
  Object.entries(outputs).find(([, output]) => output.entryPoint === entryPoint)!;

const urlOf = (path: string): string => `/app/assets/${basename(path)}`;

function writePage({ outputs }: esbuild.Metafile): string {
  const [script, { cssBundle = "" }] = outputOf(outputs, "main.tsx");
  const [colorScheme] = outputOf(outputs, "color-scheme.ts");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Pennymail</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(createIcon())}">
<link rel="stylesheet" href="${urlOf(cssBundle)}">
<script src="${urlOf(colorScheme)}"></script>
<script type="module" src="${urlOf(script)}"></script>
</head>
<body>
<div id="root"></div>
<noscript>The console needs JavaScript. The API and its reference at /api/v1/docs do not.</noscript>
</body>
</html>
`;
}

const compress = promisify(brotliCompress);
const textTypes = [".html", ".css", ".js", ".svg"];

async function storeFile(
  folder: string,
  { name, contents }: { name: string; contents: Uint8Array },
): Promise<void> {
  if (!textTypes.includes(extname(name))) return writeFile(join(folder, name), contents);
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: contents.length };
  return writeFile(join(folder, `${name}.br`), await compress(contents, { params }));
}

function measureSizes(
  { outputs }: esbuild.Metafile,
  contents: Map<string, Uint8Array>,
): ConsoleSizes {
  const sizeOf = (path: string) => gzipSync(contents.get(basename(path))!, { level: 9 }).length;
  const withImports = (path: string, found = new Set<string>()): Set<string> => {
    if (found.has(path)) return found;
    found.add(path);
    const { imports, cssBundle } = outputs[path]!;
    if (cssBundle) found.add(cssBundle);
    for (const { kind, path: imported } of imports)
      if (kind === "import-statement") withImports(imported, found);
    return found;
  };
  const sum = (paths: Iterable<string>) => [...paths].reduce((all, path) => all + sizeOf(path), 0);
  const first = withImports(outputOf(outputs, "main.tsx")[0]);
  const sizesIn = (folder: string) => {
    const sizes = Object.entries(outputs).flatMap(([path, { entryPoint = "" }]) => {
      if (!entryPoint.startsWith(`${folder}/`)) return [];
      const name = entryPoint.slice(folder.length + 1).replace(/\.tsx?$/, "");
      return [[name, sum(withImports(path).difference(first))] as const];
    });
    return Object.fromEntries(sizes);
  };
  return { firstLoad: sum(first), screens: sizesIn("screens"), editors: sizesIn("editors") };
}
