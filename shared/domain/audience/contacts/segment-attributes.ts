// Attributes of a contact that summarize its history for segments, so that a segment is a filter
// over contacts and never reads events.
import type { ContactItem } from "./contact-schema.ts";

/** Custom event names that a contact counts. */
export const maxEventNamesPerContact = 200;
/** Latest campaigns that a contact keeps, for each kind of interaction. */
export const maxCampaignsPerContact = 200;

/** The attribute that counts a custom event. */
export const eventCountAttribute = (name: string): `event.${string}` => `event.${name}`;
/** The attributes with the times of the first and the last custom event of a name (ISO 8601). */
export const firstEventAttribute = (name: string): `firstEventAt.${string}` =>
  `firstEventAt.${name}`;
export const lastEventAttribute = (name: string): `lastEventAt.${string}` => `lastEventAt.${name}`;

export const campaignInteractions = ["sent", "opened", "clicked"] as const;
export type CampaignInteraction = (typeof campaignInteractions)[number];
const campaignAttributes = {
  sent: "sentCampaigns",
  opened: "openedCampaigns",
  clicked: "clickedCampaigns",
} as const;
export const campaignAttribute = (interaction: CampaignInteraction) =>
  campaignAttributes[interaction];

type Campaigns = Pick<ContactItem, (typeof campaignAttributes)[CampaignInteraction] | "v">;

/**
 * Attributes to set, for a write that compares the version. Drops the oldest campaign beyond the
 * limit.
 */
export function addCampaign(
  contact: Campaigns,
  interaction: CampaignInteraction,
  campaignId: number,
): Campaigns {
  const attribute = campaignAttributes[interaction];
  const ids = [...new Set([...(contact[attribute] ?? []), campaignId])].sort((a, b) => b - a);
  const latest: Campaigns = { v: contact.v + 1 };
  latest[attribute] = new Set(ids.slice(0, maxCampaignsPerContact));
  return latest;
}
