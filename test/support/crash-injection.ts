// Crashes or pauses a worker at any of its steps. A step is a call of DynamoDB, SQS, S3, KMS or a
// mail provider. The worker crashes before its n-th step, or after the step took effect and before
// the response. All its later calls fail. A paused worker continues when its lease has expired and
// another worker has done its work.
import { AsyncLocalStorage } from "node:async_hooks";
import { S3Client } from "@aws-sdk/client-s3";
import { expect } from "vitest";
import { DynamoDbClient } from "../../shared/adapters/dynamodb/client.ts";
import { KmsClient } from "../../shared/adapters/kms/client.ts";
import { SqsClient } from "../../shared/adapters/sqs/client.ts";
import * as clock from "../../shared/clock.ts";
import { everything, seed } from "./extent.ts";
import { chancesOf, sampleOf } from "./seeded-random.ts";

interface WorkerRun {
  crashAtStep: number;
  when: CrashMoment;
  steps: string[];
  crashed: boolean;
  /** Calls in flight. The scenario waits until they have taken effect. */
  pendingCalls: Set<Promise<unknown>>;
  /** For a pause instead of a crash: runs while the worker is paused. */
  meanwhile?: (() => Promise<unknown>) | undefined;
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
  const life: WorkerRun = { crashAtStep, when, steps: [], crashed: false, pendingCalls: new Set() };
  try {
    await currentRun.run(life, work);
  } catch (error) {
    if (!life.crashed) throw error;
  }
  await Promise.allSettled(life.pendingCalls);
  return { crashed: life.crashed, steps: life.steps };
}

/** A pause is longer than any lease. */
const pauseSeconds = 15 * 60 - 10;

/**
 * Runs a worker that is paused before or after its `pausesAt`-th step, like a process that is
 * stopped and continued. Its leases expire, `meanwhile` runs, and then the worker continues.
 */
async function paused(
  pausesAt: number,
  when: CrashMoment,
  work: () => Promise<unknown>,
  meanwhile: () => Promise<unknown>,
): Promise<CrashResult> {
  const life: WorkerRun = {
    crashAtStep: pausesAt,
    when,
    steps: [],
    crashed: false,
    pendingCalls: new Set(),
    meanwhile,
  };
  await currentRun.run(life, work);
  await Promise.allSettled(life.pendingCalls);
  return { crashed: life.steps.length >= pausesAt, steps: life.steps };
}

type CrashScenario = (
  kill: (work: () => Promise<unknown>) => Promise<CrashResult>,
) => Promise<void>;

/**
 * Runs `scenario` once for each step of its worker, and crashes the worker at that step. Returns
 * the steps of a worker that does not crash.
 */
export const crashAtEveryStep = (story: CrashScenario): Promise<string[]> =>
  atAll(story, runUntilCrash);

/**
 * For slow scenarios: crashes the worker at a sample of its steps, which depends on the seed of the
 * run (`SEED=`, printed when the run starts). `npm run test:all` crashes it at every step.
 */
export const crashAtSomeSteps = (story: CrashScenario): Promise<string[]> =>
  (everything ? atAll : atSample)(story, runUntilCrash);

/**
 * Like `crashAtSomeSteps`, but the worker is paused while `meanwhile` runs, and then continues.
 */
export const pausedAtSomeSteps = (
  meanwhile: () => Promise<unknown>,
  story: CrashScenario,
): Promise<string[]> =>
  (everything ? atAll : atSample)(story, (n, when, work) => paused(n, when, work, meanwhile));

/** `npm run test:all` uses both, and `npm test` one of them. */
export const interruptions = sampleOf(1, ["dies", "is paused"] as const, "interruptions");
/**
 * Interrupts `work`. `rest` is the work of other workers: after the crash, or during the pause and
 * again after it.
 */
type Interrupt = (
  work: () => Promise<unknown>,
  rest: () => Promise<unknown>,
) => Promise<CrashResult>;

/**
 * Like `crashAtSomeSteps`, for scenarios with the same result whether the worker crashes or is
 * paused past its lease.
 */
export function interruptedAtSomeSteps(
  how: (typeof interruptions)[number],
  story: (interrupt: Interrupt) => Promise<void>,
): Promise<string[]> {
  let meanwhile: () => Promise<unknown>;
  const whole: CrashScenario = (kill) =>
    story(async (work, rest) => {
      meanwhile = rest;
      const fate = await kill(work);
      await rest();
      return fate;
    });
  return how === "dies" ? crashAtSomeSteps(whole) : pausedAtSomeSteps(() => meanwhile(), whole);
}

