// Plays seeds and planted faults, and describes each in some lines.
import { plantedFaults } from "./planted-faults.ts";
import { loadService } from "./service.ts";
import { shrink } from "./shrink.ts";
import { createPlan, type SimulationResult, type Stage, simulate } from "./simulation.ts";
import { createMemoryTable, type MemoryTable } from "./table.ts";
import { loadCode, prepareWorld } from "./world.ts";

/** One seed, or one planted fault by its index. */
export type Task = { seed: number; hours: number } | { planted: number; hours: number };

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
  table?: MemoryTable;
  /** Receives every call and log line. */
  onTrace?: (line: string) => void;
}

/** Bundles the service and prepares its world. Takes a few seconds. */
export async function createPlayer({
  table = createMemoryTable(),
  onTrace,
}: PlayerOptions = {}): Promise<Player> {
  const code = await loadCode();
  const stage = { code, prepared: await prepareWorld(code, table) };
  return (task) =>
    "seed" in task
      ? playSeed(stage, createPlan(task.seed, task.hours), onTrace)
      : findPlantedFault(stage, task);
}

async function playSeed(
  stage: Stage,
  plan: SimulationResult["plan"],
  onTrace?: (line: string) => void,
): Promise<TaskResult> {
  const result = await simulate(stage, plan, onTrace);
  const { seed, actions, faults } = plan;
  const counts = `${actions.length} actions, ${faults.length} faults, ${result.events} events`;
  const summary = `Seed ${seed}: ${counts}, trace ${result.traceHash}`;
  if (!result.violations.length) return { isGreen: true, summary, story: [] };
  return { isGreen: false, summary, story: tellStory(await shrink(stage, result)) };
}

const tellStory = ({ plan, story, violations }: SimulationResult): string[] => [
  "The shortest story found:",
  ...[...story, ...violations].map((line) => `  ${line}`),
  `Repeat it with: npm run simulate -- --seed ${plan.seed} --hours ${plan.hours}\n`,
];

const maxSeedsToFind = 100;

/** Plays seeds with a planted fault until the books are violated. */
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
  // The code of the fault may have changed since.
  const service = await loadService(fault).catch(() => undefined);
  if (!service) return toResult(false, "cannot be planted");
  for (let seed = 1; seed <= maxSeedsToFind; seed++) {
    const broken = { code: { ...code, service }, prepared };
    const { violations } = await simulate(broken, createPlan(seed, hours));
    if (violations.length) return toResult(true, `seed ${seed}: ${violations[0]}`);
  }
  return toResult(false, "not found");
}
