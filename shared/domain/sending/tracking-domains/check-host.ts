// The worker that checks the tracking domain of a site: DNS, and a tracked link at the domain,
// which must lead to its target. So new mail uses the domain only while its links work.

import { DnsLookupFailed, lookUpRecords } from "../../../adapters/dns/records.ts";
import { equals } from "../../../adapters/dynamodb/conditions.ts";
import { get, transact, update } from "../../../adapters/dynamodb/table.ts";
import { NoResponse } from "../../../adapters/http/no-response.ts";
import { requestPublicUrl } from "../../../adapters/http/public-client.ts";
import { addSeconds, now } from "../../../clock.ts";
import { config } from "../../../config.ts";
import { dueShardOf, indexAttributes, indexes, keys } from "../../../keys.ts";
import type { TrackingDomainCheck } from "../../identity/site-tracking-domain.ts";
import type { Site } from "../../identity/sites.ts";
import {
  getHostOwner,
  type HostOwner,
  isHostOf,
  isSameSite,
} from "../../identity/tracking-hosts.ts";
import { createProbe } from "../rendering/own-tracking.ts";
import { findHeldDomain } from "./assign.ts";

/** Does nothing if the site was deleted, or has another tracking domain by now. */
export async function checkTrackingDomain({ orgId, siteId }: HostOwner): Promise<void> {
  const key = keys.record(orgId, "SITE", siteId);
  const site = await get<Site>(key);
  if (!site?.trackingDomain || !site.trackingCheck) return;
  const { trackingDomain: name, trackingCheck: before } = site;
  const owner = { orgId, siteId };
  const isOwn = isSameSite(await getHostOwner(name), owner);
  const reason = isOwn ? await findFault(owner, name) : `Another site has the domain ${name}`;
  const trackingCheck: TrackingDomainCheck = {
    ...before,
    status: toStatus(before, reason),
    reason: reason ?? null,
    checkedAt: now().toISOString(),
  };
  const due = indexAttributes(
    indexes.due("TRACKINGDOMAIN", dueShardOf(siteId)),
    nextCheckAt(trackingCheck),
  );
  await transact(
    update(key, { set: { trackingCheck } }, { if: equals("trackingDomain", name) }),
    ...(isOwn ? [update(keys.trackingHost(name), { set: due }, { if: isHostOf(owner) })] : []),
  );
}

const toStatus = ({ status }: TrackingDomainCheck, fault: string | undefined) => {
  if (fault === undefined) return "verified" as const;
  return status === "pending" ? ("pending" as const) : ("failing" as const);
};

const [minute, hour, day] = [60, 3600, 86_400];

/** Daily; while it fails, at intervals that grow from a minute to six hours. */
function nextCheckAt({ status, since }: TrackingDomainCheck): string {
  const elapsed = (now().getTime() - Date.parse(since)) / 1000;
  const interval = Math.min(Math.max(elapsed / 2, minute), 6 * hour);
  return addSeconds(status === "verified" ? day : interval).toISOString();
}

/** Why new mail cannot use the domain, in a sentence. Undefined: it can. */
async function findFault(owner: HostOwner, name: string): Promise<string | undefined> {
  if ((await findHeldDomain(owner.orgId, name)) === undefined)
    return `No verified domain of the organization is ${name} or above it`;
  return (await findDnsFault(name)) ?? findLinkFault(owner, name);
}

async function findDnsFault(name: string): Promise<string | undefined> {
  const options = { skipCache: true };
  try {
    const answers = await Promise.all([
      lookUpRecords("A", name, options),
      lookUpRecords("AAAA", name, options),
    ]);
    if (answers.some(({ records }) => records.length)) return undefined;
    return `DNS has no address for ${name}: publish the record`;
  } catch (error) {
    if (!(error instanceof DnsLookupFailed)) throw error;
    return "DNS did not answer";
  }
}

async function findLinkFault(owner: HostOwner, name: string): Promise<string | undefined> {
  const { url, target } = await createProbe(owner, { host: name, at: now() });
  try {
    const { status, headers } = await requestPublicUrl({
      url,
      timeoutSeconds: 10,
      maxBytes: 100_000,
      allowLoopback: config.allowLoopbackWebhooks,
    });
    if (status === 302 && headers.location === target) return undefined;
    return `${name} does not lead to this service: a link there was answered with ${status}`;
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error;
    return `A link at ${name} does not work. ${error.reason}`;
  }
}
