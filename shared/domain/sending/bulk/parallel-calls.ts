// Limits the provider calls that one runner has in flight, over all of its chunks. A runner starts
// narrow and widens while the provider accepts mail.

export const minParallelCalls = 4;
export const maxParallelCalls = 32;

export interface ParallelCalls {
  /**
   * Runs `call` as soon as there is room, in order. `most`: how many calls of this kind may be in
   * flight; such a call takes a larger share of the room.
   */
  run<T>(most: number, call: () => Promise<T>): Promise<T>;
  /** The provider asked for a pause or fails: no chunk starts further calls. */
  stop(): void;
  isStopped(): boolean;
}

export function createParallelCalls(width: number): ParallelCalls {
  let [used, isStopped] = [0, false];
  const waiting: { share: number; start: () => void }[] = [];
  // Shares such as a third do not add up to exactly one.
  const fits = (share: number) => used + share <= 1 + 1e-9;
  const startNext = () => {
    for (let next = waiting[0]; next && fits(next.share); next = waiting[0]) {
      waiting.shift();
      used += next.share;
      next.start();
    }
  };
  return {
    async run(most, call) {
      const share = 1 / Math.max(1, Math.min(most, width));
      const entered = Promise.withResolvers<void>();
      waiting.push({ share, start: entered.resolve });
      startNext();
      await entered.promise;
      try {
        return await call();
      } finally {
        used -= share;
        startNext();
      }
    },
    stop: () => {
      isStopped = true;
    },
    isStopped: () => isStopped,
  };
}
