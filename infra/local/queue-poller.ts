// Stands in for the SQS event source: receives batches, calls the worker and deletes the messages
// that succeeded. Failed messages become visible again after their visibility timeout.
import { setTimeout as pause } from "node:timers/promises";
import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { localRegion } from "./engines/sqs-and-s3.ts";

export interface PolledWorker {
  queue: { name: string; batch: number; windowSeconds: number; concurrency: number };
  /** Each message goes to the worker alone. */
  separate?: boolean;
  handler(event: SQSEvent): Promise<SQSBatchResponse>;
}

export interface QueuePoller {
  name: string;
  /** Messages that succeeded or failed. */
  handledCount(): number;
  /** The receipt handles of failed messages that wait for their visibility timeout. */
  failedReceipts(): Set<string>;
  /** Receives no more messages and waits for those in progress. */
  stop(): Promise<void>;
}

interface QueueSource {
  client: SQSClient;
  url: string;
  /**
   * Receives errors that the worker does not report itself: it threw, or the queue did not respond.
   */
  reportError(error: unknown): void;
}

export function startPolling(
  { queue, handler, separate = false }: PolledWorker,
  source: QueueSource,
): QueuePoller {
  const stopping = new AbortController();
  const inFlight = new Set<Promise<void>>();
  const failures = new Map<string, string>();
  let handled = 0;

  const processBatch = async (batch: Message[]) => {
    const failed = await runBatch({ name: queue.name, handler }, batch, source);
    for (const { MessageId } of batch) failures.delete(MessageId!);
    for (const { MessageId, ReceiptHandle } of failed) failures.set(MessageId!, ReceiptHandle!);
    handled += batch.length;
    const done = batch.filter((message) => !failed.includes(message));
    await deleteMessages(source, done);
  };

  const start = (batch: Message[]) => {
    const task = processBatch(batch)
      .catch(source.reportError)
      .finally(() => inFlight.delete(task));
    inFlight.add(task);
  };

  const maxInFlight = separate ? queue.concurrency * queue.batch : queue.concurrency;
  const loop = async () => {
    while (!stopping.signal.aborted) {
      if (inFlight.size >= maxInFlight) await Promise.race(inFlight);
      const room = separate ? Math.min(queue.batch, maxInFlight - inFlight.size) : queue.batch;
      const batch = await receiveBatch(source, { ...queue, batch: room }, stopping.signal);
      if (separate) for (const message of batch) start([message]);
      else if (batch.length) start(batch);
    }
    await Promise.all(inFlight);
  };

  const running = loop();
  const stop = async () => {
    stopping.abort();
    await running;
  };
  return {
    name: queue.name,
    handledCount: () => handled,
    failedReceipts: () => new Set(failures.values()),
    stop,
  };
}

const longPollSeconds = 20;
// On one machine a batch rarely fills, and a person waits for the result.
const maxBatchWindowMs = 300;

/** Receives the first message and those that arrive within the batching window. */
async function receiveBatch(
  source: QueueSource,
  { batch, windowSeconds }: PolledWorker["queue"],
  signal: AbortSignal,
): Promise<Message[]> {
  try {
    const messages = await receiveMessages(
      source,
      { max: batch, waitSeconds: longPollSeconds },
      signal,
    );
    const until = performance.now() + Math.min(windowSeconds * 1000, maxBatchWindowMs);
    while (messages.length && messages.length < batch) {
      const max = batch - messages.length;
      const more = await receiveMessages(source, { max, waitSeconds: 0 }, signal);
      messages.push(...more);
      if (more.length) continue;
      if (performance.now() >= until) break;
      await pause(20);
    }
    return messages;
  } catch (error) {
    if (signal.aborted) return [];
    source.reportError(error);
    await pause(1000, undefined, { signal }).catch(() => {});
    return [];
  }
}

async function receiveMessages(
  { client, url }: QueueSource,
  { max, waitSeconds }: { max: number; waitSeconds: number },
  abortSignal: AbortSignal,
) {
  const command = new ReceiveMessageCommand({
    QueueUrl: url,
    MaxNumberOfMessages: Math.min(max, 10),
    WaitTimeSeconds: waitSeconds,
    MessageSystemAttributeNames: ["All"],
    MessageAttributeNames: ["All"],
  });
  return (await client.send(command, { abortSignal })).Messages ?? [];
}

/** Returns the failed messages: all of them if the worker threw or named an unknown message. */
async function runBatch(
  { name, handler }: { name: string; handler: PolledWorker["handler"] },
  batch: Message[],
  { reportError }: QueueSource,
): Promise<Message[]> {
  try {
    const { batchItemFailures = [] } =
      (await handler({ Records: batch.map((message) => toSqsRecord(message, name)) })) ?? {};
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const found = batch.filter(({ MessageId }) => failed.has(MessageId!));
    return found.length === failed.size ? found : batch;
  } catch (error) {
    reportError(error);
    return batch;
  }
}

const toSqsRecord = (
  { MessageId, ReceiptHandle, Body, Attributes, MD5OfBody }: Message,
  name: string,
): SQSRecord => ({
  messageId: MessageId!,
  receiptHandle: ReceiptHandle!,
  body: Body!,
  attributes: Attributes as unknown as SQSRecord["attributes"],
  messageAttributes: {},
  md5OfBody: MD5OfBody!,
  eventSource: "aws:sqs",
  eventSourceARN: `arn:aws:sqs:${localRegion}:000000000000:${name}`,
  awsRegion: localRegion,
});

async function deleteMessages({ client, url }: QueueSource, messages: Message[]) {
  for (let first = 0; first < messages.length; first += 10) {
    const slice = messages.slice(first, first + 10);
    const Entries = slice.map(({ ReceiptHandle }, i) => ({ Id: String(i), ReceiptHandle }));
    await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
  }
}
