// What the SQS event source does in the cloud: receives, hands over batches, deletes what went well and leaves the rest to its
// visibility timeout.
import { setTimeout as pause } from "node:timers/promises";
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { region } from "./queues.ts";

export interface Worker {
  queue: { name: string; batch: number; windowSeconds: number; concurrency: number };
  handler(event: SQSEvent): Promise<SQSBatchResponse>;
}

export interface Poller {
  name: string;
  /** Messages that the worker is done with, well or not. */
  handled(): number;
  /** Receipt handles of messages that failed and wait for their visibility timeout. */
  failed(): Set<string>;
  /** Takes no further messages, and waits for those in work. */
  stop(): Promise<void>;
}

interface Source {
  client: SQSClient;
  url: string;
  /** Told what went wrong outside the worker's own reckoning: it threw, or the queue did not answer. */
  report(error: unknown): void;
}

export function poll({ queue, handler }: Worker, source: Source): Poller {
  const stopping = new AbortController();
  const inWork = new Set<Promise<void>>();
  const failures = new Map<string, string>();
  let handled = 0;

  const work = async (batch: Message[]) => {
    const failed = await outcome(handler, queue.name, batch, source);
    for (const { MessageId } of batch) failures.delete(MessageId!);
    for (const { MessageId, ReceiptHandle } of failed) failures.set(MessageId!, ReceiptHandle!);
    handled += batch.length;
    const done = batch.filter((message) => !failed.includes(message));
    await remove(source, done);
  };

  const loop = async () => {
    while (!stopping.signal.aborted) {
      if (inWork.size >= queue.concurrency) await Promise.race(inWork);
      const batch = await collect(source, queue, stopping.signal);
      if (!batch.length) continue;
      const task = work(batch)
        .catch(source.report)
        .finally(() => inWork.delete(task));
      inWork.add(task);
    }
    await Promise.all(inWork);
  };

  const running = loop();
  const stop = async () => {
    stopping.abort();
    await running;
  };
  return { name: queue.name, handled: () => handled, failed: () => new Set(failures.values()), stop };
}

const longPollSeconds = 20;
// Who looks on at one machine does not wait a second for a batch that will not fill.
const longestWindowMs = 300;

/** A batch: what is there, or what comes within the queue's window once there is a first message. */
async function collect(source: Source, { batch, windowSeconds }: Worker["queue"], signal: AbortSignal): Promise<Message[]> {
  try {
    const messages = await receive(source, Math.min(batch, 10), longPollSeconds, signal);
    const until = performance.now() + Math.min(windowSeconds * 1000, longestWindowMs);
    while (messages.length && messages.length < batch) {
      const more = await receive(source, Math.min(batch - messages.length, 10), 0, signal);
      messages.push(...more);
      if (more.length) continue;
      if (performance.now() >= until) break;
      await pause(20);
    }
    return messages;
  } catch (error) {
    if (signal.aborted) return [];
    source.report(error);
    await pause(1000, undefined, { signal }).catch(() => {});
    return [];
  }
}

async function receive({ client, url }: Source, MaxNumberOfMessages: number, WaitTimeSeconds: number, abortSignal: AbortSignal) {
  const command = new ReceiveMessageCommand({
    QueueUrl: url,
    MaxNumberOfMessages,
    WaitTimeSeconds,
    MessageSystemAttributeNames: ["All"],
    MessageAttributeNames: ["All"],
  });
  return (await client.send(command, { abortSignal })).Messages ?? [];
}

/** The messages that failed: all of them when the worker threw, or named one that it was not given. */
async function outcome(handler: Worker["handler"], name: string, batch: Message[], { report }: Source): Promise<Message[]> {
  try {
    const { batchItemFailures = [] } = (await handler({ Records: batch.map((message) => recordOf(message, name)) })) ?? {};
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const found = batch.filter(({ MessageId }) => failed.has(MessageId!));
    return found.length === failed.size ? found : batch;
  } catch (error) {
    report(error);
    return batch;
  }
}

const recordOf = ({ MessageId, ReceiptHandle, Body, Attributes, MD5OfBody }: Message, name: string): SQSRecord => ({
  messageId: MessageId!,
  receiptHandle: ReceiptHandle!,
  body: Body!,
  attributes: Attributes as unknown as SQSRecord["attributes"],
  messageAttributes: {},
  md5OfBody: MD5OfBody!,
  eventSource: "aws:sqs",
  eventSourceARN: `arn:aws:sqs:${region}:000000000000:${name}`,
  awsRegion: region,
});

async function remove({ client, url }: Source, messages: Message[]) {
  for (let first = 0; first < messages.length; first += 10) {
    const some = messages.slice(first, first + 10);
    const Entries = some.map(({ ReceiptHandle }, i) => ({ Id: String(i), ReceiptHandle }));
    await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
  }
}
