// Plugins for esbuild that make bundles smaller and cold starts faster. Each names its saving.
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import type { Plugin } from "esbuild";

const adaptersFolder = join(import.meta.dirname, "../../shared/adapters");

/** Modules that make a document from all groups, and the function that returns it. */
const documentModules: { module: string; name: string; make(): Promise<unknown> }[] = [
  {
    module: "openapi-document",
    name: "getOpenApiDocument",
    make: async () => (await import("../../functions/openapi-document.ts")).getOpenApiDocument(),
  },
  {
    module: "mcp-catalog",
    name: "getMcpCatalog",
    make: async () => (await import("../../functions/mcp-catalog.ts")).getMcpCatalog(),
  },
];

/** Replaces these modules by their compressed documents. */
export const inlineDocuments: Plugin = {
  name: "inline documents",
  setup(bundling) {
    for (const { module, name, make } of documentModules)
      bundling.onLoad({ filter: new RegExp(`functions/${module}\\.ts$`) }, async () => {
        const compressed = brotliCompressSync(JSON.stringify(await make())).toString("base64");
        return {
          contents: `
            import { brotliDecompressSync } from "node:zlib";
            const compressed = Buffer.from("${compressed}", "base64");
            let parsed;
            export const ${name} = async () =>
              (parsed ??= JSON.parse(brotliDecompressSync(compressed)));`,
        };
      });
  },
};

/** Replaces the module that reads the script of the API reference by one that contains it. */
export const inlineReferenceScript: Plugin = {
  name: "inline reference script",
  setup(bundling) {
    bundling.onLoad({ filter: /reference\/scalar-script\.ts$/ }, async ({ path }) => {
      const { scriptName } = await import("../../shared/http/reference/page.ts");
      return {
        contents: `
          import script from "./${scriptName}.br";
          export const getReferenceScript = async () => script;`,
        resolveDir: dirname(path),
      };
    });
  },
};

/** Parts of packages that our functions never use, and their replacements. */
const moduleReplacements: { module: RegExp; contents: string }[] = [
  // Lambda provides credentials in the environment. Saves 110 kB of other credential providers.
  {
    module: /^@aws-sdk\/credential-provider-node$/,
    contents: `export { fromEnv as defaultProvider } from "@aws-sdk/credential-provider-env";`,
  },
  // Saves 14 kB for calls that stream events, such as SelectObjectContent of S3.
  {
    module: /^@smithy\/core\/event-streams$/,
    contents: `
      export const resolveEventStreamSerdeConfig = (config) => config;
      export const eventStreamSerdeProvider = () => undefined;
      export class EventStreamSerde {}`,
  },
  // Mail comes from IMAP as it is, and postal-mime parses it. Saves 600 kB of character sets.
  {
    module: /^libmime$/,
    contents: "export default { decodeWords: (text) => text, parseHeaderValue: () => ({}) };",
  },
  { module: /^encoding-japanese$/, contents: "export default {};" },
  {
    module: /^@zone-eu\/mailsplit(\/|$)/,
    contents: "export class Headers {} export default class FlowedDecoder {}",
  },
  // IMAP is spoken without a proxy, and logs nothing by itself. Saves 90 kB.
  { module: /^socks$/, contents: "export class SocksClient {}" },
  { module: /^pino$/, contents: "export default () => undefined;" },
  // The MCP server never asks its client for input that it would have to check. Saves 135 kB.
  {
    module: /\/validation\/ajv-provider\.js$/,
    contents: "export class AjvJsonSchemaValidator {}",
  },
];

export const replaceModules: Plugin = {
  name: "replace modules",
  setup(bundling) {
    for (const { module, contents } of moduleReplacements) {
      const namespace = `replacement of ${module.source}`;
      bundling.onResolve({ filter: module }, ({ path, resolveDir }) => ({
        path,
        namespace,
        pluginData: resolveDir,
        sideEffects: false,
      }));
      bundling.onLoad({ filter: /./, namespace }, ({ pluginData }) => ({
        contents,
        resolveDir: pluginData,
      }));
    }
  },
};

