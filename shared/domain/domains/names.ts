// What is known of a domain by its name: one small item, for paths on which mail goes out.

import { boundedCache } from "../../cache.ts";
import { now } from "../../clock.ts";
import { get } from "../../doors/table.ts";
import { domainOf } from "../../email.ts";
import { keys } from "../../keys.ts";

export interface DomainName {
  domainId: number;
  /** Proven to be the organization's. */
  verified: boolean;
  openTrackingEnabled: boolean | null;
  clickTrackingEnabled: boolean | null;
}

export const find = (orgId: number, name: string): Promise<DomainName | undefined> => get<DomainName>(keys.domainName(orgId, name));

export interface Tracking {
  trackOpens: boolean | undefined;
  trackClicks: boolean | undefined;
}

const none: Tracking = { trackOpens: undefined, trackClicks: undefined };
const kept = boundedCache<{ tracking: Tracking; until: number }>(10_000);
const keptMs = 60_000;

/** What holds for mail from this address that does not say for itself whether it is tracked. A change of it holds within a minute. */
export async function trackingOf(orgId: number, fromEmail: string): Promise<Tracking> {
  const name = domainOf(fromEmail);
  const key = `${orgId} ${name}`;
  const known = kept.get(key);
  if (known && known.until > now().getTime()) return known.tracking;
  const domain = await get<DomainName>(keys.domainName(orgId, name), { consistent: false });
  const tracking = domain
    ? { trackOpens: domain.openTrackingEnabled ?? undefined, trackClicks: domain.clickTrackingEnabled ?? undefined }
    : none;
  kept.set(key, { tracking, until: now().getTime() + keptMs }, 1);
  return tracking;
}
