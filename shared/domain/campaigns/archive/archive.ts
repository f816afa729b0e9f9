// The public archive of a site: emails of campaigns as pages, without a recipient. What is shown is
// stored, so it stays when the template or the feed is deleted.
import { absent, all, type Condition, exists } from "../../../adapters/dynamodb/conditions.ts";
import {
  get,
  put,
  query,
  remove,
  transact,
  update,
  type Write,
} from "../../../adapters/dynamodb/table.ts";
import { now } from "../../../clock.ts";
import type { Language } from "../../../email/languages.ts";
import { missing, undefinedIfMissing } from "../../../errors.ts";
import { type CompressedValue, compress, decompress } from "../../../kernel/compressed-values.ts";
import { type Key, keys, ranges, zeroPad } from "../../../keys.ts";
import * as organizations from "../../identity/organizations.ts";
import * as sites from "../../identity/sites.ts";
import { displayNameOf, type Site } from "../../identity/sites.ts";
import type { StoredCampaign } from "../stored-campaign.ts";

/** An email as a page, without a recipient. */
export interface ArchivedMail {
  subject: string;
  previewText: string;
  html: string | null;
  text: string;
  language: Language;
}

/** An entry of the list, which has no body. */
interface StoredEntry {
  id: number;
  subject: string;
  previewText: string;
  language: Language;
  at: string;
}

interface StoredPage extends CompressedValue {
  siteId: number;
}

type ArchivedCampaign = Pick<
  StoredCampaign,
  "orgId" | "siteId" | "id" | "startedAt" | "archive" | "archivedAt"
>;

const entryKey = ({ orgId, siteId, id, startedAt }: ArchivedCampaign): Key =>
  keys.archivedMail(orgId, siteId, `${startedAt}#${zeroPad(id)}`);

/**
 * Shows the email of a started campaign. Does nothing if it is archived already, or if the campaign
 * is no longer as `condition` says.
 */
export async function publish(
  campaign: ArchivedCampaign,
  mail: ArchivedMail,
  condition: Condition = exists,
): Promise<void> {
  const { orgId, siteId, id, startedAt } = campaign;
  const { subject, previewText, language, html, text } = mail;
  const entry: StoredEntry = { id, subject, previewText, language, at: startedAt! };
  const key = keys.archivedPage(orgId, id);
  const page: StoredPage = {
    siteId,
    ...(await compress(key, { subject, html, text, language }, "templates")),
  };
  const set = { archive: true, archivedAt: now().toISOString() };
  await transact(
    update(
      keys.record(orgId, "CAMPAIGN", id),
      { set, remove: ["archiveError"] },
      { if: all(exists, condition, absent("archivedAt")) },
    ),
    put(entryKey(campaign), entry),
    put(key, page),
  );
}

/** Removes the page of a campaign, if it has one. */
export const unpublishWrites = (campaign: ArchivedCampaign): Write[] =>
  campaign.archivedAt
    ? [remove(entryKey(campaign)), remove(keys.archivedPage(campaign.orgId, campaign.id))]
    : [];

const pageSize = 20;

export interface ArchivePage {
  site: Site;
  name: string;
  timezone: string;
  language: Language;
  mails: StoredEntry[];
  /** The position of the next page. */
  next: string | undefined;
}

/** Newest first. Throws 404 unless the site has an archive. */
export async function listPublic(siteId: number, before?: string): Promise<ArchivePage> {
  const site = await findSiteWithArchive(siteId);
  const { orgId } = site;
  const [{ items, next }, timezone] = await Promise.all([
    query<StoredEntry & Key>(ranges.archivedMails(orgId, siteId), {
      limit: pageSize,
      newestFirst: true,
      after: before,
    }),
    organizations.getTimezone(orgId),
  ]);
  return {
    site,
    name: displayNameOf(site),
    timezone,
    language: site.brand?.language ?? items[0]?.language ?? "en",
    mails: items,
    next,
  };
}

export interface PublicMail extends Omit<ArchivedMail, "previewText"> {}

/** Throws 404 unless the archive of the site shows this campaign. */
export async function findPublic(siteId: number, campaignId: number): Promise<PublicMail> {
  const { orgId } = await findSiteWithArchive(siteId);
  const page = await get<StoredPage>(keys.archivedPage(orgId, campaignId));
  if (page?.siteId !== siteId) throw missing("This email is not in the archive");
  return decompress<PublicMail>(page);
}

async function findSiteWithArchive(siteId: number): Promise<Site & { orgId: number }> {
  const owner = await get<{ orgId: number }>(keys.trackingSite(siteId));
  const site = owner && (await sites.find(owner, siteId).catch(undefinedIfMissing));
  if (!owner || !site?.archive) throw missing("The site has no public archive");
  return { ...site, orgId: owner.orgId };
}