/**
 * Modules that many invocations do not need. Each is a file next to the bundle, and the first call
 * of one of its functions loads it. The conversion of HTML to plain text alone is 120 kB.
 */
export const lazyModules = [
  "shared/domain/senders/public-suffixes.ts",
  "shared/domain/senders/validation/disposable-domains.ts",
  "shared/email/html-language.ts",
  "shared/email/html-scanner.ts",
  "shared/email/link-tags.ts",
  "shared/email/link-tracking.ts",
  "shared/email/plain-text.ts",
  "shared/email/liquid/liquid-templates.ts",
  "shared/domain/campaigns/series/rss/parse-rss.ts",
  "shared/providers/inbound-mail/mime-parser.ts",
  "shared/providers/mailbox-reports/mailbox-report.ts",
  "shared/kernel/csv-packages.ts",
  "functions/openapi-document.ts",
  "functions/mcp-catalog.ts",
  "shared/http/reference/scalar-script.ts",
  "shared/domain/senders/postmaster-tools/pull-figures.ts",
  "shared/domain/sending/secure-messages/notice.ts",
  "shared/domain/sending/tracking-domains/check-host.ts",
  "shared/domain/delivery-events/event-files.ts",
  "shared/domain/privacy/site-erasure.ts",
  "shared/adapters/s3/objects.ts",
  "shared/adapters/dns/queries.ts",
  "shared/adapters/smtp/smtp-client.ts",
  "shared/adapters/imap/imap-client.ts",
  "shared/adapters/stripe/stripe-client.ts",
  "shared/providers/connect/lookup.ts",
  "shared/domain/identity/password-strength.ts",
  "shared/pages/unsubscribe-pages.ts",
];
export const lazyFileName = (path: string): string => `${basename(path, ".ts")}.cjs`;

export const lazyLoadModules: Plugin = {
  name: "lazy modules",
  setup(bundling) {
    for (const module of lazyModules) {
      bundling.onLoad({ filter: new RegExp(`/${module}$`) }, async ({ path }) => ({
        contents: [
          ...(await readFile(path, "utf8")).matchAll(
            /^export (?:async )?(?:const|function) (\w+)/gm,
          ),
        ]
          .map(
            ([, name]) =>
              `export const ${name} = (...args) => ` +
              `require("./${lazyFileName(path)}").${name}(...args);`,
          )
          .join("\n"),
      }));
      bundling.onResolve({ filter: new RegExp(`^\\./${lazyFileName(module)}$`) }, ({ path }) => ({
        path,
        external: true,
      }));
    }
  },
};

/**
 * Changes to files of packages. If one no longer matches a new version, it does nothing, and the
 * size check fails.
 */
const packagePatches: { file: RegExp; patch(code: string): string }[] = [
  // The SDK stores names in variables, which prevents tree shaking of a hundred other operations of
  // S3. Saves 60 kB.
  {
    file: /@aws-sdk\/client-[^/]+\/dist-es\/schemas\/schemas_0\.js$/,
    patch: (code) => keepUsedErrors(inlineSchemaKeys(code)),
  },
  // Only the escape function is needed, not all named characters of HTML. Saves 76 kB.
  {
    file: /dom-serializer\/lib\/esm\/index\.js$/,
    patch: (code) => code.replace('from "entities"', 'from "entities/lib/escape.js"'),
  },
  // Removes signatures for multi-region buckets. Saves 6 kB.
  {
    file: /signature-v4-multi-region\/dist-es\/SignatureV4MultiRegion\.js$/,
    patch: () => `
      import { SignatureV4SignWithCredentials } from "./SignatureV4SignWithCredentials";
      export class SignatureV4MultiRegion extends SignatureV4SignWithCredentials {
        static sigv4aDependency = () => "none";
      }`,
  },
  // It adds a note to the user agent, and imports the endpoints of all services. Saves 13 kB.
  {
    file: /credential-provider-env\/dist-es\/fromEnv\.js$/,
    patch: (code) =>
      code.replace(
        /^import \{ setCredentialFeature \} from .*;$/m,
        "const setCredentialFeature = () => {};",
      ),
  },
  // Names of IMAP folders are in UTF-7. Saves 460 kB of other character sets.
  {
    file: /iconv-lite\/encodings\/index\.js$/,
    patch: () => 'module.exports = { ...require("./internal"), ...require("./utf7") };',
  },
  // The build creates the JSON schemas. Saves 27 kB.
  {
    file: /zod\/v4\/core\/(to-json-schema|json-schema-processors)\.js$/,
    patch: (code) => stubExports(code, "JSON schemas are made by the build"),
  },
  {
    file: /zod\/v4\/classic\/schemas\.js$/,
    patch: (code) => code.replace(/^\s*inst\._zod\.processJSONSchema = .*;$/gm, ""),
  },
];

