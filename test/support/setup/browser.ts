import { existsSync } from "node:fs";
import type { TestProject } from "vitest/node";
import service from "./service.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Path of the browser. Without a browser it is empty, and the tests are skipped. */
    chromium: string;
  }
}

const chromiumPath = "/usr/bin/chromium";

/** Starts a service for the browser tests if there is a browser. */
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
