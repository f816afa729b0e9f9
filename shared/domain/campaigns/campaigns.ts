// Campaign records: create, read, list, update and delete. campaign-actions.ts sends, schedules and
// stops them.

import {
  absent,
  all,
  allEqual,
  any,
  type Condition,
  equals,
  oneOf,
} from "../../adapters/dynamodb/conditions.ts";
import { get, type Write, write } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { now } from "../../clock.ts";
import * as liquid from "../../email/liquid.ts";
import { conflict, contended, invalid } from "../../errors.ts";
import type { PageRequest } from "../../kernel/paging.ts";
import * as records from "../../kernel/records.ts";
import { retryOnConflict } from "../../kernel/retry-on-conflict.ts";
import { keys } from "../../keys.ts";
import * as groups from "../audience/groups/groups.ts";
import * as topics from "../audience/topics/topics.ts";
import * as sites from "../identity/sites.ts";
import * as sendingConfigs from "../senders/sending-configs.ts";
import * as sources from "../sending/mail-sources.ts";
import { toMailingStats } from "../sending/mailing-stats.ts";
import * as plans from "./campaign-plan.ts";
import {
  type Campaign,
  type CampaignAudience,
  type CampaignChanges,
  type CampaignDetail,
  listResends,
  type NewCampaign,
  resendFields,
  type StoredCampaign,
  toApi,
  toApiVariant,
  type WaitingForLocalTime,
} from "./campaign-schema.ts";
import * as broadcasts from "./engine/broadcast.ts";
import * as cleanup from "./engine/cleanup.ts";
import { countMails, listUpcoming } from "./engine/local-time.ts";

const editableStatuses: broadcasts.BroadcastStatus[] = ["draft", "scheduled"];
export const startableStatuses: broadcasts.BroadcastStatus[] = ["draft", "scheduled", "held"];

export async function create(
  who: CallerScope,
  { siteId: given, ...campaign }: NewCampaign,
): Promise<Campaign> {
  const siteId = await sites.resolveSiteId(who, given);
  await checkReferences(who, siteId, campaign);
  const { orgId } = who;
  const base = {
    ...(await records.newRecordFields("CAMPAIGN")),
    orgId,
    kind: "campaign" as const,
    siteId,
    revision: 1,
  };
  return toApi(
    await records.insert<StoredCampaign>("CAMPAIGN", who, {
      record: { ...base, ...campaign, status: "draft", variants: [] },
    }),
  );
}

export const findStored = (who: CallerScope, id: number): Promise<StoredCampaign> =>
  records.find<StoredCampaign>("CAMPAIGN", who, id);

/** The campaign with its counters and variants. */
export async function findCampaignDetail(who: CallerScope, id: number): Promise<CampaignDetail> {
  const campaign = await findStored(who, id);
  const [sendingConfigLabel, { all: totals, parts }] = await Promise.all([
    getSendingConfigLabel(who, campaign.sendingConfigId),
    sources.getSourceTotals(who.orgId, { kind: "campaign", id }),
  ]);
  return {
    ...toApi(campaign),
    sendingConfigLabel,
    stats: toMailingStats(totals),
    accounting: totals,
    waitingForLocalTime: getWaitingForLocalTime(campaign, totals),
    variants: campaign.variants.map((variant) =>
      toApiVariant(campaign, variant, parts.get(variant.id)),
    ),
  };
}

function getWaitingForLocalTime(
  { status }: StoredCampaign,
  { releases }: sources.SourceTotals,
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

/** Newest first. */
export async function list(
  who: CallerScope,
  request: PageRequest,
  {
    siteId,
    status,
  }: { siteId?: number | undefined; status?: broadcasts.BroadcastStatus | undefined },
) {
  const filter = { siteIds: await sites.siteFilter(who, siteId), filter: allEqual({ status }) };
  const { items, pagination } = await records.list<StoredCampaign>("CAMPAIGN", who, {
    ...request,
    ...filter,
  });
  return { campaigns: items.map(toApi), pagination };
}

/**
 * Throws 409 unless the campaign is a draft or scheduled, and 400 when a scheduled one would no
 * longer be complete.
 */
export async function updateCampaign(
  who: CallerScope,
  id: number,
  changes: CampaignChanges,
): Promise<Campaign> {
  const changed = await updateStored(who, id, async (current) => {
    if (current.resendOf && changesAudience(changes))
      throw invalid("A resend goes to recipients of the first campaign: it has no other audience");
    await checkReferences(who, current.siteId, changes);
    return { set: changes as Partial<StoredCampaign> };
  });
  return toApi(changed);
}

/** Throws 409 while mail of the campaign is being sent. Its sends stay. */
export async function remove(who: CallerScope, id: number): Promise<void> {
  const campaign = await findStored(who, id);
  const key: broadcasts.BroadcastRef = { orgId: who.orgId, kind: "campaign", id };
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
    ...campaign.variants.flatMap((variant) => plans.deleteHtmlWrites(who.orgId, variant)),
    ...(campaign.startedAt ? [cleanup.createCleanupWrite(key)] : []),
  );
  if (campaign.startedAt) await broadcasts.enqueuePoll(key);
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
    broadcasts.updateWrite(
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
  who: CallerScope,
  id: number,
  edit: (current: StoredCampaign) => Promise<CampaignEdit>,
): Promise<StoredCampaign> =>
  retryOnConflict("The campaign", async () => {
    const current = await findStored(who, id);
    requireStatus(current, editableStatuses, "changed");
    const { set: given, extraWrites = [] } = await edit(current);
    const set = { ...given, revision: current.revision + 1, updatedAt: now().toISOString() };
    const next: StoredCampaign = { ...current, ...set };
    if (current.status === "scheduled") await plans.buildCampaignPlan(next);
    const unchangedCondition = all(
      equals("revision", current.revision),
      oneOf("status", editableStatuses),
    );
    await write(
      broadcasts.updateWrite(current, { set }, { if: unchangedCondition }),
      ...extraWrites,
    );
    return next;
  });

export function requireStatus(
  { status }: Pick<StoredCampaign, "status">,
  allowed: broadcasts.BroadcastStatus[],
  what: string,
): void {
  if (allowed.includes(status)) return;
  const states = allowed.join(", ").replace(/, (\w+)$/, " or $1");
  throw conflict(`The campaign is ${status}: it can be ${what} only while it is ${states}`, {
    code: "campaign_status",
  });
}

const changesAudience = ({ listId, tagId, segmentId, audience }: CampaignChanges): boolean =>
  Boolean(listId || tagId || segmentId || audience);

async function checkAudience(
  who: CallerScope,
  siteId: number,
  { exclude, ...included }: CampaignAudience,
): Promise<void> {
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
async function checkReferences(
  who: CallerScope,
  siteId: number,
  given: CampaignChanges,
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
      records.findOfSite("TEMPLATE", who, { id: given.templateId, siteId, path: "templateId" }),
    given.topicId && topics.findOfSite(who, { id: given.topicId, siteId }),
    given.sendingConfigId && sendingConfigs.findWithSender(who, given.sendingConfigId),
  ]);
}

/** Name and email address of the sender. */
async function getSendingConfigLabel(
  { orgId }: CallerScope,
  configId: number | null,
): Promise<string | null> {
  if (configId === null) return null;
  const config = await get<sendingConfigs.SendingConfig>(keys.record(orgId, "CONFIG", configId), {
    consistent: false,
  });
  return config ? sendingConfigs.labelOf(config) : null;
}
