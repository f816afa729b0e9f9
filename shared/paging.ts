// Pages of lists: by number while page x limit is at most 10,000, by cursor at any depth. A cursor is a sort key, made opaque.
import { invalid } from "./errors.ts";

export interface PageRequest {
  page?: number | undefined;
  limit: number;
  cursor?: string | undefined;
}
export interface Pagination {
  page: number;
  limit: number;
  total: number | null;
  totalPages: number | null;
  nextCursor: string | null;
}

const deepest = 10_000;

/** How many items to read before the page begins; 400 when the page lies too deep. */
export function skipped({ page = 1, limit, cursor }: PageRequest): number {
  if (cursor === undefined && page * limit > deepest)
    throw invalid(`page x limit may be at most ${deepest}: use cursor to go deeper`, {
      details: [{ path: "page", message: "too deep: use cursor" }],
    });
  return cursor === undefined ? (page - 1) * limit : 0;
}

export const encodeCursor = (place: string): string => Buffer.from(place).toString("base64url");

/** The place a cursor stands for; 400 when it is not one of ours. */
export function decodeCursor(cursor: string | undefined, isOurs: (place: string) => boolean = () => true): string | undefined {
  if (cursor === undefined) return undefined;
  const place = Buffer.from(cursor, "base64url").toString("utf8");
  if (!place || encodeCursor(place) !== cursor || !isOurs(place))
    throw invalid("cursor is not one that this list gave", { details: [{ path: "cursor", message: "unknown cursor" }] });
  return place;
}

export const pagination = ({ page = 1, limit }: PageRequest, total: number | null, next: string | undefined): Pagination => ({
  page,
  limit,
  total,
  totalPages: total === null ? null : Math.ceil(total / limit),
  nextCursor: next === undefined ? null : encodeCursor(next),
});
