// The only source of time. The local runner may move it forward, so a 14-day sequence can be tried in a second.
let offsetMs = 0;

export const now = (): Date => new Date(Date.now() + offsetMs);

/** Seconds since 1970, rounded down: the unit of `expires` attributes and of rate windows. */
export const epochSeconds = (at: Date = now()): number => Math.floor(at.getTime() / 1000);

export const after = (seconds: number, from: Date = now()): Date => new Date(from.getTime() + seconds * 1000);

/** Moves the clock of this process forward. For the local runner and tests only. */
export const advance = (seconds: number): void => {
  offsetMs += seconds * 1000;
};

export const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
