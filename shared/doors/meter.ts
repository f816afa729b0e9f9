// What DynamoDB charges for: request units and calls, summed for this process and for the request or message at hand.
import { AsyncLocalStorage } from "node:async_hooks";

export interface Usage {
  readUnits: number;
  writeUnits: number;
  calls: number;
}

const none = (): Usage => ({ readUnits: 0, writeUnits: 0, calls: 0 });
const current = new AsyncLocalStorage<Usage>();

/** Since the process started, by operation such as `GetItem`. */
export const usageByOperation: Record<string, Usage> = {};

/** Runs `work` and also tells what it used. */
export async function metered<T>(work: () => Promise<T>): Promise<{ result: T; usage: Usage }> {
  const usage = none();
  const result = await current.run(usage, work);
  return { result, usage };
}

export function spent(operation: string, readUnits: number, writeUnits: number): void {
  usageByOperation[operation] ??= none();
  for (const usage of [usageByOperation[operation], current.getStore()]) {
    if (!usage) continue;
    usage.readUnits += readUnits;
    usage.writeUnits += writeUnits;
    usage.calls += 1;
  }
}
