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
  | "repeated"
  | "away"
  | SpecialFaultKind;

/**
 * These strike only calls that can have them. `stale`: a read that is not strongly consistent.
 * `unprocessed`: a batch.
 */
export type SpecialFaultKind = "stale" | "unprocessed";

export interface Fault {
  /** Identifies the fault in its plan. */
  number: number;
  /** Milliseconds after the start. */
  at: number;
  target: Target;
  /** How many calls of the target pass first. */
  skip: number;
  kind: FaultKind;
  /** For how many calls the fault lasts. */
  calls: number;
  /**
   * For `slow`, `stops` and `away`: how long, in seconds. For `stale`: how old the answer is, in seconds.
   * For `refused`: the status.
   */
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
    "stale",
    "stale",
    "unprocessed",
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
  const drawn = Array.from({ length: count }, () => {
    const target = pick(targets);
    const kind = pick(kindsByTarget[target]);
    return {
      at: Math.round(pick(times) + random() ** 2 * 20_000),
      target,
      skip: target === "table" ? Math.floor(random() ** 2 * 80) : Math.floor(random() ** 2 * 6),
      kind,
      calls: 1 + Math.floor(random() ** 4 * (kind === "stale" ? 200 : 8)),
      amount: drawAmount(kind, random),
    };
  }).toSorted((a, b) => a.at - b.at);
  return drawn.map((fault, i) => ({ number: i + 1, ...fault }));
}

/** In some worlds, the table is away for seconds after one of the given times. */
export function createOutage(random: () => number, times: number[], number: number): Fault[] {
  if (random() >= outageShare || !times.length) return [];
  const at = times[Math.floor(random() * times.length)]! + Math.round(random() ** 2 * 10_000);
  const amount = 2 + Math.round(random() * 3);
  return [{ number, at, target: "table", skip: 0, kind: "away", calls: 1, amount }];
}

const outageShare = 0.15;

const drawAmount = (kind: FaultKind, random: () => number): number => {
  if (kind === "refused") return [500, 503, 429][Math.floor(random() * 3)]!;
  return kind === "stale"
    ? 1 + Math.floor(random() * maxStaleSeconds)
    : Math.round(1 + random() ** 3 * 900);
};

/** Indexes of a table under load lag behind by so much. */
const maxStaleSeconds = 3;

/**
 * A fault that has not struck by then is over. The work that it disturbed gets its next attempts
 * later.
 */
const maxFaultMs = 4 * 3_600_000;

const specialKinds = new Set<FaultKind>(["stale", "unprocessed"] satisfies SpecialFaultKind[]);

/** Finds the fault that strikes a call. */
export function createFaultPlan(faults: Fault[]) {
  const outage = faults.find(({ kind }) => kind === "away");
  const others = faults.filter((fault) => fault !== outage);
  const open = others.map((fault) => ({ fault, skip: fault.skip, calls: fault.calls }));
  let lastEnd = 0;
  const strikes: number[] = [];
  return {
    /** When the last effect of the faults so far ends, in milliseconds after the start. */
    lastEnd: () => lastEnd,
    outage,
    /** How many calls faults struck at or after a time, in milliseconds after the start. */
    countSince: (at: number) => strikes.filter((struckAt) => struckAt >= at).length,
    /**
     * The fault of this call at `at` milliseconds after the start, if one strikes it. `special` is
     * the kind that only some calls can have, and this one can.
     */
    strike(target: Target, at: number, special?: SpecialFaultKind): Fault | undefined {
      if (outage && target === outage.target && isDuring(outage, at)) {
        lastEnd = Math.max(lastEnd, outage.at + durationMs(outage));
        return outage;
      }
      for (const one of open) {
        const isOver = one.calls === 0 || at > one.fault.at + maxFaultMs;
        if (one.fault.target !== target || one.fault.at > at || isOver) continue;
        if (specialKinds.has(one.fault.kind) && one.fault.kind !== special) continue;
        if (one.skip-- > 0) continue;
        one.calls--;
        strikes.push(at);
        lastEnd = Math.max(lastEnd, at + durationMs(one.fault));
        return one.fault;
      }
      return undefined;
    },
  };
}

const lastingKinds = new Set<FaultKind>(["stops", "slow", "away"]);
const durationMs = ({ kind, amount }: Fault): number =>
  lastingKinds.has(kind) ? amount * 1000 : 0;

/** `at` is in milliseconds after the start. */
export const isDuring = (outage: Fault, at: number): boolean =>
  at >= outage.at && at < outage.at + durationMs(outage);

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
  repeated: () => "and the call arrives twice",
  away: () => "and the connection is refused",
  stale: ({ amount }) => `and reads what was stored ${seconds(amount)} before`,
  unprocessed: () => "and a part of the batch is not processed",
};
