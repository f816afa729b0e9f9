import { Button, Skeleton } from "@mantine/core";
import type { ReactNode } from "react";
import type { PagedRows } from "../data/paged-rows.ts";
import { t } from "../language/translate.ts";
import { ErrorNote } from "./error-note.tsx";

interface PagedGridProps<T> {
  /** Read to people who use a screen reader. */
  label: string;
  className: string;
  list: PagedRows<T>;
  keyOf(row: T): number;
  render(row: T): ReactNode;
  /** Height of what stands there while the first page is read. */
  skeletonHeight: number;
  /** In place of the grid when there are no rows. */
  empty: ReactNode;
}

/** Rows as cells of a grid, with a button for the next page. */
export function PagedGrid<T>(props: PagedGridProps<T>) {
  const { label, className, list, keyOf, render, skeletonHeight, empty } = props;
  const { rows, hasMore, error, isStale, onScroll } = list;
  if (!rows.length && !hasMore && !error) return <>{empty}</>;
  return (
    <>
      <ErrorNote error={error} />
      <ul className={className} aria-label={label} aria-busy={isStale}>
        {rows.map((row) => (
          <li key={keyOf(row)}>{render(row)}</li>
        ))}
        {!rows.length && hasMore && <Skeleton h={skeletonHeight} />}
      </ul>
      {rows.length > 0 && hasMore && (
        <Button variant="default" className="start" onClick={() => onScroll(rows.length)}>
          {t("Show more")}
        </Button>
      )}
    </>
  );
}
