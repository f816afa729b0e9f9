// Deletes in the background what a deleted campaign or holiday leaves behind. Each run deletes what
// it finds, so after a crash the next run continues with the rest.

import {
  put,
  query,
  queryAll,
  remove,
  transact,
  type Write,
  write,
  writeMany,
} from "../../../adapters/dynamodb/table.ts";
import { addSeconds, now } from "../../../clock.ts";
import { runCleanup } from "../../../kernel/cleanup-job.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { idsPerBlock, type Key, keys, ranges } from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import * as sendFeed from "../../sending/send-feed.ts";
import { type BroadcastRef, broadcastDueAttributes, enqueuePoll } from "./broadcast.ts";
import * as fanOutLog from "./fan-out-log.ts";

interface CleanupItem extends BroadcastRef {
  diedAt: string;
}

const cleanupKey = (ref: BroadcastRef): Key => keys.deletedFanOut(ref.orgId, ref);

/** For the transaction that deletes the record. */
export const createCleanupWrite = ({ orgId, kind, id }: BroadcastRef): Write =>
  put(cleanupKey({ orgId, kind, id }), {
    orgId,
    kind,
    id,
    diedAt: now().toISOString(),
    ...broadcastDueAttributes(id, addSeconds(60)),
  } satisfies CleanupItem);

/** Deletes the sends of a holiday too. Those of a campaign stay in the list of sends. */
export const cleanUpBroadcast = (ref: BroadcastRef): Promise<void> =>
  runCleanup<CleanupItem>(cleanupKey(ref), {
    timeoutSeconds: queues.campaigns.timeoutSeconds,
    clean: (_, deadline) => clean(ref, deadline),
    enqueueNext: () => enqueuePoll(ref),
    deleteTombstone: () => write(remove(cleanupKey(ref))),
  });

async function clean(ref: BroadcastRef, deadline: Date): Promise<boolean> {
  for (;;) {
    const { items } = await fanOutLog.listLogEntries(ref);
    if (!items.length) break;
    if (now() >= deadline) return false;
    if (ref.kind === "holiday")
      for (const entry of items)
        await inParallel(4, entry.blocks, (block) => deleteChunkSends(ref.orgId, entry, block));
    await writeMany(items.map((entry) => remove(entry)));
  }
  const [cursors, counters, links] = await Promise.all([
    queryAll<Key>(ranges.fanOutCursors(ref.orgId, ref)),
    queryAll<Key>(ranges.sourceCounts(ref.orgId, ref)),
    ref.kind === "campaign" ? queryAll<Key>(ranges.campaignLinks(ref.orgId, ref.id)) : [],
  ]);
  const singles = [
    keys.fanOutPlan(ref.orgId, ref),
    ...(ref.kind === "campaign" ? [keys.campaignAudit(ref.orgId, ref.id)] : []),
  ];
  await writeMany([...cursors, ...counters, ...links, ...singles].map((key) => remove(key)));
  return true;
}

/**
 * Removes the sends of one chunk from the feed, and then deletes the chunk before their items, so
 * that no event inserts them again.
 */
async function deleteChunkSends(
  orgId: number,
  { siteId, at }: fanOutLog.FanOutLogEntry,
  [block, n]: [number, number],
): Promise<void> {
  const first = block * idsPerBlock;
  await transact(...sendFeed.removeFromFeedWrites(orgId, { siteId, at, firstId: first, count: n }));
  await removeAll(ranges.blockItems(orgId, block));
  const hundreds = Array.from({ length: Math.ceil(n / 100) }, (_, i) => first / 100 + i);
  await inParallel(4, hundreds, (hundred) => removeAll(ranges.sendPartition(orgId, hundred)));
}

async function removeAll(range: ReturnType<typeof ranges.blockItems>): Promise<void> {
  for (;;) {
    const { items } = await query<Key>(range, { limit: 200, consistent: true });
    if (!items.length) return;
    await writeMany(items.map((item) => remove(item)));
  }
}
