// The simulated clock. Everything that happens later is an event on it: the arrival of a call, its
// answer, a timer. One event runs at a time, and the next one when the process is quiet.

export interface SimulatedTime {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs `work` after the delay, unless the returned function is called before. */
  after(delayMs: number, work: () => void): () => void;
  /** Runs all events up to this time, and moves the clock there. */
  runUntil(time: number): Promise<void>;
  /** Runs events until the promise is settled. Throws when it is not within a simulated day. */
  runUntilSettled<T>(promise: Promise<T>): Promise<T>;
  /** The number of events so far. */
  count(): number;
}

interface TimedEvent {
  at: number;
  /** The order of events with the same time. */
  order: number;
  work: (() => void) | undefined;
}

/** A simulation has up to 40,000 events. */
const maxEvents = 120_000;

export function createSimulatedTime(start: number): SimulatedTime {
  const heap: TimedEvent[] = [];
  let now = start;
  let order = 0;
  let ran = 0;

  async function runNext(): Promise<void> {
    const event = pop(heap)!;
    if (!event.work) return;
    now = Math.max(now, event.at);
    if (ran++ > maxEvents) throw new Error("The service does not come to rest");
    event.work();
    await untilQuiet();
  }

  return {
    now: () => now,
    count: () => ran,
    after(delayMs, work) {
      const event: TimedEvent = { at: now + Math.max(0, delayMs), order: order++, work };
      push(heap, event);
      return () => {
        event.work = undefined;
      };
    },
    async runUntil(time) {
      await untilQuiet();
      while (heap[0] && heap[0].at <= time) await runNext();
      now = Math.max(now, time);
    },
    async runUntilSettled(promise) {
      let isSettled = false;
      const settle = () => {
        isSettled = true;
      };
      promise.then(settle, settle);
      const end = now + 86_400_000;
      await untilQuiet();
      while (!isSettled) {
        if (!heap[0] || heap[0].at > end) throw new Error("A call has no answer after a day");
        await runNext();
      }
      return promise;
    },
  };
}

/** All promises of this turn have run: no call of the simulation leaves the process. */
const untilQuiet = () => new Promise<void>((resolve) => setImmediate(resolve));

const isBefore = (a: TimedEvent, b: TimedEvent): boolean =>
  a.at < b.at || (a.at === b.at && a.order < b.order);

function push(heap: TimedEvent[], event: TimedEvent): void {
  let i = heap.push(event) - 1;
  for (let parent = (i - 1) >> 1; i > 0 && isBefore(event, heap[parent]!); parent = (i - 1) >> 1) {
    heap[i] = heap[parent]!;
    heap[parent] = event;
    i = parent;
  }
}

function pop(heap: TimedEvent[]): TimedEvent | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (!last || first === last) return first;
  heap[0] = last;
  for (let i = 0; ; ) {
    const [left, right] = [2 * i + 1, 2 * i + 2];
    let least = i;
    if (heap[left] && isBefore(heap[left], heap[least]!)) least = left;
    if (heap[right] && isBefore(heap[right], heap[least]!)) least = right;
    if (least === i) return first;
    [heap[i], heap[least]] = [heap[least]!, heap[i]!];
    i = least;
  }
}
