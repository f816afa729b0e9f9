// Workers on queues in memory and on a table of the test file, so that a test can run and crash the
// workers itself and move the clock.
import { randomUUID } from "node:crypto";
import type {
  ChangeMessageVisibilityBatchCommandInput,
  SendMessageBatchCommandInput,
} from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import * as clock from "../../shared/clock.ts";
import { inParallel, splitIntoBatches } from "../../shared/kernel/parallel.ts";
import type { QueueWorker } from "../../shared/kernel/queue-worker.ts";
import { type DueWorkKind, dueWorkKinds } from "../../shared/keys.ts";
import { queues } from "../../shared/queues.ts";
import type { AwsCall } from "./aws-calls.ts";
import { type CrashResult, interceptClients } from "./crash-injection.ts";
import { type DueEntry, enqueueDueWork, firstDueTime, readDueIndex } from "./due-index.ts";
import { useOwnTable } from "./memory-dynamodb.ts";

export interface VirtualMessage {
  id: string;
  queue: string;
  groupId: string | undefined;
  body: string;
  /** Time of the service's clock, in ms since 1970. */
  visibleAt: number;
  receives: number;
}
/** Messages that no worker has processed yet. */
export const pendingMessages: VirtualMessage[] = [];
/** Messages that failed as often as their queue allows. */
export const deadLetters: VirtualMessage[] = [];

/** For `beforeAll`: creates a table and replaces the queues. */
export async function useVirtualQueues(): Promise<void> {
  await useOwnTable();
  interceptClients(enqueueMessages);
}

/** When a message is visible again after a worker changed its visibility timeout. */
const returning = new Map<string, number>();

async function enqueueMessages({ operation, input }: AwsCall): Promise<object> {
  if (operation === "ChangeMessageVisibilityBatch") {
    const changes = input as unknown as ChangeMessageVisibilityBatchCommandInput;
    for (const { ReceiptHandle = "", VisibilityTimeout = 0 } of changes.Entries ?? [])
      returning.set(ReceiptHandle, clock.now().getTime() + VisibilityTimeout * 1000);
    return {};
  }
  const { QueueUrl = "", Entries = [] } = input as unknown as SendMessageBatchCommandInput;
  const refused = Entries.filter(({ MessageBody = "" }) => refusedContent.test(MessageBody));
  const accepted = Entries.filter((entry) => !refused.includes(entry));
  for (const { MessageBody: body = "", DelaySeconds = 0, MessageGroupId: groupId } of accepted) {
    const visibleAt = clock.now().getTime() + DelaySeconds * 1000;
    pendingMessages.push({
      id: randomUUID(),
      queue: QueueUrl.split("/").at(-1)!,
      groupId,
      body,
      visibleAt,
      receives: 0,
    });
  }
  const Code = "InvalidMessageContents";
  return { Failed: refused.map(({ Id }) => ({ Id, Code, SenderFault: true })) };
}

/** Text that a test gives to an event which the queue is to refuse. */
export const refusedText = "the queue refuses this text";

// The queues of `npm start` accept no other characters; SQS also accepts those above U+FFFF.
const refusedContent = new RegExp(`[^\\t\\n\\r -\ud7ff\ue000-\ufffd]|${refusedText}`);

interface WorkerRunOptions {
  /** How far the clock is moved. */
  forSeconds?: number;
  /** Runs the work of one batch, and may crash it. */
  crashHook?(work: () => Promise<unknown>): Promise<Partial<CrashResult> | unknown>;
  /** Enqueues due work. */
  runSchedules?(entries: DueEntry[]): Promise<void>;
}

const { campaigns, drain, forward, jobs, lane, providerEvents, report, send, submission } = queues;

