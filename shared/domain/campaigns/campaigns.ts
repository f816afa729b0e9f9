// Campaign records: create, read, list, update and delete. campaign-actions.ts sends, schedules and
// stops them.

import {
  absent,
  all,
  any,
  type Condition,
  equals,
  oneOf,
} from "../../adapters/dynamodb/conditions.ts";
import { get, type Write, write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import { conflict, contended, invalid } from "../../errors.ts";
import * as records from "../../kernel/records.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { keys } from "../../keys.ts";
import { removeOwnContentWrites } from "../content/own-content.ts";
import * as sites from "../identity/sites.ts";
import { labelOf } from "../senders/mail-sender.ts";
import type { SendingConfig } from "../senders/sending-config-schema.ts";
import { describeProviderHold, findProviderHold } from "../sending/mail-holds.ts";
import * as mailSources from "../sending/mail-sources.ts";
import { toMailingStats } from "../sending/mailing-stats.ts";
import { unpublishWrites } from "./archive/archive.ts";
import { deleteFiles, readFile, storeAttachments } from "./campaign-attachments.ts";
import { changesAudience, checkReferences, checkSender } from "./campaign-checks.ts";
import { createContentEdit, renameContentWrites } from "./campaign-content.ts";
import type { CampaignDetail, WaitingForLocalTime } from "./campaign-detail-schema.ts";
import type { CampaignAttachmentFile } from "./campaign-mail-fields.ts";
import * as campaignPlan from "./campaign-plan.ts";
import { campaignReferences } from "./campaign-references.ts";
import type { Campaign, CampaignChanges, NewCampaign } from "./campaign-schema.ts";
import { removeGoalWrite } from "./conversions/campaign-goals.ts";
import { toConversions } from "./conversions/conversion-schema.ts";
import * as broadcast from "./engine/broadcast.ts";
import * as cleanup from "./engine/cleanup.ts";
import { countMails, listUpcoming } from "./engine/local-time.ts";
import { type NoticeCaller, requireNoticeEditable } from "./notices.ts";
import {
  listResends,
  requireStatus,
  resendFields,
  type StoredCampaign,
  toApi,
  toApiVariant,
} from "./stored-campaign.ts";
import * as variantHtml from "./variant-html.ts";

const editableStatuses: broadcast.BroadcastStatus[] = ["draft", "scheduled"];
export const startableStatuses: broadcast.BroadcastStatus[] = ["draft", "scheduled", "held"];

export async function create(
  who: CallerScope,
  { siteId: givenSite, content, ...campaign }: NewCampaign,
): Promise<Campaign> {
  const siteId = await sites.resolveSiteId(who, givenSite);
  await checkReferences(who, { siteId }, campaign);
  await checkSender(who, campaign, campaign);
  const { orgId } = who;
  const fields = await records.newRecordFields("CAMPAIGN");
  const addFiles = await storeAttachments({ orgId, campaignId: fields.id }, campaign.attachments);
  const base = {
    ...fields,
    orgId,
    kind: "campaign" as const,
    siteId,
    revision: 1,
  };
  const record: StoredCampaign = {
    ...{ ...base, ...campaign, attachments: addFiles([]) },
    ...{ status: "draft", variants: [] },
  };
  const own = await createContentEdit(who, content)(record);
  return toApi(
    await records.insert<StoredCampaign>("CAMPAIGN", who, {
      record: { ...record, ...own.set },
      extraWrites: own.extraWrites,
    }),
  );
}

/** A file with its content. Throws 404. */
export const readAttachment = async (
  who: CallerScope,
  id: number,
  attachmentId: number,
): Promise<CampaignAttachmentFile> =>
  readFile((await findStored(who, id)).attachments, attachmentId);

export const findStored = (who: CallerScope, id: number): Promise<StoredCampaign> =>
  records.find<StoredCampaign>("CAMPAIGN", who, id);

/** The campaign with its counters and variants. */
export async function findCampaignDetail(who: CallerScope, id: number): Promise<CampaignDetail> {
  const campaign = await findStored(who, id);
  const [sendingConfigLabel, { all: totals, parts }, missing, waitingReason] = await Promise.all([
    getSendingConfigLabel(campaign),
    mailSources.getSourceTotals(who.orgId, { kind: "campaign", id }),
    records.listMissing(who, campaignReferences(campaign)),
    findWaitingReason(campaign),
  ]);
  return {
    ...toApi(campaign),
    sendingConfigLabel,
    stats: toMailingStats(totals),
    accounting: totals,
    conversions: toCampaignConversions(campaign, totals),
    waitingForLocalTime: getWaitingForLocalTime(campaign, totals),
    waitingReason,
    variants: campaign.variants.map((variant) =>
      toApiVariant(campaign, variant, parts.get(variant.id)),
    ),
    missing,
  };
}

const toCampaignConversions = (
  { conversion, startedAt, holdOutPercent }: StoredCampaign,
  totals: mailSources.SourceTotals,
): CampaignDetail["conversions"] =>
  conversion ? toConversions(totals, { startedAt, hasHoldOut: Boolean(holdOutPercent) }) : null;

async function findWaitingReason({
  orgId,
  status,
  sendingConfigId,
}: StoredCampaign): Promise<string | null> {
  if (status !== "sending" || sendingConfigId === null) return null;
  const hold = await findProviderHold(orgId, sendingConfigId);
  return hold ? `Email waits, because ${describeProviderHold(hold)}` : null;
}

function getWaitingForLocalTime(
  { status }: StoredCampaign,
  { releases }: mailSources.SourceTotals,
): WaitingForLocalTime | null {
  const upcoming = listUpcoming(releases);
  const isStopped = status !== "sending" && status !== "paused";
  if (isStopped || !upcoming.length) return null;
  return {
    emails: countMails(upcoming),
    nextAt: upcoming[0]!.at,
    lastAt: upcoming.at(-1)!.at,
  };
}

/**
 * Throws 409 unless the campaign is a draft or scheduled, and 400 when a scheduled one would no
 * longer be complete.
 */
export async function updateCampaign(
  who: NoticeCaller,
  id: number,
  { attachments: inputs, content, ...changes }: CampaignChanges,
): Promise<Campaign> {
  const editContent = createContentEdit(who, content);
  let before: StoredCampaign["attachments"];
  let addFiles: Awaited<ReturnType<typeof storeAttachments>> | undefined;
  const changed = await updateStored(who, id, async (current) => {
    requireNoticeEditable(who, current, changes);
    if (current.resendOf && changesAudience(changes))
      throw invalid("A resend goes to recipients of the first campaign: it has no other audience");
    await checkReferences(who, { siteId: current.siteId, campaignId: id }, changes);
    await checkSender(who, { ...current, ...changes }, changes);
    const own = await editContent({ ...current, name: changes.name ?? current.name });
    const renameWrites = await renameContentWrites(who, current, changes.name);
    const extraWrites = [...own.extraWrites, ...renameWrites];
    const set: Partial<StoredCampaign> = { ...(changes as Partial<StoredCampaign>), ...own.set };
    if (!inputs) return { set, extraWrites };
    addFiles ??= await storeAttachments({ orgId: who.orgId, campaignId: id }, inputs);
    before = current.attachments ?? [];
    return { set: { ...set, attachments: addFiles(before) }, extraWrites };
  });
  await deleteFiles(before, changed.attachments);
  return toApi(changed);
}

/** Throws 409 while mail of the campaign is being sent. Its sends stay. */
export const remove = (who: CallerScope, id: number): Promise<void> =>
  retryOnConflict("The campaign", () => tryRemove(who, id));

async function tryRemove(who: CallerScope, id: number): Promise<void> {
  const campaign = await findStored(who, id);
  const key: broadcast.BroadcastRef = { orgId: who.orgId, kind: "campaign", id };
  const deletableCondition: Condition = any(
    oneOf("status", ["draft", "scheduled", "held", "sent"]),
    all(oneOf("status", ["cancelled", "failed"]), finishedCondition),
  );
  const stillRunning = conflict(
    "The campaign still has mail to send: cancel it if it is not cancelled or failed, and " +
      "delete it when finishedAt is set",
    {
      code: "campaign_running",
    },
  );
  await requireEndedResends(campaign);
  await write(
    ...records.removeWrites("CAMPAIGN", who, {
      id,
      siteId: campaign.siteId,
      condition: {
        if: all(deletableCondition, sameResendsCondition(campaign)),
        orThrow: stillRunning,
      },
    }),
    ...(await releaseFirstWrites(campaign)),
    ...campaign.variants.flatMap((variant) => variantHtml.deleteHtmlWrites(who.orgId, variant)),
    ...unpublishWrites(campaign),
    ...(campaign.ownTemplateId ? await removeOwnContentWrites(who, campaign.ownTemplateId) : []),
    ...(campaign.conversion ? [removeGoalWrite(who.orgId, campaign.siteId, id)] : []),
    ...(campaign.startedAt ? [cleanup.createCleanupWrite(key)] : []),
  );
  await deleteFiles(campaign.attachments);
  if (campaign.startedAt) await broadcast.enqueuePoll(key);
}

/** A resend reads the recipients of the first campaign until its fan-out is done. */
async function requireEndedResends(campaign: StoredCampaign): Promise<void> {
  for (const { campaignId } of listResends(campaign)) {
    const resend = await get<StoredCampaign>(keys.record(campaign.orgId, "CAMPAIGN", campaignId));
    if (resend && !resend.finishedAt)
      throw conflict(
        `Campaign ${campaignId} sends this one again: delete it, or wait until it has ended`,
        { code: "campaign_running" },
      );
  }
}

const sameResendsCondition = (campaign: StoredCampaign): Condition =>
  all(
    ...Object.values(resendFields).map((field) =>
      campaign[field] === undefined ? absent(field) : equals(field, campaign[field]),
    ),
  );

/** A resend that was never sent makes room for another one when it is deleted. */
async function releaseFirstWrites({
  orgId,
  id,
  resendOf,
  startedAt,
}: StoredCampaign): Promise<Write[]> {
  if (!resendOf || startedAt) return [];
  const first = await get<StoredCampaign>(keys.record(orgId, "CAMPAIGN", resendOf.campaignId));
  const field = resendFields[resendOf.to];
  if (first?.[field] !== id) return [];
  return [
    broadcast.updateWrite(
      first,
      { remove: [field] },
      { if: equals(field, id), orThrow: contended("The campaign") },
    ),
  ];
}

const finishedCondition: Condition = (bind) => `attribute_exists(${bind.name("finishedAt")})`;

export interface CampaignEdit {
  set?: Partial<StoredCampaign>;
  /** For items that belong to the campaign, such as the html of variants. */
  extraWrites?: Write[];
}

/**
 * Reads the campaign, applies the edit and stores it. Retries when the campaign changed in between.
 */
export const updateStored = (
  who: NoticeCaller,
  id: number,
  edit: (current: StoredCampaign) => Promise<CampaignEdit>,
): Promise<StoredCampaign> =>
  retryOnConflict("The campaign", async () => {
    const current = await findStored(who, id);
    requireStatus(current, editableStatuses, "changed");
    requireNoticeEditable(who, current, {});
    const { set: given, extraWrites = [] } = await edit(current);
    const set = {
      ...given,
      // The reason why it is a draft again.
      ...(current.statusReason && { statusReason: null }),
      revision: current.revision + 1,
      updatedAt: now().toISOString(),
    };
    const next: StoredCampaign = { ...current, ...set };
    if (current.status === "scheduled") await campaignPlan.buildCampaignPlan(next);
    const unchangedCondition = all(
      equals("revision", current.revision),
      oneOf("status", editableStatuses),
    );
    await write(
      broadcast.updateWrite(current, { set }, { if: unchangedCondition }),
      ...extraWrites,
    );
    return next;
  });

/** Name and email address of the sender. */
async function getSendingConfigLabel(campaign: StoredCampaign): Promise<string | null> {
  const { orgId, sendingConfigId: id } = campaign;
  if (id === null) return null;
  const config = await get<SendingConfig>(keys.record(orgId, "CONFIG", id), { consistent: false });
  return config ? labelOf(campaign, config) : null;
}
