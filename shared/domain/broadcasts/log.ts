// Which chunks were let in: a line for every move of a cursor that let any in. It tells who was reached, and where all the sends of
// a campaign or holiday are.
import { put, query, type Write } from "../../doors/table.ts";
import { keys, ranges } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import * as chunks from "../sending/chunks.ts";
import * as reading from "../sending/reading.ts";
import type { Key } from "./broadcast.ts";
import type { Cursor } from "./cursors.ts";

export interface Line {
  pk: string;
  sk: string;
  /** Of the list of sends. */
  siteId: number;
  at: string;
  /** With the number of sends in each. */
  blocks: [block: number, n: number][];
}

export const noting = ({ orgId, kind, id }: Key, { shard, n }: Cursor, line: Omit<Line, "pk" | "sk">): Write[] =>
  line.blocks.length ? [put(keys.fanOutLog(orgId, kind, id, shard, n), line)] : [];

export const page = ({ orgId, kind, id }: Key, shard?: string, after?: string) =>
  query<Line>(ranges.fanOutLog(orgId, kind, id, shard), { limit: 100, after, consistent: true });

/** Ids of the contacts who have a mail of it, by the collection in which they were. */
export async function reachedIn(key: Key, shard: string): Promise<Set<number>> {
  const reached = new Set<number>();
  let after: string | undefined;
  do {
    const { items, next } = await page(key, shard, after);
    await inParallel(
      8,
      items.flatMap((line) => line.blocks),
      async ([block, n]) => {
        for (const { contactId } of await mailsOf(key.orgId, block, n)) if (contactId) reached.add(contactId);
      },
    );
    after = next;
  } while (after !== undefined);
  return reached;
}

/** The lines of a chunk; where they are not kept any more, those that went. */
async function mailsOf(orgId: number, block: number, n: number): Promise<{ contactId?: number | null | undefined }[]> {
  const chunk = await chunks.read(orgId, block, 0);
  if (chunk) return chunk.lines;
  const sends = await reading.byId(
    orgId,
    Array.from({ length: n }, (_, i) => chunks.idOf(block, { i })),
  );
  return sends.flatMap((send) => send ?? []);
}
