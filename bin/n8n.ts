// Builds the npm package with the nodes of n8n.
import { relative } from "node:path";
import { runCommand } from "../infra/local/command-line.ts";
import { buildNodePackage } from "../infra/n8n/build.ts";

await runCommand({
  usage: `npm run n8n

Builds the community nodes of n8n, the npm package \`n8n-nodes-pennymail\`, in dist/n8n.`,
  run: async () => console.log(relative("", await buildNodePackage())),
});
