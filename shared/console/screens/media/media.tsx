import { Button, Modal, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Media } from "pennymail";
import { useState } from "react";
import { useChange, useDeletion } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useRight, useSite } from "../../data/session.ts";
import { formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { CopyAction } from "../../parts/copy-action.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { SearchBox } from "../../parts/filters.tsx";
import { Form } from "../../parts/form.tsx";
import { NewPicture } from "../../parts/media/new-picture.tsx";
import { PictureGrid } from "../../parts/media/picture-grid.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { useTextField } from "../../parts/text-field.ts";

const refreshes = ["media"];

/** Wide enough for every email. */
const shownWidth = 680;

export function MediaScreen() {
  const { site } = useSite();
  const mayWrite = useRight("content:write");
  const navigate = useNavigate({ from: "/media" });
  const { search } = useSearch({ from: "/shell/media" });
  const [isAdding, setAdding] = useState(false);
  const [opened, setOpened] = useState<Media>();
  const list = usePagedRows(
    queries.mediaPages({
      ...(site && { siteId: site.id }),
      ...(search !== undefined && { search }),
    }),
    ({ media }) => media,
  );
  const add = () => setAdding(mayWrite && site !== undefined);
  useShortcuts([{ keys: ["c"], label: t("Add picture"), run: add }]);
  return (
    <div className="page list-page">
      <PageHead
        title={t("Pictures")}
        note={t("Logos and photos that emails, forms and pages show")}
      >
        {mayWrite && site && (
          <Button leftSection={<IconPlus size={16} />} onClick={add}>
            {t("Add picture")}
          </Button>
        )}
      </PageHead>
      <search className="filters">
        <SearchBox
          label={t("Search pictures")}
          placeholder={t("Part of the name or the description")}
          value={search}
          onSearch={(next) => navigate({ search: { search: next } })}
        />
      </search>
      <PictureGrid
        list={list}
        onPick={setOpened}
        empty={
          <EmptyState title={search === undefined ? t("No picture yet") : t("No picture matches")}>
            <p>
              {search === undefined
                ? t("Pictures that you add here or in an email can be used in every email.")
                : t("Clear the search, or try another word.")}
            </p>
          </EmptyState>
        }
      />
      {site && isAdding && (
        <Modal
          opened
          onClose={() => setAdding(false)}
          title={t("Add picture")}
          size="lg"
          lockScroll={false}
        >
          <NewPicture siteId={site.id} shownWidth={shownWidth} onAdded={() => setAdding(false)} />
        </Modal>
      )}
      {opened && (
        <PictureDialog
          key={opened.id}
          picture={opened}
          mayWrite={mayWrite}
          onClose={() => setOpened(undefined)}
        />
      )}
    </div>
  );
}

interface PictureDialogProps {
  picture: Media;
  mayWrite: boolean;
  onClose(): void;
}

const kilobytes = (bytes: number): string =>
  t("{number} KB", { number: formatNumber(Math.ceil(bytes / 1000)) });

function PictureDialog({ picture, mayWrite, onClose }: PictureDialogProps) {
  const { id, url, width, height, size } = picture;
  const name = useTextField(picture.name);
  const alt = useTextField(picture.alt);
  const [deleted, setDeleted] = useState<Media>();
  const saving = useChange({
    run: () => api.media.update(id, { name: name.value, alt: alt.value }),
    refreshes,
    onDone: onClose,
  });
  const deleting = useDeletion({
    run: (target: Media, query) => api.media.delete(target.id, query),
    refreshes,
    onDone: onClose,
  });
  return (
    <Modal opened onClose={onClose} title={picture.name} size="lg" lockScroll={false}>
      <Form
        action={t("Save picture")}
        submission={saving}
        isDisabled={!mayWrite || !name.value.trim()}
        buttons={
          mayWrite && (
            <Button variant="default" onClick={() => setDeleted(picture)}>
              {t("Delete picture")}
            </Button>
          )
        }
      >
        <img className="picture-large" src={url} alt={picture.alt} />
        <p className="quiet">
          {t("{width} × {height} pixels, {size}", {
            width: formatNumber(width),
            height: formatNumber(height),
            size: kilobytes(size),
          })}
        </p>
        <TextInput
          label={t("Name")}
          required
          maxLength={200}
          disabled={!mayWrite}
          data-field="name"
          {...name.input}
        />
        <TextInput
          label={t("Description")}
          description={t("What the picture shows. Emails that show it already keep their own.")}
          maxLength={500}
          disabled={!mayWrite}
          data-field="alt"
          {...alt.input}
        />
        <TextInput
          label={t("Address")}
          readOnly
          value={url}
          rightSection={<CopyAction value={url} label={t("Copy the address")} />}
        />
      </Form>
      <ConfirmDialog
        title={t("Delete “{name}”", { name: picture.name })}
        action={t("Delete picture")}
        isDangerous
        target={deleted}
        change={deleting}
        usesNote={t("They would show an empty place instead.")}
        onClose={() => setDeleted(undefined)}
      >
        {t("Emails that were sent with this picture show it no longer.")}
      </ConfirmDialog>
    </Modal>
  );
}