function inlineSchemaKeys(code: string): string {
  const texts = new Map(
    [...code.matchAll(/^const (_\w+) = ("[^"]*");$/gm)].map(([, name, text]) => [name!, text!]),
  );
  return code.replace(/\[(_\w+)\]:/g, (whole, name: string) =>
    texts.has(name) ? `${texts.get(name)}:` : whole,
  );
}

// Errors without a class arrive as the common error of the service, with their name. Saves 20 to 40
// kB.
function keepUsedErrors(code: string): string {
  const usedNames = new Set(
    readdirSync(adaptersFolder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) =>
        [...readFileSync(join(adaptersFolder, file), "utf8").matchAll(/\b[A-Z]\w+/g)].map(
          ([name]) => name,
        ),
      ),
  );
  return code.replace(/^\w+\.registerError\(\w+\$, (\w+)\);$/gm, (whole, name: string) =>
    usedNames.has(name) || name.endsWith("ServiceException") ? whole : "",
  );
}

const stubExports = (code: string, why: string): string =>
  [...code.matchAll(/^export (?:const|function|class) (\w+)/gm)]
    .map(([, name]) => `export const ${name} = () => { throw new Error(${JSON.stringify(why)}); };`)
    .join("\n");

/**
 * Applies the patches, and reduces the source maps of packages to file names, which saves 90 % of
 * their size.
 */
export const patchPackages: Plugin = {
  name: "patch packages",
  setup(bundling) {
    bundling.onLoad({ filter: /node_modules\/.*\.m?js$/ }, async ({ path }) => {
      const code = await readFile(path, "utf8");
      const patched = packagePatches
        .filter(({ file }) => file.test(path))
        .reduce((patchedCode, { patch }) => patch(patchedCode), code);
      const map = JSON.stringify({ version: 3, sources: [basename(path)], mappings: "AAAA" });
      const mapUrl = `data:application/json;base64,${Buffer.from(map).toString("base64")}`;
      return {
        contents: `${patched}\n//# sourceMappingURL=${mapUrl}`,
        loader: "js",
      };
    });
    // A client imports its whole package.json for its version. Saves 2.5 kB for each client.
    bundling.onLoad(
      { filter: /node_modules\/@aws-sdk\/client-[^/]+\/package\.json$/ },
      async ({ path }) => {
        const { name, version } = JSON.parse(await readFile(path, "utf8"));
        return { contents: JSON.stringify({ name, version }), loader: "json" };
      },
    );
  },
};

/**
 * Drops descriptions, names and examples of schemas: the OpenAPI document is built before, and no
 * function needs them.
 * 10 to 25 kB for each endpoint group. Line breaks stay, so that source maps still name the right
 * lines.
 */
export const dropDescriptions: Plugin = {
  name: "descriptions",
  setup(bundling) {
    bundling.onLoad({ filter: /\/(shared|functions)\/[^.]+\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, "utf8")).replace(describeCall, (call) =>
        call.replace(/[^\n]/g, ""),
      ),
      loader: "ts",
    }));
  },
};

const literal = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`$\\]*`/.source;
const describeCall = new RegExp(
  `\\.describe\\(\\s*(?:${literal})(?:\\s*\\+\\s*(?:${literal}))*,?\\s*\\)` +
    // Names and examples of one line.
    '|\\.meta\\(\\{ (?:id: "\\w+"|examples: \\[[^\\n]*?\\]) \\}\\)',
  "g",
);
