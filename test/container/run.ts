// `npm run test:container` runs test/container in its own process group, with a time limit.
import { join } from "node:path";
import { printsHelp } from "../../infra/local/command-line.ts";
import { runProject } from "../support/vitest-project.ts";
import { cache, installLinters, missingForImage } from "./tools.ts";

const limitSeconds = Number(process.env.CONTAINER_LIMIT_SECONDS ?? 600);
const log = join(cache, "output.log");

const usage = `npm run test:container

Lints Dockerfile, compose.yaml and the files for GitHub, and builds and runs the image with buildah,
on Debian from debootstrap in place of the official image of Node.js. What has no tool here is left
out: the linters need Python 3, and the image needs root, debootstrap and buildah. A busy machine
can set CONTAINER_LIMIT_SECONDS.`;
if (printsHelp(usage)) process.exit(0);
const missing = [
  ["lint of the container and of the files for GitHub", installLinters()],
  ["container image", missingForImage()],
].filter(([, reason]) => reason);
for (const [what, reason] of missing) console.log(`The ${what} was left out: ${reason}.`);
console.log(`Building a container image; output in ${log}`);
process.exitCode = await runProject({ name: "container", log, limitSeconds });
