// What an email looks like: values of its theme, or Liquid that reads those of the brand.

import { fonts } from "../../../email/brand/brand.ts";
import {
  type Colors,
  colorsOf,
  inkNames,
  type Surface,
  toDarkPalette,
} from "../../../email/brand/colors.ts";
import { radiiOf } from "../../../email/brand/look.ts";
import type { Theme } from "./design.ts";

/** Values for markup. */
export interface Look {
  /** Family. */
  font: string;
  /** Around the email. */
  background: string;
  colors(surface: Surface): Colors;
  /** Undefined: the same in dark mode. */
  dark: { background: string; colors(surface: "none" | "soft" | "page"): Colors } | undefined;
  /** Pixels. */
  radius: Record<"email" | "button" | "image" | "thumbnail", string | number>;
}

export function themeLook(theme: Theme): Look {
  const dark = toDarkPalette(theme);
  return {
    font: fonts[theme.font].family,
    background: theme.background,
    colors: (surface) => colorsOf(theme, surface),
    dark: dark && {
      background: dark.background,
      colors: (surface) => colorsOf(dark, surface),
    },
    radius: radiiOf(theme.corners),
  };
}

/** `keep` protects Liquid from MJML. */
export function brandLook(keep: (code: string) => string): Look {
  const value = (path: string) => keep(`{{ brandLook.${path} }}`);
  const colorsAt = (path: string): Colors => ({
    background: value(`${path}.background`),
    text: value(`${path}.text`),
    quiet: value(`${path}.quiet`),
    link: value(`${path}.link`),
    line: value(`${path}.line`),
    button: value(`${path}.button`),
    buttonText: value(`${path}.buttonText`),
    inks: Object.fromEntries(
      inkNames.map((ink) => [ink, value(`${path}.inks.${ink}`)]),
    ) as Colors["inks"],
  });
  return {
    font: value("font"),
    background: value("page.background"),
    colors: colorsAt,
    dark: {
      background: value("dark.page.background"),
      colors: (surface) => colorsAt(`dark.${surface}`),
    },
    radius: {
      email: value("radius.email"),
      button: value("radius.button"),
      image: value("radius.image"),
      thumbnail: value("radius.thumbnail"),
    },
  };
}
