import { measureUnits } from "./adapters/dynamodb/capacity.ts";
import { now } from "./clock.ts";
import * as log from "./kernel/log.ts";
import { recordRun } from "./kernel/schedule-runs.ts";

export interface Schedule {
  minutes: number;
  name: string;
  handler(): Promise<void>;
}

/**
 * Defines a schedule that enqueues due work. Missing a run is harmless, because the next run finds
 * the same work.
 */
export const everyMinutes = (
  minutes: number,
  name: string,
  enqueueDueWork: (now: Date) => Promise<void>,
): Schedule => ({
  minutes,
  name,
  handler: async () => {
    const { usage } = await measureUnits(() => enqueueDueWork(now()));
    await recordRun(name);
    log.info("scheduled run", {
      tick: name,
      readUnits: usage.readUnits,
      writeUnits: usage.writeUnits,
    });
  },
});
