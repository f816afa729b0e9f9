// Whether a campaign uses a list, tag, topic, segment, template or sending config.
import type { GroupKind } from "../../keys.ts";
import type { StoredCampaign } from "./stored-campaign.ts";

/** Pictures are searched by `media-usages.ts`. */
export type UsedKind = GroupKind | "TOPIC" | "SEGMENT" | "TEMPLATE" | "CONFIG";

export interface UsageTarget {
  orgId: number;
  kind: UsedKind;
  id: number;
  /** Absent for a sending config, which belongs to the whole organization. */
  siteId?: number | undefined;
  name: string;
}

export const campaignField: Record<
  UsedKind,
  "listId" | "tagId" | "topicId" | "segmentId" | "templateId" | "sendingConfigId"
> = {
  LIST: "listId",
  TAG: "tagId",
  TOPIC: "topicId",
  SEGMENT: "segmentId",
  TEMPLATE: "templateId",
  CONFIG: "sendingConfigId",
};

type UsingCampaign = Pick<
  StoredCampaign,
  (typeof campaignField)[UsedKind] | "audience" | "variants"
>;

export function refersTo(target: UsageTarget, campaign: UsingCampaign): boolean {
  const inVariant =
    target.kind === "TEMPLATE" &&
    campaign.variants.some(({ templateId }) => templateId === target.id);
  const isNamed = campaign[campaignField[target.kind]] === target.id;
  return isNamed || inVariant || isInAudience(target, campaign);
}

function isInAudience({ kind, id }: UsageTarget, { audience }: UsingCampaign): boolean {
  const field = audienceFields[kind];
  if (!audience || !field) return false;
  return audience[field].includes(id) || audience.exclude[field].includes(id);
}

const audienceFields: Partial<Record<UsedKind, "lists" | "tags" | "segments">> = {
  LIST: "lists",
  TAG: "tags",
  SEGMENT: "segments",
};
