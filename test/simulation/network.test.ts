import { expect, test } from "vitest";
import { seededRandom } from "../support/seeded-random.ts";
import {
  createFaultPlan,
  createFaults,
  createOutage,
  type Fault,
  type FaultKind,
} from "./faults.ts";
import { createProcess } from "./machine.ts";
import { CallRefused, ConnectionLost, createNetwork } from "./network.ts";
import { createSimulatedTime } from "./simulated-time.ts";

/** What a call without a fault does. */
const usual = {
  effects: 1,
  outcome: "answered",
  isAlive: true,
  isLate: false,
  /** The effect depends on the fault. */
  isSpecial: false,
};

const expected: Record<FaultKind, Partial<typeof usual>> = {
  "dies before": { effects: 0, outcome: "none", isAlive: false },
  "dies after": { outcome: "none", isAlive: false },
  stops: { outcome: "timed out", isLate: true },
  "request lost": { effects: 0, outcome: "lost" },
  "answer lost": { outcome: "lost" },
  slow: { outcome: "timed out", isLate: true },
  throttled: { effects: 0, outcome: "refused" },
  conflict: { effects: 0, outcome: "refused" },
  refused: { effects: 0, outcome: "refused" },
  repeated: { effects: 2 },
  away: { effects: 0, outcome: "refused" },
  stale: { isSpecial: true },
  unprocessed: { isSpecial: true },
};

test("each kind of fault changes what a call does, and worlds draw each kind", async () => {
  const kinds = Object.keys(expected) as FaultKind[];
  const results = await Promise.all(kinds.map(async (kind) => [kind, await callWith(kind)]));
  expect(Object.fromEntries(results)).toEqual(
    Object.fromEntries(kinds.map((kind) => [kind, { ...usual, ...expected[kind] }])),
  );
  expect(await callWith(undefined)).toEqual(usual);
  const random = seededRandom(1);
  const drawn = Array.from({ length: 100 }, () => [
    ...createFaults(random, [0]),
    ...createOutage(random, [0], 1),
  ]).flat();
  expect(new Set(drawn.map(({ kind }) => kind))).toEqual(new Set(kinds));
});

/** Makes one call that the fault strikes. */
async function callWith(kind: FaultKind | undefined): Promise<typeof usual> {
  const time = createSimulatedTime(0);
  const fault = { number: 1, at: 0, target: "queue", skip: 0, calls: 1, amount: 60 } as const;
  const faults: Fault[] = kind ? [{ ...fault, kind }] : [];
  const process = createProcess("process 1");
  const network = createNetwork({
    time,
    start: 0,
    random: seededRandom(1),
    faults: createFaultPlan(faults),
    trace() {},
    tell() {},
  });
  const result = { ...usual, effects: 0, outcome: "none" };
  const call = network.call({
    from: process,
    to: "queue",
    name: "SendMessageBatch",
    text: "",
    timeoutSeconds: 10,
    special: kind === "stale" || kind === "unprocessed" ? kind : undefined,
    effect(fault) {
      result.effects++;
      result.isSpecial = fault?.kind === "stale" || fault?.kind === "unprocessed";
      result.isLate = time.now() > 10_000;
    },
  });
  call.then(
    () => {
      result.outcome = "answered";
    },
    (error: unknown) => {
      result.outcome = describe(error);
    },
  );
  await time.runUntil(600_000);
  return { ...result, isAlive: process.isAlive };
}

function describe(error: unknown): string {
  if (error instanceof CallRefused) return "refused";
  if (error instanceof ConnectionLost) return error.timedOut ? "timed out" : "lost";
  return String(error);
}
