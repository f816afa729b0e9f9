// One simulation: a plan of actions and faults, played in a world of its own, with its books
// checked in the end.

import { providerKeys } from "../../shared/providers/provider-keys.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { areaNames, createActions, describeAction, resumeAll, runAction } from "./actions.ts";
import { checkBooks } from "./books.ts";
import { createFaults, type Fault } from "./faults.ts";
import { type Action, createLedger } from "./scene.ts";
import { type Code, createWorld, type PreparedWorld } from "./world.ts";

export interface Plan {
  seed: number;
  hours: number;
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
}

export interface Stage {
  code: Code;
  prepared: PreparedWorld;
}

export function createPlan(seed: number, hours: number): Plan {
  const random = seededRandom(seed);
  const areas = pick(random, areaNames, areasPerWorld);
  const actions = createActions(random, hours, areas);
  const faults = createFaults(
    random,
    actions.map(({ at }) => at),
  );
  const providers = pick(random, providerKeys, providersPerWorld);
  return { seed, hours, providers, areas, actions, faults };
}

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
  const configs = all.configs.filter(({ provider }) => plan.providers.includes(provider));
  const prepared = { ...all, configs };
  const world = createWorld({
    code,
    seed: plan.seed,
    faults: plan.faults,
    start: prepared.endedAt,
    table: prepared.table.copy(),
    apiKey: prepared.apiKey,
    ...(onTrace && { onTrace }),
  });
  const { time, start, outside } = world;
  for (const { call } of prepared.configs) outside.observeConfig(call as never);
  const scene = { world, prepared, ledger: createLedger() };
  const waiting = new Set<Action>();
  for (const action of plan.actions)
    time.after(action.at, () => {
      world.tell(describeAction(action, prepared));
      waiting.add(action);
      runAction(scene, action).then(
        () => waiting.delete(action),
        (error: unknown) => world.tell(`Action ${action.number} failed: ${error}`),
      );
    });
  time.after((plan.hours + 1) * 3_600_000, () => {
    void resumeAll(scene, plan.areas).catch((error: unknown) => world.tell(String(error)));
  });
  const violations = await time
    .runUntil(start + (plan.hours + restHours) * 3_600_000)
    .then(() => time.runUntilSettled(checkBooks(scene, plan.areas)))
    .catch((error: unknown) => [String(error)]);
  for (const { number } of waiting) violations.push(`Action ${number} has no answer`);
  return {
    plan,
    violations,
    story: world.story,
    traceHash: world.traceHash(),
    events: time.count(),
  };
}
