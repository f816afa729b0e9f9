// How far an export is. It is in a file of its own, so that the list of jobs bundles no export.
import { emailShards } from "../../../keys.ts";

export interface ExportProgress {
  uploadId: string;
  parts: string[];
  rows: number;
  /** By shard: the sort key to resume after, null at its end. */
  cursors: Record<string, string | null>;
}

/** The number of shards that were read to their end. */
export const countFinished = (cursors: ExportProgress["cursors"]): number =>
  Object.values(cursors).filter((cursor) => cursor === null).length;

/** Progress in per cent. The shards have about the same size. */
export const toPercent = (written: ExportProgress | undefined): number =>
  Math.floor((100 * countFinished(written?.cursors ?? {})) / emailShards.length);
