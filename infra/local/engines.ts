// What stands in for AWS on one machine: DynamoDB, SQS, S3, KMS, Secrets Manager. The service reaches them through the real SDK.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { startDynamoDb, type startDynamoDbLocal } from "./dynamodb.ts";
import type { Folder } from "./folder.ts";
import { keyId, startKms } from "./kms.ts";
import { bucket, credentials, type QueueSettings, type Queues, region, startQueues } from "./queues.ts";
import { countDue, createTable, sweeping } from "./table.ts";

export interface Engines {
  /** Settings with which the service finds them. */
  env: Record<string, string>;
  queues: Queues;
  /** How many items of the due index have fallen due. */
  due(): Promise<number>;
  stop(): Promise<void>;
}

interface Settings {
  folder: Folder;
  queues: QueueSettings[];
  /** What Secrets Manager knows, by name. */
  secrets?: Record<string, string>;
  /** Endpoint of a DynamoDB that runs already, or how to start one; ours is started where there is none. */
  dynamoDb?: string | typeof startDynamoDbLocal | undefined;
}

const table = "pennymail";

export async function startEngines({ folder, queues: settings, secrets = {}, dynamoDb }: Settings): Promise<Engines> {
  const started: { stop(): Promise<void> }[] = [];
  const start = async <T extends { stop(): Promise<void> }>(part: T | Promise<T>): Promise<T> => {
    const running = await part;
    started.unshift(running);
    return running;
  };
  const stop = async () => {
    for (const part of started) await part.stop();
  };
  try {
    const dynamo = await start(typeof dynamoDb === "function" ? dynamoDb(folder.path) : startDynamoDb(dynamoDb, folder.path));
    const queues = await start(startQueues({ queues: settings, path: folder.path }));
    const kms = await start(startKms({ keyFile: folder.path("kms-key"), secrets }));
    const { accessKeyId = credentials.accessKeyId } = dynamo;
    const client = new DynamoDBClient({ endpoint: dynamo.endpoint, region, credentials: { ...credentials, accessKeyId } });
    await createTable(client, table);
    await start(sweeping(client, table));
    const endpoints = { dynamo: dynamo.endpoint, queues: queues.endpoint, kms: kms.endpoint };
    const env = { ...environment(endpoints), ...queueUrls(settings, queues), AWS_ACCESS_KEY_ID: accessKeyId };
    return { env, queues, due: () => countDue(client, table), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const environment = (endpoints: { dynamo: string; queues: string; kms: string }) => ({
  AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamo,
  AWS_ENDPOINT_URL_SQS: endpoints.queues,
  AWS_ENDPOINT_URL_S3: endpoints.queues,
  AWS_ENDPOINT_URL_KMS: endpoints.kms,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.kms,
  AWS_REGION: region,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  TABLE_NAME: table,
  BUCKET_NAME: bucket,
  KMS_KEY_ID: keyId,
});

const queueUrls = (settings: QueueSettings[], queues: Queues): Record<string, string> =>
  Object.fromEntries(settings.map(({ name }) => [`QUEUE_URL_${name.toUpperCase().replaceAll("-", "_")}`, queues.url(name)]));
