// One simulation: a plan of actions and faults, played in a world of its own, with its books
// checked in the end.

import { webhookProviderKeys } from "../../shared/providers/provider-keys.ts";
import { seededRandom } from "../support/seeded-random.ts";
import {
  areaNames,
  areasOf,
  createActions,
  describeAction,
  resumeAll,
  runAction,
} from "./actions.ts";
import { checkBooks } from "./books.ts";
import { createFaults, createOutage, type Fault } from "./faults.ts";
import { checkWhenQuiet, quietTimes } from "./quiet-times.ts";
import { watchMails } from "./safety.ts";
import { type Action, createLedger, type Scene } from "./scene.ts";
import { watchUncertain } from "./uncertain-mail.ts";
import { type Code, createWorld, type PreparedWorld } from "./world.ts";

export interface Plan {
  seed: number;
  hours: number;
  /** Deliveries of a message before it is a dead letter. Undefined: as its queue says. */
  attempts?: number | undefined;
  /** The providers that callers send with. */
  providers: string[];
  /** The parts of the service that callers use, apart from sending. */
  areas: string[];
  actions: Action[];
  faults: Fault[];
}

export interface SimulationResult {
  plan: Plan;
  /** Empty if the books are in order. */
  violations: string[];
  story: string[];
  traceHash: string;
  events: number;
  /** How often the books were checked. */
  checks: number;
  /** How many dead letters an operator redrove. */
  deadLetters: number;
}

export interface Stage {
  code: Code;
  prepared: PreparedWorld;
}

export interface PlanOptions {
  /** The numbers of the actions and faults that the plan keeps. Undefined: all. */
  actions?: number[] | undefined;
  faults?: number[] | undefined;
  attempts?: number | undefined;
}

export function createPlan(seed: number, hours: number, options: PlanOptions = {}): Plan {
  const random = seededRandom(seed);
  const areas = pick(random, areaNames, areasPerWorld);
  const actions = createActions(random, hours, areas);
  const faults = createFaults(
    random,
    actions.map(({ at }) => at),
  );
  const providers = pick(random, webhookProviderKeys, providersPerWorld);
  const outage = createOutage(
    random,
    actions.map(({ at }) => at),
    faults.length + 1,
  );
  return {
    seed,
    hours,
    attempts: options.attempts,
    providers,
    areas,
    actions: keep(actions, options.actions),
    faults: keep([...faults, ...outage], options.faults),
  };
}

const keep = <T extends { number: number }>(all: T[], numbers: number[] | undefined): T[] =>
  numbers ? all.filter(({ number }) => numbers.includes(number)) : all;

const areasPerWorld = 2;
const providersPerWorld = 3;

function pick<T>(random: () => number, from: readonly T[], n: number): T[] {
  const left = [...from];
  const count = Math.min(n, left.length);
  return Array.from(
    { length: count },
    () => left.splice(Math.floor(random() * left.length), 1)[0]!,
  );
}

/**
 * How long a world gets to come to rest: longer than every lease, retry and backoff, and until the
 * counters of the first day are rolled up.
 */
const restHours = 30;

export async function simulate(
  { code, prepared: all }: Stage,
  plan: Plan,
  onTrace?: (line: string) => void,
): Promise<SimulationResult> {
  const table = all.table.copy();
  const configs = all.configs.filter(({ provider }) => plan.providers.includes(provider));
  const prepared = { ...all, configs };
  const world = createWorld({
    code,
    seed: plan.seed,
    faults: plan.faults,
    start: prepared.endedAt,
    table,
    apiKey: prepared.apiKey,
    attempts: plan.attempts,
    ...(onTrace && { onTrace }),
  });
  const { time, outside } = world;
  if (plan.faults.some(({ kind }) => kind === "stale")) table.keepHistory(time.now);
  for (const { call } of prepared.configs) outside.observeConfig(call as never);
  const scene = { world, prepared, ledger: createLedger() };
  const waiting = new Set<Action>();
  for (const { kind, at, amount, number } of plan.faults)
    if (kind === "away")
      time.after(at, () => world.tell(`Fault ${number}: the table is away for ${amount} seconds`));
  for (const action of plan.actions)
    time.after(action.at, () => {
      world.tell(describeAction(action, prepared));
      waiting.add(action);
      runAction(scene, action).then(
        () => waiting.delete(action),
        (error: unknown) => world.tell(`Action ${action.number} failed: ${error}`),
      );
    });
  const violations = watchMails(scene, plan.actions);
  if (outside.hasPromptSearches) watchUncertain(scene, violations);
  let checks = 0;
  let deadLetters = 0;
  const { stackTraceLimit } = Error;
  // A simulation creates thousands of errors. Their stacks would take a tenth of its CPU time.
  Error.stackTraceLimit = 0;
  try {
    for (const times of quietTimes(plan)) {
      if (violations.length) break;
      const found = await checkWhenQuiet(scene, plan, times);
      if (found) checks++;
      violations.push(...(found ?? []));
    }
    deadLetters = await comeToRest(scene, plan);
    const found = await time.runUntilSettled(checkBooks(scene, plan.areas, true));
    checks++;
    violations.push(...found);
  } catch (error) {
    violations.push(String(error));
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  for (const { number } of waiting) violations.push(`Action ${number} has no answer`);
  return {
    plan,
    violations,
    story: world.story,
    traceHash: world.traceHash(),
    events: time.count(),
    checks,
    deadLetters,
  };
}

/**
 * Callers resume what they paused, an operator redrives dead letters, and in some worlds callers act
 * once more after some days. Returns the number of dead letters.
 */
async function comeToRest(scene: Scene, { hours, areas }: Plan): Promise<number> {
  const { time, start } = scene.world;
  await time.runUntil(start + (hours + 1) * hourMs);
  await time.runUntilSettled(resumeAll(scene, areas));
  await time.runUntil(start + (hours + redriveHours) * hourMs);
  const deadLetters = scene.world.service.redrive();
  let restAt = start + (hours + restHours) * hourMs;
  await time.runUntil(restAt);
  for (const { late } of areasOf(areas)) {
    if (!late) continue;
    await time.runUntil(restAt + late.hours * hourMs);
    await time.runUntilSettled(late.run(scene));
    restAt = time.now() + lateRestHours * hourMs;
    await time.runUntil(restAt);
  }
  return deadLetters;
}

const hourMs = 3_600_000;

/** By then no fault strikes any more, and the last attempt of every message is made. */
const redriveHours = 6;

/** Mail that is sent again has its events by then. */
const lateRestHours = 3;
