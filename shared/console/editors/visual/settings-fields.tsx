// Inputs of the panel beside the canvas.

import { ActionIcon, Button, Menu, Modal, TextInput } from "@mantine/core";
import { IconLink, IconPhoto, IconPhotoSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useSite } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { SearchBox } from "../../parts/filters.tsx";
import { isUsableImage, limits, toLink } from "./design.ts";

const serviceLinks = [
  { label: t("Link to unsubscribe"), href: "{{ unsubscribeUrl }}" },
  { label: t("Link to choose topics"), href: "{{ preferencesUrl }}" },
  { label: t("Link to view in browser"), href: "{{ browserUrl }}" },
];

interface LinkInputProps {
  label: string;
  /** Whether it has the focus when its dialog opens. */
  hasFocus?: boolean;
  value: string;
  onChange(href: string): void;
}

/** A link. The scheme can be left out. A text that is no link is not taken. */
export function LinkInput({ label, hasFocus, value, onChange }: LinkInputProps) {
  const [typed, setTyped] = useState(value);
  const [seen, setSeen] = useState(value);
  if (value !== seen) {
    setSeen(value);
    if (value !== toLink(typed)) setTyped(value);
  }
  const isWrong = typed.trim() !== "" && toLink(typed) === "";
  const change = (text: string) => {
    setTyped(text);
    onChange(toLink(text));
  };
  return (
    <TextInput
      label={label}
      placeholder="https://"
      {...(hasFocus && { "data-autofocus": true })}
      inputMode="url"
      maxLength={limits.url}
      value={typed}
      error={isWrong && t("Type a whole address, such as https://shop.example")}
      onChange={({ currentTarget }) => change(currentTarget.value)}
      onBlur={() => !isWrong && setTyped(toLink(typed))}
      rightSection={
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t("Links for {label}", { label })}
            >
              <IconLink size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {serviceLinks.map((link) => (
              <Menu.Item key={link.href} onClick={() => change(link.href)}>
                {link.label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      }
    />
  );
}

const MediaDialog = lazy(async () => ({
  default: (await import("../../parts/media/media-dialog.tsx")).MediaDialog,
}));

interface ImageInputProps {
  label: string;
  value: string;
  /** Pixels. A new picture is stored with twice as many. */
  shownWidth?: number;
  /** `alt` comes with a picture of the library. */
  onChange(src: string, alt?: string): void;
}

/** A picture of the library, its address, or a photo of the photo search. */
export function ImageInput({ label, value, shownWidth = 600, onChange }: ImageInputProps) {
  const { site } = useSite();
  const [isChoosing, setChoosing] = useState(false);
  const [typed, setTyped] = useState(value);
  const [seen, setSeen] = useState(value);
  if (value !== seen) {
    setSeen(value);
    setTyped(value);
  }
  const isWrong = typed.trim() !== "" && !isUsableImage(typed.trim());
  return (
    <>
      {site && (
        <Button
          className="start"
          variant="default"
          size="xs"
          leftSection={<IconPhoto size={16} />}
          onClick={() => setChoosing(true)}
        >
          {t("Choose a picture")}
        </Button>
      )}
      {site && isChoosing && (
        <Suspense>
          <MediaDialog
            siteId={site.id}
            shownWidth={shownWidth}
            onPick={(url, alt) => onChange(url, alt.slice(0, limits.alt))}
            onClose={() => setChoosing(false)}
          />
        </Suspense>
      )}
      <TextInput
        label={label}
        placeholder="https://"
        inputMode="url"
        maxLength={limits.url}
        value={typed}
        error={isWrong && t("Type the whole address, such as https://shop.example/a.png")}
        onChange={({ currentTarget }) => {
          const text = currentTarget.value;
          setTyped(text);
          if (text.trim() === "" || isUsableImage(text.trim())) {
            setSeen(text.trim());
            onChange(text.trim());
          }
        }}
      />
      <PhotoSearch onPick={onChange} />
    </>
  );
}

interface PhotoSearchProps {
  onPick(src: string, alt: string): void;
}

/** Opens the photo search, or says that this service has none. */
function PhotoSearch({ onPick }: PhotoSearchProps) {
  const { isOperator } = useMe().auth;
  const isConfigured = useQuery(queries.photoSearch()).data?.configured;
  const [isOpen, setOpen] = useState(false);
  if (isConfigured === undefined) return null;
  if (!isConfigured)
    return (
      <p className="quiet">
        {t("There is no photo search here.")}
        {isOperator && ` ${t("The setting PEXELS_API_KEY turns it on.")}`}
      </p>
    );
  return (
    <>
      <Button
        className="start"
        variant="default"
        size="xs"
        leftSection={<IconPhotoSearch size={16} />}
        onClick={() => setOpen(true)}
      >
        {t("Find a photo")}
      </Button>
      <PhotoDialog opened={isOpen} onClose={() => setOpen(false)} onPick={onPick} />
    </>
  );
}

interface PhotoDialogProps extends PhotoSearchProps {
  opened: boolean;
  onClose(): void;
}

function PhotoDialog({ opened, onClose, onPick }: PhotoDialogProps) {
  const { site } = useSite();
  const [words, setWords] = useState("");
  const { data, error } = useQuery({ ...queries.photos(words), enabled: opened });
  const saving = useChange({
    run: (id: number) => api.stockPhotos.save({ id, ...(site && { siteId: site.id }) }),
    refreshes: ["media"],
    onDone: ({ url, alt }) => {
      onPick(url, alt.slice(0, limits.alt));
      onClose();
    },
  });
  return (
    <Modal opened={opened} onClose={onClose} title={t("Find a photo")} size="lg" lockScroll={false}>
      <div className="stack">
        <SearchBox
          label={t("Search photos")}
          placeholder={t("What is on it")}
          value={words || undefined}
          onSearch={(next) => setWords(next ?? "")}
        />
        <ErrorNote error={error ?? saving.error} />
        {data?.photos.length === 0 && <p>{t("No photo matches.")}</p>}
        <ul className="photos" aria-busy={saving.isPending}>
          {data?.photos.map(({ id, thumbUrl, alt, photographer }) => (
            <li key={id}>
              <button type="button" disabled={saving.isPending} onClick={() => saving.mutate(id)}>
                <img src={thumbUrl} alt={alt || t("Photo by {photographer}", { photographer })} />
                <small>{photographer}</small>
              </button>
            </li>
          ))}
        </ul>
        <small>
          {t("Photos by Pexels. The chosen one is copied, so that its address never changes.")}
        </small>
      </div>
    </Modal>
  );
}
