// Checks of the fields that a request gives to a campaign.
import type { CallerScope } from "../../caller.ts";
import * as liquid from "../../email/liquid.ts";
import * as records from "../../kernel/records.ts";
import * as groups from "../audience/groups/groups.ts";
import * as topics from "../audience/topics/topics.ts";
import { findChosenTemplate } from "../content/own-content.ts";
import { findConfigOfSender } from "../senders/mail-sender.ts";
import type { CampaignAudience, CampaignChanges, PlainChanges } from "./campaign-schema.ts";

export const changesAudience = ({ listId, tagId, segmentId, audience }: PlainChanges): boolean =>
  Boolean(listId || tagId || segmentId || audience);

async function checkAudience(
  who: CallerScope,
  siteId: number,
  { exclude, lists, tags, segments }: CampaignAudience,
): Promise<void> {
  const included = { lists, tags, segments };
  const checks = Object.entries({ audience: included, "audience.exclude": exclude }).flatMap(
    ([path, { lists, tags, segments }]) => [
      ...lists.map((id) => groups.findOfSite("LIST", who, { id, siteId })),
      ...tags.map((id) => groups.findOfSite("TAG", who, { id, siteId })),
      ...segments.map((id) =>
        records.findOfSite("SEGMENT", who, { id, siteId, path: `${path}.segments` }),
      ),
    ],
  );
  await Promise.all(checks);
}

/**
 * Checks that everything the campaign refers to exists in its site, and that subject and preview
 * text are valid Liquid.
 */
export async function checkReferences(
  who: CallerScope,
  { siteId, campaignId }: { siteId: number; campaignId?: number | undefined },
  given: PlainChanges,
): Promise<void> {
  if (given.subject) liquid.compile(given.subject, { escape: false, field: "subject" });
  if (given.previewText) liquid.compile(given.previewText, { escape: true, field: "previewText" });
  await Promise.all([
    given.listId && groups.findOfSite("LIST", who, { id: given.listId, siteId }),
    given.tagId && groups.findOfSite("TAG", who, { id: given.tagId, siteId }),
    given.audience && checkAudience(who, siteId, given.audience),
    given.segmentId &&
      records.findOfSite("SEGMENT", who, { id: given.segmentId, siteId, path: "segmentId" }),
    given.templateId &&
      findChosenTemplate(who, {
        ...{ id: given.templateId, siteId, path: "templateId", campaignId },
      }),
    given.topicId && topics.findOfSite(who, { id: given.topicId, siteId }),
  ]);
}

/** Checks that the sending config exists and may send from the address, if one of them changes. */
export async function checkSender(
  who: CallerScope,
  { sendingConfigId, fromEmail }: Pick<CampaignChanges, "sendingConfigId" | "fromEmail">,
  changes: Pick<CampaignChanges, "sendingConfigId" | "fromEmail">,
): Promise<void> {
  const isChanged = changes.sendingConfigId !== undefined || changes.fromEmail !== undefined;
  if (sendingConfigId && isChanged) await findConfigOfSender(who, sendingConfigId, { fromEmail });
}
