import type { TestProject } from "vitest/node";
import { startServiceProcess } from "../service-process.ts";

declare module "vitest" {
  interface ProvidedContext {
    baseUrl: string;
  }
}

/** One service for all files of the project; BASE_URL names a deployed one instead. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const deployed = process.env.BASE_URL;
  if (deployed) {
    project.provide("baseUrl", deployed);
    return async () => {};
  }
  // All tests come from one address, which is limited where anybody may call.
  const service = await startServiceProcess({
    ADDRESS_LIMIT_PER_MINUTE: "1000000",
    LOGIN_FAILURES_PER_ADDRESS: "1000000",
  });
  project.provide("baseUrl", service.url);
  return async () => {
    await service.stop();
    const errors = service.output().split("\nready ")[1]?.split("\n").slice(1).join("\n");
    if (errors) console.error(errors);
  };
}
