import {
  type InfiniteData,
  type UseInfiniteQueryOptions,
  type UseQueryResult,
  useInfiniteQuery,
} from "@tanstack/react-query";
import type { Pagination } from "pennymail";
import { useEffect, useState } from "react";

interface Page {
  pagination: Pagination;
}

/** What a long list gives to a table. */
export interface PagedRows<Row> {
  rows: Row[];
  /** Undefined while the first page is read; null if the API keeps no count for the filters. */
  total: number | null | undefined;
  /** Whether there are rows that were not read yet. */
  hasMore: boolean;
  error: unknown;
  /** Whether the rows are those of an earlier filter. */
  isStale: boolean;
  /** Tells which row is the last in view. Further pages are read when it comes near the end. */
  onScroll(lastVisible: number): void;
}

/** The rows of a list of the API, as far as they were read. */
export function usePagedRows<Row, P extends Page>(
  options: UseInfiniteQueryOptions<P, Error, InfiniteData<P>, readonly unknown[], string>,
  rowsOf: (page: P) => Row[],
): PagedRows<Row> {
  const [lastVisible, onScroll] = useState(0);
  const { data, error, hasNextPage, isFetching, isPlaceholderData, fetchNextPage } =
    useInfiniteQuery(options);
  const rows = data?.pages.flatMap(rowsOf) ?? [];
  const isNearEnd = lastVisible > rows.length - 40;
  useEffect(() => {
    if (isNearEnd && hasNextPage && !isFetching && !error) fetchNextPage();
  }, [isNearEnd, hasNextPage, isFetching, error, fetchNextPage]);
  const total = data?.pages[0]?.pagination.total;
  return {
    rows,
    total,
    hasMore: hasNextPage || (data === undefined && !error),
    error,
    isStale: isPlaceholderData,
    onScroll,
  };
}

/** The rows of a list that the API returns whole. */
export function wholeList<Row>({
  data,
  error,
  isPlaceholderData,
}: Pick<UseQueryResult<Row[]>, "data" | "error" | "isPlaceholderData">): PagedRows<Row> {
  return {
    rows: data ?? [],
    total: data?.length,
    hasMore: data === undefined && !error,
    error,
    isStale: isPlaceholderData,
    onScroll: () => {},
  };
}
