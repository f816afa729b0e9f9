import { useInfiniteQuery } from "@tanstack/react-query";
import type { Contact } from "pennymail";
import { useEffect } from "react";
import { queries } from "./queries.ts";

/** What both a list of contacts and other long lists give to a table. */
export interface Rows<Row> {
  rows: Row[];
  /** Null if the API keeps no exact count for the filters. */
  total: number | null | undefined;
  hasMore: boolean;
  error: unknown;
  isStale: boolean;
}

type ContactFilter = Parameters<typeof queries.contacts>[0];

/** Reads further pages when the position `lastVisible` comes near the end of what is there. */
export function useContactRows(filter: ContactFilter, lastVisible: number): Rows<Contact> {
  const { data, error, hasNextPage, isFetching, isPlaceholderData, fetchNextPage } =
    useInfiniteQuery(queries.contacts(filter));
  const rows = data?.pages.flatMap(({ contacts }) => contacts) ?? [];
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
