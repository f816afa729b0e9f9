// Pages of lists: by number while page x limit is at most 10,000, by cursor at any depth. In the
// domain a cursor is a plain position, such as the sort key of the last item;
// shared/http/cursors.ts encrypts it for callers.
import { invalid, type Problem } from "../errors.ts";

export interface PageRequest {
  page?: number | undefined;
  limit: number;
  cursor?: string | undefined;
  /** Part of the name, in lists that are searched by name. */
  search?: string | undefined;
}
export interface Pagination {
  page: number;
  limit: number;
  total: number | null;
  totalPages: number | null;
  nextCursor: string | null;
}

const maxPagedItems = 10_000;

/** The number of items before the page. Throws 400 if page x limit is too large. */
export function countSkipped({ page = 1, limit, cursor }: PageRequest): number {
  if (cursor === undefined && page * limit > maxPagedItems)
    throw invalid(`page x limit may be at most ${maxPagedItems}: use cursor to go deeper`, {
      details: [{ path: "page", message: "page times limit is too large: use cursor" }],
    });
  return cursor === undefined ? (page - 1) * limit : 0;
}

export const unknownCursor = (): Problem =>
  invalid("cursor is not valid for this list: use the nextCursor of its previous page", {
    details: [{ path: "cursor", message: "is not valid for this list" }],
  });

/** Regular expressions for the parts of a position. */
export const positionParts = {
  time: String.raw`\d{4}-\d\d-\d\dT[\d:.]{8,15}Z`,
  id: String.raw`\d{16}`,
};

/**
 * The position after which the list continues. Throws 400 if it does not match the pattern of the
 * list. The edge only accepts positions of this list; the pattern also bounds every number, so that
 * the list ends even with a wrong position.
 */
export function positionOf(
  { cursor }: Pick<PageRequest, "cursor">,
  pattern: RegExp,
): string | undefined {
  if (cursor !== undefined && !pattern.test(cursor)) throw unknownCursor();
  return cursor;
}

export const toPagination = (
  { page = 1, limit }: PageRequest,
  total: number | null,
  next: string | undefined,
): Pagination => ({
  page,
  limit,
  total,
  totalPages: total === null ? null : Math.ceil(total / limit),
  nextCursor: next ?? null,
});

interface EntryReader<Entry, Item> {
  /** The first `needed` entries of the list, and where it continues. */
  read(needed: number): Promise<{ found: Entry[]; next: string | undefined }>;
  toApi(entries: Entry[]): Promise<Item[]>;
}

/** A page of a list that is read from its first entry on and has no total. */
export async function readPage<Entry, Item>(
  request: PageRequest,
  { read, toApi }: EntryReader<Entry, Item>,
): Promise<{ items: Item[]; pagination: Pagination }> {
  const skipped = countSkipped(request);
  const { found, next } = await read(skipped + request.limit);
  return {
    items: await toApi(found.slice(skipped)),
    pagination: toPagination(request, null, next),
  };
}
