import type { TestProject } from "vitest/node";
import { startDynamoDbLocal } from "../../infra/local/engines/dynamodb.ts";
import { provideEngines } from "./setup/engines.ts";

/** The same engines, with Amazon's DynamoDB Local instead of the embedded one. */
export default (project: TestProject): Promise<() => Promise<void>> => {
  project.provide("usesMemoryTables", false);
  return provideEngines(project, startDynamoDbLocal);
};
