import type { Media } from "pennymail";
import type { ReactNode } from "react";
import type { PagedRows } from "../../data/paged-rows.ts";
import { t } from "../../language/translate.ts";
import { PagedGrid } from "../paged-grid.tsx";
import "./media.css";

interface PictureGridProps {
  list: PagedRows<Media>;
  onPick(picture: Media): void;
  /** In place of the pictures when there are none. */
  empty: ReactNode;
}

/** The pictures of the library, newest first. */
export const PictureGrid = ({ list, onPick, empty }: PictureGridProps) => (
  <PagedGrid
    label={t("Pictures")}
    className="pictures"
    list={list}
    keyOf={({ id }) => id}
    skeletonHeight={120}
    empty={empty}
    render={(picture) => (
      <button type="button" onClick={() => onPick(picture)}>
        <img src={picture.url} alt={picture.alt} loading="lazy" />
        <span>{picture.name}</span>
      </button>
    )}
  />
);
