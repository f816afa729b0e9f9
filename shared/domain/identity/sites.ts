import * as z from "zod";
import {
  get,
  getMany,
  getTogether,
  put,
  queryAll,
  update,
  updateReturning,
  type Write,
} from "../../adapters/dynamodb/table.ts";
import {
  type Caller,
  type CallerScope,
  onlySiteIdOf,
  requireSiteAccess,
  siteIdRequired,
} from "../../caller.ts";
import { invalid, missing, Problem } from "../../errors.ts";
import { EmailAddress, singleLineText } from "../../kernel/email-fields.ts";
import { createLruCache } from "../../kernel/lru-cache.ts";
import {
  countSkipped,
  type PageRequest,
  type Pagination,
  positionOf,
  toPagination,
} from "../../kernel/paging.ts";
import { CreatedAt, RecordId, UpdatedAt } from "../../kernel/record-fields.ts";
import * as records from "../../kernel/records.ts";
import { deletedSites } from "../../kernel/site-access.ts";
import { keys, ranges, zeroPad } from "../../keys.ts";
import { consentDefaults, consentFields } from "./consent-settings.ts";
import type { SiteTotals } from "./organizations.ts";
import { archiveFields, archiveSwitch, archiveToApi } from "./site-archive.ts";
import { type BrandFields, BrandInput, SiteBrand } from "./site-brand.ts";
import { getErasureProgress } from "./site-erasure-job.ts";
import {
  DomainName,
  type TrackingDomainCheck,
  trackingDomain,
  trackingDomainFields,
  trackingDomainToApi,
} from "./site-tracking-domain.ts";

/** Largest `softBounceLimit` of a site. */
export const maxSoftBounceLimit = 10;

const fields = {
  name: singleLineText(200).trim().min(1).describe("Name of the site."),
  domain: DomainName.nullable().describe(
    "Domain of the website, such as `shop.example`, without `https://`. Buttons of playbook " +
      "emails link to it.",
  ),
  autoBcc: EmailAddress.nullable().describe(
    "Email address that gets a blind copy of each email of the site. Secure messages, test " +
      "emails and confirmation emails are not copied. Copies cost no credits, and their events " +
      "do not change the send.",
  ),
  replyTo: EmailAddress.nullable().describe(
    "Email address that replies to email of the site go to. An email, campaign, sequence or " +
      "holiday can have its own. `null`: that of the sending config.",
  ),
  sendFrequencyCapDays: z
    .int()
    .min(0)
    .max(365)
    .nullable()
    .describe(
      "Minimum number of days between two marketing emails to one contact. One day is 24 " +
        "hours. `null` or 0: no cap.",
    ),
  companyName: singleLineText(200)
    .nullable()
    .describe("Company named in the footer of marketing email. Defaults to the name of the site."),
  physicalAddress: z
    .string()
    .max(500)
    .nullable()
    .describe(
      "Postal address in the footer of marketing email (CAN-SPAM). Takes precedence over " +
        "`physicalAddress` of GET /compliance.",
    ),
  softBounceLimit: z
    .int()
    .min(1)
    .max(maxSoftBounceLimit)
    .nullable()
    .describe(
      "Number of soft bounces in a row, of different emails of the site, that suppress an " +
        "address for marketing email. A later email that is delivered, or 30 days without a " +
        "bounce, end that. SMTP servers report no deliveries: an email without a bounce counts " +
        "as delivered, if another one bounces that was sent five days later. `null` or 1: the " +
        "first one suppresses. A hard bounce always does, " +
        "for all email.",
    ),
  archive: archiveSwitch,
  ...consentFields,
};

export const Site = z
  .object({
    id: RecordId.describe("Id of the site, for `siteId` of other requests."),
    ...fields,
    brand: SiteBrand,
    ...archiveFields,
    ...trackingDomainFields,
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "Site" });
/** How a site receives mail; see inbound/inbound-settings.ts. Never returned. */
export interface SiteInbound {
  /** Part of its URLs. */
  secret: string;
  /** Encrypted. */
  sealedSigningKey?: string | undefined;
  /** The address that providers receive mail for. */
  address?: string | undefined;
  /** Gets a copy of the mail of people. */
  forwardTo?: string | undefined;
}
export type Site = Omit<
  z.output<typeof Site>,
  "archiveUrl" | "trackingDomain" | "trackingDomainState"
