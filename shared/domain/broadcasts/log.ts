// Which chunks were let in: a line for every move of a cursor that let any in. It tells who was reached, and where all the sends of
// a campaign or holiday are.
import { put, query, type Write } from "../../doors/table.ts";
import { keys, ranges } from "../../keys.ts";
import { inParallel } from "../../parallel.ts";
import * as chunks from "../sending/chunks.ts";
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
    const blocks = items.flatMap((line) => line.blocks.map(([block]) => block));
    await inParallel(8, blocks, async (block) => {
      for (const { contactId } of (await chunks.read(key.orgId, block, 0)).lines) if (contactId) reached.add(contactId);
    });
    after = next;
  } while (after !== undefined);
  return reached;
}
