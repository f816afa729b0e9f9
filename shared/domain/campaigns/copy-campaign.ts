// Copies of the content of a campaign for another campaign.
import { copyAttachments } from "./campaign-attachments.ts";
import type { StoredCampaign } from "./stored-campaign.ts";

/** Fields of the mail for a copy with the id `campaignId`. Copies the attached files. */
export const copyMailFields = async (
  { orgId, headers = {}, variables = {}, feedUrl = null, ...rest }: StoredCampaign,
  campaignId: number,
): Promise<
  Pick<StoredCampaign, "headers" | "variables" | "feedUrl" | "feed" | "purpose" | "attachments">
> => ({
  headers,
  variables,
  feedUrl,
  ...(rest.feed && { feed: rest.feed }),
  ...(rest.purpose && { purpose: rest.purpose }),
  attachments: await copyAttachments({ orgId, campaignId }, rest.attachments),
});
