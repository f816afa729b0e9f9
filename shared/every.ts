import { now } from "./clock.ts";
import { metered } from "./doors/meter.ts";
import * as log from "./log.ts";

export interface Tick {
  minutes: number;
  name: string;
  handler(): Promise<void>;
}

/** A tick brings on its way whatever has fallen due by now. Missing one is harmless: the next finds the same work. */
export const every = (minutes: number, name: string, work: (now: Date) => Promise<void>): Tick => ({
  minutes,
  name,
  handler: async () => {
    const { usage } = await metered(() => work(now()));
    log.info("tick", { tick: name, readUnits: usage.readUnits, writeUnits: usage.writeUnits });
  },
});
