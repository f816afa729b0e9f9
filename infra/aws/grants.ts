// Grants follow code: a function may make the calls its bundle contains, on our resources, and no others.
import { Stack } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Function as Lambda } from "aws-cdk-lib/aws-lambda";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { shelves } from "../../shared/keys.ts";
import type { House } from "./function.ts";
import type { Reach } from "./reach.ts";

type Resource = "table" | "indexes" | "objects" | "bucket" | "key" | "queues" | "secret";
type Grant = Partial<Record<Resource, string[]>>;

/** What AWS asks for each operation. One that is not here stops the synthesis: nobody gets a right that was not thought about. */
const grants: Record<string, Grant> = {
  Get: { table: ["dynamodb:GetItem"] },
  BatchGet: { table: ["dynamodb:BatchGetItem"] },
  Query: { table: ["dynamodb:Query"], indexes: ["dynamodb:Query"] },
  Put: { table: ["dynamodb:PutItem"] },
  Update: { table: ["dynamodb:UpdateItem"] },
  Delete: { table: ["dynamodb:DeleteItem"] },
  BatchWrite: { table: ["dynamodb:BatchWriteItem"] },
  TransactWrite: { table: ["dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:ConditionCheckItem"] },
  BatchExecuteStatement: {}, // by its statements, below
  INSERT: { table: ["dynamodb:PartiQLInsert"] },
  UPDATE: { table: ["dynamodb:PartiQLUpdate"] },
  SendMessageBatch: { queues: ["sqs:SendMessage"] },
  // Without the right to list, S3 says "forbidden" of an object that is not there.
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
  GetSecretValue: { secret: ["secretsmanager:GetSecretValue"] },
};

/** Lets the function do what it reaches, and tells it where those things are. */
export function grant(fn: Lambda, reach: Reach, house: House): void {
  const needs = [...reach.commands, ...reach.statements].map((call) => {
    const known = grants[call];
    if (!known) throw new Error(`${fn.node.path} calls ${call}, and infra/aws/grants.ts does not say what that needs`);
    return known;
  });
  for (const [resource, arnsOf] of Object.entries(arns) as [Resource, (typeof arns)[Resource]][]) {
    const actions = [...new Set(needs.flatMap((need) => need[resource] ?? []))].sort();
    const resources = actions.length ? arnsOf(house, reach, fn) : [];
    if (resources.length) fn.addToRolePolicy(new PolicyStatement({ actions, resources }));
    if (resources.length)
      for (const [name, value] of Object.entries(whereabouts[resource]?.(house, reach) ?? {})) fn.addEnvironment(name, value);
  }
}

const arns: Record<Resource, (house: House, reach: Reach, fn: Lambda) => string[]> = {
  table: ({ store }) => [store.table.tableArn],
  indexes: ({ store }, { shelves }) => indexesOf(shelves).map((index) => `${store.table.tableArn}/index/${index}`),
  objects: ({ store }) => [store.bucket.arnForObjects("*")],
  bucket: ({ store }) => [store.bucket.bucketArn],
  key: ({ store }) => [store.key.keyArn],
  queues: (house, reach) => sentTo(house, reach).map(({ live }) => live.queueArn),
  secret: ({ settings }, _, fn) =>
    secretsOf(settings).map(
      ([setting, name]) => `${Secret.fromSecretNameV2(Stack.of(fn), `${fn.node.id}${setting}`, name).secretArn}-??????`,
    ),
};

const whereabouts: Partial<Record<Resource, (house: House, reach: Reach) => Record<string, string>>> = {
  table: ({ store }) => ({ TABLE_NAME: store.table.tableName }),
  objects: ({ store }) => ({ BUCKET_NAME: store.bucket.bucketName }),
  key: ({ store }) => ({ KMS_KEY_ID: store.key.keyArn }),
  queues: (house, reach) =>
    Object.fromEntries(
      sentTo(house, reach).map(({ settings, live }) => [`QUEUE_URL_${settings.name.toUpperCase().replaceAll("-", "_")}`, live.queueUrl]),
    ),
  secret: ({ settings }) => Object.fromEntries(secretsOf(settings)),
};

/** Those that the operator named, by the setting that tells functions of them. */
const secretsOf = ({ systemSenderSecret, stripeSecret }: House["settings"]): [string, string][] =>
  Object.entries({ SYSTEM_SENDER_SECRET: systemSenderSecret, STRIPE_SECRET: stripeSecret }).filter((one): one is [string, string] =>
    Boolean(one[1]),
  );

const sentTo = ({ store }: House, { queues }: Reach) => queues.map((name) => store.queues.get(name)!);

// A shelf knows its index, whatever it is asked for.
const indexesOf = (names: string[]): string[] => [
  ...new Set(names.map((name) => Reflect.apply(shelves[name as keyof typeof shelves], undefined, ["0", "0", "0"]).index)),
];
