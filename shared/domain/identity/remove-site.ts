import { absent, any, sizeBelow } from "../../adapters/dynamodb/conditions.ts";
import { remove as removeWrite, update, write } from "../../adapters/dynamodb/table.ts";
import type { Caller } from "../../caller.ts";
import { conflict } from "../../errors.ts";
import { toStarter } from "../../kernel/job-index.ts";
import * as records from "../../kernel/records.ts";
import * as shardedCounters from "../../kernel/sharded-counters.ts";
import { cacheDeletion } from "../../kernel/site-access.ts";
import { keys, ranges } from "../../keys.ts";
import * as apiKeys from "./api-keys.ts";
import { eraseSoon, startErasureWrite } from "./site-erasure-job.ts";
import { requireNoSendsWrites } from "./site-send-counts.ts";
import * as sites from "./sites.ts";
import { releaseHostWrites } from "./tracking-hosts.ts";

/**
 * Deletes the site and its API keys. Its records are inaccessible at once; a background job erases
 * them. Throws 409 `site_has_sends` if the site has sends.
 */
export async function removeSite(caller: Caller, id: number): Promise<void> {
  const { orgId } = caller;
  const { name, trackingDomain } = await sites.find(caller, id);
  const [noSendsChecks, contacts, hostWrites] = await Promise.all([
    requireNoSendsWrites(orgId, id, siteHasSends()),
    shardedCounters.sumShards(ranges.contactCounts(orgId, id)),
    releaseHostWrites({ orgId, siteId: id }, trackingDomain),
  ]);
  // The keys go first, because requests with a bound key do not check that its site exists.
  await apiKeys.removeForSite(caller, id);
  await write(
    ...records.removeWrites("SITE", caller, { id }),
    update(
      keys.organization(orgId),
      { add: { siteCount: -1, siteSum: -id, deletedSites: new Set([id]) } },
      {
        if: any(absent("deletedSites"), sizeBelow("deletedSites", maxDeletedSites)),
        orThrow: tooManyDeletedSites(),
      },
    ),
    removeWrite(keys.trackingSite(id)),
    ...hostWrites,
    startErasureWrite({ orgId, siteId: id }, { name, contacts, startedBy: toStarter(caller) }),
    ...noSendsChecks,
  );
  cacheDeletion(orgId, id);
  await eraseSoon(orgId, id);
}

/** Every request reads their ids. */
const maxDeletedSites = 1000;
const tooManyDeletedSites = () =>
  conflict(`${maxDeletedSites} deleted sites are still being erased: try again later`);

const siteHasSends = () =>
  conflict("The site has sends, so it cannot be deleted", { code: "site_has_sends" });
