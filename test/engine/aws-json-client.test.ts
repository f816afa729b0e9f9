// The client of DynamoDB and SQS against a small HTTP server that stands in for AWS. Its signatures
// and bodies are compared with those of the SDK.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import * as sdk from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { AwsServiceError } from "../../shared/adapters/aws/json-client.ts";
import { DynamoDbClient } from "../../shared/adapters/dynamodb/client.ts";
import * as commands from "../../shared/adapters/dynamodb/commands.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";

useDynamoDbEngine();

interface ReceivedRequest {
  headers: IncomingHttpHeaders;
  body: string;
}
interface ScriptedAnswer {
  status?: number;
  body?: object | string;
  headers?: Record<string, string>;
  /** Closes the connection without an answer. */
  hangUp?: boolean;
}

const received: ReceivedRequest[] = [];
const answers: ScriptedAnswer[] = [];
const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    received.push({ headers: request.headers, body: Buffer.concat(parts).toString() });
    const { status = 200, body = {}, headers = {}, hangUp } = answers.shift() ?? {};
    if (hangUp) return request.socket.destroy();
    response.writeHead(status, { "x-amzn-requestid": "request-1", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
});

const client = new DynamoDbClient();
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  process.env.AWS_ENDPOINT_URL_DYNAMODB = `http://127.0.0.1:${port}`;
});
afterAll(() => void server.closeAllConnections());
beforeEach(() => {
  received.length = 0;
  answers.length = 0;
});

const error = (name: string, more: object = {}) => ({
  status: 400,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: `It was ${name}`, ...more },
});
const getItem = () => new commands.GetCommand({ TableName: "t", Key: { pk: "a", sk: "b" } });

const values = {
  text: 'quote " and line\nbreak',
  number: -12.5,
  large: 9_007_199_254_740_991,
  yes: true,
  nothing: null,
  bytes: new Uint8Array([0, 255, 7]),
  texts: new Set(["a", "b"]),
  numbers: new Set([1, 2]),
  list: [1, "two", { three: [3] }],
  map: { nested: { deep: "x" } },
  absent: undefined,
};
const key = { pk: "a", sk: "b" };
const samples: Record<string, object> = {
  GetCommand: { TableName: "t", Key: key, ConsistentRead: true, ReturnConsumedCapacity: "TOTAL" },
  PutCommand: { TableName: "t", Item: { ...key, ...values } },
  UpdateCommand: {
    TableName: "t",
    Key: key,
    UpdateExpression: "SET #n0 = :v0",
    ExpressionAttributeNames: { "#n0": "a" },
    ExpressionAttributeValues: { ":v0": values },
    ReturnValues: "ALL_NEW",
  },
  DeleteCommand: { TableName: "t", Key: key },
  QueryCommand: {
    TableName: "t",
    Limit: 3,
    KeyConditionExpression: "pk = :v0",
    ExpressionAttributeValues: { ":v0": "a" },
    ExclusiveStartKey: key,
    FilterExpression: undefined,
  },
  BatchGetCommand: { RequestItems: { t: { Keys: [key, key], ConsistentRead: false } } },
  BatchWriteCommand: {
    RequestItems: {
      t: [{ PutRequest: { Item: { ...key, ...values } } }, { DeleteRequest: { Key: key } }],
    },
  },
  BatchExecuteStatementCommand: {
    Statements: [{ Statement: "INSERT ...", Parameters: ["a", 1, values] }],
  },
  TransactWriteCommand: {
    ClientRequestToken: "token",
    TransactItems: [
      { Put: { TableName: "t", Item: { ...key, ...values } } },
      { ConditionCheck: { TableName: "t", Key: key, ConditionExpression: "attribute_exists(pk)" } },
    ],
  },
};

type CommandClass = new (input: object) => never;

test.each(Object.keys(samples))("%s has the body and the headers of the SDK", async (name) => {
  const input = samples[name]!;
  const documents = sdk.DynamoDBDocumentClient.from(new DynamoDBClient({}), {
    marshallOptions: { removeUndefinedValues: true },
  });
  const SdkCommand = (sdk as unknown as Record<string, CommandClass>)[name]!;
  await documents.send(new SdkCommand(input));
  const OurCommand = (commands as unknown as Record<string, CommandClass>)[name]!;
  await client.send(new OurCommand(input));
  const [sdkRequest, ownRequest] = received;
  expect(JSON.parse(ownRequest!.body)).toEqual(JSON.parse(sdkRequest!.body));
  for (const header of ["host", "content-type", "x-amz-target"])
    expect(ownRequest!.headers[header]).toBe(sdkRequest!.headers[header]);
  expect(ownRequest!.headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=\w+\/\d{8}\/us-east-1\/dynamodb\/aws4_request, SignedHeaders=/,
  );
});

