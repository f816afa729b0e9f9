// What build.ts asks of esbuild beyond its own ways: bundles that are small and start quickly. Each plugin says what it saves.
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import type { Plugin } from "esbuild";

const doors = join(import.meta.dirname, "../../shared/doors");

/** The finished OpenAPI document in place of the module that makes it from all groups. Packed, because it grows with every route. */
export const finishedInterface: Plugin = {
  name: "finished interface",
  setup(bundling) {
    bundling.onLoad({ filter: /functions\/http\/interface\.ts$/ }, async () => {
      const { document } = await import("../../functions/http/interface.ts");
      const packed = brotliCompressSync(JSON.stringify(await document())).toString("base64");
      return {
        contents: `
          import { brotliDecompressSync } from "node:zlib";
          let read;
          export const document = async () => (read ??= JSON.parse(brotliDecompressSync(Buffer.from("${packed}", "base64"))));`,
      };
    });
  },
};

/** Parts of packages that no function of ours gets to, and what stands in for them. */
const stoodIn: { module: RegExp; contents: string }[] = [
  // Lambda hands credentials over in the environment: 110 kB of other ways to find some stay out.
  {
    module: /^@aws-sdk\/credential-provider-node$/,
    contents: `export { fromEnv as defaultProvider } from "@aws-sdk/credential-provider-env";`,
  },
  // 14 kB for calls that stream events, such as S3's SelectObjectContent.
  {
    module: /^@smithy\/core\/event-streams$/,
    contents: `
      export const resolveEventStreamSerdeConfig = (config) => config;
      export const eventStreamSerdeProvider = () => undefined;
      export class EventStreamSerde {}`,
  },
  // 10 kB to ask DynamoDB for an endpoint, which it does not tell.
  {
    module: /^@aws-sdk\/middleware-endpoint-discovery$/,
    contents: `
      const none = () => undefined;
      export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = { environmentVariableSelector: none, configFileSelector: none, default: undefined };
      export const resolveEndpointDiscoveryConfig = (config) => config;`,
  },
];

export const standIns: Plugin = {
  name: "stand-ins",
  setup(bundling) {
    for (const { module, contents } of stoodIn) {
      const namespace = `in place of ${module.source}`;
      bundling.onResolve({ filter: module }, ({ path, resolveDir }) => ({ path, namespace, pluginData: resolveDir, sideEffects: false }));
      bundling.onLoad({ filter: /./, namespace }, ({ pluginData }) => ({ contents, resolveDir: pluginData }));
    }
  },
};

/**
 * Modules of ours that a function may or may not come to need: they stand in files beside the bundle, and the first call of one
 * of their functions loads them. For a mail without a text of its own 120 kB are read that no other start pays for.
 */
export const lateModules = [
  "shared/public-suffixes.ts",
  "shared/domain/validation/disposable.ts",
  "shared/plain-text.ts",
  "shared/domain/secure-messages/notice.ts",
  "shared/doors/stripe-client.ts",
];
export const lateFile = (path: string): string => `${basename(path, ".ts")}.cjs`;

export const late: Plugin = {
  name: "late",
  setup(bundling) {
    for (const module of lateModules) {
      bundling.onLoad({ filter: new RegExp(`/${module}$`) }, async ({ path }) => ({
        contents: [...(await readFile(path, "utf8")).matchAll(/^export (?:async )?(?:const|function) (\w+)/gm)]
          .map(([, name]) => `export const ${name} = (...given) => require("./${lateFile(path)}").${name}(...given);`)
          .join("\n"),
      }));
      bundling.onResolve({ filter: new RegExp(`^\\./${lateFile(module)}$`) }, ({ path }) => ({ path, external: true }));
    }
  },
};

/** Changes to a package's file. One that no longer fits a new version does nothing, and the size check tells. */
const trims: { file: RegExp; trim(code: string): string }[] = [
  // The SDK writes names as variables, in a way that keeps what S3 has for a hundred other operations: 60 kB.
  { file: /@aws-sdk\/client-[^/]+\/dist-es\/schemas\/schemas_0\.js$/, trim: (code) => onlyNamedErrors(literalKeys(code)) },
  // It escapes text, and takes all named characters of HTML along: 76 kB.
  { file: /dom-serializer\/lib\/esm\/index\.js$/, trim: (code) => code.replace('from "entities"', 'from "entities/lib/escape.js"') },
  // It signs for a bucket of many regions too, which ours is not: 6 kB.
  {
    file: /signature-v4-multi-region\/dist-es\/SignatureV4MultiRegion\.js$/,
    trim: () => `
      import { SignatureV4SignWithCredentials } from "./SignatureV4SignWithCredentials";
      export class SignatureV4MultiRegion extends SignatureV4SignWithCredentials {
        static sigv4aDependency = () => "none";
      }`,
  },
  // The build has made the JSON schemas already: 27 kB.
  {
    file: /zod\/v4\/core\/(to-json-schema|json-schema-processors)\.js$/,
    trim: (code) => hollow(code, "JSON schemas are made by the build"),
  },
  { file: /zod\/v4\/classic\/schemas\.js$/, trim: (code) => code.replace(/^\s*inst\._zod\.processJSONSchema = .*;$/gm, "") },
];

function literalKeys(code: string): string {
  const texts = new Map([...code.matchAll(/^const (_\w+) = ("[^"]*");$/gm)].map(([, name, text]) => [name!, text!]));
  return code.replace(/\[(_\w+)\]:/g, (whole, name: string) => (texts.has(name) ? `${texts.get(name)}:` : whole));
}

// An error without a class of its own arrives as the service's common one, with its name. 20 to 40 kB.
function onlyNamedErrors(code: string): string {
  const named = new Set(
    readdirSync(doors, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) => [...readFileSync(join(doors, file), "utf8").matchAll(/\b[A-Z]\w+/g)].map(([name]) => name)),
  );
  return code.replace(/^\w+\.registerError\(\w+\$, (\w+)\);$/gm, (whole, name: string) =>
    named.has(name) || name.endsWith("ServiceException") ? whole : "",
  );
}

const hollow = (code: string, why: string): string =>
  [...code.matchAll(/^export (?:const|function|class) (\w+)/gm)]
    .map(([, name]) => `export const ${name} = () => { throw new Error(${JSON.stringify(why)}); };`)
    .join("\n");

/**
 * Trims packages, and keeps of their files no more than the names in the source map, which is a tenth of the size to download
 * at every start.
 */
export const trimmedPackages: Plugin = {
  name: "trimmed packages",
  setup(bundling) {
    bundling.onLoad({ filter: /node_modules\/.*\.m?js$/ }, async ({ path }) => {
      const code = await readFile(path, "utf8");
      const trimmed = trims.filter(({ file }) => file.test(path)).reduce((left, { trim }) => trim(left), code);
      const map = JSON.stringify({ version: 3, sources: [basename(path)], mappings: "AAAA" });
      return {
        contents: `${trimmed}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString("base64")}`,
        loader: "js",
      };
    });
    // A client carries its whole package.json to tell its version: 2.5 kB each.
    bundling.onLoad({ filter: /node_modules\/@aws-sdk\/client-[^/]+\/package\.json$/ }, async ({ path }) => {
      const { name, version } = JSON.parse(await readFile(path, "utf8"));
      return { contents: JSON.stringify({ name, version }), loader: "json" };
    });
  },
};
