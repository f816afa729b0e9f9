// Puts the email of a campaign into the archive: renders it for no one, so that it has neither
// fields of a contact nor links of a person.

import { equals, exists } from "../../../adapters/dynamodb/conditions.ts";
import { transact, update } from "../../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../../caller.ts";
import { detectHtmlLanguage } from "../../../email/html-footer.ts";
import { conflict, Problem } from "../../../errors.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import { keys } from "../../../keys.ts";
import { fillMergeText } from "../../../providers/provider-adapter.ts";
import { archivePageUrlOf } from "../../identity/site-archive.ts";
import { buildMarketingContent } from "../../sending/accept/stage-chunks.ts";
import { compose } from "../../sending/rendering/compose.ts";
import { loadLiquidMail } from "../../sending/rendering/mail-content.ts";
import type { RecipientLinks } from "../../sending/rendering/marketing-mail.ts";
import type { Campaign } from "../campaign-schema.ts";
import { findStored } from "../campaigns.ts";
import { type BroadcastPlan, getPlan } from "../engine/broadcast-plan.ts";
import { createPartMessageBuilder } from "../engine/part-messages.ts";
import { type StoredCampaign, toApi } from "../stored-campaign.ts";
import { type ArchivedMail, publish, unpublishWrites } from "./archive.ts";

/**
 * Shows the email of a campaign that is being sent, if that is wanted. A campaign with an A/B test
 * waits for its winner. Safe to repeat. An email that cannot be rendered stops nothing: the
 * campaign says why.
 */
export async function publishStarted(
  campaign: StoredCampaign,
  plan: BroadcastPlan,
  { isDone }: { isDone: boolean },
): Promise<void> {
  const { archive, archivedAt, archiveError } = campaign;
  if (!archive || archivedAt || archiveError) return;
  if (!isDone && isUndecided(campaign, plan)) return;
  try {
    await publish(campaign, await renderForNoOne(campaign, plan), equals("archive", true));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    await transact(
      update(
        keys.record(campaign.orgId, "CAMPAIGN", campaign.id),
        { set: { archiveError: error.message } },
        { if: exists },
      ),
    );
  }
}

const isUndecided = ({ winner, finishedAt }: StoredCampaign, { test }: BroadcastPlan): boolean =>
  test !== undefined && !winner && !finishedAt;

/** Throws 409 if the email of a started campaign can no longer be rendered. */
export const setArchive = (who: CallerScope, id: number, archive: boolean): Promise<Campaign> =>
  retryOnConflict("The campaign", async () => {
    const campaign = await findStored(who, id);
    if (archive && campaign.archivedAt) return toApi(campaign);
    if (archive && campaign.startedAt && (await publishNow(campaign)))
      return toApi(await findStored(who, id));
    await transact(
      update(
        keys.record(who.orgId, "CAMPAIGN", id),
        { set: { archive }, remove: ["archiveError", ...(archive ? [] : ["archivedAt"])] },
        { if: exists },
      ),
      ...(archive ? [] : unpublishWrites(campaign)),
    );
    return toApi(await findStored(who, id));
  });

/** False while an A/B test has no winner. */
async function publishNow(campaign: StoredCampaign): Promise<boolean> {
  const plan = await getPlan(campaign);
  if (isUndecided(campaign, plan)) return false;
  try {
    await publish(campaign, await renderForNoOne(campaign, plan));
    return true;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw conflict(`The email cannot be shown in the archive: ${error.message}`);
  }
}

/** A link that only a recipient can use leads nowhere. */
const inactiveLink = "#";

async function renderForNoOne(
  campaign: StoredCampaign,
  plan: BroadcastPlan,
): Promise<ArchivedMail> {
  const { orgId, id, winner } = campaign;
  const part = plan.parts.find((one) => one.id === winner?.variantId) ?? plan.parts[0];
  const buildMessage = await createPartMessageBuilder({ orgId, kind: "campaign", id }, plan);
  const content = await buildMarketingContent({
    ...(await buildMessage(part)),
    startedAt: new Date(plan.at),
  });
  const fields = await loadLiquidMail(orgId, content);
  const linksOf = (): RecipientLinks => ({
    unsubscribePage: inactiveLink,
    preferencePage: inactiveLink,
    oneClickUnsubscribe: inactiveLink,
    browserPage: () => archivePageUrlOf(campaign),
    contactToken: () => "",
  });
  // A notice has no unsubscribe link in its footer.
  const marketing = fields.marketing && { ...fields.marketing, isNotice: true as const, linksOf };
  const { common, renderRecipient } = compose(
    content,
    { ...fields, ...(marketing && { marketing }) },
    [],
  );
  const rendered = renderRecipient({ sendId: 0, to: "" });
  const html = common.html ? fillMergeText(common.html, rendered) : null;
  return {
    subject: fillMergeText(common.subject, rendered),
    previewText: part?.previewText && !/[{%]/.test(part.previewText) ? part.previewText : "",
    html,
    text: fillMergeText(common.text ?? [], rendered),
    language: detectHtmlLanguage(html ?? ""),
  };
}
