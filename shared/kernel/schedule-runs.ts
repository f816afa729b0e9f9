// When each schedule ran last. A schedule is recorded every fifth minute, for 2 cents a month.
import { put, queryAll, write } from "../adapters/dynamodb/table.ts";
import { now } from "../clock.ts";
import { type Key, keys, ranges } from "../keys.ts";

interface ScheduleRun {
  at: string;
}

const recordedMinutes = 5;

export async function recordRun(name: string): Promise<void> {
  const time = now();
  if (time.getUTCMinutes() % recordedMinutes !== 0) return;
  const run: ScheduleRun = { at: time.toISOString() };
  await write(put(keys.scheduleRun(name), run));
}

/** The last recorded run of each schedule. */
export const readLastRuns = async (): Promise<{ name: string; lastRunAt: string }[]> =>
  (await queryAll<ScheduleRun & Key>(ranges.scheduleRuns())).map(({ sk, at }) => ({
    name: sk,
    lastRunAt: at,
  }));
