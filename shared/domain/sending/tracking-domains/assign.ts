// Assigns a tracking domain to a site. The organization must hold the domain or one above it, so
// that nobody takes the name of another.
import { equals, exists, isNew } from "../../../adapters/dynamodb/conditions.ts";
import { get, put, update, type Write, write } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { addSeconds, now } from "../../../clock.ts";
import { config } from "../../../config.ts";
import { conflict, invalid, missing } from "../../../errors.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { dueShardOf, indexAttributes, indexes, keys } from "../../../keys.ts";
import { getDomainHolder, holdsDomainCheck } from "../../identity/domain-holders.ts";
import type { TrackingDomainCheck } from "../../identity/site-tracking-domain.ts";
import * as sites from "../../identity/sites.ts";
import {
  getHostOwner,
  type HostOwner,
  isSameSite,
  releaseHostWrites,
} from "../../identity/tracking-hosts.ts";
import { enqueueTrackingCheck } from "./enqueue-check.ts";

/**
 * Sets the tracking domain of a site, and checks it soon. `null` removes it. Throws 409 if another
 * site has the domain, or if no verified domain of the organization is the domain or above it.
 */
export async function assignTrackingDomain(
  caller: CallerScope,
  siteId: number,
  name: string | null,
): Promise<void> {
  const owner: HostOwner = { orgId: caller.orgId, siteId };
  await retryOnConflict("The tracking domain", async () => {
    const { trackingDomain: before } = await sites.find(caller, siteId);
    if (name === null) {
      if (before !== undefined) await write(...(await removeWrites(owner, before)));
      return;
    }
    // The same domain is only checked again.
    if (before === name && isSameSite(await getHostOwner(name), owner)) return;
    const writes = await assignWrites(owner, name);
    const releases = before === name ? [] : await releaseHostWrites(owner, before);
    await write(...writes, ...releases);
  });
  if (name !== null) await enqueueTrackingCheck(owner);
}

const removeWrites = async (owner: HostOwner, name: string): Promise<Write[]> => [
  update(
    keys.record(owner.orgId, "SITE", owner.siteId),
    { remove: ["trackingDomain", "trackingCheck"] },
    { if: equals("trackingDomain", name) },
  ),
  ...(await releaseHostWrites(owner, name)),
];

async function assignWrites(owner: HostOwner, name: string): Promise<Write[]> {
  if (name === new URL(config.publicUrl).hostname) throw refused("is the address of the service");
  const [held, holder] = await Promise.all([findHeldDomain(owner.orgId, name), getHostOwner(name)]);
  if (held === undefined)
    throw conflict(
      `Verify a domain that is ${name} or above it first: add it with POST /domains and publish ` +
        "its ownership record",
      { code: "domain_not_verified" },
    );
  if (holder && !isSameSite(holder, owner) && (await usesHost(holder, name)))
    throw conflict(`Another site has the tracking domain ${name}`);
  const check: TrackingDomainCheck = {
    status: "pending",
    reason: null,
    since: now().toISOString(),
    checkedAt: null,
  };
  const due = indexAttributes(
    indexes.due("TRACKINGDOMAIN", dueShardOf(owner.siteId)),
    addSeconds(60).toISOString(),
  );
  return [
    update(
      keys.record(owner.orgId, "SITE", owner.siteId),
      { set: { trackingDomain: name, trackingCheck: check } },
      { if: exists, orThrow: missing("The site does not exist") },
    ),
    put(
      keys.trackingHost(name),
      { ...owner, ...due },
      { if: holder ? equals("siteId", holder.siteId) : isNew },
    ),
    holdsDomainCheck(owner.orgId, held),
  ];
}

const refused = (message: string) =>
  invalid(`trackingDomain ${message}`, { details: [{ path: "trackingDomain", message }] });

/**
 * The domain itself or the nearest one above it that an organization has verified, if that is this
 * organization.
 */
export async function findHeldDomain(orgId: number, name: string): Promise<string | undefined> {
  const labels = name.split(".");
  const candidates = labels.slice(0, -1).map((_, i) => labels.slice(i).join("."));
  const holders = await Promise.all(candidates.slice(-maxLevels).map(getDomainHolder));
  const nearest = holders.findIndex((holder) => holder !== undefined);
  return holders[nearest] === orgId ? candidates.slice(-maxLevels)[nearest] : undefined;
}

/** Each costs a read. */
const maxLevels = 10;

/** False if the organization lost the domain above, or if the site was deleted at the same time. */
async function usesHost({ orgId, siteId }: HostOwner, name: string): Promise<boolean> {
  const [site, held] = await Promise.all([
    get<sites.Site>(keys.record(orgId, "SITE", siteId)),
    findHeldDomain(orgId, name),
  ]);
  return site?.trackingDomain === name && held !== undefined;
}
