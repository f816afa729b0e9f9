// Log of the fan-out: one entry for each advance of a cursor that added chunks. It tells which
// contacts have the mail, and where the sends of a campaign or holiday are.
import { get, put, query, type Write } from "../../../adapters/dynamodb/table.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { keys, ranges } from "../../../keys.ts";
import * as chunks from "../../sending/bulk/chunks.ts";
import * as reading from "../../sending/read-sends.ts";
import type { BroadcastRef } from "./broadcast.ts";
import type { FanOutCursor } from "./fan-out-cursors.ts";

export interface FanOutLogEntry {
  pk: string;
  sk: string;
  siteId: number;
  /** Time of the sends in the feed. */
  at: string;
  /** The blocks of the chunks, with their number of sends. */
  blocks: [block: number, n: number][];
}

export const fanOutLogWrites = (
  ref: BroadcastRef,
  cursor: FanOutCursor,
  line: Omit<FanOutLogEntry, "pk" | "sk">,
): Write[] => (line.blocks.length ? [put(keys.fanOutLog(ref.orgId, ref, cursor), line)] : []);

export const listLogEntries = (ref: BroadcastRef, shard?: string, after?: string) =>
  query<FanOutLogEntry>(ranges.fanOutLog(ref.orgId, ref, shard), {
    limit: 100,
    after,
    consistent: true,
  });

/** `sk` is the sort key of the entry. */
export const findLogEntry = (ref: BroadcastRef, sk: string): Promise<FanOutLogEntry | undefined> =>
  get<FanOutLogEntry>({ pk: ranges.fanOut(ref.orgId, ref).pk, sk });

/** Ids of the contacts of a shard who have a mail of the broadcast. */
export async function listReachedContactIds(
  key: BroadcastRef,
  shard: string,
): Promise<Set<number>> {
  const reached = new Set<number>();
  let after: string | undefined;
  do {
    const { items, next } = await listLogEntries(key, shard, after);
    await inParallel(
      8,
      items.flatMap((line) => line.blocks),
      async ([block, n]) => {
        for (const { contactId } of await listChunkMails(key.orgId, block, n))
          if (contactId) reached.add(contactId);
      },
    );
    after = next;
  } while (after !== undefined);
  return reached;
}

/** The recipients of a chunk, or its sends when the chunk has expired. */
async function listChunkMails(
  orgId: number,
  block: number,
  n: number,
): Promise<{ contactId?: number | null | undefined }[]> {
  const chunk = await chunks.getChunk(orgId, block, 0);
  if (chunk) return chunk.lines;
  const sends = await reading.getSends(
    orgId,
    Array.from({ length: n }, (_, i) => chunks.sendIdOf(block, { i })),
  );
  return sends.flatMap((send) => send ?? []);
}
