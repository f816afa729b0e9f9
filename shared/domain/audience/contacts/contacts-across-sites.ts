// Pages of contacts in email order over several sites.
import { limitExceeded } from "../../../errors.ts";
import { countSkipped, type PageRequest, positionOf } from "../../../kernel/paging.ts";
import * as contactReader from "./contact-reader.ts";
import type { ContactItem } from "./contact-schema.ts";

export interface ContactPage {
  items: ContactItem[];
  next: string | undefined;
  total: number | null;
}

const maxSites = 20;

export function refuseTooManySites(siteIds: number[]): void {
  if (siteIds.length > maxSites)
    throw limitExceeded(
      "siteId",
      `siteId is needed: contacts of more than ${maxSites} sites cannot be listed together`,
    );
}

const sitePattern = /^\d{1,16}#[^\s@]+@[^\s@]+$/;

/**
 * Site by site, newest site first, in email order within a site. A cursor position is
 * `<site>#<email>`.
 */
export async function listAcrossSites(
  { orgId, siteIds, total }: { orgId: number; siteIds: number[]; total: number | null },
  request: PageRequest,
  wanted: contactReader.SitePageQuery,
): Promise<ContactPage> {
  refuseTooManySites(siteIds);
  const position = positionOf(request, sitePattern);
  const split = position?.indexOf("#") ?? 0;
  const [first, address] =
    position === undefined
      ? [undefined, undefined]
      : [Number(position.slice(0, split)), position.slice(split + 1)];
  const skip = countSkipped(request);
  const enough = skip + request.limit + 1;
  const items: ContactItem[] = [];
  for (const siteId of siteIds
    .toSorted((a, b) => b - a)
    .filter((id) => first === undefined || id <= first)) {
    const after = siteId === first ? address : undefined;
    const page = await contactReader.readSitePage(
      { orgId, siteId },
      { limit: enough - items.length, cursor: after },
      wanted,
    );
    items.push(...page.items);
    if (items.length >= enough) break;
    // The reader stopped after reading very many contacts: the page ends short.
    if (page.next !== undefined)
      return { items: items.slice(skip), next: `${siteId}#${page.next}`, total };
  }
  const shown = items.slice(skip, enough - 1);
  const last = shown.at(-1);
  return {
    items: shown,
    next: items.length >= enough && last ? `${last.siteId}#${last.sk}` : undefined,
    total,
  };
}
