// The only file that speaks SQS.
import { SendMessageBatchCommand, type SendMessageBatchRequestEntry, SQSClient } from "@aws-sdk/client-sqs";
import type * as z from "zod";
import { config } from "../config.ts";
import { chunked } from "../parallel.ts";
import type { Queue } from "../queues.ts";

let client: SQSClient | undefined;
const sqs = () => {
  // A queue's URL may carry a host name that only AWS can resolve.
  client ??= new SQSClient({ useQueueUrlAsEndpoint: false });
  return client;
};

interface Options<M> {
  /** 0 to 900 (15 minutes). */
  delaySeconds?: number;
  /** Messages of one group cannot starve those of others. */
  group?: string | number | ((message: M) => string | number);
}

/** All are accepted, or it throws. Ten to a call, as far as they fit. */
export async function enqueue<M extends z.ZodType>(
  queue: Queue<M>,
  messages: z.output<M>[],
  { delaySeconds, group }: Options<z.output<M>> = {},
): Promise<void> {
  const entries = messages.map((message, i) => ({
    Id: String(i),
    MessageBody: JSON.stringify(message),
    ...(delaySeconds && { DelaySeconds: Math.min(Math.ceil(delaySeconds), 900) }),
    ...(group !== undefined && { MessageGroupId: String(typeof group === "function" ? group(message) : group) }),
  }));
  await Promise.all(
    chunked(entries, 10)
      .flatMap(fitting)
      .map((some) => sendAll(queue.name, some)),
  );
}

// One call takes 1 MiB, which ten large messages pass.
const mostBytes = 900_000;

function fitting(entries: SendMessageBatchRequestEntry[]): SendMessageBatchRequestEntry[][] {
  const bytes = entries.reduce((sum, { MessageBody = "" }) => sum + Buffer.byteLength(MessageBody), 0);
  if (bytes <= mostBytes || entries.length === 1) return [entries];
  const half = Math.ceil(entries.length / 2);
  return [...fitting(entries.slice(0, half)), ...fitting(entries.slice(half))];
}

async function sendAll(name: string, entries: SendMessageBatchRequestEntry[]) {
  let left = entries;
  for (let attempt = 0; attempt < 3 && left.length; attempt++) {
    const { Failed = [] } = await sqs().send(new SendMessageBatchCommand({ QueueUrl: config.queueUrl(name), Entries: left }));
    const failed = new Set(Failed.map(({ Id }) => Id));
    left = left.filter(({ Id }) => failed.has(Id));
  }
  if (left.length) throw new Error(`${name}: ${left.length} messages were not accepted`);
}