> & {
  inbound?: SiteInbound;
  trackingDomain?: string;
  trackingCheck?: TrackingDomainCheck;
};
/** Some fields are absent in records of earlier versions of the service. */
export const toApi = (site: Site): z.output<typeof Site> => ({
  ...consentDefaults,
  ...site,
  ...archiveToApi(site),
  ...trackingDomainToApi(site),
  replyTo: site.replyTo ?? null,
  brand: site.brand ?? null,
});

export const SiteChanges = z.object({ ...fields, brand: BrandInput, trackingDomain }).partial();
type SiteChanges = Omit<z.output<typeof SiteChanges>, "trackingDomain">;
export const NewSite = z.object({
  name: fields.name,
  domain: fields.domain.default(null),
  autoBcc: fields.autoBcc.default(null),
  replyTo: fields.replyTo.default(null),
  sendFrequencyCapDays: fields.sendFrequencyCapDays.default(null),
  companyName: fields.companyName.default(null),
  physicalAddress: fields.physicalAddress.default(null),
  softBounceLimit: fields.softBounceLimit.default(null),
  archive: fields.archive.default(false),
  confirmationReminderHours: fields.confirmationReminderHours.default(null),
  brand: BrandInput.default(null),
});
export type NewSite = z.output<typeof NewSite>;

export async function create(caller: Caller, input: NewSite): Promise<Site> {
  const site: Site = {
    ...(await records.newRecordFields("SITE")),
    ...consentDefaults,
    ...input,
  };
  return records.insert("SITE", caller, {
    record: site,
    extraWrites: [
      countSitesWrite(caller, { siteCount: 1, siteSum: site.id }),
      // Website tracking has no credential. It finds the organization by the site id.
      put(keys.trackingSite(site.id), { orgId: caller.orgId }),
    ],
  });
}

const countSitesWrite = ({ orgId }: CallerScope, add: SiteTotals): Write =>
  update(keys.organization(orgId), { add: { ...add } });

/**
 * Throws 404 if the site does not exist, 403 if the caller may not
 * access it.
 */
export async function find(caller: CallerScope, id: number): Promise<Site> {
  const site = await records.find<Site>("SITE", caller, id);
  requireSiteAccess(caller, id);
  return site;
}

/** Newest first. A caller that is limited to sites sees only these. */
export async function list(
  caller: Caller,
  request: PageRequest,
): Promise<{ items: Site[]; pagination: Pagination }> {
  if (!caller.siteIds) return records.list<Site>("SITE", caller, request);
  const found = await getMany<Site>(
    (await liveSites(caller.orgId, caller.siteIds)).map((id) =>
      keys.record(caller.orgId, "SITE", id),
    ),
    { consistent: true },
  );
  const own = found.flatMap((site) => site ?? []).sort((a, b) => b.id - a.id);
  const last = positionOf(request, /^\d{16}$/) ?? zeroPad(Number.MAX_SAFE_INTEGER);
  const skipped = countSkipped(request);
  const rest = own.filter(({ id }) => zeroPad(id) < last).slice(skipped);
  const items = rest.slice(0, request.limit);
  const next = rest.length > items.length ? zeroPad(items.at(-1)!.id) : undefined;
  return { items, pagination: toPagination(request, own.length, next) };
}

/** Leaves out deleted sites. */
const liveSites = async (orgId: number, siteIds: readonly number[]): Promise<number[]> => {
  const deleted = await deletedSites(orgId);
  return siteIds.filter((id) => !deleted.has(id));
};

export async function change(caller: Caller, id: number, changes: SiteChanges): Promise<Site> {
  await find(caller, id);
  const changed = await updateReturning<Site>(
    records.updateWrite("SITE", caller, { id, set: changes }),
  );
  if (!changed) throw missing("The site does not exist");
  return changed;
}

/**
 * Like `find`, but throws 410 with the progress while the records of a deleted site are being
 * erased.
 */
