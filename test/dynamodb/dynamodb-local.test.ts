// `npm start` with Amazon's DynamoDB Local, for systems without a packaged database engine.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { expect, onTestFinished, test } from "vitest";
import { openDataFolder } from "../../infra/local/data-folder.ts";
import { startDynamoDbLocal } from "../../infra/local/engines/dynamodb.ts";
import { startEngines } from "../../infra/local/engines/engines.ts";

const clientOf = (env: Record<string, string>, accessKeyId = env.AWS_ACCESS_KEY_ID!) =>
  new DynamoDBClient({
    endpoint: env.AWS_ENDPOINT_URL_DYNAMODB!,
    credentials: { accessKeyId, secretAccessKey: env.AWS_SECRET_ACCESS_KEY! },
  });

test("a second start finds the items, and requests without the key cannot read them", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "pennymail-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const Key = { pk: { S: "kept" }, sk: { S: "#" } };
  for (const isSecondStart of [false, true]) {
    const folder = openDataFolder(dataDir);
    const { env, stop } = await startEngines({ folder, queues: [], dynamoDb: startDynamoDbLocal });
    const client = clientOf(env);
    expect(
      (await client.send(new GetItemCommand({ TableName: env.TABLE_NAME, Key }))).Item,
    ).toEqual(isSecondStart ? Key : undefined);
    await client.send(new PutItemCommand({ TableName: env.TABLE_NAME, Item: Key }));
    expect((await client.send(new ListTablesCommand())).TableNames).toEqual([env.TABLE_NAME]);
    expect((await clientOf(env, "local").send(new ListTablesCommand())).TableNames).toEqual([]);
    await stop();
    folder.close();
  }
});
