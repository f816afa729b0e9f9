// What EventBridge does in the cloud: calls each tick on its minutes.
import { now } from "../../shared/clock.ts";

export interface Tick {
  name: string;
  minutes: number;
  handler(): Promise<void>;
}

export interface Ticking {
  /** All of them, now. */
  run(): Promise<void>;
  /** Waits for those that are running. */
  stop(): Promise<void>;
}

export function ticking(ticks: Tick[], report: (error: unknown) => void): Ticking {
  const running = new Set<Promise<void>>();
  const run = (tick: Tick): Promise<void> => {
    const work = tick
      .handler()
      .catch(report)
      .finally(() => running.delete(work));
    running.add(work);
    return work;
  };
  const stops = ticks.map((tick) => onItsMinutes(tick.minutes, () => void run(tick)));
  return {
    run: async () => {
      await Promise.all(ticks.map(run));
    },
    stop: async () => {
      for (const stop of stops) stop();
      await Promise.all(running);
    },
  };
}

/** At 0 seconds of every `minutes`th minute. */
function onItsMinutes(minutes: number, call: () => void): () => void {
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
