// Permissions follow code: a function may make the AWS calls that its bundle contains, on our
// resources, and no others.
import { Stack } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Function as Lambda } from "aws-cdk-lib/aws-lambda";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { indexes } from "../../shared/keys.ts";
import type { BundleUsage } from "./bundle-usage.ts";
import type { FunctionContext } from "./lambda-function.ts";

type GrantResource =
  | "table"
  | "indexes"
  | "objects"
  | "bucket"
  | "key"
  | "queues"
  | "deadLetterQueues"
  | "secret"
  | "eventFiles"
  | "eventBus";
type ActionsByResource = Partial<Record<GrantResource, string[]>>;

/**
 * The IAM actions of each operation. An operation that is not listed fails the synthesis, so that
 * every permission is reviewed.
 */
const actionsByCall: Record<string, ActionsByResource> = {
  Get: { table: ["dynamodb:GetItem"] },
  BatchGet: { table: ["dynamodb:BatchGetItem"] },
  Query: { table: ["dynamodb:Query"], indexes: ["dynamodb:Query"] },
  Put: { table: ["dynamodb:PutItem"] },
  Update: { table: ["dynamodb:UpdateItem"] },
  Delete: { table: ["dynamodb:DeleteItem"] },
  BatchWrite: { table: ["dynamodb:BatchWriteItem"] },
  TransactWrite: {
    table: [
      "dynamodb:PutItem",
      "dynamodb:UpdateItem",
      "dynamodb:DeleteItem",
      "dynamodb:ConditionCheckItem",
    ],
  },
  BatchExecuteStatement: {}, // see its statements below
  INSERT: { table: ["dynamodb:PartiQLInsert"] },
  UPDATE: { table: ["dynamodb:PartiQLUpdate"] },
  SendMessageBatch: { queues: ["sqs:SendMessage"] },
  GetQueueAttributes: { queues: ["sqs:GetQueueAttributes"] },
  GetDeadLetterQueueAttributes: { deadLetterQueues: ["sqs:GetQueueAttributes"] },
  ChangeMessageVisibilityBatch: {}, // granted with the event source in queue-workers.ts
  // Without s3:ListBucket, S3 returns 403 instead of 404 for a missing object.
  GetObject: { objects: ["s3:GetObject"], bucket: ["s3:ListBucket"] },
  HeadObject: { objects: ["s3:GetObject"], bucket: ["s3:ListBucket"] },
  CopyObject: { objects: ["s3:GetObject", "s3:PutObject"], bucket: ["s3:ListBucket"] },
  PutObject: { objects: ["s3:PutObject"] },
  DeleteObject: { objects: ["s3:DeleteObject"] },
  CreateMultipartUpload: { objects: ["s3:PutObject"] },
  UploadPart: { objects: ["s3:PutObject"] },
  UploadPartCopy: { objects: ["s3:GetObject", "s3:PutObject"] },
  CompleteMultipartUpload: { objects: ["s3:PutObject"] },
  AbortMultipartUpload: { objects: ["s3:AbortMultipartUpload"] },
  Encrypt: { key: ["kms:Encrypt"] },
  Decrypt: { key: ["kms:Decrypt"] },
  GenerateDataKey: { key: ["kms:GenerateDataKey"] },
  PutEventFile: { eventFiles: ["s3:PutObject"] },
  PutEvents: { eventBus: ["events:PutEvents"] },
  GetSecretValue: { secret: ["secretsmanager:GetSecretValue"] },
};

/**
 * Grants the function what its bundle uses, and sets the names of these resources in its
 * environment.
 */
export function grantPermissions(fn: Lambda, usage: BundleUsage, context: FunctionContext): void {
  const required = [...usage.commands, ...usage.statements].map((call) => {
    const actions = actionsByCall[call];
    if (!actions)
      throw new Error(
        `${fn.node.path} calls ${call}, but infra/aws/grants.ts lists no permissions for it: ` +
          "add them there",
      );
    return actions;
  });
  for (const [resource, arnsOf] of Object.entries(arnsByResource) as [
    GrantResource,
    (typeof arnsByResource)[GrantResource],
  ][]) {
    const actions = [
      ...new Set(required.flatMap((actionsByResource) => actionsByResource[resource] ?? [])),
    ].sort();
    const resources = actions.length ? arnsOf(context, usage, fn) : [];
    if (resources.length) fn.addToRolePolicy(new PolicyStatement({ actions, resources }));
    if (resources.length)
      for (const [name, value] of Object.entries(
        resourceEnvironment[resource]?.(context, usage) ?? {},
      ))
        fn.addEnvironment(name, value);
  }
}

const arnsByResource: Record<
  GrantResource,
  (context: FunctionContext, usage: BundleUsage, fn: Lambda) => string[]
> = {
  table: ({ store }) => [store.table.tableArn],
  indexes: ({ store }, { indexes }) =>
    indexNames(indexes).map((index) => `${store.table.tableArn}/index/${index}`),
  objects: ({ store }) => [store.bucket.arnForObjects("*")],
  bucket: ({ store }) => [store.bucket.bucketArn],
  key: ({ store }) => [store.key.keyArn],
  queues: (context, usage) => targetQueues(context, usage).map(({ queue }) => queue.queueArn),
  deadLetterQueues: (context, usage) =>
    targetQueues(context, usage).map(({ deadLetterQueue }) => deadLetterQueue.queueArn),
  secret: ({ settings }, _, fn) =>
    operatorSecrets(settings).map(([setting, name]) => {
      const id = `${fn.node.id}${setting}`;
      return `${Secret.fromSecretNameV2(Stack.of(fn), id, name).secretArn}-??????`;
    }),
  eventFiles: ({ store: { eventFiles } }) => (eventFiles ? [eventFiles.arnForObjects("*")] : []),
  eventBus: ({ store: { eventBus } }) => (eventBus ? [eventBus.eventBusArn] : []),
};

const resourceEnvironment: Partial<
  Record<GrantResource, (context: FunctionContext, usage: BundleUsage) => Record<string, string>>
> = {
  table: ({ store }) => ({ TABLE_NAME: store.table.tableName }),
  objects: ({ store }) => ({ BUCKET_NAME: store.bucket.bucketName }),
  key: ({ store }) => ({ KMS_KEY_ID: store.key.keyArn }),
  queues: (context, usage) =>
    Object.fromEntries(
      targetQueues(context, usage).map(({ definition, queue }) => [
        queueUrlSetting(definition.name),
        queue.queueUrl,
      ]),
    ),
  secret: ({ settings }) => Object.fromEntries(operatorSecrets(settings)),
};

/** The environment variable with the URL of a queue. */
export const queueUrlSetting = (name: string): string =>
  `QUEUE_URL_${name.toUpperCase().replaceAll("-", "_")}`;

/** The secrets that the operator configured, with their environment variables. */
const operatorSecrets = ({
  systemSenderSecret,
  stripeSecret,
}: FunctionContext["settings"]): [string, string][] =>
  Object.entries({ SYSTEM_SENDER_SECRET: systemSenderSecret, STRIPE_SECRET: stripeSecret }).filter(
    (entry): entry is [string, string] => Boolean(entry[1]),
  );

const targetQueues = ({ store }: FunctionContext, { queues }: BundleUsage) =>
  queues.map((name) => store.queues.get(name)!);

// The index of an index range does not depend on the arguments.
const indexNames = (names: string[]): string[] => [
  ...new Set(
    names.map(
      (name) =>
        Reflect.apply(indexes[name as keyof typeof indexes], undefined, ["0", "0", "0"]).index,
    ),
  ),
];
