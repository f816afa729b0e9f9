// The script of Scalar (github.com/scalar/scalar), compressed with brotli. Its package would add
// 257 packages (268 MB) that the script does not need. To renew it, run
// `npm pack @scalar/api-reference@VERSION && tar xf scalar-api-reference-VERSION.tgz` and
// `node -e 'const fs = require("fs"); fs.writeFileSync("scalar-VERSION.js.br",
// zlib.brotliCompressSync(fs.readFileSync("package/dist/browser/standalone.js")))'`
// in an empty folder, move the file here, and change `scriptName`.
import { readFile } from "node:fs/promises";
import { scriptName } from "./page.ts";

let script: Promise<Uint8Array> | undefined;

/** Read once per process. The build replaces this module by one that contains the script. */
export const getReferenceScript = (): Promise<Uint8Array> => {
  script ??= readFile(new URL(`${scriptName}.br`, import.meta.url));
  return script;
};
