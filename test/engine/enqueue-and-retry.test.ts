import { ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { SQSEvent } from "aws-lambda";
import { expect, test } from "vitest";
import { SqsClient } from "../../shared/adapters/sqs/client.ts";
import { enqueue } from "../../shared/adapters/sqs/enqueue.ts";
import { config } from "../../shared/config.ts";
import { invalid, unavailable } from "../../shared/errors.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";

test("enqueue splits messages that exceed the size of one call into several calls", async () => {
  const { send } = SqsClient.prototype;
  const calls: number[] = [];
  SqsClient.prototype.send = function (
    this: SqsClient,
    command: { input: { Entries: { MessageBody: string }[] } },
  ) {
    calls.push(command.input.Entries.reduce((sum, { MessageBody }) => sum + MessageBody.length, 0));
    return Promise.resolve({});
  } as never;
  try {
    const event = {
      id: 1,
      type: "bounce" as const,
      email: "a@example.com",
      providerEventId: "e",
      timestamp: "",
      data: { reason: "x".repeat(199_000) },
    };
    await enqueue(
      queues.providerEvents,
      Array.from({ length: 10 }, () => ({ orgId: 1, provider: "postmark", events: [event] })),
    );
  } finally {
    SqsClient.prototype.send = send;
  }
  expect(calls.length).toBeGreaterThan(1);
  expect(Math.max(...calls)).toBeLessThan(1_048_576);
  expect(calls.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(1_990_000);
});

/** Receives the visible messages, like the event source of a Lambda function. */
async function receivedFrom(name: string): Promise<SQSEvent> {
  const client = new SQSClient({ useQueueUrlAsEndpoint: false });
  const command = new ReceiveMessageCommand({
    QueueUrl: config.queueUrl(name),
    MaxNumberOfMessages: 10,
    MessageSystemAttributeNames: ["All"],
  });
  const { Messages = [] } = await client.send(command);
  return {
    Records: Messages.map(({ MessageId, ReceiptHandle, Body, Attributes }) => ({
      messageId: MessageId,
      receiptHandle: ReceiptHandle,
      body: Body,
      attributes: Attributes,
    })),
  } as unknown as SQSEvent;
}

test("a message with a transient failure is retried after seconds", async () => {
  const visibilityChanges: { handle: string; seconds: number }[] = [];
  const { send } = SqsClient.prototype;
  const report = queues.report;
  await enqueue(report, [
    { orgId: 1, reportId: 1 },
    { orgId: 1, reportId: 2 },
    { orgId: 1, reportId: 3 },
  ]);
  const worker = handleEach(report, async ({ reportId }) => {
    if (reportId === 1) throw unavailable("The table is busy");
    if (reportId === 2) throw invalid("It will never work");
  });
  const event = await receivedFrom(report.name);
  SqsClient.prototype.send = function (
    this: SqsClient,
    command: { input: { Entries: Visibility[] } },
  ) {
    for (const { ReceiptHandle, VisibilityTimeout } of command.input.Entries)
      visibilityChanges.push({ handle: ReceiptHandle, seconds: VisibilityTimeout });
    return Reflect.apply(send, this, [command]);
  } as never;
  try {
    const [first] = event.Records.filter(({ body }) => JSON.parse(body).reportId === 1);
    const { batchItemFailures } = await worker.handler(event);
    expect(batchItemFailures).toEqual([{ itemIdentifier: first!.messageId }]);
    expect(visibilityChanges).toEqual([
      { handle: first!.receiptHandle, seconds: expect.closeTo(10, -0.8) },
    ]);
  } finally {
    SqsClient.prototype.send = send;
  }
});

interface Visibility {
  ReceiptHandle: string;
  VisibilityTimeout: number;
}
