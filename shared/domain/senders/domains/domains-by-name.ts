// A small item per domain name, for the paths that send mail.
import { get, getTogether } from "../../../adapters/dynamodb/table.ts";
import { domainOf } from "../../../kernel/email-fields.ts";
import { keys } from "../../../keys.ts";

export interface DomainByName {
  domainId: number;
  /** The organization has verified the domain. */
  verified: boolean;
  openTrackingEnabled: boolean | null;
  clickTrackingEnabled: boolean | null;
}

export const getByName = (orgId: number, name: string): Promise<DomainByName | undefined> =>
  get<DomainByName>(keys.domainName(orgId, name));

export interface TrackingDefaults {
  trackOpens: boolean | undefined;
  trackClicks: boolean | undefined;
}

const noDefaults: TrackingDefaults = { trackOpens: undefined, trackClicks: undefined };
/** The tracking defaults for mail from this address that does not set tracking itself. */
export async function getTracking(orgId: number, fromEmail: string): Promise<TrackingDefaults> {
  // An eventually consistent read is enough, as for everything else that a mail is made from.
  const domain = await getTogether<DomainByName>(keys.domainName(orgId, domainOf(fromEmail)));
  return domain
    ? {
        trackOpens: domain.openTrackingEnabled ?? undefined,
        trackClicks: domain.clickTrackingEnabled ?? undefined,
      }
    : noDefaults;
}
