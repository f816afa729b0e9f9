// What happened to a contact, as far as segments ask for it: kept on the contact itself, so that a segment is a filter over the
// present and never a walk through history.
import type { ContactItem } from "./contact.ts";

/** Of how many custom events a contact remembers how often they happened. */
export const maxEventNames = 200;
/** How many of its latest campaigns a contact remembers, for each fact. */
export const maxCampaigns = 200;

/** The attribute that counts a custom event. */
export const eventCount = (name: string): `event.${string}` => `event.${name}`;

export const campaignFacts = ["sent", "opened", "clicked"] as const;
export type CampaignFact = (typeof campaignFacts)[number];
const attributes = { sent: "sentCampaigns", opened: "openedCampaigns", clicked: "clickedCampaigns" } as const;
export const campaignsOf = (fact: CampaignFact) => attributes[fact];

type Campaigns = Pick<ContactItem, (typeof attributes)[CampaignFact] | "v">;

/** Attributes to set, by a writer who read the contact and writes on its version; the oldest campaign makes room. */
export function campaignMet(contact: Campaigns, fact: CampaignFact, campaignId: number): Campaigns {
  const attribute = attributes[fact];
  const ids = [...new Set([...(contact[attribute] ?? []), campaignId])].sort((a, b) => b - a);
  const latest: Campaigns = { v: (contact.v ?? 0) + 1 };
  latest[attribute] = new Set(ids.slice(0, maxCampaigns));
  return latest;
}
