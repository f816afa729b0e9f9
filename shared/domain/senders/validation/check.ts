// The result of a check of an address or domain.
import * as z from "zod";
import { DnsLookupFailed } from "../../../adapters/dns/records.ts";

/** `unknown`: the check could not be made. It says nothing about the address. */
export const CheckResult = z.enum(["pass", "warn", "fail", "unknown"]);
export type CheckResult = z.output<typeof CheckResult>;

export const Check = z
  .object({
    result: CheckResult.describe(
      "`pass`, `warn`, `fail`, or `unknown` if the check could not be made.",
    ),
    message: z.string().describe("Explanation in one sentence."),
  })
  .meta({
    id: "Check",
    description:
      "Result of one check. `unknown`: the check could not be made, which says nothing about " +
      "the address.",
  });
export type Check = z.output<typeof Check>;

const checkWith =
  (result: CheckResult) =>
  (message: string): Check => ({ result, message });

export const pass = checkWith("pass");
export const warn = checkWith("warn");
export const fail = checkWith("fail");
export const inconclusive = checkWith("unknown");

/** Does the work, or returns `fallback` if DNS does not answer. */
export async function orIfLookupFails<T>(fallback: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DnsLookupFailed) return fallback;
    throw error;
  }
}
