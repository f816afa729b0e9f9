import * as z from "zod";
import { type Caller, permit, siteNeeded } from "../caller.ts";
import { exists } from "../conditions.ts";
import { remove as dropping, get, put, queryAll, update, updateReturning, type Write, write } from "../doors/table.ts";
import { EmailAddress, oneLine } from "../email.ts";
import { conflict, missing } from "../errors.ts";
import { keys, ranges } from "../keys.ts";
import { type PageRequest, type Pagination, pagination, skipped } from "../paging.ts";
import * as apiKeys from "./api-keys.ts";
import type { Sites } from "./organizations.ts";
import * as records from "./records.ts";
import * as feed from "./sending/feed.ts";

const Domain = z
  .string()
  .max(253, { abort: true })
  .regex(/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i, "must be a domain name such as shop.example");

const fields = {
  name: oneLine(200).trim().min(1),
  domain: Domain.nullable(),
  autoBcc: EmailAddress.nullable().describe(
    "Gets a blind copy of every mail of this site, but of secure messages, test mails and mails that ask to confirm. Copies cost no credits, and what becomes of them changes no send",
  ),
  sendFrequencyCapDays: z.int().min(0).max(365).nullable().describe("A contact gets at most one marketing mail in so many days"),
  companyName: oneLine(200).nullable(),
  physicalAddress: z.string().max(500).nullable().describe("Shown in the footer of marketing mail (CAN-SPAM)"),
};

export const Site = z.object({ id: z.int(), ...fields, createdAt: z.string(), updatedAt: z.string() }).meta({ id: "Site" });
export type Site = z.output<typeof Site>;
export const SiteChanges = z.object(fields).partial();
export type SiteChanges = z.output<typeof SiteChanges>;
export const NewSite = z.object({
  name: fields.name,
  domain: fields.domain.default(null),
  autoBcc: fields.autoBcc.default(null),
  sendFrequencyCapDays: fields.sendFrequencyCapDays.default(null),
  companyName: fields.companyName.default(null),
  physicalAddress: fields.physicalAddress.default(null),
});
export type NewSite = z.output<typeof NewSite>;

type Who = Pick<Caller, "orgId" | "siteId">;

export async function create(caller: Caller, given: NewSite): Promise<Site> {
  const site: Site = { ...(await records.stamp("SITE")), ...given };
  return records.insert(
    "SITE",
    caller,
    { ...site, tracked },
    counting(caller, { siteCount: 1, siteSum: site.id }),
    tracking(caller, site.id),
  );
}

// Pages of the site are tracked without a credential: its organization is found by its id.
const tracking = ({ orgId }: Who, id: number): Write => put(keys.trackingSite(id), { orgId });
const tracked = true;

// One site more or less, on the organization's item: `onlySite` needs one read.
const counting = ({ orgId }: Who, add: Sites): Write => update(keys.organization(orgId), { add: { ...add } });

/** 404 when it is not the organization's, 403 when the caller's key is bound to another. */
export async function find(who: Who, id: number): Promise<Site> {
  const site = await records.find<Site & { tracked?: boolean }>("SITE", who, id);
  permit(who, id);
  // Sites made before there was tracking.
  if (!site.tracked)
    await write(
      tracking(who, id),
      update(keys.record(who.orgId, "SITE", id), { set: { tracked } }, { if: exists, otherwise: missing("There is no such site") }),
    );
  return site;
}

/** Newest first; a bound key sees its own only. */
export async function list(caller: Caller, request: PageRequest): Promise<{ items: Site[]; pagination: Pagination }> {
  if (caller.siteId === undefined) return records.list<Site>("SITE", caller, request);
  const own = await find(caller, caller.siteId);
  const first = skipped(request) === 0 && request.cursor === undefined;
  return { items: first ? [own] : [], pagination: pagination(request, 1, undefined) };
}

export async function change(caller: Caller, id: number, changes: SiteChanges): Promise<Site> {
  await find(caller, id);
  const changed = await updateReturning<Site>(records.changing("SITE", caller, id, changes));
  if (!changed) throw missing("There is no such site");
  return changed;
}

/** Its API keys go with it. 409 `site_has_sends` once anything was sent for it. */
export async function remove(caller: Caller, id: number): Promise<void> {
  const { orgId } = caller;
  await find(caller, id);
  const unsent = await feed.checkNone(orgId, id, hasSends());
  // Before the site, as a bound key trusts that its site is there.
  await apiKeys.removeOfSite(caller, id);
  await write(
    ...records.removing("SITE", caller, id),
    counting(caller, { siteCount: -1, siteSum: -id }),
    dropping(keys.trackingSite(id)),
    ...unsent,
  );
}

const hasSends = () => conflict("The site has sends, so it cannot be deleted", { code: "site_has_sends" });

/**
 * The site a request is about: the one named, else the bound key's, else the organization's only one; 400 when that does not settle it.
 * A bound key needs no read, everyone else one of half a unit.
 */
export async function resolve(who: Who, siteId?: number): Promise<number> {
  if (who.siteId !== undefined && (siteId === undefined || siteId === who.siteId)) return who.siteId;
  if (siteId === undefined) return onlySite(who.orgId);
  if (!(await lookUp(who.orgId, siteId))) throw missing("There is no such site");
  permit(who, siteId);
  return siteId;
}

/** As `resolve`, with whom its mail is copied to. Half a unit more. */
export async function resolveSender({ orgId, siteId: bound }: Who, siteId?: number): Promise<Pick<Site, "id" | "autoBcc">> {
  const site = await lookUp(orgId, siteId ?? bound ?? (await onlySite(orgId)));
  if (!site) throw missing("There is no such site");
  permit({ siteId: bound }, site.id);
  return site;
}

/** The one site that a list covers: the one named, else the bound key's; undefined when it covers all. */
export const only = async (who: Who, siteId: number | undefined): Promise<number | undefined> =>
  siteId === undefined ? who.siteId : resolve(who, siteId);

/** Sites that a list covers: the one named, else all that the caller may see, oldest first. */
export async function visible(who: Who, siteId?: number): Promise<number[]> {
  if (siteId !== undefined || who.siteId !== undefined) return [await resolve(who, siteId)];
  const sites = await queryAll<Site>(ranges.records(who.orgId, "SITE"));
  return sites.map(({ id }) => id);
}

// The cheap read may be a moment behind, and whoever has just made a site uses it at once: before a refusal we look again.
const lookUp = async (orgId: number, id: number): Promise<Site | undefined> =>
  (await get<Site>(keys.record(orgId, "SITE", id), { consistent: false })) ?? (await get<Site>(keys.record(orgId, "SITE", id)));

async function onlySite(orgId: number): Promise<number> {
  for (const consistent of [false, true]) {
    const sites = await get<Sites>(keys.organization(orgId), { consistent });
    if (sites?.siteCount === 1) return sites.siteSum;
  }
  throw siteNeeded();
}

/** As people know it: of the company, where that is told. */
export const nameOf = ({ companyName, name }: Site): string => companyName?.trim() || name;