/** The queue whose worker does each kind of due work. */
const queueOfDueWork: Record<DueWorkKind, { name: string }> = {
  SEND: drain,
  SWEEP: drain,
  UNCERTAIN: send,
  LANE: lane,
  BROADCAST: campaigns,
  EVENT: providerEvents,
  DELIVERY: forward,
  OUTBOX: drain,
  GROUP: jobs,
  EXPORT: jobs,
  IMPORT: jobs,
  ACTION: jobs,
  CONVERSION: jobs,
  SEQUENCE: queues.advance,
  DAY: drain,
  SUPPRESSION: drain,
  REPORT: report,
  SUBMISSION: submission,
  FORM: jobs,
  SECURE: drain,
  DOMAIN: jobs,
  PULL: jobs,
  MAILBOX: jobs,
  POSTMASTER: jobs,
  EVENTHOUR: jobs,
  MAILLOG: jobs,
  AUDIT: jobs,
  CAMPAIGNAUDIT: jobs,
  NOTE: queues.advance,
  WATCH: queues.advance,
  MERGE: jobs,
  STEPTASK: queues.stepTasks,
  SERIES: jobs,
  TRACKINGDOMAIN: jobs,
};

/**
 * Whether a run of the workers of these queues waits for the entry. It does not wait for work of
 * other workers, which would be enqueued every five minutes without end, nor for rollups of days.
 */
function isAwaited({ duepk }: DueEntry, queueNames: Set<string>): boolean {
  const kind = dueWorkKinds.find((each) => duepk.startsWith(`DUE#${each}#`));
  if (!kind) return true;
  return kind !== "DAY" && queueNames.has(queueOfDueWork[kind].name);
}

/**
 * Runs these workers until they have nothing left to do within the time, and moves the clock to the
 * next work.
 */
export async function runWorkers(
  workers: QueueWorker[],
  {
    forSeconds = 0,
    crashHook = (work) => work(),
    runSchedules = enqueueDueWork,
  }: WorkerRunOptions = {},
): Promise<void> {
  const until = clock.addSeconds(forSeconds).getTime();
  const names = new Set(workers.map(({ queue }) => queue.name));
  for (let rounds = 0; rounds < 1000; rounds++) {
    const now = clock.now().getTime();
    const ownMessages = pendingMessages.filter(({ queue }) => names.has(queue));
    const visible = ownMessages.filter(({ visibleAt }) => visibleAt <= now);
    await Promise.all(workers.map((worker) => runBatches(worker, visible, crashHook)));
    if (visible.length) continue;
    const dueEntries = await readDueIndex();
    const nextDueAt = firstDueTime(dueEntries.filter((entry) => isAwaited(entry, names)));
    const next = Math.min(...ownMessages.map(({ visibleAt }) => visibleAt), nextDueAt);
    if (next > Math.max(until, now)) {
      if (until > now) clock.advanceClock((until - now) / 1000);
      return;
    }
    if (next > now) clock.advanceClock((next - now) / 1000 + 0.001);
    if (nextDueAt <= clock.now().getTime()) await runSchedules(dueEntries);
  }
  const left = (await readDueIndex()).map(({ duepk, duesk }) => `${duepk} ${duesk}`);
  throw new Error(`The workers do not come to rest. Due work: ${left.join(", ") || "none"}`);
}

async function runBatches(
  { queue, handler }: QueueWorker,
  visible: VirtualMessage[],
  crash: NonNullable<WorkerRunOptions["crashHook"]>,
): Promise<void> {
  const batches = splitIntoBatches(
    visible.filter((message) => message.queue === queue.name),
    queue.batch,
  );
  await inParallel(queue.concurrency, batches, async (batch) => {
    for (const message of batch) pendingMessages.splice(pendingMessages.indexOf(message), 1);
    let failed = batch.map(({ id }) => id);
    const result = await crash(async () => {
      const { batchItemFailures } = await handler({ Records: batch.map(toSqsRecord) });
      failed = batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
    });
    // All messages of a crashed worker return to the queue.
    const returned = (result as Partial<CrashResult> | undefined)?.crashed
      ? batch
      : batch.filter(({ id }) => failed.includes(id));
    for (const message of returned) {
      const visibleAt =
        returning.get(message.id) ?? clock.now().getTime() + 6000 * queue.timeoutSeconds;
      returning.delete(message.id);
      const retried = { ...message, receives: message.receives + 1, visibleAt };
      (retried.receives < queue.attempts ? pendingMessages : deadLetters).push(retried);
    }
  });
}

export const toSqsRecord = ({ id, body, receives }: VirtualMessage): SQSRecord =>
  ({
    messageId: id,
    receiptHandle: id,
    body,
    attributes: { ApproximateReceiveCount: String(receives + 1) },
  }) as SQSRecord;
