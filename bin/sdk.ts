// Builds the npm package with the SDK.
import { relative } from "node:path";
import { runCommand } from "../infra/local/command-line.ts";
import { buildPackage } from "../infra/sdk/build.ts";

await runCommand({
  usage: `npm run sdk

Builds the npm package \`pennymail\` of this version in dist/sdk.`,
  run: async () => {
    const { folder, minifiedBytes } = await buildPackage();
    const size = (minifiedBytes / 1000).toFixed(1);
    console.log(`${relative("", folder)}: ${size} kB minified`);
  },
});
