import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import type * as z from "zod";
import { metered } from "./doors/meter.ts";
import { Problem } from "./errors.ts";
import * as log from "./log.ts";
import type { Queue } from "./queues.ts";

export interface Worker {
  queue: Queue;
  handler(event: SQSEvent): Promise<SQSBatchResponse>;
}

/** A message of the batch at hand. */
export interface Received<M> {
  messageId: string;
  body: M;
  /** 1 the first time. */
  attempt: number;
}

/** Only these may be mended by waiting; every other Problem is final, and whoever throws it has written it on the record. */
const passing = (error: unknown): boolean =>
  !(error instanceof Problem) || error.kind === "upstream" || error.kind === "limited" || error.kind === "unavailable";

/** A worker that takes its messages one by one, side by side: only what failed goes back to the queue. */
export const consume = <M extends z.ZodType>(queue: Queue<M>, work: (body: z.output<M>) => Promise<void>): Worker =>
  consumeBatch(queue, async (messages) => {
    const outcomes = await Promise.allSettled(messages.map(({ body }) => work(body)));
    return outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason : undefined));
  });

/** A worker that sees the whole batch; it answers with the error of each message, undefined for those that are done. */
export const consumeBatch = <M extends z.ZodType>(
  queue: Queue<M>,
  work: (messages: Received<z.output<M>>[]) => Promise<unknown[]>,
): Worker => ({
  queue,
  handler: async ({ Records }) => {
    const started = performance.now();
    const { messages, unreadable } = received(queue, Records);
    const { result: errors, usage } = await metered(async () => (messages.length ? work(messages) : []));
    const milliseconds = Math.round(performance.now() - started);
    for (const [i, { messageId, body, attempt }] of messages.entries()) {
      const facts = { queue: queue.name, messageId, attempt, ...idsOf(body) };
      if (errors[i] === undefined) log.info("message", { ...facts, milliseconds, ...shareOf(usage, messages.length) });
      else log.failure("message failed", errors[i], facts);
    }
    const failed = messages.flatMap(({ messageId }, i) => (errors[i] !== undefined && passing(errors[i]) ? [messageId] : []));
    return { batchItemFailures: [...failed, ...unreadable].map((itemIdentifier) => ({ itemIdentifier })) };
  },
});

/** A message that cannot be read is left for the dead-letter queue, and keeps nobody else waiting. */
function received<M extends z.ZodType>(queue: Queue<M>, records: SQSEvent["Records"]) {
  const messages: Received<z.output<M>>[] = [];
  const unreadable: string[] = [];
  for (const { messageId, body, attributes } of records) {
    try {
      messages.push({ messageId, body: queue.message.parse(JSON.parse(body)), attempt: Number(attributes.ApproximateReceiveCount) });
    } catch (error) {
      log.failure("message unreadable", error, { queue: queue.name, messageId });
      unreadable.push(messageId);
    }
  }
  return { messages, unreadable };
}

const shareOf = ({ readUnits, writeUnits }: { readUnits: number; writeUnits: number }, n: number) => ({
  readUnits: readUnits / n,
  writeUnits: writeUnits / n,
});

// Ids only: a message may carry an address.
const idsOf = (body: unknown): Record<string, number> =>
  Object.fromEntries(Object.entries(body as object).filter((entry): entry is [string, number] => typeof entry[1] === "number"));
