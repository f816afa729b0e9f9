import { ReceiveMessageCommand, SQSClient, SQSServiceException } from "@aws-sdk/client-sqs";
import type { SQSEvent } from "aws-lambda";
import { describe, expect, test } from "vitest";
import { enqueue } from "../../shared/adapters/sqs/enqueue.ts";
import { config } from "../../shared/config.ts";
import { invalid, unavailable } from "../../shared/errors.ts";
import { toMessageJson } from "../../shared/kernel/message-json.ts";
import { splitByBytes } from "../../shared/kernel/parallel.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";
import { interceptCalls } from "../support/aws-calls.ts";

test("enqueue splits messages that exceed the size of one call into several calls", async () => {
  const calls: number[] = [];
  const end = interceptCalls("sqs", async ({ input }) => {
    const entries = input.Entries as Entry[];
    calls.push(entries.reduce((sum, { MessageBody }) => sum + MessageBody.length, 0));
    return {};
  });
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
    end();
  }
  expect(calls.length).toBeGreaterThan(1);
  expect(Math.max(...calls)).toBeLessThan(1_048_576);
  expect(calls.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(1_990_000);
});

test("a message with any characters reaches the worker as it is", async () => {
  const reason = `😀 \u{10ffff} \ufffe \uffff \ud800 \udc00 \0 \u0007 \u007f \u0085 \u2028 \ufeff "\\`;
  const event = {
    id: 1,
    type: "bounce" as const,
    email: "a@example.com",
    providerEventId: "e",
    timestamp: "",
    data: { reason },
  };
  await enqueue(queues.providerEvents, [{ orgId: 1, provider: "postmark", events: [event] }]);
  const [record] = (await receivedFrom(queues.providerEvents.name)).Records;
  expect(JSON.parse(record!.body).events).toEqual([event]);
  expect(record!.body).not.toMatch(/[\ud800-\udfff\ufffe\uffff]/);
});

test("the size of a message counts its escaped characters", () => {
  const events = Array.from({ length: 20 }, () => "😀".repeat(1000));
  const parts = splitByBytes(events, 100_000);
  expect(parts.length).toBeGreaterThan(2);
  for (const part of parts) expect(toMessageJson(part).length).toBeLessThan(100_000);
});

describe("a message that the queue refuses", () => {
  const messages = [1, 2, 3].map((reportId) => ({ orgId: 1, reportId }));
  const isRefused = ({ MessageBody }: Entry) => JSON.parse(MessageBody).reportId === 2;

  test("does not hold the others of its call back, and is not sent again", async () => {
    const { calls, error } = await enqueueWith(messages, (entries) => ({
      Failed: entries
        .filter(isRefused)
        .map(({ Id }) => ({ Id, SenderFault: true, Code: "InvalidMessageContents" })),
    }));
    expect(calls.map(({ length }) => length)).toEqual([3]);
    expect(error).toMatchObject({ name: "RefusedMessages", places: [1] });
  });

  test("does not hold the others back if the whole call is refused", async () => {
    const { calls, error } = await enqueueWith(messages, (entries) => {
      if (entries.some(isRefused)) throw awsError("InvalidMessageContents");
      return {};
    });
    expect(calls.map(({ length }) => length)).toEqual([3, 1, 1, 1]);
    expect(error).toMatchObject({ name: "RefusedMessages", places: [1] });
  });

  test("differs from a message that the queue fails to store, which is sent again", async () => {
    const { calls, error } = await enqueueWith(messages, (entries) => ({
      Failed: entries.filter(isRefused).map(({ Id }) => ({ Id, SenderFault: false })),
    }));
    expect(calls.map(({ length }) => length)).toEqual([3, 1, 1]);
    expect(error).toMatchObject({ message: "report: 1 messages were not accepted" });
  });
});

interface Entry {
  Id: string;
  MessageBody: string;
}

const awsError = (name: string) =>
  new SQSServiceException({ name, message: name, $fault: "client", $metadata: {} });

/** Enqueues reports with a queue that answers like this. Returns its calls. */
async function enqueueWith(
  messages: { orgId: number; reportId: number }[],
  respond: (entries: Entry[]) => object,
): Promise<{ calls: Entry[][]; error: unknown }> {
  const calls: Entry[][] = [];
  const end = interceptCalls("sqs", async ({ input }) => {
    const entries = input.Entries as Entry[];
    calls.push(entries);
    return respond(entries);
  });
  try {
    const error = await enqueue(queues.report, messages).catch((thrown: unknown) => thrown);
    return { calls, error };
  } finally {
    end();
  }
}

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
  const report = queues.report;
  await enqueue(report, [
    { orgId: 1, reportId: 1 },
    { orgId: 1, reportId: 2 },
    { orgId: 1, reportId: 3 },
  ]);
  const worker = handleEach(report, async (message) => {
    const { reportId } = message as { reportId: number };
    if (reportId === 1) throw unavailable("The table is busy");
    if (reportId === 2) throw invalid("It will never work");
  });
  const event = await receivedFrom(report.name);
  const end = interceptCalls("sqs", ({ input }, passThrough) => {
    for (const { ReceiptHandle, VisibilityTimeout } of input.Entries as Visibility[])
      visibilityChanges.push({ handle: ReceiptHandle, seconds: VisibilityTimeout });
    return passThrough();
  });
  try {
    const [first] = event.Records.filter(({ body }) => JSON.parse(body).reportId === 1);
    const { batchItemFailures } = await worker.handler(event);
    expect(batchItemFailures).toEqual([{ itemIdentifier: first!.messageId }]);
    expect(visibilityChanges).toEqual([
      { handle: first!.receiptHandle, seconds: expect.closeTo(10, -0.8) },
    ]);
  } finally {
    end();
  }
});

interface Visibility {
  ReceiptHandle: string;
  VisibilityTimeout: number;
}
