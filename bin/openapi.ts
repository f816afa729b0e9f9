// Writes the OpenAPI document of this version.
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { getOpenApiDocument } from "../functions/openapi-document.ts";
import { runCommand } from "../infra/local/command-line.ts";

await runCommand({
  usage: `npm run --silent openapi, or npm run openapi -- openapi.json to write it to a file

Prints the OpenAPI 3.1 document of this version.`,
  words: [0, 1],
  run: async ({ words: [file] }) => {
    const text = `${JSON.stringify(await getOpenApiDocument(), null, 2)}\n`;
    // npm changes the working directory. Paths are relative to the caller's.
    if (file) writeFileSync(resolve(process.env.INIT_CWD ?? "", file), text);
    else process.stdout.write(text);
  },
});
