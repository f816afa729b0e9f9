// What a visual email takes from a theme or from the brand of its site. An email that uses the
// brand has an output such as `{{ brandLook.soft.link }}` in the place of each value.
import { escapeHtml } from "../../kernel/html.ts";
import { type Brand, corners, fonts } from "./brand.ts";
import { type Colors, colorsOf, type Surface, toDarkPalette } from "./colors.ts";

/** Pixels. */
export interface Radii {
  email: number;
  button: number;
  image: number;
  thumbnail: number;
}

export const radiiOf = (name: Brand["corners"]): Radii => ({
  email: corners[name] ? 12 : 0,
  button: corners[name],
  image: Math.min(corners[name], 12),
  thumbnail: Math.min(corners[name], 8),
});

interface SurfaceLook extends Colors {
  /** Links as HTML: words or badges. */
  social: string;
  badges: string;
}

/** The value of `brandLook`. */
export interface BrandLook extends Record<Surface, SurfaceLook> {
  font: string;
  /** A palette that is dark already has the same colours in dark mode. */
  dark: Record<"none" | "soft" | "page", Colors>;
  radius: Radii;
  /** HTML. */
  logo: string;
  footer: string;
}

export function toBrandLook(brand: Brand): BrandLook {
  const { colors } = brand;
  const dark = toDarkPalette(colors) ?? colors;
  const surface = (name: Surface) => toSurfaceLook(brand, colorsOf(colors, name));
  return {
    ...{ none: surface("none"), soft: surface("soft") },
    ...{ accent: surface("accent"), page: surface("page") },
    font: fonts[brand.font].family,
    dark: {
      none: colorsOf(dark, "none"),
      soft: colorsOf(dark, "soft"),
      page: colorsOf(dark, "page"),
    },
    radius: radiiOf(brand.corners),
    logo: writeLogo(brand),
    footer: writeFooter(brand),
  };
}

function toSurfaceLook({ socialLinks }: Brand, colors: Colors): SurfaceLook {
  const words = socialLinks.map(({ name, url }) => {
    const style = `color:${colors.link};text-decoration:underline`;
    return `<a href="${escapeHtml(url)}" class="link" style="${style}">${escapeHtml(name)}</a>`;
  });
  const badges = socialLinks.map(({ name, url }) => writeBadge({ name, href: url }, colors));
  return { ...colors, social: words.join("&nbsp; · &nbsp;"), badges: badges.join(" ") };
}

const badgeLayout = "display:inline-block;white-space:nowrap;margin:3px 2px;";

function writeBadge({ name, href }: { name: string; href: string }, colors: Colors): string {
  const style =
    `${badgeLayout}color:${colors.buttonText};background-color:${colors.button};` +
    "border-radius:14px;font-weight:600;text-decoration:none;padding:5px 14px";
  return `<a href="${escapeHtml(href)}" style="${style}">${escapeHtml(name)}</a>`;
}

/** Also the space around it, so that an email without a logo has less of it. */
function writeLogo({ logo }: Brand): string {
  if (!logo) return writeSpace(24);
  const image =
    `<img src="${escapeHtml(logo.url)}" alt="${escapeHtml(logo.alt)}" width="${logo.width}" ` +
    `style="display:inline-block;width:${logo.width}px;max-width:100%;height:auto;border:0">`;
  const linked = logo.link
    ? `<a href="${escapeHtml(logo.link)}" style="text-decoration:none">${image}</a>`
    : image;
  return writeSpace(28) + linked + writeSpace(20);
}

function writeFooter({ footerText }: Brand): string {
  const lines = escapeHtml(footerText?.trim() ?? "").replace(/\r?\n/g, "<br>");
  return lines && `<p style="margin:12px 0 0">${lines}</p>`;
}

const writeSpace = (height: number): string =>
  `<div style="height:${height}px;line-height:${height}px;font-size:1px">&#8202;</div>`;

const lookOutput = /\{\{ brandLook((?:\.\w+)+)( \| raw)? \}\}/g;

/**
 * Puts the values in the place of the outputs that the visual editor wrote, so that all recipients
 * share them. Text in a raw block stays as it is.
 */
export function insertBrandLook(html: string, look: BrandLook): string {
  if (!html.includes("brandLook") || /\{%-?\s*raw\b/.test(html)) return html;
  return html.replace(lookOutput, (output, path: string, raw: string | undefined) => {
    const value = readPath(look, path);
    if (typeof value !== "string" && typeof value !== "number") return output;
    const text = raw ? String(value) : escapeHtml(String(value));
    // Liquid must not read what somebody wrote into the brand.
    return text.includes("{") ? output : text;
  });
}

const readPath = (look: BrandLook, path: string): unknown =>
  path
    .slice(1)
    .split(".")
    .reduce<unknown>(
      (value, word) =>
        typeof value === "object" && value !== null && Object.hasOwn(value, word)
          ? (value as Record<string, unknown>)[word]
          : undefined,
      look,
    );
