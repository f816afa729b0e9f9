// Crashes or pauses a worker at any of its steps. A step is a call of DynamoDB, SQS, S3, KMS or a
// mail provider. The worker crashes before its n-th step, or after the step took effect and before
// the response. All its later calls fail. A paused worker continues when its lease has expired and
// another worker has done its work.
import { AsyncLocalStorage } from "node:async_hooks";
import { expect } from "vitest";
import { WebClient } from "../../shared/adapters/http/client.ts";
import * as clock from "../../shared/clock.ts";
import { type AwsCall, interceptCalls } from "./aws-calls.ts";
import { everything, seed } from "./extent.ts";
import { randomOfTest, sampleOf } from "./seeded-random.ts";

interface WorkerRun {
  crashAtStep: number;
  when: CrashMoment;
  steps: string[];
  crashed: boolean;
  /** Calls in flight. The scenario waits until they have taken effect. */
  pendingCalls: Set<Promise<unknown>>;
  /** For a pause instead of a crash: runs while the worker is paused. */
  meanwhile?: (() => Promise<unknown>) | undefined;
  /** Ends work of other workers before the clock moves for the pause. */
  finishOthers?: (() => Promise<unknown>) | undefined;
  /** Pending while the worker is paused. */
  pause?: Promise<unknown>;
}
export type CrashMoment = "before" | "after";

class InjectedCrash extends Error {}
const currentRun = new AsyncLocalStorage<WorkerRun>();

export interface CrashResult {
  /** False if the work has fewer steps. */
  crashed: boolean;
  /** Names of the steps. The worker crashed at the last one. */
  steps: string[];
}

/** Runs a worker until it crashes at its `crashAtStep`-th step. */
export async function runUntilCrash(
  crashAtStep: number,
  when: CrashMoment,
  work: () => Promise<unknown>,
): Promise<CrashResult> {
  const run: WorkerRun = { crashAtStep, when, steps: [], crashed: false, pendingCalls: new Set() };
  try {
    await currentRun.run(run, work);
  } catch (error) {
    if (!run.crashed) throw error;
  }
  await Promise.allSettled(run.pendingCalls);
  return { crashed: run.crashed, steps: run.steps };
}

/** A pause is longer than any lease. */
const pauseSeconds = 15 * 60 - 10;

/**
 * Runs a worker that is paused before or after its `pausesAt`-th step, like a process that is
 * stopped and continued. Its leases expire, `meanwhile` runs, and then the worker continues.
 */
async function runWithPause(
  pausesAt: number,
  when: CrashMoment,
  work: () => Promise<unknown>,
  { meanwhile, finishOthers }: Pick<WorkerRun, "finishOthers"> & { meanwhile(): Promise<unknown> },
): Promise<CrashResult> {
  const run: WorkerRun = {
    crashAtStep: pausesAt,
    when,
    steps: [],
    crashed: false,
    pendingCalls: new Set(),
    meanwhile,
    finishOthers,
  };
  await currentRun.run(run, work);
  await Promise.allSettled(run.pendingCalls);
  return { crashed: run.steps.length >= pausesAt, steps: run.steps };
}

type CrashScenario = (
  crash: (work: () => Promise<unknown>) => Promise<CrashResult>,
) => Promise<void>;

/**
 * Runs `scenario` once for each step of its worker, and crashes the worker at that step. Returns
 * the steps of a worker that does not crash.
 */
export const crashAtEveryStep = (scenario: CrashScenario): Promise<string[]> =>
  runAtAllSteps(scenario, runUntilCrash);

/**
 * For slow scenarios: crashes the worker at a sample of its steps, which depends on the seed of the
 * run (`SEED=`, printed when the run starts). `npm run test:all` crashes it at every step.
 */
export const crashAtSomeSteps = (scenario: CrashScenario): Promise<string[]> =>
  (everything ? runAtAllSteps : runAtSampledSteps)(scenario, runUntilCrash);

/**
 * Like `crashAtSomeSteps`, but the worker is paused while `meanwhile` runs, and then continues.
 */
export const pausedAtSomeSteps = (
  meanwhile: () => Promise<unknown>,
  scenario: CrashScenario,
  finishOthers?: () => Promise<unknown>,
): Promise<string[]> =>
  (everything ? runAtAllSteps : runAtSampledSteps)(scenario, (n, when, work) =>
    runWithPause(n, when, work, { meanwhile, finishOthers }),
  );

/** `npm run test:all` uses both, and `npm test` one of them. */
export const interruptions = sampleOf(1, ["crashes", "is paused"] as const, "interruptions");
/**
 * Interrupts `work`. `rest` is the work of other workers: after the crash, or during the pause and
 * again after it.
 */
type Interrupt = (
  work: () => Promise<unknown>,
  rest: () => Promise<unknown>,
  /** Work of others that must end before the clock moves, because its own time does not move. */
  others?: Promise<unknown>,
) => Promise<CrashResult>;

/**
 * Like `crashAtSomeSteps`, for scenarios with the same result whether the worker crashes or is
 * paused past its lease.
 */
