// What DynamoDB and SQS do on a bad day, and no engine on one machine does: refuse a part of a call, or all of it for a while.
import { ConditionalCheckFailedException, TransactionCanceledException, TransactionConflictException } from "@aws-sdk/client-dynamodb";
import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  BatchWriteCommand,
  DynamoDBDocumentClient,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { afterEach, expect, test } from "vitest";
import { equals } from "../../shared/conditions.ts";
import { enqueue } from "../../shared/doors/queue.ts";
import { claim, getMany, insertMany, put, update, updateReturning, write, writeMany } from "../../shared/doors/table.ts";
import { queues } from "../../shared/queues.ts";

const dynamo = mockClient(DynamoDBDocumentClient);
const sqs = mockClient(SQSClient);
afterEach(() => {
  dynamo.reset();
  sqs.reset();
});

const table = () => process.env.TABLE_NAME!;
const at = (n: number) => ({ pk: "p", sk: String(n) });
const some = (n: number) => Array.from({ length: n }, (_, i) => i);
const aws = { $metadata: {} };

test("keys that a batch of reads left over are asked for again", async () => {
  dynamo.on(BatchGetCommand).callsFake(({ RequestItems }) => {
    const [first, ...rest] = RequestItems[table()].Keys;
    return { Responses: { [table()]: [{ ...first, n: 1 }] }, UnprocessedKeys: rest.length ? { [table()]: { Keys: rest } } : {} };
  });
  expect(await getMany(some(3).map(at))).toEqual(some(3).map((n) => ({ ...at(n), n: 1 })));
});

test("items that a batch of writes left over are written again", async () => {
  const written: unknown[] = [];
  dynamo.on(BatchWriteCommand).callsFake(({ RequestItems }) => {
    const [first, ...rest] = RequestItems[table()];
    written.push(first.PutRequest.Item.sk);
    return { UnprocessedItems: rest.length ? { [table()]: rest } : {} };
  });
  await writeMany(some(3).map((n) => put(at(n), {})));
  expect(written).toEqual(["0", "1", "2"]);
});

test("of a batch of inserts, a throttled statement is repeated, a duplicate told, and any other error thrown", async () => {
  dynamo
    .on(BatchExecuteStatementCommand)
    .resolvesOnce({ Responses: [{}, { Error: { Code: "DuplicateItem" } }, { Error: { Code: "ThrottlingError" } }] })
    .resolvesOnce({ Responses: [{}] });
  expect(await insertMany(some(3).map((n) => ({ address: at(n), item: { n } })))).toEqual([true, false, true]);
  const [, second] = dynamo.commandCalls(BatchExecuteStatementCommand);
  expect(second!.args[0].input.Statements).toMatchObject([{ Parameters: [2, "p", "2"] }]);

  dynamo.on(BatchExecuteStatementCommand).resolves({ Responses: [{ Error: { Code: "ValidationError", Message: "no" } }] });
  await expect(insertMany([{ address: at(1), item: {} }])).rejects.toThrow("ValidationError");
});

const cancelled = (...Codes: string[]) =>
  new TransactionCanceledException({ ...aws, message: "", CancellationReasons: Codes.map((Code) => ({ Code })) });

test("a transaction that meets another is made again, one whose condition fails is not", async () => {
  const writes = [update(at(1), { add: { n: 1 } }), update(at(2), { set: { n: 1 } }, { if: equals("n", 0) })];
  dynamo
    .on(TransactWriteCommand)
    .rejectsOnce(cancelled("TransactionConflict", "None"))
    .rejectsOnce(cancelled("None", "ThrottlingError"))
    .resolves({});
  await write(...writes);
  expect(dynamo.commandCalls(TransactWriteCommand)).toHaveLength(3);

  dynamo.reset();
  dynamo.on(TransactWriteCommand).rejects(cancelled("None", "ConditionalCheckFailed"));
  expect(await claim(...writes)).toBe(false);
  expect(dynamo.commandCalls(TransactWriteCommand)).toHaveLength(1);
});

test("a plain write that meets a transaction is made again", async () => {
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
  expect(await claim(update(at(1), { set: { n: 1 } }, { if: equals("n", 0) }))).toBe(false);
});

test("messages that SQS did not take are sent again, and an error when it never takes them", async () => {
  const taken: string[] = [];
  let calls = 0;
  sqs.on(SendMessageBatchCommand).callsFake(({ Entries }: SendMessageBatchCommand["input"]) => {
    const failing = calls++ === 0 ? Entries!.slice(1) : [];
    taken.push(...Entries!.filter((entry) => !failing.includes(entry)).map(({ MessageBody }) => JSON.parse(MessageBody!).sendId));
    return { Failed: failing.map(({ Id }) => ({ Id })) };
  });
  await enqueue(
    queues.send,
    some(3).map((n) => ({ orgId: 1, sendId: n + 1 })),
  );
  expect(taken).toEqual([1, 2, 3]);

  sqs.on(SendMessageBatchCommand).resolves({ Failed: [{ Id: "0", SenderFault: false, Code: "InternalError" }], Successful: [] });
  await expect(enqueue(queues.send, [{ orgId: 1, sendId: 1 }])).rejects.toThrow("1 messages were not accepted");
});
