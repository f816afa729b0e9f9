// The local engines in place of AWS: DynamoDB, SQS, S3, KMS, Secrets Manager. The service calls
// them through the real SDK.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { DataFolder } from "../data-folder.ts";
import { startDynamoDb, type startDynamoDbLocal } from "./dynamodb.ts";
import { localKmsKeyId, startKmsAndSecrets } from "./kms-and-secrets.ts";
import type { EngineCredentials } from "./request-check.ts";
import {
  bucketName,
  type LocalQueueSettings,
  type LocalQueues,
  localRegion,
  startSqsAndS3,
} from "./sqs-and-s3.ts";
import { countDueItems, createTable, startTtlSweeper } from "./table.ts";

export interface LocalEngines {
  /** Environment variables with the engines' addresses and credentials. */
  env: Record<string, string>;
  /** The engines accept only requests that are signed with these. */
  credentials: EngineCredentials;
  /** No other process uses the table. */
  own: boolean;
  queues: LocalQueues;
  /** Counts the items of the due index that are due. */
  countDue(): Promise<number>;
  stop(): Promise<void>;
}

interface EngineSettings {
  folder: DataFolder;
  queues: LocalQueueSettings[];
  /** The secrets of Secrets Manager, by name. */
  secrets?: Record<string, string>;
  /**
   * The endpoint of a running DynamoDB, or a function that starts one. Absent: starts the embedded
   * engine.
   */
  dynamoDb?: string | typeof startDynamoDbLocal | undefined;
}

const tableName = "pennymail";

export async function startEngines({
  folder,
  queues: settings,
  secrets = {},
  dynamoDb,
}: EngineSettings): Promise<LocalEngines> {
  const started: { stop(): Promise<void> }[] = [];
  const startPart = async <T extends { stop(): Promise<void> }>(
    part: T | Promise<T>,
  ): Promise<T> => {
    const running = await part;
    started.unshift(running);
    return running;
  };
  const stop = async () => {
    for (const part of started) await part.stop();
  };
  try {
    const dynamo = await startPart(
      typeof dynamoDb === "function" ? dynamoDb(folder.path) : startDynamoDb(dynamoDb, folder.path),
    );
    const { credentials } = dynamo;
    const queues = await startPart(
      startSqsAndS3({ queues: settings, path: folder.path, credentials }),
    );
    const kms = await startPart(
      startKmsAndSecrets({ keyFile: folder.path("kms-key"), secrets, credentials }),
    );
    const client = new DynamoDBClient({
      endpoint: dynamo.endpoint,
      region: localRegion,
      credentials,
    });
    await createTable(client, tableName);
    await startPart(startTtlSweeper(client, tableName));
    const endpoints = { dynamo: dynamo.endpoint, queues: queues.endpoint, kms: kms.endpoint };
    const env = {
      ...engineEnv(endpoints),
      ...queueUrls(settings, queues),
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      ...(dynamo.partiqlCommas && { PARTIQL_COMMAS: "on" }),
      ...(dynamo.readers && { DYNAMODB_READERS: dynamo.readers.join(" ") }),
    };
    return {
      env,
      credentials,
      own: typeof dynamoDb !== "string" || !dynamoDb,
      queues,
      countDue: () => countDueItems(client, tableName),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const engineEnv = (endpoints: { dynamo: string; queues: string; kms: string }) => ({
  AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamo,
  AWS_ENDPOINT_URL_SQS: endpoints.queues,
  AWS_ENDPOINT_URL_S3: endpoints.queues,
  AWS_ENDPOINT_URL_KMS: endpoints.kms,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.kms,
  AWS_REGION: localRegion,
  TABLE_NAME: tableName,
  BUCKET_NAME: bucketName,
  KMS_KEY_ID: localKmsKeyId,
});

const queueUrls = (settings: LocalQueueSettings[], queues: LocalQueues): Record<string, string> =>
  Object.fromEntries(
    settings.map(({ name }) => [
      `QUEUE_URL_${name.toUpperCase().replaceAll("-", "_")}`,
      queues.url(name),
    ]),
  );
