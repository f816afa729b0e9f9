// Builds the package `n8n-nodes-pennymail`: community nodes of n8n, with the operations of this
// version of the API. docs.n8n.io/integrations/creating-nodes has the rules for such packages.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { getOpenApiDocument } from "../../functions/openapi-document.ts";
import type { EventChoice } from "../../shared/clients/n8n/webhook-events.ts";
import type { OpenApiDocument } from "../../shared/http/openapi/document.ts";
import { version } from "../../shared/version.ts";
import { createIcon } from "../console/icon.ts";
import { bundleOptions, replaceFiles } from "../sdk/build.ts";
import { writeCliOperations } from "../sdk/cli-operations.ts";
import { writeOperationTable } from "../sdk/operation-table.ts";
import { readOperations } from "../sdk/operations.ts";

const root = join(import.meta.dirname, "../..");
const sourceFolder = join(root, "shared/clients/n8n");
const packageName = "n8n-nodes-pennymail";
const nodesFolder = "nodes/Pennymail";

interface PackageModule {
  path: string;
  /** n8n looks for a class that is named like the file, in the file and in its source. */
  exports: string;
}

const credentials: PackageModule = {
  path: "credentials/PennymailApi.credentials.js",
  exports: '{ PennymailApi } from "./credentials.ts"',
};
const nodes: (PackageModule & { name: string })[] = [
  {
    path: `${nodesFolder}/Pennymail.node.js`,
    exports: '{ Pennymail } from "./action-node.ts"',
    name: "pennymail",
  },
  {
    path: `${nodesFolder}/PennymailTrigger.node.js`,
    exports: '{ PennymailTrigger } from "./trigger-node.ts"',
    name: "pennymailTrigger",
  },
];

/** Replaces the contents of `folder` by the package. Returns the folder. */
export async function buildNodePackage(folder = join(root, "dist/n8n")): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, nodesFolder), { recursive: true });
  const document = await getOpenApiDocument();
  const operations = readOperations(document).filter(({ takesApiKey }) => takesApiKey);
  const generated = {
    "shared/clients/cli/operations.ts": writeCliOperations(document, operations),
    "shared/clients/sdk/operation-table.ts": writeOperationTable(operations),
    "shared/clients/n8n/webhook-events.ts": writeWebhookEvents(document),
  };
  await Promise.all(
    [credentials, ...nodes].map(({ path, exports }) =>
      esbuild.build({
        ...bundleOptions,
        format: "cjs",
        platform: "node",
        plugins: [replaceFiles(generated)],
        stdin: { contents: `export ${exports};`, resolveDir: sourceFolder },
        outfile: join(folder, path),
      }),
    ),
  );
  writePackageFiles(folder);
  return folder;
}

function writeWebhookEvents({ webhooks }: OpenApiDocument): string {
  const events = Object.entries(webhooks).map(([name, { post }]): EventChoice => {
    const description = post.description.replace(/ Verify a signature .*/, "");
    return { name, description };
  });
  return `export const webhookEvents = ${JSON.stringify(events)};`;
}

function writePackageFiles(folder: string): void {
  const manifest = {
    name: packageName,
    version,
    description: "Nodes of n8n for Pennymail: email, contacts, campaigns and sequences",
    license: "MIT",
    keywords: ["n8n-community-node-package", "email", "newsletter"],
    n8n: {
      n8nNodesApiVersion: 1,
      credentials: [credentials.path],
      nodes: nodes.map(({ path }) => path),
    },
    peerDependencies: { "n8n-workflow": "*" },
  };
  const write = (path: string, text: string) => writeFileSync(join(folder, path), text);
  const writeJson = (path: string, value: object) =>
    write(path, `${JSON.stringify(value, null, 2)}\n`);
  writeJson("package.json", manifest);
  for (const { path, name } of nodes)
    writeJson(path.replace(/js$/, "json"), {
      node: `${packageName}.${name}`,
      nodeVersion: "1.0",
      codexVersion: "1.0",
      categories: ["Communication", "Marketing"],
      // Without them, n8n does not read the categories.
      resources: { primaryDocumentation: [], credentialDocumentation: [] },
    });
  write(`${nodesFolder}/pennymail.svg`, createIcon());
  write(`${nodesFolder}/pennymail.dark.svg`, createIcon("#d9713f"));
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  write("README.md", readInstructions());
}

/** What the guide says about the package. */
function readInstructions(): string {
  const guide = readFileSync(join(root, "shared/http/guides/automation-tools.md"), "utf8");
  return `# ${packageName}\n\n${guide.split("\n## n8n\n")[1]!.trim()}\n`;
}
