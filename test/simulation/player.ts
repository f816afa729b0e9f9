// Plays seeds and planted faults, and describes each in some lines.
import { plantedFaults } from "./planted-faults.ts";
import { loadService } from "./service.ts";
import { shrink } from "./shrink.ts";
import {
  createPlan,
  type PlanOptions,
  type SimulationResult,
  type Stage,
  simulate,
} from "./simulation.ts";
import type { MemoryTable } from "./table.ts";
import { loadCode, prepareWorld } from "./world.ts";

/** One seed, or one planted fault by its index. */
export type Task = SeedTask | { planted: number; hours: number };

interface SeedTask {
  seed: number;
  hours: number;
  options?: PlanOptions;
}

export interface TaskResult {
  /** The books of a seed hold, or the planted fault is found. */
  isGreen: boolean;
  /** One sentence. */
  summary: string;
  /** The shortest story of a violation. */
  story: string[];
}

export type Player = (task: Task) => Promise<TaskResult>;

interface PlayerOptions {
  table?: MemoryTable | undefined;
  /** Receives every call and log line. */
  onTrace?: (line: string) => void;
}

/** Bundles the service and prepares its world. Takes a few seconds. */
export async function createPlayer({ table, onTrace }: PlayerOptions = {}): Promise<Player> {
  const code = await loadCode();
  const stage = { code, prepared: await prepareWorld(code, table) };
  return (task) =>
    "seed" in task ? playSeed(stage, task, onTrace) : findPlantedFault(stage, task);
}

async function playSeed(
  stage: Stage,
  { seed, hours, options = {} }: SeedTask,
  onTrace?: (line: string) => void,
): Promise<TaskResult> {
  const plan = createPlan(seed, hours, options);
  const result = await simulate(stage, plan, onTrace);
  const { actions, faults } = plan;
  const counts = `${actions.length} actions, ${faults.length} faults`;
  const summary =
    `Seed ${seed}: ${counts}, ${result.deadLetters} dead letters, ${result.checks} checks, ` +
    `${result.events} events, trace ${result.traceHash}`;
  if (!result.violations.length) return { isGreen: true, summary, story: [] };
  const isShort = options.actions !== undefined || options.faults !== undefined;
  const shortest = isShort ? result : await shrink(stage, result);
  return { isGreen: false, summary, story: tellStory(shortest) };
}

const tellStory = ({ plan, story, violations }: SimulationResult): string[] => [
  "The shortest story found:",
  ...[...story, ...violations].map((line) => `  ${line}`),
  `Repeat it with: npm run simulate -- ${toArguments(plan)}\n`,
];

/** The arguments that play this plan. */
const toArguments = ({
  seed,
  hours,
  attempts,
  actions,
  faults,
}: SimulationResult["plan"]): string =>
  `--seed ${seed} --hours ${hours}${attempts ? ` --attempts ${attempts}` : ""} ` +
  `--actions ${listNumbers(actions)} --faults ${listNumbers(faults)}`;

const listNumbers = (all: { number: number }[]): string =>
  all.map(({ number }) => number).join(",") || "none";

const maxSeedsToFind = 100;

/** Plays seeds with a planted fault until the books are violated: first its stored seed. */
async function findPlantedFault(
  { code, prepared }: Stage,
  { planted, hours }: { planted: number; hours: number },
): Promise<TaskResult> {
  const fault = plantedFaults[planted]!;
  const toResult = (isGreen: boolean, what: string) => ({
    isGreen,
    summary: `${fault.name}: ${what}`,
    story: [],
  });
  const service = await loadService(fault);
  const seeds = new Set([fault.seed, ...Array.from({ length: maxSeedsToFind }, (_, i) => i + 1)]);
  for (const seed of seeds) {
    const broken = { code: { ...code, service }, prepared };
    const { violations } = await simulate(broken, createPlan(seed, hours));
    const instead = seed === fault.seed ? "" : ` instead of ${fault.seed}`;
    if (violations.length) return toResult(true, `seed ${seed}${instead}: ${violations[0]}`);
  }
  return toResult(false, "not found");
}
