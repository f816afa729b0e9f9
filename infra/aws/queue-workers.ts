import { Duration } from "aws-cdk-lib";
import type { Function as Lambda } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Construct } from "constructs";
import type { QueueWorker } from "../../shared/kernel/queue-worker.ts";
import { queueUrlSetting } from "./grants.ts";
import { createFunction, type FunctionContext } from "./lambda-function.ts";
import type { StackSettings } from "./settings.ts";

/** One function per queue, at functions/queue/<queue name>.ts. */
export class QueueWorkers extends Construct {
  /** By bundle. */
  readonly functions: Map<string, Lambda>;

  constructor(scope: Construct, workers: QueueWorker[], context: FunctionContext) {
    super(scope, "Workers");
    const queues = [...context.store.queues.values()];
    const share = concurrencyShare(context.settings, workers);
    this.functions = new Map(
      workers.map(({ queue }) => {
        const { queue: sqsQueue } = queues.find(
          ({ definition }) => definition.name === queue.name,
        )!;
        // A lane waits by enqueueing a delayed message for itself.
        const fn = createFunction(this, context, {
          bundle: `queue/${queue.name}`,
          timeoutSeconds: queue.timeoutSeconds,
          memoryMegabytes: 1769,
          allowsRecursion: true,
        });
        fn.addEnvironment(queueUrlSetting(queue.name), sqsQueue.queueUrl);
        fn.addEventSource(
          new SqsEventSource(sqsQueue, {
            batchSize: queue.batch,
            reportBatchItemFailures: true,
            maxConcurrency:
              minConcurrency +
              Math.floor((Math.max(queue.concurrency, minConcurrency) - minConcurrency) * share),
            // SQS delivers batches of more than 10 messages only with a batching window.
            ...batchingWindow(queue),
          }),
        );
        return [`queue/${queue.name}`, fn];
      }),
    );
  }
}

// The minimum that AWS accepts.
const minConcurrency = 2;

/**
 * The share of the configured concurrency above the minimum. A quarter of the limit of the account
 * is left for HTTP requests.
 */
function concurrencyShare({ accountConcurrency }: StackSettings, workers: QueueWorker[]): number {
  const requested = workers.reduce(
    (sum, { queue }) => sum + Math.max(queue.concurrency - minConcurrency, 0),
    0,
  );
  const available = Math.max(0.75 * accountConcurrency - minConcurrency * workers.length, 0);
  return Math.min(1, available / requested);
}

function batchingWindow({ batch, windowSeconds }: QueueWorker["queue"]) {
  const seconds = batch > 10 ? Math.max(1, windowSeconds) : windowSeconds;
  return seconds ? { maxBatchingWindow: Duration.seconds(seconds) } : {};
}
