import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import {
  DecryptCommand,
  DisableKeyCommand,
  EnableKeyCommand,
  EncryptCommand,
  GenerateDataKeyCommand,
  KMSClient,
} from "@aws-sdk/client-kms";
import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openDataFolder } from "../../infra/local/data-folder.ts";
import { type LocalEngines, startEngines } from "../../infra/local/engines/engines.ts";
import { type LocalQueueSettings, localRegion } from "../../infra/local/engines/sqs-and-s3.ts";
import { deleteExpiredItems } from "../../infra/local/engines/table.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";

useDynamoDbEngine();

const work: LocalQueueSettings = { name: "work", attempts: 2, timeoutSeconds: 1 };

let engines: LocalEngines;
beforeAll(async () => {
  engines = await startEngines({
    folder: openDataFolder(":memory:"),
    queues: [work],
    secrets: { sender: "shh" },
  });
});
afterAll(() => engines.stop());

const settings = ({ credentials }: LocalEngines, endpoint: string) => ({
  endpoint,
  region: localRegion,
  credentials,
});
const dynamoOf = (of: LocalEngines) =>
  new DynamoDBClient(settings(of, of.env.AWS_ENDPOINT_URL_DYNAMODB!));
const sqsOf = (of: LocalEngines) => new SQSClient(settings(of, of.env.AWS_ENDPOINT_URL_SQS!));
const s3Of = (of: LocalEngines) =>
  new S3Client({ ...settings(of, of.env.AWS_ENDPOINT_URL_S3!), forcePathStyle: true });
const kmsOf = (of: LocalEngines) => new KMSClient(settings(of, of.env.AWS_ENDPOINT_URL_KMS!));
const receive = async (of: LocalEngines, WaitTimeSeconds = 0) => {
  const command = new ReceiveMessageCommand({
    QueueUrl: of.env.QUEUE_URL_WORK,
    WaitTimeSeconds,
    MessageSystemAttributeNames: ["All"],
  });
  return (await sqsOf(of).send(command)).Messages?.[0];
};
const enqueue = (to: LocalEngines, MessageBody: string, DelaySeconds = 0) =>
  sqsOf(to).send(
    new SendMessageCommand({ QueueUrl: to.env.QUEUE_URL_WORK, MessageBody, DelaySeconds }),
  );

const TableName = "pennymail";
const address = (pk: string) => ({ pk: { S: pk }, sk: { S: "#" } });

test("an item is found by its key, and a query of an index returns only the keys", async () => {
  const dynamo = dynamoOf(engines);
  const Item = { ...address("one"), word: { S: "x" }, duepk: { S: "DUE" }, duesk: { S: "2020" } };
  await dynamo.send(new PutItemCommand({ TableName, Item }));
  const query = {
    KeyConditionExpression: "duepk = :p",
    ExpressionAttributeValues: { ":p": { S: "DUE" } },
  };
  const { Items } = await dynamo.send(new QueryCommand({ TableName, IndexName: "due", ...query }));
  expect(Items).toEqual([{ ...address("one"), duepk: { S: "DUE" }, duesk: { S: "2020" } }]);
  expect(await engines.countDue()).toBe(1);
});

test("a transaction with a failed condition writes nothing", async () => {
  const dynamo = dynamoOf(engines);
  const first = { Put: { TableName, Item: address("first") } };
  const refused = {
    Put: { TableName, Item: address("second"), ConditionExpression: "attribute_exists(pk)" },
  };
  const made = dynamo.send(new TransactWriteItemsCommand({ TransactItems: [first, refused] }));
  await expect(made).rejects.toBeInstanceOf(TransactionCanceledException);
  const { Item } = await dynamo.send(new GetItemCommand({ TableName, Key: address("first") }));
  expect(Item).toBeUndefined();
});

test("the TTL sweep deletes only expired items", async () => {
  const dynamo = dynamoOf(engines);
  await dynamo.send(
    new PutItemCommand({ TableName, Item: { ...address("old"), expires: { N: "1000" } } }),
  );
  await dynamo.send(
    new PutItemCommand({ TableName, Item: { ...address("fresh"), expires: { N: "99999999999" } } }),
  );
  await dynamo.send(new PutItemCommand({ TableName, Item: address("lasting") }));
  expect(await deleteExpiredItems(dynamo, TableName)).toBe(1);
  for (const pk of ["fresh", "lasting"])
    expect(
      (await dynamo.send(new GetItemCommand({ TableName, Key: address(pk) }))).Item,
    ).toBeDefined();
});

