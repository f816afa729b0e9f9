import { type KeyboardEvent, type PointerEvent, useEffect, useRef } from "react";
import { t } from "../../language/translate.ts";
import { type Crop, type CropPart, moveCrop } from "./crop.ts";

interface PictureCropProps {
  bitmap: ImageBitmap;
  crop: Crop;
  onChange(crop: Crop): void;
}

const corners: Record<Exclude<CropPart, "all">, string> = {
  topLeft: t("Top left corner"),
  topRight: t("Top right corner"),
  bottomLeft: t("Bottom left corner"),
  bottomRight: t("Bottom right corner"),
};

const steps: Record<string, [number, number]> = {
  ArrowLeft: [-0.01, 0],
  ArrowRight: [0.01, 0],
  ArrowUp: [0, -0.01],
  ArrowDown: [0, 0.01],
};

const percent = (share: number): string => `${100 * share}%`;

/** The picture with a frame around what is kept. Pointer and arrow keys move the frame. */
export function PictureCrop({ bitmap, crop, onChange }: PictureCropProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const last = useRef<[number, number]>(undefined);
  useEffect(() => {
    canvas.current?.getContext("2d")?.drawImage(bitmap, 0, 0);
  }, [bitmap]);
  const start = (event: PointerEvent) => {
    event.stopPropagation();
    event.currentTarget.setPointerCapture(event.pointerId);
    last.current = [event.clientX, event.clientY];
  };
  const move = (part: CropPart) => (event: PointerEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    if (!last.current || !box) return;
    const [x, y] = last.current;
    last.current = [event.clientX, event.clientY];
    onChange(
      moveCrop(crop, part, [(event.clientX - x) / box.width, (event.clientY - y) / box.height]),
    );
  };
  const end = () => {
    last.current = undefined;
  };
  const onKeyDown = (part: CropPart) => (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    onChange(moveCrop(crop, part, step));
  };
  const handlers = (part: CropPart) => ({
    onPointerDown: start,
    onPointerMove: move(part),
    onPointerUp: end,
    onKeyDown: onKeyDown(part),
  });
  const { left, top, right, bottom } = crop;
  return (
    <div className="crop">
      <canvas ref={canvas} width={bitmap.width} height={bitmap.height} />
      <div
        className="crop-frame"
        style={{
          left: percent(left),
          top: percent(top),
          width: percent(right - left),
          height: percent(bottom - top),
        }}
      >
        <button
          type="button"
          className="crop-inside"
          aria-label={t("The part that is kept. Arrow keys move it.")}
          {...handlers("all")}
        />
        {(Object.keys(corners) as (keyof typeof corners)[]).map((part) => (
          <button
            key={part}
            type="button"
            className={`crop-corner ${part}`}
            aria-label={t("{corner}. Arrow keys move it.", { corner: corners[part] })}
            {...handlers(part)}
          />
        ))}
      </div>
    </div>
  );
}
