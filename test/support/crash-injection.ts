// Kills a worker at any of its steps, or lets it stand still there. A step is a call at one of the
// doors: to DynamoDB, SQS, S3, KMS or a mail provider. The worker dies before the n-th, or after it
// took effect and before it is answered; whatever it tries from then on fails. A worker that stands
// still goes on later, when its lease is over and another worker has done its work.
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
  /** Calls on their way. What they do they have done when the story goes on. */
  pendingCalls: Set<Promise<unknown>>;
  /** Instead of dying: what happens while the worker stands still. */
  meanwhile?: (() => Promise<unknown>) | undefined;
  /** While the worker stands still. */
  pause?: Promise<unknown>;
}
export type CrashMoment = "before" | "after";

class InjectedCrash extends Error {}
const currentRun = new AsyncLocalStorage<WorkerRun>();

export interface CrashResult {
  /** False when the work was done before the step came. */
  crashed: boolean;
  /** Names of the steps, the last one the deadly one. */
  steps: string[];
}

/** Runs a worker until its `endsAt`-th step. */
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

/** Longer than any lease. */
const pauseSeconds = 15 * 60 - 10;

/**
 * Runs a worker that stands still before or after its `pausesAt`-th step, as a process that is
 * stopped and continued. Its leases end,
 * `meanwhile` happens, and then it goes on where it was.
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
 * Runs `story` once for each step that `work` makes, and kills the worker there. Returns the steps
 * of a worker that survives.
 */
export const crashAtEveryStep = (story: CrashScenario): Promise<string[]> =>
  atAll(story, runUntilCrash);

/**
 * For stories that take long: kills the worker at a sample of its steps, which the seed of the run
 * decides (`SEED=`, printed when the run starts), and at every step in `npm run test:all`.
 */
export const crashAtSomeSteps = (story: CrashScenario): Promise<string[]> =>
  (everything ? atAll : atSample)(story, runUntilCrash);

/**
 * Like `atSomeSteps`, but the worker pauses there while `meanwhile` happens, and then continues.
 */
export const pausedAtSomeSteps = (
  meanwhile: () => Promise<unknown>,
  story: CrashScenario,
): Promise<string[]> =>
  (everything ? atAll : atSample)(story, (n, when, work) => paused(n, when, work, meanwhile));

/** Both in `npm run test:all`, one of them in `npm test`. */
export const interruptions = sampleOf(1, ["dies", "is paused"] as const, "interruptions");
/**
 * Interrupts `work`. `rest` is what other workers do later: after the death, or during the pause
 * and again after it.
 */
type Interrupt = (
  work: () => Promise<unknown>,
  rest: () => Promise<unknown>,
) => Promise<CrashResult>;

/**
 * Like `atSomeSteps`, for stories that must end the same whether the worker dies or is paused past
 * its lease.
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
 * One run in which the worker survives shows how many steps there are. Another kills it in the first
 * half of them, and another in the second.
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

/** A call of a door, as a step of whoever makes it. */
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
  // The others hear of what they asked for when the process goes on.
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

/** Makes every call of a door a step. `sqs` takes the place of the queues, where given. */
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
