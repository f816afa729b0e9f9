// Finds a shorter story for violated books: leaves out actions and faults as long as the books stay
// violated.
import { type Plan, type SimulationResult, type Stage, simulate } from "./simulation.ts";

/** The shortest violated simulation that was found. */
export async function shrink(
  stage: Stage,
  failed: SimulationResult,
  maxReplays = 60,
): Promise<SimulationResult> {
  let shortest = failed;
  let replays = 0;
  const replay = async (plan: Plan): Promise<boolean> => {
    if (replays++ >= maxReplays) return false;
    const result = await simulate(stage, plan);
    if (result.violations.length) shortest = result;
    return result.violations.length > 0;
  };
  for (const part of ["faults", "actions"] as const)
    for (let size = Math.ceil(failed.plan[part].length / 2); size >= 1; size = halve(size))
      for (let first = 0; first < shortest.plan[part].length; ) {
        const kept = shortest.plan[part].toSpliced(first, size);
        const isShorter = await replay({ ...shortest.plan, [part]: kept });
        if (!isShorter) first += size;
      }
  return shortest;
}

const halve = (size: number): number => (size === 1 ? 0 : Math.ceil(size / 2));
