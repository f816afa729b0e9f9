import { existsSync } from "node:fs";
import type { TestProject } from "vitest/node";
import service from "./service.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Path of the browser; "" where there is none, and its tests are skipped. */
    chromium: string;
  }
}

const chromiumPath = "/usr/bin/chromium";

/** A service of their own for the browser tests, where there is a browser. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (existsSync(chromiumPath)) {
    project.provide("chromium", chromiumPath);
    return service(project);
  }
  console.log("browser tests skipped: no Chromium");
  project.provide("chromium", "");
  project.provide("baseUrl", "");
  return async () => {};
}
