// Series: campaigns that recur every week or month. Each run starts a campaign of its own, with its
// own results.
import { all, type Condition, equals } from "../../../adapters/dynamodb/conditions.ts";
import {
  ConditionFailed,
  getMany,
  query,
  remove as removeItem,
  transact,
  update,
  type Write,
  write,
} from "../../../adapters/dynamodb/table.ts";
import { enqueue } from "../../../adapters/sqs/enqueue.ts";
import type { CallerScope } from "../../../caller.ts";
import { now } from "../../../clock.ts";
import { invalid } from "../../../errors.ts";
import type { PageRequest } from "../../../kernel/paging.ts";
import * as records from "../../../kernel/records.ts";
import { retryOnConflict } from "../../../kernel/retry-on-conflict.ts";
import {
  dueShardOf,
  indexAttributeNames,
  indexAttributes,
  indexes,
  type Key,
  keys,
  ranges,
} from "../../../keys.ts";
import { queues } from "../../../queues.ts";
import * as templates from "../../content/templates.ts";
import * as organizations from "../../identity/organizations.ts";
import * as sites from "../../identity/sites.ts";
import * as campaignChecks from "../campaign-checks.ts";
import { buildCampaignPlan } from "../campaign-plan.ts";
import type { CampaignChanges } from "../campaign-schema.ts";
import * as campaigns from "../campaigns.ts";
import type { StoredCampaign } from "../stored-campaign.ts";
import * as occurrences from "./occurrences.ts";
import { changeRss, requireOneFeed } from "./rss/series-rss.ts";
import {
  type CampaignSeries,
  contentOf,
  type NewSeries,
  type SeriesChanges,
  type SeriesContent,
  type SeriesRun,
  type StoredRun,
  type StoredSeries,
  toApi,
  toCampaign,
} from "./series-schema.ts";

const emptyContent = {
  ...{ subject: null, templateId: null, listId: null, tagId: null, segmentId: null },
  ...{ audience: null, sendingConfigId: null, fromEmail: null, fromName: null, replyTo: null },
  ...{
    headers: {},
    variables: {},
    feedUrl: null,
    archive: false,
    topicId: null,
    previewText: null,
    utm: null,
  },
};

/** Throws 400 that names what its campaigns would be missing. */
export async function create(
  who: CallerScope,
  { rss = null, ...input }: NewSeries,
): Promise<CampaignSeries> {
  const record = await buildSeries(who, input);
  const started = rss && (await changeRss(record, rss));
  const copied = await copyOwnContent(who, record);
  const series = { ...record, ...copied.set, ...started?.set };
  requireOneFeed(series);
  return toApi(
    await records.insert<StoredSeries>("SERIES", who, {
      record: series,
      extraWrites: [...(started ? [started.write] : []), ...copied.writes],
    }),
  );
}

/** The content of a draft, which can be deleted, becomes a template that people can edit. */
async function copyOwnContent(
  who: CallerScope,
  { name, siteId, templateId }: StoredSeries,
): Promise<{ set: Partial<StoredSeries>; writes: Write[] }> {
  const template = templateId === null ? undefined : await templates.find(who, templateId);
  if (!template?.campaignId) return { set: {}, writes: [] };
  const copied = { ...templates.bodyOf(template), name };
  const { templates: created, writes } = await templates.insertWrites(who, siteId, [copied]);
  return { set: { templateId: created[0]!.id }, writes };
}

/** The series that `create` stores, without its feed. Throws 400 that names what is missing. */
export async function buildSeries(
  who: CallerScope,
  {
    siteId: givenSite,
    campaignId,
    name,
    schedule,
    skipUnchanged,
    status,
    ...given
  }: Omit<NewSeries, "rss">,
): Promise<StoredSeries> {
  const draft = campaignId === undefined ? undefined : await findDraft(who, campaignId);
  const siteId = draft?.siteId ?? (await sites.resolveSiteId(who, givenSite));
  const content = { ...emptyContent, ...(draft && contentOf(draft)), ...given } as SeriesContent;
  const { timezone } = await organizations.getCalendar(who.orgId);
  const stamp = await records.newRecordFields("SERIES");
  const series: StoredSeries = {
    ...stamp,
    orgId: who.orgId,
    siteId,
    name,
    schedule,
    skipUnchanged,
    ...content,
    status,
    ...{ statusReason: null, nextAt: null, lastRunAt: null, lastCampaignId: null, lastError: null },
    ...(status === "active" && dueAttributes(stamp.id, { schedule, timezone })),
    revision: 1,
  };
  await checkCampaigns(who, series, { changes: content, draftId: draft?.id });
  return series;
}

/** The campaign that the series takes its content from. Throws 400 if it has more than a series. */
async function findDraft(who: CallerScope, campaignId: number): Promise<StoredCampaign> {
  const campaign = await campaigns.findStored(who, campaignId);
  const refuse = (message: string) =>
    invalid(`campaignId: ${message}`, { details: [{ path: "campaignId", message }] });
  if (campaign.variants.length || campaign.abTest)
    throw refuse("a campaign with variants cannot recur");
  if (campaign.purpose === "notice") throw refuse("a notice cannot recur");
  if (campaign.attachments?.length) throw refuse("a campaign with attachments cannot recur");
  if (campaign.resendOf) throw refuse("a resend cannot recur");
  return campaign;
}

/** Throws 400 unless a campaign of the series could be sent now. */
async function checkCampaigns(
  who: CallerScope,
  series: StoredSeries,
  { changes, draftId }: { changes: Partial<SeriesContent>; draftId?: number | undefined },
): Promise<void> {
  const owner = { siteId: series.siteId, campaignId: draftId };
  await campaignChecks.checkReferences(who, owner, changes as CampaignChanges);
  await campaignChecks.checkSender(who, series, changes as CampaignChanges);
  const { id, name, createdAt, updatedAt } = series;
  await buildCampaignPlan(toCampaign(series, { id, name, createdAt, updatedAt }));
}

