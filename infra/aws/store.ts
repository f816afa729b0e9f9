import { Duration, RemovalPolicy, type Stack } from "aws-cdk-lib";
import { AttributeType, Billing, ProjectionType, TableEncryptionV2, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { Key } from "aws-cdk-lib/aws-kms";
import { BlockPublicAccess, Bucket, BucketEncryption, HttpMethods, ObjectOwnership } from "aws-cdk-lib/aws-s3";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { Queue as QueueSettings } from "../../shared/queues.ts";
import type { Settings } from "./settings.ts";

/** A queue and where its messages go when it gives up. */
export interface QueuePair {
  settings: QueueSettings;
  live: Queue;
  dead: Queue;
}

/** Everything that keeps something. In stage prod none of it can be deleted by accident. */
export class Store extends Construct {
  readonly table: TableV2;
  readonly bucket: Bucket;
  readonly key: Key;
  /** By the keys of shared/queues.ts. */
  readonly queues: Map<string, QueuePair>;

  constructor(scope: Stack, settings: Settings, queues: Record<string, QueueSettings>) {
    super(scope, "Store");
    this.table = table(this, settings);
    this.bucket = bucket(this, settings);
    this.key = new Key(this, "Key", {
      description: `Pennymail ${settings.stage}: what organizations entrust to us`,
      enableKeyRotation: true,
      removalPolicy: keep(settings),
    });
    this.queues = new Map(Object.entries(queues).map(([name, each]) => [name, queuePair(this, each)]));
  }
}

const keep = ({ production }: Settings) => (production ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY);
const text = (name: string) => ({ name, type: AttributeType.STRING });

function table(scope: Construct, settings: Settings): TableV2 {
  // A new table takes 4,000 writes a second and grows in minutes; warmed, it takes a first large campaign at once. Charged once.
  const warm = settings.warmThroughput && { warmThroughput: { readUnitsPerSecond: 30_000, writeUnitsPerSecond: 20_000 } };
  return new TableV2(scope, "Table", {
    partitionKey: text("pk"),
    sortKey: text("sk"),
    globalSecondaryIndexes: ["due", "new"].map((indexName) => ({
      indexName,
      partitionKey: text(`${indexName}pk`),
      sortKey: text(`${indexName}sk`),
      projectionType: ProjectionType.KEYS_ONLY,
      ...warm,
    })),
    billing: Billing.onDemand(),
    timeToLiveAttribute: "expires",
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    // Credentials and secret messages are sealed under our own key before they get here; a second key of ours would charge every call.
    encryption: TableEncryptionV2.dynamoOwnedKey(),
    deletionProtection: settings.production,
    removalPolicy: keep(settings),
    ...warm,
  });
}

function bucket(scope: Construct, settings: Settings): Bucket {
  const origins = settings.allowedOrigins?.split(",").map((origin) => origin.trim());
  return new Bucket(scope, "Bucket", {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    // Not versioned: what is revoked or erased is gone.
    lifecycleRules: [
      { id: "uploads", prefix: "uploads/", expiration: Duration.days(7) },
      // A mail's items live 60 days from when it is due, which may be 30 days ahead, and go some days late; their blobs outlive them.
      ...["attachments", "bodies"].map((kind) => ({ id: kind, prefix: `${kind}/`, expiration: Duration.days(100) })),
      // A secure message lives 395 days at most; what is left then was never accepted.
      { id: "secure", prefix: "secure/", expiration: Duration.days(400) },
      { id: "exports", prefix: "exports/", expiration: Duration.days(7) },
      { id: "abandoned parts", abortIncompleteMultipartUploadAfter: Duration.days(1) },
    ],
    ...(origins && { cors: [{ allowedMethods: [HttpMethods.PUT], allowedOrigins: origins, allowedHeaders: ["content-type"] }] }),
    removalPolicy: keep(settings),
  });
}

function queuePair(scope: Construct, settings: QueueSettings): QueuePair {
  const common = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true, retentionPeriod: Duration.days(14) };
  const dead = new Queue(scope, `${settings.name}-dead`, common);
  const live = new Queue(scope, settings.name, {
    ...common,
    visibilityTimeout: visibility(settings),
    deadLetterQueue: { queue: dead, maxReceiveCount: settings.attempts },
  });
  return { settings, live, dead };
}

/** Six timeouts: AWS may take a message and find no function free several times over before one runs. */
export const visibility = ({ timeoutSeconds, windowSeconds }: QueueSettings): Duration =>
  Duration.seconds(6 * timeoutSeconds + windowSeconds);
