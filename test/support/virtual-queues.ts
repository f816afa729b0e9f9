// Workers on queues that a test runs itself, and on a table of its own, so that it may move the clock as far as it likes and kill
// whom it likes. For tests in engine/.
import { randomUUID } from "node:crypto";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import type { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import { createTable } from "../../infra/local/table.ts";
import * as clock from "../../shared/clock.ts";
import type { Worker } from "../../shared/consume.ts";
import * as due from "../../shared/domain/sending/due.ts";
import { chunked, inParallel } from "../../shared/parallel.ts";
import { armed, type Fate } from "./killer.ts";

export interface Message {
  id: string;
  queue: string;
  group: string | undefined;
  body: string;
  /** ms since 1970, by our clock. */
  visibleAt: number;
  receives: number;
}
/** What no worker has done yet. */
export const waiting: Message[] = [];
/** What was given up, as often as its queue allows. */
export const dead: Message[] = [];

/** For `beforeAll`. */
export async function opened(): Promise<void> {
  process.env.TABLE_NAME = `virtual-${randomUUID()}`;
  await createTable(new DynamoDBClient({}), process.env.TABLE_NAME);
  armed(take as never);
}

async function take(command: unknown): Promise<object> {
  const { QueueUrl = "", Entries = [] } = (command as SendMessageBatchCommand).input;
  for (const { MessageBody: body = "", DelaySeconds = 0, MessageGroupId: group } of Entries) {
    const visibleAt = clock.now().getTime() + DelaySeconds * 1000;
    waiting.push({ id: randomUUID(), queue: QueueUrl.split("/").at(-1)!, group, body, visibleAt, receives: 0 });
  }
  return {};
}

interface Settling {
  /** How far the clock is moved. */
  forSeconds?: number;
  /** Does the work of one batch, or dies over it. */
  kill?(work: () => Promise<unknown>): Promise<Partial<Fate> | unknown>;
  /** Finds what is due. */
  tick?(): Promise<void>;
}

/** Works until these workers have nothing left to do for the time, moving the clock to whatever comes next. */
export async function settle(
  workers: Worker[],
  { forSeconds = 0, kill = (work) => work(), tick = due.drainAll }: Settling = {},
): Promise<void> {
  const until = clock.after(forSeconds).getTime();
  const names = new Set(workers.map(({ queue }) => queue.name));
  for (let rounds = 0; rounds < 1000; rounds++) {
    const now = clock.now().getTime();
    const theirs = waiting.filter(({ queue }) => names.has(queue));
    const visible = theirs.filter(({ visibleAt }) => visibleAt <= now);
    await Promise.all(workers.map((worker) => work(worker, visible, kill)));
    if (visible.length) continue;
    const next = Math.min(...theirs.map(({ visibleAt }) => visibleAt), await firstDue());
    if (next > Math.max(until, now)) {
      if (until > now) clock.advance((until - now) / 1000);
      return;
    }
    if (next > now) clock.advance((next - now) / 1000 + 0.001);
    if ((await firstDue()) <= clock.now().getTime()) await tick();
  }
  throw new Error("The workers do not come to rest");
}

async function work({ queue, handler }: Worker, visible: Message[], kill: NonNullable<Settling["kill"]>): Promise<void> {
  const batches = chunked(
    visible.filter((message) => message.queue === queue.name),
    queue.batch,
  );
  await inParallel(queue.concurrency, batches, async (batch) => {
    for (const message of batch) waiting.splice(waiting.indexOf(message), 1);
    let failed = batch.map(({ id }) => id);
    const fate = await kill(async () => {
      const { batchItemFailures } = await handler({ Records: batch.map(recordOf) });
      failed = batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
    });
    // The dead cannot tell what they had done.
    const again = (fate as Partial<Fate> | undefined)?.died ? batch : batch.filter(({ id }) => failed.includes(id));
    for (const message of again) {
      const retried = { ...message, receives: message.receives + 1, visibleAt: clock.now().getTime() + 6000 * queue.timeoutSeconds };
      (retried.receives < queue.attempts ? waiting : dead).push(retried);
    }
  });
}

const recordOf = ({ id, body, receives }: Message): SQSRecord =>
  ({ messageId: id, body, attributes: { ApproximateReceiveCount: String(receives + 1) } }) as SQSRecord;

async function firstDue(): Promise<number> {
  const { Items = [] } = await new DynamoDBClient({}).send(new ScanCommand({ TableName: process.env.TABLE_NAME, IndexName: "due" }));
  // A day that is over can wait: nobody moves the clock for it.
  const pressing = Items.filter(({ duepk }) => !duepk!.S!.startsWith("DUE#DAY#"));
  return Math.min(...pressing.map(({ duesk }) => Date.parse(duesk!.S!.slice(0, 24))));
}
