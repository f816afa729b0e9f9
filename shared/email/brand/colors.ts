// The colours of an email, in light and in dark mode.

/** Colours as `#rrggbb`. */
export interface Palette {
  accent: string;
  /** Behind the email. */
  background: string;
  surface: string;
  text: string;
}

type Rgb = [red: number, green: number, blue: number];

const toRgb = (hex: string): Rgb => {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
};

const toHex = (rgb: Rgb): string =>
  `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;

/** `share` of `b`, from 0 to 1. */
function mix(a: string, b: string, share: number): string {
  const other = toRgb(b);
  return toHex(toRgb(a).map((part, i) => part * (1 - share) + other[i]! * share) as Rgb);
}

/** As WCAG 2 defines it. */
function luminance(color: string): number {
  const [red, green, blue] = toRgb(color).map((part) => {
    const level = part / 255;
    return level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** From 1 to 21, as WCAG 2 defines it. */
export function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].toSorted((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** The least contrast of text that people can read. */
export const readableContrast = 4.5;

const isDark = (color: string): boolean => luminance(color) < 0.18;

/** White or almost black. */
export const textOn = (color: string): string =>
  contrast("#ffffff", color) >= readableContrast ? "#ffffff" : "#16181d";

/** Moves a colour towards white or black until text in it is readable. */
export function readableOn(color: string, background: string): string {
  const goal = isDark(background) ? "#ffffff" : "#000000";
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mix(color, goal, share);
    if (contrast(mixed, background) >= readableContrast) return mixed;
  }
  return goal;
}

/** Colours of words, before they are made readable on a background. */
const inkColors = {
  red: "#c5221f",
  orange: "#b45309",
  green: "#188038",
  blue: "#1a66d9",
  purple: "#8430ce",
  gray: "#737a86",
};

/** `accent` is the colour of the links. */
export type InkName = "accent" | keyof typeof inkColors;
type Inks = Record<InkName, string>;
export const inkNames: readonly InkName[] = [
  "accent",
  ...(Object.keys(inkColors) as (keyof typeof inkColors)[]),
];

/** The colours of what stands on a background. */
export interface Colors {
  background: string;
  text: string;
  quiet: string;
  link: string;
  line: string;
  button: string;
  buttonText: string;
  inks: Inks;
}

/** What content stands on: the email, a tint of the accent, the accent, or around the email. */
export type Surface = "none" | "soft" | "accent" | "page";

export function colorsOf(palette: Palette, surface: Surface): Colors {
  if (surface === "accent") {
    const text = textOn(palette.accent);
    return {
      background: palette.accent,
      text,
      quiet: text,
      link: text,
      line: mix(palette.accent, text, 0.35),
      button: text,
      buttonText: readableOn(palette.accent, text),
      inks: inksOn(palette.accent, text),
    };
  }
  return colorsOn(backgroundOf(palette, surface), palette);
}

function backgroundOf(palette: Palette, surface: Exclude<Surface, "accent">): string {
  if (surface === "page") return palette.background;
  return surface === "soft"
    ? mix(palette.surface, palette.accent, isDark(palette.surface) ? 0.18 : 0.09)
    : palette.surface;
}

function colorsOn(background: string, { text: chosen, accent }: Palette): Colors {
  // The text was chosen for the surface. On another background it may not be readable.
  const text = isDark(background) === isDark(chosen) ? textOn(background) : chosen;
  const button = contrast(accent, background) < leastButtonContrast ? text : accent;
  const link = readableOn(accent, background);
  return {
    background,
    text,
    quiet: readableOn(mix(text, background, 0.35), background),
    link,
    line: mix(background, text, 0.16),
    button,
    buttonText: textOn(button),
    inks: inksOn(background, link),
  };
}

function inksOn(background: string, link: string): Inks {
  const readable = Object.entries(inkColors).map(([name, color]) => [
    name,
    readableOn(color, background),
  ]);
  return { accent: link, ...Object.fromEntries(readable) };
}

/** A dark accent in dark mode, for example, would hide where a button ends. */
const leastButtonContrast = 1.5;

const darkPalette = { background: "#121316", surface: "#1d1e22", text: "#ececee" };

/** Undefined if the palette is dark already: then it has no other colours in dark mode. */
export const toDarkPalette = <T extends Palette>(palette: T): T | undefined =>
  isDark(palette.surface) ? undefined : { ...palette, ...darkPalette };