export function interruptedAtSomeSteps(
  how: (typeof interruptions)[number],
  scenario: (interrupt: Interrupt) => Promise<void>,
): Promise<string[]> {
  let meanwhile: () => Promise<unknown>;
  let othersOfScenario: Promise<unknown> | undefined;
  const crashScenario: CrashScenario = (crash) =>
    scenario(async (work, rest, others) => {
      meanwhile = rest;
      othersOfScenario = others;
      const result = await crash(work);
      await rest();
      return result;
    });
  return how === "crashes"
    ? crashAtSomeSteps(crashScenario)
    : pausedAtSomeSteps(
        () => meanwhile(),
        crashScenario,
        async () => othersOfScenario,
      );
}

type InterruptedRun = (
  n: number,
  when: CrashMoment,
  work: () => Promise<unknown>,
) => Promise<CrashResult>;
const sampledCrashes = 2;

async function runAtAllSteps(
  scenario: CrashScenario,
  interruptedRun: InterruptedRun,
): Promise<string[]> {
  const steps: string[] = [];
  for (const when of ["before", "after"] as const)
    for (let n = 1, hasCrashed = true; hasCrashed; n++) {
      const result = await runScenario(
        scenario,
        (work) => interruptedRun(n, when, work),
        `${when} step ${n}`,
      );
      hasCrashed = result.crashed;
      if (!hasCrashed) steps.push(...result.steps.map((name) => `${when} ${name}`));
    }
  return steps;
}

/**
 * One run without a crash counts the steps. Then the worker crashes at a step of the first half,
 * and in another run at a step of the second half.
 */
async function runAtSampledSteps(
  scenario: CrashScenario,
  interruptedRun: InterruptedRun,
): Promise<string[]> {
  const random = randomOfTest(expect.getState().currentTestName ?? "");
  const survivor = await runScenario(
    scenario,
    (work) => interruptedRun(Number.POSITIVE_INFINITY, "before", work),
    "no step",
  );
  const count = survivor.steps.length;
  const first = Math.floor(random() * 2);
  for (let i = 0; i < sampledCrashes; i++) {
    const n = 1 + Math.floor(((i + random()) / sampledCrashes) * count);
    const when = (first + i) % 2 ? "after" : "before";
    await runScenario(
      scenario,
      (work) => interruptedRun(n, when, work),
      `${when} step ${n} of ${count} (SEED=${seed})`,
    );
  }
  return (["before", "after"] as const).flatMap((when) =>
    survivor.steps.map((name) => `${when} ${name}`),
  );
}

async function runScenario(
  scenario: CrashScenario,
  crash: (work: () => Promise<unknown>) => Promise<CrashResult>,
  where: string,
): Promise<CrashResult> {
  let result: CrashResult | undefined;
  try {
    await scenario(async (work) => {
      result = await crash(work);
      return result;
    });
  } catch (error) {
    throw new Error(
      `Crashed or paused ${where}, ${result?.steps.at(-1)}: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
  return result!;
}

/** Makes a call as a step of the current worker. */
async function countStep<T>(name: string, makeCall: () => Promise<T>): Promise<T> {
  const run = currentRun.getStore();
  if (!run) return makeCall();
  if (run.crashed) throw new InjectedCrash();
  await run.pause;
  const isCrashStep = run.steps.push(name) === run.crashAtStep;
  if (run.meanwhile) return callWithPause(run, isCrashStep, makeCall);
  if (isCrashStep && run.when === "before") {
    run.crashed = true;
    throw new InjectedCrash();
  }
  const call = makeCall();
  run.pendingCalls.add(call);
  const answer = await call.finally(() => run.pendingCalls.delete(call));
  run.crashed ||= isCrashStep;
  if (run.crashed) throw new InjectedCrash();
  return answer;
}

async function callWithPause<T>(
  run: WorkerRun,
  isCrashStep: boolean,
  makeCall: () => Promise<T>,
): Promise<T> {
  if (isCrashStep && run.when === "before") await pauseWorker(run);
  const call = makeCall();
  run.pendingCalls.add(call);
  const answer = await call.finally(() => run.pendingCalls.delete(call));
  if (isCrashStep && run.when === "after") await pauseWorker(run);
  // Concurrent calls of a paused process get their responses when it continues.
  await run.pause;
  return answer;
}

async function pauseWorker(run: WorkerRun): Promise<void> {
  run.pause = currentRun.exit(async () => {
    await Promise.allSettled(run.pendingCalls);
    await run.finishOthers?.();
    clock.advanceClock(pauseSeconds);
    await run.meanwhile!();
  });
  await run.pause;
}

/** Makes every call of a client a step. If `callQueue` is given, it replaces the queues. */
export function interceptClients(callQueue?: (call: AwsCall) => Promise<object>): void {
  for (const service of ["dynamodb", "kms", "s3", "sqs"] as const)
    interceptCalls(service, (call, passThrough) =>
      countStep(call.operation, () =>
        service === "sqs" && callQueue ? callQueue(call) : passThrough(),
      ),
    );
  const { open } = WebClient.prototype;
  WebClient.prototype.open = (request) => countStep("request", () => open(request));
}
