// What goes wrong in a simulation. Each fault waits for its time, lets some calls of its target
// pass, and then strikes one call.

/** What a process of the service calls, and what calls it. */
export type Target = "table" | "queue" | "vault" | "provider" | "receiver" | "service";

export type FaultKind =
  | "dies before"
  | "dies after"
  | "stops"
  | "request lost"
  | "answer lost"
  | "slow"
  | "throttled"
  | "conflict"
  | "refused"
  | "repeated";

export interface Fault {
  /** Milliseconds after the start. */
  at: number;
  target: Target;
  /** How many calls of the target pass first. */
  skip: number;
  kind: FaultKind;
  /** For how many calls the fault lasts. */
  calls: number;
  /** For `slow` and `stops`: how long, in seconds. For `refused`: the status. */
  amount: number;
}

const kindsByTarget: Record<Target, FaultKind[]> = {
  table: [
    "dies before",
    "dies after",
    "dies after",
    "stops",
    "request lost",
    "answer lost",
    "answer lost",
    "slow",
    "throttled",
    "conflict",
  ],
  queue: ["dies before", "dies after", "answer lost", "throttled", "slow", "repeated", "repeated"],
  vault: ["dies before", "throttled"],
  provider: [
    "dies before",
    "dies after",
    "stops",
    "request lost",
    "answer lost",
    "slow",
    "refused",
    "refused",
  ],
  receiver: ["dies after", "answer lost", "request lost", "refused"],
  service: ["answer lost", "request lost", "slow", "repeated"],
};

const weights: [Target, number][] = [
  ["table", 9],
  ["queue", 3],
  ["vault", 1],
  ["provider", 6],
  ["receiver", 2],
  ["service", 5],
];

/** Faults within some seconds after one of the given times, at which something happens. */
export function createFaults(random: () => number, times: number[]): Fault[] {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  const targets = weights.flatMap(([target, weight]) => Array<Target>(weight).fill(target));
  const count = Math.floor(random() * 12);
  return Array.from({ length: count }, () => {
    const target = pick(targets);
    const kind = pick(kindsByTarget[target]);
    return {
      at: Math.round(pick(times) + random() ** 2 * 20_000),
      target,
      skip: target === "table" ? Math.floor(random() ** 2 * 80) : Math.floor(random() ** 2 * 6),
      kind,
      calls: 1 + Math.floor(random() ** 4 * 8),
      amount: kind === "refused" ? pick([500, 503, 429]) : Math.round(1 + random() ** 3 * 900),
    };
  }).toSorted((a, b) => a.at - b.at);
}

/**
 * A fault that has not struck by then is over. The work that it disturbed gets its next attempts
 * later.
 */
const maxFaultMs = 4 * 3_600_000;

/** Finds the fault that strikes a call. */
export function createFaultPlan(faults: Fault[]) {
  const open = faults.map((fault) => ({ fault, skip: fault.skip, calls: fault.calls }));
  return {
    /** The fault of this call at `at` milliseconds after the start, if one strikes it. */
    strike(target: Target, at: number): Fault | undefined {
      for (const one of open) {
        const isOver = one.calls === 0 || at > one.fault.at + maxFaultMs;
        if (one.fault.target !== target || one.fault.at > at || isOver) continue;
        if (one.skip-- > 0) continue;
        one.calls--;
        return one.fault;
      }
      return undefined;
    },
  };
}

const seconds = (n: number) => (n === 1 ? "a second" : `${n} seconds`);

/** What a fault does, as the end of a sentence about a call. */
export const describeFault: Record<FaultKind, (fault: Fault) => string> = {
  "dies before": () => "and the process dies before the call",
  "dies after": () => "and the process dies after the call took effect, before the answer",
  stops: ({ amount }) => `and the process stops for ${seconds(amount)} before the call`,
  "request lost": () => "and the request is lost",
  "answer lost": () => "and the answer is lost after the call took effect",
  slow: ({ amount }) => `and the call takes ${seconds(amount)} to arrive`,
  throttled: () => "and the call is throttled",
  conflict: () => "and the call conflicts with another transaction",
  refused: ({ amount }) => `and the call is refused with status ${amount}`,
  repeated: () => "and the message arrives twice",
};
