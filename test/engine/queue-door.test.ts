import { SQSClient } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";
import { enqueue } from "../../shared/doors/queue.ts";
import { queues } from "../../shared/queues.ts";

test("messages that are too large for one call together go in several", async () => {
  const { send } = SQSClient.prototype;
  const calls: number[] = [];
  SQSClient.prototype.send = function (this: SQSClient, command: { input: { Entries: { MessageBody: string }[] } }) {
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
    SQSClient.prototype.send = send;
  }
  expect(calls.length).toBeGreaterThan(1);
  expect(Math.max(...calls)).toBeLessThan(1_048_576);
  expect(calls.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(1_990_000);
});
