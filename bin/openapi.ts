// The OpenAPI document: `npm run --silent openapi`, or `npm run openapi -- openapi.json` to write it to a file.
import { writeFileSync } from "node:fs";
import { document } from "../functions/http/interface.ts";

const text = `${JSON.stringify(await document(), null, 2)}\n`;
const [file] = process.argv.slice(2);
if (file) writeFileSync(file, text);
else process.stdout.write(text);
