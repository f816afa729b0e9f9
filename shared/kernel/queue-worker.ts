import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import type * as z from "zod";
import { measureUnits } from "../adapters/dynamodb/capacity.ts";
import { isCausedByOutage } from "../adapters/http/no-response.ts";
import { returnSoon } from "../adapters/sqs/enqueue.ts";
import { isTransient } from "../errors.ts";
import type { QueueDefinition } from "../queues.ts";
import * as log from "./log.ts";

export interface QueueWorker {
  queue: QueueDefinition;
  /** The messages are independent, so a slow message need not delay others of its batch. */
  separate?: boolean;
  /** Handles a batch. Returns the messages that failed and must be handled again. */
  run(event: SQSEvent): Promise<FailedMessage[]>;
  /** The same for Lambda. Failed messages return to their queue, and each has used an attempt. */
  handler(event: SQSEvent): Promise<SQSBatchResponse>;
}

export interface FailedMessage {
  messageId: string;
  receiptHandle: string;
  /** Delay until the next attempt. */
  seconds: number;
  /** An AWS service was away, so the message is not to blame. */
  isOutage: boolean;
}

/**
 * What a worker gets of a message. It gets no message id: a message that is redriven from a
 * dead-letter queue has a new one, and begins with attempt 1 again.
 */
export interface QueueMessage<M> {
  body: M;
  /** From 1. */
  attempt: number;
}

/**
 * A worker that handles each message of a batch separately, in parallel. Only failed messages
 * return to the queue.
 */
export const handleEach = <M extends z.ZodType>(
  queue: QueueDefinition<M>,
  handle: (body: z.output<M>) => Promise<void>,
): QueueWorker => ({
  ...handleBatch(queue, async (messages) => {
    const outcomes = await Promise.allSettled(messages.map(({ body }) => handle(body)));
    return outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason : undefined));
  }),
  separate: true,
});

/**
 * A worker that handles a whole batch. `handle` returns an error for each message, undefined for
 * those that succeeded.
 */
export const handleBatch = <M extends z.ZodType>(
  queue: QueueDefinition<M>,
  handle: (messages: QueueMessage<z.output<M>>[]) => Promise<unknown[]>,
): QueueWorker => {
  const run: QueueWorker["run"] = async ({ Records }) => {
    const started = performance.now();
    const { messages, unreadable } = parseMessages(queue, Records);
    const { result: errors, usage } = await measureUnits(async () =>
      messages.length ? handle(messages.map(({ body, attempt }) => ({ body, attempt }))) : [],
    );
    const milliseconds = Math.round(performance.now() - started);
    for (const [i, { messageId, body, attempt }] of messages.entries()) {
      const facts = { queue: queue.name, messageId, attempt, ...numericFieldsOf(body) };
      if (errors[i] === undefined)
        log.info("message", { ...facts, milliseconds, ...perMessage(usage, messages.length) });
      else log.error("message failed", errors[i], facts);
    }
    // These errors are retried. Every other Problem is final; the code that throws it has stored it
    // on the record.
    const failed = messages.flatMap((message, i) =>
      errors[i] !== undefined && isTransient(errors[i]) ? [{ ...message, error: errors[i] }] : [],
    );
    const retries = new Map([
      ...failed.map(
        ({ messageId, attempt, error }) =>
          [
            messageId,
            { seconds: retrySeconds(attempt), isOutage: isCausedByOutage(error) },
          ] as const,
      ),
      // A retry cannot help, so these reach the dead-letter queue quickly.
      ...unreadable.map((messageId) => [messageId, { seconds: 0, isOutage: false }] as const),
    ]);
    return Records.flatMap(({ messageId, receiptHandle }) => {
      const retry = retries.get(messageId);
      return retry ? [{ messageId, receiptHandle, ...retry }] : [];
    });
  };
  const handler: QueueWorker["handler"] = async (event) => {
    const failed = await run(event);
    await returnSoon(queue, failed);
    return {
      batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })),
    };
  };
  return { queue, run, handler };
};

/**
 * 10 seconds, 1 minute, 5 minutes, then 20 minutes, each plus or minus 20 %, so that retries after
 * an outage spread out. On AWS an outage may last 20 minutes until messages are dead letters.
 */
function retrySeconds(attempt: number): number {
  const seconds = [10, 60, 300][attempt - 1] ?? 1200;
  return Math.round(seconds * (0.8 + 0.4 * (crypto.getRandomValues(new Uint8Array(1))[0]! / 255)));
}

/** Unreadable messages go to the dead-letter queue and do not delay the others. */
function parseMessages<M extends z.ZodType>(
  queue: QueueDefinition<M>,
  records: SQSEvent["Records"],
) {
  const messages: (QueueMessage<z.output<M>> & { messageId: string })[] = [];
  const unreadable: string[] = [];
  for (const { messageId, body, attributes } of records) {
    try {
      messages.push({
        messageId,
        body: queue.message.parse(JSON.parse(body)),
        attempt: Number(attributes.ApproximateReceiveCount),
      });
    } catch (error) {
      log.error("message unreadable", error, { queue: queue.name, messageId });
      unreadable.push(messageId);
    }
  }
  return { messages, unreadable };
}

const perMessage = (
  { readUnits, writeUnits }: { readUnits: number; writeUnits: number },
  n: number,
) => ({
  readUnits: readUnits / n,
  writeUnits: writeUnits / n,
});

// Logs only the job name and ids, because a message may contain an address.
const numericFieldsOf = (body: unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(body as object).filter(
      ([name, value]) => name === "job" || typeof value === "number",
    ),
  );
