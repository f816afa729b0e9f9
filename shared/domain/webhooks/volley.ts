// Many calls of one endpoint, side by side.
import { now } from "../../clock.ts";
import type { OutgoingEvent } from "../../queues.ts";
import { type Outcome, post, type Target } from "./calls.ts";

const mostAtOnce = 50;

export interface Called {
  outcome: Outcome;
  /** Its place among all, by the time they ended. */
  order: number;
}

/**
 * Outcomes in the order of the events; undefined for those that were not called. `width` calls begin, and the others follow once one
 * of these has been answered. As many calls in a row without an answer in time end it; so does the time `until`, for calls not yet begun.
 */
export async function volley(target: Target, events: OutgoingEvent[], width: number, until: Date): Promise<(Called | undefined)[]> {
  const called: (Called | undefined)[] = events.map(() => undefined);
  const open = events.entries();
  const workers: Promise<void>[] = [];
  let [ended, timeouts, alive, answered] = [0, 0, 0, false];
  const mayGoOn = () => answered && timeouts < width && now() <= until;
  const worker = async () => {
    alive++;
    for (const [i, event] of open) {
      const outcome = await post(target, event);
      called[i] = { outcome, order: ended++ };
      timeouts = outcome.timedOut ? timeouts + 1 : 0;
      answered ||= !outcome.timedOut;
      if (!mayGoOn()) break;
      widen(mostAtOnce);
    }
    alive--;
  };
  const widen = (to: number) => {
    for (let more = Math.min(to, events.length - ended) - alive; more > 0; more--) workers.push(begun(worker()));
  };
  widen(width);
  for (let i = 0; i < workers.length; i++) await workers[i];
  return called;
}

/** Whether it fails is seen when its turn to be awaited comes. */
function begun(work: Promise<void>): Promise<void> {
  work.catch(() => {});
  return work;
}
