// Stands in for EventBridge: runs each schedule at its interval.
import { now } from "../../shared/clock.ts";

export interface LocalSchedule {
  name: string;
  minutes: number;
  handler(): Promise<void>;
}

export interface Scheduler {
  /** Runs all schedules now. */
  runAll(): Promise<void>;
  /** Waits for running schedules. */
  stop(): Promise<void>;
}

export function startScheduler(
  schedules: LocalSchedule[],
  reportError: (error: unknown) => void,
): Scheduler {
  const running = new Set<Promise<void>>();
  const run = (schedule: LocalSchedule): Promise<void> => {
    const work = schedule
      .handler()
      .catch(reportError)
      .finally(() => running.delete(work));
    running.add(work);
    return work;
  };
  const stops = schedules.map((schedule) =>
    everyMinutes(schedule.minutes, () => void run(schedule)),
  );
  return {
    runAll: async () => {
      await Promise.all(schedules.map(run));
    },
    stop: async () => {
      for (const stop of stops) stop();
      await Promise.all(running);
    },
  };
}

/** Calls at second 0 of every `minutes`th minute. */
function everyMinutes(minutes: number, call: () => void): () => void {
  const every = minutes * 60_000;
  let timer: NodeJS.Timeout;
  const arm = () => {
    timer = setTimeout(
      () => {
        call();
        arm();
      },
      every - (now().getTime() % every),
    );
  };
  arm();
  return () => clearTimeout(timer);
}
