import type { TestProject } from "vitest/node";
import { startEngines } from "../../infra/local/engines.ts";
import { openFolder } from "../../infra/local/folder.ts";
import { queues } from "../../shared/queues.ts";

declare module "vitest" {
  interface ProvidedContext {
    settings: Record<string, string>;
  }
}

/** One set of engines in memory for all files of the project; settings.ts hands their addresses to each. AWS_ENDPOINT_URL_DYNAMODB names another DynamoDB. */
export default (project: TestProject): Promise<() => Promise<void>> => enginesFor(project, process.env.AWS_ENDPOINT_URL_DYNAMODB);

export async function enginesFor(
  project: TestProject,
  dynamoDb: Parameters<typeof startEngines>[0]["dynamoDb"],
): Promise<() => Promise<void>> {
  const engines = await startEngines({ folder: openFolder(":memory:"), queues: Object.values(queues), dynamoDb });
  project.provide("settings", { ...engines.env, PUBLIC_URL: "http://127.0.0.1:3000", SIGNUP: "open", LOG_LEVEL: "SILENT" });
  return () => engines.stop();
}