test("KMS decrypts only with the encryption context of the encryption", async () => {
  const kms = kmsOf(engines);
  const KeyId = engines.env.KMS_KEY_ID;
  const { CiphertextBlob } = await kms.send(
    new EncryptCommand({
      KeyId,
      Plaintext: Buffer.from("secret"),
      EncryptionContext: { org: "1", what: "config" },
    }),
  );
  const same = await kms.send(
    new DecryptCommand({ CiphertextBlob, EncryptionContext: { what: "config", org: "1" } }),
  );
  expect(Buffer.from(same.Plaintext!).toString()).toBe("secret");
  const other = kms.send(
    new DecryptCommand({ CiphertextBlob, EncryptionContext: { org: "2", what: "config" } }),
  );
  await expect(other).rejects.toThrow(
    expect.objectContaining({ name: "InvalidCiphertextException" }),
  );
});

test("KMS encrypts at most 4,096 bytes", async () => {
  const kms = kmsOf(engines);
  const seal = (size: number) =>
    kms.send(
      new EncryptCommand({ KeyId: engines.env.KMS_KEY_ID, Plaintext: Buffer.alloc(size, 1) }),
    );
  await expect(seal(4096)).resolves.toBeDefined();
  await expect(seal(4097)).rejects.toThrow("4096");
});

test("a disabled key decrypts nothing until it is enabled again", async () => {
  const kms = kmsOf(engines);
  const { KMS_KEY_ID: KeyId } = engines.env;
  const { CiphertextBlob, Plaintext } = await kms.send(
    new GenerateDataKeyCommand({ KeyId, KeySpec: "AES_256" }),
  );
  await kms.send(new DisableKeyCommand({ KeyId }));
  onTestFinished(() => void kms.send(new EnableKeyCommand({ KeyId })));
  await expect(kms.send(new DecryptCommand({ CiphertextBlob }))).rejects.toThrow(
    expect.objectContaining({ name: "DisabledException" }),
  );
  await kms.send(new EnableKeyCommand({ KeyId }));
  expect((await kms.send(new DecryptCommand({ CiphertextBlob }))).Plaintext).toEqual(Plaintext);
});

test("a secret is read by its name, and an unknown name is ResourceNotFoundException", async () => {
  const secrets = new SecretsManagerClient(
    settings(engines, engines.env.AWS_ENDPOINT_URL_SECRETS_MANAGER!),
  );
  expect((await secrets.send(new GetSecretValueCommand({ SecretId: "sender" }))).SecretString).toBe(
    "shh",
  );
  await expect(secrets.send(new GetSecretValueCommand({ SecretId: "none" }))).rejects.toThrow(
    expect.objectContaining({ name: "ResourceNotFoundException" }),
  );
});

test("an object of 25 MB is stored and read unchanged", async () => {
  const s3 = s3Of(engines);
  const Body = Buffer.alloc(25_000_000, "mail");
  await s3.send(
    new PutObjectCommand({ Bucket: engines.env.BUCKET_NAME, Key: "1/large file", Body }),
  );
  const { Body: back } = await s3.send(
    new GetObjectCommand({ Bucket: engines.env.BUCKET_NAME, Key: "1/large file" }),
  );
  expect(Buffer.compare(await back!.transformToByteArray(), Body)).toBe(0);
});

test("a message moves to the dead-letter queue after its attempts", async () => {
  await enqueue(engines, "hopeless");
  for (const attempt of ["1", "2"]) {
    expect((await receive(engines, 5))?.Attributes?.ApproximateReceiveCount).toBe(attempt);
    const [message] = engines.queues.readState("work").received;
    await engines.queues.makeVisibleSooner("work", message!, 6);
  }
  await expect
    .poll(() => receive(engines).then(() => engines.queues.readState("work-dead").ready))
    .toBe(1);
  expect(engines.queues.readState("work")).toEqual({ ready: 0, delayedMs: [], received: [] });
});

test("a delayed message becomes visible when its time is advanced", async () => {
  await enqueue(engines, "later", 600);
  expect(await receive(engines)).toBeUndefined();
  engines.queues.advanceDelayed("work", 500);
  expect(engines.queues.readState("work").delayedMs[0]).toBeLessThanOrEqual(100_000);
  expect(await receive(engines)).toBeUndefined();
  engines.queues.advanceDelayed("work", 100);
  const message = await receive(engines, 5);
  expect(message?.Body).toBe("later");
  await sqsOf(engines).send(
    new DeleteMessageCommand({
      QueueUrl: engines.env.QUEUE_URL_WORK,
      ReceiptHandle: message!.ReceiptHandle,
    }),
  );
});

