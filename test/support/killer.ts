// Kills a worker at any of its steps. A step is a call at one of the doors: to DynamoDB, SQS, S3, KMS or a mail provider. The worker
// dies before the n-th, or after it took effect and before it is answered; whatever it tries from then on fails.
import { AsyncLocalStorage } from "node:async_hooks";
import { KMSClient } from "@aws-sdk/client-kms";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

interface Life {
  endsAt: number;
  when: When;
  steps: string[];
  dead: boolean;
  /** Calls on their way. What they do they have done when the story goes on. */
  open: Set<Promise<unknown>>;
}
export type When = "before" | "after";

class Death extends Error {}
const lives = new AsyncLocalStorage<Life>();

export interface Fate {
  /** False when the work was done before the step came. */
  died: boolean;
  /** Names of the steps, the last one the deadly one. */
  steps: string[];
}

/** Runs a worker until its `endsAt`-th step. */
export async function killed(endsAt: number, when: When, work: () => Promise<unknown>): Promise<Fate> {
  const life: Life = { endsAt, when, steps: [], dead: false, open: new Set() };
  try {
    await lives.run(life, work);
  } catch (error) {
    if (!life.dead) throw error;
  }
  await Promise.allSettled(life.open);
  return { died: life.dead, steps: life.steps };
}

type Story = (kill: (work: () => Promise<unknown>) => Promise<Fate>) => Promise<void>;

/** Has `story` told once for each step that `work` makes, with a worker who dies there. Answers with the steps of one who lives. */
export const atEveryStep = (story: Story): Promise<string[]> => atSteps(story, 1, 0);

/**
 * For stories that take long: every `stride`-th step, others in every run; all of them where EVERY_STEP is set
 * (`npm run test:every-step`).
 */
export function atSomeSteps(stride: number, story: Story): Promise<string[]> {
  return process.env.EVERY_STEP ? atEveryStep(story) : atSteps(story, stride, Math.floor(Math.random() * stride));
}

async function atSteps(story: Story, stride: number, offset: number): Promise<string[]> {
  const told: string[] = [];
  for (const [i, when] of (["before", "after"] as const).entries())
    for (let n = 1 + ((offset + i) % stride), died = true; died; n += stride) {
      died = false;
      let fate: Fate | undefined;
      try {
        await story(async (work) => {
          fate = await killed(n, when, work);
          died = fate.died;
          return fate;
        });
      } catch (error) {
        throw new Error(`Dead ${when} step ${n}, ${fate?.steps.at(-1)}: ${(error as Error).message}`, { cause: error });
      }
      if (!died) told.push(...fate!.steps.map((name) => `${when} ${name}`));
    }
  return told;
}

/** A call of a door, as a step of whoever makes it. */
async function step<T>(name: string, effect: () => Promise<T>): Promise<T> {
  const life = lives.getStore();
  if (!life) return effect();
  if (life.dead) throw new Death();
  const mine = life.steps.push(name) === life.endsAt;
  if (mine && life.when === "before") {
    life.dead = true;
    throw new Death();
  }
  const call = effect();
  life.open.add(call);
  const answer = await call.finally(() => life.open.delete(call));
  life.dead ||= mine;
  if (life.dead) throw new Death();
  return answer;
}

type Send = (command: { constructor: { name: string } }, ...rest: never[]) => Promise<unknown>;

/** Makes every call of a door a step. `sqs` takes the place of the queues, where given. */
export function armed(sqs?: Send): void {
  for (const client of [DynamoDBDocumentClient, KMSClient, S3Client, SQSClient] as { prototype: unknown }[]) {
    const prototype = client.prototype as { send: Send };
    const { send } = prototype;
    prototype.send = function (this: unknown, command, ...rest) {
      const effect = client === SQSClient && sqs ? sqs : send;
      return step(command.constructor.name, () => effect.call(this, command, ...rest));
    };
  }
  const { fetch } = globalThis;
  globalThis.fetch = (...request: Parameters<typeof fetch>) => step("fetch", () => fetch(...request));
}
