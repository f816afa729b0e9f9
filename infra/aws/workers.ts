import { Duration } from "aws-cdk-lib";
import type { Function as Lambda } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Construct } from "constructs";
import type { Worker } from "../../shared/consume.ts";
import { type House, lambda } from "./function.ts";
import type { Settings } from "./settings.ts";

/** One function per queue, at functions/queue/<queue name>.ts. */
export class Workers extends Construct {
  readonly functions: Lambda[];

  constructor(scope: Construct, workers: Worker[], house: House) {
    super(scope, "Workers");
    const pairs = [...house.store.queues.values()];
    const share = shareOf(house.settings, workers);
    this.functions = workers.map(({ queue }) => {
      const { live } = pairs.find(({ settings }) => settings.name === queue.name)!;
      // A lane waits by sending itself a later message.
      const fn = lambda(this, `queue/${queue.name}`, house, {
        timeoutSeconds: queue.timeoutSeconds,
        memoryMegabytes: 1769,
        recurring: true,
      });
      fn.addEventSource(
        new SqsEventSource(live, {
          batchSize: queue.batch,
          reportBatchItemFailures: true,
          maxConcurrency: leastConcurrency + Math.floor((Math.max(queue.concurrency, leastConcurrency) - leastConcurrency) * share),
          // More than 10 at once are only had by waiting for them.
          ...windowOf(queue),
        }),
      );
      return fn;
    });
  }
}

// AWS takes nothing below.
const leastConcurrency = 2;

/** Of what is wanted beyond the least: a quarter of what the account may run at once is left to those who wait for an answer. */
function shareOf({ accountConcurrency }: Settings, workers: Worker[]): number {
  const wanted = workers.reduce((sum, { queue }) => sum + Math.max(queue.concurrency - leastConcurrency, 0), 0);
  const there = Math.max(0.75 * accountConcurrency - leastConcurrency * workers.length, 0);
  return Math.min(1, there / wanted);
}

function windowOf({ batch, windowSeconds }: Worker["queue"]) {
  const seconds = batch > 10 ? Math.max(1, windowSeconds) : windowSeconds;
  return seconds ? { maxBatchingWindow: Duration.seconds(seconds) } : {};
}
