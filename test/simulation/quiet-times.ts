// Checks the books in the middle of a simulation, at times when nothing is underway.
import { checkBooks } from "./books.ts";
import type { Scene } from "./scene.ts";
import type { Plan } from "./simulation.ts";

/** In milliseconds after the start. */
interface TimeSpan {
  from: number;
  to: number;
}

const minuteMs = 60_000;

/** Most work of an action is done by then. */
const settlingMs = 10 * minuteMs;

/** A check takes less, even if some of its calls are repeated. */
const checkMs = 5 * minuteMs;

/** A read that is not consistent can be 3 seconds old. */
const restMs = 5_000;

const maxChecks = 3;

/** The spans between the actions of callers, up to the time when callers resume what they paused. */
export function quietTimes({ actions, hours }: Pick<Plan, "actions" | "hours">): TimeSpan[] {
  const starts = actions.map(({ at }) => at);
  const ends = [...starts.slice(1), (hours + 1) * 60 * minuteMs];
  return starts
    .map((at, i) => ({ from: at + settlingMs, to: ends[i]! - checkMs }))
    .filter(({ from, to }) => from < to)
    .slice(-maxChecks);
}

/** Checks the books at the first quiet minute of the span. Undefined if there is none. */
export async function checkWhenQuiet(
  scene: Scene,
  { areas }: Plan,
  { from, to }: TimeSpan,
): Promise<string[] | undefined> {
  const { time, start } = scene.world;
  for (let at = start + from; at <= start + to; at += minuteMs) {
    await time.runUntil(at - restMs);
    if (!isQuiet(scene)) continue;
    await time.runUntil(at);
    if (!isQuiet(scene)) continue;
    const violations = await time.runUntilSettled(checkBooks(scene, areas, false));
    // Otherwise something happened during the check.
    const isChecked = isQuiet(scene);
    for (const violation of isChecked ? violations : []) scene.world.tell(violation);
    if (isChecked) return violations;
  }
  return undefined;
}

/**
 * No message, no dead letter and no event of a provider waits, and nothing is due before a check is
 * over.
 */
function isQuiet({ world }: Scene): boolean {
  const { service, outside, table, time } = world;
  const hasMessages = [...service.messages.values()].some((all) => all.length);
  const waits = hasMessages || service.deadLetters.size > 0;
  return !waits && !outside.countOpenPosts() && table.firstDueTime() > time.now() + checkMs;
}
