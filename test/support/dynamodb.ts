import type { TestProject } from "vitest/node";
import { startDynamoDbLocal } from "../../infra/local/dynamodb.ts";
import { enginesFor } from "./engine.ts";

/** The same engines, but for Amazon's DynamoDB Local. */
export default (project: TestProject): Promise<() => Promise<void>> => enginesFor(project, startDynamoDbLocal);
