import { Modal } from "@mantine/core";
import { useState } from "react";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { SearchBox } from "../filters.tsx";
import { NewPicture } from "./new-picture.tsx";
import { PictureGrid } from "./picture-grid.tsx";

interface MediaDialogProps {
  siteId: number;
  /** Pixels. */
  shownWidth: number;
  onPick(url: string, alt: string): void;
  onClose(): void;
}

/** A new picture, or one of the library. */
export function MediaDialog({ siteId, shownWidth, onPick, onClose }: MediaDialogProps) {
  const mayWrite = useRight("content:write");
  const [search, setSearch] = useState<string>();
  const list = usePagedRows(
    queries.mediaPages({ siteId, ...(search !== undefined && { search }) }),
    ({ media }) => media,
  );
  const pick = ({ url, alt }: { url: string; alt: string }) => {
    onPick(url, alt);
    onClose();
  };
  return (
    <Modal opened onClose={onClose} title={t("Choose a picture")} size="lg" lockScroll={false}>
      <div className="stack">
        {mayWrite && <NewPicture siteId={siteId} shownWidth={shownWidth} onAdded={pick} />}
        <SearchBox
          label={t("Search pictures")}
          placeholder={t("Name or description")}
          value={search}
          onSearch={setSearch}
        />
        <PictureGrid
          list={list}
          onPick={pick}
          empty={
            <p className="quiet">{search ? t("No picture matches.") : t("No picture yet.")}</p>
          }
        />
      </div>
    </Modal>
  );
}
