// SQS.
import {
  type BatchResultErrorEntry,
  ChangeMessageVisibilityBatchCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SQSServiceException,
} from "@aws-sdk/client-sqs";
import type * as z from "zod";
import { config } from "../../config.ts";
import * as log from "../../kernel/log.ts";
import { toMessageJson } from "../../kernel/message-json.ts";
import { splitIntoBatches } from "../../kernel/parallel.ts";
import type { QueueDefinition } from "../../queues.ts";
import { sqs } from "./client.ts";

/** The longest delay of an SQS message. */
export const maxDelaySeconds = 900;

interface EnqueueOptions<M> {
  /** 0 to `maxDelaySeconds`. */
  delaySeconds?: number;
  /** Messages of one group cannot delay those of other groups for long (fair queues). */
  group?: string | number | ((message: M) => string | number);
}

/** The queue refuses some messages because of their content. It has accepted all others. */
class RefusedMessages extends Error {
  /** Places in the messages of `enqueue`. */
  readonly places: number[];
  constructor(queueName: string, places: number[]) {
    super(`${queueName}: ${places.length} messages were refused because of their content`);
    this.name = "RefusedMessages";
    this.places = places;
  }
}

/**
 * Sends messages, up to ten per call. Throws unless all are accepted. A message that the queue
 * refuses does not hold the others back: they are sent, then this throws `RefusedMessages`.
 */
export async function enqueue<M extends z.ZodType>(
  queue: QueueDefinition<M>,
  messages: z.output<M>[],
  { delaySeconds, group }: EnqueueOptions<z.output<M>> = {},
): Promise<void> {
  const entries = messages.map((message, i) => ({
    Id: String(i),
    MessageBody: toMessageJson(message),
    ...(delaySeconds && { DelaySeconds: Math.min(Math.ceil(delaySeconds), maxDelaySeconds) }),
    ...(group !== undefined && {
      MessageGroupId: String(typeof group === "function" ? group(message) : group),
    }),
  }));
  const refused = await Promise.all(
    splitIntoBatches(entries, 10)
      .flatMap(splitBySize)
      .map((batch) => sendBatch(queue.name, batch)),
  );
  const places = refused.flat().map(Number);
  if (places.length) throw new RefusedMessages(queue.name, places);
}

/**
 * Sends messages whose events may travel apart. If the queue refuses a message, its events are sent
 * in smaller messages. Returns the messages that it refuses with a single event.
 */
export async function enqueueDivisible<
  M extends z.ZodType<{ events?: unknown[] | undefined }>,
  Message extends z.output<M> & { events: unknown[] },
>(
  queue: QueueDefinition<M>,
  messages: Message[],
  options: EnqueueOptions<z.output<M>> & {
    withEvents(message: Message, events: Message["events"]): Message;
  },
): Promise<Message[]> {
  try {
    await enqueue(queue, messages, options);
    return [];
  } catch (error) {
    if (!(error instanceof RefusedMessages)) throw error;
    const refused = error.places.map((place) => messages[place]!);
    const smaller = refused
      .filter(({ events }) => events.length > 1)
      .flatMap((message) =>
        splitIntoBatches(message.events, Math.ceil(message.events.length / 2)).map((events) =>
          options.withEvents(message, events),
        ),
      );
    const alone = refused.filter(({ events }) => events.length === 1);
    return [...alone, ...(smaller.length ? await enqueueDivisible(queue, smaller, options) : [])];
  }
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

/** Returns the ids of the entries that the queue refuses. Throws if others are not accepted. */
async function sendBatch(name: string, entries: SendMessageBatchRequestEntry[]): Promise<string[]> {
  const refused: string[] = [];
  let remaining = entries;
  for (let attempt = 0; attempt < 3 && remaining.length; attempt++) {
    const failed = await trySendBatch(name, remaining);
    refused.push(...failed.filter(({ SenderFault }) => SenderFault).map(({ Id }) => Id!));
    const again = new Set(failed.flatMap(({ Id, SenderFault }) => (SenderFault ? [] : [Id])));
    remaining = remaining.filter(({ Id }) => again.has(Id));
  }
  if (remaining.length) throw new Error(`${name}: ${remaining.length} messages were not accepted`);
  return refused;
}

const contentErrors = /InvalidMessageContents|InvalidParameterValue|BatchRequestTooLong/;

/** Returns the failed entries. If the whole call is refused, each entry is sent in its own call. */
async function trySendBatch(
  name: string,
  entries: SendMessageBatchRequestEntry[],
): Promise<Pick<BatchResultErrorEntry, "Id" | "SenderFault">[]> {
  try {
    const { Failed = [] } = await sqs().send(
      new SendMessageBatchCommand({ QueueUrl: config.queueUrl(name), Entries: entries }),
    );
    return Failed;
  } catch (error) {
    if (!(error instanceof SQSServiceException && contentErrors.test(error.name))) throw error;
    if (entries.length === 1) return [{ Id: entries[0]!.Id, SenderFault: true }];
    return (await Promise.all(entries.map((entry) => trySendBatch(name, [entry])))).flat();
  }
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
