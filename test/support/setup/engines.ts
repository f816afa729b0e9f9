import type { TestProject } from "vitest/node";
import { openDataFolder } from "../../../infra/local/data-folder.ts";
import { startEngines } from "../../../infra/local/engines/engines.ts";
import { queues } from "../../../shared/queues.ts";
import { everything } from "../extent.ts";

declare module "vitest" {
  interface ProvidedContext {
    settings: Record<string, string>;
    /** Most test files call tables in memory instead of the DynamoDB engine. */
    usesMemoryTables: boolean;
  }
}

/**
 * Starts one set of engines in memory for all test files of the project. environment.ts sets their
 * addresses. AWS_ENDPOINT_URL_DYNAMODB names another DynamoDB.
 */
export default (project: TestProject): Promise<() => Promise<void>> => {
  const { AWS_ENDPOINT_URL_DYNAMODB: existing } = process.env;
  project.provide("usesMemoryTables", !existing && !everything);
  return provideEngines(project, existing);
};

export async function provideEngines(
  project: TestProject,
  dynamoDb: Parameters<typeof startEngines>[0]["dynamoDb"],
): Promise<() => Promise<void>> {
  const engines = await startEngines({
    folder: openDataFolder(":memory:"),
    queues: Object.values(queues),
    dynamoDb,
  });
  project.provide("settings", {
    ...engines.env,
    PUBLIC_URL: "http://127.0.0.1:3000",
    SIGNUP: "open",
    LOG_LEVEL: "SILENT",
    EMAIL_VERIFICATION: "off",
    SYSTEM_SENDER: "postmark:no-reply@pennymail.test",
  });
  return () => engines.stop();
}
