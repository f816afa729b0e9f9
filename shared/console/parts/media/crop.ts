// The part of a picture that is kept, and the shapes that it can have.

/** In shares of the width and the height, from 0 to 1. */
export interface Crop {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export const wholePicture: Crop = { left: 0, top: 0, right: 1, bottom: 1 };

/** A picture is cropped to no less than a twentieth of its width or height. */
const leastShare = 0.05;

export interface Size {
  width: number;
  height: number;
}

/** Width by height. Undefined: as the picture is. */
export const shapes = {
  whole: undefined,
  square: 1,
  photo: 4 / 3,
  banner: 2.5,
} as const;
export type Shape = keyof typeof shapes;

/** The largest part of the picture with the shape, in its middle. */
export function cropToShape({ width, height }: Size, shape: Shape): Crop {
  const ratio = shapes[shape];
  if (ratio === undefined) return wholePicture;
  const share = (ratio * height) / width;
  const [across, down] = share <= 1 ? [share, 1] : [1, 1 / share];
  const [left, top] = [(1 - across) / 2, (1 - down) / 2];
  return { left, top, right: 1 - left, bottom: 1 - top };
}

export type CropPart = "all" | "topLeft" | "topRight" | "bottomLeft" | "bottomRight";

const clamp = (value: number, least: number, most: number): number =>
  Math.min(Math.max(value, least), most);

/** Moves the crop or one of its corners, within the picture. */
export function moveCrop(crop: Crop, part: CropPart, [across, down]: [number, number]): Crop {
  const { left, top, right, bottom } = crop;
  if (part === "all") {
    const x = clamp(across, -left, 1 - right);
    const y = clamp(down, -top, 1 - bottom);
    return { left: left + x, top: top + y, right: right + x, bottom: bottom + y };
  }
  return {
    left: part.endsWith("Left") ? clamp(left + across, 0, right - leastShare) : left,
    right: part.endsWith("Right") ? clamp(right + across, left + leastShare, 1) : right,
    top: part.startsWith("top") ? clamp(top + down, 0, bottom - leastShare) : top,
    bottom: part.startsWith("bottom") ? clamp(bottom + down, top + leastShare, 1) : bottom,
  };
}

/** Pixels of the cropped picture, at most `maxWidth` wide. It never grows. */
export function sizeOfCrop({ width, height }: Size, crop: Crop, maxWidth: number): Size {
  const cropped = {
    width: Math.max(1, (crop.right - crop.left) * width),
    height: Math.max(1, (crop.bottom - crop.top) * height),
  };
  const scale = Math.min(1, maxWidth / cropped.width);
  return { width: Math.round(cropped.width * scale), height: Math.round(cropped.height * scale) };
}
