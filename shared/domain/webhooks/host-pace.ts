// Limits the calls of an organization to one host. All its endpoints on the host share one limit
// per window; calls above it wait for a later window.

import { update, updateReturning } from "../../adapters/dynamodb/table.ts";
import { epochSeconds } from "../../clock.ts";
import { keys } from "../../keys.ts";

export const windowSeconds = 10;
export const maxCallsPerWindow = 2000;

export interface CallAllowance {
  /** Number of calls allowed now. */
  calls: number;
  /** When the other calls may be made. */
  waitUntil?: Date;
}

/** Takes up to `wanted` calls from the current window of the host. One write. */
export async function take(orgId: number, url: string, wanted: number): Promise<CallAllowance> {
  if (wanted === 0) return { calls: 0 };
  const window = Math.floor(epochSeconds() / windowSeconds);
  const key = keys.webhookPace(orgId, new URL(url).host, window);
  const expires = epochSeconds() + 20 * windowSeconds;
  const { used } = (await updateReturning<{ used: number }>(
    update(key, { add: { used: wanted }, set: { expires } }),
  ))!;
  const usedBefore = used - wanted;
  const calls = Math.min(wanted, Math.max(0, maxCallsPerWindow - usedBefore));
  if (calls === wanted) return { calls };
  // Later callers wait longer, so that they do not all meet in the next window.
  const windows = Math.max(1, Math.floor(usedBefore / maxCallsPerWindow));
  return { calls, waitUntil: new Date((window + windows) * windowSeconds * 1000) };
}
