import type { TestProject } from "vitest/node";
import { startDynamoDbLocal } from "../../infra/local/dynamodb.ts";
import engine from "./engine.ts";

/** The same engines, but for Amazon's DynamoDB Local. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dynamoDb = await startDynamoDbLocal();
  const stop = await engine(project, dynamoDb.endpoint);
  return async () => {
    await stop();
    await dynamoDb.stop();
  };
}
