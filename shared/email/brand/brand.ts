// The brand of a site: what its emails and pages look like.
import type { Language } from "../languages.ts";
import type { Palette } from "./colors.ts";

export type FontName = "system" | "arial" | "georgia" | "verdana" | "trebuchet" | "courier";
export type Corners = "square" | "soft" | "round";

export interface BrandLogo {
  url: string;
  alt: string;
  link: string | null;
  /** Pixels. */
  width: number;
}

export interface Brand {
  logo: BrandLogo | null;
  colors: Palette;
  font: FontName;
  corners: Corners;
  socialLinks: { name: string; url: string }[];
  footerText: string | null;
  language: Language | null;
}

/** Fonts that every mail program has. */
export const fonts: Record<FontName, { label: string; family: string }> = {
  system: {
    label: "System",
    family: "-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif",
  },
  arial: { label: "Arial", family: "Arial, Helvetica, sans-serif" },
  georgia: { label: "Georgia", family: "Georgia, 'Times New Roman', serif" },
  verdana: { label: "Verdana", family: "Verdana, Geneva, sans-serif" },
  trebuchet: { label: "Trebuchet", family: "'Trebuchet MS', Helvetica, sans-serif" },
  courier: { label: "Courier", family: "'Courier New', Courier, monospace" },
};

/** Pixels. */
export const corners: Record<Corners, number> = { square: 0, soft: 8, round: 24 };

export const brandLimits = {
  url: 1000,
  alt: 200,
  minLogo: 40,
  maxLogo: 400,
  links: 10,
  linkName: 40,
  linkUrl: 300,
  footerText: 1000,
};

export const defaultLogoWidth = 140;

/** The brand of a site that has none. */
export const defaultBrand: Brand = {
  logo: null,
  colors: { accent: "#3b49c4", background: "#f3f4f7", surface: "#ffffff", text: "#23262d" },
  font: "system",
  corners: "soft",
  socialLinks: [],
  footerText: null,
  language: null,
};

/** Whether a variable of a template is a value of the brand, such as `brand.name`. */
export const isBrandPath = (name: string): boolean => /^brand(look)?[.[]/i.test(name);
