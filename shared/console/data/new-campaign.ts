import { useNavigate } from "@tanstack/react-router";
import type { Campaign, Segment } from "pennymail";
import { t } from "../language/translate.ts";
import { useChange } from "./changes.ts";
import { api } from "./client.ts";
import { queries } from "./queries.ts";
import { queryClient } from "./query-client.ts";

/** Creates a draft. If there is only one sender, the draft has it. */
export async function createCampaign(
  fields: Parameters<typeof api.campaigns.create>[0],
): Promise<Campaign> {
  const { sendingConfigs } = await queryClient.fetchQuery(queries.sendingConfigs());
  const senders = sendingConfigs.filter(({ fromEmail }) => fromEmail !== null);
  const only = senders.length === 1 ? senders[0] : undefined;
  return api.campaigns.create({ ...fields, ...(only && { sendingConfigId: only.id }) });
}

/** Opens a new draft to the contacts of a segment. */
export function useCampaignToSegment() {
  const navigate = useNavigate();
  return useChange({
    run: ({ id, siteId, name }: Pick<Segment, "id" | "siteId" | "name">) =>
      createCampaign({ siteId, name, audience: { segments: [id] } }),
    refreshes: ["campaigns"],
    says: ({ name }) => t("A new draft goes to “{name}”.", { name }),
    onDone: ({ id }) => navigate({ to: "/campaigns/$id", params: { id } }),
  });
}
