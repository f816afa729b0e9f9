// Limits the provider calls that one runner has in flight, over all of its chunks. A runner starts
// narrow. Each call that the provider accepts makes it wider by one, so the width doubles in the
// time of one call.

export const minParallelCalls = 4;
export const maxParallelCalls = 32;

export interface ParallelCalls {
  /** The most calls in flight. */
  readonly width: number;
  /**
   * Runs `call` as soon as there is room, in order. `most`: how many calls of this kind may be in
   * flight; such a call takes a larger share of the room.
   */
  run<T>(most: number, call: () => Promise<T>): Promise<T>;
  /** The provider accepted a call. */
  widen(): void;
  /** The provider asked for a pause or fails: no chunk starts further calls. */
  stop(): void;
  isStopped(): boolean;
}

export function createParallelCalls(): ParallelCalls {
  let [width, isStopped] = [minParallelCalls, false];
  const inFlight = new Set<{ most: number }>();
  const waiting: { most: number; start: () => void }[] = [];
  const shareOf = ({ most }: { most: number }) => 1 / Math.max(1, Math.min(most, width));
  const hasRoomFor = (call: { most: number }) => {
    const used = [...inFlight].reduce((sum, other) => sum + shareOf(other), 0);
    // Shares such as a third do not add up to exactly one.
    return used + shareOf(call) <= 1 + 1e-9;
  };
  const startNext = () => {
    for (let next = waiting[0]; next && hasRoomFor(next); next = waiting[0]) {
      waiting.shift();
      inFlight.add(next);
      next.start();
    }
  };
  return {
    get width() {
      return width;
    },
    async run(most, call) {
      const entered = Promise.withResolvers<void>();
      const entry = { most, start: entered.resolve };
      waiting.push(entry);
      startNext();
      await entered.promise;
      try {
        return await call();
      } finally {
        inFlight.delete(entry);
        startNext();
      }
    },
    widen: () => {
      width = Math.min(width + 1, maxParallelCalls);
    },
    stop: () => {
      isStopped = true;
    },
    isStopped: () => isStopped,
  };
}
