// A campaign with all its numbers.
import * as campaigns from "../campaigns.ts";
import * as sources from "../sending/sources.ts";
import { type CampaignDetail, told } from "./campaign.ts";
import { statsOf } from "./stats.ts";
import * as variants from "./variants.ts";

export async function detail(who: campaigns.Who, id: number): Promise<CampaignDetail> {
  const campaign = await campaigns.item(who, id);
  const [label, { all, parts }] = await Promise.all([
    campaigns.sendingConfigLabel(who, campaign.sendingConfigId),
    sources.numbers(who.orgId, { kind: "campaign", id }),
  ]);
  return {
    ...told(campaign),
    sendingConfigLabel: label,
    stats: statsOf(all),
    accounting: all,
    variants: campaign.variants.map((variant) => variants.told(campaign, variant, parts.get(variant.id))),
  };
}