type Happens = (n: number, when: CrashMoment, work: () => Promise<unknown>) => Promise<CrashResult>;
const deathsInSample = 2;

async function atAll(story: CrashScenario, happens: Happens): Promise<string[]> {
  const steps: string[] = [];
  for (const when of ["before", "after"] as const)
    for (let n = 1, died = true; died; n++) {
      const fate = await runStory(story, (work) => happens(n, when, work), `${when} step ${n}`);
      died = fate.crashed;
      if (!died) steps.push(...fate.steps.map((name) => `${when} ${name}`));
    }
  return steps;
}

/**
 * One run without a crash counts the steps. Then the worker crashes at a step of the first half,
 * and in another run at a step of the second half.
 */
async function atSample(story: CrashScenario, happens: Happens): Promise<string[]> {
  const chance = chancesOf(expect.getState().currentTestName ?? "");
  const survivor = await runStory(
    story,
    (work) => happens(Number.POSITIVE_INFINITY, "before", work),
    "no step",
  );
  const count = survivor.steps.length;
  const first = Math.floor(chance() * 2);
  for (let i = 0; i < deathsInSample; i++) {
    const n = 1 + Math.floor(((i + chance()) / deathsInSample) * count);
    const when = (first + i) % 2 ? "after" : "before";
    await runStory(
      story,
      (work) => happens(n, when, work),
      `${when} step ${n} of ${count} (SEED=${seed})`,
    );
  }
  return (["before", "after"] as const).flatMap((when) =>
    survivor.steps.map((name) => `${when} ${name}`),
  );
}

async function runStory(
  story: CrashScenario,
  kill: (work: () => Promise<unknown>) => Promise<CrashResult>,
  where: string,
): Promise<CrashResult> {
  let fate: CrashResult | undefined;
  try {
    await story(async (work) => {
      fate = await kill(work);
      return fate;
    });
  } catch (error) {
    throw new Error(`Dead or paused ${where}, ${fate?.steps.at(-1)}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return fate!;
}

/** Makes a call as a step of the current worker. */
async function countStep<T>(name: string, makeCall: () => Promise<T>): Promise<T> {
  const life = currentRun.getStore();
  if (!life) return makeCall();
  if (life.crashed) throw new InjectedCrash();
  await life.pause;
  const mine = life.steps.push(name) === life.crashAtStep;
  if (life.meanwhile) return pausing(life, mine, makeCall);
  if (mine && life.when === "before") {
    life.crashed = true;
    throw new InjectedCrash();
  }
  const call = makeCall();
  life.pendingCalls.add(call);
  const answer = await call.finally(() => life.pendingCalls.delete(call));
  life.crashed ||= mine;
  if (life.crashed) throw new InjectedCrash();
  return answer;
}

async function pausing<T>(
  life: WorkerRun,
  isCrashStep: boolean,
  makeCall: () => Promise<T>,
): Promise<T> {
  if (isCrashStep && life.when === "before") await standingStill(life);
  const call = makeCall();
  life.pendingCalls.add(call);
  const answer = await call.finally(() => life.pendingCalls.delete(call));
  if (isCrashStep && life.when === "after") await standingStill(life);
  // Concurrent calls of a paused process get their responses when it continues.
  await life.pause;
  return answer;
}

async function standingStill(life: WorkerRun): Promise<void> {
  life.pause = currentRun.exit(async () => {
    await Promise.allSettled(life.pendingCalls);
    clock.advanceClock(pauseSeconds);
    await life.meanwhile!();
  });
  await life.pause;
}

type SdkSend = (command: { constructor: { name: string } }, ...rest: never[]) => Promise<unknown>;

/** Makes every call of a client a step. If `sqs` is given, it replaces the queues. */
export function interceptClients(sqs?: SdkSend): void {
  for (const client of [DynamoDbClient, KmsClient, S3Client, SqsClient] as {
    prototype: unknown;
  }[]) {
    const prototype = client.prototype as { send: SdkSend };
    const { send } = prototype;
    prototype.send = function (this: unknown, command, ...rest) {
      const effect = client === SqsClient && sqs ? sqs : send;
      return countStep(command.constructor.name, () => effect.call(this, command, ...rest));
    };
  }
  const { fetch } = globalThis;
  globalThis.fetch = (...request: Parameters<typeof fetch>) =>
    countStep("fetch", () => fetch(...request));
}