/** The attributes of an active series whose next run is on this date, else on the first one. */
export function dueAttributes(
  id: number,
  timing: occurrences.SeriesTiming,
  {
    lastOn,
    dueOn = occurrences.firstDate(timing, lastOn),
  }: { lastOn?: string; dueOn?: string } = {},
) {
  const nextAt = occurrences.startsAt(timing, dueOn).toISOString();
  return { dueOn, ...toDueAttributes(id, nextAt) };
}

export const toDueAttributes = (id: number, nextAt: string) => ({
  nextAt,
  ...indexAttributes(indexes.due("SERIES", dueShardOf(id)), nextAt),
});

export const findStored = (who: CallerScope, id: number): Promise<StoredSeries> =>
  records.find<StoredSeries>("SERIES", who, id);

export const find = async (who: CallerScope, id: number): Promise<CampaignSeries> =>
  toApi(await findStored(who, id));

/** Newest first. */
export async function list(who: CallerScope, request: PageRequest, siteId: number | undefined) {
  const { items, pagination } = await records.list<StoredSeries>("SERIES", who, {
    ...request,
    siteIds: await sites.siteFilter(who, siteId),
  });
  return { series: items.map(toApi), pagination };
}

/** Throws 400 when its campaigns would no longer be complete. */
export const change = (
  who: CallerScope,
  id: number,
  { rss, ...changes }: SeriesChanges,
): Promise<CampaignSeries> =>
  changeStored(who, id, async (current) => {
    const feed = rss === undefined ? undefined : await changeRss(current, rss);
    const next = { ...current, ...changes, ...feed?.set } as StoredSeries;
    requireOneFeed(next);
    await checkCampaigns(who, next, { changes: changes as Partial<SeriesContent> });
    const isRescheduled = changes.schedule && current.status === "active";
    return {
      set: { ...changes, ...feed?.set, ...(isRescheduled && (await scheduleNext(next))) },
      writes: feed ? [feed.write] : [],
    };
  });

/** A repeated pause succeeds. A campaign that has started goes on. */
export const pause = (
  who: CallerScope,
  id: number,
  reason: string | null = null,
): Promise<CampaignSeries> =>
  changeStored(who, id, async () => ({
    set: { status: "paused", statusReason: reason, nextAt: null },
    remove: ["dueOn", ...indexAttributeNames("due")],
  }));

/** Goes on with the first time in the future, so what was missed is not sent. */
export const resume = (who: CallerScope, id: number): Promise<CampaignSeries> =>
  changeStored(who, id, async (current) => {
    if (current.status === "active") return {};
    await checkCampaigns(who, current, { changes: {} });
    const set = { status: "active", statusReason: null, lastError: null, rssTries: 0 };
    return { set: { ...set, ...(await scheduleNext(current)) } };
  });

async function scheduleNext({ orgId, id, schedule, lastOn }: StoredSeries) {
  const { timezone } = await organizations.getCalendar(orgId);
  return dueAttributes(id, { schedule, timezone }, { ...(lastOn && { lastOn }) });
}

const changeStored = (
  who: CallerScope,
  id: number,
  edit: (current: StoredSeries) => Promise<{ set?: object; remove?: string[]; writes?: Write[] }>,
): Promise<CampaignSeries> =>
  retryOnConflict("The series", async () => {
    const current = await findStored(who, id);
    const { set, remove: removed = [], writes = [] } = await edit(current);
    if (!set) return toApi(current);
    const changed = await transact(
      update(
        keys.record(who.orgId, "SERIES", id),
        {
          set: { ...set, revision: current.revision + 1, updatedAt: now().toISOString() },
          remove: removed,
        },
        { if: unchangedCondition(current) },
      ),
      ...writes,
    );
    if (!changed) throw new ConditionFailed(0);
    return toApi(await findStored(who, id));
  });

export const unchangedCondition = ({ revision, status }: StoredSeries): Condition =>
  all(equals("revision", revision), equals("status", status));

/** Its campaigns and their results stay. */
export async function remove(who: CallerScope, id: number): Promise<void> {
  await write(
    ...records.removeWrites("SERIES", who, await findStored(who, id)),
    removeItem(keys.seriesFeed(who.orgId, id)),
  );
}

const maxRuns = 100;

/** The latest runs, newest first. */
export async function listRuns(who: CallerScope, id: number): Promise<SeriesRun[]> {
  const { orgId } = await findStored(who, id);
  const { items } = await query<StoredRun & Key>(ranges.seriesRuns(orgId, id), {
    limit: maxRuns,
    newestFirst: true,
    consistent: true,
  });
  const found = await getMany<StoredCampaign>(
    items.flatMap(({ campaignIds }) =>
      campaignIds.map((one) => keys.record(orgId, "CAMPAIGN", one)),
    ),
  );
  const byId = new Map(found.flatMap((campaign) => (campaign ? [[campaign.id, campaign]] : [])));
  return items.map(({ sk, at, outcome, error, campaignIds, newItems, sentItems }) => ({
    date: sk,
    ...{ at, outcome, error },
    ...{ newItems: newItems ?? null, sentItems: sentItems ?? null },
    campaigns: campaignIds.flatMap((one) => {
      const campaign = byId.get(one);
      return campaign ? [{ id: one, name: campaign.name, status: campaign.status }] : [];
    }),
  }));
}

export const enqueueRun = (orgId: number, id: number): Promise<void> =>
  enqueue(queues.campaigns, [{ orgId, kind: "series", id }], { group: orgId });
