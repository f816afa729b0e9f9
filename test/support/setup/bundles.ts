// Bundles every entry point once for all infra tests, in a temporary folder.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { build } from "../../../infra/aws/build.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Folder with the bundles. */
    dist: string;
  }
}

export default async function setup(project: TestProject) {
  const dist = await mkdtemp(join(tmpdir(), "pennymail-dist-"));
  await build(dist);
  project.provide("dist", dist);
  return () => rm(dist, { recursive: true });
}
