// The brand of one mail: whether the mail reads it, and the values that its templates see.
import { type Brand, corners, defaultBrand, fonts } from "../../email/brand/brand.ts";
import { type BrandLook, toBrandLook } from "../../email/brand/look.ts";
import type { BrandFields } from "../identity/site-brand.ts";
import { displayNameOf, type Site } from "../identity/sites.ts";
import type { PinnedSnippets } from "./mail-snippets.ts";
import type { TemplateVariables } from "./template-bodies.ts";

/** The brand as mail keeps it from its acceptance. */
export interface PinnedBrand extends Brand {
  /** The name that recipients know. */
  name: string;
  /** The website. */
  url?: string;
}

interface BrandReader {
  template?: TemplateVariables | undefined;
  snippets?: PinnedSnippets | undefined;
  /** Liquid besides the template. */
  sources?: (string | null | undefined)[];
}

/** The current brand of the site, for a mail that is accepted now. Undefined if it reads none. */
export const pinBrand = (
  site: Pick<Site, BrandFields>,
  mail: BrandReader,
): PinnedBrand | undefined => (readsBrand(mail) ? toPinnedBrand(site) : undefined);

const brandName = /^brand(look)?(?![\w-])/i;

/** Snippets may have changed since their template was stored, so mail with any has the brand. */
const readsBrand = ({ template, snippets, sources = [] }: BrandReader): boolean =>
  snippets !== undefined ||
  template?.variables.some((name) => brandName.test(name)) === true ||
  sources.some((source) => source && /brand/i.test(source));

/** A site without a brand has the default. */
const toPinnedBrand = (site: Pick<Site, BrandFields>): PinnedBrand => ({
  ...defaultBrand,
  ...site.brand,
  name: displayNameOf(site),
  ...(site.domain && { url: `https://${site.domain}` }),
});

/** The value of `{{ brand }}`. */
export const toBrandVariable = (pinned: PinnedBrand): Record<string, unknown> => ({
  ...pinned,
  font: fonts[pinned.font].family,
  cornerRadius: corners[pinned.corners],
});

/** For previews. `brandLook` is what visual templates read. */
export function currentBrandVariables(site: Pick<Site, BrandFields>): {
  brand: Record<string, unknown>;
  brandLook: BrandLook;
} {
  const pinned = toPinnedBrand(site);
  return { brand: toBrandVariable(pinned), brandLook: toBrandLook(pinned) };
}
