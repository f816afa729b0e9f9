import {
  type InfiniteData,
  type UseInfiniteQueryOptions,
  useInfiniteQuery,
} from "@tanstack/react-query";
import type { Pagination } from "pennymail";
import { useEffect } from "react";

interface Page {
  pagination: Pagination;
}

/** What a long list gives to a table. */
export interface PagedRows<Row> {
  rows: Row[];
  /** Undefined while the first page is read; null if the API keeps no count for the filters. */
  total: number | null | undefined;
  hasMore: boolean;
  error: unknown;
  /** Whether the rows are those of an earlier filter. */
  isStale: boolean;
}

/**
 * The rows of a list of the API, as far as they were read. Reads further pages when `lastVisible`,
 * a position, comes near the end of them.
 */
export function usePagedRows<Row, P extends Page>(
  options: UseInfiniteQueryOptions<P, Error, InfiniteData<P>, readonly unknown[], string>,
  rowsOf: (page: P) => Row[],
  lastVisible: number,
): PagedRows<Row> {
  const { data, error, hasNextPage, isFetching, isPlaceholderData, fetchNextPage } =
    useInfiniteQuery(options);
  const rows = data?.pages.flatMap(rowsOf) ?? [];
  const isNearEnd = lastVisible > rows.length - 40;
  useEffect(() => {
    if (isNearEnd && hasNextPage && !isFetching && !error) fetchNextPage();
  }, [isNearEnd, hasNextPage, isFetching, error, fetchNextPage]);
  return {
    rows,
    total: data?.pages[0]?.pagination.total,
    hasMore: hasNextPage,
    error,
    isStale: isPlaceholderData,
  };
}
