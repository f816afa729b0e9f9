import type { TestProject } from "vitest/node";
import { startDynamoDbLocal } from "../../infra/local/engines/dynamodb.ts";
import { provideEngines } from "./setup/engines.ts";

/** The same engines, but for Amazon's DynamoDB Local. */
export default (project: TestProject): Promise<() => Promise<void>> =>
  provideEngines(project, startDynamoDbLocal);