export async function show(caller: CallerScope, id: number): Promise<Site> {
  try {
    return await find(caller, id);
  } catch (error) {
    const erasing =
      error instanceof Problem && error.kind === "missing"
        ? await getErasureProgress(caller.orgId, id)
        : undefined;
    if (!erasing) throw error;
    requireSiteAccess(caller, id);
    const { contacts, contactsErased, itemsErased } = erasing;
    const bodyFields = { contacts, contactsErased, itemsErased };
    throw missing("The site was deleted, and what it owned is being erased", {
      code: "site_deleted",
      status: 410,
      bodyFields,
    });
  }
}

/**
 * The site of a request: `siteId`, else the only site that the caller may access, else the
 * organization's only site. Throws 400 if none applies. Takes no read for a key that is bound to
 * the site, and otherwise one of half a unit.
 */
export async function resolveSiteId(caller: CallerScope, siteId?: number): Promise<number> {
  const ownSiteId = onlySiteIdOf(caller);
  if (ownSiteId !== undefined && (siteId === undefined || siteId === ownSiteId)) return ownSiteId;
  if (siteId === undefined) return getOnlySiteId(caller);
  if (!(await getSite(caller.orgId, siteId))) throw missing("The site does not exist");
  requireSiteAccess(caller, siteId);
  return siteId;
}

/** Like `resolveSiteId`, but returns the site. Takes half a unit more. */
export async function resolveSite(
  caller: CallerScope,
  siteId?: number,
): Promise<Pick<Site, "id" | "autoBcc" | "replyTo" | BrandFields>> {
  const knownId = siteId ?? onlySiteIdOf(caller);
  const site = await (knownId === undefined ? getOnlySite(caller) : getSite(caller.orgId, knownId));
  if (!site) throw missing("The site does not exist");
  requireSiteAccess(caller, site.id);
  return site;
}

/**
 * The sites that a list covers: `siteId`, else those that the caller is limited to. Undefined if it
 * covers all sites.
 */
export async function siteFilter(
  caller: CallerScope,
  siteId: number | undefined,
): Promise<readonly number[] | undefined> {
  if (siteId !== undefined) return [await resolveSiteId(caller, siteId)];
  return caller.siteIds && liveSites(caller.orgId, caller.siteIds);
}

/** The sites that a list covers: `siteId`, else all that the caller can access, oldest first. */
export async function listVisibleSiteIds(caller: CallerScope, siteId?: number): Promise<number[]> {
  const filtered = await siteFilter(caller, siteId);
  if (filtered) return filtered.toSorted((a, b) => a - b);
  const sites = await queryAll<Site>(ranges.records(caller.orgId, "SITE"));
  return sites.map(({ id }) => id);
}

// An eventually consistent read can miss a site that was just created, so a consistent read follows
// before a 404.
const getSite = async (orgId: number, id: number): Promise<Site | undefined> =>
  (await getTogether<Site>(keys.record(orgId, "SITE", id))) ??
  (await get<Site>(keys.record(orgId, "SITE", id)));

/** The id that an organization's only site had last, to read the site together with the totals. */
const lastOnlySites = createLruCache<number>(10_000);

async function getOnlySite(caller: CallerScope): Promise<Site | undefined> {
  const { orgId } = caller;
  const expectedId = lastOnlySites.get(String(orgId));
  const [id, expected] = await Promise.all([
    getOnlySiteId(caller),
    expectedId && getTogether<Site>(keys.record(orgId, "SITE", expectedId)),
  ]);
  lastOnlySites.set(String(orgId), id, 1);
  return expected && expected.id === id ? expected : getSite(orgId, id);
}

async function getOnlySiteId({ orgId, siteIds }: CallerScope): Promise<number> {
  if (siteIds) throw siteIdRequired();
  for (const consistent of [false, true]) {
    const read = consistent ? get : getTogether;
    const totals = await read<SiteTotals>(keys.organization(orgId));
    if (totals?.siteCount === 1) return totals.siteSum;
    if (consistent && totals?.siteCount === 0) throw noSite();
  }
  throw siteIdRequired();
}

const noSite = () =>
  invalid("The organization has no site yet: create one with POST /sites", {
    details: [{ path: "siteId", message: "siteId is required" }],
  });

/** The name that recipients know: the company's, if there is one. */
export const displayNameOf = (site: Pick<Site, "companyName" | "name">): string =>
  site.companyName?.trim() || site.name;
