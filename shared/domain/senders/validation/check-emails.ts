import { setMaxListeners } from "node:events";
import { withMetering } from "./metering.ts";

interface EmailCheck<V extends string, R> {
  /** All verdicts, in the order of the summary. */
  verdicts: readonly V[];
  /** Time for all lookups together. Checks without a result by then are `unknown`. */
  timeoutMs: number;
  /** Checks distinct addresses. Returns the results in the same order. */
  check(distinct: string[], signal: AbortSignal): Promise<R[]>;
}

/**
 * Checks addresses and charges for the results. Returns them in the given order. An address that
 * occurs twice is checked and charged once; a result with the verdict `unknown` is free.
 */
export async function checkEmails<V extends string, R extends { email: string; verdict: V }>(
  orgId: number,
  emails: string[],
  { verdicts, timeoutMs, check }: EmailCheck<V, R>,
) {
  const distinct = [...new Set(emails.map((email) => email.trim()))];
  return withMetering(orgId, distinct.length, async () => {
    const signal = AbortSignal.timeout(timeoutMs);
    setMaxListeners(0, signal);
    const checked = await check(distinct, signal);
    const byEmail = new Map(distinct.map((email, i) => [email, checked[i]!]));
    const results = emails.map((email): R => ({ ...byEmail.get(email.trim())!, email }));
    const summary = Object.fromEntries(
      verdicts.map((verdict) => [verdict, results.filter((r) => r.verdict === verdict).length]),
    ) as Record<V, number>;
    const billable = checked.filter(({ verdict }) => (verdict as string) !== "unknown").length;
    return { result: { results, summary }, billable };
  });
}
