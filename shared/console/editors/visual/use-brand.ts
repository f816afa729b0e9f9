import { type Brand, defaultBrand } from "../../../email/brand/brand.ts";
import { useSite } from "../../data/session.ts";

/** The brand of a site. One that the site does not have is the default. */
export function useBrand(siteId: number): { brand: Brand; hasBrand: boolean } {
  const { sites } = useSite();
  const own = sites.find(({ id }) => id === siteId)?.brand ?? undefined;
  return { brand: own ?? defaultBrand, hasBrand: own !== undefined };
}