test("an item comes back with the values that were stored", async () => {
  await client.send(new commands.PutCommand({ TableName: "t", Item: values }));
  answers.push({ body: { Item: JSON.parse(received[0]!.body).Item } });
  const { Item } = await client.send(getItem());
  const { absent: _, ...storedValues } = values;
  expect(Item).toEqual(storedValues);
});

test("an attribute named __proto__ stays an attribute", async () => {
  answers.push({ body: '{"Item":{"__proto__":{"M":{"admin":{"BOOL":true}}}}}' });
  const { Item } = await client.send(getItem());
  expect(Object.keys(Item!)).toEqual(["__proto__"]);
  expect((Item as { admin?: boolean }).admin).toBeUndefined();
});

test("a lone surrogate is replaced, because DynamoDB rejects it", async () => {
  await client.send(new commands.PutCommand({ TableName: "t", Item: { text: "cut \ud83d" } }));
  expect(JSON.parse(received[0]!.body).Item.text.S).toBe("cut \ufffd");
});

test.each([
  ["NaN", Number.NaN],
  ["an inexact number", 2 ** 60],
  ["an empty set", new Set()],
  ["a date", new Date(0)],
  ["a function", () => 1],
])("%s is refused before a request is made", async (_, value) => {
  const put = new commands.PutCommand({ TableName: "t", Item: { value } });
  await expect(client.send(put)).rejects.toThrow();
  expect(received).toHaveLength(0);
});

test.each([
  ["a lost connection", { hangUp: true }],
  ["a failure of the service", { status: 500, body: { __type: "InternalServerError" } }],
  ["an error page of a proxy", { status: 503, body: "<html>" }],
  ["throttling", error("ProvisionedThroughputExceededException")],
])("%s is retried with the same transaction token", async (_, failure: ScriptedAnswer) => {
  answers.push(failure, failure, failure);
  await client.send(new commands.TransactWriteCommand({ TransactItems: [] }));
  const tokens = received.map(({ body }) => JSON.parse(body).ClientRequestToken);
  expect(tokens).toHaveLength(4);
  expect(new Set(tokens).size).toBe(1);
  expect(tokens[0]).toMatch(/^[\da-f-]{36}$/);
});

test("after four failures the error says how often it was tried", async () => {
  const failure = error("ThrottlingException");
  answers.push(failure, failure, failure, failure);
  await expect(client.send(getItem())).rejects.toMatchObject({
    name: "ThrottlingException",
    message: "It was ThrottlingException",
    $fault: "client",
    $metadata: { httpStatusCode: 400, requestId: "request-1", attempts: 4 },
  });
  answers.push(...Array.from({ length: 4 }, () => ({ hangUp: true })));
  await expect(client.send(getItem())).rejects.toMatchObject({
    code: "ECONNRESET",
    $metadata: { attempts: 4 },
  });
});

test("a failed condition is an error at once, with the reasons of a transaction", async () => {
  const CancellationReasons = [{ Code: "None" }, { Code: "ConditionalCheckFailed" }];
  answers.push(error("TransactionCanceledException", { CancellationReasons }));
  const failed = await client
    .send(new commands.TransactWriteCommand({ TransactItems: [] }))
    .catch((thrown: AwsServiceError) => thrown);
  expect(failed).toMatchObject({ name: "TransactionCanceledException", CancellationReasons });
  expect(received).toHaveLength(1);
});

test("a computer whose clock is wrong signs with the time of AWS", async () => {
  const serverTime = new Date(Date.now() + 3_600_000);
  answers.push({
    ...error("InvalidSignatureException"),
    headers: { date: serverTime.toUTCString() },
  });
  await client.send(getItem());
  const [first, second] = received.map(({ headers }) => headers["x-amz-date"] as string);
  expect(received).toHaveLength(2);
  expect(second!.slice(0, 11)).toBe(serverTime.toISOString().replaceAll("-", "").slice(0, 11));
  expect(second).not.toBe(first);
});
