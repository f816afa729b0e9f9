// Measures the DynamoDB request units of this process.
import { type ConsumedUnits, unitsByOperation } from "../../shared/adapters/dynamodb/capacity.ts";

const used = (field: keyof ConsumedUnits) =>
  Object.values(unitsByOperation).reduce((sum, usage) => sum + usage[field], 0);

/** Measures the request units that the process uses during `work`. */
export async function measureUnits<T>(
  work: () => Promise<T>,
): Promise<{ result: T; usage: ConsumedUnits }> {
  const before = {
    readUnits: used("readUnits"),
    writeUnits: used("writeUnits"),
    calls: used("calls"),
  };
  const result = await work();
  const spent = (field: keyof ConsumedUnits) => used(field) - before[field];
  return {
    result,
    usage: {
      readUnits: spent("readUnits"),
      writeUnits: spent("writeUnits"),
      calls: spent("calls"),
    },
  };
}
