// The records that campaigns and holidays use.
import { type Reference, reference } from "../../kernel/records.ts";
import type { StoredHoliday } from "./holiday-schema.ts";
import type { StoredCampaign } from "./stored-campaign.ts";

/** Template, sending config and topic. */
export const contentReferences = ({
  templateId,
  sendingConfigId,
  topicId,
}: Pick<StoredCampaign | StoredHoliday, "templateId" | "sendingConfigId" | "topicId">) => [
  ...reference("templateId", "TEMPLATE", templateId),
  ...reference("sendingConfigId", "CONFIG", sendingConfigId),
  ...reference("topicId", "TOPIC", topicId),
];

export const campaignReferences = (campaign: StoredCampaign): Reference[] => [
  ...contentReferences(campaign),
  ...campaign.variants.flatMap(({ templateId }, i) =>
    reference(`variants.${i}.templateId`, "TEMPLATE", templateId),
  ),
  ...reference("listId", "LIST", campaign.listId),
  ...reference("tagId", "TAG", campaign.tagId),
  ...reference("segmentId", "SEGMENT", campaign.segmentId),
  ...audienceReferences("audience", campaign.audience),
  ...audienceReferences("audience.exclude", campaign.audience?.exclude),
];

const audienceReferences = (
  path: string,
  groups: { lists: number[]; tags: number[]; segments: number[] } | null | undefined,
): Reference[] => [
  ...(groups?.lists ?? []).flatMap((id, i) => reference(`${path}.lists.${i}`, "LIST", id)),
  ...(groups?.tags ?? []).flatMap((id, i) => reference(`${path}.tags.${i}`, "TAG", id)),
  ...(groups?.segments ?? []).flatMap((id, i) => reference(`${path}.segments.${i}`, "SEGMENT", id)),
];
