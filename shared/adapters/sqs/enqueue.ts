// SQS.
import type { SendMessageBatchRequestEntry } from "@aws-sdk/client-sqs";
import type * as z from "zod";
import { config } from "../../config.ts";
import * as log from "../../kernel/log.ts";
import { splitIntoBatches } from "../../kernel/parallel.ts";
import type { QueueDefinition } from "../../queues.ts";
import {
  ChangeMessageVisibilityBatchCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  sqs,
} from "./client.ts";

/** The longest delay of an SQS message. */
export const maxDelaySeconds = 900;

interface EnqueueOptions<M> {
  /** 0 to `maxDelaySeconds`. */
  delaySeconds?: number;
  /** Messages of one group cannot delay those of other groups for long (fair queues). */
  group?: string | number | ((message: M) => string | number);
}

/** Sends messages, up to ten per call. Throws unless all are accepted. */
export async function enqueue<M extends z.ZodType>(
  queue: QueueDefinition<M>,
  messages: z.output<M>[],
  { delaySeconds, group }: EnqueueOptions<z.output<M>> = {},
): Promise<void> {
  const entries = messages.map((message, i) => ({
    Id: String(i),
    MessageBody: JSON.stringify(message),
    ...(delaySeconds && { DelaySeconds: Math.min(Math.ceil(delaySeconds), maxDelaySeconds) }),
    ...(group !== undefined && {
      MessageGroupId: String(typeof group === "function" ? group(message) : group),
    }),
  }));
  await Promise.all(
    splitIntoBatches(entries, 10)
      .flatMap(splitBySize)
      .map((batch) => sendBatch(queue.name, batch)),
  );
}

// One call can have 1 MiB, which ten large messages may exceed.
const maxBatchBytes = 900_000;

function splitBySize(entries: SendMessageBatchRequestEntry[]): SendMessageBatchRequestEntry[][] {
  const bytes = entries.reduce(
    (sum, { MessageBody = "" }) => sum + Buffer.byteLength(MessageBody),
    0,
  );
  if (bytes <= maxBatchBytes || entries.length === 1) return [entries];
  const half = Math.ceil(entries.length / 2);
  return [...splitBySize(entries.slice(0, half)), ...splitBySize(entries.slice(half))];
}

async function sendBatch(name: string, entries: SendMessageBatchRequestEntry[]) {
  let remaining = entries;
  for (let attempt = 0; attempt < 3 && remaining.length; attempt++) {
    const { Failed = [] } = await sqs().send(
      new SendMessageBatchCommand({ QueueUrl: config.queueUrl(name), Entries: remaining }),
    );
    const failed = new Set(Failed.map(({ Id }) => Id));
    remaining = remaining.filter(({ Id }) => failed.has(Id));
  }
  if (remaining.length) throw new Error(`${name}: ${remaining.length} messages were not accepted`);
}

/** Throws unless SQS responds for the queue. */
export async function checkQueue({ name }: QueueDefinition): Promise<void> {
  await sqs().send(
    new GetQueueAttributesCommand({
      QueueUrl: config.queueUrl(name),
      AttributeNames: ["ApproximateNumberOfMessages"],
    }),
  );
}

interface Returned {
  receiptHandle: string;
  /** Delay until the message can be received again. */
  seconds: number;
}

/**
 * Makes failed messages visible earlier than their visibility timeout. Never throws: if that fails,
 * a message becomes visible after the timeout.
 */
export async function returnSoon(queue: QueueDefinition, messages: Returned[]): Promise<void> {
  await Promise.all(splitIntoBatches(messages, 10).map((batch) => changeVisibility(queue, batch)));
}

async function changeVisibility({ name }: QueueDefinition, messages: Returned[]) {
  const Entries = messages.map(({ receiptHandle, seconds }, i) => ({
    Id: String(i),
    ReceiptHandle: receiptHandle,
    VisibilityTimeout: seconds,
  }));
  try {
    const QueueUrl = config.queueUrl(name);
    await sqs().send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
  } catch (error) {
    const facts = { queue: name, messages: messages.length, reason: (error as Error).name };
    log.warn("failed messages wait for their visibility timeout", facts);
  }
}
