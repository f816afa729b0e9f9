import type { TestProject } from "vitest/node";
import { startServiceProcess } from "../service-process.ts";

declare module "vitest" {
  interface ProvidedContext {
    baseUrl: string;
  }
}

/** Starts one service for all test files of the project, unless BASE_URL names a deployed one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const deployed = process.env.BASE_URL;
  if (deployed) {
    project.provide("baseUrl", deployed);
    return async () => {};
  }
  // All tests have one client address, so its limits of public requests are raised.
  const service = await startServiceProcess({
    ADDRESS_LIMIT_PER_MINUTE: "1000000",
    LOGIN_FAILURES_PER_ADDRESS: "1000000",
    OPERATORS: "operator@example.com",
  });
  project.provide("baseUrl", service.url);
  return async () => {
    await service.stop();
    const errors = service.output().split("\nready ")[1]?.split("\n").slice(1).join("\n");
    if (errors) console.error(errors);
  };
}
