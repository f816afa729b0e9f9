// Windows of five minutes in which single sends of a site were accepted. The queue is the list of
// the work, so a send that goes out now has no entry on the due index of its own. Its window has
// one: when it ended a while ago, a sweep (sweep-sends.ts) finds what the queue has lost.
import { put, type Write } from "../../../adapters/dynamodb/table.ts";
import { addSeconds } from "../../../clock.ts";
import { createLruCache } from "../../../kernel/lru-cache.ts";
import { dueShardOf, indexAttributes, indexes, keys } from "../../../keys.ts";

const windowSeconds = 300;
/** Time for the last sends of a window to be handed over in the usual way. */
const graceSeconds = 300;

/** The stored window. */
export interface SweptWindow {
  orgId: number;
  siteId: number;
  /** The sends were created after `start`, and up to `end` (ISO 8601). */
  start: string;
  end: string;
}

const markedWindows = createLruCache<true>(10_000);

/**
 * The write that marks the window of a send, for a plain write before the send is stored. Undefined
 * if this process has marked it; call `noteMarked` when the write was made.
 */
export function markWindow(
  orgId: number,
  { siteId, createdAt }: { siteId: number; createdAt: string },
): { write: Write; noteMarked(): void } | undefined {
  const start = new Date(
    Math.floor((Date.parse(createdAt) - 1) / (windowSeconds * 1000)) * windowSeconds * 1000,
  );
  const name = `${orgId} ${siteId} ${start.getTime()}`;
  if (markedWindows.get(name)) return undefined;
  const window: SweptWindow = {
    orgId,
    siteId,
    start: start.toISOString(),
    end: addSeconds(windowSeconds, start).toISOString(),
  };
  const due = indexes.due("SWEEP", dueShardOf(siteId));
  const item = {
    ...window,
    ...indexAttributes(due, addSeconds(windowSeconds + graceSeconds, start).toISOString()),
  };
  return {
    write: put(keys.sweptWindow(orgId, siteId, window.start), item),
    noteMarked: () => markedWindows.set(name, true, 1),
  };
}
