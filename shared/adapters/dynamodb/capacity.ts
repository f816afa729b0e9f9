// Counts consumed units and calls, for the process and for the current request or message.
import { AsyncLocalStorage } from "node:async_hooks";

export interface ConsumedUnits {
  readUnits: number;
  writeUnits: number;
  calls: number;
}

const zeroUnits = (): ConsumedUnits => ({ readUnits: 0, writeUnits: 0, calls: 0 });
const currentUsage = new AsyncLocalStorage<ConsumedUnits>();

/** Identifies the current request or message. Undefined outside of both. */
export const usageScope = (): object | undefined => currentUsage.getStore();

/** Totals since the process started, by operation such as `GetItem`. */
export const unitsByOperation: Record<string, ConsumedUnits> = {};

/** Runs `work` and returns its result with the units that it consumed. */
export async function measureUnits<T>(
  work: () => Promise<T>,
): Promise<{ result: T; usage: ConsumedUnits }> {
  const usage = zeroUnits();
  const result = await currentUsage.run(usage, work);
  return { result, usage };
}

/** Adds a part of the units of a call that several requests made together to the current one. */
export function addShareOfUnits({ readUnits, writeUnits, calls }: ConsumedUnits, part: number) {
  const usage = currentUsage.getStore();
  if (!usage) return;
  usage.readUnits += readUnits * part;
  usage.writeUnits += writeUnits * part;
  usage.calls += calls * part;
}

export function recordUnits(operation: string, readUnits: number, writeUnits: number): void {
  unitsByOperation[operation] ??= zeroUnits();
  for (const usage of [unitsByOperation[operation], currentUsage.getStore()]) {
    if (!usage) continue;
    usage.readUnits += readUnits;
    usage.writeUnits += writeUnits;
    usage.calls += 1;
  }
}
