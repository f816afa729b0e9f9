// Crops a picture and scales it in the browser, so that an email loads no more than it shows.
import { t } from "../../language/translate.ts";
import { ReadableError } from "../readable-error.ts";
import { type Crop, sizeOfCrop, wholePicture } from "./crop.ts";

/** A file that people chose, with what it shows. */
export interface ChosenPicture {
  file: File;
  bitmap: ImageBitmap;
  /** An animation would lose its movement, so it is used as it is. */
  isAnimation: boolean;
}

/** Undefined if the browser cannot read the file as a picture. */
export async function readChosen(file: File): Promise<ChosenPicture | undefined> {
  if (file.type === "image/svg+xml") return undefined;
  const bitmap = await createImageBitmap(file).catch(() => undefined);
  return bitmap && { file, bitmap, isAnimation: file.type === "image/gif" };
}

/** Some mail programs show no WebP, so the result is a JPEG, or a PNG if it is see-through. */
export async function cropAndScale(
  { file, bitmap, isAnimation }: ChosenPicture,
  crop: Crop,
  maxWidth: number,
): Promise<Blob> {
  if (isAnimation) return file;
  const size = sizeOfCrop(bitmap, crop, maxWidth);
  const canvas = document.createElement("canvas");
  canvas.width = size.width;
  canvas.height = size.height;
  const context = canvas.getContext("2d")!;
  context.imageSmoothingQuality = "high";
  context.drawImage(
    bitmap,
    ...([crop.left * bitmap.width, crop.top * bitmap.height] as const),
    ...([
      (crop.right - crop.left) * bitmap.width,
      (crop.bottom - crop.top) * bitmap.height,
    ] as const),
    ...([0, 0, size.width, size.height] as const),
  );
  const isSeeThrough = hasTransparency(context, size);
  const drawn = await toBlob(canvas, isSeeThrough || file.type === "image/png");
  const isUnchanged = crop === wholePicture && size.width === bitmap.width;
  const isSmaller = file.type !== "image/webp" && file.size <= drawn.size;
  return isUnchanged && isSmaller ? file : drawn;
}

const toBlob = (canvas: HTMLCanvasElement, isPng: boolean): Promise<Blob> =>
  new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new ReadableError(t("The picture is too large.")))),
      isPng ? "image/png" : "image/jpeg",
      0.86,
    ),
  );

function hasTransparency(
  context: CanvasRenderingContext2D,
  { width, height }: { width: number; height: number },
): boolean {
  const { data } = context.getImageData(0, 0, width, height);
  for (let i = 3; i < data.length; i += 4) if (data[i]! < 255) return true;
  return false;
}