test("the engines listen on the loopback address only", async () => {
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.family === "IPv4" && !each.internal)?.address;
  if (!outside) return;
  for (const endpoint of Object.entries(engines.env).flatMap(([name, url]) =>
    name.startsWith("AWS_ENDPOINT") ? [url] : [],
  )) {
    await expect(fetch(endpoint), endpoint).resolves.toBeDefined();
    await expect(fetch(endpoint.replace("127.0.0.1", outside)), endpoint).rejects.toThrow();
  }
});

test("a second start finds all data, and messages in flight are visible at once", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "pennymail-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const first = await start(dataDir);
  await dynamoOf(first.engines).send(new PutItemCommand({ TableName, Item: address("kept") }));
  await s3Of(first.engines).send(
    new PutObjectCommand({ Bucket: "pennymail", Key: "1/kept", Body: "kept" }),
  );
  const { CiphertextBlob } = await kmsOf(first.engines).send(
    new EncryptCommand({ KeyId: first.engines.env.KMS_KEY_ID, Plaintext: Buffer.from("kept") }),
  );
  await enqueue(first.engines, "in work");
  await enqueue(first.engines, "delayed", 900);
  await receive(first.engines);
  await first.stop();

  const second = await start(dataDir);
  onTestFinished(() => second.stop());
  expect(
    (await dynamoOf(second.engines).send(new GetItemCommand({ TableName, Key: address("kept") })))
      .Item,
  ).toBeDefined();
  const object = await s3Of(second.engines).send(
    new GetObjectCommand({ Bucket: "pennymail", Key: "1/kept" }),
  );
  expect(await object.Body!.transformToString()).toBe("kept");
  const opened = await kmsOf(second.engines).send(new DecryptCommand({ CiphertextBlob }));
  expect(Buffer.from(opened.Plaintext!).toString()).toBe("kept");
  expect((await receive(second.engines, 5))?.Body).toBe("in work");
  expect(second.engines.queues.readState("work").delayedMs).toHaveLength(1);
});

test("further engines see each write that was answered", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "pennymail-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const { engines: running, stop } = await start(dataDir);
  onTestFinished(stop);
  const urls = running.env.DYNAMODB_READERS!.split(" ").filter(Boolean);
  expect(urls).toHaveLength(Math.min(3, availableParallelism() - 1));
  const readers = urls.map((url) => new DynamoDBClient(settings(running, url)));
  const count = new QueryCommand({
    TableName,
    Select: "COUNT",
    KeyConditionExpression: "pk = :pk",
    ExpressionAttributeValues: { ":pk": { S: "counted" } },
  });
  for (let n = 1; n <= 50; n++) {
    const Item = { pk: { S: "counted" }, sk: { S: String(n) } };
    await dynamoOf(running).send(new PutItemCommand({ TableName, Item }));
    const answers = await Promise.all(readers.map((reader) => reader.send(count)));
    expect(answers.map(({ Count }) => Count)).toEqual(readers.map(() => n));
  }
});

test("only one service at a time can open a data folder", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "pennymail-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const folder = openDataFolder(dataDir);
  expect(() => openDataFolder(dataDir)).toThrow("Another running service uses the folder");
  folder.close();
  openDataFolder(dataDir).close();
});

test("a folder that cannot be created or written is an error with its path", async () => {
  expect(() => openDataFolder("/proc/nowhere/deep")).toThrow(
    /^The folder \/proc\/nowhere\/deep \(DATA_DIR\) cannot be created: .*$/,
  );
  expect(() => openDataFolder("/proc")).toThrow(
    /^The folder \/proc \(DATA_DIR\) cannot be written: .*$/,
  );
  const dataDir = await mkdtemp(join(tmpdir(), "pennymail-"));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  await writeFile(join(dataDir, "file"), "");
  expect(() => openDataFolder(join(dataDir, "file"))).toThrow("cannot be written");
});

async function start(dataDir: string) {
  const folder = openDataFolder(dataDir);
  const running = await startEngines({ folder, queues: [work] });
  const stop = async () => {
    await running.stop();
    folder.close();
  };
  return { engines: running, stop };
}
