import { Duration, RemovalPolicy, type Stack } from "aws-cdk-lib";
import {
  AttributeType,
  Billing,
  type ITable,
  ProjectionType,
  Table,
  TableEncryptionV2,
  TableV2,
} from "aws-cdk-lib/aws-dynamodb";
import { EventBus } from "aws-cdk-lib/aws-events";
import { type IKey, Key } from "aws-cdk-lib/aws-kms";
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type BucketProps,
  HttpMethods,
  type IBucket,
  ObjectOwnership,
} from "aws-cdk-lib/aws-s3";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { QueueDefinition } from "../../shared/queues.ts";
import type { StackSettings } from "./settings.ts";

export interface QueueWithDeadLetters {
  definition: QueueDefinition;
  queue: Queue;
  deadLetterQueue: Queue;
}

/**
 * Everything that stores data. With the setting `protect`, it remains in the account when the stack
 * is deleted. An existing table, bucket or key that the settings name is used, but not managed by
 * the stack.
 */
export class StatefulResources extends Construct {
  readonly table: TableV2 | ITable;
  readonly bucket: Bucket | IBucket;
  /** The bucket with event files, if the settings want them. */
  readonly eventFiles: Bucket | undefined;
  /** Keeps nothing; here because workers need it like a queue. */
  readonly eventBus: EventBus | undefined;
  readonly key: IKey;
  /** By the keys of shared/queues.ts. */
  readonly queues: Map<string, QueueWithDeadLetters>;

  constructor(scope: Stack, settings: StackSettings, queues: Record<string, QueueDefinition>) {
    super(scope, "Store");
    const { tableName, bucketName, keyArn } = settings;
    this.table = tableName
      ? Table.fromTableName(this, "Restored", tableName)
      : createTable(this, settings);
    this.bucket = bucketName
      ? Bucket.fromBucketName(this, "RestoredBucket", bucketName)
      : createBucket(this, settings);
    this.eventFiles = settings.eventFiles ? createEventFiles(this, settings) : undefined;
    this.eventBus = settings.eventBus
      ? new EventBus(this, "EventBus", { eventBusName: `pennymail-${settings.stage}` })
      : undefined;
    this.key = keyArn ? Key.fromKeyArn(this, "RestoredKey", keyArn) : createKey(this, settings);
    const attemptsOf = attemptsFor(settings, Object.keys(queues).length);
    this.queues = new Map(
      Object.entries(queues).map(([name, definition]) => [
        name,
        createQueue(this, definition, attemptsOf(definition)),
      ]),
    );
  }
}

const removalPolicy = ({ protect }: StackSettings) =>
  protect ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
const text = (name: string) => ({ name, type: AttributeType.STRING });

function createTable(scope: Construct, settings: StackSettings): TableV2 {
  // A new table accepts 4,000 writes a second and scales within minutes. Warm throughput lets it
  // accept a first large campaign immediately.
  const warmThroughput = settings.warmThroughput && {
    warmThroughput: { readUnitsPerSecond: 30_000, writeUnitsPerSecond: 20_000 },
  };
  return new TableV2(scope, "Table", {
    partitionKey: text("pk"),
    sortKey: text("sk"),
    globalSecondaryIndexes: ["due", "new"].map((indexName) => ({
      indexName,
      partitionKey: text(`${indexName}pk`),
      sortKey: text(`${indexName}sk`),
      projectionType: ProjectionType.KEYS_ONLY,
      ...warmThroughput,
    })),
    billing: Billing.onDemand(),
    timeToLiveAttribute: "expires",
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    // Credentials and secure messages are already encrypted with our KMS key. Table encryption with
    // that key would cost extra calls.
    encryption: TableEncryptionV2.dynamoOwnedKey(),
    deletionProtection: settings.protect,
    removalPolicy: removalPolicy(settings),
    ...warmThroughput,
  });
}

/** What all buckets have in common. */
const privateBucket = (settings: StackSettings): BucketProps => ({
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
  encryption: BucketEncryption.S3_MANAGED,
  enforceSSL: true,
  minimumTLSVersion: 1.2,
  removalPolicy: removalPolicy(settings),
  // CloudFormation cannot delete a bucket with objects.
  autoDeleteObjects: !settings.protect,
});

function createBucket(scope: Construct, settings: StackSettings): Bucket {
  const origins = settings.allowedOrigins?.split(",").map((origin) => origin.trim());
  return new Bucket(scope, "Bucket", {
    ...privateBucket(settings),
    // Not versioned, so that revoked and erased data is deleted.
    lifecycleRules: [
      { id: "uploads", prefix: "uploads/", expiration: Duration.days(7) },
      // The items of a mail expire 60 days after it is due, which can be 30 days ahead, and TTL
      // deletes them some days late.
      ...["attachments", "bodies"].map((kind) => ({
        id: kind,
        prefix: `${kind}/`,
        expiration: Duration.days(100),
      })),
      // A secure message expires after at most 395 days. Objects that remain belong to mails that
      // were never accepted.
      { id: "secure", prefix: "secure/", expiration: Duration.days(400) },
      // Received mail expires after 60 days.
      { id: "inbound", prefix: "inbound/", expiration: Duration.days(70) },
      { id: "exports", prefix: "exports/", expiration: Duration.days(7) },
      { id: "abandoned parts", abortIncompleteMultipartUploadAfter: Duration.days(1) },
    ],
    ...(origins && {
      cors: [
        {
          allowedMethods: [HttpMethods.PUT],
          allowedOrigins: origins,
          allowedHeaders: ["content-type"],
        },
      ],
    }),
  });
}

const createEventFiles = (scope: Construct, settings: StackSettings): Bucket =>
  new Bucket(scope, "EventFiles", {
    ...privateBucket(settings),
    lifecycleRules: [
      { id: "events", prefix: "events/", expiration: Duration.days(settings.eventFilesDays) },
    ],
  });

const createKey = (scope: Construct, settings: StackSettings): Key =>
  new Key(scope, "Key", {
    description: `Pennymail ${settings.stage}: encrypts credentials and secrets of organizations`,
    enableKeyRotation: true,
    removalPolicy: removalPolicy(settings),
  });

/**
 * How often a message is received before it goes to the dead-letter queue. Each queue may run at
 * least 2 functions. An account with a lower limit throttles them, and every throttled message
 * counts as received.
 */
function attemptsFor(
  { accountConcurrency }: StackSettings,
  queueCount: number,
): (queue: QueueDefinition) => number {
  const isCramped = 2 * queueCount > 0.75 * accountConcurrency;
  return ({ attempts }) => (isCramped ? 10 * attempts : attempts);
}

function createQueue(
  scope: Construct,
  definition: QueueDefinition,
  attempts: number,
): QueueWithDeadLetters {
  const common = {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
  };
  const deadLetterQueue = new Queue(scope, `${definition.name}-dead`, common);
  const queue = new Queue(scope, definition.name, {
    ...common,
    visibilityTimeout: visibilityTimeout(definition),
    deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount: attempts },
  });
  return { definition, queue, deadLetterQueue };
}

/**
 * AWS recommends six times the function timeout, because it may receive a message several times
 * before a function is free.
 */
export const visibilityTimeout = ({ timeoutSeconds, windowSeconds }: QueueDefinition): Duration =>
  Duration.seconds(6 * timeoutSeconds + windowSeconds);
