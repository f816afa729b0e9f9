// Log of the fan-out: one entry for each advance of a cursor that read candidates. It tells what
// was decided about each of them, and where the sends of a campaign or holiday are.
import { get, put, query, type Write } from "../../../adapters/dynamodb/table.ts";
import { type CompressedValue, compress, decompress } from "../../../kernel/compressed-values.ts";
import { inParallel } from "../../../kernel/parallel.ts";
import { keys, ranges } from "../../../keys.ts";
import type { ExclusionReason } from "../../sending/mail-sources.ts";
import type { BroadcastRef } from "./broadcast.ts";
import type { FanOutCursor } from "./fan-out-cursors.ts";

/** The compressed value is a `Decisions`. */
export interface FanOutLogEntry extends CompressedValue {
  pk: string;
  sk: string;
  siteId: number;
  /** Time of the sends in the feed. */
  at: string;
  /** The blocks of the chunks, with their number of sends. */
  blocks: [block: number, n: number][];
}

/** What was decided about the candidates of one advance, by contact id. */
export interface Decisions {
  /** For each block: the recipients in the order of their sends. */
  mailed: number[][];
  excluded: Partial<Record<ExclusionReason, number[]>>;
}

/** About 3 bytes for each candidate. No entry without candidates. */
export async function fanOutLogWrites(
  ref: BroadcastRef,
  cursor: FanOutCursor,
  {
    decisions,
    ...line
  }: Pick<FanOutLogEntry, "siteId" | "at" | "blocks"> & {
    decisions: Decisions;
  },
): Promise<Write[]> {
  if (!listCandidates(decisions).length) return [];
  const key = keys.fanOutLog(ref.orgId, ref, cursor);
  return [put(key, { ...line, ...(await compress(key, decisions)) })];
}

export const readDecisions = (entry: FanOutLogEntry): Promise<Decisions> =>
  decompress<Decisions>(entry);

const listCandidates = ({ mailed, excluded }: Decisions): number[] => [
  ...mailed.flat(),
  ...Object.values(excluded).flat(),
];

export const listLogEntries = (ref: BroadcastRef, shard?: string, after?: string) =>
  query<FanOutLogEntry>(ranges.fanOutLog(ref.orgId, ref, shard), {
    limit: 100,
    after,
    consistent: true,
  });

/** `sk` is the sort key of the entry. */
export const findLogEntry = (ref: BroadcastRef, sk: string): Promise<FanOutLogEntry | undefined> =>
  get<FanOutLogEntry>({ pk: ranges.fanOut(ref.orgId, ref).pk, sk });

/** Ids of the contacts of a shard about whom the broadcast has decided. */
export async function listDecidedContactIds(
  key: BroadcastRef,
  shard: string,
): Promise<Set<number>> {
  const decided = new Set<number>();
  let after: string | undefined;
  do {
    const { items, next } = await listLogEntries(key, shard, after);
    await inParallel(8, items, async (entry) => {
      for (const id of listCandidates(await readDecisions(entry))) decided.add(id);
    });
    after = next;
  } while (after !== undefined);
  return decided;
}
