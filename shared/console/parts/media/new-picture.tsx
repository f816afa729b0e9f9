import { Button, FileButton, SegmentedControl, Switch, TextInput } from "@mantine/core";
import { IconPhotoUp } from "@tabler/icons-react";
import type { Media } from "pennymail";
import { type DragEvent, useEffect, useId, useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Form } from "../form.tsx";
import { useTextField } from "../text-field.ts";
import { type Crop, cropToShape, type Shape, sizeOfCrop, wholePicture } from "./crop.ts";
import { PictureCrop } from "./picture-crop.tsx";
import { type ChosenPicture, cropAndScale, readChosen } from "./scale-picture.ts";
import "./media.css";

const accept = "image/png,image/jpeg,image/gif,image/webp";

interface NewPictureProps {
  siteId: number;
  /** Pixels. The picture is stored for screens with twice as many. */
  shownWidth: number;
  onAdded(picture: Media): void;
}

/** A picture is dropped, pasted or chosen, then cropped, described and stored. */
export function NewPicture({ siteId, shownWidth, onAdded }: NewPictureProps) {
  const [chosen, setChosen] = useState<ChosenPicture>();
  const [isUnreadable, setUnreadable] = useState(false);
  const choose = async (file: File | null | undefined) => {
    if (!file) return;
    const picture = await readChosen(file);
    setUnreadable(picture === undefined);
    setChosen(picture);
  };
  useEffect(() => {
    const paste = ({ clipboardData }: ClipboardEvent) => {
      const file = [...(clipboardData?.files ?? [])].find(({ type }) => type.startsWith("image/"));
      if (file) choose(file);
    };
    document.addEventListener("paste", paste);
    return () => document.removeEventListener("paste", paste);
  }, []);
  if (chosen)
    return (
      <DescribePicture
        key={chosen.file.name + chosen.file.size}
        {...{ siteId, shownWidth, chosen, onAdded }}
        onBack={() => setChosen(undefined)}
      />
    );
  return <DropZone isUnreadable={isUnreadable} onChoose={choose} />;
}

interface DropZoneProps {
  isUnreadable: boolean;
  onChoose(file: File | null | undefined): void;
}

function DropZone({ isUnreadable, onChoose }: DropZoneProps) {
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    onChoose(event.dataTransfer.files[0]);
  };
  return (
    <section
      className={isOver ? "picture-drop over" : "picture-drop"}
      aria-label={t("New picture")}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <IconPhotoUp size={26} stroke={1.4} aria-hidden />
      <p>{t("Drop a picture here, or paste it")}</p>
      <FileButton accept={accept} onChange={onChoose}>
        {(props) => (
          <Button {...props} variant="default" size="xs">
            {t("Choose a file")}
          </Button>
        )}
      </FileButton>
      {isUnreadable && (
        <p className="tone-bad" role="alert">
          {t("This file is no PNG, JPEG, GIF or WebP picture.")}
        </p>
      )}
    </section>
  );
}

interface DescribePictureProps extends NewPictureProps {
  chosen: ChosenPicture;
  onBack(): void;
}

const shapeChoices: { value: Shape; label: string }[] = [
  { value: "whole", label: t("As it is") },
  { value: "square", label: t("Square") },
  { value: "photo", label: "4 : 3" },
  { value: "banner", label: t("Banner") },
];

const nameOf = ({ name }: File): string => name.replace(/\.\w{1,5}$/, "").slice(0, 200);

function DescribePicture(props: DescribePictureProps) {
  const { siteId, shownWidth, chosen, onAdded, onBack } = props;
  const { file, bitmap, isAnimation } = chosen;
  const shapeLabel = useId();
  const [shape, setShape] = useState<Shape>("whole");
  const [crop, setCrop] = useState<Crop>(wholePicture);
  const [isDecorative, setDecorative] = useState(false);
  const name = useTextField(nameOf(file) || t("Picture"));
  const alt = useTextField();
  const maxWidth = 2 * shownWidth;
  const saving = useChange({
    run: async () => {
      const blob = await cropAndScale(chosen, crop, maxWidth);
      const form = new FormData();
      form.set("siteId", String(siteId));
      form.set("name", name.value.trim() || t("Picture"));
      if (!isDecorative) form.set("alt", alt.value.trim());
      form.set("file", blob, file.name);
      return api.media.create(form);
    },
    refreshes: ["media"],
    onDone: onAdded,
  });
  const size = isAnimation ? bitmap : sizeOfCrop(bitmap, crop, maxWidth);
  return (
    <Form
      action={t("Add picture")}
      submission={saving}
      isDisabled={!isDecorative && !alt.value.trim()}
      buttons={
        <Button variant="default" onClick={onBack}>
          {t("Another picture")}
        </Button>
      }
    >
      {isAnimation ? (
        <p className="quiet">{t("An animation is used as it is.")}</p>
      ) : (
        <>
          <PictureCrop bitmap={bitmap} crop={crop} onChange={setCrop} />
          <div className="choice">
            <span id={shapeLabel}>{t("Shape")}</span>
            <SegmentedControl
              aria-labelledby={shapeLabel}
              size="xs"
              fullWidth
              value={shape}
              data={shapeChoices}
              onChange={(next) => {
                setShape(next as Shape);
                setCrop(cropToShape(bitmap, next as Shape));
              }}
            />
          </div>
        </>
      )}
      <p className="quiet" role="status">
        {t("It will have {width} × {height} pixels.", {
          width: formatNumber(size.width),
          height: formatNumber(size.height),
        })}
      </p>
      <TextInput
        label={t("Description")}
        description={t("What the picture shows, for those who cannot see it.")}
        maxLength={500}
        disabled={isDecorative}
        {...alt.input}
      />
      <Switch
        label={t("It is only decoration")}
        checked={isDecorative}
        onChange={({ currentTarget }) => setDecorative(currentTarget.checked)}
      />
      <TextInput
        label={t("Name")}
        description={t("To find it again.")}
        maxLength={200}
        {...name.input}
      />
    </Form>
  );
}
