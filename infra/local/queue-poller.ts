// Stands in for the SQS event source: receives batches, calls the worker and deletes the messages
// that succeeded. A failed message becomes visible again after the delay that its worker names.
// When an engine is away, such as while it restarts, its messages are not to blame: the poller
// pauses, keeps them, and calls the worker again, so they use up no attempt.
import { setTimeout as pause } from "node:timers/promises";
import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { SQSEvent, SQSRecord } from "aws-lambda";
import { splitIntoBatches } from "../../shared/kernel/parallel.ts";
import type { FailedMessage } from "../../shared/kernel/queue-worker.ts";
import { localRegion } from "./engines/sqs-and-s3.ts";

export interface PolledWorker {
  queue: { name: string; batch: number; windowSeconds: number; concurrency: number };
  /** Each message goes to the worker alone. */
  separate?: boolean;
  run(event: SQSEvent): Promise<FailedMessage[]>;
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

/** `undefined`: the worker threw. */
type Failures = Map<Message, Partial<FailedMessage> | undefined>;

interface QueueSource {
  client: SQSClient;
  url: string;
  /**
   * Receives errors that the worker does not report itself: it threw, or the queue did not respond.
   */
  reportError(error: unknown): void;
}

export function startPolling(
  { queue, run, separate = false }: PolledWorker,
  source: QueueSource,
  /** How long the poller pauses first when an engine is away. */
  pauseMs: number = defaultPauseMs,
): QueuePoller {
  const stopping = new AbortController();
  const inFlight = new Set<Promise<void>>();
  const failures = new Map<string, string>();
  const outage = createOutageBreak(stopping.signal, pauseMs);
  let handled = 0;

  const processBatch = async (batch: Message[]) => {
    const giveUpAt = performance.now() + maxOutageMs;
    for (const { MessageId } of batch) failures.delete(MessageId!);
    let remaining = batch;
    while (remaining.length) {
      const failed = await runBatch({ name: queue.name, run }, remaining, source);
      const done = remaining.filter((message) => !failed.has(message));
      if (done.length) outage.end();
      await deleteMessages(source, done);
      const isKept = !stopping.signal.aborted && performance.now() < giveUpAt;
      const kept = remaining.filter((message) => isKept && failed.get(message)?.isOutage);
      await returnMessages(
        remaining.filter((message) => failed.has(message) && !kept.includes(message)),
        failed,
      );
      if (kept.length) {
        await changeVisibility(
          source,
          kept.map((message) => ({ message, seconds: keptSeconds })),
        );
        await outage.wait();
        // The next process handles the messages.
        if (stopping.signal.aborted) return;
      }
      remaining = kept;
    }
    handled += batch.length;
  };

  const returnMessages = async (messages: Message[], failed: Failures) => {
    const delays = messages.flatMap((message) => {
      const seconds = failed.get(message)?.seconds;
      // Never 0, because fauxqs 2.4 then loses a message that it stores on disk.
      return seconds === undefined ? [] : [{ message, seconds: Math.max(1, seconds) }];
    });
    await changeVisibility(source, delays);
    for (const { MessageId, ReceiptHandle } of messages) failures.set(MessageId!, ReceiptHandle!);
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
      await outage.pause();
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

/** An outage that lasts longer is a failure of the message, which uses an attempt. */
const maxOutageMs = 10 * 60_000;
/** Longer than a pause and the next call of the worker. */
const keptSeconds = 600;
const defaultPauseMs = 500;
const maxDoublings = 4;

/** Pauses a poller while an engine is away. Each further failure doubles the pause. */
function createOutageBreak(signal: AbortSignal, firstPauseMs: number) {
  let failures = 0;
  let until = 0;
  const sleep = () =>
    pause(Math.max(0, until - performance.now()), undefined, { signal }).catch(() => {});
  return {
    /** The poller receives no messages. */
    async pause() {
      while (!signal.aborted && performance.now() < until) await sleep();
    },
    /** A batch failed. Batches that fail at the same time are one failure. */
    async wait() {
      if (performance.now() >= until)
        until = performance.now() + firstPauseMs * 2 ** Math.min(failures++, maxDoublings);
      await sleep();
    },
    end() {
      failures = 0;
      until = 0;
    },
  };
}

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

/** Returns the failed messages: all of them if the worker threw. */
async function runBatch(
  { name, run }: { name: string; run: PolledWorker["run"] },
  batch: Message[],
  { reportError }: QueueSource,
): Promise<Failures> {
  const Records = batch.map((message) => toSqsRecord(message, name));
  try {
    const failures = new Map((await run({ Records })).map((failed) => [failed.messageId, failed]));
    return new Map(
      batch.flatMap((message) => {
        const failed = failures.get(message.MessageId!);
        return failed ? [[message, failed]] : [];
      }),
    );
  } catch (error) {
    reportError(error);
    return new Map(batch.map((message) => [message, undefined]));
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
  for (const batch of splitIntoBatches(messages, 10)) {
    const Entries = batch.map(({ ReceiptHandle }, i) => ({ Id: String(i), ReceiptHandle }));
    await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
  }
}

async function changeVisibility(
  { client, url }: QueueSource,
  changes: { message: Message; seconds: number }[],
) {
  for (const batch of splitIntoBatches(changes, 10)) {
    const Entries = batch.map(({ message: { ReceiptHandle }, seconds }, i) => ({
      Id: String(i),
      ReceiptHandle,
      VisibilityTimeout: seconds,
    }));
    await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
  }
}
