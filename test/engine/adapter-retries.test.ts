// Partial failures and throttling of DynamoDB and SQS, which the local engines do not produce.
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from "@aws-sdk/client-dynamodb";
import {
  SendMessageBatchCommand,
  type SendMessageBatchCommandInput,
  SQSClient,
} from "@aws-sdk/client-sqs";
import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  BatchWriteCommand,
  DynamoDBDocumentClient,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { afterAll, afterEach, expect, test } from "vitest";
import { account } from "../../functions/http/account.ts";
import { equals } from "../../shared/adapters/dynamodb/conditions.ts";
import {
  getMany,
  insertMany,
  put,
  transact,
  update,
  updateReturning,
  write,
  writeMany,
} from "../../shared/adapters/dynamodb/table.ts";
import { enqueue } from "../../shared/adapters/sqs/enqueue.ts";
import { queues } from "../../shared/queues.ts";
import { invokeRoute } from "../support/lambda-requests.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";

useDynamoDbEngine();

const dynamo = mockClient(DynamoDBDocumentClient);
const sqs = mockClient(SQSClient);
afterAll(() => {
  dynamo.restore();
  sqs.restore();
});
afterEach(() => {
  dynamo.reset();
  sqs.reset();
});

const table = () => process.env.TABLE_NAME!;
const at = (n: number) => ({ pk: "p", sk: String(n) });
const some = (n: number) => Array.from({ length: n }, (_, i) => i);
const aws = { $metadata: {} };

test("retries unprocessed keys of a batch of reads", async () => {
  dynamo.on(BatchGetCommand).callsFake(({ RequestItems }) => {
    const [first, ...rest] = RequestItems[table()].Keys;
    return {
      Responses: { [table()]: [{ ...first, n: 1 }] },
      UnprocessedKeys: rest.length ? { [table()]: { Keys: rest } } : {},
    };
  });
  expect(await getMany(some(3).map(at))).toEqual(some(3).map((n) => ({ ...at(n), n: 1 })));
});

test("retries unprocessed items of a batch of writes", async () => {
  const written: unknown[] = [];
  dynamo.on(BatchWriteCommand).callsFake(({ RequestItems }) => {
    const [first, ...rest] = RequestItems[table()];
    written.push(first.PutRequest.Item.sk);
    return { UnprocessedItems: rest.length ? { [table()]: rest } : {} };
  });
  await writeMany(some(3).map((n) => put(at(n), {})));
  expect(written).toEqual(["0", "1", "2"]);
});

test("a batch of inserts retries throttled statements and reports duplicates", async () => {
  dynamo
    .on(BatchExecuteStatementCommand)
    .resolvesOnce({
      Responses: [{}, { Error: { Code: "DuplicateItem" } }, { Error: { Code: "ThrottlingError" } }],
    })
    .resolvesOnce({ Responses: [{}] });
  expect(await insertMany(some(3).map((n) => ({ key: at(n), item: { n } })))).toEqual([
    true,
    false,
    true,
  ]);
  const [, second] = dynamo.commandCalls(BatchExecuteStatementCommand);
  expect(second!.args[0].input.Statements).toMatchObject([{ Parameters: [2, "p", "2"] }]);

  dynamo
    .on(BatchExecuteStatementCommand)
    .resolves({ Responses: [{ Error: { Code: "ValidationError", Message: "no" } }] });
  await expect(insertMany([{ key: at(1), item: {} }])).rejects.toThrow("ValidationError");
});

const cancelled = (...Codes: string[]) =>
  new TransactionCanceledException({
    ...aws,
    message: "",
    CancellationReasons: Codes.map((Code) => ({ Code })),
  });

test("retries a transaction after a conflict, but not after a failed condition", async () => {
  const writes = [
    update(at(1), { add: { n: 1 } }),
    update(at(2), { set: { n: 1 } }, { if: equals("n", 0) }),
  ];
  dynamo
    .on(TransactWriteCommand)
    .rejectsOnce(cancelled("TransactionConflict", "None"))
    .rejectsOnce(cancelled("None", "ThrottlingError"))
    .resolves({});
  await write(...writes);
  expect(dynamo.commandCalls(TransactWriteCommand)).toHaveLength(3);

  dynamo.reset();
  dynamo.on(TransactWriteCommand).rejects(cancelled("None", "ConditionalCheckFailed"));
  expect(await transact(...writes)).toBe(false);
  expect(dynamo.commandCalls(TransactWriteCommand)).toHaveLength(1);
});

test("retries a plain write after a conflict with a transaction", async () => {
  const conflict = new TransactionConflictException({ ...aws, message: "" });
  dynamo
    .on(UpdateCommand)
    .rejectsOnce(conflict)
    .resolves({ Attributes: { n: 1 } });
  expect(await updateReturning(update(at(1), { add: { n: 1 } }))).toEqual({ n: 1 });

  dynamo.reset();
  dynamo
    .on(UpdateCommand)
    .rejectsOnce(conflict)
    .rejects(new ConditionalCheckFailedException({ ...aws, message: "" }));
  expect(await transact(update(at(1), { set: { n: 1 } }, { if: equals("n", 0) }))).toBe(false);
});

test("sends rejected SQS messages again, and throws if SQS keeps rejecting them", async () => {
  const accepted: string[] = [];
  let calls = 0;
  sqs.on(SendMessageBatchCommand).callsFake(({ Entries }: SendMessageBatchCommandInput) => {
    const failing = calls++ === 0 ? Entries!.slice(1) : [];
    accepted.push(
      ...Entries!
        .filter((entry) => !failing.includes(entry))
        .map(({ MessageBody }) => JSON.parse(MessageBody!).sendId),
    );
    return { Failed: failing.map(({ Id }) => ({ Id })) };
  });
  await enqueue(
    queues.send,
    some(3).map((n) => ({ orgId: 1, sendId: n + 1 })),
  );
  expect(accepted).toEqual([1, 2, 3]);

  sqs
    .on(SendMessageBatchCommand)
    .resolves({ Failed: [{ Id: "0", SenderFault: false, Code: "InternalError" }], Successful: [] });
  await expect(enqueue(queues.send, [{ orgId: 1, sendId: 1 }])).rejects.toThrow(
    "1 messages were not accepted",
  );
});

test("an outage of an AWS service is 503 with Retry-After, and a bug stays 500", async () => {
  const answerTo = (error: Error) => {
    dynamo.rejects(error);
    return invokeRoute(account, "POST /auth/login", {
      body: { email: "ann@example.com", password: "correct horse battery" },
    });
  };
  const fault = (more: object) =>
    Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:8000"), more);
  for (const more of [
    { code: "ECONNREFUSED" },
    { code: "ECONNRESET" },
    { $fault: "server" },
    { name: "ThrottlingException" },
  ]) {
    const { status, headers } = await answerTo(fault({ ...more, $metadata: { attempts: 3 } }));
    expect([status, headers["retry-after"]]).toEqual([503, "5"]);
  }
  expect(await answerTo(fault({}))).toMatchObject({ status: 500 });
  expect(await answerTo(fault({ $fault: "client", $metadata: {} }))).toMatchObject({ status: 500 });
});
