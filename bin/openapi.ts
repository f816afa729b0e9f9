// The OpenAPI document: `npm run --silent openapi`, or `npm run openapi -- openapi.json` to write it to a file.
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { document } from "../functions/http/interface.ts";

const [file, ...more] = process.argv.slice(2);
if (more.length || file?.startsWith("-")) {
  console.error("Usage: npm run --silent openapi, or npm run openapi -- openapi.json to write it to a file");
  process.exitCode = 1;
} else {
  const text = `${JSON.stringify(await document(), null, 2)}\n`;
  // npm runs us in its own folder; files are named as seen from the caller's.
  if (file) writeFileSync(resolve(process.env.INIT_CWD ?? "", file), text);
  else process.stdout.write(text);
}
