import { Button, Skeleton } from "@mantine/core";
import type { Media } from "pennymail";
import type { ReactNode } from "react";
import type { PagedRows } from "../../data/paged-rows.ts";
import { t } from "../../language/translate.ts";
import { ErrorNote } from "../error-note.tsx";
import "./media.css";

interface PictureGridProps {
  list: PagedRows<Media>;
  onPick(picture: Media): void;
  /** In place of the pictures when there are none. */
  empty: ReactNode;
}

/** The pictures of the library, newest first. */
export function PictureGrid({ list, onPick, empty }: PictureGridProps) {
  const { rows, hasMore, error, isStale, onScroll } = list;
  if (!rows.length && !hasMore && !error) return <>{empty}</>;
  return (
    <>
      <ErrorNote error={error} />
      <ul className="pictures" aria-label={t("Pictures")} aria-busy={isStale}>
        {rows.map((picture) => (
          <li key={picture.id}>
            <button type="button" onClick={() => onPick(picture)}>
              <img src={picture.url} alt={picture.alt} loading="lazy" />
              <span>{picture.name}</span>
            </button>
          </li>
        ))}
        {!rows.length && hasMore && <Skeleton h={120} />}
      </ul>
      {rows.length > 0 && hasMore && (
        <Button variant="default" className="start" onClick={() => onScroll(rows.length)}>
          {t("Show more")}
        </Button>
      )}
    </>
  );
}
