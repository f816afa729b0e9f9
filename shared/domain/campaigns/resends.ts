// Resends: a campaign that is sent again, once to the recipients whose mail failed, and once to
// those who have not opened it. A resend is a campaign of its own with the content of the first, so
// caps, suppressions, statistics and all actions are those of any campaign.
import * as z from "zod";
import { absent, any, equals } from "../../adapters/dynamodb/conditions.ts";
import type { Write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { conflict, invalid } from "../../errors.ts";
import * as ids from "../../ids.ts";
import * as records from "../../kernel/records.ts";
import * as quota from "../billing/quota.ts";
import { toMailSender } from "../senders/mail-sender.ts";
import * as campaignActions from "./campaign-actions.ts";
import { copyOwnContent } from "./campaign-content.ts";
import * as campaignPlan from "./campaign-plan.ts";
import { type Campaign, CampaignChanges, ResendTarget } from "./campaign-schema.ts";
import { listSendWarnings, requireVariables } from "./campaign-warnings.ts";
import * as campaigns from "./campaigns.ts";
import { copyMailFields } from "./copy-campaign.ts";
import { updateWrite } from "./engine/broadcast.ts";
import { isNotice } from "./notices.ts";
import { resendFields, type StoredCampaign, type StoredVariant, toApi } from "./stored-campaign.ts";
import * as variantHtml from "./variant-html.ts";

export const ResendRequest = z
  .object({
    to: ResendTarget,
    subject: CampaignChanges.shape.subject
      .unwrap()
      .unwrap()
      .optional()
      .describe("Subject line of the resend, with Liquid. Defaults to the subject of the first."),
    draft: z
      .boolean()
      .default(false)
      .describe(
        "`true`: only creates the resend, so that you can preview, test and schedule it. " +
          "`false`: sends it at once.",
      ),
  })
  .meta({ examples: [{ to: "unopened", subject: "Did you miss it, {{ firstName }}?" }] });
export type ResendRequest = z.output<typeof ResendRequest>;

/**
 * Creates the resend, and sends it unless `draft` is set. Throws 409 unless the campaign has ended,
 * or when it has a resend to the same recipients. A crash in between leaves a draft.
 */
export async function resend(
  who: CallerScope,
  id: number,
  { to, subject, draft }: ResendRequest,
): Promise<Campaign> {
  const first = await campaigns.findStored(who, id);
  if (!first.startedAt || !first.finishedAt)
    throw conflict(
      `The campaign is ${first.status}: it can be sent again when it was sent and has ended`,
      { code: "campaign_status" },
    );
  if (isNotice(first) && !draft)
    throw invalid("draft must be true for a notice: send it then with its confirmation", {
      details: [{ path: "draft", message: "must be true for a notice" }],
    });
  const fields = await records.newRecordFields("CAMPAIGN");
  const slot = resendFields[to];
  const existing = first[slot];
  if (existing !== undefined && existing !== fields.id) throw alreadyResent(to, existing);
  const { variants, writes } = await copyVariants(first, { subject, at: fields.createdAt });
  const content = contentOf(first, { subject, variants });
  const child: StoredCampaign = {
    ...fields,
    orgId: who.orgId,
    kind: "campaign",
    siteId: first.siteId,
    revision: 1,
    name: `${first.name.slice(0, 170)} (again: ${to})`,
    sendingConfigId: first.sendingConfigId,
    ...toMailSender(first),
    ...(await copyMailFields(first, fields.id)),
    topicId: first.topicId,
    utm: first.utm,
    strict: first.strict,
    conversion: first.conversion ?? null,
    ...{ listId: null, tagId: null, segmentId: null, audience: null, abTest: null },
    status: "draft",
    ...content,
    resendOf: { campaignId: id, to },
  };
  const own = await copyOwnContent(who, first, child);
  const resent = toResent(first, { to, subject });
  const plan = await campaignPlan.buildCampaignPlan(resent);
  if (!draft) await requireVariables(resent, plan);
  if (!draft) await quota.requireAffordable(who.orgId, 1, await quota.getQuota(who.orgId));
  const reserveSlot = updateWrite(
    first,
    { set: { [slot]: child.id } },
    { if: any(absent(slot), equals(slot, child.id)), orThrow: alreadyResent(to, undefined) },
  );
  const stored = await records.insert<StoredCampaign>("CAMPAIGN", who, {
    record: { ...child, ...own.set },
    extraWrites: [...writes, ...own.extraWrites, reserveSlot],
  });
  return draft ? toApi(stored) : campaignActions.sendNow(who, child.id);
}

const alreadyResent = (to: ResendTarget, resendId: number | undefined) =>
  conflict(
    `The campaign was already sent again to the recipients with ${to} mail` +
      (resendId === undefined ? "" : `: see campaign ${resendId}`),
    { code: "already_resent" },
  );

/** The warnings of sending the campaign again. None if it cannot be sent again. */
export async function listWarnings(
  who: CallerScope,
  id: number,
  { to, subject, draft }: ResendRequest,
): Promise<string[]> {
  const first = await campaigns.findStored(who, id);
  if (draft || !first.startedAt || !first.finishedAt) return [];
  const resent = toResent(first, { to, subject });
  return listSendWarnings(resent, await campaignPlan.buildCampaignPlan(resent));
}

/** The first campaign with the audience and the content of the resend. */
const toResent = (
  first: StoredCampaign,
  { to, subject }: Pick<ResendRequest, "to" | "subject">,
): StoredCampaign => ({
  ...first,
  subject: subject ?? first.subject,
  ...{ listId: null, tagId: null, segmentId: null, audience: null, abTest: null, localTime: null },
  holdOutPercent: null,
  variants: listCopied(first).map((variant) => ({ ...variant, ...(subject && { subject }) })),
  resendOf: { campaignId: first.id, to },
});

const listCopied = ({ variants, winner }: StoredCampaign): StoredVariant[] =>
  winner ? variants.filter(({ id }) => id === winner.variantId) : variants;

/** A single variant becomes the content of the resend, so that its subject can be changed. */
function contentOf(
  { subject: firstSubject, templateId, previewText }: StoredCampaign,
  { subject, variants }: { subject: string | undefined; variants: StoredVariant[] },
): Pick<StoredCampaign, "subject" | "templateId" | "previewText" | "variants"> {
  const [winner, ...others] = variants;
  const fallback = { subject: subject ?? firstSubject, templateId, previewText };
  if (!winner || others.length > 0) return { ...fallback, variants };
  const content = {
    subject: subject ?? winner.subject ?? firstSubject,
    templateId: winner.templateId ?? templateId,
    previewText: winner.previewText ?? previewText,
  };
  // HTML of its own exists in variants only.
  const isHtml = winner.htmlVersion !== undefined;
  return { ...content, variants: isHtml ? [{ ...winner, subject: null, previewText: null }] : [] };
}

/** The winner of an A/B test, or else all variants. They get new ids. */
async function copyVariants(
  first: StoredCampaign,
  { subject, at }: { subject: string | undefined; at: string },
): Promise<{ variants: StoredVariant[]; writes: Write[] }> {
  const copies: StoredVariant[] = [];
  const writes: Write[] = [];
  for (const variant of listCopied(first)) {
    const id = await ids.nextId("VARIANT");
    const { htmlVersion, ...fields } = variant;
    const times = { createdAt: at, updatedAt: at };
    const copy = { ...fields, ...times, id, ...(subject && { subject }) };
    copies.push(htmlVersion ? { ...copy, htmlVersion: 1 } : copy);
    if (!htmlVersion) continue;
    const html = await variantHtml.findVariantHtml(first.orgId, variant.id, htmlVersion);
    writes.push(await variantHtml.storeHtmlWrite(first.orgId, { variantId: id, version: 1 }, html));
  }
  return { variants: copies, writes };
}
