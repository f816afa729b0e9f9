// Finds the single sends that a share of the account watches over and that nobody finished, such as
// after a crash, and puts them on the due index. See billing/watched-shares.ts.
import { getMany } from "../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../clock.ts";
import { inParallel } from "../../kernel/parallel.ts";
import { keys } from "../../keys.ts";
import { settleOpenCharges } from "../billing/settle-charges.ts";
import * as watchedShares from "../billing/watched-shares.ts";
import { listCommittedRuns } from "./outcome-runs.ts";
import * as feed from "./send-feed.ts";
import { makeDueIfUnfinished, type SingleSendItem } from "./single-send-item.ts";

/** Time for the sends to be handed over in the usual way. */
const graceSeconds = 60;
const maxSweepSeconds = 30;
/** A sweep that runs out of time has swept whole windows. Each is longer after an empty one. */
const minWindowSeconds = 60;

/**
 * Sweeps the sends of the organization. The first of its watching shares sweeps for all of them.
 * Safe to repeat and to run twice at a time.
 */
export async function sweepSends(orgId: number, shard: number): Promise<void> {
  const open = await watchedShares.listWatchingShares(orgId);
  if (open[0]?.shard !== shard) return;
  const closedTo = addSeconds(-graceSeconds).toISOString();
  await inParallel(8, open, (share) => watchedShares.closeShare(orgId, share, closedTo));
  // From here on, the shares show every charge of a send that was created before that time. The
  // sends of charges that are settled are in the feed, or are never stored.
  const shares = (await watchedShares.listWatchingShares(orgId)).filter((share) =>
    open.some((closed) => closed.shard === share.shard),
  );
  const areSettled = await inParallel(8, shares, (share) =>
    settleOpenCharges(orgId, share, closedTo),
  );
  if (!shares[0]) return;
  const siteIds = [...new Set(shares.flatMap((share) => share.siteIds))];
  const until = addSeconds(maxSweepSeconds);
  let sweptTo = shares.map((share) => share.sweptTo).sort()[0]!;
  let windowSeconds = minWindowSeconds;
  while (sweptTo < closedTo && now() < until) {
    const end = addSeconds(windowSeconds, new Date(sweptTo)).toISOString();
    const range = { from: sweptTo, to: end < closedTo ? end : closedTo };
    const found = await inParallel(4, siteIds, (siteId) => sweepFeed(orgId, { siteId, ...range }));
    windowSeconds = found.some(Boolean) ? minWindowSeconds : 2 * windowSeconds;
    sweptTo = range.to;
  }
  const isBehind = sweptTo < closedTo;
  const hasMore =
    isBehind || areSettled.includes(false) || (await feed.hasSinglesAfter(orgId, siteIds, sweptTo));
  const sweepsNext = isBehind ? "now" : "soon";
  for (const share of shares) {
    if (hasMore || !(await watchedShares.endWatch(orgId, share)))
      await watchedShares.continueWatch(orgId, share, {
        sweptTo,
        sweepsNext: share.shard === shard ? sweepsNext : undefined,
      });
  }
}

/** Returns whether a send was accepted in this time. */
async function sweepFeed(
  orgId: number,
  range: { siteId: number; from: string; to: string },
): Promise<boolean> {
  let found = false;
  for await (const ids of feed.readSinglesBetween(orgId, range)) {
    const sends = await getMany<SingleSendItem>(
      ids.map((id) => keys.send(orgId, id)),
      { consistent: true },
    );
    found ||= ids.length > 0;
    const runs = new Set(sends.flatMap((send) => (send?.uncounted && send.run) || []));
    const committedRuns = await listCommittedRuns(orgId, [...runs]);
    await inParallel(8, sends, async (send) => {
      if (send) await makeDueIfUnfinished(orgId, send, committedRuns);
    });
  }
  return found;
}
