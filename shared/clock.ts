// The only source of time. The local runner can move it forward, so that a 14-day sequence can be
// tried in a second.
let offsetMs = 0;

export const now = (): Date => new Date(Date.now() + offsetMs);

/** The clock of the computer, which nobody moves: for signatures that other services check. */
export const systemTime = (): Date => new Date();

/** Seconds since 1970, rounded down: the unit of `expires` attributes and of rate windows. */
export const epochSeconds = (time: Date = now()): number => Math.floor(time.getTime() / 1000);

export const addSeconds = (seconds: number, time: Date = now()): Date =>
  new Date(time.getTime() + seconds * 1000);

/** Whole seconds from now, not below 0; NaN for an invalid date. */
export const secondsUntil = (at: Date): number =>
  Math.max(0, Math.ceil((at.getTime() - now().getTime()) / 1000));

/** Moves the clock of this process forward. For the local runner and tests only. */
export const advanceClock = (seconds: number): void => {
  offsetMs += seconds * 1000;
};

/** Yields to other pending work of this process. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
