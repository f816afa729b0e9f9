import { now } from "../../clock.ts";
import type { OutgoingEvent } from "../../queues.ts";
import { type DeliveryAttempt, deliverEvent, type EndpointTarget } from "./deliver-event.ts";

const maxParallel = 50;

export interface EndedDelivery {
  outcome: DeliveryAttempt;
  /** Position among all calls, in the order in which they ended. */
  endOrder: number;
}

/**
 * Delivers events to one endpoint. Starts `probeCalls` calls; after the first response it runs up
 * to 50 in parallel. Stops after `probeCalls` timeouts in a row, and starts no call after `until`.
 * Returns the deliveries in the order of the events, undefined for events without a call.
 */
export async function deliverInParallel(
  target: EndpointTarget,
  events: OutgoingEvent[],
  { probeCalls, until }: { probeCalls: number; until: Date },
): Promise<(EndedDelivery | undefined)[]> {
  const deliveries: (EndedDelivery | undefined)[] = events.map(() => undefined);
  const remaining = events.entries();
  const workers: Promise<void>[] = [];
  let [ended, timeouts, running, answered] = [0, 0, 0, false];
  const mayContinue = () => answered && timeouts < probeCalls && now() <= until;
  const work = async () => {
    running++;
    for (const [i, event] of remaining) {
      // If the process was frozen, another worker may have made this call.
      if (now() > until) break;
      const outcome = await deliverEvent(target, event);
      deliveries[i] = { outcome, endOrder: ended++ };
      timeouts = outcome.timedOut ? timeouts + 1 : 0;
      answered ||= !outcome.timedOut;
      if (!mayContinue()) break;
      startWorkers(maxParallel);
    }
    running--;
  };
  const startWorkers = (limit: number) => {
    const missing = Math.min(limit, events.length - ended) - running;
    for (let i = 0; i < missing; i++) workers.push(withHandledRejection(work()));
  };
  startWorkers(probeCalls);
  // Workers start further workers, so the array may grow while it is awaited.
  for (let i = 0; i < workers.length; i++) await workers[i];
  return deliveries;
}

/** Keeps Node.js from reporting the rejection before the promise is awaited. */
function withHandledRejection(work: Promise<void>): Promise<void> {
  work.catch(() => {});
  return work;
}
